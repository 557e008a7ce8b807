#include "walk.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

/* A state that is being left. */
struct mr_walk_level {
    uint64_t state;  /* x->state there */
    uint32_t events; /* how many had run when it was reached */
    uint32_t tried;  /* the turn of the thread that was tried last, plus one */
};

/* A state of the walk with this number; of another one: the slot is empty. */
struct mr_walk_seen {
    uint64_t state;
    uint32_t walk;
};

/* How an event runs. A plain access needs nothing but, when it reads a shared variable, what it has to see. */
enum { BY_RULES, PLAIN_WRITE, PLAIN_READ, READ_OF_ANY };

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

/* Where the state is, or the empty slot for it. */
static mr_walk_seen *slot_of(const mr_walker *x, mr_walk_seen *slots, size_t capacity,
                             uint64_t state)
{
    size_t at = state & (capacity - 1);
    while (slots[at].walk == x->walk && slots[at].state != state)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

/* False: no memory. */
static bool grow_seen(mr_walker *x, mr_arena *arena)
{
    enum { FIRST = 1 << 12 };
    size_t capacity = x->seen_capacity ? 2 * x->seen_capacity : FIRST;
    mr_walk_seen *slots = mr_arena_zalloc(arena, capacity, sizeof *slots);
    for (size_t i = 0; slots && i < x->seen_capacity; i++)
        if (x->seen[i].walk == x->walk)
            *slot_of(x, slots, capacity, x->seen[i].state) = x->seen[i];
    if (!slots)
        return false;
    x->seen = slots;
    x->seen_capacity = capacity;
    return true;
}

/* Does the thread stay where it is: at its end, or before the stretch? */
static bool stays(const mr_walker *x, uint32_t thread)
{
    return x->partial.next[thread] == mr_window_length(x->window, thread) ||
           (thread == x->held && x->partial.next[thread] == x->from);
}

static uint32_t next_of(const mr_walker *x, uint32_t thread)
{
    return mr_window_at(x->window, thread, x->partial.next[thread]);
}

/* May what the hot variable has now still be seen? Else a write of it comes first, whatever the threads do. */
static bool is_hot_seen(const mr_walker *x)
{
    for (uint32_t t = 0; t < x->window->thread_count; t++) {
        uint32_t event = stays(x, t) ? MR_NONE : x->hot_next[next_of(x, t)];
        if (event == MR_NONE || x->how[event] == PLAIN_WRITE)
            continue;
        if (x->how[event] != PLAIN_READ || mr_partial_sees(&x->partial, x->hot) == x->access[event])
            return true;
    }
    return false;
}

/* Notes the state. False: no memory. `*is_new`: the walk has not been there. */
static bool note_state(mr_walker *x, bool *is_new, mr_arena *arena)
{
    uint64_t state = x->state;
    if (x->leaves_out && !is_hot_seen(x))
        state ^= hash_of_memory(x, x->hot);
    if (2 * (x->seen_count + 1) > x->seen_capacity && !grow_seen(x, arena))
        return false;
    mr_walk_seen *slot = slot_of(x, x->seen, x->seen_capacity, state);
    *is_new = slot->walk != x->walk;
    x->seen_count += *is_new;
    *slot = (mr_walk_seen){.state = state, .walk = x->walk};
    return true;
}

/* ---- running ---- */

static void note_write(mr_walker *x, uint32_t variable)
{
    x->before[x->write_count++] = x->partial.memory[variable];
    x->state ^= hash_of_memory(x, variable);
}

static bool run_by_rules(mr_walker *x, uint32_t event)
{
    const mr_window *w = x->window;
    bool diverges, writes = mr_op_writes(mr_window_op(w, event));
    if (!mr_partial_allows(&x->partial, event, &diverges))
        return false;
    if (writes)
        note_write(x, w->object[event]);
    mr_partial_run(&x->partial, event, false);
    if (writes)
        x->state ^= hash_of_memory(x, w->object[event]);
    return true;
}

/* Runs the next event of its thread, but for the place of the thread in x->state. False: it is not possible. */
static bool run(mr_walker *x, uint32_t event)
{
    const mr_window *w = x->window;
    uint32_t variable = w->object[event];
    x->effort++;
    if (x->how[event] == BY_RULES) {
        if (!run_by_rules(x, event))
            return false;
    } else {
        if (x->how[event] == PLAIN_READ &&
            mr_partial_sees(&x->partial, variable) != x->access[event])
            return false;
        if (x->how[event] == PLAIN_WRITE) {
            note_write(x, variable);
            x->partial.memory[variable] =
                (mr_partial_memory){.value = x->access[event], .write = event};
            x->state ^= hash_of_memory(x, variable);
        }
        x->partial.next[w->thread[event]]++;
    }
    x->events[x->event_count++] = event;
    return true;
}

/* Takes events back until so many are left, after which the state was `state`. */
static void go_back(mr_walker *x, uint32_t event_count, uint64_t state)
{
    const mr_window *w = x->window;
    while (x->event_count > event_count) {
        uint32_t event = x->events[--x->event_count];
        x->write_count -= mr_op_writes(mr_window_op(w, event));
        if (x->how[event] == BY_RULES) {
            mr_partial_undo(&x->partial, event, &x->before[x->write_count]);
            continue;
        }
        if (x->how[event] == PLAIN_WRITE)
            x->partial.memory[w->object[event]] = x->before[x->write_count];
        x->partial.next[w->thread[event]]--;
    }
    x->state = state;
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
    uint64_t state = x->state;
    if (!survey->stops[other] || x->marks[other] != x->mark || w->thread[other] == x->held ||
        !is_waiting(x))
        return;
    for (uint32_t p = x->from; p < x->to && !x->ends; p++) {
        uint32_t event = mr_window_at(w, x->held, p);
        if (survey->stops[event] && survey->wanted(survey->context, event, other) &&
            mr_partial_may_stop(&x->partial, event) && mr_partial_may_stop(&x->partial, other)) {
            x->ends = !survey->found(survey->context, event, other, x->events, x->event_count);
            x->found++;
        }
        if (p + 1 < x->to && !run(x, event))
            break;
    }
    go_back(x, start, state);
}

/* ---- the search ---- */

/* Lists the reads that other threads are before. */
static void list_waiting(mr_walker *x, uint32_t thread)
{
    x->waiting_count = 0;
    for (uint32_t t = 0; t < x->window->thread_count; t++) {
        if (t == thread || stays(x, t))
            continue;
        uint32_t next = next_of(x, t);
        uint8_t op = mr_window_op(x->window, next);
        if (mr_op_is_access(op) && mr_op_reads(op))
            x->waiting[x->waiting_count++] = next;
    }
}

/* Is one of them now possible, by the write that has just run? */
static bool serves_another(const mr_walker *x, uint32_t write)
{
    const mr_window *w = x->window;
    for (uint32_t i = 0; i < x->waiting_count; i++)
        if (w->object[x->waiting[i]] == w->object[write] &&
            mr_partial_is_consistent(&x->partial, x->waiting[i]))
            return true;
    return false;
}

/* Tries the stretch with the next event of each other thread. */
static void try_all(mr_walker *x)
{
    for (uint32_t t = 0; t < x->window->thread_count && !x->ends; t++)
        if (!stays(x, t))
            try_stretch(x, next_of(x, t));
}

/* Can a thread run its next event? */
static bool can_move(const mr_walker *x, uint32_t thread)
{
    bool diverges;
    if (stays(x, thread))
        return false;
    uint32_t next = next_of(x, thread);
    if (x->how[next] == PLAIN_READ)
        return mr_partial_sees(&x->partial, x->window->object[next]) == x->access[next];
    return x->how[next] != BY_RULES || mr_partial_allows(&x->partial, next, &diverges);
}

/* The thread has to wait: is that the end, as all others have to wait, too? Then what the stretch races with there has been told. */
static bool leads_nowhere(mr_walker *x, uint32_t thread)
{
    for (uint32_t t = 0; t < x->window->thread_count; t++)
        if (x->ends || x->keeps_all || (t != thread && can_move(x, t)))
            return false;
    try_all(x);
    return !x->ends;
}

/* The thread goes on to the next point without locks, or to where threads take turns. False: it cannot, and has not
 * moved. */
static bool go_on(mr_walker *x, uint32_t thread)
{
    const mr_window *w = x->window;
    uint32_t start = x->event_count, from = x->partial.next[thread], event;
    uint64_t state = x->state;
    if (x->takes_turns)
        list_waiting(x, thread);
    do {
        if (x->partial.next[thread] == mr_window_length(w, thread))
            break;
        event = next_of(x, thread);
        try_stretch(x, event);
        if (x->ends || !run(x, event)) {
            if (!x->takes_turns || leads_nowhere(x, thread))
                go_back(x, start, state);
            break;
        }
        if (x->takes_turns && mr_op_writes(mr_window_op(w, event)) && serves_another(x, event))
            break;
    } while (!x->is_free[event]);
    x->state ^= hash_of_place(thread, from) ^ hash_of_place(thread, x->partial.next[thread]);
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

/* Events that a walk runs before it asks for meetings, and between two lists of what is wanted when something was found. */
enum { PATIENCE = 1024, EVENTS_A_LIST = 4096 };

/* Does no race that is wanted come after the state? */
static bool is_hopeless(mr_walker *x)
{
    if (!x->leaves_out || x->effort < x->patience)
        return false;
    if (!x->knows_wanted || (x->found > x->told && x->effort > x->told_at + EVENTS_A_LIST)) {
        uint32_t held = mr_window_at(x->window, x->held, x->from);
        mr_meetings_want(x->meetings, x->survey, held, x->marks, x->mark);
        x->knows_wanted = true;
        x->told = x->found;
        x->told_at = x->effort;
    }
    return !mr_meetings_is_there(x->meetings, &x->partial, &x->effort);
}

/* Goes on from the state, unless the walk has been there or it leads nowhere. False: no memory. */
static bool enter(mr_walker *x, mr_arena *arena)
{
    void *levels = x->levels;
    bool is_new;
    if (!note_state(x, &is_new, arena))
        return false;
    if (!is_new)
        return true;
    if (!mr_grow(&levels, &x->level_capacity, x->level_count + 1, sizeof *x->levels))
        return false;
    x->levels = levels;
    if (x->takes_turns)
        try_all(x);
    if (!x->ends && is_hopeless(x))
        return true;
    x->levels[x->level_count++] = (mr_walk_level){.events = x->event_count, .state = x->state};
    return true;
}

/* States between two looks whether the run was asked to end. */
enum { STATES_A_LOOK = 256 };

static mr_explored search(mr_walker *x, mr_arena *arena)
{
    uint32_t turn = 0;
    if (!enter(x, arena))
        return MR_EXPLORED_NO_MEMORY;
    for (uint32_t turns = 1; x->level_count; turns++) {
        mr_walk_level *top = &x->levels[x->level_count - 1];
        go_back(x, top->events, top->state);
        uint32_t thread = choose(x, top->tried, &turn);
        if (thread == MR_NONE) {
            x->level_count--;
            continue;
        }
        top->tried = turn + 1;
        bool moved = go_on(x, thread);
        if ((moved && !enter(x, arena)) ||
            (turns % STATES_A_LOOK == 0 && mr_arena_is_halted(arena)))
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
        go_back(x, base, 0);
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
    x->leaves_out = x->takes_turns && x->to == x->from + 1 && !x->keeps_all;
    x->effort = 0;
    x->max_effort = effort;
    x->ends = x->knows_wanted = false;
    x->found = x->told = 0;
    x->level_count = 0;
    x->seen_count = 0;
    x->walk++;
    x->state = 0; /* what it is at the start does not matter */
    mr_explored result = search(x, arena);
    go_back(x, x->base, 0);
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

/* Finds out how each event runs. */
static bool find_plain(mr_walker *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    x->how = mr_arena_zalloc(arena, w->size, sizeof *x->how);
    x->access = mr_arena_zalloc(arena, w->size, sizeof *x->access);
    if (!x->how || !x->access)
        return false;
    for (uint32_t i = 0; i < w->size; i++) {
        uint8_t op = mr_window_op(w, i);
        bool reads = mr_op_reads(op), writes = mr_op_writes(op);
        if (!mr_op_is_access(op) || (reads && writes) || mr_window_section(w, i) ||
            !w->position[i] || w->barrier_edge_count || mr_window_end_of_life(w, i) != MR_NONE)
            continue;
        const mr_window_variable *variable = &w->variables[w->object[i]];
        if (writes) {
            x->how[i] = PLAIN_WRITE;
            x->access[i] = mr_window_written_value(w, i);
        } else if (!variable->shared) {
            x->how[i] = READ_OF_ANY;
        } else {
            x->access[i] = variable->by_source ? w->source[i] + 1 : mr_window_read_value(w, i);
            x->how[i] = variable->by_source || x->access[i] ? PLAIN_READ : BY_RULES;
        }
    }
    return true;
}

/* Finds the hot variable, and its accesses. */
static bool find_hot(mr_walker *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t *count = mr_arena_zalloc(arena, (size_t)w->variable_count + 1, sizeof *count);
    x->hot_next = mr_arena_alloc(arena, w->size, sizeof *x->hot_next);
    if (!count || !x->hot_next)
        return false;
    for (uint32_t i = 0; i < w->size; i++)
        if (mr_op_is_access(mr_window_op(w, i)) && ++count[w->object[i]] > count[x->hot])
            x->hot = w->object[i];
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t next = MR_NONE;
        for (uint32_t p = mr_window_length(w, t); p-- > 0;) {
            uint32_t event = mr_window_at(w, t, p);
            if (mr_op_is_access(mr_window_op(w, event)) && w->object[event] == x->hot)
                next = event;
            x->hot_next[event] = next;
        }
    }
    return true;
}

bool mr_walk_init(mr_walker *x, const mr_survey *survey, mr_arena *arena)
{
    const mr_window *w = survey->window;
    *x = (mr_walker){.survey = survey, .window = w, .patience = PATIENCE};
    x->events = mr_arena_alloc(arena, w->size, sizeof *x->events);
    x->before = mr_arena_alloc(arena, w->size, sizeof *x->before);
    x->waiting = mr_arena_alloc(arena, w->thread_count, sizeof *x->waiting);
    if (!x->events || !x->before || !x->waiting || !find_free(x, arena) || !find_plain(x, arena) ||
        !find_hot(x, arena) || !mr_meetings_init(&x->meetings, w, arena) ||
        !mr_partial_init(&x->partial, w, arena))
        return false;
    mr_partial_reset(&x->partial);
    return true;
}

void mr_walk_free(mr_walker *x)
{
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
