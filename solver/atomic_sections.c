#include "atomic_sections.h"

#include <string.h>

/* A variable with more outsiders has no atomic sections, as most of them would be disturbed. */
enum { MOST_OUTSIDERS = 256 };

/* A longer section is not atomic. */
enum { MOST_EVENTS = 64 };

static bool holds(const mr_window *w, uint32_t event, uint32_t lock)
{
    const mr_lockset *set = &w->locksets[w->lockset[event]];
    for (uint32_t i = 0; i < set->count; i++)
        if (set->locks[i] / 2 == lock)
            return true;
    return false;
}

static bool is_shared_access(const mr_window *w, uint32_t event)
{
    return mr_op_is_access(mr_window_op(w, event)) && w->variables[w->object[event]].shared;
}

/* Does the section do nothing but access variables whose objects are not freed? */
static bool only_accesses(const mr_atomic_sections *a, const mr_window *w,
                          const mr_section *section)
{
    if (section->shared || section->acquire == MR_NONE || section->release == MR_NONE ||
        !w->locks[section->lock].contended)
        return false;
    uint32_t from = w->position[section->acquire], to = w->position[section->release];
    if (to - from > MOST_EVENTS)
        return false;
    for (uint32_t p = from + 1; p < to; p++) {
        uint32_t event = mr_window_at(w, section->thread, p);
        if (!mr_op_is_access(mr_window_op(w, event)) ||
            w->variables[w->object[event]].free != MR_NONE || (a->has_edge && a->has_edge[event]))
            return false;
    }
    return !a->has_edge || (!a->has_edge[section->acquire] && !a->has_edge[section->release]);
}

/* The lock of a variable is that of its first section. */
static void find_locks(mr_atomic_sections *a, const mr_window *w)
{
    for (uint32_t s = 0; s < w->section_count; s++) {
        const mr_section *section = &w->sections[s];
        if (!only_accesses(a, w, section))
            continue;
        for (uint32_t p = w->position[section->acquire]; p < w->position[section->release]; p++) {
            uint32_t event = mr_window_at(w, section->thread, p);
            if (is_shared_access(w, event) && a->lock[w->object[event]] == MR_NONE)
                a->lock[w->object[event]] = section->lock;
        }
    }
}

/* Counts the outsiders of each variable up to the next one's `first`, or lists them from there on. */
static void add_outsiders(mr_atomic_sections *a, const mr_window *w)
{
    for (uint32_t event = 0; event < w->size; event++) {
        if (!is_shared_access(w, event))
            continue;
        uint32_t v = w->object[event];
        if (a->lock[v] == MR_NONE || holds(w, event, a->lock[v]))
            continue;
        if (a->outsiders)
            a->outsiders[a->first[v]] = event;
        a->first[v]++;
    }
}

/* Lists them in two rounds; variables with many are left out in between. */
static bool list_outsiders(mr_atomic_sections *a, const mr_window *w, mr_arena *arena)
{
    uint32_t total = 0;
    add_outsiders(a, w);
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t count = a->first[v];
        if (count > MOST_OUTSIDERS) {
            a->lock[v] = MR_NONE;
            count = 0;
        }
        a->first[v] = total;
        total += count;
    }
    a->outsiders = mr_arena_alloc(arena, (size_t)total + 1, sizeof *a->outsiders);
    if (!a->outsiders)
        return false;
    add_outsiders(a, w);
    for (uint32_t v = w->variable_count; v > 0; v--)
        a->first[v] = a->first[v - 1];
    a->first[0] = 0;
    return true;
}

bool mr_atomic_sections_find(mr_atomic_sections *a, const mr_window *w, mr_arena *arena)
{
    *a = (mr_atomic_sections){
        .lock = mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *a->lock),
        .first = mr_arena_zalloc(arena, (size_t)w->variable_count + 1, sizeof *a->first)};
    if (w->barrier_edge_count)
        a->has_edge = mr_arena_zalloc(arena, w->size, sizeof *a->has_edge);
    if (!a->lock || !a->first || (w->barrier_edge_count && !a->has_edge))
        return false;
    memset(a->lock, 0xff, ((size_t)w->variable_count + 1) * sizeof *a->lock);
    for (size_t e = 0; e < w->barrier_edge_count; e++)
        a->has_edge[w->barrier_edges[e].from] = a->has_edge[w->barrier_edges[e].to] = true;
    find_locks(a, w);
    return list_outsiders(a, w, arena);
}

bool mr_atomic_sections_has(const mr_atomic_sections *a, const mr_window *w,
                            const mr_section *section)
{
    if (!only_accesses(a, w, section))
        return false;
    for (uint32_t p = w->position[section->acquire]; p < w->position[section->release]; p++) {
        uint32_t event = mr_window_at(w, section->thread, p);
        if (is_shared_access(w, event) && a->lock[w->object[event]] != section->lock)
            return false;
    }
    return true;
}
