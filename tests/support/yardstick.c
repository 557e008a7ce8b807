#include "yardstick.h"

#include "exhaustive.h"

bool mr_test_window(const mr_trace *trace, mr_test_windows windows, uint32_t k, uint32_t *start,
                    uint32_t *end)
{
    uint32_t count = trace->event_count, step = windows.size - windows.overlap;
    if (windows.size == 0) {
        *start = 0;
        *end = count;
        return k == 0 && count > 0;
    }
    if (k > 0 && (k - 1) * step + windows.size >= count)
        return false;
    *start = k * step;
    *end = *start + windows.size < count ? *start + windows.size : count;
    return *start < count;
}

bool mr_is_test_window(const mr_trace *trace, mr_test_windows windows, uint32_t start, uint32_t end)
{
    uint32_t s, e;
    for (uint32_t k = 0; mr_test_window(trace, windows, k, &s, &e); k++) {
        if (s == start && e == end)
            return true;
    }
    return false;
}

bool mr_right_races(const mr_trace *trace, mr_model model, mr_test_windows windows,
                    mr_pair_set *races)
{
    uint32_t start, end;
    *races = (mr_pair_set){0};
    for (uint32_t k = 0; mr_test_window(trace, windows, k, &start, &end); k++) {
        mr_exhaustive search;
        bool ok = mr_exhaustive_find(trace, model, start, end, &search);
        for (size_t i = 0; ok && i < search.race_count; i++)
            races->has[search.races[i].first][search.races[i].second] = true;
        mr_exhaustive_free(&search);
        if (!ok)
            return false;
    }
    return true;
}

mr_strength mr_right_strength(const mr_order_reference *orders, uint32_t first, uint32_t second)
{
    if (!mr_order_matrix_has(&orders->hb, first, second))
        return MR_STRENGTH_HB;
    if (!mr_order_matrix_has(&orders->wcp, first, second))
        return MR_STRENGTH_WCP;
    return MR_STRENGTH_BEYOND_WCP;
}

mr_pair_set mr_right_filtered(const mr_order_reference *orders, const mr_pair_set *races,
                              mr_strength weakest)
{
    mr_pair_set kept = {0};
    for (uint32_t a = 0; a < orders->trace->event_count; a++) {
        for (uint32_t b = a + 1; b < orders->trace->event_count; b++)
            kept.has[a][b] = races->has[a][b] && mr_right_strength(orders, a, b) <= weakest;
    }
    return kept;
}

mr_pair_set mr_right_shb(const mr_order_reference *orders)
{
    mr_pair_set races = {0};
    for (uint32_t a = 0; a < orders->trace->event_count; a++) {
        for (uint32_t b = a + 1; b < orders->trace->event_count; b++)
            races.has[a][b] =
                mr_reference_conflict(orders->trace, a, b) && mr_reference_shb_race(orders, a, b);
    }
    return races;
}

void mr_add_static_pair(mr_pair_set *pairs, const mr_trace *trace, uint32_t a, uint32_t b)
{
    uint32_t one = trace->location[a], two = trace->location[b];
    pairs->has[one < two ? one : two][one < two ? two : one] = true;
}

mr_pair_set mr_static_pairs(const mr_trace *trace, const mr_pair_set *races)
{
    mr_pair_set pairs = {0};
    for (uint32_t a = 0; a < trace->event_count; a++) {
        for (uint32_t b = a + 1; b < trace->event_count; b++) {
            if (races->has[a][b])
                mr_add_static_pair(&pairs, trace, a, b);
        }
    }
    return pairs;
}
