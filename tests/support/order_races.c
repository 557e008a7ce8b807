#include "order_races.h"

#include <assert.h>

uint32_t mr_order_races_variable(const mr_trace *trace, uint32_t first, uint32_t second)
{
    return trace->operand[trace->op[first] == MR_OP_FREE ? second : first];
}

/* How many variables the pairs are about. */
static uint32_t count_variables(const mr_order_races *races, const mr_trace *trace)
{
    uint32_t count = 0;
    for (uint32_t x = 0; x < trace->variables.count; x++) {
        bool racy = false;
        for (uint32_t a = 0; a < trace->event_count; a++)
            for (uint32_t b = a + 1; b < trace->event_count; b++)
                racy |= mr_order_matrix_has(&races->pairs, a, b) &&
                        mr_order_races_variable(trace, a, b) == x;
        count += racy;
    }
    return count;
}

/* How many different numbers the column has at the racy events. */
static uint32_t count_different(const mr_order_races *races, const uint32_t *column)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < races->event_count; i++) {
        uint32_t same = 0;
        while (column[races->events[same]] != column[races->events[i]])
            same++;
        count += same == i;
    }
    return count;
}

static bool is_new(const mr_order_races *races, uint32_t low, uint32_t high)
{
    for (uint32_t i = 0; i < races->race_count; i++)
        if (races->races[i].low == low && races->races[i].high == high)
            return false;
    return true;
}

/* The static races whose first example ends with `second`: of each, the latest `first` is met
 * first; the whole run is then turned round. */
static void add_static_races(mr_order_races *races, const mr_trace *trace, uint32_t second)
{
    uint32_t start = races->race_count;
    for (uint32_t first = second; first-- > 0;) {
        uint32_t a = trace->location[first], b = trace->location[second];
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (mr_order_matrix_has(&races->pairs, first, second) && is_new(races, low, high))
            races->races[races->race_count++] = (mr_right_race){low, high, first, second};
    }
    for (uint32_t i = start, k = races->race_count; i + 1 < k; i++) {
        mr_right_race swapped = races->races[i];
        races->races[i] = races->races[--k];
        races->races[k] = swapped;
    }
}

void mr_order_races_find(mr_order_races *races, const mr_order_reference *reference,
                         mr_relation relation)
{
    const mr_trace *trace = reference->trace;
    *races = (mr_order_races){0};
    for (uint32_t second = 0; second < trace->event_count; second++) {
        bool racy = false;
        for (uint32_t first = 0; first < second; first++) {
            if (!mr_reference_reports(reference, relation, first, second))
                continue;
            races->pairs.rows[first] |= UINT64_C(1) << second;
            racy = true;
        }
        if (racy)
            races->events[races->event_count++] = second;
        add_static_races(races, trace, second);
    }
    races->location_count = count_different(races, trace->location);
    races->variable_count = count_variables(races, trace);
}

bool mr_order_races_within(const mr_order_races *small, const mr_order_races *big, uint32_t *first,
                           uint32_t *second)
{
    for (uint32_t a = 0; a < MR_REFERENCE_EVENTS; a++) {
        uint64_t missing = small->pairs.rows[a] & ~big->pairs.rows[a];
        if (!missing)
            continue;
        *first = a;
        for (*second = 0; !(missing >> *second & 1);)
            ++*second;
        return false;
    }
    return true;
}
