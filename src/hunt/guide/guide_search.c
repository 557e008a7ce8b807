#include "guide_search.h"

#include "base/memory.h"
#include "hunt/model/model_store.h"

#include <stdlib.h>

enum {
    LOOK_EVERY = 1024,
    TRIES = 2,      /* by one way: a run may go astray once … */
    TRIES_MOST = 16 /* … and by all: what a run that goes astray has shown, leads to another way */
};

/* How a state was found. */
typedef struct origin {
    uint32_t from; /* a state; of the first one it means nothing */
    mr_seek_step step;
} origin;

typedef struct guiding {
    mr_seek *search;
    const mr_graph *graph;
    const mr_map *tried;
    const mr_seek_limits *limits;
    mr_seen store;
    mr_state state;
    origin *origins; /* by state */
    size_t origin_count, origin_capacity;
    mr_u32s now, later; /* states to expand, with as many preemptions as now, and with one more */
    mr_map asked;
} guiding;

#define ROOM(owner, array, count, capacity, more)                                                  \
    mr_grow((void **)&(owner)->array, &(owner)->capacity, (owner)->count + (size_t)(more),         \
            sizeof *(owner)->array)

static bool keep_way(guiding *self, uint32_t state, mr_seek_way *way)
{
    mr_seek *search = self->search;
    uint32_t length = 0;
    for (uint32_t at = state; at != 0; at = self->origins[at].from)
        length++;
    if (!ROOM(search, steps, step_count, step_capacity, length + 1))
        return false;
    *way = (mr_seek_way){search->step_count, length};
    search->step_count += length;
    for (uint32_t at = state; at != 0; at = self->origins[at].from)
        search->steps[way->first + --length] = self->origins[at].step;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The node, and what its thread would see there, by values and not by their numbers. */
static uint64_t key_of(const mr_state *state, uint32_t thread)
{
    const mr_graph *graph = state->graph;
    const mr_graph_node *node = &graph->nodes[mr_state_node(state, thread)];
    const mr_pmodel_node *its = &graph->model->nodes[node->model];
    uint64_t key = mix(mix(mix(1, its->state), its->op.code), thread);
    for (uint32_t i = 0; node->kind != MR_PMODEL_UNKNOWN && i < node->piece_count; i++) {
        uint32_t number = state->content[graph->access_pieces[node->piece + i]];
        key = mix(key, number ? graph->value_numbers.items[number - 1].key + 1 : 0);
    }
    return mix(key, mr_pmodel_is_access(node->kind) ? 0 : 1u + mr_state_mode_of(state, thread));
}

/* The question by this way: who goes on, one step after the other. */
static uint64_t by_way(const guiding *self, uint32_t state, uint64_t key)
{
    for (uint32_t at = state; at != 0; at = self->origins[at].from)
        key = mix(key, self->origins[at].step.thread + 1);
    return key;
}

static bool keep_question(guiding *self, uint32_t state, uint32_t thread)
{
    mr_seek *search = self->search;
    uint64_t key = key_of(&self->state, thread);
    uint32_t *asked = mr_map_at(&self->asked, key, 0);
    if (!asked || !ROOM(search, questions, question_count, question_capacity, 1))
        return false;
    if ((*asked)++ || mr_map_get(self->tried, key, 0) >= TRIES_MOST ||
        mr_map_get(self->tried, by_way(self, state, key), 0) >= TRIES)
        return true;
    mr_seek_question question = {.thread = thread,
                                 .node =
                                     self->graph->nodes[mr_state_node(&self->state, thread)].model,
                                 .key = key,
                                 .way_key = by_way(self, state, key)};
    if (!keep_way(self, state, &question.way))
        return false;
    search->questions[search->question_count++] = question;
    return true;
}

/* The state after the step; when it is new, it is expanded now, or later when the step preempts. */
static bool find(guiding *self, uint32_t from, const mr_seek_step *step, bool preempts)
{
    bool is_new;
    mr_seen_get(&self->store, from, &self->state);
    mr_state_do(&self->state, step);
    self->search->transitions++;
    uint32_t number = mr_seen_add(&self->store, &self->state, &is_new);
    if (number == MR_PMODEL_NONE)
        return false;
    if (!is_new)
        return true;
    if (!ROOM(self, origins, origin_count, origin_capacity, 1))
        return false;
    self->search->states++;
    self->origins[self->origin_count++] = (origin){from, *step};
    return mr_u32s_push(preempts ? &self->later : &self->now, number);
}

/* Does the next operation of the thread commute with all that others may do? Then it is done before them. */
static bool is_alone(const mr_state *state, uint32_t thread)
{
    for (uint32_t u = 0; u < state->thread_count; u++)
        if (u != thread && mr_state_lives(state, u) && mr_state_hinders(state, thread, u))
            return false;
    return true;
}

static bool expand(guiding *self, uint32_t state)
{
    mr_seek_step steps[MR_PMODEL_THREADS_MAX];
    uint32_t count, threads = self->state.thread_count;
    uint32_t last = state ? self->origins[state].step.thread : 0;
    mr_seen_get(&self->store, state, &self->state);
    mr_state_can its = mr_state_steps(&self->state, last, steps, MR_PMODEL_THREADS_MAX, &count);
    bool goes_on = its != MR_STATE_CANNOT;
    bool is_only = its == MR_STATE_CAN && is_alone(&self->state, last);
    for (uint32_t i = 0; i < (is_only ? 1 : threads); i++) {
        uint32_t t = (last + i) % threads;
        mr_seen_get(&self->store, state, &self->state);
        mr_state_can can = mr_state_steps(&self->state, t, steps, MR_PMODEL_THREADS_MAX, &count);
        if (can == MR_STATE_ASKS && !keep_question(self, state, t))
            return false;
        for (uint32_t s = 0; can == MR_STATE_CAN && s < count; s++)
            if (!find(self, state, &steps[s], goes_on && t != last))
                return false;
    }
    return true;
}

static bool is_over(guiding *self)
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
             mr_seen_bytes(&self->store) + self->origin_count * sizeof *self->origins >
                 limits->bytes)
        search->stop = MR_SEEK_BYTES;
    return search->stop != MR_SEEK_COMPLETE;
}

static bool go(guiding *self)
{
    bool is_new;
    uint32_t first = mr_seen_add(&self->store, &self->state, &is_new);
    if (first == MR_PMODEL_NONE || !ROOM(self, origins, origin_count, origin_capacity, 1) ||
        !mr_u32s_push(&self->now, first))
        return false;
    self->origins[self->origin_count++] = (origin){.from = 0};
    while (self->now.count) {
        for (size_t i = 0; i < self->now.count; i++) {
            if (is_over(self))
                return true;
            if (!expand(self, self->now.items[i]))
                return false;
        }
        self->now.count = 0;
        mr_u32s spare = self->now;
        self->now = self->later;
        self->later = spare;
    }
    return true;
}

mr_status mr_guide_seek(mr_seek *search, const mr_graph *graph, const mr_map *tried,
                        const mr_seek_limits *limits, mr_error *error)
{
    guiding self = {.search = search, .graph = graph, .tried = tried, .limits = limits};
    *search = (mr_seek){.steps = NULL};
    bool ok =
        mr_state_init(&self.state, graph) && mr_seen_init(&self.store, &self.state) && go(&self);
    mr_state_free(&self.state);
    mr_seen_free(&self.store);
    free(self.origins);
    mr_u32s_free(&self.now);
    mr_u32s_free(&self.later);
    mr_map_free(&self.asked);
    return ok ? MR_OK : mr_error_memory(error, "searching a model");
}
