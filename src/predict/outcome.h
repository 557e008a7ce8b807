/*
 * outcome: what was found in one unit of work, as plain data.
 *
 * A unit is a window, the search for the sync-preserving races of the whole trace, a piece of the
 * far races (src/far), or a static finding beside races (src/findings). The outcome of a window depends on the trace, the settings and the
 * number of the window, and on nothing else, with one exception: a pair that a lower window has
 * proven to race, or has promised (known_races.h), may be left out (merge.h). So it does not matter who decides a window, and when: a
 * thread, another machine, or an earlier run whose outcome was saved.
 */
#ifndef MR_PREDICT_OUTCOME_H
#define MR_PREDICT_OUTCOME_H

#include "base/bytes.h"
#include "result.h"

/*
 * What was found about a static race (pair of locations) or, with candidates.report: event, about a
 * pair of events. In a window, a witness in trace order is looked for first. When there is none,
 * questions are asked (solver/decide.h), until one of them proves the race or the pair is out of
 * budget.
 */
typedef struct mr_pair_verdict {
    uint32_t key_1, key_2; /* of the ledger */
    bool asked;            /* questions were asked; false: a race in trace order, or no budget */
    bool deferred;         /* the questions are left for later (deferred.h) */
    bool promised;         /* not asked, as a lower window was to prove the race (known_races.h) */
    bool in_trace_order;   /* the race was found before any question */
    bool has_race, has_unknown;
    uint64_t unanswered;     /* questions without an answer */
    uint64_t steps_in_order; /* effort (mr_decision.effort) before the questions */
    uint64_t steps;          /* work of the questions */
    /* When no question is asked, or the answers do not count, so many event pairs are unknown. The
     * pair that comes first stands for them. */
    uint64_t pairs;
    uint32_t first, second;
    mr_strength strength;
    uint64_t settled[MR_STEP_COUNT];    /* event pairs, by the step that settled them */
    uint64_t unknown[MR_UNKNOWN_COUNT]; /* event pairs, by reason */
    uint64_t rejected_witnesses;
    mr_race race;    /* `has_race`; owned */
    mr_unknown open; /* `has_unknown`: the first unknown pair */
} mr_pair_verdict;

/* What was found about a static finding beside races. */
typedef struct mr_finding_verdict {
    mr_verdict verdict; /* MR_VERDICT_RACE: found; MR_VERDICT_NO_RACE: impossible */
    uint64_t questions; /* that were asked */
    uint64_t effort;    /* of them, in events of windows that were built (far/ask.h) */
    uint64_t rejected_witnesses;
    mr_finding finding;      /* MR_VERDICT_RACE; owned */
    mr_finding_unknown open; /* MR_VERDICT_UNKNOWN */
} mr_finding_verdict;

/* Two accesses. */
typedef struct mr_event_pair {
    uint32_t first, second;
} mr_event_pair;

typedef struct mr_outcome {
    uint64_t unit;
    uint64_t dropped_by_filter, dropped_by_cone; /* event pairs */
    mr_pair_verdict *verdicts;
    size_t count, capacity;
    mr_event_pair
        *pairs; /* of the search for sync-preserving races: those that it has not confirmed */
    size_t pair_count;
    mr_finding_verdict *finding; /* of a static finding; owned; NULL: another unit */
    /* For want of memory (memory.limit_mb) the search was not done, or far races cannot be decided
     * after it. Such an outcome is not saved: another run may have more memory. */
    bool no_room;
    /* The run was halted before the unit was decided: races that were found by then, and nothing
     * else. Such an outcome is not saved either, and does not count as a unit. */
    bool cut;
} mr_outcome;

/* NULL: no memory. */
mr_outcome *mr_outcome_new(uint64_t unit);
void mr_outcome_free(mr_outcome *outcome); /* may be NULL */

/* A new verdict, zeroed; NULL: no memory. Valid until the next call. */
mr_pair_verdict *mr_outcome_add(mr_outcome *outcome);

/* Drops all but the verdicts with a race. */
void mr_outcome_keep_races(mr_outcome *outcome);

/* Makes outcome->finding, zeroed. False: no memory. */
bool mr_outcome_add_finding(mr_outcome *outcome);

/* Appends the outcome as bytes; witnesses are packed (witness/pack.h). False: no memory, or a
 * witness that does not respect program order. */
bool mr_outcome_write(const mr_trace *trace, const mr_outcome *outcome, mr_bytes *bytes);

/* The outcome from its bytes. NULL: no memory or, with `*damaged` set, the bytes are not those of
 * an outcome. The bytes may be anything: an event number that the trace does not have, or a pair of
 * events that are no conflicting accesses, is never let through. */
mr_outcome *mr_outcome_read(const mr_trace *trace, const uint8_t *bytes, size_t count,
                            bool *damaged);

#endif
