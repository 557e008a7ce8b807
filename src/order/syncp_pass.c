#include "syncp_pass.h"

#include "sharing.h"

#include <stdlib.h>

enum { EVENTS_A_REPORT = 1 << 16 };

/* The last write of a variable; step 0: no other thread reads from it. */
typedef struct last_write {
    uint32_t thread, step;
} last_write;

typedef struct pass_state {
    const mr_syncp_pass *pass;
    mr_syncp_ideals *ideals;
    mr_sharing sharing;       /* when there is no outlook */
    const uint8_t *contended; /* by variable */
    const uint8_t *shared;    /* by lock */
    uint8_t *published;       /* a bit an event: a write that another thread reads from */
    last_write *writes;       /* by variable */
} pass_state;

static bool is_published(const pass_state *state, uint32_t event)
{
    return state->published[event / 8] >> event % 8 & 1;
}

static void find_published(pass_state *state)
{
    const mr_trace *trace = state->pass->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (trace->op[event] != MR_OP_READ || !state->contended[trace->operand[event]])
            continue;
        uint32_t write = trace->link[event];
        if (write != MR_NONE && trace->thread[write] != trace->thread[event])
            state->published[write / 8] |= (uint8_t)(1 << write % 8);
    }
}

static bool prepare(pass_state *state)
{
    const mr_trace *trace = state->pass->trace;
    const mr_outlook *outlook = state->pass->outlook;
    if (outlook) {
        state->contended = outlook->contended;
        state->shared = outlook->lock_shared;
    } else {
        if (!mr_sharing_find(&state->sharing, trace))
            return false;
        state->contended = (const uint8_t *)state->sharing.variable_contended;
        state->shared = (const uint8_t *)state->sharing.lock_shared;
    }
    state->published = mr_calloc((size_t)trace->event_count / 8 + 1, 1);
    state->writes = mr_calloc(trace->variables.count, sizeof *state->writes);
    if (!state->published || !state->writes)
        return false;
    find_published(state);
    return true;
}

static bool do_access(pass_state *state, uint32_t event)
{
    const mr_syncp_pass *pass = state->pass;
    mr_syncp_ideals *ideals = state->ideals;
    uint32_t thread = pass->trace->thread[event], variable = pass->trace->operand[event];
    if (!state->contended[variable])
        return true;
    if (!mr_syncp_store(ideals, thread) || (pass->access && !pass->access(pass->context, event)))
        return false;
    last_write *write = &state->writes[variable];
    if (pass->trace->op[event] == MR_OP_READ)
        return !write->step || write->thread == thread ||
               mr_syncp_learn(ideals, thread, event, write->thread, write->step);
    *write = (last_write){thread, 0};
    if (!is_published(state, event))
        return true;
    write->step = mr_syncp_step_now(ideals, thread);
    return mr_syncp_publish(ideals, thread, event);
}

static bool do_join(pass_state *state, uint32_t event)
{
    mr_syncp_ideals *ideals = state->ideals;
    uint32_t child = state->pass->trace->operand[event];
    if (state->pass->trace->thread_info[child].first == MR_NONE)
        return true; /* without events, nothing has to come before the join */
    uint32_t step = mr_syncp_step_now(ideals, child);
    return mr_syncp_publish(ideals, child, event) &&
           mr_syncp_learn(ideals, state->pass->trace->thread[event], event, child, step);
}

static bool do_event(pass_state *state, uint32_t event)
{
    const mr_trace *trace = state->pass->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
        return do_access(state, event);
    case MR_OP_ACQUIRE:
        return trace->link[event] == MR_NESTED || !state->shared[operand] ||
               mr_syncp_acquire(state->ideals, thread, event, operand);
    case MR_OP_RELEASE:
        return trace->link[event] == MR_NESTED || !state->shared[operand] ||
               mr_syncp_release(state->ideals, thread, event, operand);
    case MR_OP_FORK:
        return mr_syncp_fork(state->ideals, thread, event, operand);
    case MR_OP_JOIN:
        return do_join(state, event);
    default:
        return true;
    }
}

static bool run(pass_state *state)
{
    const mr_trace *trace = state->pass->trace;
    if (!prepare(state))
        return false;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (event % EVENTS_A_REPORT == 0)
            mr_progress_tell(state->pass->progress, "syncp", event, trace->event_count);
        if (!do_event(state, event))
            return false;
    }
    for (uint32_t thread = 0; thread < trace->threads.count; thread++)
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
    bool done = run(&state);
    free(state.published);
    free(state.writes);
    mr_sharing_free(&state.sharing);
    return done ? MR_OK : mr_error_memory(error, "looking for sync-preserving races");
}
