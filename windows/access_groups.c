#include "access_groups.h"

#include "visible.h"

#include <stdlib.h>

typedef struct access {
    uint32_t variable, thread, op, lockset, event;
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

static int compare(const void *one, const void *two)
{
    const access *x = one, *y = two;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->lockset != y->lockset)
        return x->lockset < y->lockset ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static bool same_list(const access *x, const access *y)
{
    return x->variable == y->variable && x->thread == y->thread && x->op == y->op &&
           x->lockset == y->lockset;
}

static bool make_lists(mr_access_groups *groups, const mr_window *w, const access *accesses,
                       uint32_t count, mr_arena *arena)
{
    groups->lists = mr_arena_alloc(arena, count, sizeof *groups->lists);
    groups->variable_first =
        mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *groups->variable_first);
    uint32_t *events = mr_arena_alloc(arena, count, sizeof *events);
    if (!groups->lists || !groups->variable_first || !events)
        return false;
    uint32_t list_count = 0, variable = 0;
    groups->variable_first[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        events[i] = accesses[i].event;
        if (!i || !same_list(&accesses[i - 1], &accesses[i])) {
            while (variable < accesses[i].variable)
                groups->variable_first[++variable] = list_count;
            groups->lists[list_count++] = (mr_access_list){.variable = accesses[i].variable,
                                                           .thread = accesses[i].thread,
                                                           .lockset = accesses[i].lockset,
                                                           .writes = accesses[i].op == MR_OP_WRITE,
                                                           .events = events + i};
        }
        groups->lists[list_count - 1].count++;
    }
    while (variable < w->variable_count)
        groups->variable_first[++variable] = list_count;
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
                                     .lockset = w->lockset[i],
                                     .event = i};
    }
    qsort(accesses, count, sizeof *accesses, compare);
    return make_lists(groups, w, accesses, count, arena);
}
