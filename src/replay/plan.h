/*
 * plan: from a witness to the schedule that the runtime library follows (runtime/schedule.h,
 * docs/replay.md). Every event of the witness, and every event before its window, becomes a step of
 * its thread up to its position; then the threads of the goal run up to their accesses and stop.
 *
 * The schedule also says what each operation is expected to be, with its value where the witness
 * promises one: in the models rf and value, when the event is all of its operation.
 */
#ifndef MR_REPLAY_PLAN_H
#define MR_REPLAY_PLAN_H

#include "formats/mrt/mrt_positions.h"
#include "run_info.h"
#include "witness/witness.h"

#include <stdio.h>

enum {
    MR_PLAN_STOPS = 16
}; /* of a deadlock; a goal of more threads is replayed without the rest */

/* A thread that stops. */
typedef struct mr_plan_stop {
    uint32_t event; /* before which */
    uint64_t
        position;   /* of its operation, or of the operation that it is part of (mr_plan_retry) */
    bool any_place; /* … in which case it stops wherever it can */
} mr_plan_stop;

typedef enum mr_plan_then {
    MR_PLAN_END,    /* threads run by the seed */
    MR_PLAN_FIRST,  /* the first access, then the second, then as END */
    MR_PLAN_SECOND, /* the second access before the first one */
    MR_PLAN_HOLD,   /* a breakpoint for a debugger; then as FIRST */
} mr_plan_then;

typedef struct mr_plan {
    const mr_trace *trace;
    const mr_positions *positions;
    const mr_run_info *run;
    const mr_witness *witness; /* open (witness/pack.h) */
    uint32_t event_count;      /* of its events, that many; UINT32_MAX: all, and then the goal */
    mr_plan_stop stops[MR_PLAN_STOPS];
    unsigned stop_count;
    bool is_loose;  /* threads go on by the seed where the program does something else, too */
    uint64_t go_on; /* with FIRST: the thread of the last stop then goes on alone for so many
                       operations, unless it waits; is_loose */
} mr_plan;

/* Sets the stops: where the witness ends (mr_witness_stops), or before one event of the witness (`stop_at`, UINT32_MAX:
 * none). MR_ERR_USAGE: there is no such event in it. */
mr_status mr_plan_init(mr_plan *plan, uint32_t stop_at, mr_error *error);

/* The number of the recorded thread (of the log) that a thread of the trace stands for. */
uint32_t mr_plan_thread(const mr_trace *trace, uint32_t thread);

/* Writes the schedule. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_plan_write(const mr_plan *plan, mr_plan_then then, FILE *file, mr_error *error);

#endif
