/*
 * linearise: is a witness to be had in trace order? This is the sync-preserving closure of Mathur,
 * Pavlogiannis, Viswanathan (POPL 2021), taken inside a window.
 *
 * Start from what the goal needs under reads-from: of a race, its two accesses a and b. While two critical sections of a lock that exclude
 * each other are in the set and the earlier one in the trace is not released in it, add its release
 * and what that needs. If a stop, an end or a barred event (cone.h) gets in, or the release is outside the window, there is no witness
 * in trace order (there may be another). Otherwise the set in trace order is one: reads see the
 * write that they saw, since any write between the two in the set would stand there in the trace,
 * and each wait has the post whose unit it took (SOURCE), so that the counts are as in the trace.
 * In model branch only the bound reads have their write in the set (windows/precedence.h), and it
 * is clean; what the others see does not matter.
 *
 * A section that the set enters and does not leave is open where its thread's part of the set ends.
 * Only open sections are looked at (windows/held.h). After the set has grown, only the open
 * sections of the threads in which it grew are looked at, and the locks that these threads may have
 * entered since. So the cost does not depend on how many sections the set contains.
 */
#ifndef MR_SOLVER_LINEARISE_H
#define MR_SOLVER_LINEARISE_H

#include "encoder/goal.h"
#include "windows/precedence.h"

typedef enum mr_linearised {
    MR_LINEARISED,
    MR_NOT_LINEARISED,
    MR_LINEARISE_NO_MEMORY,
} mr_linearised;

/* `source`: precedence of mode SOURCE. Of the goal the first stop of each list counts; what it asks of
 * the end (last, lives) is not looked at. On MR_LINEARISED `prefix` (one entry a thread) holds the
 * set, to be run in trace order. Scratch memory of `arena`: two numbers a thread. O(threads · open
 * sections · log) at first, and O((threads + open sections) · log) for each thread that a required
 * release makes longer. */
mr_linearised mr_linearise(const mr_precedence *source, const mr_goal *goal, uint32_t *prefix,
                           mr_arena *arena);

#endif
