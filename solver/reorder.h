/*
 * reorder: a witness that is in trace order but for sections that are held back.
 *
 * linearise.h fails when a section that another one of its lock follows cannot be left, because an
 * access stands in it or its release needs one; and where a read would see another write than it
 * saw, because the one that it saw needs an access. Then the section, or the write that is in the
 * way of the read, has to come after those that follow it: its thread is held back before the
 * acquire, or the write, with everything that certainly needs what it would do from there on (a
 * suffix of each thread, by FORCED precedence). The rest of what the accesses need goes first, in
 * trace order, then what was held back, in trace order.
 *
 * Needed is what FORCED says, closed under releases as in linearise.h, in the new order of
 * sections, and with a read the write that it saw, unless that is held back and the read is not;
 * where that needs an access, another write of the value. What comes out is played: locks, units
 * and what each read sees. So a witness is right in every model that is not stricter than the
 * window's, as each read sees its value (or its write, where that counts). Finding none says
 * nothing.
 */
#ifndef MR_SOLVER_REORDER_H
#define MR_SOLVER_REORDER_H

#include "windows/precedence.h"

typedef enum mr_reordered {
    MR_REORDERED,
    MR_NOT_REORDERED,
    MR_REORDER_NO_MEMORY,
} mr_reordered;

/* Looks for a witness for window events a and b. On MR_REORDERED `*events` are the window events to
 * be played, in memory of `arena`. O(holds · passes · (events + sections)), at most a hundred
 * passes. */
mr_reordered mr_reorder(const mr_precedence *forced, uint32_t a, uint32_t b, uint32_t **events,
                        uint32_t *event_count, mr_arena *arena);

#endif
