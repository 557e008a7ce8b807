#include "syncp_pass.h"

#include <stdlib.h>

/* An event may cost as much as there are threads. */
enum { EVENTS_A_REPORT = 1 << 16, EVENTS_A_LOOK = 16 };

/* The last write of a variable; step 0: no other thread reads from it. */
typedef struct last_write {
    uint32_t thread, step;
} last_write;

typedef struct pass_state {
    const mr_syncp_pass *pass;
    mr_syncp_ideals *ideals;
    mr_outlook own;           /* when there is no outlook */
    const uint8_t *contended; /* by variable */
    const uint8_t *shared;    /* by lock */
    mr_whole whole;
    last_write *writes;     /* by variable */
    uint32_t *joined_steps; /* by thread of the trace: its last step; 0: nobody has joined it */
    mr_map followed;        /* posts and events with edges of calls from them → step */
    size_t next_edge;       /* of calls */
    uint32_t seen;          /* events */
    bool halted;
} pass_state;

static bool prepare(pass_state *state)
{
    const mr_trace *trace = state->pass->trace;
    const mr_outlook *outlook = state->pass->outlook;
    if (!outlook) {
        if (!mr_outlook_of_trace(&state->own, trace))
            return false;
        outlook = &state->own;
    }
    state->contended = outlook->contended;
    state->shared = outlook->lock_shared;
    state->writes = mr_calloc(trace->variables.count, sizeof *state->writes);
    state->joined_steps = mr_calloc(trace->threads.count, sizeof *state->joined_steps);
    return state->writes && state->joined_steps &&
           mr_syncp_ideals_grow(state->ideals, state->whole.single_count);
}

static bool follow_write(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    const last_write *write = &state->writes[trace->operand[event]];
    uint32_t thread = mr_syncp_thread_of(trace, event);
    return !write->step || write->thread == thread ||
           mr_syncp_learn(state->ideals, thread, event, write->thread, write->step);
}

static bool note_write(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    uint32_t thread = mr_syncp_thread_of(trace, event);
    last_write *write = &state->writes[trace->operand[event]];
    *write = (last_write){thread, 0};
    if (!mr_whole_is_followed(&state->whole, event))
        return true;
    write->step = mr_syncp_step_now(state->ideals, thread);
    return mr_syncp_publish(state->ideals, thread, event);
}

/* Shows an access or free of the variable. */
static bool show(pass_state *state, uint32_t event, uint32_t variable)
{
    const mr_syncp_pass *pass = state->pass;
    return !state->contended[variable] ||
           (mr_syncp_store(state->ideals, mr_syncp_thread_of(pass->trace, event)) &&
            (!pass->access || pass->access(pass->context, event, variable)));
}

static bool do_access(pass_state *state, uint32_t event)
{
    const mr_syncp_pass *pass = state->pass;
    uint8_t op = pass->trace->op[event];
    return (!mr_wanted_location(pass->wanted, pass->trace->location[event]) ||
            show(state, event, pass->trace->operand[event])) &&
           (!mr_op_reads(op) || follow_write(state, event)) &&
           (!mr_op_writes(op) || note_write(state, event));
}

static bool do_free(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    const mr_object_info *object = &trace->object_info[trace->operand[event]];
    for (uint32_t i = 0; i < object->variable_count; i++)
        if (!show(state, event, trace->object_variables[object->first_variable + i]))
            return false;
    return true;
}

/* An outermost acquire or release of a lock of several threads. */
static bool do_lock(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    uint32_t thread = mr_syncp_thread_of(trace, event);
    uint32_t lock = mr_whole_first_lock(&state->whole, event);
    uint8_t op = trace->op[event];
    for (; lock != MR_NONE; lock = mr_whole_next_lock(&state->whole, event, lock))
        if (!(mr_op_releases(op) ? mr_syncp_release(state->ideals, thread, event, lock)
                                 : mr_syncp_acquire(state->ideals, thread, event, lock)))
            return false;
    return true;
}

static bool do_join(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    mr_syncp_ideals *ideals = state->ideals;
    uint32_t child = trace->operand[event], chain = trace->chain[child];
    if (trace->thread_info[child].first == MR_NONE)
        return true; /* without events, nothing has to come before the join */
    if (!state->joined_steps[child]) {
        state->joined_steps[child] = mr_syncp_step_now(ideals, chain);
        if (!mr_syncp_publish(ideals, chain, event))
            return false;
    }
    return mr_syncp_learn(ideals, mr_syncp_thread_of(trace, event), event, chain,
                          state->joined_steps[child]);
}

static bool do_operation(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    uint32_t thread = mr_syncp_thread_of(trace, event), operand = trace->operand[event];
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
        return !state->contended[operand] || do_access(state, event);
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return do_access(state, event);
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        return trace->link[event] == MR_NESTED || !state->shared[operand] || do_lock(state, event);
    case MR_OP_FORK:
        return mr_syncp_fork(state->ideals, thread, event, trace->chain[operand]);
    case MR_OP_JOIN:
        return do_join(state, event);
    case MR_OP_FREE:
        return do_free(state, event);
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* do_needs knows their edges */
    }
    return true;
}

/* The event needs `source`, an earlier one of another thread. */
static bool need(pass_state *state, uint32_t event, uint32_t source)
{
    const mr_trace *trace = state->pass->trace;
    return mr_syncp_learn(state->ideals, mr_syncp_thread_of(trace, event), event - 1,
                          mr_syncp_thread_of(trace, source),
                          mr_map_get(&state->followed, source, 0));
}

/* Adds what the event needs even as a member of a pair. */
static bool do_needs(pass_state *state, uint32_t event)
{
    const mr_barrier_edges *edges = state->whole.edges;
    uint32_t post = mr_whole_post(&state->whole, event);
    for (; state->next_edge < edges->count && edges->items[state->next_edge].to == event;
         state->next_edge++)
        if (!need(state, event, edges->items[state->next_edge].from))
            return false;
    return post == MR_NONE || need(state, event, post);
}

static bool do_event(pass_state *state, uint32_t event)
{
    if (!do_needs(state, event) || !do_operation(state, event))
        return false;
    if (!mr_whole_is_followed(&state->whole, event))
        return true;
    uint32_t thread = mr_syncp_thread_of(state->pass->trace, event);
    uint8_t op = state->pass->trace->op[event];
    if (mr_op_writes(op) && !state->whole.edges->count)
        return true; /* only reads follow it */
    return mr_syncp_publish(state->ideals, thread, event) &&
           mr_map_at(&state->followed, event, (uint32_t)state->ideals->threads[thread].step_count);
}

/* Most events: a plain access of a variable that is not contended. No event of another thread needs it, unless an edge of a
 * call does. */
static inline bool is_of_one_thread(const pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    return mr_op_is_plain(trace->op[event]) && !state->contended[trace->operand[event]];
}

static bool run(pass_state *state)
{
    const mr_trace *trace = state->pass->trace;
    if (!prepare(state))
        return false;
    bool skips = !state->whole.edges->count;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (event % EVENTS_A_REPORT == 0)
            mr_progress_tell(state->pass->progress, "syncp", event, trace->event_count);
        state->halted =
            event % EVENTS_A_LOOK == 0 && mr_halt_asked(state->pass->halt) != MR_HALT_NONE;
        if (state->halted ||
            (!(skips && is_of_one_thread(state, event)) && !do_event(state, event)))
            return false;
        state->seen = event + 1;
    }
    for (uint32_t thread = 0; thread < state->ideals->thread_count; thread++)
        if (!mr_syncp_publish(state->ideals, thread, trace->event_count))
            return false;
    return true;
}

mr_status mr_syncp_run(const mr_syncp_pass *pass, mr_syncp_ideals *ideals, mr_error *error)
{
    pass_state state = {.pass = pass, .ideals = ideals};
    if (pass->trace->event_count > INT32_MAX - 1)
        return mr_error_set(error, MR_ERR_UNSUPPORTED, pass->trace->path, 0,
                            "syncp takes at most 2147483646 events; cut the trace");
    mr_status status =
        mr_whole_init(&state.whole, pass->trace, pass->edges, pass->opaque, true, error);
    bool done = status == MR_OK && run(&state);
    free(state.writes);
    free(state.joined_steps);
    mr_map_free(&state.followed);
    mr_whole_free(&state.whole);
    mr_outlook_free(&state.own);
    if (pass->seen)
        *pass->seen = state.seen;
    if (status != MR_OK || done)
        return status;
    return state.halted ? mr_error_set(error, MR_ERR_HALTED, pass->trace->path, 0,
                                       "looking for sync-preserving races was ended")
                        : mr_error_memory(error, "looking for sync-preserving races");
}
