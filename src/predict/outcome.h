/*
 * outcome: what one unit of work has found, as plain data.
 *
 * A unit is a window of the trace, or the search for the sync-preserving races of all of it. What
 * is found in a window depends on the trace, the configuration and the number of the window, and on
 * nothing else but for one thing: a pair that a lower window has proven to race may be left out
 * (merge.h). So it does not matter who decides a window, or when: a thread, another machine, an
 * earlier run whose outcome was saved.
 */
#ifndef MR_PREDICT_OUTCOME_H
#define MR_PREDICT_OUTCOME_H

#include "base/bytes.h"
#include "result.h"

/*
 * What a window says of a static race (pair of locations) or, with candidates.report: event, of a
 * pair of events. First a witness in trace order is looked for. When there is none, questions are
 * asked (solver/decide.h), until one of them proves the race or the pair is out of budget.
 */
typedef struct mr_record {
    uint32_t key_1, key_2; /* of the ledger */
    bool asked;            /* questions were asked; false: a race in trace order, or no budget */
    bool in_trace_order;   /* the race was found before any question */
    bool has_race, has_unknown;
    uint64_t unanswered;     /* questions without an answer */
    uint64_t steps_in_order; /* work (mr_decision.work) before the questions */
    uint64_t steps;          /* work of the questions */
    /* What is unknown when nothing is asked, or what was asked does not count: so many event pairs,
     * for which the one that was to be asked about first stands. */
    uint64_t pairs;
    uint32_t first, second;
    mr_strength strength;
    uint64_t settled[MR_STEP_COUNT];    /* event pairs, by the step that settled them */
    uint64_t unknown[MR_UNKNOWN_COUNT]; /* event pairs, by reason */
    uint64_t rejected_witnesses;
    mr_race race;    /* `has_race`; owned */
    mr_unknown open; /* `has_unknown`: the first pair without a verdict */
} mr_record;

/* Two accesses. */
typedef struct mr_event_pair {
    uint32_t first, second;
} mr_event_pair;

typedef struct mr_outcome {
    uint64_t unit;
    uint64_t dropped_by_filter, dropped_by_cone; /* event pairs */
    mr_record *records;
    size_t count, capacity;
    mr_event_pair *pairs; /* of the search for sync-preserving races: those of the order */
    size_t pair_count;
    bool no_room; /* it was not done, or what comes after it cannot be: memory.limit_mb. Not saved:
                     another run may have more */
    /* Of this run, not of the unit: */
    uint32_t worker, rank;
    double seconds;
    bool saved;  /* it comes from an earlier run */
    bool partly; /* the unit failed: this is what was found before */
} mr_outcome;

/* NULL: no memory. */
mr_outcome *mr_outcome_new(uint64_t unit);
void mr_outcome_free(mr_outcome *outcome); /* may be NULL */

/* A new record, zeroed; NULL: no memory. Valid until the next call. */
mr_record *mr_outcome_add(mr_outcome *outcome);

/* As bytes, without what is of this run; witnesses are packed (witness/pack.h). False: no memory,
 * or a witness that does not respect program order. */
bool mr_outcome_write(const mr_trace *trace, const mr_outcome *outcome, mr_bytes *bytes);

/* From bytes that mr_outcome_write has made for the same trace. NULL: no memory, or with `*damaged`
 * set, other bytes: numbers out of the range of the trace are never let through. */
mr_outcome *mr_outcome_read(const mr_trace *trace, const uint8_t *bytes, size_t count,
                            bool *damaged);

#endif
