#include "far_label.h"

#include <stdlib.h>

int mr_far_compare(const void *one, const void *two)
{
    const mr_far_pair *x = one, *y = two;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* Slides an order over the pairs, in the order of their first accesses, and sets the strength of
 * those that it leaves unordered. */
static mr_status label(mr_driver *driver, mr_far_pair *pairs, size_t count, mr_relation relation,
                       mr_strength strength)
{
    mr_order *order = mr_order_new(driver->trace, relation);
    mr_status status = order && mr_order_use_edges(order, &driver->opaque)
                           ? MR_OK
                           : mr_error_memory(driver->error, "ordering the accesses of far races");
    uint32_t end = 0;
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        mr_far_pair *pair = &pairs[i];
        if (pair->second >= end)
            end = pair->second + 1;
        status = mr_order_slide(order, pair->first, end, driver->error);
        if (status == MR_OK && !mr_order_ordered(order, pair->first, pair->second))
            pair->strength = strength;
    }
    mr_order_free(order);
    return status;
}

mr_status mr_far_label(mr_driver *driver, mr_far_pair *pairs, size_t count)
{
    if (!count)
        return MR_OK;
    qsort(pairs, count, sizeof *pairs, mr_far_compare);
    for (size_t i = 0; i < count; i++)
        pairs[i].strength = MR_STRENGTH_BEYOND_WCP;
    mr_status status = label(driver, pairs, count, MR_RELATION_WCP, MR_STRENGTH_WCP);
    return status == MR_OK ? label(driver, pairs, count, MR_RELATION_HB, MR_STRENGTH_HB) : status;
}

mr_status mr_far_label_result(mr_driver *driver, size_t first_race, size_t first_unknown)
{
    mr_result *result = driver->result;
    size_t races = result->race_count - first_race, count = 0;
    size_t unknowns = result->unknown_count - first_unknown;
    mr_far_pair *pairs = mr_calloc(races + unknowns, sizeof *pairs);
    if (!pairs)
        return mr_error_memory(driver->error, "ordering the accesses of far races");
    for (size_t i = first_race; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        pairs[count++] =
            (mr_far_pair){.first = witness->first, .second = witness->second, .index = i};
    }
    for (size_t i = first_unknown; i < result->unknown_count; i++)
        pairs[count++] = (mr_far_pair){.first = result->unknowns[i].first,
                                       .second = result->unknowns[i].second,
                                       .index = result->race_count + i};
    mr_status status = mr_far_label(driver, pairs, count);
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        if (pairs[i].index < result->race_count)
            result->races[pairs[i].index].strength = pairs[i].strength;
        else
            result->unknowns[pairs[i].index - result->race_count].strength = pairs[i].strength;
    }
    free(pairs);
    return status;
}
