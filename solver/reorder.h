/*
 * reorder: a witness that is in trace order but for sections that are held back.
 *
 * linearise.h fails in two cases. A section that another one of its lock follows cannot be left,
 * because an access stands in it or its release needs one. Or a read would see another write than
 * it saw, because the one that it saw needs an access. Then the section, or the write that spoils
 * the read, has to come later: its thread is held back before the acquire, or before the write. So
 * is a free that an access of its object would come after, where that was held back.
 * With it everything is held back that certainly needs one of the thread's events from there on, by
 * FORCED precedence. That is a suffix of each thread. The other needed events go first, in trace
 * order; then those that were held back, in trace order.
 *
 * Needed events are what FORCED says, closed under releases as in linearise.h, in the new order of
 * sections. With a read they contain the write that it saw, unless the write is held back and the
 * read is not; where that write needs an access, another write of the value. Then the sequence is
 * tried: locks, units and what each read sees. What is not held back comes in trace order, so there
 * only waits can go wrong, and reads whose write is not among it. What is held back is played. So a
 * witness is right in every model that is not stricter than the window's, as each read sees its
 * value (or its write, where that counts).
 * MR_NOT_REORDERED says nothing about the candidate.
 */
#ifndef MR_SOLVER_REORDER_H
#define MR_SOLVER_REORDER_H

#include "windows/precedence.h"

typedef enum mr_reordered {
    MR_REORDERED,
    MR_NOT_REORDERED,
    MR_REORDER_NO_MEMORY,
} mr_reordered;

/* The reads that saw a write of another thread: events[first[thread] … first[thread + 1]), in program order. */
typedef struct mr_foreign_reads {
    uint32_t *first, *events;
} mr_foreign_reads;

/* Lists those of a window, for all tries in it, in memory of `arena`. False: no memory. O(window). */
bool mr_foreign_reads_list(mr_foreign_reads *reads, const mr_window *window, mr_arena *arena);

/* Looks for a witness for window events a and b, with precedences FORCED and SOURCE. On MR_REORDERED
 * `*events` are the window events to be played, in memory of `arena`. At most thirteen attempts with a
 * hundred passes in all. An attempt is O(foreign reads behind the first one whose write is not needed); a pass
 * O(open sections · users of their locks · log). Playing is O(variables + foreign reads), and O(window) when
 * something was held back and all else is possible. */
mr_reordered mr_reorder(const mr_precedence *forced, const mr_precedence *source,
                        const mr_foreign_reads *foreign, uint32_t a, uint32_t b, uint32_t **events,
                        uint32_t *event_count, mr_arena *arena);

#endif
