/*
 * unit_choices: which unit of a semaphore a wait may take (docs/semantics.md 2.4).
 *
 * Any unit serves any wait, so a reordering is possible when each of its waits can be given a unit
 * of its own: one carried in, or that of a post before it. If there is any such assignment, then
 * there is the one in which the waits take the units in the order of rho, those carried in first.
 * So a wait may be refused all units that it cannot take in that one. With precedence, the rank of
 * an event among the waits (posts) of its semaphore in any rho is bounded: at least the number of
 * those certainly before it, less than the number of those not certainly after it. The rank of a
 * unit is that of its post plus the number of units carried in.
 *
 * A unit that is ruled out here can be left out of every assignment of every reordering. A unit
 * that is not ruled out may still be impossible. A precedence without ranks (HARD) rules out by the
 * clocks alone. Semaphores that one thread of the window uses alone constrain nothing: its program
 * order is the one of the trace.
 */
#ifndef MR_WINDOWS_UNIT_CHOICES_H
#define MR_WINDOWS_UNIT_CHOICES_H

#include "precedence.h"

/* May the wait take the unit of this post of the same semaphore? O(1). */
bool mr_wait_may_take(const mr_precedence *forced, uint32_t wait, uint32_t post);

/* May it take a unit carried into the window? O(1). */
bool mr_wait_may_take_carried(const mr_precedence *forced, uint32_t wait);

/* Fills forced->rank_low and rank_high; the clocks are ready. False: no memory. O(square of the
 * operations of a semaphore), without bounds for semaphores with more than some thousand. */
bool mr_unit_ranks_build(mr_precedence *forced, mr_arena *arena);

#endif
