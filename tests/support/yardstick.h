/*
 * yardstick: what a prediction should say about a small trace: exhaustive search over its windows,
 * the orders by their definitions, and sets of pairs.
 */
#ifndef MR_TESTS_SUPPORT_YARDSTICK_H
#define MR_TESTS_SUPPORT_YARDSTICK_H

#include "order_reference.h"
#include "predict/result.h"

enum { MR_YARDSTICK_EVENTS = 20 }; /* events of a trace at most */

/* A set of pairs of event or location numbers, first <= second. */
typedef struct mr_pair_set {
    bool has[MR_YARDSTICK_EVENTS][MR_YARDSTICK_EVENTS];
} mr_pair_set;

/* A size of 0 is one window with everything. */
typedef struct mr_test_windows {
    uint32_t size, overlap;
} mr_test_windows;

/* Bounds of window k; false: the one before reached the end of the trace. */
bool mr_test_window(const mr_trace *trace, mr_test_windows windows, uint32_t k, uint32_t *start,
                    uint32_t *end);

bool mr_is_test_window(const mr_trace *trace, mr_test_windows windows, uint32_t start,
                       uint32_t end);

/* The union of the races of all windows, as pairs of events. False: no memory, trace too big. */
bool mr_right_races(const mr_trace *trace, mr_model model, mr_test_windows windows,
                    mr_pair_set *races);

/* The strength of a conflicting pair of events. */
mr_strength mr_right_strength(const mr_order_reference *orders, uint32_t first, uint32_t second);

/* The pairs of `races` that are at least as strong as `weakest`. */
mr_pair_set mr_right_filtered(const mr_order_reference *orders, const mr_pair_set *races,
                              mr_strength weakest);

/* The races of SHB, as pairs of events. */
mr_pair_set mr_right_shb(const mr_order_reference *orders);

/* Pairs of events → pairs of locations. */
mr_pair_set mr_static_pairs(const mr_trace *trace, const mr_pair_set *races);
void mr_add_static_pair(mr_pair_set *pairs, const mr_trace *trace, uint32_t a, uint32_t b);

#endif
