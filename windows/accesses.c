/* Orders among the accesses of a window: by thread and variable, by variable and value. */
#include "window_parts.h"

#include <string.h>

/* Walks a thread's events forward (previous) or backward (next); `last` and `seen_by` are one a
 * variable. */
static void link_writes(mr_window *w, uint32_t thread, bool forward, uint32_t *last,
                        uint32_t *seen_by)
{
    uint32_t length = mr_window_length(w, thread);
    uint32_t *link = forward ? w->previous_write : w->next_write;
    for (uint32_t k = 0; k < length; k++) {
        uint32_t i = mr_window_at(w, thread, forward ? k : length - 1 - k);
        if (!mr_op_is_access(mr_window_op(w, i)))
            continue;
        uint32_t variable = w->object[i];
        link[i] = seen_by[variable] == thread ? last[variable] : MR_NONE;
        if (mr_op_writes(mr_window_op(w, i))) {
            last[variable] = i;
            seen_by[variable] = thread;
        }
    }
}

/* Stable merge sort of writes by value, so that equal values stay in trace order. */
static void sort_by_value(const mr_window *w, uint32_t *items, uint32_t *scratch, uint32_t count)
{
    if (count < 2)
        return;
    uint32_t half = count / 2;
    sort_by_value(w, items, scratch, half);
    sort_by_value(w, items + half, scratch, count - half);
    memcpy(scratch, items, half * sizeof *items);
    for (uint32_t left = 0, right = half, out = 0; left < half;)
        items[out++] = right == count || mr_window_written_value(w, scratch[left]) <=
                                             mr_window_written_value(w, items[right])
                           ? scratch[left++]
                           : items[right++];
}

bool mr_window_build_accesses(mr_window *w, mr_arena *arena)
{
    uint32_t *last = mr_arena_alloc(arena, w->variable_count, sizeof *last);
    uint32_t *seen_by = mr_arena_alloc(arena, w->variable_count, sizeof *seen_by);
    uint32_t *scratch = mr_arena_alloc(arena, w->size, sizeof *scratch);
    if (!last || !seen_by || !scratch)
        return false;
    for (int forward = 0; forward < 2; forward++) {
        memset(seen_by, 0xff, w->variable_count * sizeof *seen_by);
        for (uint32_t t = 0; t < w->thread_count; t++)
            link_writes(w, t, forward, last, seen_by);
    }
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t first = w->variables[v].writes_first;
        uint32_t count = w->variables[v].writes_end - first;
        memcpy(w->writes_by_value + first, w->writes + first, count * sizeof *w->writes);
        if (!w->variables[v].by_source)
            sort_by_value(w, w->writes_by_value + first, scratch, count);
    }
    return true;
}
