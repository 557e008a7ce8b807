#include "merge.h"

#include "base/memory.h"
#include "witness/pack.h"

#include <stdio.h>
#include <stdlib.h>

/* What the merge does with a verdict. */
typedef enum use {
    DROPPED,  /* an earlier window has proven the race, or it is foreseen */
    AS_IT_IS, /* all of the verdict counts */
    DEFERRED, /* its questions are left for later */
    /* Only what trace order says counts: */
    OVER_UNANSWERED, /* candidates.max_unanswered forbids the questions */
    OVER_STEPS,      /* candidates.max_window_steps forbids them */
    NOT_ASKED,       /* no budget forbids them, but nobody has asked */
} use;

/* `*window_steps`: what the verdicts of the window before this one have spent; its own are added. */
static use use_of(const mr_merge *merge, const mr_pair_verdict *verdict, uint64_t *window_steps)
{
    const mr_predict_settings *settings = merge->settings;
    const mr_ledger_entry *entry = mr_ledger_find(&merge->ledger, verdict->key_1, verdict->key_2);
    if ((entry && entry->race) ||
        (!verdict->in_trace_order && merge->known &&
         mr_known_races_is_foreseen(merge->known, verdict->key_1, verdict->key_2)))
        return DROPPED;
    if (verdict->promised)
        return NOT_ASKED; /* the promise was not kept */
    *window_steps += verdict->steps_in_order;
    if (verdict->in_trace_order)
        return AS_IT_IS;
    if (settings->max_unanswered && entry && entry->unanswered >= settings->max_unanswered) {
        /* The worker did not know of lower windows: it asked, and its budget of steps counted that. */
        *window_steps += verdict->steps;
        return OVER_UNANSWERED;
    }
    if (settings->max_window_steps && *window_steps >= settings->max_window_steps)
        return OVER_STEPS;
    if (verdict->deferred && !settings->defers)
        return NOT_ASKED; /* nobody would ask later */
    /* A worker that did not know of lower windows may have asked more than counts, and stopped too early. */
    if (!verdict->asked)
        return verdict->deferred && (settings->is_wide || *window_steps >= settings->plan.size)
                   ? DEFERRED
                   : NOT_ASKED;
    *window_steps += verdict->steps;
    return verdict->deferred ? DEFERRED : AS_IT_IS;
}

bool mr_merge_is_complete(const mr_merge *merge, const mr_outcome *outcome)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < outcome->count; i++)
        if (use_of(merge, &outcome->verdicts[i], &steps) == NOT_ASKED)
            return false;
    return true;
}

static void free_race(mr_pair_verdict *verdict)
{
    if (verdict->has_race)
        mr_witness_free(&verdict->race.witness);
    verdict->has_race = false;
}

/* Drops the answers to questions from a verdict, but for what they took. */
static void forget_answers(mr_pair_verdict *verdict)
{
    free_race(verdict);
    *verdict = (mr_pair_verdict){.key_1 = verdict->key_1,
                                 .key_2 = verdict->key_2,
                                 .steps_in_order = verdict->steps_in_order,
                                 .steps = verdict->steps,
                                 .pairs = verdict->pairs,
                                 .first = verdict->first,
                                 .second = verdict->second,
                                 .strength = verdict->strength};
}

void mr_merge_trim(const mr_merge *merge, mr_outcome *outcome)
{
    uint64_t steps = 0;
    size_t kept = 0;
    for (size_t i = 0; i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        switch (use_of(merge, verdict, &steps)) {
        case DROPPED:
            free_race(verdict);
            continue;
        case OVER_UNANSWERED:
        case OVER_STEPS:
        case NOT_ASKED:
            forget_answers(verdict);
            break;
        case AS_IT_IS:
        case DEFERRED:
            break;
        }
        outcome->verdicts[kept++] = *verdict;
    }
    outcome->count = kept;
}

/* The first witnesses of a result are open, the others are packed. False: no memory. */
static bool open_or_pack(const mr_merge *merge, mr_witness *witness)
{
    const mr_trace *trace = merge->settings->trace;
    mr_witness room = {0};
    if (merge->result->race_count >= MR_WITNESSES_OPEN)
        return witness->packed || mr_witness_pack(trace, witness);
    const mr_witness *open = mr_witness_open(trace, witness, &room);
    if (open == &room) {
        mr_witness_free(witness);
        *witness = room;
    }
    return open;
}

static mr_status add_race(mr_merge *merge, mr_ledger_entry *entry, mr_pair_verdict *verdict,
                          uint64_t window, mr_error *error)
{
    mr_result *result = merge->result;
    void *races = result->races;
    if (!open_or_pack(merge, &verdict->race.witness) ||
        !mr_grow(&races, &result->race_capacity, result->race_count + 1, sizeof *result->races))
        return mr_error_memory(error, "recording a race");
    result->races = races;
    result->races[result->race_count++] = verdict->race;
    verdict->has_race = false; /* taken over */
    entry->race = true;
    entry->window = window;
    if (merge->known)
        mr_known_races_add(merge->known, verdict->key_1, verdict->key_2, window);
    return MR_OK;
}

static mr_status add_unknown(mr_merge *merge, mr_ledger_entry *entry, const mr_unknown *unknown,
                             mr_error *error)
{
    mr_result *result = merge->result;
    void *unknowns = result->unknowns;
    if (entry->unknown)
        return MR_OK;
    if (!mr_grow(&unknowns, &result->unknown_capacity, result->unknown_count + 1,
                 sizeof *result->unknowns))
        return mr_error_memory(error, "recording a candidate");
    result->unknowns = unknowns;
    entry->unknown = true;
    entry->unknown_index = (uint32_t)result->unknown_count;
    result->unknowns[result->unknown_count++] = *unknown;
    return MR_OK;
}

mr_status mr_merge_verdict(mr_merge *merge, mr_pair_verdict *verdict, uint64_t window,
                           mr_error *error)
{
    mr_ledger_entry *entry = mr_ledger_get(&merge->ledger, verdict->key_1, verdict->key_2);
    if (!entry) {
        free_race(verdict);
        return mr_error_memory(error, "recording a candidate");
    }
    entry->unanswered += verdict->unanswered;
    merge->result->stats.rejected_witnesses += verdict->rejected_witnesses;
    mr_status status = MR_OK;
    if (verdict->has_unknown && !verdict->has_race)
        status = add_unknown(merge, entry, &verdict->open, error);
    if (verdict->has_race && status == MR_OK)
        status = add_race(merge, entry, verdict, window, error);
    if (status != MR_OK)
        free_race(verdict);
    return status;
}

/* Adds a verdict with the answers to its questions. */
static mr_status add_whole(mr_merge *merge, mr_pair_verdict *verdict, uint64_t window,
                           mr_error *error)
{
    mr_stats *stats = &merge->result->stats;
    for (int step = 0; step < MR_STEP_COUNT; step++) {
        stats->settled[step] += verdict->settled[step];
        stats->candidates += verdict->settled[step];
    }
    for (int reason = 0; reason < MR_UNKNOWN_COUNT; reason++) {
        stats->unknown[reason] += verdict->unknown[reason];
        stats->candidates += verdict->unknown[reason];
    }
    if (verdict->has_race)
        stats->races[verdict->race.confirmed_by]++;
    return mr_merge_verdict(merge, verdict, window, error);
}

static mr_status add_unasked(mr_merge *merge, const mr_pair_verdict *verdict, uint64_t window,
                             use reason, mr_error *error)
{
    static const char *const details[] = {
        [OVER_UNANSWERED] = "candidates.max_unanswered",
        [OVER_STEPS] = "candidates.max_window_steps",
        [NOT_ASKED] = "not asked",
    };
    mr_stats *stats = &merge->result->stats;
    uint32_t start = 0, end = 0;
    mr_window_plan_get(&merge->settings->plan, (uint32_t)window, &start, &end);
    mr_unknown unknown = {.first = verdict->first,
                          .second = verdict->second,
                          .window_start = start,
                          .window_end = end,
                          .strength = verdict->strength,
                          .reason = MR_UNKNOWN_BUDGET};
    snprintf(unknown.detail, sizeof unknown.detail, "%s", details[reason]);
    stats->candidates += verdict->pairs;
    stats->unknown[MR_UNKNOWN_BUDGET] += verdict->pairs;
    mr_ledger_entry *entry = mr_ledger_get(&merge->ledger, verdict->key_1, verdict->key_2);
    return entry ? add_unknown(merge, entry, &unknown, error)
                 : mr_error_memory(error, "recording a candidate");
}

/* The races alone. One that is there already is dropped. */
static mr_status add_races(mr_merge *merge, mr_outcome *outcome, uint64_t window, mr_error *error)
{
    mr_status status = MR_OK;
    for (size_t i = 0; i < outcome->count && status == MR_OK; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        const mr_ledger_entry *entry =
            mr_ledger_find(&merge->ledger, verdict->key_1, verdict->key_2);
        if (verdict->has_race && (!entry || !entry->race))
            status = add_whole(merge, verdict, window, error);
    }
    return status;
}

mr_status mr_merge_races(mr_merge *merge, mr_outcome *outcome, mr_error *error)
{
    return add_races(merge, outcome, MR_BEFORE_WINDOWS, error);
}

mr_status mr_merge_note(mr_merge *merge, const mr_outcome *outcome, mr_error *error)
{
    for (size_t i = 0; merge->known && i < outcome->count; i++)
        if (!mr_known_races_add(merge->known, outcome->verdicts[i].key_1,
                                outcome->verdicts[i].key_2, MR_BEFORE_WINDOWS))
            return mr_error_memory(error, "recording a race");
    return MR_OK;
}

mr_status mr_merge_window(mr_merge *merge, mr_outcome *outcome, mr_error *error)
{
    if (outcome->cut)
        return add_races(merge, outcome, outcome->unit, error);
    mr_stats *stats = &merge->result->stats;
    uint64_t steps = 0;
    bool stopped = false;
    mr_status status = MR_OK;
    stats->windows++;
    stats->candidates += outcome->dropped_by_filter + outcome->dropped_by_cone;
    stats->settled[MR_STEP_FILTER] += outcome->dropped_by_filter;
    stats->settled[MR_STEP_CONE] += outcome->dropped_by_cone;
    for (size_t i = 0; i < outcome->count && status == MR_OK; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        use reason = use_of(merge, verdict, &steps);
        switch (reason) {
        case DROPPED:
            break;
        case AS_IT_IS:
            status = add_whole(merge, verdict, outcome->unit, error);
            break;
        case DEFERRED:
            stats->rejected_witnesses += verdict->rejected_witnesses;
            if (!mr_deferred_add(&merge->deferred, verdict->key_1, verdict->key_2, outcome->unit))
                status = mr_error_memory(error, "recording a candidate");
            break;
        case OVER_UNANSWERED:
        case OVER_STEPS:
        case NOT_ASKED:
            stopped |= reason == OVER_STEPS;
            status = add_unasked(merge, verdict, outcome->unit, reason, error);
            break;
        }
    }
    stats->windows_stopped += stopped;
    if (stopped && merge->settings->defers && status == MR_OK &&
        !mr_u32s_push(&merge->deferred.stopped, (uint32_t)outcome->unit))
        status = mr_error_memory(error, "recording a window");
    return status;
}

/* Was the window stopped when it was merged first? */
static bool was_stopped(const mr_merge *merge, uint64_t window)
{
    const mr_u32s *stopped = &merge->deferred.stopped;
    uint32_t number = (uint32_t)window;
    return stopped->count &&
           bsearch(&number, stopped->items, stopped->count, sizeof number, mr_compare_u32);
}

mr_status mr_merge_deferred(mr_merge *merge, mr_outcome *outcome, mr_error *error)
{
    mr_stats *stats = &merge->result->stats;
    uint64_t windows = stats->windows, stopped = stats->windows_stopped;
    outcome->dropped_by_filter = outcome->dropped_by_cone = 0;
    mr_status status = mr_merge_window(merge, outcome, error);
    stats->windows = windows;
    if (was_stopped(merge, outcome->unit))
        stats->windows_stopped = stopped;
    return status;
}

/* ---- the end ---- */

static int compare_events(uint32_t second_1, uint32_t first_1, uint32_t second_2, uint32_t first_2)
{
    if (second_1 != second_2)
        return second_1 < second_2 ? -1 : 1;
    return (first_1 > first_2) - (first_1 < first_2);
}

static int compare_races(const void *one, const void *two)
{
    const mr_witness *x = &((const mr_race *)one)->witness, *y = &((const mr_race *)two)->witness;
    return compare_events(x->second, x->first, y->second, y->first);
}

static int compare_unknowns(const void *one, const void *two)
{
    const mr_unknown *x = one, *y = two;
    return compare_events(x->second, x->first, y->second, y->first);
}

static void drop_settled(mr_merge *merge)
{
    mr_result *result = merge->result;
    size_t kept = 0;
    for (uint32_t i = 0; i < merge->ledger.count; i++) {
        const mr_ledger_entry *entry = &merge->ledger.entries[i];
        if (entry->unknown && entry->race)
            result->unknowns[entry->unknown_index].window_end = 0;
    }
    for (size_t i = 0; i < result->unknown_count; i++)
        if (result->unknowns[i].window_end)
            result->unknowns[kept++] = result->unknowns[i];
    result->unknown_count = kept;
}

/* Counts the distinct pairs of places among the races. */
static mr_status count_static_races(mr_merge *merge, mr_error *error)
{
    mr_result *result = merge->result;
    mr_ledger pairs = {0};
    mr_status status = MR_OK;
    for (size_t i = 0; i < result->race_count && status == MR_OK; i++) {
        const mr_witness *witness = &result->races[i].witness;
        if (!mr_ledger_get_static(&pairs, merge->settings->trace, witness->first, witness->second))
            status = mr_error_memory(error, "counting the races");
    }
    result->stats.static_races = pairs.count;
    mr_ledger_free(&pairs);
    return status;
}

mr_status mr_merge_finish(mr_merge *merge, mr_error *error)
{
    mr_result *result = merge->result;
    drop_settled(merge);
    if (result->race_count)
        qsort(result->races, result->race_count, sizeof *result->races, compare_races);
    if (result->unknown_count)
        qsort(result->unknowns, result->unknown_count, sizeof *result->unknowns, compare_unknowns);
    return count_static_races(merge, error);
}
