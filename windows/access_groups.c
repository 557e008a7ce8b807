#include "access_groups.h"

#include "visible.h"

#include <stdlib.h>

typedef struct access {
    uint32_t variable, thread, op, location, lockset, event;
} access;

/* The latest representative of a (thread, variable, operation, location). */
typedef struct representative {
    uint32_t event; /* + 1; 0: free slot */
} representative;

typedef struct picker {
    const mr_window *window;
    uint32_t *stretch;
    representative *slots;
    uint64_t mask;
} picker;

static bool same_kind(const mr_window *w, uint32_t a, uint32_t b)
{
    const mr_trace *trace = w->trace;
    return w->thread[a] == w->thread[b] && w->object[a] == w->object[b] &&
           mr_window_op(w, a) == mr_window_op(w, b) &&
           trace->location[w->start + a] == trace->location[w->start + b];
}

/* Does an earlier access stand for this one? If not, it becomes a representative itself. */
static bool represented(picker *p, uint32_t event)
{
    const mr_window *w = p->window;
    uint64_t hash = w->object[event];
    hash = hash * 0x9e3779b97f4a7c15u + w->thread[event];
    hash = hash * 0x9e3779b97f4a7c15u + w->trace->location[w->start + event];
    hash = hash * 0x9e3779b97f4a7c15u + mr_window_op(w, event);
    uint64_t slot = (hash ^ hash >> 29) & p->mask;
    while (p->slots[slot].event && !same_kind(w, p->slots[slot].event - 1, event))
        slot = (slot + 1) & p->mask;
    if (p->slots[slot].event) {
        uint32_t earlier = p->slots[slot].event - 1;
        if (p->stretch[earlier] == p->stretch[event] && event < w->region_end[earlier])
            return true;
    }
    p->slots[slot].event = event + 1;
    return false;
}

static bool picker_init(picker *p, const mr_window *w, mr_access_choice choice, mr_arena *arena)
{
    uint64_t count = 4;
    while (count < 2 * (uint64_t)w->size)
        count *= 2;
    p->window = w;
    p->mask = count - 1;
    p->slots = mr_arena_zalloc(arena, count, sizeof *p->slots);
    p->stretch = mr_visible_stretches(w, choice == MR_ACCESS_ORDERED_REPRESENTATIVES, arena);
    return p->slots && p->stretch;
}

static int compare_site(const access *x, const access *y)
{
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

static int by_site(const void *one, const void *two)
{
    const access *x = one, *y = two;
    int order = compare_site(x, y);
    return order ? order : (x->event > y->event) - (x->event < y->event);
}

static int by_lockset(const void *one, const void *two)
{
    const access *x = one, *y = two;
    if (x->lockset != y->lockset)
        return x->lockset < y->lockset ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Fills the lists of a site from its accesses, which it sorts. Returns their number. */
static uint32_t make_lists(access *accesses, uint32_t count, mr_access_list *lists,
                           uint32_t *events)
{
    uint32_t list_count = 0;
    qsort(accesses, count, sizeof *accesses, by_lockset);
    for (uint32_t i = 0; i < count; i++) {
        events[i] = accesses[i].event;
        if (!i || accesses[i - 1].lockset != accesses[i].lockset)
            lists[list_count++] =
                (mr_access_list){.lockset = accesses[i].lockset, .events = events + i};
        lists[list_count - 1].count++;
    }
    return list_count;
}

static bool make_sites(mr_access_groups *groups, const mr_window *w, access *accesses,
                       uint32_t count, mr_arena *arena)
{
    groups->sites = mr_arena_alloc(arena, count, sizeof *groups->sites);
    groups->variable_first =
        mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *groups->variable_first);
    mr_access_list *lists = mr_arena_alloc(arena, count, sizeof *lists);
    uint32_t *site_events = mr_arena_alloc(arena, count, sizeof *site_events);
    uint32_t *list_events = mr_arena_alloc(arena, count, sizeof *list_events);
    if (!groups->sites || !groups->variable_first || !lists || !site_events || !list_events)
        return false;
    uint32_t site_count = 0, variable = 0;
    groups->variable_first[0] = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        const access key = accesses[first];
        for (end = first; end < count && !compare_site(&key, &accesses[end]); end++)
            site_events[end] = accesses[end].event;
        while (variable < key.variable)
            groups->variable_first[++variable] = site_count;
        groups->sites[site_count++] =
            (mr_access_site){.variable = key.variable,
                             .thread = key.thread,
                             .location = key.location,
                             .op = (uint8_t)key.op,
                             .events = site_events + first,
                             .count = end - first,
                             .lists = lists + first,
                             .list_count = make_lists(accesses + first, end - first, lists + first,
                                                      list_events + first)};
    }
    while (variable < w->variable_count)
        groups->variable_first[++variable] = site_count;
    return true;
}

bool mr_access_groups_build(mr_access_groups *groups, const mr_window *w, mr_access_choice choice,
                            const uint8_t *ignored_locations, mr_arena *arena)
{
    bool representatives = choice != MR_ACCESS_ALL;
    picker p = {0};
    access *accesses = mr_arena_alloc(arena, w->size, sizeof *accesses);
    if (!accesses || (representatives && !picker_init(&p, w, choice, arena)))
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        if (!mr_op_is_access(op) || !w->variables[w->object[i]].shared)
            continue;
        if (ignored_locations && ignored_locations[w->trace->location[w->start + i]])
            continue;
        if (representatives && represented(&p, i))
            continue;
        accesses[count++] = (access){.variable = w->object[i],
                                     .thread = w->thread[i],
                                     .op = op,
                                     .location = w->trace->location[w->start + i],
                                     .lockset = w->lockset[i],
                                     .event = i};
    }
    qsort(accesses, count, sizeof *accesses, by_site);
    return make_sites(groups, w, accesses, count, arena);
}
