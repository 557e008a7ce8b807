/*
 * known_races: which pairs of places (or of events) some window has proven to race; all workers
 * share it.
 *
 * A worker passes over a pair that a window with a lower number has proven. So a race is entered
 * only when no other outcome can undo it: a race in trace order, which every window looks for
 * first, or a race that has been merged.
 *
 * A pair is *foreseen* when the search for sync-preserving races has proven it, which says nothing of a window. A window looks
 * for its race in trace order, and asks no question about it: the merge would drop the answer.
 *
 * Windows under way tell which pairs they still have to decide, and which they have found to race by a question. A race of a
 * question counts when it is merged; until then it is *promised* to the windows above, which ask no question about the pair
 * either. When the merge does not keep a promise, it has the window above decided again (mr_merge_is_complete), so the result does
 * not depend on who was told what. All of this saves work only, and nothing is lost when there is no memory for it:
 *
 *   mr_known_races_begin → mr_known_races_list* → mr_known_races_search? → (mr_known_races_settle | mr_known_races_settle_all)*
 *     → mr_known_races_end
 */
#ifndef MR_PREDICT_KNOWN_RACES_H
#define MR_PREDICT_KNOWN_RACES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_known_races mr_known_races;

/* The number of a window that is before all windows. */
#define MR_BEFORE_WINDOWS UINT64_MAX

/* NULL: no memory. */
mr_known_races *mr_known_races_new(void);
void mr_known_races_free(mr_known_races *known);

/* Window `window` proves the pair. False: no memory; then the race is not known to other workers,
 * and nothing else is lost. By any thread, as is the next function. */
bool mr_known_races_add(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window);

/* Is the pair proven by a window below `window`? O(1) expected. */
bool mr_known_races_below(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window);

/* The race of the pair is foreseen. False: no memory; then the merge does not know it either. */
bool mr_known_races_foresee(mr_known_races *known, uint32_t key_1, uint32_t key_2);
bool mr_known_races_is_foreseen(mr_known_races *known, uint32_t key_1, uint32_t key_2);

/* Window `window` is being decided, by one thread; `known` may be NULL in all of these. */
void mr_known_races_begin(mr_known_races *known, uint64_t window);
void mr_known_races_end(mr_known_races *known, uint64_t window);
/* It has the pair to decide. */
void mr_known_races_list(mr_known_races *known, uint64_t window, uint32_t key_1, uint32_t key_2);
/* It has decided the pair, and promises a race or not. Also for a pair that it has not listed. */
void mr_known_races_settle(mr_known_races *known, uint64_t window, uint32_t key_1, uint32_t key_2,
                           bool race);
/* It has left so many questions about the pair without an answer, and found no race. */
void mr_known_races_leave(mr_known_races *known, uint32_t key_1, uint32_t key_2,
                          uint64_t unanswered);
/* No more races come from it. */
void mr_known_races_settle_all(mr_known_races *known, uint64_t window);

/* Its long search (near.h) begins, which may settle many pairs. */
void mr_known_races_search(mr_known_races *known, uint64_t window);

/* What windows below `window` say of a pair. */
typedef enum mr_said_below {
    MR_BELOW_NOTHING,  /* nothing will come */
    MR_BELOW_OPEN,     /* one has it to decide, and was in its long search when `window` began */
    MR_BELOW_PROMISED, /* one has found a race, or proven it */
} mr_said_below;
/* Nothing when windows have left as many questions as `max_unanswered` (candidates.max_unanswered): the merge would drop the race, and
 * have every window that trusted the promise decided again. */
mr_said_below mr_known_races_below_says(mr_known_races *known, uint32_t key_1, uint32_t key_2,
                                        uint64_t window, uint64_t max_unanswered);

/* Waits until something is settled or ended, or for some milliseconds. */
void mr_known_races_wait(mr_known_races *known);
/* Has waiting been worth it as often as not? `paid`: what was waited for came. */
bool mr_known_races_may_wait(mr_known_races *known);
void mr_known_races_has_waited(mr_known_races *known, bool paid);

#endif
