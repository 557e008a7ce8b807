#include "plan.h"

#include "base/assert.h"

bool mr_window_plan_get(const mr_window_plan *plan, uint32_t k, uint32_t *start, uint32_t *end)
{
    MR_REQUIRE(!plan->size || plan->overlap < plan->size);
    uint64_t size = plan->size ? plan->size : plan->event_count;
    uint64_t stride = plan->size ? plan->size - plan->overlap : size;
    uint64_t begin = k * stride;
    /* Not when the window before reached the end. */
    if (begin >= plan->event_count || (k && begin - stride + size >= plan->event_count))
        return false;
    *start = (uint32_t)begin;
    *end = (uint32_t)(begin + size < plan->event_count ? begin + size : plan->event_count);
    MR_ASSERT(*start < *end && *end - *start <= size);
    return true;
}

uint32_t mr_window_plan_count(const mr_window_plan *plan)
{
    uint32_t events = plan->event_count, size = plan->size;
    if (!size || size >= events)
        return events > 0;
    MR_REQUIRE(plan->overlap < size);
    uint32_t stride = size - plan->overlap;
    return 1 + (uint32_t)(((uint64_t)events - size + stride - 1) / stride);
}

/* The latest window that begins at or before `first`; a pair that it cuts is cut by all windows. */
bool mr_window_plan_joins(const mr_window_plan *plan, uint32_t first, uint32_t last)
{
    if (!plan->size)
        return true;
    uint32_t stride = plan->size - plan->overlap;
    return last < (uint64_t)(first - first % stride) + plan->size;
}
