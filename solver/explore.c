#include "explore.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/table.h"
#include "partial.h"
#include "windows/hidden.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* States between two looks whether the run was asked to end. */
enum { STATES_A_LOOK = 256 };

/* A survey that has spent one of so many parts of its effort and has left less than one of so many parts of its levels
 * gives up: it leaves most of them soon, or hardly any. */
enum { SOON = 128, FEW_LEVELS = 16 };

/* A state that is being left: its choices that are left are choices[at … end). */
typedef struct level {
    uint32_t events; /* how many had run when it was reached */
    uint32_t at, end;
} level;

/* The last read of a variable by a thread, in C. */
typedef struct reader {
    uint32_t thread, last; /* position */
} reader;

typedef struct explorer {
    const mr_explore_question *question;
    const mr_survey *survey; /* NULL: the question has a goal */
    const mr_window *window;
    mr_partial partial;
    uint32_t *threads, thread_count;     /* that have events in C, or stop */
    uint32_t *variables, variable_count; /* that a thread of C reads */
    uint32_t *list_of;                   /* one a thread: its list of the goal + 1; 0: none */
    const uint32_t *may_stop;            /* one an event; 0: no */
    uint32_t *turn; /* as by_thread: position of the first event from there on at which the thread
                       does not pass on while it takes locks */
    reader *readers;
    uint32_t *readers_first;       /* one a variable, and the end */
    uint32_t *open_section;        /* one a lock: that of its owner, when it has one */
    uint32_t *events, event_count; /* that have run */
    mr_partial_memory *before;     /* of the writes among them: what there was before */
    uint32_t write_count;
    uint32_t *key, width; /* scratch: a state, and its words */

    uint32_t *states; /* owned */
    size_t states_capacity;
    uint32_t state_count;
    mr_table table; /* owned */
    level *levels;  /* owned */
    size_t level_count, level_capacity;
    size_t most_levels, least_levels; /* so far, and since then */
    uint32_t *choices;                /* owned; threads */
    size_t choice_count, choice_capacity;
    uint64_t effort, max_effort, max_states;
} explorer;

/* ---- states ---- */

static uint32_t hash_words(const uint32_t *words, uint32_t width)
{
    uint64_t hash = mr_table_seed();
    for (uint32_t i = 0; i < width; i++)
        hash = mr_table_fold(hash ^ words[i], UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same_state(const void *items, uint32_t number, const void *key)
{
    const explorer *x = items;
    (void)key;
    return memcmp(x->states + (size_t)number * x->width, x->key, x->width * sizeof *x->key) == 0;
}

static uint32_t hash_state(const void *items, uint32_t number)
{
    const explorer *x = items;
    return hash_words(x->states + (size_t)number * x->width, x->width);
}

/* Is there a read of the variable to come, in C? */
static bool is_read_later(const explorer *x, uint32_t variable)
{
    for (uint32_t i = x->readers_first[variable]; i < x->readers_first[variable + 1]; i++)
        if (x->readers[i].last >= x->partial.next[x->readers[i].thread])
            return true;
    return false;
}

static void make_key(explorer *x)
{
    const mr_window *w = x->window;
    for (uint32_t i = 0; i < x->thread_count; i++)
        x->key[i] = x->partial.next[x->threads[i]];
    for (uint32_t i = 0; i < x->variable_count; i++) {
        uint32_t v = x->variables[i];
        const mr_partial_memory *now = &x->partial.memory[v];
        uint32_t seen = w->variables[v].by_source ? now->write + 1 : now->value;
        x->key[x->thread_count + i] = is_read_later(x, v) ? seen : 0;
    }
    x->effort += x->width;
}

/* Notes the state. `*fresh`: it was not there before. False: no memory. */
static bool note_state(explorer *x, bool *fresh)
{
    void *states = x->states;
    make_key(x);
    if (!mr_table_reserve(&x->table, x->state_count + 1, hash_state, x, x->state_count))
        return false;
    uint32_t *slot = mr_table_slot(&x->table, hash_words(x->key, x->width), same_state, x, NULL);
    *fresh = !*slot;
    if (*slot)
        return true;
    if (!mr_grow(&states, &x->states_capacity, ((size_t)x->state_count + 1) * x->width,
                 sizeof *x->states))
        return false;
    x->states = states;
    memcpy(x->states + (size_t)x->state_count * x->width, x->key, x->width * sizeof *x->key);
    *slot = ++x->state_count;
    return true;
}

/* ---- running ---- */

/* The section that the event enters for itself and against others; NULL: there is none. */
static const mr_section *entered_section(const mr_window *w, uint32_t event)
{
    const mr_section *section = mr_window_section(w, event);
    return section && section->acquire == event && w->locks[section->lock].contended ? section
                                                                                     : NULL;
}

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

/* Once it is possible, may the event be run before anything else? */
static bool takes_nothing(const explorer *x, uint32_t event)
{
    const mr_window *w = x->window;
    uint32_t object = w->object[event];
    if (x->may_stop[event])
        return false;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        return true;
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return !w->variables[object].shared || !is_read_later(x, object);
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        return !entered_section(w, event);
    case MR_OP_WAIT:
    case MR_OP_FREE:
        break;
    }
    return false;
}

/* Runs whatever takes nothing from anybody. */
static void run_ahead(explorer *x)
{
    const mr_window *w = x->window;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < x->thread_count; i++) {
            uint32_t t = x->threads[i];
            while (x->partial.next[t] < x->question->cone[t]) {
                uint32_t event = mr_window_at(w, t, x->partial.next[t]);
                if (!takes_nothing(x, event) || !run_if_possible(x, event))
                    break;
                moved = true;
            }
        }
    }
}

/* Runs the acquires of the thread up to its turn. */
static bool take_locks(explorer *x, uint32_t thread)
{
    const mr_window *w = x->window;
    uint32_t turn = x->turn[w->threads[thread].first + x->partial.next[thread]];
    while (x->partial.next[thread] < turn)
        if (!run_if_possible(x, mr_window_at(w, thread, x->partial.next[thread])))
            return false;
    return true;
}

static uint32_t turn_of(const explorer *x, uint32_t thread)
{
    uint32_t next = x->partial.next[thread];
    return next < mr_window_length(x->window, thread)
               ? x->turn[x->window->threads[thread].first + next]
               : next;
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

/* Can the thread stop before the event, as rules 3, 5 and 7 go? */
static bool may_be_next(const explorer *x, uint32_t event)
{
    uint32_t end = mr_window_end_of_life(x->window, event);
    return mr_partial_edges_hold(&x->partial, event) &&
           (end == MR_NONE || !mr_partial_happened(&x->partial, end));
}

/* Tells of a race of the next turns of two threads, if there is one. False: the search is to end. */
static bool tell_race(explorer *x, uint32_t a, uint32_t b)
{
    const mr_window *w = x->window;
    const mr_survey *survey = x->survey;
    uint32_t start = x->event_count;
    bool goes_on = true;
    if (!survey->wanted(survey->context, a, b))
        return true;
    if (take_locks(x, w->thread[a]) && take_locks(x, w->thread[b]) && may_be_next(x, a) &&
        may_be_next(x, b))
        goes_on = survey->found(survey->context, a, b, x->events, x->event_count);
    go_back(x, start);
    return goes_on;
}

/* The event of the thread's turn, if it may stop there; MR_NONE: it may not. */
static uint32_t stop_of(const explorer *x, uint32_t thread)
{
    uint32_t turn = turn_of(x, thread);
    uint32_t event = turn < mr_window_length(x->window, thread)
                         ? mr_window_at(x->window, thread, turn)
                         : MR_NONE;
    return event != MR_NONE && x->may_stop[event] ? event : MR_NONE;
}

/* Tells of the races of the state. False: the search is to end. */
static bool tell_races(explorer *x)
{
    for (uint32_t i = 0; i < x->thread_count; i++) {
        uint32_t a = stop_of(x, x->threads[i]);
        for (uint32_t k = i + 1; k < x->thread_count && a != MR_NONE; k++) {
            uint32_t b = stop_of(x, x->threads[k]);
            if (b != MR_NONE && !tell_race(x, a, b))
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
    for (uint32_t i = 0; i < x->thread_count; i++) {
        uint32_t t = x->threads[i];
        for (uint32_t p = x->partial.next[t]; p < x->question->required[t]; p++) {
            uint32_t event = mr_window_at(w, t, p);
            const mr_section *section = entered_section(w, event);
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
    if (!mr_grow(&choices, &x->choice_capacity, x->choice_count + x->thread_count,
                 sizeof *x->choices))
        return false;
    x->choices = choices;
    for (uint32_t i = 0; i < x->thread_count; i++) {
        uint32_t t = x->threads[i], turn = turn_of(x, t);
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
    if (x->survey ? !tell_races(x) : reach_goal(x))
        return VISITED_GOAL;
    return push(x) ? VISITED_NEW : VISITED_NO_MEMORY;
}

/* Will a survey not end? */
static bool is_vain(explorer *x)
{
    if (x->level_count > x->most_levels)
        x->most_levels = x->least_levels = x->level_count;
    if (x->level_count < x->least_levels)
        x->least_levels = x->level_count;
    return x->survey && x->effort > x->max_effort / SOON &&
           x->most_levels - x->least_levels < x->most_levels / FEW_LEVELS;
}

static mr_explored run(explorer *x, mr_arena *arena)
{
    visited here = visit(x);
    while (here != VISITED_GOAL && x->level_count) {
        if (here == VISITED_NO_MEMORY)
            return MR_EXPLORED_NO_MEMORY;
        if (x->effort > x->max_effort || x->state_count >= x->max_states || is_vain(x))
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
    x->may_stop = x->survey ? x->survey->stops : may_stop;
    for (uint32_t i = 0; i < goal->stop_count; i++) {
        x->list_of[x->window->thread[goal->stops[i].events[0]]] = i + 1;
        for (uint32_t k = 0; k < goal->stops[i].count; k++)
            may_stop[goal->stops[i].events[k]] = 1;
    }
    return true;
}

/* Does the thread pass the event while it takes locks? Not one that others wait for: an edge of a BarrierPair leads
 * from it, or it is the last one of a thread, which may be joined. Nor an access that comes too late after a free. */
static bool is_on_the_way(const explorer *x, uint32_t event, const bool *awaited)
{
    const mr_window *w = x->window;
    if (x->may_stop[event] || awaited[event] ||
        w->position[event] + 1 == mr_window_length(w, w->thread[event]))
        return false;
    return entered_section(w, event) ||
           (mr_op_is_access(mr_window_op(w, event)) && !w->variables[w->object[event]].shared &&
            mr_window_end_of_life(w, event) == MR_NONE);
}

static bool find_turns(explorer *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    x->turn = mr_arena_alloc(arena, w->size, sizeof *x->turn);
    x->threads = mr_arena_alloc(arena, w->thread_count, sizeof *x->threads);
    bool *awaited = mr_arena_zalloc(arena, w->size, sizeof *awaited);
    if (!x->turn || !x->threads || !awaited)
        return false;
    for (size_t k = 0; k < w->barrier_edge_count; k++)
        awaited[w->barrier_edges[k].from] = true;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t turn = mr_window_length(w, t);
        for (uint32_t p = turn; p-- > 0;) {
            turn = is_on_the_way(x, mr_window_at(w, t, p), awaited) ? turn : p;
            x->turn[w->threads[t].first + p] = turn;
        }
        if (x->question->cone[t] || x->list_of[t])
            x->threads[x->thread_count++] = t;
    }
    return true;
}

static int by_variable(const void *one, const void *two)
{
    const uint32_t *x = one, *y = two;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    if (x[1] != y[1])
        return x[1] < y[1] ? -1 : 1;
    return (x[2] > y[2]) - (x[2] < y[2]);
}

/* The reads of C as {variable, thread, position}, in memory of `arena`. */
static uint32_t list_reads(const explorer *x, uint32_t (*reads)[3])
{
    const mr_window *w = x->window;
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->thread_count; i++) {
        uint32_t t = x->threads[i];
        for (uint32_t p = 0; p < x->question->cone[t]; p++) {
            uint32_t event = mr_window_at(w, t, p);
            if (!mr_op_reads(mr_window_op(w, event)) || !w->variables[w->object[event]].shared)
                continue;
            if (reads) {
                reads[count][0] = w->object[event];
                reads[count][1] = t;
                reads[count][2] = p;
            }
            count++;
        }
    }
    return count;
}

static bool find_readers(explorer *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t count = list_reads(x, NULL), filled = 0;
    uint32_t(*reads)[3] = mr_arena_alloc(arena, count, sizeof *reads);
    x->readers = mr_arena_alloc(arena, count, sizeof *x->readers);
    x->readers_first =
        mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *x->readers_first);
    x->variables = mr_arena_alloc(arena, w->variable_count, sizeof *x->variables);
    if (!reads || !x->readers || !x->readers_first || !x->variables)
        return false;
    list_reads(x, reads);
    qsort(reads, count, sizeof *reads, by_variable);
    for (uint32_t v = 0, i = 0; v < w->variable_count; v++) {
        x->readers_first[v] = filled;
        for (; i < count && reads[i][0] == v; i++)
            if (i + 1 == count || reads[i + 1][0] != v || reads[i + 1][1] != reads[i][1])
                x->readers[filled++] = (reader){reads[i][1], reads[i][2]};
        if (filled > x->readers_first[v])
            x->variables[x->variable_count++] = v;
    }
    x->readers_first[w->variable_count] = filled;
    return true;
}

static bool prepare(explorer *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    uint32_t most = 0;
    if (!mr_partial_init(&x->partial, w, arena) || !note_stops(x, arena) || !find_turns(x, arena) ||
        !find_readers(x, arena))
        return false;
    for (uint32_t i = 0; i < x->thread_count; i++)
        most += mr_window_length(w, x->threads[i]);
    x->width = x->thread_count + x->variable_count;
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

/* The search from its start to its end; `x` keeps what it has found, in memory of `arena`. */
static mr_explored search(explorer *x, const mr_explore_limits *limits, uint64_t *spent,
                          const mr_debug *debug, mr_arena *arena)
{
    static const char *const results[] = {[MR_EXPLORED_FOUND] = "found",
                                          [MR_EXPLORED_ALL] = "all",
                                          [MR_EXPLORED_OUT_OF_EFFORT] = "out-of-effort",
                                          [MR_EXPLORED_NO_MEMORY] = "no-memory"};
    mr_explored result = MR_EXPLORED_NO_MEMORY;
    x->window = x->survey ? x->survey->window : x->question->window;
    x->max_effort = limits->effort;
    if (prepare(x, arena)) {
        x->max_states = limits->memory_bytes ? limits->memory_bytes / (UINT64_C(8) * (x->width + 4))
                                             : INT32_MAX;
        if (x->max_states > INT32_MAX / 2)
            x->max_states = INT32_MAX / 2;
        result = run(x, arena);
    }
    MR_DEBUG(debug, SEARCH,
             "step=explore result=%s states=%" PRIu32 " effort=%" PRIu64 " words=%" PRIu32
             " window=%d",
             results[result], x->state_count, x->effort, x->width, x->survey != NULL);
    *spent += x->effort;
    free(x->states);
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

mr_explored mr_explore_window(const mr_survey *survey, const mr_explore_limits *limits,
                              uint64_t *spent, const mr_debug *debug, mr_arena *arena)
{
    const mr_window *w = survey->window;
    const mr_goal nothing = {0};
    uint32_t *none = mr_arena_zalloc(arena, w->thread_count, sizeof *none);
    uint32_t *all = mr_arena_alloc(arena, w->thread_count, sizeof *all);
    MR_REQUIRE(w->model != MR_MODEL_BRANCH);
    if (!none || !all)
        return MR_EXPLORED_NO_MEMORY;
    for (uint32_t t = 0; t < w->thread_count; t++)
        all[t] = mr_window_length(w, t);
    const mr_explore_question question = {
        .window = w, .goal = &nothing, .required = none, .cone = all};
    explorer x = {.question = &question, .survey = survey};
    return search(&x, limits, spent, debug, arena);
}
