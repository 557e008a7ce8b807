#include "model_state.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

bool mr_state_init(mr_state *state, const mr_graph *graph)
{
    uint32_t threads = graph->model->thread_count, content = graph->tracked + graph->object_count;
    *state = (mr_state){.graph = graph, .thread_count = threads, .content_count = content};
    state->threads = mr_calloc(threads + 1ull, sizeof *state->threads);
    state->content = mr_calloc(content + 1ull, sizeof *state->content);
    if (!state->threads || !state->content)
        return false;
    for (uint32_t t = 0; t < threads; t++)
        state->threads[t] = graph->model->threads[t].parent == MR_PMODEL_NONE ? graph->roots[t]
                                                                              : MR_SEEK_NOT_CREATED;
    memcpy(state->content, graph->initial, graph->tracked * sizeof *state->content);
    return true;
}

void mr_state_free(mr_state *state)
{
    free(state->threads);
    free(state->content);
    *state = (mr_state){.graph = NULL};
}

/* ---- what is possible ---- */

static uint32_t edge_by_outcome(const mr_graph *graph, const mr_graph_node *node, uint32_t outcome)
{
    for (uint32_t e = 0; e < node->edge_count; e++)
        if (graph->edges[node->edge + e].outcome == outcome)
            return node->edge + e;
    return MR_PMODEL_NONE;
}

static bool sees(const mr_state *state, const mr_graph_node *node, const mr_graph_edge *edge)
{
    const mr_graph *graph = state->graph;
    for (uint32_t i = 0; i < node->piece_count; i++)
        if (state->content[graph->access_pieces[node->piece + i]] != graph->values[edge->seen + i])
            return false;
    return true;
}

/* The edge for what is in memory now. */
static uint32_t edge_by_memory(const mr_state *state, const mr_graph_node *node)
{
    for (uint32_t e = 0; e < node->edge_count; e++)
        if (sees(state, node, &state->graph->edges[node->edge + e]))
            return node->edge + e;
    return MR_PMODEL_NONE;
}

/* pthread_once: another thread is at it. */
static bool is_running(const mr_state *state, const mr_graph_node *node)
{
    const mr_map *numbers = &state->graph->value_numbers;
    uint32_t one = mr_map_get(numbers, 1, 0);
    return node->is_once && one && node->piece_count &&
           state->content[state->graph->access_pieces[node->piece]] == one;
}

static bool is_free(const mr_state *state, const mr_graph_node *node, uint32_t thread)
{
    uint32_t lock = *mr_state_object(state, node->object);
    bool exclusive = node->kind == MR_PMODEL_LOCK || node->kind == MR_PMODEL_TRY;
    if (lock == 0 || (!exclusive && !(lock & MR_STATE_EXCLUSIVE)))
        return true;
    return exclusive && (lock & MR_STATE_EXCLUSIVE) && (lock & 0xff) == thread &&
           state->graph->model->objects[node->object].is_recursive;
}

/* Sets the outcome of the operation; what reads is not asked for. False: it waits. */
static bool outcome_of(const mr_state *state, const mr_graph_node *node, uint32_t thread,
                       uint32_t *outcome)
{
    *outcome = 0;
    switch (node->kind) {
    case MR_PMODEL_LOCK:
    case MR_PMODEL_LOCK_SHARED:
        return is_free(state, node, thread);
    case MR_PMODEL_TRY:
    case MR_PMODEL_TRY_SHARED:
        *outcome = is_free(state, node, thread);
        return true;
    case MR_PMODEL_WAIT:
        return *mr_state_object(state, node->object) > 0;
    case MR_PMODEL_TRY_WAIT:
        *outcome = *mr_state_object(state, node->object) > 0;
        return true;
    case MR_PMODEL_WAKE:
        *outcome = mr_state_mode_of(state, thread) == MR_STATE_WOKEN;
        return *outcome || node->is_timed;
    case MR_PMODEL_ARRIVE:
        *outcome = *mr_state_object(state, node->object) + 1 >= node->other;
        return true;
    case MR_PMODEL_PASS:
        return mr_state_mode_of(state, thread) == MR_STATE_PASSES;
    case MR_PMODEL_JOIN:
        return mr_state_mode_of(state, node->object) == MR_STATE_ENDED;
    default:
        return true;
    }
}

static bool sleeps_on(const mr_state *state, uint32_t thread, uint32_t object)
{
    return mr_state_lives(state, thread) && mr_state_mode_of(state, thread) == MR_STATE_ASLEEP &&
           state->graph->nodes[mr_state_node(state, thread)].object == object;
}

mr_state_can mr_state_steps(const mr_state *state, uint32_t thread, mr_seek_step *steps,
                            uint32_t room, uint32_t *count)
{
    const mr_graph *graph = state->graph;
    *count = 0;
    if (state->exited || !mr_state_lives(state, thread))
        return MR_STATE_CANNOT;
    const mr_graph_node *node = &graph->nodes[mr_state_node(state, thread)];
    steps[0] = (mr_seek_step){thread, MR_PMODEL_NONE, MR_PMODEL_NONE};
    if (node->kind == MR_PMODEL_UNKNOWN) {
        *count = !node->loops;
        return node->loops ? MR_STATE_CANNOT : MR_STATE_ASKS;
    }
    uint32_t outcome;
    if (!outcome_of(state, node, thread, &outcome) || is_running(state, node))
        return MR_STATE_CANNOT;
    *count = 1;
    steps[0].edge = mr_pmodel_reads(node->kind) ? edge_by_memory(state, node)
                                                : edge_by_outcome(graph, node, outcome);
    if (steps[0].edge == MR_PMODEL_NONE)
        return MR_STATE_ASKS;
    if (node->kind == MR_PMODEL_SIGNAL) {
        uint32_t sleepers = 0;
        for (uint32_t t = 0; t < state->thread_count && sleepers < room; t++)
            if (sleeps_on(state, t, node->object))
                steps[sleepers++] = (mr_seek_step){thread, steps[0].edge, t};
        *count = sleepers ? sleepers : 1;
    }
    return MR_STATE_CAN;
}

/* ---- what it does ---- */

static void set_mode(mr_state *state, uint32_t thread, mr_state_mode mode)
{
    state->threads[thread] = mr_state_node(state, thread) | (uint32_t)mode << MR_STATE_MODE_SHIFT;
}

static void unlock(mr_state *state, uint32_t object)
{
    uint32_t *lock = mr_state_object(state, object);
    if (!(*lock & MR_STATE_EXCLUSIVE))
        *lock -= *lock > 0;
    else if ((*lock >> 8 & 0xffff) > 1)
        *lock -= 1u << 8;
    else
        *lock = 0;
}

static void lock(mr_state *state, uint32_t object, uint32_t thread)
{
    uint32_t *word = mr_state_object(state, object);
    *word = *word ? *word + (1u << 8) : MR_STATE_EXCLUSIVE | 1u << 8 | thread;
}

static void wake(mr_state *state, const mr_graph_node *node, uint32_t woken)
{
    for (uint32_t t = 0; t < state->thread_count; t++)
        if ((node->kind == MR_PMODEL_BROADCAST || t == woken) && sleeps_on(state, t, node->object))
            set_mode(state, t, MR_STATE_WOKEN);
}

/* The last one at a barrier lets the others pass. */
static void arrive(mr_state *state, const mr_graph_node *node, bool last)
{
    uint32_t *arrived = mr_state_object(state, node->object);
    *arrived = last ? 0 : *arrived + 1;
    for (uint32_t t = 0; last && t < state->thread_count; t++)
        if (mr_state_lives(state, t) && mr_state_mode_of(state, t) == MR_STATE_AT_BARRIER &&
            state->graph->nodes[mr_state_node(state, t)].object == node->object)
            set_mode(state, t, MR_STATE_PASSES);
}

static void change(mr_state *state, const mr_graph_node *node, const mr_seek_step *step)
{
    const mr_graph *graph = state->graph;
    uint32_t outcome = graph->edges[step->edge].outcome;
    switch (node->kind) {
    case MR_PMODEL_LOCK:
        lock(state, node->object, step->thread);
        break;
    case MR_PMODEL_LOCK_SHARED:
        ++*mr_state_object(state, node->object);
        break;
    case MR_PMODEL_TRY:
        if (outcome)
            lock(state, node->object, step->thread);
        break;
    case MR_PMODEL_TRY_SHARED:
        *mr_state_object(state, node->object) += outcome;
        break;
    case MR_PMODEL_UNLOCK:
    case MR_PMODEL_UNLOCK_SHARED:
        unlock(state, node->object);
        break;
    case MR_PMODEL_POST:
        *mr_state_object(state, node->object) += node->other;
        break;
    case MR_PMODEL_WAIT:
        --*mr_state_object(state, node->object);
        break;
    case MR_PMODEL_TRY_WAIT:
        *mr_state_object(state, node->object) -= outcome;
        break;
    case MR_PMODEL_SLEEP:
        unlock(state, node->other);
        break;
    case MR_PMODEL_SIGNAL:
    case MR_PMODEL_BROADCAST:
        wake(state, node, step->woken);
        break;
    case MR_PMODEL_ARRIVE:
        arrive(state, node, outcome != 0);
        break;
    case MR_PMODEL_RENEW:
        *mr_state_object(state, node->object) = 0;
        break;
    case MR_PMODEL_FORK:
        state->threads[node->object] = graph->roots[node->object];
        break;
    case MR_PMODEL_EXIT:
        state->exited = true;
        break;
    default:
        break;
    }
}

void mr_state_do(mr_state *state, const mr_seek_step *step)
{
    const mr_graph *graph = state->graph;
    const mr_graph_node *node = &graph->nodes[mr_state_node(state, step->thread)];
    const mr_graph_edge *edge = &graph->edges[step->edge];
    for (uint32_t i = 0; edge->written != MR_PMODEL_NONE && i < node->piece_count; i++)
        state->content[graph->access_pieces[node->piece + i]] = graph->values[edge->written + i];
    change(state, node, step);
    state->threads[step->thread] = edge->to;
    if (node->kind == MR_PMODEL_END)
        set_mode(state, step->thread, MR_STATE_ENDED);
    if (node->kind == MR_PMODEL_SLEEP)
        set_mode(state, step->thread, MR_STATE_ASLEEP);
    if (node->kind == MR_PMODEL_ARRIVE && !edge->outcome)
        set_mode(state, step->thread, MR_STATE_AT_BARRIER);
}

/* ---- who can change what ---- */

static bool may_do(const mr_state *state, uint32_t thread, uint32_t object, unsigned bit)
{
    return mr_graph_may(state->graph, mr_state_node(state, thread),
                        2 * state->graph->tracked + 5 * object + bit);
}

/* Of those that may still do an operation with the bit on the object, as bits. */
static uint64_t who_may(const mr_state *state, uint32_t besides, uint32_t object, unsigned bit)
{
    uint64_t found = 0;
    for (uint32_t t = 0; t < state->thread_count; t++)
        if (t != besides && mr_state_lives(state, t) && may_do(state, t, object, bit))
            found |= (uint64_t)1 << t;
    return found;
}

static uint64_t who_writes(const mr_state *state, uint32_t besides, const mr_graph_node *node)
{
    uint64_t found = 0;
    for (uint32_t t = 0; t < state->thread_count; t++)
        for (uint32_t i = 0; t != besides && mr_state_lives(state, t) && i < node->piece_count; i++)
            if (mr_graph_may(state->graph, mr_state_node(state, t),
                             2 * state->graph->access_pieces[node->piece + i] + 1))
                found |= (uint64_t)1 << t;
    return found;
}

uint64_t mr_state_enablers(const mr_state *state, uint32_t thread)
{
    enum { RELEASE = 3, POST = 2, WAKE = 1, ARRIVE = 0, RENEW = 4 };
    const mr_graph_node *node = &state->graph->nodes[mr_state_node(state, thread)];
    uint64_t renewers = who_may(state, thread, node->object, RENEW);
    switch (node->kind) {
    case MR_PMODEL_LOCK:
    case MR_PMODEL_LOCK_SHARED:
        return renewers | who_may(state, thread, node->object, RELEASE);
    case MR_PMODEL_WAIT:
        return renewers | who_may(state, thread, node->object, POST);
    case MR_PMODEL_WAKE:
        return who_may(state, thread, node->object, WAKE);
    case MR_PMODEL_PASS:
        return who_may(state, thread, node->object, ARRIVE);
    case MR_PMODEL_UPDATE:
        return who_writes(state, thread, node);
    case MR_PMODEL_JOIN:
        return mr_state_lives(state, node->object) ? (uint64_t)1 << node->object : 0;
    default:
        return 0;
    }
}

bool mr_state_hinders(const mr_state *state, uint32_t thread, uint32_t other)
{
    const mr_graph *graph = state->graph;
    uint32_t its_node = mr_state_node(state, other);
    const mr_graph_node *node = &graph->nodes[mr_state_node(state, thread)];
    if (node->kind == MR_PMODEL_EXIT || !(graph->nodes[its_node].joined >> thread & 1))
        return true;
    for (uint32_t i = 0; i < node->conflict_count; i++)
        if (mr_graph_may(graph, its_node, graph->conflicts[node->conflict + i]))
            return true;
    return false;
}

/* ---- races ---- */

/* Does the access write, in this state? */
static bool writes(const mr_state *state, const mr_graph_node *node)
{
    if (node->kind != MR_PMODEL_UPDATE)
        return node->kind != MR_PMODEL_READ;
    uint32_t edge = edge_by_memory(state, node);
    return edge != MR_PMODEL_NONE && state->graph->edges[edge].written != MR_PMODEL_NONE;
}

static bool overlaps(const mr_graph *graph, const mr_graph_node *a, const mr_graph_node *b)
{
    for (uint32_t i = 0; i < a->piece_count; i++)
        for (uint32_t j = 0; j < b->piece_count; j++)
            if (graph->access_pieces[a->piece + i] == graph->access_pieces[b->piece + j])
                return true;
    return false;
}

static bool uses_object(const mr_graph_node *node, uint32_t object)
{
    bool uses = node->kind >= MR_PMODEL_LOCK && node->kind <= MR_PMODEL_RENEW;
    return (uses && node->object == object) ||
           (node->kind == MR_PMODEL_SLEEP && node->other == object);
}

bool mr_state_races(const mr_state *state, uint32_t first, uint32_t second)
{
    const mr_graph_node *a = &state->graph->nodes[mr_state_node(state, first)];
    const mr_graph_node *b = &state->graph->nodes[mr_state_node(state, second)];
    if (a->kind == MR_PMODEL_RENEW || b->kind == MR_PMODEL_RENEW)
        return uses_object(a, b->object) && uses_object(b, a->object);
    if (!mr_pmodel_is_access(a->kind) || !mr_pmodel_is_access(b->kind))
        return false;
    return !(a->is_atomic && b->is_atomic) && (writes(state, a) || writes(state, b)) &&
           !is_running(state, a) && !is_running(state, b) && overlaps(state->graph, a, b);
}
