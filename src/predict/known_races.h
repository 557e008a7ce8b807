/*
 * known_races: the pairs of locations that a window is known to prove, shared by all workers.
 *
 * A window may pass over a pair that a window with a lower number proves. Entered are therefore
 * only races that no other outcome can undo: those in trace order, which every window looks for,
 * and those that have been merged.
 */
#ifndef MR_PREDICT_KNOWN_RACES_H
#define MR_PREDICT_KNOWN_RACES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_known_races mr_known_races;

/* NULL: no memory. */
mr_known_races *mr_known_races_new(void);
void mr_known_races_free(mr_known_races *known);

/* Window `window` proves the pair. False: no memory, which only means that it is not known. Safe
 * from any thread, as is the next. */
bool mr_known_races_add(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window);

/* Is the pair proven by a window below `window`? O(1) expected. */
bool mr_known_races_below(mr_known_races *known, uint32_t key_1, uint32_t key_2, uint64_t window);

#endif
