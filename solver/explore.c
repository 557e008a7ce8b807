#include "explore.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/table.h"
#include "partial.h"
#include "turns.h"
#include "windows/hidden.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* States between two looks whether the run was asked to end. */
enum { STATES_A_LOOK = 256 };

/* A state that is being left: its choices that are left are choices[at … end). */
typedef struct level {
    uint32_t events; /* how many had run when it was reached */
    uint32_t at, end;
} level;

typedef struct explorer {
    const mr_explore_question *question;
    const mr_window *window;
    mr_partial partial;
    mr_turns turns;
    uint32_t *list_of;             /* one a thread: its list of the goal + 1; 0: none */
    const uint32_t *may_stop;      /* one an event; 0: no */
    uint32_t *open_section;        /* one a lock: that of its owner, when it has one */
    uint32_t *events, event_count; /* that have run */
    mr_partial_memory *before;     /* of the writes among them: what there was before */
    uint32_t write_count;
    uint32_t *key, width; /* scratch: a state, and its words */
    uint32_t hash;        /* of the key */

    uint32_t *states, *hashes; /* owned */
    size_t states_capacity, hashes_capacity;
    uint32_t state_count;
    mr_table table; /* owned */
    level *levels;  /* owned */
    size_t level_count, level_capacity;
    uint32_t *choices; /* owned; threads */
    size_t choice_count, choice_capacity;
    uint64_t effort, max_effort, max_states;
} explorer;

/* ---- states ---- */

/* A sum of what the pairs of words have each, so that none waits for the one before it. The last pair may have one word. */
static uint32_t hash_words(const uint32_t *words, uint32_t width)
{
    uint64_t hash = 0, place = mr_table_seed();
    for (uint32_t i = 0; i < width; i += 2) {
        uint64_t pair = words[i] | (uint64_t)(i + 1 < width ? words[i + 1] : 0) << 32;
        place += UINT64_C(0x9e3779b97f4a7c15);
        hash += mr_table_fold(pair ^ place, UINT64_C(0xd6e8feb86659fd93));
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same_state(const void *items, uint32_t number, const void *key)
{
    const explorer *x = items;
    (void)key;
    return x->hashes[number] == x->hash &&
           memcmp(x->states + (size_t)number * x->width, x->key, x->width * sizeof *x->key) == 0;
}

static uint32_t hash_state(const void *items, uint32_t number)
{
    return ((const explorer *)items)->hashes[number];
}

static void make_key(explorer *x)
{
    for (uint32_t i = 0; i < x->turns.thread_count; i++)
        x->key[i] = x->partial.next[x->turns.threads[i]];
    uint32_t *sees = x->key + x->turns.thread_count;
    memset(sees, 0, x->turns.variable_count * sizeof *sees);
    const uint64_t *later = mr_turns_read_later(&x->turns, x->partial.next);
    for (uint32_t k = 0; k < x->turns.words; k++)
        for (uint64_t left = later[k]; left; left &= left - 1) {
            uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
            sees[i] = mr_partial_sees(&x->partial, x->turns.variables[i]);
        }
    x->effort += x->width;
}

/* Notes the state. `*fresh`: it was not there before. False: no memory. */
static bool note_state(explorer *x, bool *fresh)
{
    void *states = x->states, *hashes = x->hashes;
    make_key(x);
    x->hash = hash_words(x->key, x->width);
    if (!mr_table_reserve(&x->table, x->state_count + 1, hash_state, x, x->state_count))
        return false;
    uint32_t *slot = mr_table_slot(&x->table, x->hash, same_state, x, NULL);
    *fresh = !*slot;
    if (*slot)
        return true;
    if (!mr_grow(&states, &x->states_capacity, ((size_t)x->state_count + 1) * x->width,
                 sizeof *x->states))
        return false;
    x->states = states;
    if (!mr_grow(&hashes, &x->hashes_capacity, (size_t)x->state_count + 1, sizeof *x->hashes))
        return false;
    x->hashes = hashes;
    x->hashes[x->state_count] = x->hash;
    memcpy(x->states + (size_t)x->state_count * x->width, x->key, x->width * sizeof *x->key);
    *slot = ++x->state_count;
    return true;
}

/* ---- running ---- */

static void note_owner(explorer *x, uint32_t event)
{
    const mr_section *section = mr_window_section(x->window, event);
    if (section && !section->shared)
        x->open_section[section->lock] = x->window->object[event];
}

static bool run_if_possible(explorer *x, uint32_t event)
{
    const mr_window *w = x->window;
    bool diverges;
    x->effort++;
    if (!mr_partial_allows(&x->partial, event, &diverges) ||
        !mr_known_first(x->question->known, x->partial.next, event))
        return false;
    if (mr_op_writes(mr_window_op(w, event)))
        x->before[x->write_count++] = x->partial.memory[w->object[event]];
    mr_partial_run(&x->partial, event, false);
    note_owner(x, event);
    x->events[x->event_count++] = event;
    return true;
}

static void go_back(explorer *x, uint32_t event_count)
{
    while (x->event_count > event_count) {
        uint32_t event = x->events[--x->event_count];
        x->write_count -= mr_op_writes(mr_window_op(x->window, event));
        mr_partial_undo(&x->partial, event, &x->before[x->write_count]);
        note_owner(x, event);
        x->effort++;
    }
}

/* Runs whatever takes nothing from anybody. */
static void run_ahead(explorer *x)
{
    const mr_window *w = x->window;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < x->turns.thread_count; i++) {
            uint32_t t = x->turns.threads[i];
            while (x->partial.next[t] < x->question->cone[t]) {
                uint32_t event = mr_window_at(w, t, x->partial.next[t]);
                if (x->may_stop[event] ||
                    !mr_turns_takes_nothing(&x->turns, event, x->partial.next) ||
                    !run_if_possible(x, event))
                    break;
                moved = true;
            }
        }
    }
}

static uint32_t turn_of(const explorer *x, uint32_t thread)
{
    return mr_turns_event(&x->turns, thread, x->partial.next[thread]);
}

/* Runs the acquires of the thread up to its turn. */
static bool take_locks(explorer *x, uint32_t thread)
{
    const mr_window *w = x->window;
    uint32_t turn = turn_of(x, thread);
    while (x->partial.next[thread] < turn)
        if (!run_if_possible(x, mr_window_at(w, thread, x->partial.next[thread])))
            return false;
    return true;
}

/* The next thing that the thread does: its acquires and the event after them. False: it cannot. */
static bool take_turn(explorer *x, uint32_t thread)
{
    uint32_t turn = turn_of(x, thread);
    return turn < x->question->cone[thread] && take_locks(x, thread) &&
           run_if_possible(x, mr_window_at(x->window, thread, turn));
}

/* Can all threads of the goal come to a stop by taking locks? Then they have. */
static bool reach_goal(explorer *x)
{
    const mr_window *w = x->window;
    const mr_goal *goal = x->question->goal;
    uint32_t start = x->event_count;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t t = w->thread[goal->stops[i].events[0]], turn = turn_of(x, t);
        if (turn == mr_window_length(w, t) || !x->may_stop[mr_window_at(w, t, turn)])
            return false;
    }
    for (uint32_t i = 0; i < goal->stop_count; i++)
        if (!take_locks(x, w->thread[goal->stops[i].events[0]])) {
            go_back(x, start);
            return false;
        }
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        uint32_t t = w->thread[goal->stops[i].events[0]];
        if (!mr_partial_edges_hold(&x->partial, mr_window_at(w, t, x->partial.next[t]))) {
            go_back(x, start);
            return false;
        }
    }
    return true;
}

/* ---- states that lead nowhere ---- */

/* The index in writes_by_value of the first write of a variable with this value or a greater one. */
static uint32_t writes_from(const mr_window *w, const mr_window_variable *variable, uint32_t value)
{
    uint32_t low = variable->writes_first, high = variable->writes_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mr_window_written_value(w, w->writes_by_value[middle]) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Can no write give the read any more what it has to see? It does not see it now. */
static bool is_lost(explorer *x, uint32_t read)
{
    const mr_window *w = x->window;
    const mr_window_variable *variable = &w->variables[w->object[read]];
    uint32_t source = w->source[read], value = mr_window_read_value(w, read);
    if (!variable->shared || mr_partial_is_consistent(&x->partial, read))
        return false;
    if (variable->by_source)
        return source == MR_NONE || mr_partial_happened(&x->partial, source);
    for (uint32_t i = writes_from(w, variable, value + 1); i-- > variable->writes_first;) {
        uint32_t write = w->writes_by_value[i], thread = w->thread[write];
        x->effort++;
        if (mr_window_written_value(w, write) != value)
            break;
        if (thread != w->thread[read] && w->position[write] < x->question->cone[thread] &&
            !mr_partial_happened(&x->partial, write) && !mr_write_is_hidden(w, write, read))
            return false;
    }
    return true;
}

/* Is the lock held by another thread, in a section that is not left in C? */
static bool is_barred(const explorer *x, const mr_section *section)
{
    const mr_window *w = x->window;
    uint32_t owner = x->partial.locks[section->lock].owner;
    if (owner == MR_NONE || owner == section->thread)
        return false;
    uint32_t release = w->sections[x->open_section[section->lock]].release;
    return release == MR_NONE || w->position[release] >= x->question->cone[owner];
}

static bool is_hopeless(explorer *x)
{
    const mr_window *w = x->window;
    for (uint32_t i = 0; i < x->turns.thread_count; i++) {
        uint32_t t = x->turns.threads[i];
        for (uint32_t p = x->partial.next[t]; p < x->question->required[t]; p++) {
            uint32_t event = mr_window_at(w, t, p);
            const mr_section *section = mr_turns_entered(w, event);
            if (section && is_barred(x, section))
                return true;
            if (!section) {
                if (mr_op_reads(mr_window_op(w, event)) && is_lost(x, event))
                    return true;
                break;
            }
        }
    }
    return false;
}

/* ---- the search ---- */

/* Threads in the order in which the trace has the events of their turns. */
static bool add_choices(explorer *x, uint32_t *first)
{
    const mr_window *w = x->window;
    void *choices = x->choices;
    *first = (uint32_t)x->choice_count;
    if (!mr_grow(&choices, &x->choice_capacity, x->choice_count + x->turns.thread_count,
                 sizeof *x->choices))
        return false;
    x->choices = choices;
    for (uint32_t i = 0; i < x->turns.thread_count; i++) {
        uint32_t t = x->turns.threads[i], turn = turn_of(x, t);
        if (turn >= x->question->cone[t])
            continue;
        uint32_t event = mr_window_at(w, t, turn), at = (uint32_t)x->choice_count++;
        for (; at > *first; at--) {
            uint32_t other = x->choices[at - 1];
            if (mr_window_at(w, other, turn_of(x, other)) < event)
                break;
            x->choices[at] = other;
        }
        x->choices[at] = t;
    }
    return true;
}

static bool push(explorer *x)
{
    uint32_t first;
    void *levels = x->levels;
    if (!mr_grow(&levels, &x->level_capacity, x->level_count + 1, sizeof *x->levels))
        return false;
    x->levels = levels;
    if (!add_choices(x, &first))
        return false;
    x->levels[x->level_count++] =
        (level){.events = x->event_count, .at = first, .end = (uint32_t)x->choice_count};
    return true;
}

typedef enum visited {
    VISITED_GOAL,
    VISITED_NEW,
    VISITED_DONE, /* was there before, or leads nowhere */
    VISITED_NO_MEMORY,
} visited;

/* Looks at the state that running has led to. */
static visited visit(explorer *x)
{
    bool fresh;
    run_ahead(x);
    if (is_hopeless(x))
        return VISITED_DONE;
    if (!note_state(x, &fresh))
        return VISITED_NO_MEMORY;
    if (!fresh)
        return VISITED_DONE;
    if (reach_goal(x))
        return VISITED_GOAL;
    return push(x) ? VISITED_NEW : VISITED_NO_MEMORY;
}

static mr_explored run(explorer *x, mr_arena *arena)
{
    visited here = visit(x);
    while (here != VISITED_GOAL && x->level_count) {
        if (here == VISITED_NO_MEMORY)
            return MR_EXPLORED_NO_MEMORY;
        if (x->effort > x->max_effort || x->state_count >= x->max_states)
            return MR_EXPLORED_OUT_OF_EFFORT;
        if (x->state_count % STATES_A_LOOK == 0 && mr_arena_is_halted(arena))
            return MR_EXPLORED_NO_MEMORY;
        level *top = &x->levels[x->level_count - 1];
        go_back(x, top->events);
        here = VISITED_DONE;
        if (top->at == top->end) {
            x->level_count--;
            x->choice_count = x->level_count ? x->levels[x->level_count - 1].end : 0;
        } else if (take_turn(x, x->choices[top->at++])) {
            here = visit(x);
        }
    }
    if (here == VISITED_NO_MEMORY)
        return MR_EXPLORED_NO_MEMORY;
    return here == VISITED_GOAL ? MR_EXPLORED_FOUND : MR_EXPLORED_ALL;
}

/* ---- the start ---- */

static bool note_stops(explorer *x, mr_arena *arena)
{
    const mr_goal *goal = x->question->goal;
    uint32_t *may_stop = mr_arena_zalloc(arena, x->window->size, sizeof *may_stop);
    x->list_of = mr_arena_zalloc(arena, x->window->thread_count, sizeof *x->list_of);
    if (!may_stop || !x->list_of)
        return false;
    x->may_stop = may_stop;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        x->list_of[x->window->thread[goal->stops[i].events[0]]] = i + 1;
        for (uint32_t k = 0; k < goal->stops[i].count; k++)
            may_stop[goal->stops[i].events[k]] = 1;
    }
    return true;
}

static bool prepare(explorer *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t most = 0;
    if (!mr_partial_init(&x->partial, w, arena) || !note_stops(x, arena) ||
        !mr_turns_init(&x->turns, w, x->question->cone, x->list_of, x->may_stop, arena))
        return false;
    for (uint32_t i = 0; i < x->turns.thread_count; i++)
        most += mr_window_length(w, x->turns.threads[i]);
    x->width = x->turns.thread_count + x->turns.variable_count;
    x->key = mr_arena_alloc(arena, x->width, sizeof *x->key);
    x->events = mr_arena_alloc(arena, most, sizeof *x->events);
    x->before = mr_arena_alloc(arena, most, sizeof *x->before);
    x->open_section = mr_arena_alloc(arena, w->lock_count, sizeof *x->open_section);
    if (!x->key || !x->events || !x->before || !x->open_section)
        return false;
    mr_partial_reset(&x->partial);
    for (uint32_t l = 0; l < w->lock_count; l++)
        for (uint32_t s = w->locks[l].sections_first; s < w->locks[l].carried_end; s++)
            if (!w->sections[s].shared)
                x->open_section[l] = s;
    return true;
}

const char *mr_explored_name(mr_explored result)
{
    static const char *const results[] = {[MR_EXPLORED_FOUND] = "found",
                                          [MR_EXPLORED_ALL] = "all",
                                          [MR_EXPLORED_OUT_OF_EFFORT] = "out-of-effort",
                                          [MR_EXPLORED_NO_MEMORY] = "no-memory"};
    return results[result];
}

/* The search from its start to its end; `x` keeps what it has found, in memory of `arena`. */
static mr_explored search(explorer *x, const mr_explore_limits *limits, uint64_t *spent,
                          const mr_debug *debug, mr_arena *arena)
{
    mr_explored result = MR_EXPLORED_NO_MEMORY;
    x->window = x->question->window;
    x->max_effort = limits->effort;
    if (prepare(x, arena)) {
        x->max_states = limits->memory_bytes ? limits->memory_bytes / (UINT64_C(8) * (x->width + 4))
                                             : INT32_MAX;
        if (x->max_states > INT32_MAX / 2)
            x->max_states = INT32_MAX / 2;
        result = run(x, arena);
    }
    MR_DEBUG(debug, SEARCH,
             "step=explore result=%s states=%" PRIu32 " effort=%" PRIu64 " words=%" PRIu32,
             mr_explored_name(result), x->state_count, x->effort, x->width);
    *spent += x->effort;
    free(x->states);
    free(x->hashes);
    mr_table_free(&x->table);
    free(x->levels);
    free(x->choices);
    return result;
}

mr_explored mr_explore(const mr_explore_question *question, const mr_explore_limits *limits,
                       uint64_t *spent, uint32_t **events, uint32_t *count, uint32_t *stops,
                       const mr_debug *debug, mr_arena *arena)
{
    explorer x = {.question = question};
    mr_explored result = search(&x, limits, spent, debug, arena);
    *events = x.events;
    *count = x.event_count;
    for (uint32_t i = 0; result == MR_EXPLORED_FOUND && i < question->goal->stop_count; i++) {
        uint32_t t = x.window->thread[question->goal->stops[i].events[0]];
        stops[i] = mr_window_at(x.window, t, x.partial.next[t]);
    }
    return result;
}
