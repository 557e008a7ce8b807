/* The edges of opaque calls (opaque/barrier_pairs.h) that lie in a window. */
#include "window_parts.h"

bool mr_window_build_opaque(mr_window *w, const mr_barrier_edges *edges, mr_arena *arena)
{
    if (!edges)
        return true;
    size_t first = mr_barrier_edges_from(edges, w->start);
    size_t end = mr_barrier_edges_from(edges, w->end);
    w->opaque = mr_arena_alloc(arena, end - first, sizeof *w->opaque);
    if (!w->opaque)
        return false;
    for (size_t k = first; k < end; k++)
        if (edges->items[k].from >= w->start) /* what is before the window has happened */
            w->opaque[w->opaque_count++] = (mr_edge){.from = edges->items[k].from - w->start,
                                                     .to = edges->items[k].to - w->start};
    return true;
}

size_t mr_window_opaque_from(const mr_window *w, uint32_t event)
{
    size_t low = 0, high = w->opaque_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->opaque[middle].to < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
