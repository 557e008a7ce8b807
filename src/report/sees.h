/*
 * sees: finds the write that each read of a witness sees, for the printed schedule.
 *
 *   mr_sees_init → (mr_sees_start → mr_sees_step*)* → mr_sees_free
 *
 * Starting at a window costs O(events since the last start), or O(events before the window) when it
 * begins earlier than the last one; with mr_writes O(1), and a read O(log writes). It only replays; the checker decides whether the witness is
 * right.
 */
#ifndef MR_REPORT_SEES_H
#define MR_REPORT_SEES_H

#include "trace/trace.h"

/* The writes of each variable, for who starts at many windows. Borrowed by any number of mr_sees, in any threads. */
typedef struct mr_writes {
    uint32_t *first;  /* one a variable, and one more: where its writes begin in … */
    uint32_t *events; /* … these, which ascend; owned */
} mr_writes;

bool mr_writes_build(mr_writes *writes, const mr_trace *trace); /* false: no memory */
void mr_writes_free(mr_writes *writes);

typedef struct mr_sees {
    const mr_trace *trace;
    const mr_writes *writes; /* NULL: none. To be set right after mr_sees_init */
    /* One a variable: its last write before `position`, or in `undo`; MR_NONE: none yet, or, with `writes`, none in
     * `undo`. */
    uint32_t *last_write;
    uint32_t position; /* where the window starts */
    mr_u32s undo;      /* for each write of a step: the variable, and its last write before */
} mr_sees;

bool mr_sees_init(mr_sees *sees, const mr_trace *trace); /* false: no memory */
void mr_sees_free(mr_sees *sees);

/* Goes to the state in which the events before `window_start` have happened as in the trace. */
void mr_sees_start(mr_sees *sees, uint32_t window_start);
/* Lets `event` happen. `*seen` is the write that it sees when it reads, else MR_NONE. False: no
 * memory. */
bool mr_sees_step(mr_sees *sees, uint32_t event, uint32_t *seen);
/* The last write of a variable now, or MR_NONE. */
uint32_t mr_sees_last(const mr_sees *sees, uint32_t variable);

#endif
