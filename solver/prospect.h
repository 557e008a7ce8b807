/*
 * prospect: may a race that a survey wants still come after a state?
 *
 * Where locks are nested deeply and taken in any order, most states are dead ends: some threads wait for values that nobody will
 * write any more, and the others go on until they wait, too. No race that is wanted comes after them, but many other states.
 *
 * From a state s let each thread go on as if nothing that has become possible became impossible. A thread comes to an access when
 * no other thread still has a lock against those that it holds there; a thread has the locks that it holds in s until it comes
 * to their releases. It goes on behind a read when, after s, another thread has come to a write of what the read sees;
 * or when the variable has it in s and the thread itself has not written to it since; or when the last of such writes wrote it. It goes
 * on behind everything else. Let P(t) be the last access to which thread t comes that way.
 *
 * In a reordering that goes on from s no thread t comes to an access behind P(t), by induction on its events: the locks that the thread of
 * an event holds there were released by the others, and what a read sees was written, before it. So a race (a, b) comes after s only
 * if a and b are not before s and not behind P.
 *
 * Forks, joins, units and calls are left out of it. That makes P larger, not smaller.
 */
#ifndef MR_SOLVER_PROSPECT_H
#define MR_SOLVER_PROSPECT_H

#include "moves.h"
#include "survey.h"
#include "windows/lock_rows.h"

typedef struct mr_prospect mr_prospect;

/* `moves` is needed until it returns, the rest longer. `*prospect` is NULL in large windows, with very many locks or threads, and when threads may
 * stop at so many events that it would say little. False: no memory.
 * O(window · locks / 64 + stops · (stops + threads)). */
bool mr_prospect_init(mr_prospect **prospect, const mr_survey *survey, const mr_turns *turns,
                      const mr_moves *moves, const mr_lock_rows *locks, mr_arena *arena);

/* False: no race that is wanted comes after this state (moves.h). Adds what was spent to `*effort`. */
bool mr_prospect_is_there(mr_prospect *prospect, const uint32_t *state, uint64_t *effort);

#endif
