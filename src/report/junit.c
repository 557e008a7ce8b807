/* junit: the findings of a prediction as JUnit XML, for the test view of continuous integration. A finding
 * is a failed test case; one that the baseline has is skipped. So is the case that counts unknowns. */
#include "escape.h"
#include "listing/listing.h"
#include "predict_report.h"
#include "runs_report.h"

#include "phrases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_result *result;
    const mr_listing *findings;
    const mr_config *config;
} writer;

static void print_char(FILE *stream, const char *piece)
{
    switch (piece[0]) {
    case '&':
        fputs("&amp;", stream);
        return;
    case '<':
        fputs("&lt;", stream);
        return;
    case '>':
        fputs("&gt;", stream);
        return;
    case '"':
        fputs("&quot;", stream);
        return;
    default:
        fputs(piece, stream);
    }
}

/* Text of XML: bytes that it cannot have are written as in all reports. */
static void print_text(FILE *stream, const char *text)
{
    char piece[MR_ESCAPE_BYTES];
    while (mr_escape_next(&text, true, piece) > 0)
        print_char(stream, piece);
}

static void print_access(const writer *self, uint32_t event)
{
    char op[512];
    mr_trace_print_op(self->trace, event, true, op, sizeof op);
    print_text(self->stream, op);
    fputs(" at ", self->stream);
    print_text(self->stream,
               mr_names_display(&self->trace->locations, self->trace->location[event]));
    fputs(" by ", self->stream);
    print_text(self->stream, mr_names_display(&self->trace->threads, self->trace->thread[event]));
    fprintf(self->stream, ", event %" PRIu32 "\n", event);
}

static bool print_case(const writer *self, const mr_listed *finding)
{
    FILE *stream = self->stream;
    const char *word = mr_listed_word(finding->kind);
    mr_place place;
    const char *text = mr_listed_place(finding, self->trace);
    char *title = mr_listed_title(finding, self->findings, self->trace);
    if (!title)
        return false;
    place = mr_place_parse(text, strlen(text));
    fprintf(stream, "<testcase classname=\"%s\" name=\"", word);
    print_text(stream, text);
    fputs(": ", stream);
    print_text(stream, title);
    fputs("\"", stream);
    if (place.line > 0) {
        char *file = mr_strndup(place.file, place.file_length);
        fputs(" file=\"", stream);
        print_text(stream, file ? file : "");
        fprintf(stream, "\" line=\"%" PRIu32 "\"", place.line);
        free(file);
    }
    if (finding->known) {
        fputs("><skipped message=\"known by the baseline\"/></testcase>\n", stream);
        free(title);
        return true;
    }
    fprintf(stream, "><failure type=\"%s\" message=\"", word);
    print_text(stream, title);
    fputs("\">", stream);
    print_access(self, finding->first);
    if (finding->second != MR_NONE)
        print_access(self, finding->second);
    fputs("</failure></testcase>\n", stream);
    free(title);
    return true;
}

static bool print_suite(const writer *self)
{
    const mr_listing *findings = self->findings;
    FILE *stream = self->stream;
    bool unknown = self->result->unknown_count > 0, none = findings->count == 0;
    size_t known = findings->known_count;
    fputs("<testsuite name=\"maxrace ", stream);
    print_text(stream, self->trace->path);
    fprintf(stream, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
            findings->count + unknown + none, findings->count - known, known + unknown);
    for (size_t i = 0; i < findings->count; i++)
        if (!print_case(self, &findings->items[i]))
            return false;
    if (none) {
        const mr_stats *stats = &self->result->stats;
        char text[MR_NOT_LOOKED_BYTES];
        mr_phrase_not_looked(self->config, stats->windows + stats->windows_missing, text);
        fprintf(stream,
                "<testcase classname=\"race\" name=\"no race in %" PRIu64 " events%s%s%s\"/>\n",
                self->trace->event_count, stats->incomplete ? ", not complete" : "",
                text[0] != '\0' ? "; not looked for: " : "", text);
    }
    if (unknown)
        fprintf(stream,
                "<testcase classname=\"unknown\" name=\"%zu candidate%s unknown\"><skipped "
                "message=\"these may or may not be races\"/></testcase>\n",
                self->result->unknown_count, mr_phrase_s(self->result->unknown_count));
    fputs("</testsuite>\n", stream);
    return true;
}

static mr_status write_part(FILE *stream, const mr_trace *trace, const mr_config *config,
                            const mr_result *result, mr_error *error)
{
    mr_listing findings;
    const writer self = {stream, trace, result, &findings, config};
    mr_status status = mr_listing_make(&findings, trace, config, result, error);
    errno = 0;
    if (status == MR_OK && !print_suite(&self))
        status = mr_error_memory(error, "writing the report");
    mr_listing_free(&findings);
    return status;
}

static void write_head(FILE *stream)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"maxrace\">\n", stream);
}

mr_status mr_predict_report_junit(FILE *stream, const mr_trace *trace, const mr_config *config,
                                  const mr_result *result, mr_error *error)
{
    write_head(stream);
    mr_status status = write_part(stream, trace, config, result, error);
    fputs("</testsuites>\n", stream);
    return mr_report_finish(stream, config, status, error);
}

static void runs_before(const mr_runs_report *report, const mr_one_run *run)
{
    (void)run;
    if (report->number == 1)
        write_head(report->stream);
}

static void runs_end(const mr_runs_report *report, size_t races)
{
    (void)races;
    fputs("</testsuites>\n", report->stream);
}

const mr_runs_writer mr_runs_junit = {runs_before, NULL, runs_end, write_part};
