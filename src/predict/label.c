#include "label.h"

#include "base/memory.h"
#include "order/order.h"

#include <stdlib.h>

typedef struct pair_label {
    uint32_t first, second; /* events, first < second */
    uint32_t local;         /* of the first, in the order that is asked */
    size_t index;           /* of the race in the result or, behind the races, of the unknown */
    mr_strength strength;
} pair_label;

/* An access of a pair. The order slides from one to the next: so nothing is kept of the events between them. */
typedef struct stop {
    uint32_t event;
    pair_label *pair;
} stop;

/* By first, then by second access. */
static int compare(const void *one, const void *two)
{
    const pair_label *x = one, *y = two;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static int compare_stops(const void *one, const void *two)
{
    const stop *x = one, *y = two;
    return (x->event > y->event) - (x->event < y->event);
}

/* The accesses of the pairs that are not hb. */
static size_t list_stops(stop *stops, pair_label *pairs, size_t count)
{
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].strength == MR_STRENGTH_HB)
            continue;
        stops[filled++] = (stop){pairs[i].first, &pairs[i]};
        stops[filled++] = (stop){pairs[i].second, &pairs[i]};
    }
    if (filled)
        qsort(stops, filled, sizeof *stops, compare_stops);
    return filled;
}

/* Slides to the access. `open`: pairs of which the order has seen the first access only. */
static mr_status slide_to(mr_order *order, uint32_t event, size_t open, mr_error *error)
{
    mr_status status = MR_OK;
    if (mr_order_end(order) == event + 1 && mr_order_start(order) == event)
        return MR_OK;
    if (!open && event > mr_order_end(order))
        status = mr_order_skip(order, event, error);
    return status == MR_OK ? mr_order_slide(order, event, event + 1, error) : status;
}

/* Sets the strength of the pairs that the order leaves unordered, of those that are not hb. */
static mr_status label(const mr_predict_settings *settings, pair_label *pairs, size_t count,
                       mr_relation relation, mr_strength strength, mr_error *error)
{
    const mr_outlook *outlook = mr_facts_outlook(settings->facts);
    mr_order *order = outlook ? mr_order_foreseen(settings->trace, relation, outlook) : NULL;
    stop *stops = mr_calloc(2 * count, sizeof *stops);
    mr_status status = order && stops && mr_order_use_edges(order, &settings->opaque)
                           ? MR_OK
                           : mr_error_memory(error, "ordering the accesses of races");
    size_t stop_count = stops && status == MR_OK ? list_stops(stops, pairs, count) : 0, open = 0;
    for (size_t i = 0; status == MR_OK && i < stop_count; i++) {
        uint32_t event = stops[i].event;
        pair_label *pair = stops[i].pair;
        status = slide_to(order, event, open, error);
        if (status != MR_OK)
            break;
        open += event == pair->first;
        open -= event == pair->second;
        if (event == pair->first)
            pair->local = mr_order_local(order, event);
        else if (!mr_order_knows(order, pair->first, pair->local, event))
            pair->strength = strength;
    }
    free(stops);
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
