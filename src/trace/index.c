#include "index.h"

#include <stdlib.h>
#include <string.h>

/* What the pass knows of a variable and of a lock. */
typedef struct variable_state {
    uint32_t last_write; /* MR_NONE: none so far */
    uint32_t last_value; /* that it wrote; 0: unknown */
} variable_state;

typedef struct lock_state {
    uint32_t acquire, depth; /* `acquire` is the outermost one while depth > 0 */
} lock_state;

typedef struct index_pass {
    mr_trace *trace;
    variable_state *variables;
    lock_state *locks;
} index_pass;

static void index_read(index_pass *pass, uint32_t event, uint32_t value)
{
    uint32_t variable = pass->trace->operand[event];
    mr_variable_info *info = &pass->trace->variable_info[variable];
    const variable_state *state = &pass->variables[variable];
    pass->trace->link[event] = state->last_write;
    if (!value) {
        info->by_source = true;
    } else if (state->last_write != MR_NONE) {
        info->by_source |= value != state->last_value;
    } else if (!info->initial_value) {
        info->initial_value = value;
    } else {
        /* Two different values before any write: only an unrecorded writer explains them. */
        info->by_source |= value != info->initial_value;
    }
}

static void index_write(index_pass *pass, uint32_t event, uint32_t value)
{
    uint32_t variable = pass->trace->operand[event];
    pass->variables[variable] = (variable_state){.last_write = event, .last_value = value};
    if (!value)
        pass->trace->variable_info[variable].by_source = true;
}

static void index_update(index_pass *pass, uint32_t event)
{
    uint32_t value = pass->trace->value[event];
    mr_update update = value ? pass->trace->updates[value] : (mr_update){0};
    index_read(pass, event, update.read_value);
    index_write(pass, event, update.written_value);
}

static void index_acquire(index_pass *pass, uint32_t event)
{
    lock_state *lock = &pass->locks[pass->trace->operand[event]];
    if (lock->depth++)
        pass->trace->link[event] = MR_NESTED;
    else
        lock->acquire = event;
}

static void index_release(index_pass *pass, uint32_t event)
{
    lock_state *lock = &pass->locks[pass->trace->operand[event]];
    if (--lock->depth) {
        pass->trace->link[event] = MR_NESTED;
    } else {
        pass->trace->link[event] = lock->acquire;
        pass->trace->link[lock->acquire] = event;
    }
}

static void index_operation(index_pass *pass, uint32_t event)
{
    const mr_trace *trace = pass->trace;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
        index_read(pass, event, trace->value[event]);
        break;
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
        index_write(pass, event, trace->value[event]);
        break;
    case MR_OP_ATOMIC_UPDATE:
        index_update(pass, event);
        break;
    case MR_OP_ACQUIRE:
        index_acquire(pass, event);
        break;
    case MR_OP_RELEASE:
        index_release(pass, event);
        break;
    case MR_OP_FORK:
        trace->thread_info[trace->operand[event]].fork = event;
        break;
    default:
        break;
    }
}

static void index_thread(mr_thread_info *info, uint32_t event)
{
    if (info->first == MR_NONE)
        info->first = event;
    info->last = event;
    info->event_count++;
}

static bool allocate(index_pass *pass)
{
    mr_trace *trace = pass->trace;
    trace->link = mr_malloc(0, (size_t)trace->event_count * sizeof *trace->link);
    trace->variable_info = mr_calloc(trace->variables.count, sizeof *trace->variable_info);
    trace->thread_info = mr_calloc(trace->threads.count, sizeof *trace->thread_info);
    pass->variables = mr_calloc(trace->variables.count, sizeof *pass->variables);
    pass->locks = mr_calloc(trace->locks.count, sizeof *pass->locks);
    return trace->link && trace->variable_info && trace->thread_info && pass->variables &&
           pass->locks;
}

static void run(index_pass *pass)
{
    mr_trace *trace = pass->trace;
    for (uint32_t i = 0; i < trace->variables.count; i++)
        pass->variables[i].last_write = MR_NONE;
    for (uint32_t i = 0; i < trace->threads.count; i++)
        trace->thread_info[i] =
            (mr_thread_info){.fork = MR_NONE, .first = MR_NONE, .last = MR_NONE};
    memset(trace->link, 0xFF, (size_t)trace->event_count * sizeof *trace->link); /* MR_NONE */
    for (uint32_t event = 0; event < trace->event_count; event++) {
        index_thread(&trace->thread_info[trace->thread[event]], event);
        index_operation(pass, event);
        trace->op_counts[trace->op[event]]++;
    }
    for (uint32_t i = 0; i < trace->variables.count; i++)
        trace->by_source_count += trace->variable_info[i].by_source;
}

bool mr_index_build(mr_trace *trace)
{
    index_pass pass = {.trace = trace};
    bool done = allocate(&pass);
    if (done)
        run(&pass);
    free(pass.variables);
    free(pass.locks);
    return done;
}
