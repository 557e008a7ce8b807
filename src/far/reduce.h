/*
 * reduce: a trace without the events whose order no reordering can change, and the way back.
 *
 * Kept are
 *
 *   - operations on relevant names (relevant.h), but not the inner ones of reentrant locks;
 *   - all forks and joins; in model branch also branch and mbegin;
 *   - as mere marks (op `end`): the ends of the edges of BarrierPairs, and the last event of every
 *     thread that is joined.
 *
 * The kept events, renumbered from 0, are a trace of their own, with the names of the full trace.
 *
 * Two kept accesses race in the reduced trace exactly when they race in the full one. Events that
 * are left out constrain nothing but by program order, fork and join. They can be taken out of a
 * witness. They can be put back anywhere between the kept events of their thread around them (or
 * the fork of the thread, the access of the race, the join of the thread), and then program order,
 * fork and join hold for them as they hold for the kept events. Accesses that are left out race
 * with nothing.
 */
#ifndef MR_FAR_REDUCE_H
#define MR_FAR_REDUCE_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

typedef struct mr_reduction {
    const mr_trace *full;
    /* The reduced trace. Its columns are its own; names, values and facts about variables are on
     * loan from the full trace. It has no lines of a file, so it cannot be printed. */
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

/* Turns a witness of the reduced trace into one of the full trace, on the window from its first to
 * its last kept event. An event that was left out comes at its place in the trace where possible,
 * so a witness in trace order stays one. O(events of the window). On MR_ERR_MEMORY the witness
 * stays as it was. */
mr_status mr_reduction_expand(const mr_reduction *reduction, mr_witness *witness, mr_error *error);

#endif
