#include "occupied.h"

#include <stdlib.h>

typedef struct occupied_variable {
    uint32_t first, end; /* stretches[first … end) */
    uint32_t lock;
} occupied_variable;

struct mr_occupied {
    occupied_variable *variables; /* one a variable */
    mr_stretch *stretches;        /* of a variable: by thread, then in program order */
    const mr_value_lock_kind *kinds;
};

/* The stretches of one variable, while they are collected. */
typedef struct collector {
    mr_stretch *stretches;
    uint32_t count;
    uint32_t *open; /* one a thread: the number of its stretch; MR_NONE: it is in none */
} collector;

static void begin(collector *c, uint32_t thread, uint32_t event, bool shared)
{
    c->open[thread] = c->count;
    c->stretches[c->count++] =
        (mr_stretch){.thread = thread, .first = event, .end = MR_NONE, .shared = shared};
}

static void end(collector *c, uint32_t thread, uint32_t event)
{
    if (c->open[thread] != MR_NONE)
        c->stretches[c->open[thread]].end = event;
    c->open[thread] = MR_NONE;
}

static int compare(const void *one, const void *two)
{
    const mr_stretch *x = one, *y = two;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    /* MR_NONE, the start, comes first */
    uint32_t a = x->first + 1, b = y->first + 1;
    return (a > b) - (a < b);
}

static void collect(collector *c, const mr_window *w, const mr_value_locks *found, uint32_t lock)
{
    const mr_window_variable *x = &w->variables[found->kinds[lock].variable];
    for (uint32_t t = 0; t < w->thread_count; t++)
        c->open[t] = MR_NONE;
    /* A read may be before the first writes, and the holder is inside only after them. */
    if (found->holder[lock] != MR_NONE && !found->kinds[lock].begins_late)
        begin(c, found->holder[lock], MR_NONE, false);
    for (uint32_t k = x->writes_first; k < x->writes_end; k++) {
        uint32_t e = w->writes[k], change = found->changes[e];
        if (change == MR_NONE)
            continue;
        mr_value_change how = change % MR_VALUE_CHANGES;
        end(c, w->thread[e], e);
        if (how != MR_VALUE_RELEASE)
            begin(c, w->thread[e], e, how == MR_VALUE_ACQUIRE_SHARED || how == MR_VALUE_DOWNGRADE);
    }
}

bool mr_occupied_build(mr_window *w, const mr_value_locks *found, mr_arena *arena)
{
    if (!found->count)
        return true;
    mr_occupied *o = mr_arena_alloc(arena, 1, sizeof *o);
    collector c = {.stretches = mr_arena_alloc(arena, found->sections, sizeof *c.stretches),
                   .open = mr_arena_alloc(arena, w->thread_count, sizeof *c.open)};
    occupied_variable *variables = mr_arena_zalloc(arena, w->variable_count, sizeof *variables);
    if (!o || !c.stretches || !c.open || !variables)
        return false;
    for (uint32_t lock = 0; lock < found->count; lock++) {
        if (found->kinds[lock].variable == MR_NONE)
            continue;
        uint32_t first = c.count;
        collect(&c, w, found, lock);
        variables[found->kinds[lock].variable] =
            (occupied_variable){.first = first, .end = c.count, .lock = lock};
        if (c.count > first)
            qsort(c.stretches + first, c.count - first, sizeof *c.stretches, compare);
    }
    *o = (mr_occupied){.variables = variables, .stretches = c.stretches, .kinds = found->kinds};
    w->occupied = o;
    return true;
}

bool mr_occupied_has(const mr_window *w, uint32_t variable)
{
    const mr_occupied *o = w->occupied;
    return o && o->variables[variable].first < o->variables[variable].end;
}

mr_stretches mr_occupied_of(const mr_window *w, uint32_t variable, uint32_t thread)
{
    const mr_occupied *o = w->occupied;
    const occupied_variable *x = &o->variables[variable];
    uint32_t bounds[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t low = x->first, high = x->end;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (o->stretches[middle].thread < thread + i)
                low = middle + 1;
            else
                high = middle;
        }
        bounds[i] = low;
    }
    return (mr_stretches){&o->stretches[bounds[0]], bounds[1] - bounds[0]};
}

bool mr_occupied_excludes(const mr_window *w, const mr_stretch *stretch, uint32_t read)
{
    const mr_occupied *o = w->occupied;
    const mr_value_lock_kind *kind = &o->kinds[o->variables[w->object[read]].lock];
    uint32_t value = mr_window_read_value(w, read);
    if (!kind->counts)
        return value == kind->free_value;
    int64_t number = w->trace->values[value];
    bool is_count = mr_value_is_count(number);
    return stretch->shared ? !is_count || number == 0
                           : is_count || (kind->has_idle && number == kind->idle);
}
