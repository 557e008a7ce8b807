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

#endif
