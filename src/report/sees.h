/*
 * sees: which write a read sees when a witness is replayed, for the printed schedule.
 *
 *   mr_sees_init → (mr_sees_start → mr_sees_step*)* → mr_sees_free
 *
 * Starting at a window costs O(events since the last start), or O(events before the window) when it
 * begins earlier than the last one. Says what a schedule would show; whether it is right is the
 * checker's word.
 */
#ifndef MR_REPORT_SEES_H
#define MR_REPORT_SEES_H

#include "trace/trace.h"

typedef struct mr_sees {
    const mr_trace *trace;
    uint32_t *last_write; /* one a variable; MR_NONE: none yet */
    uint32_t position;    /* the events before it are in last_write … */
    mr_u32s undo;         /* … and then these: pairs of variable, last write before the step */
} mr_sees;

bool mr_sees_init(mr_sees *sees, const mr_trace *trace); /* false: no memory */
void mr_sees_free(mr_sees *sees);

/* All events before `window_start` have happened as observed, and nothing else. */
void mr_sees_start(mr_sees *sees, uint32_t window_start);
/* `event` happens next; `*seen` is the write that it sees when it reads, else MR_NONE. False: no
 * memory. */
bool mr_sees_step(mr_sees *sees, uint32_t event, uint32_t *seen);
/* The last write of a variable now, or MR_NONE. */
uint32_t mr_sees_last(const mr_sees *sees, uint32_t variable);

#endif
