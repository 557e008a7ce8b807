#include "label.h"

#include "base/memory.h"
#include "order/order.h"

#include <stdlib.h>

typedef struct pair_label {
    uint32_t first, second; /* events, first < second */
    size_t index;           /* of the race in the result or, behind the races, of the unknown */
    mr_strength strength;
} pair_label;

/* By first, then by second access. */
static int compare(const void *one, const void *two)
{
    const pair_label *x = one, *y = two;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

/* Slides an order over the pairs that are not hb, in the order of their first accesses, and sets
 * the strength of those that it leaves unordered. */
static mr_status label(const mr_predict_settings *settings, pair_label *pairs, size_t count,
                       mr_relation relation, mr_strength strength, mr_error *error)
{
    const mr_outlook *outlook = mr_facts_outlook(settings->facts);
    mr_order *order = outlook ? mr_order_foreseen(settings->trace, relation, outlook) : NULL;
    mr_status status = order && mr_order_use_edges(order, &settings->opaque)
                           ? MR_OK
                           : mr_error_memory(error, "ordering the accesses of races");
    uint32_t end = 0;
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        pair_label *pair = &pairs[i];
        if (pair->strength == MR_STRENGTH_HB)
            continue;
        if (pair->second >= end)
            end = pair->second + 1;
        if (relation == MR_RELATION_HB && pair->first > mr_order_end(order))
            status = mr_order_skip(order, pair->first, error);
        if (status == MR_OK)
            status = mr_order_slide(order, pair->first, end, error);
        if (status == MR_OK && !mr_order_ordered(order, pair->first, pair->second))
            pair->strength = strength;
    }
    mr_order_free(order);
    return status;
}

static mr_status label_pairs(const mr_predict_settings *settings, pair_label *pairs, size_t count,
                             mr_error *error)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++)
        open += pairs[i].strength != MR_STRENGTH_HB;
    if (count)
        qsort(pairs, count, sizeof *pairs, compare);
    if (!open)
        return MR_OK;
    mr_status status = label(settings, pairs, count, MR_RELATION_HB, MR_STRENGTH_HB, error);
    return status == MR_OK ? label(settings, pairs, count, MR_RELATION_WCP, MR_STRENGTH_WCP, error)
                           : status;
}

mr_status mr_label_result(const mr_predict_settings *settings, mr_result *result, mr_error *error)
{
    size_t races = result->race_count, count = races + result->unknown_count;
    pair_label *pairs = mr_calloc(count, sizeof *pairs);
    if (!pairs)
        return mr_error_memory(error, "ordering the accesses of races");
    for (size_t i = 0; i < races; i++) {
        const mr_race *race = &result->races[i];
        pairs[i] = (pair_label){.first = race->witness.first,
                                .second = race->witness.second,
                                .index = i,
                                .strength = race->strength};
    }
    for (size_t i = races; i < count; i++) {
        const mr_unknown *unknown = &result->unknowns[i - races];
        pairs[i] = (pair_label){.first = unknown->first,
                                .second = unknown->second,
                                .index = i,
                                .strength = unknown->strength};
    }
    mr_status status = label_pairs(settings, pairs, count, error);
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        if (pairs[i].index < races)
            result->races[pairs[i].index].strength = pairs[i].strength;
        else
            result->unknowns[pairs[i].index - races].strength = pairs[i].strength;
    }
    free(pairs);
    return status;
}
