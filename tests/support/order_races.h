/*
 * order_races: everything that a relation should report about a small trace, from its definition
 * (order_reference.h). What the words mean: src/order/race_list.h.
 */
#ifndef MR_TESTS_SUPPORT_ORDER_RACES_H
#define MR_TESTS_SUPPORT_ORDER_RACES_H

#include "order_reference.h"

/* A static race and its first example. */
typedef struct mr_right_race {
    uint32_t low, high;     /* locations */
    uint32_t first, second; /* events: the smallest second of all pairs, then the latest first */
} mr_right_race;

typedef struct mr_order_races {
    mr_order_matrix pairs;                /* bit b of row a: the pair (a, b) is reported, a < b */
    uint32_t events[MR_REFERENCE_EVENTS]; /* racy, in their order */
    uint32_t event_count, location_count, variable_count;
    mr_right_race races[MR_REFERENCE_EVENTS * MR_REFERENCE_EVENTS]; /* by (second, first) */
    uint32_t race_count;
} mr_order_races;

void mr_order_races_find(mr_order_races *races, const mr_order_reference *reference,
                         mr_relation relation);

/* The variable that a pair is about: of a free, the one that the other event accesses. */
uint32_t mr_order_races_variable(const mr_trace *trace, uint32_t first, uint32_t second);

/* Is every pair of `small` in `big`? Else the first that is not is in *first and *second. */
bool mr_order_races_within(const mr_order_races *small, const mr_order_races *big, uint32_t *first,
                           uint32_t *second);

#endif
