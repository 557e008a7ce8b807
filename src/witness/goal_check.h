/*
 * goal_check: does a witness of a kind beside races claim and reach a goal of docs/semantics.md 7?
 * Internal to src/witness, for the checker, which tests the reordering itself. Works on the raw columns.
 *
 *   use-after-free   first frees the object of which second, by another thread and earlier in the trace,
 *                    accesses a variable; at the end it has happened
 *   deadlock         different threads before acquires of different locks; at the end each lock is held
 *                    by the thread of the next acquire, in a mode that excludes
 *   null             second reads what its thread then uses as an address (deref), and did not see 0; at
 *                    the end the last write wrote 0, or there is none and the initial value is 0
 *   dangling         the last write wrote a value v; some object that contains v is freed and none that
 *   double-free      does lives, and that was not so before second in the trace; double-free: the deref
 *                    is followed by a free, dangling: by something else
 *   sees             at the end the last write of the variable that second reads is first
 */
#ifndef MR_WITNESS_GOAL_CHECK_H
#define MR_WITNESS_GOAL_CHECK_H

#include "life_check.h"
#include "requirement.h"
#include "witness.h"

typedef struct mr_goal_judge {
    const mr_trace *trace;
    const mr_requirements *required;
    const mr_witness_lives *lives;
    const mr_replay *state;
} mr_goal_judge;

/* What is wrong, and with which event. */
typedef struct mr_goal_broken {
    uint32_t event;
    char rule[192];
} mr_goal_broken;

/* What can be said without replaying. True: it is broken. O(waits² + events of the thread up to the
 * deref). */
bool mr_goal_claim_broken(const mr_goal_judge *judge, const mr_witness *witness,
                          mr_goal_broken *broken);

/* In the state after the listed events, when the stops are known to be next. True: it is broken.
 * O(waits + objects). */
bool mr_goal_end_broken(const mr_goal_judge *judge, const mr_witness *witness,
                        mr_goal_broken *broken);

#endif
