#include "runs_report.h"

#include "base/assert.h"
#include "formats.h"
#include "listing/listing.h"
#include "phrases.h"

#include <inttypes.h>

/* ---- text: with `brief` nothing beside the lines of the findings ---- */

static void text_before(const mr_runs_report *report, const mr_one_run *run)
{
    if (mr_config_bool(report->config, "brief"))
        return;
    fprintf(report->stream, "%sRun %" PRIu64 " of %" PRIu64 ", seed %" PRIu64 "%s%s\n",
            report->number > 1 ? "\n" : "", report->run, report->count, run->seed,
            run->child ? ", child " : "", run->child ? run->child : "");
}

static void text_after(const mr_runs_report *report, const mr_one_run *run)
{
    if (run->known_races > 0 && !mr_config_bool(report->config, "brief"))
        fprintf(report->stream, "%zu race%s known from earlier runs\n", run->known_races,
                mr_phrase_s(run->known_races));
}

static void text_end(const mr_runs_report *report, size_t races)
{
    if (mr_config_bool(report->config, "brief"))
        return;
    fprintf(report->stream, "\n%zu race%s in %" PRIu64 " run%s", races, mr_phrase_s(races),
            report->run, mr_phrase_s(report->run));
    if (report->with_others)
        fprintf(report->stream, ", other findings in %" PRIu64, report->with_others);
    if (report->ended_badly)
        fprintf(report->stream, ", a crash or a deadlock in %" PRIu64, report->ended_badly);
    fputs("\n", report->stream);
    if (report->run < report->count)
        fprintf(report->stream,
                "%" PRIu64 " of %" PRIu64 " runs were not started (halt_on_finding)\n",
                report->count - report->run, report->count);
}

const mr_runs_writer mr_runs_text = {text_before, text_after, text_end, NULL};

/* ---- JSON ---- */

static void json_before(const mr_runs_report *report, const mr_one_run *run)
{
    fprintf(report->stream, "%s{\"seed\":%" PRIu64, report->number > 1 ? ",\n" : "{\"runs\":[\n",
            run->seed);
    if (run->child)
        fprintf(report->stream, ",\"child\":\"%s\"", run->child);
    fprintf(report->stream, ",\"exit_status\":%d,\"report\":\n", run->exit_status);
}

static void json_after(const mr_runs_report *report, const mr_one_run *run)
{
    fprintf(report->stream, ",\"known_races\":%zu}", run->known_races);
}

static void json_end(const mr_runs_report *report, size_t races)
{
    fprintf(report->stream, "],\"races\":%zu}\n", races);
}

const mr_runs_writer mr_runs_json = {json_before, json_after, json_end, NULL};

/* ---- any format ---- */

void mr_runs_report_begin(mr_runs_report *report, FILE *stream, const mr_config *config,
                          uint64_t count, bool has_children)
{
    MR_REQUIRE(mr_format_has((mr_format)mr_config_choice(config, "format"), MR_SUBJECT_RUNS));
    *report = (mr_runs_report){
        .stream = stream, .config = config, .count = count, .several = count > 1 || has_children};
}

/* The row of the format, after the head of the next run. */
static const mr_format_row *begin_run(mr_runs_report *report, const mr_one_run *run)
{
    const mr_format_row *row = mr_format_chosen(report->config);
    MR_REQUIRE(run->child ? report->run > 0 && report->several : report->run < report->count);
    report->number++;
    report->run += run->child == NULL;
    if (report->several)
        row->runs->before(report, run);
    return row;
}

/* Does the report have findings beside races? Whatever fails here fails in the report as well. */
static bool has_others(const mr_runs_report *report, const mr_trace *trace, const mr_result *result)
{
    mr_listing listing;
    mr_error error;
    bool found = false;
    if (mr_listing_make(&listing, trace, report->config, result, &error) == MR_OK)
        for (size_t i = 0; i < listing.count && !found; i++)
            found = listing.items[i].kind != MR_LISTED_RACE &&
                    listing.items[i].kind != MR_LISTED_MEMORY_ORDER;
    mr_listing_free(&listing);
    return found;
}

mr_status mr_runs_report_write(mr_runs_report *report, const mr_one_run *run, const mr_trace *trace,
                               const mr_result *result, mr_error *error)
{
    const mr_format_row *row = begin_run(report, run);
    report->with_others += report->several && has_others(report, trace, result);
    report->ended_badly += mr_ending_is_bad(&trace->ending);
    mr_predict_writer *write = report->several && row->runs->part ? row->runs->part : row->predict;
    mr_status status = write(report->stream, trace, report->config, result, error);
    if (report->several)
        if (row->runs->after)
            row->runs->after(report, run);
    return status;
}

mr_status mr_runs_report_write_order(mr_runs_report *report, const mr_one_run *run,
                                     const mr_trace *trace, const mr_order_result *result,
                                     mr_error *error)
{
    const mr_format_row *row = begin_run(report, run);
    report->with_others += result->observed.count > 0;
    report->ended_badly += mr_ending_is_bad(&trace->ending);
    mr_status status = row->order(report->stream, trace, report->config, result, error);
    if (report->several)
        if (row->runs->after)
            row->runs->after(report, run);
    return status;
}

void mr_runs_report_end(mr_runs_report *report, size_t races)
{
    if (report->several)
        mr_format_chosen(report->config)->runs->end(report, races);
}
