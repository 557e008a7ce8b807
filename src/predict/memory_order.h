/*
 * memory_order: the memory-order races of a prediction (docs/semantics.md 8): pairs that
 * happens-before of C17 leaves unordered in the recorded order, or in the order of a witness of a
 * race, and that are no races otherwise.
 */
#ifndef MR_PREDICT_MEMORY_ORDER_H
#define MR_PREDICT_MEMORY_ORDER_H

#include "result.h"
#include "settings.h"

/*
 * Adds them behind the races of a result that is complete otherwise, one for each pair of places
 * that is not among the races and not one of SHB, each with a witness that the checker accepted. The recorded order
 * comes before the witnesses, and these as their windows come; so it does not matter who has found
 * the races. Does nothing when every memory order of the trace is sc. MR_ERR_MEMORY.
 *
 * O(events) and what order/c17_pairs.h says of sequences; then O(events of its witness) for each
 * pair of places.
 */
mr_status mr_memory_order_find(const mr_predict_settings *settings, mr_result *result,
                               mr_error *error);

#endif
