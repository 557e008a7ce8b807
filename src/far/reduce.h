/*
 * reduce: the reduced trace, which lacks the events whose order no reordering can change, and the
 * way back to the full trace.
 *
 * The reduced trace keeps
 *
 *   - the operations on relevant names (relevant.h), without the inner ones of reentrant locks;
 *   - all forks and joins; in model branch also branch and mbegin;
 *   - as marks (operation `end`, without an operand): the two ends of each edge of a BarrierPair,
 *     and the last event of each thread that is joined.
 *
 * The kept events are numbered from 0 in trace order. The names are those of the full trace.
 *
 * Two kept accesses race in the reduced trace exactly when they race in the full trace. Only program
 * order, fork and join constrain the events that are left out. So these events can be taken out of a
 * witness. They can also be put back into one: each goes anywhere between the two kept events of its
 * thread around it. (The fork of the thread, the access of the race and the join of the thread
 * stand for a kept event that is missing.) Then program order, fork and join hold for them as they
 * hold for the kept events. An access that is left out races with no access.
 *
 * Order of calls: mr_reduce → (mr_reduction_at | mr_reduction_expand)* → mr_reduction_free. After
 * mr_reduce, several threads may use the reduction.
 */
#ifndef MR_FAR_REDUCE_H
#define MR_FAR_REDUCE_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

typedef struct mr_reduction {
    const mr_trace *full;
    /* The reduced trace. It owns its columns, and borrows names, values and facts about variables
     * from the full trace. It has no lines of a file, so it cannot be printed. */
    mr_trace trace;
    mr_barrier_edges opaque; /* the edges of BarrierPairs between kept events; owned */
    uint32_t *events;        /* reduced event → event of the full trace; ascending; owned */
} mr_reduction;

/* Names whose operations are kept in any case, by number; with an object, its alloc and free. */
typedef struct mr_reduction_keep {
    uint8_t *variables, *locks, *objects;
} mr_reduction_keep;

/* Reduces the trace. `opaque`: the edges of the full trace. `keep`: NULL: nothing more. O(events). Memory: 25 bytes a kept
 * event, and 5 bytes an event until the call returns. MR_ERR_MEMORY. To be freed also after an
 * error. */
mr_status mr_reduce(mr_reduction *reduction, const mr_trace *full, const mr_barrier_edges *opaque,
                    mr_model model, const mr_reduction_keep *keep, mr_error *error);
void mr_reduction_free(mr_reduction *reduction);

/* The reduced event of the first kept event that is `event` or a later one; the number of kept
 * events when there is none. O(log). */
uint32_t mr_reduction_at(const mr_reduction *reduction, uint32_t event);

/* Turns a witness of the reduced trace into one of the full trace, on the window from the first to
 * the last kept event of its window. An event that was left out goes where it is in the trace, when
 * that is possible, so a witness in trace order stays in trace order. O(events of the window). On
 * MR_ERR_MEMORY the witness is unchanged. */
mr_status mr_reduction_expand(const mr_reduction *reduction, mr_witness *witness, mr_error *error);

#endif
