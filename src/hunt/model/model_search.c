#include "model_search.h"

#include "model_store.h"

#include <stdlib.h>
#include <string.h>

enum {
    ON_WAY = 1,
    ENDING = 2, /* final, or a question is asked there, or one of these can be reached from it */
    LOOK_EVERY = 1024,
};

/* A state on the way, and what is left to try there: choices[next … end). */
typedef struct frame {
    uint32_t state;
    size_t first, next, end;
    bool is_full; /* every thread is tried */
} frame;

typedef struct move {
    uint32_t from, to;
    mr_seek_step step;
} move;

typedef struct searching {
    mr_seek *search;
    const mr_graph *graph;
    const mr_seek_limits *limits;
    mr_seen store;
    mr_state state;
    frame *frames;
    mr_seek_step *choices;
    move *moves; /* where threads can come back to where they were */
    size_t frame_count, frame_capacity, choice_count, choice_capacity, move_count, move_capacity;
    mr_map asked;  /* node and outcome */
    mr_map places; /* codes of races, as numbers */
    mr_map pairs;  /* of places */
    mr_map uses;   /* the same, of a free and an access */
    mr_rows finals;
} searching;

/* What the threads of a state can do. */
typedef struct options {
    mr_state_can can[MR_PMODEL_THREADS_MAX];
    uint32_t count[MR_PMODEL_THREADS_MAX];
    mr_seek_step steps[MR_PMODEL_THREADS_MAX][MR_PMODEL_THREADS_MAX];
    bool some_can, some_ask;
} options;

#define ROOM(owner, array, count, capacity, more)                                                  \
    mr_grow((void **)&(owner)->array, &(owner)->capacity, (owner)->count + (size_t)(more),         \
            sizeof *(owner)->array)

void mr_seek_free(mr_seek *search)
{
    free(search->steps);
    free(search->finals);
    free(search->final_nodes);
    free(search->questions);
    free(search->races);
    free(search->uses);
    *search = (mr_seek){.steps = NULL};
}

/* ---- what is found ---- */

/* The way to the state on top. */
static bool keep_way(searching *self, mr_seek_way *way)
{
    mr_seek *search = self->search;
    size_t count = self->frame_count - 1;
    if (!ROOM(search, steps, step_count, step_capacity, count + 1))
        return false;
    *way = (mr_seek_way){search->step_count, (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        search->steps[search->step_count++] = self->choices[self->frames[i].next - 1];
    return true;
}

/* The same nodes with other memory are the same behaviour. */
static bool keep_final(searching *self)
{
    mr_seek *search = self->search;
    const mr_state *state = &self->state;
    uint32_t words = state->thread_count + 1;
    if (!ROOM(search, final_nodes, final_node_count, final_node_capacity, words) ||
        !ROOM(search, finals, final_count, final_capacity, 1))
        return false;
    mr_seek_final final = {.nodes = search->final_node_count, .end = MR_SEEK_ENDED};
    uint32_t *nodes = search->final_nodes + final.nodes;
    for (uint32_t t = 0; t < state->thread_count; t++) {
        nodes[t] = mr_state_node(state, t);
        if (mr_state_lives(state, t) && !state->exited)
            final.end = MR_SEEK_DEADLOCK;
    }
    nodes[state->thread_count] = state->exited;
    bool is_new;
    self->finals.length = words;
    if (mr_rows_add(&self->finals, nodes, &is_new) == MR_PMODEL_NONE)
        return false;
    if (!is_new)
        return true;
    if (!keep_way(self, &final.way))
        return false;
    search->final_node_count += words;
    search->finals[search->final_count++] = final;
    return true;
}

/* The node, and what its thread would see there. */
static uint64_t question_key(const mr_state *state, uint32_t thread)
{
    const mr_graph *graph = state->graph;
    const mr_graph_node *node = &graph->nodes[mr_state_node(state, thread)];
    uint64_t key = node->model + UINT64_C(1);
    for (uint32_t i = 0; node->kind != MR_PMODEL_UNKNOWN && i < node->piece_count; i++)
        key = (key ^ state->content[graph->access_pieces[node->piece + i]]) *
              UINT64_C(0x9e3779b97f4a7c15);
    if (!mr_pmodel_is_access(node->kind))
        key += (uint64_t)mr_state_mode_of(state, thread) << 40;
    return key;
}

static bool keep_questions(searching *self, const options *its)
{
    mr_seek *search = self->search;
    for (uint32_t t = 0; t < self->state.thread_count; t++) {
        if (its->can[t] != MR_STATE_ASKS)
            continue;
        uint32_t *asked = mr_map_at(&self->asked, question_key(&self->state, t), 0);
        if (!asked || !ROOM(search, questions, question_count, question_capacity, 1))
            return false;
        if ((*asked)++)
            continue;
        mr_seek_question question = {
            .thread = t, .node = self->graph->nodes[mr_state_node(&self->state, t)].model};
        if (!keep_way(self, &question.way))
            return false;
        search->questions[search->question_count++] = question;
    }
    return true;
}

static uint32_t place_of_node(searching *self, uint32_t node)
{
    const mr_pmodel_op *op = &self->graph->model->nodes[self->graph->nodes[node].model].op;
    uint32_t *number = mr_map_at(&self->places, op->code, self->places.count);
    return number ? *number : MR_PMODEL_NONE;
}

static uint32_t place_number(searching *self, uint32_t thread)
{
    return place_of_node(self, mr_state_node(&self->state, thread));
}

static bool keep_race(searching *self, uint32_t first, uint32_t second)
{
    mr_seek *search = self->search;
    uint32_t a = place_number(self, first), b = place_number(self, second);
    if (a == MR_PMODEL_NONE || b == MR_PMODEL_NONE)
        return false;
    uint32_t *known = mr_map_at(&self->pairs, mr_map_key(a < b ? a : b, a < b ? b : a), 0);
    if (!known || !ROOM(search, races, race_count, race_capacity, 1))
        return false;
    if ((*known)++)
        return true;
    const mr_graph_node *nodes = self->graph->nodes;
    mr_seek_race race = {.first = first,
                         .second = second,
                         .first_node = nodes[mr_state_node(&self->state, first)].model,
                         .second_node = nodes[mr_state_node(&self->state, second)].model};
    if (!keep_way(self, &race.way))
        return false;
    search->races[search->race_count++] = race;
    return true;
}

static bool keep_races(searching *self)
{
    const mr_state *state = &self->state;
    for (uint32_t a = 0; a < state->thread_count && !state->exited; a++)
        for (uint32_t b = a + 1; b < state->thread_count && mr_state_lives(state, a); b++)
            if (mr_state_lives(state, b) && mr_state_races(state, a, b) && !keep_race(self, a, b))
                return false;
    return true;
}

static bool is_of_same(const mr_graph *graph, const mr_graph_node *a, const mr_graph_node *b)
{
    for (uint32_t i = 0; i < a->piece_count; i++)
        for (uint32_t k = 0; k < b->piece_count; k++)
            if (graph->access_pieces[a->piece + i] == graph->access_pieces[b->piece + k])
                return true;
    return false;
}

static bool keep_use(searching *self, uint32_t user, uint32_t owner, uint32_t freed)
{
    mr_seek *search = self->search;
    uint32_t node = mr_state_node(&self->state, user);
    uint32_t a = place_of_node(self, node), b = place_of_node(self, freed);
    if (a == MR_PMODEL_NONE || b == MR_PMODEL_NONE)
        return false;
    uint32_t *known = mr_map_at(&self->uses, mr_map_key(a, b), 0);
    if (!known || !ROOM(search, uses, use_count, use_capacity, 1))
        return false;
    if ((*known)++)
        return true;
    mr_seek_use use = {.first = user,
                       .second = owner,
                       .first_node = self->graph->nodes[node].model,
                       .second_node = self->graph->nodes[freed].model};
    if (!keep_way(self, &use.way))
        return false;
    search->uses[search->use_count++] = use;
    return true;
}

/* Threads that are about to access what another one has freed. */
static bool keep_uses(searching *self)
{
    const mr_state *state = &self->state;
    const mr_graph *graph = self->graph;
    if (!graph->has_frees || state->exited)
        return true;
    for (uint32_t user = 0; user < state->thread_count; user++) {
        const mr_graph_node *node = &graph->nodes[mr_state_node(state, user)];
        if (!mr_state_lives(state, user) || !mr_pmodel_is_access(node->kind) || !node->piece_count)
            continue;
        for (uint32_t owner = 0; owner < state->thread_count; owner++) {
            uint32_t at = mr_state_node(state, owner);
            if (at >= graph->node_count)
                continue;
            for (at = graph->nodes[at].freed; at != MR_PMODEL_NONE; at = graph->nodes[at].freed)
                if (is_of_same(graph, node, &graph->nodes[at]) && !keep_use(self, user, owner, at))
                    return false;
        }
    }
    return true;
}

/* ---- which threads are tried ---- */

static void find_options(const mr_state *state, options *its)
{
    its->some_can = its->some_ask = false;
    for (uint32_t t = 0; t < state->thread_count; t++) {
        its->can[t] =
            mr_state_steps(state, t, its->steps[t], MR_PMODEL_THREADS_MAX, &its->count[t]);
        its->some_can |= its->can[t] == MR_STATE_CAN;
        its->some_ask |= its->can[t] == MR_STATE_ASKS;
    }
}

/* Is there a thread that goes on for ever and does nothing that others see? Then there is no end. */
static bool some_loop(const mr_state *state)
{
    for (uint32_t t = 0; t < state->thread_count && !state->exited; t++)
        if (mr_state_lives(state, t) && state->graph->nodes[mr_state_node(state, t)].loops)
            return true;
    return false;
}

/* The least set with the thread in it that is enough (model_search.h). */
static uint64_t close(const mr_state *state, const options *its, uint32_t thread)
{
    uint64_t set = (uint64_t)1 << thread, done = 0;
    while (set != done) {
        uint32_t t = (uint32_t)__builtin_ctzll(set & ~done);
        done |= (uint64_t)1 << t;
        if (its->can[t] == MR_STATE_CANNOT) {
            set |= mr_state_lives(state, t) ? mr_state_enablers(state, t) : 0;
            continue;
        }
        for (uint32_t u = 0; u < state->thread_count; u++)
            if (!(set >> u & 1) && mr_state_lives(state, u) && mr_state_hinders(state, t, u))
                set |= (uint64_t)1 << u;
    }
    return set;
}

static uint32_t steps_of(const mr_state *state, const options *its, uint64_t set)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < state->thread_count; t++)
        count += (set >> t & 1) && its->can[t] == MR_STATE_CAN ? its->count[t] : 0;
    return count;
}

static uint64_t choose(const searching *self, const options *its)
{
    const mr_state *state = &self->state;
    uint64_t best = UINT64_MAX;
    uint32_t least = self->limits->no_reduction ? 0 : UINT32_MAX;
    for (uint32_t t = 0; t < state->thread_count && least > 1; t++) {
        if (its->can[t] != MR_STATE_CAN)
            continue;
        uint64_t set = close(state, its, t);
        uint32_t count = steps_of(state, its, set);
        if (count < least) {
            least = count;
            best = set;
        }
    }
    return best;
}

/* Adds what the threads of the set, and not of `besides`, can do, to the frame on top. */
static bool add_choices(searching *self, const options *its, uint64_t set, uint64_t besides)
{
    frame *top = &self->frames[self->frame_count - 1];
    for (uint32_t t = 0; t < self->state.thread_count; t++) {
        if (!(set & ~besides & (uint64_t)1 << t) || its->can[t] != MR_STATE_CAN)
            continue;
        if (!ROOM(self, choices, choice_count, choice_capacity, its->count[t]))
            return false;
        for (uint32_t i = 0; i < its->count[t]; i++)
            self->choices[self->choice_count++] = its->steps[t][i];
    }
    top->end = self->choice_count;
    return true;
}

/* ---- the search ---- */

/* The state, which is new, is on top of the way from here on. */
static bool enter(searching *self, uint32_t number)
{
    options its;
    if (!ROOM(self, frames, frame_count, frame_capacity, 1))
        return false;
    self->search->states++;
    self->frames[self->frame_count++] =
        (frame){number, self->choice_count, self->choice_count, self->choice_count, false};
    self->store.flags[number] |= ON_WAY;
    find_options(&self->state, &its);
    if (!keep_races(self) || !keep_uses(self) || !keep_questions(self, &its))
        return false;
    bool is_final = !its.some_can && !its.some_ask && !some_loop(&self->state);
    if (its.some_ask || is_final)
        self->store.flags[number] |= ENDING;
    if (!its.some_can)
        return !is_final || keep_final(self);
    uint64_t set = choose(self, &its);
    self->frames[self->frame_count - 1].is_full = set == UINT64_MAX;
    return add_choices(self, &its, set, 0);
}

/* A step led back to a state on the way: nobody may be left out for ever. */
static bool widen(searching *self)
{
    options its;
    frame *top = &self->frames[self->frame_count - 1];
    uint64_t tried = 0;
    if (top->is_full)
        return true;
    top->is_full = true;
    for (size_t i = top->first; i < top->end; i++)
        tried |= (uint64_t)1 << self->choices[i].thread;
    mr_seen_get(&self->store, top->state, &self->state);
    find_options(&self->state, &its);
    return add_choices(self, &its, UINT64_MAX, tried);
}

static bool note_move(searching *self, uint32_t from, uint32_t to, const mr_seek_step *step)
{
    if (!self->graph->has_heads)
        return true;
    if (!ROOM(self, moves, move_count, move_capacity, 1))
        return false;
    self->moves[self->move_count++] = (move){from, to, *step};
    return true;
}

static bool go_on(searching *self)
{
    frame *top = &self->frames[self->frame_count - 1];
    if (top->next == top->end) {
        self->store.flags[top->state] &= (uint8_t)~ON_WAY;
        self->choice_count = top->first;
        self->frame_count--;
        return true;
    }
    uint32_t from = top->state;
    mr_seek_step step = self->choices[top->next++];
    bool is_new;
    mr_seen_get(&self->store, from, &self->state);
    mr_state_do(&self->state, &step);
    self->search->transitions++;
    uint32_t number = mr_seen_add(&self->store, &self->state, &is_new);
    if (number == MR_PMODEL_NONE || !note_move(self, from, number, &step))
        return false;
    if (is_new)
        return enter(self, number);
    return !(self->store.flags[number] & ON_WAY) || widen(self);
}

static bool is_over(searching *self)
{
    mr_seek *search = self->search;
    const mr_seek_limits *limits = self->limits;
    if (limits->states && search->states >= limits->states)
        search->stop = MR_SEEK_STATES;
    else if (limits->questions && search->question_count >= limits->questions)
        search->stop = MR_SEEK_QUESTIONS;
    else if (search->transitions % LOOK_EVERY == 0 && mr_halt_asked(limits->halt))
        search->stop = MR_SEEK_STOPPED;
    else if (limits->bytes && search->transitions % LOOK_EVERY == 0 &&
             mr_seen_bytes(&self->store) + self->move_count * sizeof *self->moves > limits->bytes)
        search->stop = MR_SEEK_BYTES;
    return search->stop != MR_SEEK_COMPLETE;
}

/* ---- states from which there is no end ---- */

/* Marks what can reach an end, until nothing changes: moves mostly lead from lower to higher numbers. */
static void mark_endings(searching *self)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = self->move_count; i-- > 0;) {
            const move *its = &self->moves[i];
            if ((self->store.flags[its->to] & ENDING) && !(self->store.flags[its->from] & ENDING)) {
                self->store.flags[its->from] |= ENDING;
                changed = true;
            }
        }
    }
}

/* The way to the state: each state but the first was found by the first move that leads to it. */
static bool way_to(searching *self, uint32_t state)
{
    mr_seek *search = self->search;
    uint32_t *found_by = mr_calloc(self->store.states.count + 1ull, sizeof *found_by);
    uint32_t length = 0;
    if (!found_by)
        return false;
    for (size_t i = 0; i < self->move_count; i++)
        if (!found_by[self->moves[i].to] && self->moves[i].to != 0)
            found_by[self->moves[i].to] = (uint32_t)i + 1;
    for (uint32_t at = state; at != 0; at = self->moves[found_by[at] - 1].from)
        length++;
    bool ok = ROOM(search, steps, step_count, step_capacity, length + 1);
    search->endless_way = (mr_seek_way){search->step_count, length};
    for (uint32_t at = state; ok && at != 0; at = self->moves[found_by[at] - 1].from)
        search->steps[search->endless_way.first + --length] = self->moves[found_by[at] - 1].step;
    search->step_count += ok ? search->endless_way.count : 0;
    free(found_by);
    return ok;
}

static bool find_endless(searching *self)
{
    mr_seek *search = self->search;
    if (!self->graph->has_heads || search->stop != MR_SEEK_COMPLETE)
        return true;
    mark_endings(self);
    for (uint32_t i = 0; i < self->store.states.count; i++) {
        if (self->store.flags[i] & ENDING)
            continue;
        if (!search->endless++ && !way_to(self, i))
            return false;
    }
    return true;
}

static bool run(searching *self)
{
    bool is_new;
    if (!mr_state_init(&self->state, self->graph) || !mr_seen_init(&self->store, &self->state))
        return false;
    uint32_t first = mr_seen_add(&self->store, &self->state, &is_new);
    if (first == MR_PMODEL_NONE || !enter(self, first))
        return false;
    while (self->frame_count && !is_over(self))
        if (!go_on(self))
            return false;
    for (size_t i = 0; i < self->frame_count; i++)
        self->search->untried += self->frames[i].end - self->frames[i].next;
    return find_endless(self);
}

mr_status mr_seek_run(mr_seek *search, const mr_graph *graph, const mr_seek_limits *limits,
                      mr_error *error)
{
    searching self = {.search = search, .graph = graph, .limits = limits};
    *search = (mr_seek){.steps = NULL};
    bool ok = run(&self);
    mr_seen_free(&self.store);
    mr_state_free(&self.state);
    mr_rows_free(&self.finals);
    mr_map_free(&self.asked);
    mr_map_free(&self.places);
    mr_map_free(&self.pairs);
    mr_map_free(&self.uses);
    free(self.frames);
    free(self.choices);
    free(self.moves);
    return ok ? MR_OK : mr_error_memory(error, "searching the states of a model");
}
