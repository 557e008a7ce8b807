/*
 * cone: which events of a window a candidate (a, b) is about, as one prefix length for each thread.
 *
 *   required L  what must be in every reordering after which a and b are next: the union of what
 *               the two need (precedence), without a and b. L contains a or b: no race.
 *   ends        the frees that may not come before a or b, since they come after them in the trace
 *               (mr_window_end_of_life; rule 7 of docs/semantics.md 2). L contains one: no race.
 *   allowed  U  what may be in it: the events that need neither a nor b nor one of the ends, and of
 *               the threads of a and b those before them. Ends are not in U. An event of L may need a or b by its own clock all the
 *               same, since clocks of FORCED are not closed everywhere (cone.c, close_event). Then
 *               L is no subset of U, there is no race, and a later step finds that out.
 *   cone     C  the least set that contains L, is closed under precedence, and contains, as far
 *               as they are in U,
 *                 - with an acquire its release, and the releases of sections that exclude it and
 *                   are held when the window starts;
 *                 - with a wait the posts whose unit it may take;
 *                 - with a read by value the writes that it may see;
 *                 - with a read by source the write that it saw;
 *               in model branch the last two only for reads that are constrained in the sense of
 *               encoder/branches.h. See encoder/encoding.h for why nothing else can help.
 *
 * Many candidates at once. Let a_1 … a_k be accesses of one thread and b_1 … b_m of another, in
 * program order, each list with the same end, if any. The question whether any (a_i, b_j) is a race has L from the first of each list, U
 * from the last of each, and in C all events of the two threads before their last access. The
 * encoder adds that the threads stop at an access of their list (encoder/race.h).
 */
#ifndef MR_SOLVER_CONE_H
#define MR_SOLVER_CONE_H

#include "encoder/encoding.h"

/* Adds what a and b need to `required` (one entry a thread, set to 0 first). False: it contains a,
 * b or one of their ends, so there is no race in any model whose reorderings respect `precedence`. */
bool mr_cone_required(const mr_precedence *precedence, uint32_t a, uint32_t b, uint32_t *required);

/* Does the prefix of each thread contain neither the access nor its end? */
bool mr_cone_excludes(const mr_window *window, const uint32_t *prefix, uint32_t access);

/*
 * Narrows two lists, of different threads, to the accesses that `precedence` leaves a partner in
 * the other list: drops from the front what the first of the other list needs, and from the back
 * what needs the last of the other list or its end. False: nothing is left, so no pair is a race. O(count).
 */
bool mr_cone_narrow(const mr_precedence *precedence, mr_stops *a, mr_stops *b);

/* Fills `allowed` for the last access of each list. O(threads · log). */
void mr_cone_allowed(const mr_precedence *precedence, uint32_t a, uint32_t b, uint32_t *allowed);

/* Fills `cone` from L and U; `stops` are the last accesses of the two lists. O(events of C ·
 * threads), plus the writes and posts of the window, plus for each read and wait the choices that
 * are not in C yet. False: no memory of `arena`. */
bool mr_cone_close(const mr_precedence *hard, const mr_precedence *forced, const uint32_t *required,
                   const uint32_t *allowed, const uint32_t stops[2], uint32_t *cone,
                   mr_arena *arena);

#endif
