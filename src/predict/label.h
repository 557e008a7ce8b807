/* label: how strong are pairs of accesses anywhere in the trace? */
#ifndef MR_PREDICT_LABEL_H
#define MR_PREDICT_LABEL_H

#include "result.h"
#include "settings.h"

typedef struct mr_pair_label {
    uint32_t first, second; /* events, first < second */
    uint32_t start;         /* for the caller: a window */
    size_t index;           /* for the caller: what it belongs to */
    mr_strength strength;
} mr_pair_label;

/* By first, then by second access; for qsort. */
int mr_pair_label_compare(const void *one, const void *two);

/*
 * Sorts the pairs by mr_pair_label_compare and sets their strength, by HB and WCP over the whole
 * trace. Pairs whose strength is hb already keep it: when all are, nothing is done. MR_ERR_MEMORY.
 * O(events up to the last pair); memory 24 bytes an event between the accesses of a pair.
 */
mr_status mr_label_pairs(const mr_predict_settings *settings, mr_pair_label *pairs, size_t count,
                         mr_error *error);

/* The same for all races and unknowns of a result. */
mr_status mr_label_result(const mr_predict_settings *settings, mr_result *result, mr_error *error);

#endif
