/*
 * reduce: a trace without the events that no reordering can feel, and the way back.
 *
 * Kept are the operations on relevant names (relevant.h; inner ones of reentrant locks are not), all forks
 * and joins, in model branch also branch and mbegin, and as mere marks (op `end`) the ends of the
 * opaque edges and the last event of every thread that is joined. The kept events, renumbered from
 * 0, are a trace of their own, with the names of the full one.
 *
 * Two kept accesses race in the one exactly when they race in the other. What is left out
 * constrains nothing but by program order, fork and join; these hold for it as soon as they hold
 * for the kept events: events that are left out may be put anywhere between the kept events of
 * their thread around them (or the thread's fork, the race's access, the join of the thread), and
 * taken out again. Accesses that are left out race with nothing.
 */
#ifndef MR_FAR_REDUCE_H
#define MR_FAR_REDUCE_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

typedef struct mr_reduction {
    const mr_trace *full;
    /* The reduced trace. Its columns are its own; names, values and what is known of variables are
     * on loan from the full one. No lines: not to be printed. */
    mr_trace trace;
    mr_barrier_edges opaque; /* the edges in it; owned */
    uint32_t *events;        /* event of the full trace of each of its events, ascending; owned */
} mr_reduction;

/* `opaque`: the edges of the full trace. O(events), memory 5 bytes an event on the way and 25 a
 * kept one. MR_ERR_MEMORY. To be freed also after an error. */
mr_status mr_reduce(mr_reduction *reduction, const mr_trace *full, const mr_barrier_edges *opaque,
                    mr_model model, mr_error *error);
void mr_reduction_free(mr_reduction *reduction);

/* The number in the reduced trace of the first kept event from `event` on; the count of kept events
 * when there is none. O(log). */
uint32_t mr_reduction_at(const mr_reduction *reduction, uint32_t event);

/* Turns a witness of the reduced trace into one of the full trace, with a window that has no other
 * kept events. What was left out stands where it stood in the trace when that is possible, so that
 * a witness in trace order stays one. O(events of the window). On MR_ERR_MEMORY it stays as it was.
 */
mr_status mr_reduction_expand(const mr_reduction *reduction, mr_witness *witness, mr_error *error);

#endif
