#include "index.h"

#include "columns.h"
#include "keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What the pass knows of a variable and of a lock. */
typedef struct variable_state {
    uint32_t last_write;    /* MR_NONE: none so far */
    uint32_t last_value;    /* that it wrote; 0: unknown */
    uint32_t initial_value; /* as in mr_variable_info */
    uint32_t by_source;     /* 0 or 1 */
} variable_state;

typedef struct lock_state {
    uint32_t acquire, depth; /* `acquire` is the outermost one while depth > 0 */
} lock_state;

/* Posts whose unit nobody has taken so far, the oldest first. */
typedef struct post_queue {
    uint32_t first, last; /* in `posts`, MR_NONE: there is none */
} post_queue;

typedef struct post {
    uint32_t event, next;
} post;

typedef struct index_pass {
    mr_trace *trace;
    variable_state *variables;
    lock_state *locks;
    mr_keys share_numbers; /* (lock, thread) to number in `shares` */
    lock_state *shares;    /* shared holds; the number 0 is unused */
    size_t share_capacity;
    post_queue *queues; /* by semaphore */
    post *posts;
    size_t post_count, post_capacity;
    uint32_t *open_call; /* by thread: its innermost open call, whose link is the next outer one */
} index_pass;

static inline void index_read(index_pass *pass, uint32_t event, uint32_t value)
{
    variable_state *state = &pass->variables[pass->trace->operand[event]];
    pass->trace->link[event] = state->last_write;
    if (!value) {
        state->by_source = 1;
    } else if (state->last_write != MR_NONE) {
        state->by_source |= value != state->last_value;
    } else if (!state->initial_value) {
        state->initial_value = value;
    } else {
        /* Two different values before any write: only an unrecorded writer explains them. */
        state->by_source |= value != state->initial_value;
    }
}

static inline void index_write(index_pass *pass, uint32_t event, uint32_t value)
{
    variable_state *state = &pass->variables[pass->trace->operand[event]];
    pass->trace->link[event] = state->last_write;
    state->last_write = event;
    state->last_value = value;
    state->by_source |= !value;
}

static void index_update(index_pass *pass, uint32_t event)
{
    uint32_t value = pass->trace->value[event];
    mr_update update = value ? pass->trace->updates[value] : (mr_update){0};
    index_read(pass, event, update.read_value);
    index_write(pass, event, update.written_value);
}

static void index_acquire(index_pass *pass, lock_state *lock, uint32_t event)
{
    if (lock->depth++)
        pass->trace->link[event] = MR_NESTED;
    else
        lock->acquire = event;
}

static void index_release(index_pass *pass, lock_state *lock, uint32_t event)
{
    if (--lock->depth) {
        pass->trace->link[event] = MR_NESTED;
    } else {
        pass->trace->link[event] = lock->acquire;
        pass->trace->link[lock->acquire] = event;
    }
}

/* The shared holds of the event's lock by its thread. NULL: no memory. */
static lock_state *get_share(index_pass *pass, uint32_t event)
{
    uint64_t key = (uint64_t)pass->trace->operand[event] << 32 | pass->trace->thread[event];
    uint32_t known = pass->share_numbers.count, number;
    void *shares = pass->shares;
    if (!mr_grow(&shares, &pass->share_capacity, (size_t)known + 2, sizeof *pass->shares))
        return NULL;
    pass->shares = shares;
    if (!mr_keys_add(&pass->share_numbers, key, &number))
        return NULL;
    if (number > known)
        pass->shares[number] = (lock_state){0};
    return &pass->shares[number];
}

static bool index_post(index_pass *pass, uint32_t event)
{
    post_queue *queue = &pass->queues[pass->trace->operand[event]];
    void *posts = pass->posts;
    if (!mr_grow(&posts, &pass->post_capacity, pass->post_count + 1, sizeof *pass->posts))
        return false;
    pass->posts = posts;
    uint32_t number = (uint32_t)pass->post_count++;
    pass->posts[number] = (post){event, MR_NONE};
    *(queue->first == MR_NONE ? &queue->first : &pass->posts[queue->last].next) = number;
    queue->last = number;
    return true;
}

/* The trace is valid: there is a unit. */
static void index_wait(index_pass *pass, uint32_t event)
{
    post_queue *queue = &pass->queues[pass->trace->operand[event]];
    assert(pass->posts && queue->first != MR_NONE);
    const post *given = &pass->posts[queue->first];
    pass->trace->link[event] = given->event;
    pass->trace->link[given->event] = event;
    queue->first = given->next;
}

static void index_call(index_pass *pass, uint32_t event)
{
    uint32_t *link = pass->trace->link, *open = &pass->open_call[pass->trace->thread[event]];
    if (pass->trace->op[event] == MR_OP_CALL_BEGIN) {
        link[event] = *open;
        *open = event;
        return;
    }
    uint32_t begin = *open;
    *open = link[begin];
    link[begin] = event;
    link[event] = begin;
}

/* Calls that never return have no end to link to. */
static void close_calls(index_pass *pass)
{
    uint32_t *link = pass->trace->link;
    for (uint32_t thread = 0; thread < pass->trace->threads.count; thread++)
        for (uint32_t call = pass->open_call[thread], outer; call != MR_NONE; call = outer) {
            outer = link[call];
            link[call] = MR_NONE;
        }
}

/* Any operation but r and w. False: no memory. */
static bool index_operation(index_pass *pass, uint32_t event)
{
    const mr_trace *trace = pass->trace;
    lock_state *share;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_ATOMIC_READ:
        index_read(pass, event, trace->value[event]);
        return true;
    case MR_OP_ATOMIC_WRITE:
        index_write(pass, event, trace->value[event]);
        return true;
    case MR_OP_ATOMIC_UPDATE:
        index_update(pass, event);
        return true;
    case MR_OP_ACQUIRE:
        index_acquire(pass, &pass->locks[trace->operand[event]], event);
        return true;
    case MR_OP_RELEASE:
        index_release(pass, &pass->locks[trace->operand[event]], event);
        return true;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        share = get_share(pass, event);
        if (share)
            (trace->op[event] == MR_OP_SHARED_ACQUIRE ? index_acquire : index_release)(pass, share,
                                                                                       event);
        return share != NULL;
    case MR_OP_POST:
        return index_post(pass, event);
    case MR_OP_WAIT:
        index_wait(pass, event);
        return true;
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
        index_call(pass, event);
        return true;
    case MR_OP_FORK:
        trace->thread_info[trace->operand[event]].fork = event;
        return true;
    default:
        return true;
    }
}

/* One event by the thread. */
static inline void index_thread(mr_thread_info *info, uint32_t event)
{
    info->first = info->event_count++ ? info->first : event;
    info->last = event;
}

static bool allocate(index_pass *pass)
{
    mr_trace *trace = pass->trace;
    trace->variable_info = mr_calloc(trace->variables.count, sizeof *trace->variable_info);
    trace->thread_info = mr_calloc(trace->threads.count, sizeof *trace->thread_info);
    pass->variables = mr_calloc(trace->variables.count, sizeof *pass->variables);
    pass->locks = mr_calloc(trace->locks.count, sizeof *pass->locks);
    pass->queues = mr_calloc(trace->locks.count, sizeof *pass->queues);
    pass->open_call = mr_calloc(trace->threads.count, sizeof *pass->open_call);
    return trace->variable_info && trace->thread_info && pass->variables && pass->locks &&
           pass->queues && pass->open_call;
}

/* Links of later events to earlier ones: `link` of what was not met yet is never touched. */
static bool index_events(index_pass *pass)
{
    mr_trace *trace = pass->trace;
    uint64_t reads = 0, writes = 0;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        mr_trace_pass(trace, event);
        index_thread(&trace->thread_info[trace->thread[event]], event);
        if (op == MR_OP_READ) {
            index_read(pass, event, trace->value[event]);
            reads++;
            continue;
        }
        trace->link[event] = MR_NONE;
        if (op == MR_OP_WRITE) {
            index_write(pass, event, trace->value[event]);
            writes++;
        } else {
            if (!index_operation(pass, event))
                return false;
            trace->op_counts[op]++;
        }
    }
    trace->op_counts[MR_OP_READ] += reads;
    trace->op_counts[MR_OP_WRITE] += writes;
    return true;
}

static bool run(index_pass *pass)
{
    mr_trace *trace = pass->trace;
    for (uint32_t i = 0; i < trace->variables.count; i++)
        pass->variables[i].last_write = MR_NONE;
    for (uint32_t i = 0; i < trace->locks.count; i++)
        pass->queues[i].first = MR_NONE;
    for (uint32_t i = 0; i < trace->threads.count; i++) {
        trace->thread_info[i] =
            (mr_thread_info){.fork = MR_NONE, .first = MR_NONE, .last = MR_NONE};
        pass->open_call[i] = MR_NONE;
    }
    if (!index_events(pass))
        return false;
    for (uint32_t i = 0; i < trace->variables.count; i++) {
        const variable_state *state = &pass->variables[i];
        trace->variable_info[i] = (mr_variable_info){state->initial_value, state->by_source};
        trace->by_source_count += state->by_source;
    }
    close_calls(pass);
    return true;
}

mr_status mr_index_build(mr_trace *trace, mr_error *error)
{
    index_pass pass = {.trace = trace};
    mr_status status = mr_columns_reserve_links(trace, trace->event_count, error);
    if (status)
        return status;
    bool done = allocate(&pass) && run(&pass);
    free(pass.variables);
    free(pass.locks);
    free(pass.shares);
    free(pass.queues);
    free(pass.posts);
    free(pass.open_call);
    mr_keys_free(&pass.share_numbers);
    return done ? MR_OK : mr_error_memory(error, "indexing the trace");
}
