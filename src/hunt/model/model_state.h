/*
 * model_state: a state of a search (model_search.h), what is possible in it, and what that does.
 */
#ifndef MR_HUNT_MODEL_STATE_H
#define MR_HUNT_MODEL_STATE_H

#include "model_search.h"

/* Where a thread is, beside its node: bits 29 to 31 of its word. */
typedef enum mr_state_mode {
    MR_STATE_GOES,
    MR_STATE_ASLEEP, /* before a WAKE */
    MR_STATE_WOKEN,
    MR_STATE_AT_BARRIER, /* before a PASS */
    MR_STATE_PASSES,
    MR_STATE_ENDED, /* the node says how */
} mr_state_mode;

#define MR_STATE_NODE_MASK  0x1fffffffu
#define MR_STATE_MODE_SHIFT 29

typedef struct mr_state {
    const mr_graph *graph;
    uint32_t thread_count, content_count;
    uint32_t *threads; /* node | mode */
    uint32_t *content; /* values of tracked pieces, then a word for each object: a lock: 0 free,
                          EXCLUSIVE | depth << 8 | thread, or how many share it; units; arrived */
    bool exited;
} mr_state;

#define MR_STATE_EXCLUSIVE 0x80000000u

static inline uint32_t mr_state_node(const mr_state *state, uint32_t thread)
{
    return state->threads[thread] & MR_STATE_NODE_MASK;
}

static inline mr_state_mode mr_state_mode_of(const mr_state *state, uint32_t thread)
{
    return (mr_state_mode)(state->threads[thread] >> MR_STATE_MODE_SHIFT);
}

static inline bool mr_state_lives(const mr_state *state, uint32_t thread)
{
    return mr_state_node(state, thread) != MR_SEEK_NOT_CREATED &&
           mr_state_mode_of(state, thread) != MR_STATE_ENDED;
}

static inline uint32_t *mr_state_object(const mr_state *state, uint32_t object)
{
    return &state->content[state->graph->tracked + object];
}

bool mr_state_init(mr_state *state, const mr_graph *graph);
void mr_state_free(mr_state *state);

typedef enum mr_state_can {
    MR_STATE_CANNOT,
    MR_STATE_CAN,
    MR_STATE_ASKS, /* it could, but no run has shown it */
} mr_state_can;

/* What the thread can do next: at most `room` steps. An asking thread has one step, without an edge. */
mr_state_can mr_state_steps(const mr_state *state, uint32_t thread, mr_seek_step *steps,
                            uint32_t room, uint32_t *count);

/* Does the step, which is possible. */
void mr_state_do(mr_state *state, const mr_seek_step *step);

/* The threads that can change that this one cannot go on, as bits. */
uint64_t mr_state_enablers(const mr_state *state, uint32_t thread);

/* Can an operation of `other`, now or later, not commute with the next one of the thread? */
bool mr_state_hinders(const mr_state *state, uint32_t thread, uint32_t other);

/* Do the next operations of both race? */
bool mr_state_races(const mr_state *state, uint32_t first, uint32_t second);

#endif
