/*
 * cone: which events of a window a goal (encoder/goal.h) is about, as one prefix length for each
 * thread. Of a race, the stops are its two accesses a and b.
 *
 *   required L  what must be in every reordering that ends in the goal: the union of what the stops
 *               need to be next (precedence), without them, and of the required events with what
 *               they need. L contains a stop: there is no such reordering.
 *   ends        the frees that may not come before the stops, since they come after them in the trace
 *               (mr_goal_end; rule 7 of docs/semantics.md 2). L contains one: as above.
 *   allowed  U  what may be in it: the events that need no stop, no end and no barred event, and of
 *               the threads of the stops those before them. Ends are not in U. An event of L may need a stop by its own clock all the
 *               same, since clocks of FORCED are not closed everywhere (cone.c, close_event). Then
 *               L is no subset of U, there is no such reordering, and a later step finds that out.
 *   cone     C  the least set that contains L, is closed under precedence, and contains, as far
 *               as they are in U,
 *                 - with an acquire its release, and the releases of sections that exclude it and
 *                   are held when the window starts;
 *                 - with a wait the posts whose unit it may take;
 *                 - with a read by value the writes that it may see (read_choices.h), and some hidden ones;
 *                 - with a read by source the write that it saw;
 *                 - the writes that may be the last one, and the frees of objects, that the goal asks for;
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

/* Adds what the goal needs, with the first stop of each list, to `required` (one entry a thread, set to
 * 0 first). False: it contains one of these stops, an end or a barred event, so no reordering ends in
 * the goal in any model whose reorderings respect `precedence`. */
bool mr_cone_required(const mr_precedence *precedence, const mr_goal *goal, uint32_t *required);

/* Do the prefixes of the threads contain no first stop of a list, no end of it and no barred event? */
bool mr_cone_excludes(const mr_window *window, const mr_goal *goal, const uint32_t *prefix);

/*
 * Narrows the lists to the stops that `precedence` leaves a partner in each other list: drops from
 * the front what the first of another list or a required event needs, and from the back what needs the
 * last of another list or its end. False: nothing is left, so no reordering ends in the goal. O(count).
 */
bool mr_cone_narrow(const mr_precedence *precedence, mr_goal *goal);

/* Fills `allowed` for the last stop of each list. O(threads · log). A thread may be unable to come to
 * its last stops because of barred events: mr_cone_drop_unreached. */
void mr_cone_allowed(const mr_precedence *precedence, const mr_goal *goal, uint32_t *allowed);

/* Drops from the back of the lists what is beyond U, and lowers `allowed` to what is left. False: a list
 * is empty, so no reordering ends in the goal. O(lists · threads · log) for each stop dropped. */
bool mr_cone_drop_unreached(const mr_precedence *precedence, mr_goal *goal, uint32_t *allowed);

/* Fills `cone` from L and U. O(events of C ·
 * threads), plus the writes and posts of the window, plus for each read and wait the choices that
 * are not in C yet. False: no memory of `arena`. */
bool mr_cone_close(const mr_precedence *hard, const mr_precedence *forced, const uint32_t *required,
                   const uint32_t *allowed, const mr_goal *goal, uint32_t *cone, mr_arena *arena);

#endif
