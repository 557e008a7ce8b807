/* predict_summary: the counts at the end of the text of a prediction, and its last lines. */
#include "predict_summary.h"

#include "escape.h"
#include "findings.h"
#include "phrases.h"

#include <inttypes.h>
#include <string.h>

typedef mr_predict_summary writer;

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
void mr_predict_print_run(FILE *stream, const mr_run_figures *run)
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
    for (int kind = MR_WITNESS_USE_AFTER_FREE; kind < MR_WITNESS_SEES; kind++) {
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

void mr_predict_print_summary(const mr_predict_summary *self)
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
        if (self->findings->of_race[i])
            counts[self->result->races[i].strength]++;
    const char *separator = " (";
    for (int i = 0; i < 4; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(self->stream, "%s%" PRIu64 " %s", separator, counts[i], texts[i]);
        separator = ", ";
    }
    if (separator[0] == ',')
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

/* "; not looked for: pairs farther apart than a window (300 events)" */
static void print_not_looked(const writer *self)
{
    const mr_stats *stats = &self->result->stats;
    char text[MR_NOT_LOOKED_BYTES];
    mr_phrase_not_looked(self->config, stats->windows + stats->windows_missing, text);
    if (text[0] != '\0')
        fprintf(self->stream, "; not looked for: %s", text);
}

static void print_no_race(const writer *self)
{
    fprintf(self->stream, "no race%s", self->result->stats.incomplete ? " so far" : "");
    mr_phrase_scope(self->stream, self->trace);
    print_not_looked(self);
}

/* ", 3 suppressed, 2 known" */
static void print_left_out(const writer *self)
{
    const mr_listing *findings = self->findings;
    if (findings->suppressed_count > 0)
        fprintf(self->stream, ", %zu suppressed", findings->suppressed_count);
    if (findings->suppressed_by_program > 0)
        fprintf(self->stream, " (%zu by the program itself)", findings->suppressed_by_program);
    if (findings->has_baseline)
        fprintf(self->stream, ", %zu known by the baseline, %zu new", findings->known_count,
                findings->count - findings->known_count);
}

static size_t count_kind(const mr_listing *findings, mr_listed_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].kind == kind;
    return count;
}

/* ", 1 use after free, 2 deadlocks" */
static void print_found(const writer *self)
{
    static const mr_witness_kind kinds[MR_LISTED_COUNT] = {
        [MR_LISTED_USE_AFTER_FREE] = MR_WITNESS_USE_AFTER_FREE,
        [MR_LISTED_DEADLOCK] = MR_WITNESS_DEADLOCK,
        [MR_LISTED_NULL_POINTER] = MR_WITNESS_NULL,
        [MR_LISTED_DANGLING] = MR_WITNESS_DANGLING,
        [MR_LISTED_DOUBLE_FREE] = MR_WITNESS_DOUBLE_FREE};
    for (int kind = MR_LISTED_USE_AFTER_FREE; kind < MR_LISTED_COUNT; kind++) {
        size_t count = count_kind(self->findings, (mr_listed_kind)kind);
        if (count > 0)
            fprintf(self->stream, ", %zu %s", count, mr_finding_noun(kinds[kind], count > 1));
    }
    if (self->result->finding_unknown_count > 0)
        fprintf(self->stream, ", %zu unknown beside races", self->result->finding_unknown_count);
}

/* "sees 7 14: proven impossible" */
static void print_sees(const writer *self)
{
    const mr_finding_stats *stats = &self->result->stats.findings[MR_WITNESS_SEES];
    fprintf(self->stream, "sees %s: %s", mr_config_text(self->config, "sees"),
            stats->found        ? "found"
            : stats->impossible ? "proven impossible"
                                : "unknown");
}

/* "no deadlock in the 26 events of the trace; " of what was looked for, when nothing was found. */
static void print_nothing_found(const writer *self)
{
    static const struct {
        unsigned bit;
        const char *noun;
    } kinds[] = {{MR_FIND_MEMORY, "use after free"},
                 {MR_FIND_DEADLOCKS, "deadlock"},
                 {MR_FIND_POINTERS, "null or dangling pointer"}};
    const char *separator = "no ";
    if (self->findings->count > 0 || self->result->finding_unknown_count > 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mr_config_set_of(self->config, "find") & kinds[i].bit) {
            fprintf(self->stream, "%s%s", separator, kinds[i].noun);
            separator = ", no ";
        }
    fputs(self->result->stats.incomplete ? " so far" : "", self->stream);
    mr_phrase_scope(self->stream, self->trace);
    fputs("; ", self->stream);
}

void mr_predict_print_last(const mr_predict_summary *self)
{
    const mr_listing *findings = self->findings;
    bool looked = mr_config_set_of(self->config, "find") & MR_FIND_RACES;
    size_t observed =
        count_kind(findings, MR_LISTED_OBSERVED) + count_kind(findings, MR_LISTED_MISUSE);
    size_t races =
        count_kind(findings, MR_LISTED_RACE) + count_kind(findings, MR_LISTED_MEMORY_ORDER);
    if (observed > 0)
        fprintf(self->stream, "%zu error%s observed, ", observed, mr_phrase_s(observed));
    if (mr_config_text(self->config, "sees")[0] != '\0')
        print_sees(self);
    else if (!looked) {
        print_nothing_found(self);
        fputs("races not looked for", self->stream);
    } else if (races == 0)
        print_no_race(self);
    else
        fprintf(self->stream, "%zu race%s", races, mr_phrase_s(races));
    print_strengths(self);
    print_found(self);
    print_left_out(self);
    print_unknown_counts(self);
    print_incomplete(self);
    fputs("\n", self->stream);
}

/* The reason of most unknowns. */
static mr_unknown_reason main_reason(const mr_result *result)
{
    uint64_t counts[MR_UNKNOWN_COUNT] = {0};
    int best = 0;
    for (size_t i = 0; i < result->unknown_count; i++)
        counts[result->unknowns[i].reason]++;
    for (int i = 1; i < MR_UNKNOWN_COUNT; i++)
        best = counts[i] > counts[best] ? i : best;
    return (mr_unknown_reason)best;
}

/* What may settle an unknown. */
static const char *remedy(mr_unknown_reason reason)
{
    switch (reason) {
    case MR_UNKNOWN_TIME:
        return "a larger --solver-timeout-ms, or --model rf";
    case MR_UNKNOWN_MEMORY:
        return "a larger --solver-memory-mb or --memory-limit-mb, or a smaller --window-size";
    case MR_UNKNOWN_SIZE:
        return "a larger --solver-max-clauses, or a smaller --window-size";
    case MR_UNKNOWN_BUDGET:
        return "a larger --window-far-work and --candidates-max-unanswered";
    case MR_UNKNOWN_STEPS:
        return "a larger --solver-saturate-steps and --solver-rlimit, or --model rf";
    case MR_UNKNOWN_SOLVER:
    case MR_UNKNOWN_REJECTED:
    case MR_UNKNOWN_COUNT:
        break;
    }
    return "--model rf, or another --window-size";
}

/* The worst finding that a replay can show; NULL: none. */
static const mr_listed *replayed(const mr_listing *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (!mr_listed_happened(findings->items[i].kind) &&
            findings->items[i].kind != MR_LISTED_MEMORY_ORDER)
            return &findings->items[i];
    return NULL;
}

/* Does the option have another value? Then `flag` is to be said. */
static bool differs(const mr_config *one, const mr_config *other, size_t option)
{
    char first[32], second[32];
    if (strcmp(mr_options[option].key, "window.overlap") == 0)
        return mr_config_overlap(one) != mr_config_overlap(other);
    return strcmp(mr_config_value_text(one, option, first),
                  mr_config_value_text(other, option, second)) != 0;
}

/* " --model rf": the flags by which another prediction finds what this one has found. False: no memory. */
static bool print_flags(FILE *stream, const mr_config *config)
{
    char flag[64], buffer[32];
    mr_error unused;
    mr_config *said = mr_config_new();
    bool ok = said != NULL;
    for (size_t i = 0; ok && i < mr_option_count; i++) {
        const mr_option *option = &mr_options[i];
        if (!mr_config_decides(i) || strcmp(option->key, "halt_on_finding") == 0 ||
            !differs(config, said, i))
            continue;
        const char *text = mr_config_value_text(config, i, buffer);
        mr_config_flag(i, flag, sizeof flag);
        if (option->type == MR_OPTION_BOOL) {
            fprintf(stream, " --%s%s", mr_config_bool(config, option->key) ? "" : "no-", flag + 2);
        } else {
            fprintf(stream, " %s ", flag);
            mr_escape_shell(stream, text);
        }
        ok = mr_config_set(said, option->key, text, NULL, 0, &unused) == MR_OK;
    }
    mr_config_free(said);
    return ok;
}

/* "Next: run the program by that schedule: maxrace replay bank.mrt --race 1" */
static bool print_replay(const mr_predict_summary *self, const mr_listed *finding)
{
    fputs("Next: run the program by that schedule: maxrace replay ", self->stream);
    mr_escape_shell(self->stream, self->trace->path);
    fprintf(self->stream, " --%s %zu", finding->kind == MR_LISTED_RACE ? "race" : "finding",
            finding->index + 1);
    bool ok = print_flags(self->stream, self->config);
    fputs("\n", self->stream);
    return ok;
}

bool mr_predict_print_next(const mr_predict_summary *self)
{
    const mr_result *result = self->result;
    const mr_suppressions *rules = &self->findings->suppressions;
    for (size_t i = 0; i < rules->count; i++)
        if (rules->items[i].count == 0 && rules->items[i].line > 0)
            fprintf(self->stream, "Unused: %s:%" PRIu64 ": %s:%s suppresses nothing\n", rules->file,
                    rules->items[i].line, mr_rule_word(rules->items[i].type),
                    rules->items[i].pattern);
    const mr_listed *finding = self->trace->replayable ? replayed(self->findings) : NULL;
    if (result->stats.incomplete)
        fputs("Next: let the run end, with --checkpoint FILE --resume\n", self->stream);
    else if (result->unknown_count > 0)
        fprintf(self->stream, "Next: for the unknown, %s\n", remedy(main_reason(result)));
    else if (finding != NULL)
        return print_replay(self, finding);
    else if (self->groups_hidden)
        fputs("Next: --report-shown 0 shows every finding in full, --brief one line each\n",
              self->stream);
    else if (self->findings->count > 0)
        fputs("Next: --format html -o report.html shows the schedules as pictures\n", self->stream);
    else
        fputs("Next: other recorded runs may show more, 'maxrace run --runs 10'; "
              "'maxrace explain TRACE PLACE' says why a place has no race\n",
              self->stream);
    return true;
}
