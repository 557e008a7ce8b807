/*
 * carried: the state that the events before a window leave behind.
 *
 * The events before a window happen as observed (docs/semantics.md 5). The window needs of them:
 * the sections that are open, the units of semaphores that nobody has taken, and, by links of the
 * trace, the last writes. The state moves forward with the windows.
 *
 *   mr_carried_init → (mr_carried_move → mr_window_build)* → mr_carried_free
 */
#ifndef MR_WINDOWS_CARRIED_H
#define MR_WINDOWS_CARRIED_H

#include "base/arena.h"
#include "opaque/barrier_pairs.h"
#include "trace/trace.h"

typedef struct mr_carried {
    const mr_trace *trace;
    uint32_t next;          /* the state is the one just before this event */
    uint32_t *open_acquire; /* one a lock of the trace: its outermost acquire; MR_NONE: free */
    uint32_t *open_shared;  /* the outermost shared acquires that are open, in trace order */
    uint32_t open_shared_count, open_shared_capacity;
    uint32_t *units; /* one a lock of the trace: units given and not taken */
    /* The edges that the BarrierPairs of the whole trace impose; NULL: none. Not owned, and set by
     * the caller after mr_carried_init. */
    const mr_barrier_edges *barrier_edges;
    /* Dense numbers of the window being built, one for each name of the trace; MR_NONE outside a
     * build. */
    uint32_t *dense_thread, *dense_chain, *dense_variable, *dense_lock;
} mr_carried;

/* O(names of the trace), and with shared locks O(events). */
mr_status mr_carried_init(mr_carried *carried, const mr_trace *trace, mr_error *error);
void mr_carried_free(mr_carried *carried);

/* Plays the events up to, not including, `event`; going back starts again at event 0. O(events). */
void mr_carried_move(mr_carried *carried, uint32_t event);

/* The state at some event, to go back to without playing the events before it. */
typedef struct mr_carried_copy {
    uint32_t next, open_shared_count;
    uint32_t *open_acquire, *open_shared, *units;
} mr_carried_copy;

/* In memory of `arena`. False: no memory. O(locks). */
bool mr_carried_save(const mr_carried *carried, mr_carried_copy *copy, mr_arena *arena);
void mr_carried_restore(mr_carried *carried, const mr_carried_copy *copy);

#endif
