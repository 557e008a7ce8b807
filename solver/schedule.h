/*
 * schedule: from a set of events, or a solution of the formula, to a sequence of window events.
 */
#ifndef MR_SOLVER_SCHEDULE_H
#define MR_SOLVER_SCHEDULE_H

#include "encoder/encoding.h"

/* The events of `prefix` (one entry a thread) in trace order. Memory of `arena`; NULL: none. */
uint32_t *mr_schedule_in_trace_order(const mr_window *window, const uint32_t *prefix,
                                     uint32_t *count, mr_arena *arena);

/* Can the sequence go to the checker? It has a prefix of each thread, in program order, and the stops
 * are next in their threads. Also true when `arena` has no room to find out. O(count + threads). */
bool mr_schedule_is_sound(const mr_window *window, const uint32_t *events, uint32_t count,
                          const uint32_t *stops, uint32_t stop_count, mr_arena *arena);

/* The access of `stops` at which its thread stops in a solution: the first one that is not
 * included. */
uint32_t mr_schedule_stop(const mr_encoding *encoding, const mr_stops *stops, const int64_t *order);

/*
 * The included events of a solution, by position; events that are no nodes stand just before the
 * next included node of their thread, so every order that the solution or precedence asks for
 * holds. Memory of `arena`; NULL: none.
 */
uint32_t *mr_schedule_of_solution(const mr_encoding *encoding, const int64_t *order,
                                  uint32_t *count, mr_arena *arena);

#endif
