/*
 * plan: where the windows of a trace begin and end.
 *
 * Window k is [k (size - overlap), … + size), cut at the end of the trace; the first one that
 * reaches the end is the last. A size of 0 is one window with everything. Needs overlap < size (or
 * size 0).
 *
 * Another policy is another plan.c: everything else asks these functions, and knows no more than
 * that windows come in order (starts and ends ascend), cover the trace, and are numbered from 0.
 */
#ifndef MR_WINDOWS_PLAN_H
#define MR_WINDOWS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_window_plan {
    uint32_t event_count, size, overlap;
} mr_window_plan;

/* Bounds of window k; false: there is no such window. An empty trace has none. */
bool mr_window_plan_get(const mr_window_plan *plan, uint32_t k, uint32_t *start, uint32_t *end);

/* How many windows there are. */
uint32_t mr_window_plan_count(const mr_window_plan *plan);

/* Is there a window that contains both events? first <= last < event_count. */
bool mr_window_plan_joins(const mr_window_plan *plan, uint32_t first, uint32_t last);

#endif
