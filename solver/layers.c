#include "layers.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/table.h"
#include "moves.h"
#include "pace.h"
#include "packed.h"
#include "partial.h"
#include "prospect.h"
#include "windows/lock_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* States between two looks whether the run was asked to end. */
enum { STATES_A_LOOK = 1024 };

/* A state that has not been looked at, in the list of its layer. */
typedef struct node {
    uint32_t next;   /* MR_NONE: the end of the list */
    uint32_t parent; /* the number of the state that led to it; 0: it is the first */
    uint32_t thread; /* whose turn led to it */
    uint64_t hash;   /* of its key */
} node;

/* How a state that was looked at was reached. */
typedef struct step {
    uint32_t parent, thread;
} step;

typedef struct search {
    const mr_survey *survey;
    const mr_window *window;
    mr_turns turns;
    mr_lock_rows locks;
    mr_moves moves;
    mr_prospect *prospect; /* NULL: none */
    /* A state is `width` numbers: how far each thread has come; what reads of turns.variables would see
     * (mr_partial_sees); the units of semaphores. */
    mr_packed packed;                                   /* its current state goes on */
    uint32_t *number_of_variable, *number_of_semaphore; /* one each; MR_NONE: it has none */
    uint32_t *start, *at; /* the first one; the one to which that which goes on leads */
    mr_partial view;      /* of `at`: only `window` and `next` */
    uint32_t *stop_until; /* one an event: a thread may stop there in states up to this number */
    uint32_t now;         /* the number of the state that goes on */
    uint32_t *events, event_count; /* a race; `records`: what runs is added */
    bool records;

    node *nodes; /* owned */
    size_t node_capacity;
    uint64_t *keys; /* owned; packed.words a node */
    size_t key_capacity;
    uint32_t node_count, free_node; /* list of those that are not in use */
    uint32_t *layers, layer_count;  /* one a number of events: first node; MR_NONE: none */
    uint32_t *slots;                /* owned; a table of the nodes of a layer */
    size_t slot_capacity;
    step *steps; /* owned; by number; 0: unused */
    size_t step_capacity;
    uint32_t state_count;
    uint32_t looks, dead_ends; /* states whose prospect was looked at; of these those without one */
    uint64_t effort, max_effort, max_bytes;
    mr_pace pace;
} search;

/* ---- running ---- */

static bool may_stop(const search *x, uint32_t event)
{
    return x->stop_until[event] > x->now;
}

/* Would a read see now what it has to see? */
static bool is_consistent(const search *x, uint32_t read)
{
    const mr_window *w = x->window;
    uint32_t variable = w->object[read];
    return !w->variables[variable].shared ||
           mr_partial_is_right(w, read, x->at[x->number_of_variable[variable]]);
}

/* As mr_partial_allows in models rf and value, from what `at` has. */
static bool allows(const search *x, uint32_t event)
{
    const mr_window *w = x->window;
    uint8_t op = mr_window_op(w, event);
    if (!mr_partial_order_allows(&x->view, event))
        return false;
    if (mr_op_reads(op))
        return is_consistent(x, event);
    if (mr_op_acquires(op)) {
        const mr_section *section = mr_window_section(w, event);
        return !section || mr_lock_rows_allow(&x->locks, section, x->at);
    }
    return !mr_op_takes(op) || x->at[x->number_of_semaphore[w->object[event]]] > 0;
}

static bool run_if_possible(search *x, uint32_t event)
{
    const mr_window *w = x->window;
    uint8_t op = mr_window_op(w, event);
    x->effort++;
    if (!allows(x, event))
        return false;
    if (mr_op_writes(op)) {
        uint32_t v = w->object[event], number = x->number_of_variable[v];
        if (number != MR_NONE)
            x->at[number] =
                w->variables[v].by_source ? event + 1 : mr_window_written_value(w, event);
    } else if (MR_OP_DOES(op, MR_GIVES | MR_TAKES)) {
        x->at[x->number_of_semaphore[w->object[event]]] += mr_op_gives(op) ? 1 : UINT32_MAX;
    }
    x->at[w->thread[event]]++;
    if (x->records)
        x->events[x->event_count++] = event;
    return true;
}

/* Runs a passing section (moves.h), if all of it is possible and its thread may not stop in it. */
static bool pass_section(search *x, const mr_move *enter)
{
    const mr_window *w = x->window;
    uint32_t thread = w->thread[enter->event], begin = x->at[thread];
    const mr_move *end = enter + (enter->close - begin);
    for (const mr_move *move = enter; move < end; move++) {
        x->effort++;
        if (may_stop(x, move->event) || !mr_move_sees(move, x->at) ||
            (move->kind == MR_MOVE_ENTER &&
             !mr_lock_rows_allow(&x->locks, mr_window_section(w, move->event), x->at)))
            return false;
    }
    x->at[thread] = enter->close;
    for (const mr_move *move = enter; move < end && x->records; move++)
        x->events[x->event_count++] = move->event;
    return true;
}

/* Runs the event if that takes nothing from anybody and it is possible. */
static bool run_if_takes_nothing(search *x, const mr_move *move)
{
    const mr_window *w = x->window;
    switch ((mr_move_kind)move->kind) {
    case MR_MOVE_END:
        return false;
    case MR_MOVE_ENTER:
        return move->close && pass_section(x, move);
    case MR_MOVE_FREE:
        break;
    case MR_MOVE_READ:
        if (!mr_move_sees(move, x->at))
            return false;
        break;
    case MR_MOVE_WRITE:
    case MR_MOVE_UPDATE:
    case MR_MOVE_OTHER:
        return mr_turns_takes_nothing(&x->turns, move->event, x->at) &&
               run_if_possible(x, move->event);
    }
    x->effort++;
    x->at[w->thread[move->event]]++;
    if (x->records)
        x->events[x->event_count++] = move->event;
    return true;
}

/* Runs whatever takes nothing from anybody. */
static void run_ahead(search *x)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < x->turns.thread_count; i++) {
            uint32_t t = x->turns.threads[i];
            const mr_move *move = mr_moves_at(&x->moves, t, x->at[t]);
            for (; move->kind > MR_MOVE_END && !may_stop(x, move->event) &&
                   run_if_takes_nothing(x, move);
                 move = mr_moves_at(&x->moves, t, x->at[t]))
                moved = true;
        }
    }
}

/* Runs the events of the thread before this position. False: one of them is not possible; some may have been run. */
static bool run_to(search *x, uint32_t thread, uint32_t end)
{
    while (x->at[thread] < end)
        if (!run_if_possible(x, mr_window_at(x->window, thread, x->at[thread])))
            return false;
    return true;
}

/* A plain turn of the thread, up to the event of this position. False: it is not possible. */
static bool take_plain_turn(search *x, uint32_t thread, uint32_t turn)
{
    const mr_move *last = mr_moves_at(&x->moves, thread, turn);
    x->effort++;
    if (!mr_move_sees(last, x->at) ||
        !mr_lock_rows_fit(&x->locks, thread, turn + (last->kind == MR_MOVE_ENTER), x->at))
        return false;
    if (last->puts)
        x->at[last->number] = last->put;
    x->at[thread] = turn + 1;
    return true;
}

/* What the thread does next. False: it cannot. */
static bool take_turn(search *x, uint32_t thread)
{
    const mr_move *first = mr_moves_at(&x->moves, thread, x->at[thread]);
    if (first->plain && !x->records)
        return take_plain_turn(x, thread, first->turn);
    return first->turn < mr_window_length(x->window, thread) && run_to(x, thread, first->turn + 1);
}

/* `at` becomes this state. */
static void stand_at(search *x, const uint32_t *state)
{
    memcpy(x->at, state, x->packed.width * sizeof *x->at);
}

/* ---- layers ---- */

static uint64_t *key_of(const search *x, uint32_t number)
{
    return &x->keys[(size_t)number * x->packed.words];
}

/* As a node that is searched for; the key is its number. */
static bool same_state(const void *items, uint32_t number, const void *key)
{
    const search *x = items;
    uint32_t other = *(const uint32_t *)key;
    return x->nodes[number].hash == x->nodes[other].hash &&
           memcmp(key_of(x, number), key_of(x, other), x->packed.words * sizeof *x->keys) == 0;
}

/* A node that is in no list; MR_NONE: no memory. */
static uint32_t new_node(search *x)
{
    void *nodes = x->nodes, *keys = x->keys;
    uint32_t number = x->free_node;
    if (number != MR_NONE) {
        x->free_node = x->nodes[number].next;
        return number;
    }
    if (!mr_grow(&nodes, &x->node_capacity, (size_t)x->node_count + 1, sizeof *x->nodes))
        return MR_NONE;
    x->nodes = nodes;
    if (!mr_grow(&keys, &x->key_capacity, ((size_t)x->node_count + 1) * x->packed.words,
                 sizeof *x->keys))
        return MR_NONE;
    x->keys = keys;
    return x->node_count++;
}

/* Puts `at` into its layer. False: no memory. */
static bool note_state(search *x, uint32_t parent, uint32_t thread)
{
    uint32_t number = new_node(x), layer = 0;
    if (number == MR_NONE)
        return false;
    for (uint32_t t = 0; t < x->window->thread_count; t++)
        layer += x->at[t];
    uint64_t hash =
        mr_packed_pack(&x->packed, x->at, mr_turns_read_later(&x->turns, x->at), key_of(x, number));
    x->effort += x->packed.words;
    x->nodes[number] =
        (node){.next = x->layers[layer], .parent = parent, .thread = thread, .hash = hash};
    x->layers[layer] = number;
    return true;
}

/* Drops the states of the layer that stand in it before. False: no memory. */
static bool drop_equal(search *x, uint32_t layer)
{
    void *slots = x->slots;
    mr_table table = {.slot_count = 1};
    size_t count = 0;
    for (uint32_t n = x->layers[layer]; n != MR_NONE; n = x->nodes[n].next)
        count++;
    while (table.slot_count < 2 * count)
        table.slot_count *= 2;
    if (!mr_grow(&slots, &x->slot_capacity, table.slot_count, sizeof *x->slots))
        return false;
    table.slots = x->slots = slots;
    memset(table.slots, 0, table.slot_count * sizeof *table.slots);
    for (uint32_t *link = &x->layers[layer]; *link != MR_NONE;) {
        uint32_t n = *link;
        uint32_t *slot = mr_table_slot(&table, (uint32_t)x->nodes[n].hash, same_state, x, &n);
        if (!*slot) {
            *slot = n + 1;
            link = &x->nodes[n].next;
            continue;
        }
        *link = x->nodes[n].next;
        x->nodes[n].next = x->free_node;
        x->free_node = n;
    }
    return true;
}

/* ---- races ---- */

/* Runs the events that led to a state, from the start. */
static bool run_again(search *x, uint32_t number, mr_arena *arena)
{
    uint32_t length = 0, now = x->now;
    for (uint32_t n = number; x->steps[n].parent; n = x->steps[n].parent)
        length++;
    uint32_t *path = mr_arena_alloc(arena, length, sizeof *path);
    if (!path)
        return false;
    for (uint32_t n = number, i = length; x->steps[n].parent; n = x->steps[n].parent)
        path[--i] = n;
    stand_at(x, x->start);
    x->event_count = 0;
    x->now = 0;
    run_ahead(x);
    for (uint32_t i = 0; i < length; i++) {
        x->now = x->steps[path[i]].parent;
        bool possible = take_turn(x, x->steps[path[i]].thread);
        MR_ASSERT(possible);
        run_ahead(x);
    }
    x->now = now;
    return true;
}

/* Notes at which events threads may stop no more. */
static void note_dropped_stops(search *x)
{
    for (uint32_t e = 0; e < x->window->size; e++)
        if (!x->survey->stops[e] && x->stop_until[e] > x->now)
            x->stop_until[e] = x->now;
}

typedef enum told {
    TOLD_GOES_ON,
    TOLD_ENDS,
    TOLD_NO_MEMORY,
} told;

/* Tells of a race in the state that goes on, at the turns of two threads. */
static told tell_race(search *x, uint32_t a, uint32_t b, mr_arena *arena)
{
    const mr_survey *survey = x->survey;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    x->records = true;
    bool is_again = run_again(x, x->now, arena);
    bool possible = is_again && run_to(x, x->window->thread[a], x->window->position[a]) &&
                    run_to(x, x->window->thread[b], x->window->position[b]);
    x->records = false;
    stand_at(x, x->packed.state);
    if (!is_again)
        return TOLD_NO_MEMORY;
    MR_ASSERT(possible);
    mr_pace_find(&x->pace);
    bool goes_on = survey->found(survey->context, a, b, x->events, x->event_count);
    mr_arena_release(arena, mark);
    note_dropped_stops(x);
    return goes_on ? TOLD_GOES_ON : TOLD_ENDS;
}

/* The thread of the event, whose turn it is, takes its locks. False: it cannot; it may have come to some of them. */
static bool stand_before(search *x, uint32_t event)
{
    uint32_t thread = x->window->thread[event], position = x->window->position[event];
    if (!mr_moves_at(&x->moves, thread, x->at[thread])->plain)
        return run_to(x, thread, position);
    x->effort++;
    if (!mr_lock_rows_fit(&x->locks, thread, position, x->at))
        return false;
    x->at[thread] = position;
    return true;
}

/* Can the threads stop at both, after they have taken their locks? That changes only how far these two have come. */
static bool is_race(search *x, uint32_t a, uint32_t b)
{
    const mr_window *w = x->window;
    uint32_t *one = &x->at[w->thread[a]], *other = &x->at[w->thread[b]];
    uint32_t from_one = *one, from_other = *other;
    bool both = stand_before(x, a) && stand_before(x, b) && mr_partial_may_stop(&x->view, a) &&
                mr_partial_may_stop(&x->view, b);
    *one = from_one;
    *other = from_other;
    return both;
}

/* The event of the thread's turn, if it may stop there; MR_NONE: it may not. */
static uint32_t stop_of(const search *x, uint32_t thread)
{
    uint32_t turn = mr_moves_at(&x->moves, thread, x->at[thread])->turn;
    uint32_t event = mr_moves_at(&x->moves, thread, turn)->event;
    return event != MR_NONE && may_stop(x, event) ? event : MR_NONE;
}

static told tell_races(search *x, mr_arena *arena)
{
    const mr_survey *survey = x->survey;
    for (uint32_t i = 0; i < x->turns.thread_count; i++) {
        uint32_t a = stop_of(x, x->turns.threads[i]);
        for (uint32_t k = i + 1; k < x->turns.thread_count && a != MR_NONE; k++) {
            uint32_t b = stop_of(x, x->turns.threads[k]);
            if (b == MR_NONE || !survey->wanted(survey->context, a, b) || !is_race(x, a, b))
                continue;
            told result = tell_race(x, a, b, arena);
            if (result != TOLD_GOES_ON)
                return result;
        }
    }
    return TOLD_GOES_ON;
}

/* ---- the search ---- */

/* Is no race that is wanted to come after the state? Where that is rare few states are looked at. */
static bool is_dead_end(search *x)
{
    enum { ENOUGH = 1024, RARE = 4, SELDOM = 64 };
    bool is_rare = ENOUGH + (uint64_t)x->dead_ends * RARE < x->looks;
    if (!x->prospect || (is_rare && x->now % SELDOM))
        return false;
    bool is_one = !mr_prospect_is_there(x->prospect, x->packed.state, &x->effort);
    x->looks++;
    x->dead_ends += is_one;
    return is_one;
}

/* Looks at the state of a node, which is in no list afterwards, and puts those that it leads to into their layers. */
static told go_on(search *x, uint32_t number, mr_arena *arena)
{
    void *steps = x->steps;
    if (!mr_grow(&steps, &x->step_capacity, (size_t)x->state_count + 2, sizeof *x->steps))
        return TOLD_NO_MEMORY;
    x->steps = steps;
    x->now = ++x->state_count;
    x->steps[x->now] = (step){x->nodes[number].parent, x->nodes[number].thread};
    mr_packed_go_to(&x->packed, key_of(x, number), x->nodes[number].hash);
    x->nodes[number].next = x->free_node;
    x->free_node = number;
    if (is_dead_end(x))
        return TOLD_GOES_ON;
    stand_at(x, x->packed.state);
    mr_packed_keep(&x->packed, mr_turns_read_later(&x->turns, x->at));
    told result = tell_races(x, arena);
    for (uint32_t i = 0; i < x->turns.thread_count && result == TOLD_GOES_ON; i++) {
        stand_at(x, x->packed.state);
        if (!take_turn(x, x->turns.threads[i]))
            continue;
        run_ahead(x);
        if (!note_state(x, x->now, x->turns.threads[i]))
            result = TOLD_NO_MEMORY;
    }
    return result;
}

/* Is there no effort or room to go on? */
static bool is_over(const search *x)
{
    uint64_t bytes = x->step_capacity * sizeof *x->steps + x->slot_capacity * sizeof *x->slots +
                     x->node_capacity * sizeof *x->nodes + x->key_capacity * sizeof *x->keys;
    return x->effort > x->max_effort || (x->max_bytes && bytes > x->max_bytes) ||
           x->state_count >= UINT32_MAX / 2;
}

static mr_explored search_layer(search *x, uint32_t layer, mr_arena *arena)
{
    if (!drop_equal(x, layer))
        return MR_EXPLORED_NO_MEMORY;
    for (uint32_t n = x->layers[layer], next; n != MR_NONE; n = next) {
        next = x->nodes[n].next;
        told result = go_on(x, n, arena);
        if (result != TOLD_GOES_ON)
            return result == TOLD_ENDS ? MR_EXPLORED_FOUND : MR_EXPLORED_NO_MEMORY;
        if (is_over(x))
            return MR_EXPLORED_OUT_OF_EFFORT;
        if (x->state_count % STATES_A_LOOK == 0 && mr_arena_is_halted(arena))
            return MR_EXPLORED_NO_MEMORY;
    }
    return MR_EXPLORED_ALL;
}

static mr_explored run(search *x, mr_arena *arena)
{
    x->pace = mr_pace_begin(x->layer_count, x->max_effort);
    stand_at(x, x->start);
    run_ahead(x);
    if (!note_state(x, 0, 0))
        return MR_EXPLORED_NO_MEMORY;
    for (uint32_t layer = 0; layer < x->layer_count; layer++) {
        mr_explored result = search_layer(x, layer, arena);
        if (result != MR_EXPLORED_ALL)
            return result;
        if (mr_pace_is_vain(&x->pace, layer + 1, x->effort))
            return MR_EXPLORED_OUT_OF_EFFORT;
    }
    return MR_EXPLORED_ALL;
}

/* ---- the start ---- */

/* The greatest number that stands for what a read of the variable sees. */
static uint32_t most_seen(const mr_window *w, const mr_window_variable *variable)
{
    uint32_t most = variable->carried_value;
    if (variable->by_source)
        return w->size;
    for (uint32_t i = variable->writes_first; i < variable->writes_end; i++) {
        uint32_t value = mr_window_written_value(w, w->writes[i]);
        most = value > most ? value : most;
    }
    return most;
}

/* False: no memory. */
static bool add_numbers(search *x, mr_arena *arena)
{
    const mr_window *w = x->window;
    mr_packed *packed = &x->packed;
    for (uint32_t t = 0; t < w->thread_count; t++)
        mr_packed_add(packed, mr_window_length(w, t));
    for (uint32_t i = 0; i < x->turns.variable_count; i++) {
        const mr_window_variable *variable = &w->variables[x->turns.variables[i]];
        x->number_of_variable[x->turns.variables[i]] = packed->width;
        x->start[packed->width] = variable->by_source ? 0 : variable->carried_value;
        mr_packed_add(packed, most_seen(w, variable));
    }
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_semaphore *s = &w->semaphores[l];
        uint32_t posts = s->posts_end - s->posts_first;
        if (!posts && s->waits_first == s->waits_end)
            continue;
        x->number_of_semaphore[l] = packed->width;
        x->start[packed->width] = s->units;
        mr_packed_add(packed, s->units + posts);
    }
    return mr_packed_begin(packed, w->thread_count, x->turns.variable_count, arena);
}

/* False: no memory, or with `*refused` too many locks. */
static bool prepare(search *x, mr_arena *arena, bool *refused)
{
    const mr_window *w = x->window;
    uint32_t *all = mr_arena_alloc(arena, w->thread_count, sizeof *all);
    uint32_t most = w->thread_count + w->variable_count + w->lock_count;
    x->start = mr_packed_new_state(most, arena);
    x->at = mr_packed_new_state(most, arena);
    x->number_of_variable = mr_arena_alloc(arena, w->variable_count, sizeof *all);
    x->number_of_semaphore = mr_arena_alloc(arena, w->lock_count, sizeof *all);
    x->stop_until = mr_arena_alloc(arena, w->size, sizeof *x->stop_until);
    x->events = mr_arena_alloc(arena, w->size, sizeof *x->events);
    x->layer_count = w->size + 1;
    x->layers = mr_arena_alloc(arena, x->layer_count, sizeof *x->layers);
    if (!all || !mr_packed_init(&x->packed, most, arena) || !x->start || !x->at ||
        !x->number_of_variable || !x->number_of_semaphore || !x->stop_until || !x->events ||
        !x->layers)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++)
        all[t] = mr_window_length(w, t);
    if (!mr_lock_rows_init(&x->locks, w, arena, refused) ||
        !mr_turns_init(&x->turns, w, all, NULL, x->survey->stops, arena))
        return false;
    memset(x->number_of_variable, 0xff, w->variable_count * sizeof *all);
    memset(x->number_of_semaphore, 0xff, w->lock_count * sizeof *all);
    memset(x->layers, 0xff, x->layer_count * sizeof *x->layers);
    for (uint32_t e = 0; e < w->size; e++)
        x->stop_until[e] = x->survey->stops[e] ? UINT32_MAX : 0;
    if (!add_numbers(x, arena) ||
        !mr_moves_init(&x->moves, &x->turns, x->number_of_variable, arena) ||
        !mr_prospect_init(&x->prospect, x->survey, &x->turns, &x->moves, &x->locks, arena))
        return false;
    x->view = (mr_partial){.window = w, .next = x->at};
    return true;
}

mr_explored mr_layers_search(const mr_survey *survey, const mr_explore_limits *limits,
                             uint64_t *spent, const mr_debug *debug, mr_arena *arena)
{
    search x = {.survey = survey,
                .window = survey->window,
                .free_node = MR_NONE,
                .max_effort = limits->effort,
                .max_bytes = limits->memory_bytes};
    MR_REQUIRE(x.window->model != MR_MODEL_BRANCH);
    bool refused = false;
    mr_explored result = prepare(&x, arena, &refused) ? run(&x, arena)
                         : refused                    ? MR_EXPLORED_OUT_OF_EFFORT
                                                      : MR_EXPLORED_NO_MEMORY;
    MR_DEBUG(debug, SEARCH,
             "survey result=%s states=%" PRIu32 " dead-ends=%" PRIu32 " effort=%" PRIu64
             " numbers=%" PRIu32 " words=%" PRIu32 " most=%" PRIu32,
             mr_explored_name(result), x.state_count, x.dead_ends, x.effort, x.packed.width,
             x.packed.words, x.node_count);
    *spent += x.effort;
    free(x.nodes);
    free(x.keys);
    free(x.slots);
    free(x.steps);
    return result;
}
