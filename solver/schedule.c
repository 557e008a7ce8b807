#include "schedule.h"

#include "base/assert.h"

#include <stdlib.h>

typedef struct placed {
    int64_t position;
    uint32_t event;
} placed;

uint32_t *mr_schedule_in_trace_order(const mr_window *w, const uint32_t *prefix, uint32_t *count,
                                     mr_arena *arena)
{
    uint32_t total = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        MR_REQUIRE(prefix[t] <= mr_window_length(w, t));
        total += prefix[t];
    }
    uint32_t *events = mr_arena_alloc(arena, total, sizeof *events);
    if (!events)
        return NULL;
    uint32_t filled = 0;
    for (uint32_t i = 0; filled < total; i++)
        if (w->position[i] < prefix[w->thread[i]])
            events[filled++] = i;
    *count = total;
    return events;
}

bool mr_schedule_is_sound(const mr_window *w, const uint32_t *events, uint32_t count,
                          const uint32_t *stops, uint32_t stop_count, mr_arena *arena)
{
    mr_arena_mark mark = mr_arena_get_mark(arena);
    uint32_t *next = mr_arena_zalloc(arena, w->thread_count, sizeof *next);
    bool sound = true;
    if (!next)
        return true; /* nobody knows */
    for (uint32_t i = 0; i < count && sound; i++)
        sound = events[i] < w->size && w->position[events[i]] == next[w->thread[events[i]]]++;
    for (uint32_t i = 0; i < stop_count && sound; i++)
        sound = w->position[stops[i]] == next[w->thread[stops[i]]];
    mr_arena_release(arena, mark);
    return sound;
}

static int compare(const void *one, const void *two)
{
    const placed *x = one, *y = two;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

uint32_t mr_schedule_stop(const mr_encoding *encoding, const mr_stops *stops, const int64_t *order)
{
    uint32_t i = 0;
    for (; i + 1 < stops->count; i++) {
        uint32_t node = mr_encoding_find(encoding, stops->events[i]);
        if (!node || order[node - 1] >= order[encoding->cut])
            break;
    }
    return stops->events[i];
}

/* How many events of thread t are included: the required ones, and all up to its last node before
 * CUT. */
static uint32_t included(const mr_encoding *encoding, const int64_t *order, uint32_t t)
{
    for (uint32_t k = encoding->cone[t]; k > encoding->required[t]; k--) {
        uint32_t node = mr_encoding_find(encoding, mr_window_at(encoding->window, t, k - 1));
        if (node && order[node - 1] < order[encoding->cut])
            return k;
    }
    return encoding->required[t];
}

uint32_t *mr_schedule_of_solution(const mr_encoding *encoding, const int64_t *order,
                                  uint32_t *count, mr_arena *arena)
{
    const mr_window *w = encoding->window;
    uint32_t total = 0;
    uint32_t *lengths = mr_arena_alloc(arena, w->thread_count, sizeof *lengths);
    if (!lengths)
        return NULL;
    for (uint32_t t = 0; t < w->thread_count; t++)
        lengths[t] = included(encoding, order, t);
    for (uint32_t side = 0; side < encoding->goal->stop_count; side++) {
        uint32_t stop = mr_schedule_stop(encoding, &encoding->goal->stops[side], order);
        MR_ASSERT(lengths[w->thread[stop]] >= encoding->required[w->thread[stop]]);
        lengths[w->thread[stop]] = w->position[stop];
    }
    for (uint32_t t = 0; t < w->thread_count; t++)
        total += lengths[t];
    placed *all = mr_arena_alloc(arena, total, sizeof *all);
    uint32_t *events = mr_arena_alloc(arena, total, sizeof *events);
    if (!all || !events)
        return NULL;
    uint32_t filled = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        int64_t position = INT64_MAX;
        for (uint32_t k = lengths[t]; k-- > 0;) {
            uint32_t event = mr_window_at(w, t, k), node = mr_encoding_find(encoding, event);
            if (node)
                position = order[node - 1];
            all[filled++] = (placed){.position = position, .event = event};
        }
    }
    MR_ASSERT(filled == total);
    qsort(all, total, sizeof *all, compare);
    for (uint32_t i = 0; i < total; i++)
        events[i] = all[i].event;
    *count = total;
    return events;
}
