/*
 * fans: races of many pairs of places, by few questions.
 *
 * Where many places access one variable under a lock, and few without it, each access of the few may
 * race with those of hundreds of places. Questions about one pair of places at a time need nearly the
 * same events each. So one question is about a list of accesses of one site that hold the same locks, the
 * *hub*, and all such lists of sites of another thread that have no race with it so far, the *spokes*.
 * A list that holds a lock of the hub is no spoke: a question about all accesses of its site would
 * have to prove again that these do not race. (Where two sites have many lists, all accesses of each
 * are one list.) Both lists of a question are of one thread, in program order, and every pair of the
 * product conflicts, since each spoke is of a site that conflicts with that of the hub. So the question
 * is one that mr_decide_any decides exactly.
 *
 *   race     of the hub and one spoke. The question is asked again about the others.
 *   no race  no spoke has a race in the window: the product of the lists is the union of those of the spokes.
 *   unknown  about each half of the spokes, a few times, when proofs matter; no more questions when those without an
 *            answer have spent four times candidates.max_window_steps, or a quarter of it after walks with leads.
 *
 * A witness is tried for other spokes, too. It ends with an access of the hub next in its thread. When the rules allow
 * events of other threads after it, up to but without an access c, then the witness with these events
 * is one of the hub and c: c is next, and the hub still is, as its thread has not moved. A free is not among them, as it
 * may be that of the object of the hub. The rules are those of solver/partial.h; the witness is checked like any other. Not in model branch.
 *
 * A race is never taken without the checker. A pair of places whose pairs of sites are all proven has no
 * race in the window, as each pair of its accesses has a common lock, or is in the product of one of
 * the questions. What is neither is left to the questions about single pairs of places.
 */
#ifndef MR_PREDICT_FANS_H
#define MR_PREDICT_FANS_H

#include "worker.h"

/*
 * Looks for races of the groups for which `settled` is false, and sets it for those that have one. Adds a verdict with
 * a race to `outcome` for each. `proven` (NULL: proofs do not matter), one a site pair of the candidates, zeroed: the
 * step that has proven that it has no race in the window, plus one. By worker->decide; no budget counts. MR_ERR_MEMORY.
 */
mr_status mr_fans_search(mr_worker *worker, const mr_problem *problem,
                         const mr_candidates *candidates, bool *settled, uint8_t *proven,
                         mr_outcome *outcome);

#endif
