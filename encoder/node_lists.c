#include "node_lists.h"

#include "base/assert.h"

#include <stdlib.h>

/* The events of nodes outside the region, in trace order; in memory of the arena. False: no memory. */
static bool list_outside(const mr_encoding *encoding, uint32_t **events, uint32_t *count)
{
    uint32_t total = encoding->formula.node_count;
    *count = 0;
    *events = NULL;
    if (!mr_encoding_has_region(encoding))
        return true;
    *events = mr_arena_alloc(encoding->arena, total, sizeof **events);
    for (uint32_t node = 0; *events && node < total; node++)
        if (node != encoding->cut && !mr_encoding_in_region(encoding, encoding->event_of[node]))
            (*events)[(*count)++] = encoding->event_of[node];
    if (*count)
        qsort(*events, *count, sizeof **events, mr_compare_u32);
    return *events;
}

static void list_by_trace(mr_encoding *encoding, const uint32_t *outside, uint32_t outside_count)
{
    bool region = mr_encoding_has_region(encoding);
    uint32_t first = region ? encoding->options.first : 0, filled = 0, next = 0;
    uint32_t end = region ? encoding->options.end : encoding->window->size;
    for (; next < outside_count && outside[next] < first; next++)
        encoding->by_trace[filled++] = mr_encoding_find(encoding, outside[next]) - 1;
    for (uint32_t event = first, behind; event < end; event = behind) {
        const uint32_t *page = encoding->node_pages[event / MR_NODE_PAGE];
        behind = event - event % MR_NODE_PAGE + MR_NODE_PAGE;
        behind = behind < end ? behind : end;
        for (uint32_t k = event; page && k < behind; k++)
            if (page[k % MR_NODE_PAGE])
                encoding->by_trace[filled++] = page[k % MR_NODE_PAGE] - 1;
    }
    for (; next < outside_count; next++)
        encoding->by_trace[filled++] = mr_encoding_find(encoding, outside[next]) - 1;
    MR_ASSERT(filled + 1 == encoding->formula.node_count);
}

/* Needs the list in trace order. */
static void list_by_thread(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    uint32_t *first = encoding->thread_first, count = encoding->formula.node_count - 1;
    for (uint32_t i = 0; i < count; i++)
        first[w->thread[encoding->event_of[encoding->by_trace[i]]] + 2]++;
    for (uint32_t t = 0; t < w->thread_count; t++)
        first[t + 1] += first[t];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = encoding->by_trace[i];
        encoding->by_thread[first[w->thread[encoding->event_of[node]] + 1]++] = node;
    }
}

bool mr_node_lists_make(mr_encoding *encoding)
{
    mr_arena *arena = encoding->arena;
    uint32_t count = encoding->formula.node_count, *outside, outside_count;
    size_t threads = encoding->window->thread_count;
    encoding->by_trace = mr_arena_alloc(arena, count, sizeof *encoding->by_trace);
    encoding->by_thread = mr_arena_alloc(arena, count, sizeof *encoding->by_thread);
    encoding->thread_first = mr_arena_zalloc(arena, threads + 2, sizeof *encoding->thread_first);
    if (!encoding->by_trace || !encoding->by_thread || !encoding->thread_first ||
        !list_outside(encoding, &outside, &outside_count))
        return false;
    list_by_trace(encoding, outside, outside_count);
    list_by_thread(encoding);
    return true;
}
