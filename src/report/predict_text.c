/* predict_text: the result of a prediction for people. */
#include "blocks.h"
#include "context.h"
#include "escape.h"
#include "findings.h"
#include "phrases.h"
#include "predict_report.h"
#include "schedule_table.h"
#include "witness/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define UNKNOWN_SHOWN 20

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
    mr_context context;
    mr_observed_list observed;
} writer;

static void print_trace(const writer *self)
{
    const mr_trace *trace = self->trace;
    FILE *stream = self->stream;
    mr_phrase_trace(stream, trace);
    if (mr_config_int(self->config, "window.size") == 0)
        fputs("one window", stream);
    else
        fprintf(stream, "windows of %" PRId64 " events that overlap by %" PRId64,
                mr_config_int(self->config, "window.size"),
                mr_config_int(self->config, "window.overlap"));
    fprintf(stream, ", model %s\n",
            mr_model_name((mr_model)mr_config_choice(self->config, "model")));
    if (trace->by_source_count > 0 && mr_config_choice(self->config, "model") != MR_MODEL_RF)
        fprintf(stream,
                "%" PRIu32
                " variable%s without usable values: their reads must see the same write\n",
                trace->by_source_count, mr_phrase_s(trace->by_source_count));
    mr_phrase_dropped(stream, trace);
    mr_phrase_ending(stream, &trace->ending);
}

static const char *strength_text(mr_strength strength)
{
    switch (strength) {
    case MR_STRENGTH_HB:
        return "unordered by happens-before (hb)";
    case MR_STRENGTH_WCP:
        return "ordered by happens-before, unordered by weak-causally-precedes (wcp)";
    case MR_STRENGTH_C17:
        return "unordered by happens-before of C and C++: what lies between does not synchronise "
               "(c17)";
    case MR_STRENGTH_BEYOND_WCP:
        break;
    }
    return "ordered by both happens-before and weak-causally-precedes (beyond-wcp)";
}

static bool print_race(const writer *self, size_t index, mr_sees *sees)
{
    const mr_race *race = &self->result->races[index];
    const mr_witness *witness = &race->witness;
    FILE *stream = self->stream;
    fprintf(stream, "\nRace %zu of %zu%s on ", index + 1, self->result->race_count,
            witness->kind == MR_WITNESS_MEMORY_ORDER ? " (memory order)" : "");
    mr_phrase_name(stream, &self->trace->variables,
                   mr_pair_variable(self->trace, witness->first, witness->second));
    fputs("\n", stream);
    mr_phrase_access(stream, "first", self->trace,
                     mr_access_of_event(self->trace, witness->first, witness->second));
    mr_context_print(&self->context, stream, witness->first);
    mr_phrase_access(stream, "second", self->trace,
                     mr_access_of_event(self->trace, witness->second, witness->first));
    mr_context_print(&self->context, stream, witness->second);
    mr_block_print(&self->context, self->trace, stream, witness->first);
    mr_context_print_start(&self->context, stream, self->trace->thread[witness->first]);
    mr_context_print_start(&self->context, stream, self->trace->thread[witness->second]);
    mr_phrase_unseen(stream, &self->trace->ending);
    if (race->confirmed)
        fprintf(stream, "  replay  confirmed: %s%s%s\n", mr_confirmed_name(race->confirmed),
                race->effect ? "; " : "", race->effect ? race->effect : "");
    fprintf(stream, "  order   %s\n", strength_text(race->strength));
    mr_phrase_found_by(stream, race->confirmed_by);
    mr_witness room;
    const mr_witness *open = mr_witness_open(self->trace, witness, &room);
    bool ok =
        open != NULL && mr_schedule_print(stream, open, sees,
                                          mr_config_bool(self->config, "witness.full_schedule"));
    mr_witness_free(&room);
    return ok;
}

/* Everything beside races, each kind with numbers of its own. */
static bool print_findings(const writer *self, mr_sees *sees)
{
    const mr_result *result = self->result;
    bool full = mr_config_bool(self->config, "witness.full_schedule"), ok = true;
    size_t of[MR_WITNESS_KINDS] = {0}, number[MR_WITNESS_KINDS] = {0};
    for (size_t i = 0; i < result->finding_count; i++)
        of[result->findings[i].witness.kind]++;
    for (size_t i = 0; i < result->finding_count && ok && !ferror(self->stream); i++) {
        mr_witness_kind kind = result->findings[i].witness.kind;
        ok = mr_finding_print(&self->context, self->trace, self->stream, &result->findings[i],
                              ++number[kind], of[kind], sees, full);
    }
    return ok;
}

static void print_short_access(const writer *self, uint32_t event)
{
    char text[512];
    mr_trace_print_op(self->trace, event, true, text, sizeof text);
    mr_escape_print(self->stream, text);
    fputs(" at ", self->stream);
    mr_escape_print(self->stream,
                    mr_names_display(&self->trace->locations, self->trace->location[event]));
    fprintf(self->stream, " (event %" PRIu32 ")", event);
}

static void print_reason(FILE *stream, mr_unknown_reason reason, const char *detail)
{
    fprintf(stream, ": %s", mr_unknown_reason_name(reason));
    if (detail[0] != '\0') {
        fputs(", ", stream);
        mr_escape_print(stream, detail);
    }
    fputs("\n", stream);
}

static void print_unknowns(const writer *self)
{
    const mr_result *result = self->result;
    FILE *stream = self->stream;
    if (result->unknown_count == 0)
        return;
    fputs("\nUnknown (these may or may not be races):\n", stream);
    for (size_t i = 0; i < result->unknown_count && i < UNKNOWN_SHOWN; i++) {
        const mr_unknown *unknown = &result->unknowns[i];
        fputs("  ", stream);
        print_short_access(self, unknown->first);
        fputs(" and ", stream);
        print_short_access(self, unknown->second);
        print_reason(stream, unknown->reason, unknown->detail);
    }
    if (result->unknown_count > UNKNOWN_SHOWN)
        fprintf(stream, "  and %zu more\n", result->unknown_count - UNKNOWN_SHOWN);
}

static void print_unknown_findings(const writer *self)
{
    const mr_result *result = self->result;
    FILE *stream = self->stream;
    if (result->finding_unknown_count == 0)
        return;
    fputs("\nUnknown (these may or may not be errors):\n", stream);
    for (size_t i = 0; i < result->finding_unknown_count && i < UNKNOWN_SHOWN; i++) {
        const mr_finding_unknown *unknown = &result->finding_unknowns[i];
        fprintf(stream, "  %s: ", mr_finding_noun(unknown->kind, false));
        print_short_access(self, unknown->first);
        if (unknown->second != MR_NONE && unknown->second != unknown->first) {
            fputs(" and ", stream);
            print_short_access(self, unknown->second);
        }
        print_reason(stream, unknown->reason, unknown->detail);
    }
    if (result->finding_unknown_count > UNKNOWN_SHOWN)
        fprintf(stream, "  and %zu more\n", result->finding_unknown_count - UNKNOWN_SHOWN);
}

/* "    linearise  2 pairs, 1 race"; a step that settled no pair has no line. */
static void print_step(FILE *stream, const mr_stats *stats, mr_step step)
{
    if (stats->settled[step] == 0)
        return;
    fprintf(stream, "    %-9s  ", mr_step_name(step));
    mr_phrase_count(stream, stats->settled[step], "pair", "");
    if (stats->races[step] > 0) {
        fputs(", ", stream);
        mr_phrase_count(stream, stats->races[step], "race", "");
    }
    fputs("\n", stream);
}

static void print_steps(const writer *self)
{
    const mr_stats *stats = &self->result->stats;
    FILE *stream = self->stream;
    fprintf(stream, "  candidates  %" PRIu64 " pair%s of events\n", stats->candidates,
            mr_phrase_s(stats->candidates));
    for (int step = 0; step < MR_STEP_COUNT; step++)
        print_step(stream, stats, (mr_step)step);
    const char *separator = "  unknown     ";
    for (int reason = 0; reason < MR_UNKNOWN_COUNT; reason++) {
        if (stats->unknown[reason] == 0)
            continue;
        fprintf(stream, "%s%" PRIu64 " by %s", separator, stats->unknown[reason],
                mr_unknown_reason_name((mr_unknown_reason)reason));
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs("\n", stream);
}

/* The work of the workers: a line for each, or one line for all when there are many. */
static void print_shares(FILE *stream, const mr_run_figures *run)
{
    enum { MOST_LINES = 8 };
    mr_share low = {.units = UINT64_MAX, .seconds = 1e300}, high = {0};
    for (size_t i = 0; i < run->share_count; i++) {
        const mr_share *share = &run->shares[i];
        low.units = share->units < low.units ? share->units : low.units;
        high.units = share->units > high.units ? share->units : high.units;
        low.seconds = share->seconds < low.seconds ? share->seconds : low.seconds;
        high.seconds = share->seconds > high.seconds ? share->seconds : high.seconds;
        if (run->share_count <= MOST_LINES)
            fprintf(stream, "  worker %" PRIu32 ".%-3" PRIu32 "%" PRIu64 " unit%s, %.2f s\n",
                    share->rank, share->worker, share->units, mr_phrase_s(share->units),
                    share->seconds);
    }
    if (run->share_count > MOST_LINES)
        fprintf(stream,
                "  workers     %zu, of which each has done %" PRIu64 " to %" PRIu64
                " units in %.2f to %.2f s\n",
                run->share_count, low.units, high.units, low.seconds, high.seconds);
}

/* The section on the run: lines that differ from run to run. */
static void print_run(FILE *stream, const mr_run_figures *run)
{
    mr_phrase_stage steps[MR_STEP_COUNT];
    for (int step = 0; step < MR_STEP_COUNT; step++)
        steps[step] = (mr_phrase_stage){mr_step_name((mr_step)step), run->step_seconds[step]};
    const mr_phrase_stage stages[] = {
        {"read", run->read_seconds},
        {"order", run->order_seconds},
        {"windows", run->window_seconds},
        {"decide", run->decide_seconds},
        {"of that solver", run->solver_seconds},
        {"far", run->far_seconds},
        {"witness", run->witness_seconds},
    };
    fputs("\nRun\n", stream);
    mr_phrase_seconds(stream, run->total_seconds, stages, sizeof stages / sizeof stages[0]);
    mr_phrase_stages(stream, "  steps       ", steps, MR_STEP_COUNT);
    mr_phrase_memory(stream, run->peak_memory_bytes);
    if (run->units_saved > 0)
        fprintf(stream,
                "  saved       %" PRIu64 " units by earlier runs, %" PRIu64
                " decided by this one\n",
                run->units_saved, run->units_decided);
    if (run->windows_again > 0)
        fprintf(stream, "  again       %" PRIu64 " window%s decided twice\n", run->windows_again,
                mr_phrase_s(run->windows_again));
    mr_phrase_stopped(stream, run->queries_stopped_by_time, run->queries_stopped_by_memory);
    print_shares(stream, run);
}

/* The lines about far races. */
static void print_far(const writer *self)
{
    const mr_stats *stats = &self->result->stats;
    FILE *stream = self->stream;
    if (stats->far_windows == 0)
        return;
    fprintf(stream, "  far         %" PRIu64 " pair%s of places beyond the windows",
            stats->far_pairs, mr_phrase_s(stats->far_pairs));
    if (stats->far_pairs > 0)
        fprintf(stream, ": %" PRIu64 " no race, %" PRIu64 " unknown", stats->far_no_race,
                stats->far_unknown);
    fprintf(stream, "; %" PRIu64 " window%s of %" PRIu64 " events in all\n", stats->far_windows,
            mr_phrase_s(stats->far_windows), stats->far_events);
    if (stats->far_parts > 0)
        fprintf(stream,
                "              %" PRIu64 " pair%s of places seen in parts only "
                "(window.far_size)\n",
                stats->far_parts, mr_phrase_s(stats->far_parts));
}

/* "  deadlocks   12 candidates: 1 found, 11 impossible" */
static void print_finding_counts(const writer *self)
{
    FILE *stream = self->stream;
    for (int kind = MR_WITNESS_USE_AFTER_FREE; kind < MR_WITNESS_KINDS; kind++) {
        const mr_finding_stats *stats = &self->result->stats.findings[kind];
        if (stats->candidates == 0)
            continue;
        fprintf(stream, "  %s  ", mr_finding_noun((mr_witness_kind)kind, true));
        mr_phrase_count(stream, stats->candidates, "candidate", "");
        fprintf(stream, ": %" PRIu64 " found, %" PRIu64 " impossible", stats->found,
                stats->impossible);
        if (stats->unknown > 0)
            fprintf(stream, ", %" PRIu64 " unknown", stats->unknown);
        fputs("\n", stream);
    }
    if (self->result->stats.cycles_missing)
        fputs("  deadlocks   not all circles of locks were looked at: there are too many\n",
              stream);
}

static void print_summary(const writer *self)
{
    const mr_stats *stats = &self->result->stats;
    FILE *stream = self->stream;
    fprintf(stream, "\nSummary\n  windows     %" PRIu64, stats->windows);
    if (stats->windows_missing > 0)
        fprintf(stream, " of %" PRIu64, stats->windows + stats->windows_missing);
    if (stats->windows_stopped > 0)
        fprintf(stream, ", %" PRIu64 " of them stopped by candidates.max_window_steps",
                stats->windows_stopped);
    fputs("\n", stream);
    print_steps(self);
    print_far(self);
    fprintf(stream, "  static      %" PRIu64 " race%s\n", stats->static_races,
            mr_phrase_s(stats->static_races));
    if (stats->memory_order_races > 0)
        fprintf(stream, "  memory order  %" PRIu64 " race%s\n", stats->memory_order_races,
                mr_phrase_s(stats->memory_order_races));
    print_finding_counts(self);
    mr_phrase_rejected(stream, stats->rejected_witnesses);
}

/* " (2 by hb, 1 beyond wcp)" */
static void print_strengths(const writer *self)
{
    static const char *const texts[] = {"by hb", "by wcp", "beyond wcp", "by memory order"};
    uint64_t counts[4] = {0};
    for (size_t i = 0; i < self->result->race_count; i++)
        counts[self->result->races[i].strength]++;
    const char *separator = " (";
    for (int i = 0; i < 4; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(self->stream, "%s%" PRIu64 " %s", separator, counts[i], texts[i]);
        separator = ", ";
    }
    if (self->result->race_count > 0)
        fputs(")", self->stream);
}

/* ", 3 candidates unknown (2 time, 1 memory)"; a single reason stands without its number. */
static void print_unknown_counts(const writer *self)
{
    uint64_t counts[MR_UNKNOWN_COUNT] = {0};
    size_t total = self->result->unknown_count;
    for (size_t i = 0; i < total; i++)
        counts[self->result->unknowns[i].reason]++;
    if (total == 0)
        return;
    fprintf(self->stream, ", %zu candidate%s unknown", total, mr_phrase_s(total));
    const char *separator = " (";
    for (int i = 0; i < MR_UNKNOWN_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        fputs(separator, self->stream);
        if (counts[i] < total)
            fprintf(self->stream, "%" PRIu64 " ", counts[i]);
        fputs(mr_unknown_reason_name((mr_unknown_reason)i), self->stream);
        separator = ", ";
    }
    fputs(")", self->stream);
}

/* "; not complete, ended by time_limit: 12 of 340 windows not looked at, nor all far races" */
static void print_incomplete(const writer *self)
{
    static const char *const reasons[] = {"a failure", "a signal", "time_limit", "memory.limit_mb"};
    const mr_stats *stats = &self->result->stats;
    FILE *stream = self->stream;
    if (!stats->incomplete)
        return;
    fprintf(stream, "; not complete, ended by %s", reasons[stats->halted]);
    if (stats->windows_missing > 0)
        fprintf(stream, ": %" PRIu64 " of %" PRIu64 " windows not looked at%s",
                stats->windows_missing, stats->windows + stats->windows_missing,
                stats->far_missing ? ", nor all far races" : "");
    else if (stats->far_missing)
        fputs(": not all far races looked for", stream);
}

static void print_no_race(const writer *self)
{
    fprintf(self->stream, "no race%s", self->result->stats.incomplete ? " so far" : "");
    mr_phrase_scope(self->stream, self->trace);
}

/* ", 1 use after free, 2 deadlocks" */
static void print_found(const writer *self)
{
    size_t counts[MR_WITNESS_KINDS] = {0};
    for (size_t i = 0; i < self->result->finding_count; i++)
        counts[self->result->findings[i].witness.kind]++;
    for (int kind = 0; kind < MR_WITNESS_KINDS; kind++)
        if (counts[kind] > 0)
            fprintf(self->stream, ", %zu %s", counts[kind],
                    mr_finding_noun((mr_witness_kind)kind, counts[kind] > 1));
    if (self->result->finding_unknown_count > 0)
        fprintf(self->stream, ", %zu unknown beside races", self->result->finding_unknown_count);
}

static void print_last_line(const writer *self)
{
    size_t races = self->result->race_count;
    bool looked = mr_config_set_of(self->config, "find") & MR_FIND_RACES;
    if (self->observed.count > 0)
        fprintf(self->stream, "%zu error%s observed, ", self->observed.count,
                mr_phrase_s(self->observed.count));
    if (!looked)
        fputs("races not looked for", self->stream);
    else if (races == 0)
        print_no_race(self);
    else
        fprintf(self->stream, "%zu race%s", races, mr_phrase_s(races));
    print_strengths(self);
    print_unknown_counts(self);
    print_found(self);
    print_incomplete(self);
    fputs("\n", self->stream);
}

mr_status mr_predict_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error)
{
    writer self = {.stream = stream, .trace = trace, .config = config, .result = result};
    mr_sees sees;
    errno = 0;
    bool ok = mr_sees_init(&sees, trace);
    ok = mr_context_init(&self.context, trace, result) && ok;
    ok = mr_observed_find(&self.observed, trace) && ok;
    if (ok) {
        print_trace(&self);
        mr_observed_print(&self.context, trace, stream, &self.observed);
    }
    for (size_t i = 0; i < result->race_count && ok && !ferror(stream); i++)
        ok = print_race(&self, i, &sees);
    ok = ok && print_findings(&self, &sees);
    mr_sees_free(&sees);
    mr_context_free(&self.context);
    if (!ok) {
        mr_observed_free(&self.observed);
        errno = ENOMEM;
        return mr_error_memory(error, "writing the report");
    }
    print_unknowns(&self);
    print_unknown_findings(&self);
    print_summary(&self);
    if (mr_config_bool(config, "report.run"))
        print_run(stream, &result->run);
    print_last_line(&self);
    mr_observed_free(&self.observed);
    if (fflush(stream) == 0 && !ferror(stream))
        return MR_OK;
    return mr_report_write_failed(mr_config_text(config, "output"), error);
}
