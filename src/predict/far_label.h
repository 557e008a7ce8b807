/* far_label: how strong are pairs of accesses that may be farther apart than any window? */
#ifndef MR_PREDICT_FAR_LABEL_H
#define MR_PREDICT_FAR_LABEL_H

#include "driver.h"

typedef struct mr_far_pair {
    uint32_t first, second; /* events of the full trace, first < second */
    uint32_t start;         /* for the caller: a window */
    size_t index;           /* for the caller: what it belongs to */
    mr_strength strength;
} mr_far_pair;

/* By first, then by second access; for qsort. */
int mr_far_compare(const void *one, const void *two);

/* Sorts the pairs by mr_far_compare and sets their strength, by HB and WCP over the whole trace.
 * MR_ERR_MEMORY. O(events); memory 24 bytes an event between the accesses of a pair. */
mr_status mr_far_label(mr_driver *driver, mr_far_pair *pairs, size_t count);

/* The same for what has been added to the result from these indexes on. */
mr_status mr_far_label_result(mr_driver *driver, size_t first_race, size_t first_unknown);

#endif
