/* order_text: the races of a whole-trace order for people. */
#include "blocks.h"
#include "escape.h"
#include "listing_text.h"
#include "order_report.h"
#include "phrases.h"

#include <errno.h>
#include <inttypes.h>

typedef struct writer {
    FILE *stream;
    const mr_trace *trace;
    const mr_order_result *result;
} writer;

static mr_access access_of(const mr_racing_access *access, uint32_t variable)
{
    return (mr_access){.event = access->event,
                       .thread = access->thread,
                       .location = access->location,
                       .variable = variable,
                       .op = access->op};
}

static void print_head(const writer *self)
{
    const mr_order_result *result = self->result;
    const mr_race_list *list = &result->list;
    FILE *stream = self->stream;
    mr_phrase_trace(stream, self->trace);
    mr_phrase_dropped(stream, self->trace);
    mr_phrase_ending(stream, &self->trace->ending);
    if (result->halted != MR_HALT_NONE && !result->complete)
        fprintf(stream,
                "not complete, ended by %s: what follows is about the first %" PRIu64 " events\n",
                mr_halt_reason_name(result->halted), list->seen_events);
    else if (result->halted != MR_HALT_NONE)
        fprintf(stream, "not complete, ended by %s before all races were looked at\n",
                mr_halt_reason_name(result->halted));
    else if (!result->complete)
        fputs("the analysis ended early: what follows is about the events before that place\n",
              stream);
    if (result->is_long)
        fprintf(stream,
                "not proven: the trace has more than %u events, and cannot be held in memory\n",
                MR_NESTED);
    fprintf(stream, "relation %s: ", mr_relation_name(result->relation));
    mr_phrase_count(stream, list->racy_event_count, "racy event", " at ");
    mr_phrase_count(stream, list->racy_location_count, "location", " on ");
    mr_phrase_count(stream, list->racy_variable_count, "variable", ", ");
    mr_phrase_count(stream, list->race_count, "static race", "\n");
    if (result->recorded_only)
        fputs("covers the recorded order only: races that other orders of these events would show "
              "were not looked for\n",
              stream);
}

static const char *proof_text(mr_proof proof)
{
    switch (proof) {
    case MR_PROOF_FIRST:
        return "the first race of happens-before";
    case MR_PROOF_FHB:
        return "a race of fhb";
    case MR_PROOF_SHB:
        return "a race of shb";
    case MR_PROOF_SYNCP:
        return "a race of syncp";
    case MR_PROOF_C17:
        return "a memory-order race of the recorded order";
    case MR_PROOF_DECISION:
        return "found by the steps of predict";
    case MR_PROOF_NONE:
    case MR_PROOF_COUNT:
        break;
    }
    return "";
}

static void print_window(FILE *stream, const char *before, const mr_order_race *known)
{
    fprintf(stream, "%sevents %" PRIu32 " to %" PRIu32 "\n", before, known->window_start,
            known->window_end - 1);
}

/* The accesses of the witness, when they are not the first example. */
static void print_witness(const writer *self, const mr_order_race *known,
                          const mr_race_example *example)
{
    const mr_witness *witness = &known->witness;
    FILE *stream = self->stream;
    fprintf(stream, "  proof   %s; witness of ", proof_text(known->proof));
    mr_phrase_count(stream, witness->event_count, "event", "");
    if (witness->first != example->first.event || witness->second != example->second.event)
        fprintf(stream, " for events %" PRIu32 " and %" PRIu32, witness->first, witness->second);
    fputs(", accepted by the checker\n", stream);
}

static void print_standing(const writer *self, const mr_order_race *known,
                           const mr_race_example *example)
{
    FILE *stream = self->stream;
    switch (known->standing) {
    case MR_STANDING_RACE:
        print_witness(self, known, example);
        break;
    case MR_STANDING_SOUND:
        fprintf(stream, "  proof   %s; no witness was asked for\n", proof_text(known->proof));
        break;
    case MR_STANDING_NO_RACE:
        print_window(stream, "  scope   no race of these accesses within ", known);
        break;
    case MR_STANDING_UNKNOWN:
        fprintf(stream, "  reason  %s", mr_unknown_reason_name(known->reason));
        if (known->detail[0] != '\0') {
            fputs(", ", stream);
            mr_escape_print(stream, known->detail);
        }
        print_window(stream, "; within ", known);
        break;
    case MR_STANDING_CANDIDATE:
    case MR_STANDING_COUNT:
        break;
    }
}

static void print_race(const writer *self, size_t index)
{
    const mr_race_list *list = &self->result->list;
    const mr_static_race *race = &list->races[index];
    const mr_order_race *known = &self->result->races[index];
    const mr_race_example *first = &list->examples[race->first_example];
    FILE *stream = self->stream;
    fprintf(stream, "\nStatic race %zu of %zu on ", index + 1, list->race_count);
    mr_phrase_name(stream, &self->trace->variables, first->variable);
    fprintf(stream, ": %s\n", mr_standing_text(known->standing));
    for (uint32_t i = race->first_example; i != UINT32_MAX; i = list->examples[i].next) {
        const mr_race_example *example = &list->examples[i];
        if (example != first && example->variable != first->variable) {
            fputs("  on      ", stream);
            mr_phrase_name(stream, &self->trace->variables, example->variable);
            fputs("\n", stream);
        }
        mr_phrase_access(stream, "first", self->trace,
                         access_of(&example->first, example->variable));
        mr_phrase_access(stream, "second", self->trace,
                         access_of(&example->second, example->variable));
    }
    mr_phrase_unseen(stream, &self->trace->ending);
    print_standing(self, known, first);
}

/* "4 static races of wcp: 2 proven, 1 candidate, 1 no race" */
static void print_last_line(const writer *self)
{
    const mr_order_result *result = self->result;
    const char *separator = ": ";
    if (result->observed.count > 0)
        fprintf(self->stream, "%zu error%s observed, ", result->observed.count,
                mr_phrase_s(result->observed.count));
    if (result->observed_untold)
        fputs("errors observed, ", self->stream);
    if (result->list.race_count == 0)
        fprintf(self->stream, "no static race%s", result->complete ? "" : " so far");
    else
        mr_phrase_count(self->stream, result->list.race_count, "static race", "");
    fprintf(self->stream, " of %s", mr_relation_name(result->relation));
    if (result->list.race_count == 0)
        mr_phrase_scope(self->stream, self->trace);
    for (int i = 0; i < MR_STANDING_COUNT; i++) {
        if (result->counts[i] == 0)
            continue;
        fprintf(self->stream, "%s%" PRIu64 " %s", separator, result->counts[i],
                mr_standing_text((mr_standing)i));
        separator = ", ";
    }
    fputs("\n", self->stream);
}

static void print_proofs(const writer *self)
{
    uint64_t counts[MR_PROOF_COUNT] = {0};
    const char *separator = "  proven by   ";
    for (size_t i = 0; i < self->result->list.race_count; i++)
        counts[self->result->races[i].proof]++;
    for (int i = MR_PROOF_NONE + 1; i < MR_PROOF_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        fprintf(self->stream, "%s%s %" PRIu64, separator, mr_proof_name((mr_proof)i), counts[i]);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs("\n", self->stream);
}

static void print_summary(const writer *self)
{
    const mr_order_result *result = self->result;
    if (result->counts[MR_STANDING_RACE] + result->counts[MR_STANDING_SOUND] +
            result->stats.rejected_witnesses ==
        0)
        return;
    fputs("\nSummary\n", self->stream);
    print_proofs(self);
    mr_phrase_rejected(self->stream, result->stats.rejected_witnesses);
}

/* The section on the run: lines that differ from run to run. */
static void print_run(FILE *stream, const mr_order_stats *stats)
{
    const mr_phrase_stage stages[] = {
        {"read", stats->read_seconds},       {"order", stats->find_seconds},
        {"load", stats->load_seconds},       {"mark", stats->mark_seconds},
        {"confirm", stats->confirm_seconds},
    };
    fputs("\nRun\n", stream);
    mr_phrase_seconds(stream, stats->total_seconds, stages, sizeof stages / sizeof stages[0]);
    mr_phrase_memory(stream, stats->peak_memory_bytes);
    mr_phrase_stopped(stream, stats->queries_stopped_by_time, stats->queries_stopped_by_memory);
}

static const char untold[] = "errors happened in the recorded run, which are told only from a file "
                             "that can be read twice, and held in memory: give a file instead of "
                             "standard input\n";

/* What happened in the recorded run: the trace is in memory then. False: no memory. */
static bool print_observed(const writer *self)
{
    static const mr_result no_races;
    mr_context context;
    if (self->result->observed_untold)
        fputs(untold, self->stream);
    if (self->result->observed.count == 0)
        return true;
    bool ok = mr_context_init(&context, self->trace, &no_races);
    if (ok)
        mr_observed_print(&context, self->trace, self->stream, &self->result->observed);
    mr_context_free(&context);
    return ok;
}

/* False: no memory. */
static bool print_brief(const writer *self)
{
    const mr_style plain = {0};
    if (self->result->observed_untold)
        fprintf(self->stream, "%s: %s", self->trace->path, untold);
    return mr_listing_print_order(self->stream, self->result, self->trace, plain, true);
}

/* Everything but the list alone. False: no memory. */
static bool print_all(const writer *self, const mr_config *config, mr_style style)
{
    const mr_order_result *result = self->result;
    print_head(self);
    if (!mr_listing_print_order(self->stream, result, self->trace, style, false) ||
        !print_observed(self))
        return false;
    for (size_t i = 0; i < result->list.race_count && !ferror(self->stream); i++)
        print_race(self, i);
    print_summary(self);
    if (mr_config_bool(config, "report.run"))
        print_run(self->stream, &result->stats);
    print_last_line(self);
    return true;
}

mr_status mr_order_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                               const mr_order_result *result, mr_error *error)
{
    const writer self = {stream, trace, result};
    errno = 0;
    bool ok = mr_config_bool(config, "brief")
                  ? print_brief(&self)
                  : print_all(&self, config, mr_style_of(stream, config));
    if (!ok)
        return mr_error_memory(error, "writing the report");
    return mr_report_finish(stream, config, MR_OK, error);
}
