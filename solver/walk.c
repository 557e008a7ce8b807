#include "walk.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

/* A state that is being left. */
struct mr_walk_level {
    uint32_t events; /* how many had run when it was reached */
    uint32_t tried;  /* the turn of the thread that was tried last, plus one */
};

/* ---- states ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of_place(uint32_t thread, uint32_t next)
{
    return mix(((uint64_t)thread << 32 | next) + UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t hash_of_memory(const mr_walker *x, uint32_t variable)
{
    uint64_t key = (uint64_t)variable << 32 | mr_partial_sees(&x->partial, variable);
    return x->window->variables[variable].shared ? mix(key + UINT64_C(0xd1b54a32d192ed03)) : 0;
}

/* ---- running ---- */

static void note_move(mr_walker *x, uint32_t thread, uint32_t from, uint32_t to)
{
    x->state ^= hash_of_place(thread, from) ^ hash_of_place(thread, to);
}

static bool run(mr_walker *x, uint32_t event)
{
    const mr_window *w = x->window;
    bool diverges, writes = mr_op_writes(mr_window_op(w, event));
    x->effort++;
    if (!mr_partial_allows(&x->partial, event, &diverges))
        return false;
    if (writes) {
        x->before[x->write_count++] = x->partial.memory[w->object[event]];
        x->state ^= hash_of_memory(x, w->object[event]);
    }
    mr_partial_run(&x->partial, event, false);
    if (writes)
        x->state ^= hash_of_memory(x, w->object[event]);
    note_move(x, w->thread[event], w->position[event], w->position[event] + 1);
    x->events[x->event_count++] = event;
    return true;
}

static void go_back(mr_walker *x, uint32_t event_count)
{
    const mr_window *w = x->window;
    while (x->event_count > event_count) {
        uint32_t event = x->events[--x->event_count];
        bool writes = mr_op_writes(mr_window_op(w, event));
        if (writes)
            x->state ^= hash_of_memory(x, w->object[event]);
        x->write_count -= writes;
        mr_partial_undo(&x->partial, event, &x->before[x->write_count]);
        if (writes)
            x->state ^= hash_of_memory(x, w->object[event]);
        note_move(x, w->thread[event], w->position[event] + 1, w->position[event]);
    }
}

/* ---- races ---- */

static bool is_waiting(const mr_walker *x)
{
    return x->partial.next[x->held] == x->from;
}

/* Tells of the races of the stretch with an event that is next in its thread. */
static void try_stretch(mr_walker *x, uint32_t other)
{
    const mr_window *w = x->window;
    const mr_survey *survey = x->survey;
    uint32_t start = x->event_count;
    if (!survey->stops[other] || w->thread[other] == x->held || !is_waiting(x))
        return;
    for (uint32_t p = x->from; p < x->to && !x->ends; p++) {
        uint32_t event = mr_window_at(w, x->held, p);
        if (survey->stops[event] && survey->wanted(survey->context, event, other) &&
            mr_partial_may_stop(&x->partial, event) && mr_partial_may_stop(&x->partial, other))
            x->ends = !survey->found(survey->context, event, other, x->events, x->event_count);
        if (p + 1 < x->to && !run(x, event))
            break;
    }
    go_back(x, start);
}

/* ---- the search ---- */

/* Does the thread stay where it is: at its end, or before the stretch? */
static bool stays(const mr_walker *x, uint32_t thread)
{
    return x->partial.next[thread] == mr_window_length(x->window, thread) ||
           (thread == x->held && is_waiting(x));
}

static uint32_t next_of(const mr_walker *x, uint32_t thread)
{
    return mr_window_at(x->window, thread, x->partial.next[thread]);
}

/* Is another thread before a read that now sees what it has to see, the write that has just run? */
static bool serves_another(const mr_walker *x, uint32_t write)
{
    const mr_window *w = x->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        if (t == w->thread[write] || stays(x, t))
            continue;
        uint32_t next = next_of(x, t);
        uint8_t op = mr_window_op(w, next);
        if (mr_op_is_access(op) && mr_op_reads(op) && w->object[next] == w->object[write] &&
            mr_partial_is_consistent(&x->partial, next))
            return true;
    }
    return false;
}

/* The thread goes on to the next point without locks, or to where threads take turns. False: it cannot, and has not
 * moved. */
static bool go_on(mr_walker *x, uint32_t thread)
{
    const mr_window *w = x->window;
    uint32_t start = x->event_count, event;
    do {
        if (x->partial.next[thread] == mr_window_length(w, thread))
            break;
        event = next_of(x, thread);
        try_stretch(x, event);
        if (x->ends || !run(x, event)) {
            if (!x->takes_turns)
                go_back(x, start);
            break;
        }
        if (x->takes_turns && mr_op_writes(mr_window_op(w, event)) && serves_another(x, event))
            break;
    } while (!x->is_free[event]);
    return x->event_count > start;
}

/* When a thread goes on: that of the stretch comes first, the others by their next events. */
static uint32_t turn_of(const mr_walker *x, uint32_t thread)
{
    return thread == x->held ? 0 : next_of(x, thread) + 1;
}

/* The thread with the first turn from `from` on; MR_NONE: there is none. */
static uint32_t choose(const mr_walker *x, uint32_t from, uint32_t *turn)
{
    uint32_t chosen = MR_NONE;
    for (uint32_t t = 0; t < x->window->thread_count; t++) {
        uint32_t own = stays(x, t) ? 0 : turn_of(x, t);
        if (stays(x, t) || own < from || (chosen != MR_NONE && own >= *turn))
            continue;
        chosen = t;
        *turn = own;
    }
    return chosen;
}

/* Tries the stretch with the next event of each other thread. */
static void try_all(mr_walker *x)
{
    for (uint32_t t = 0; t < x->window->thread_count && !x->ends; t++)
        if (!stays(x, t))
            try_stretch(x, next_of(x, t));
}

/* Goes on from the state, unless the walk has been there. False: no memory. */
static bool enter(mr_walker *x)
{
    uint32_t count = x->known.count;
    void *levels = x->levels;
    if (!mr_map_at(&x->known, x->state, 0))
        return false;
    if (x->known.count == count)
        return true;
    if (!mr_grow(&levels, &x->level_capacity, x->level_count + 1, sizeof *x->levels))
        return false;
    if (x->takes_turns)
        try_all(x);
    x->levels = levels;
    x->levels[x->level_count++] = (mr_walk_level){.events = x->event_count};
    return true;
}

/* States between two looks whether the run was asked to end. */
enum { STATES_A_LOOK = 256 };

static mr_explored search(mr_walker *x, mr_arena *arena)
{
    uint32_t turn = 0;
    if (!enter(x))
        return MR_EXPLORED_NO_MEMORY;
    for (uint32_t turns = 1; x->level_count; turns++) {
        mr_walk_level *top = &x->levels[x->level_count - 1];
        go_back(x, top->events);
        uint32_t thread = choose(x, top->tried, &turn);
        if (thread == MR_NONE) {
            x->level_count--;
            continue;
        }
        top->tried = turn + 1;
        bool moved = go_on(x, thread);
        if ((moved && !enter(x)) || (turns % STATES_A_LOOK == 0 && mr_arena_is_halted(arena)))
            return MR_EXPLORED_NO_MEMORY;
        if (x->ends)
            return MR_EXPLORED_FOUND;
        if (x->effort > x->max_effort)
            return MR_EXPLORED_OUT_OF_EFFORT;
    }
    return MR_EXPLORED_ALL;
}

mr_explored mr_walk(mr_walker *x, uint32_t base, uint32_t begin, uint32_t end, uint64_t effort,
                    uint64_t *spent, mr_arena *arena)
{
    MR_REQUIRE(base <= begin);
    if (base < x->base) {
        go_back(x, base);
        x->base = base;
    }
    x->takes_turns = base < begin;
    for (; x->base < base; x->base++) {
        bool possible = run(x, x->base);
        MR_ASSERT(possible);
    }
    x->held = x->window->thread[begin];
    x->from = x->window->position[begin];
    x->to = end;
    x->effort = 0;
    x->max_effort = effort;
    x->ends = false;
    x->level_count = 0;
    mr_explored result = search(x, arena);
    go_back(x, x->base);
    mr_map_free(&x->known);
    x->known = (mr_map){0};
    *spent += x->effort;
    return result;
}

/* ---- the start ---- */

static bool find_free(mr_walker *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    int32_t *change = mr_arena_zalloc(arena, w->size, sizeof *change);
    x->is_free = mr_arena_alloc(arena, w->size, sizeof *x->is_free);
    if (!change || !x->is_free)
        return false;
    for (uint32_t s = 0; s < w->section_count; s++) {
        const mr_section *section = &w->sections[s];
        uint32_t first = w->threads[section->thread].first;
        if (!w->locks[section->lock].contended || first == w->threads[section->thread].end)
            continue;
        change[first + (section->acquire == MR_NONE ? 0 : w->position[section->acquire])]++;
        if (section->release != MR_NONE)
            change[first + w->position[section->release]]--;
    }
    for (uint32_t t = 0; t < w->thread_count; t++) {
        int32_t open = 0;
        for (uint32_t i = w->threads[t].first; i < w->threads[t].end; i++) {
            open += change[i];
            x->is_free[w->by_thread[i]] = open == 0;
        }
    }
    return true;
}

bool mr_walk_init(mr_walker *x, const mr_survey *survey, mr_arena *arena)
{
    const mr_window *w = survey->window;
    *x = (mr_walker){.survey = survey, .window = w};
    x->events = mr_arena_alloc(arena, w->size, sizeof *x->events);
    x->before = mr_arena_alloc(arena, w->size, sizeof *x->before);
    if (!x->events || !x->before || !find_free(x, arena) || !mr_partial_init(&x->partial, w, arena))
        return false;
    mr_partial_reset(&x->partial);
    return true;
}

void mr_walk_free(mr_walker *x)
{
    mr_map_free(&x->known);
    free(x->levels);
}

bool mr_walk_begins(const mr_walker *x, uint32_t event)
{
    const mr_window *w = x->window;
    return !w->position[event] ||
           x->is_free[mr_window_at(w, w->thread[event], w->position[event] - 1)];
}

uint32_t mr_walk_end(const mr_walker *x, uint32_t event)
{
    const mr_window *w = x->window;
    uint32_t thread = w->thread[event], end = w->position[event] + 1;
    while (end < mr_window_length(w, thread) && !x->is_free[mr_window_at(w, thread, end - 1)])
        end++;
    return end;
}
