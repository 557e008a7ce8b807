#include "lock_cycles.h"

#include "base/keys.h"
#include "holds.h"
#include "lock_graph.h"

#include <stdlib.h>

/* ---- the waits ---- */

/* Finds the waits: each acquire's own, and their numbers by the numbers of their keys. A key is a
 * sequence of words, interned word by word: the number of a prefix and the next word. */
typedef struct finder {
    const mr_trace *trace;
    mr_lock_waits *out;
    const uint32_t *component;
    mr_keys keys;
    mr_u32s wait_of;     /* by key: the wait + 1 */
    mr_u32s wait, event; /* of each acquire that may be in a cycle */
} finder;

static bool add_word(finder *f, uint32_t *prefix, uint32_t word)
{
    return mr_keys_add(&f->keys, (uint64_t)*prefix << 32 | word, prefix);
}

/* Is the event in a circle of locks: does the thread hold one of the component of the lock? */
static bool is_in_circle(const finder *f, const mr_thread_holds *held, uint32_t event)
{
    uint32_t lock = f->trace->operand[event], component = f->component[lock];
    for (size_t i = 0; component && i < held->count; i++)
        if (held->items[i].lock != lock && f->component[held->items[i].lock] == component)
            return true;
    return false;
}

static bool find_key(finder *f, const mr_thread_holds *held, uint32_t event, uint32_t *key)
{
    const mr_trace *trace = f->trace;
    *key = 0;
    bool ok = add_word(f, key, trace->thread[event]) &&
              add_word(f, key, trace->operand[event] << 1 | mr_op_is_shared(trace->op[event])) &&
              add_word(f, key, trace->location[event]);
    for (size_t i = 0; ok && i < held->count; i++)
        ok = add_word(f, key, held->items[i].lock << 1 | held->items[i].shared) &&
             add_word(f, key, trace->location[held->items[i].acquire]);
    return ok;
}

static bool add_wait(finder *f, const mr_thread_holds *held, uint32_t event)
{
    const mr_trace *trace = f->trace;
    mr_lock_waits *out = f->out;
    if (!mr_grow((void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items) ||
        !mr_grow((void **)&out->holds, &out->hold_capacity, out->hold_count + held->count + 1,
                 sizeof *out->holds))
        return false;
    out->items[out->count++] = (mr_lock_wait){.thread = trace->thread[event],
                                              .lock = trace->operand[event],
                                              .place = trace->location[event],
                                              .shared = mr_op_is_shared(trace->op[event]),
                                              .first_hold = (uint32_t)out->hold_count,
                                              .hold_count = (uint32_t)held->count};
    for (size_t i = 0; i < held->count; i++)
        out->holds[out->hold_count++] =
            (mr_wait_hold){.lock = held->items[i].lock,
                           .place = trace->location[held->items[i].acquire],
                           .shared = held->items[i].shared};
    return true;
}

static bool add_acquire(finder *f, const mr_thread_holds *held, uint32_t event)
{
    uint32_t key;
    if (!is_in_circle(f, held, event))
        return true;
    if (!find_key(f, held, event, &key))
        return false;
    while (f->wait_of.count <= key)
        if (!mr_u32s_push(&f->wait_of, 0))
            return false;
    if (!f->wait_of.items[key]) {
        if (!add_wait(f, held, event))
            return false;
        f->wait_of.items[key] = (uint32_t)f->out->count;
    }
    f->out->items[f->wait_of.items[key] - 1].event_count++;
    return mr_u32s_push(&f->wait, f->wait_of.items[key] - 1) && mr_u32s_push(&f->event, event);
}

static bool pass(finder *f)
{
    mr_holds holds = {0};
    bool ok = mr_holds_init(&holds, f->trace);
    for (uint32_t e = 0; ok && e < f->trace->event_count; e++) {
        mr_trace_pass(f->trace, e);
        const mr_thread_holds *held = &holds.threads[f->trace->thread[e]];
        ok = (!mr_holds_may_wait(f->trace, held, e) || add_acquire(f, held, e)) &&
             mr_holds_step(&holds, f->trace, e);
    }
    mr_holds_free(&holds);
    return ok;
}

static bool sort_events(finder *f)
{
    mr_lock_waits *out = f->out;
    out->events = mr_calloc(f->event.count + 1, sizeof *out->events);
    if (!out->events)
        return false;
    uint32_t next = 0;
    for (size_t w = 0; w < out->count; w++) {
        out->items[w].first_event = next;
        next += out->items[w].event_count;
        out->items[w].event_count = 0;
    }
    for (size_t i = 0; i < f->event.count; i++) {
        mr_lock_wait *wait = &out->items[f->wait.items[i]];
        out->events[wait->first_event + wait->event_count++] = f->event.items[i];
    }
    return true;
}

/* Is it the first hold of its lock at the wait? A thread may hold a lock in both ways. */
static bool is_first_hold(const mr_lock_waits *out, const mr_lock_wait *wait, uint32_t i)
{
    const mr_wait_hold *holds = out->holds + wait->first_hold;
    for (uint32_t k = 0; k < i; k++)
        if (holds[k].lock == holds[i].lock)
            return false;
    return true;
}

static bool sort_holders(mr_lock_waits *out)
{
    out->first_holder = mr_calloc((size_t)out->lock_count + 2, sizeof *out->first_holder);
    out->holders = mr_calloc(out->hold_count + 1, sizeof *out->holders);
    if (!out->first_holder || !out->holders)
        return false;
    for (size_t w = 0; w < out->count; w++)
        for (uint32_t i = 0; i < out->items[w].hold_count; i++)
            if (is_first_hold(out, &out->items[w], i))
                out->first_holder[out->holds[out->items[w].first_hold + i].lock + 2]++;
    for (uint32_t lock = 0; lock < out->lock_count; lock++)
        out->first_holder[lock + 2] += out->first_holder[lock + 1];
    for (size_t w = 0; w < out->count; w++)
        for (uint32_t i = 0; i < out->items[w].hold_count; i++) {
            uint32_t lock = out->holds[out->items[w].first_hold + i].lock;
            if (is_first_hold(out, &out->items[w], i))
                out->holders[out->first_holder[lock + 1]++] = (uint32_t)w;
        }
    return true;
}

bool mr_lock_waits_find(mr_lock_waits *waits, const mr_trace *trace)
{
    uint32_t *component = NULL;
    *waits = (mr_lock_waits){.lock_count = trace->locks.count};
    if (!mr_lock_components(trace, &component))
        return false;
    finder f = {.trace = trace, .out = waits, .component = component};
    bool ok = pass(&f) && sort_events(&f) && sort_holders(waits);
    free(component);
    mr_keys_free(&f.keys);
    mr_u32s_free(&f.wait_of);
    mr_u32s_free(&f.wait);
    mr_u32s_free(&f.event);
    return ok;
}

void mr_lock_waits_free(mr_lock_waits *waits)
{
    free(waits->items);
    free(waits->holds);
    free(waits->events);
    free(waits->first_holder);
    free(waits->holders);
    *waits = (mr_lock_waits){0};
}

/* ---- the cycles ---- */

typedef struct search {
    const mr_lock_waits *waits;
    bool guarded;
    mr_lock_cycle_sink *sink;
    void *context;
    mr_lock_cycle path;
    uint64_t steps;
    mr_cycle_search end;
} search;

const mr_wait_hold *mr_lock_waits_holder(const mr_lock_waits *waits, uint32_t wait,
                                         uint32_t waiting)
{
    const mr_lock_wait *w = &waits->items[wait], *for_it = &waits->items[waiting];
    for (uint32_t i = 0; i < w->hold_count; i++) {
        const mr_wait_hold *hold = &waits->holds[w->first_hold + i];
        if (hold->lock == for_it->lock && !(hold->shared && for_it->shared))
            return hold;
    }
    return NULL;
}

/* A lock that is held at both waits so that the holds exclude each other, or MR_NONE. */
static uint32_t common_guard(const mr_lock_waits *waits, uint32_t one, uint32_t other)
{
    const mr_lock_wait *a = &waits->items[one], *b = &waits->items[other];
    for (uint32_t i = 0; i < a->hold_count; i++)
        for (uint32_t j = 0; j < b->hold_count; j++) {
            const mr_wait_hold *x = &waits->holds[a->first_hold + i];
            const mr_wait_hold *y = &waits->holds[b->first_hold + j];
            if (x->lock == y->lock && !(x->shared && y->shared))
                return x->lock;
        }
    return MR_NONE;
}

/* May the wait be on the path: are thread and lock new, and is there no guard unless asked? */
static bool fits(const search *s, uint32_t wait, uint32_t *guard)
{
    const mr_lock_wait *items = s->waits->items;
    *guard = s->path.guard;
    for (uint32_t i = 0; i < s->path.count; i++) {
        uint32_t other = s->path.waits[i];
        if (items[other].thread == items[wait].thread || items[other].lock == items[wait].lock)
            return false;
        uint32_t common = common_guard(s->waits, other, wait);
        if (common != MR_NONE && !s->guarded)
            return false;
        if (*guard == MR_NONE)
            *guard = common;
    }
    return true;
}

/* Goes on from the last wait of the path. The first wait is the smallest of its cycle, so that each
 * cycle is found once. Recursion is as deep as a cycle is long. */
static void follow(search *s)
{
    const mr_lock_waits *waits = s->waits;
    uint32_t first = s->path.waits[0], last = s->path.waits[s->path.count - 1];
    uint32_t lock = waits->items[last].lock, guard = s->path.guard, other_guard;
    if (s->path.count > 1 && mr_lock_waits_holder(waits, first, last) &&
        !s->sink(s->context, &s->path))
        s->end = MR_CYCLES_ENDED;
    if (s->path.count == MR_CYCLE_WAITS)
        return;
    for (uint32_t i = waits->first_holder[lock];
         i < waits->first_holder[lock + 1] && s->end == MR_CYCLES_ALL; i++) {
        uint32_t next = waits->holders[i];
        if (++s->steps > MR_CYCLE_STEPS) {
            s->end = MR_CYCLES_BUDGET;
            return;
        }
        if (next <= first || !mr_lock_waits_holder(waits, next, last) ||
            !fits(s, next, &other_guard))
            continue;
        s->path.waits[s->path.count++] = next;
        s->path.guard = other_guard;
        follow(s);
        s->path.guard = guard;
        s->path.count--;
    }
}

mr_cycle_search mr_lock_cycles_each(const mr_lock_waits *waits, bool guarded,
                                    mr_lock_cycle_sink *sink, void *context)
{
    search s = {.waits = waits, .guarded = guarded, .sink = sink, .context = context};
    for (uint32_t first = 0; first < waits->count && s.end == MR_CYCLES_ALL; first++) {
        s.path = (mr_lock_cycle){.count = 1, .waits = {first}, .guard = MR_NONE};
        follow(&s);
    }
    return s.end;
}
