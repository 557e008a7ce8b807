#include "after.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

bool mr_after_init(mr_after *after, const mr_trace *trace, const mr_witness_calls *calls,
                   const mr_replay *replay, uint32_t event)
{
    *after = (mr_after){.trace = trace, .calls = calls, .replay = replay, .event = event};
    after->threads = mr_calloc((size_t)trace->threads.count + 1, sizeof *after->threads);
    after->locks = mr_calloc((size_t)trace->locks.count + 1, sizeof *after->locks);
    after->variables = mr_calloc((size_t)trace->variables.count + 1, sizeof *after->variables);
    after->allocs = mr_calloc((size_t)trace->objects.count + 1, sizeof *after->allocs);
    if (!after->threads || !after->locks || !after->variables || !after->allocs)
        return false;
    for (uint32_t lock = 0; lock < trace->locks.count; lock++)
        after->locks[lock].unmarked = replay->locks[lock].units;
    for (uint32_t variable = 0; variable < trace->variables.count; variable++)
        after->variables[variable].generation = 1;
    return true;
}

void mr_after_free(mr_after *after)
{
    for (uint32_t lock = 0; after->locks && lock < after->trace->locks.count; lock++)
        mr_u32s_free(&after->locks[lock].units);
    free(after->threads);
    free(after->locks);
    free(after->variables);
    free(after->allocs);
    mr_map_free(&after->heads);
    mr_u32s_free(&after->reached);
}

/* ---- release sequences ---- */

static bool acquires(mr_memory_order order)
{
    switch (order) {
    case MR_ORDER_SC:
    case MR_ORDER_ACQ:
    case MR_ORDER_ACQREL:
        return true;
    case MR_ORDER_RLX:
    case MR_ORDER_REL:
    case MR_ORDER_TRY:
        break;
    }
    return false;
}

static bool releases(mr_memory_order order)
{
    switch (order) {
    case MR_ORDER_SC:
    case MR_ORDER_REL:
    case MR_ORDER_ACQREL:
        return true;
    case MR_ORDER_RLX:
    case MR_ORDER_ACQ:
    case MR_ORDER_TRY:
        break;
    }
    return false;
}

static bool is_head(const mr_after *after, uint32_t variable, uint32_t thread)
{
    return mr_map_get(&after->heads, mr_map_key(variable, thread), 0) ==
           after->variables[variable].generation;
}

static bool set_head(mr_after *after, uint32_t variable, uint32_t thread)
{
    mr_after_variable *written = &after->variables[variable];
    uint32_t *place = mr_map_at(&after->heads, mr_map_key(variable, thread), 0);
    if (!place)
        return false;
    written->heads += *place != written->generation;
    *place = written->generation;
    return true;
}

/* A write that is no update: only the release sequences of its own thread go on. */
static bool end_sequences(mr_after *after, uint32_t variable, uint32_t thread)
{
    mr_after_variable *written = &after->variables[variable];
    bool goes_on = written->heads && is_head(after, variable, thread);
    written->generation++;
    written->heads = 0;
    return !goes_on || set_head(after, variable, thread);
}

static bool write_variable(mr_after *after, uint32_t event)
{
    const mr_trace *trace = after->trace;
    uint32_t thread = trace->thread[event], variable = trace->operand[event];
    mr_after_variable *written = &after->variables[variable];
    const mr_after_thread *self = &after->threads[thread];
    uint8_t op = trace->op[event];
    bool marked = self->fence || (self->marked && releases(mr_trace_memory_order(trace, event)));
    if (!mr_op_updates(op) && !end_sequences(after, variable, thread))
        return false;
    if (mr_op_is_atomic(op) && marked && !set_head(after, variable, thread))
        return false;
    written->marked = self->marked;
    written->is_plain = !mr_op_is_atomic(op);
    return true;
}

/* What an atomic read would synchronise with is marked. */
static bool reads_marked_sequence(const mr_after *after, uint32_t event)
{
    const mr_trace *trace = after->trace;
    return mr_op_is_atomic(trace->op[event]) && mr_op_reads(trace->op[event]) &&
           after->variables[trace->operand[event]].heads > 0;
}

static void read_variable(mr_after *after, uint32_t event)
{
    const mr_trace *trace = after->trace;
    mr_after_thread *self = &after->threads[trace->thread[event]];
    const mr_after_variable *read = &after->variables[trace->operand[event]];
    if (reads_marked_sequence(after, event)) {
        if (acquires(mr_trace_memory_order(trace, event)))
            self->marked = true;
        else
            self->unacquired = true;
    }
    if (read->marked && (read->is_plain || !mr_op_is_atomic(trace->op[event])))
        self->marked = true;
}

/* ---- synchronisation ---- */

static void wait(mr_after_lock *semaphore, mr_after_thread *self)
{
    if (semaphore->unmarked) {
        semaphore->unmarked--;
        return;
    }
    MR_ASSERT(semaphore->taken < semaphore->units.count);
    self->marked |= semaphore->units.items[semaphore->taken++] != 0;
}

static void fence(mr_after_thread *self, mr_memory_order order)
{
    if (acquires(order) && self->unacquired)
        self->marked = true;
    if (releases(order) && self->marked)
        self->fence = true;
}

/* What leads into the event, by locks, semaphores, joins and what it reads. */
static void follow(mr_after *after, uint32_t event)
{
    const mr_trace *trace = after->trace;
    uint32_t operand = trace->operand[event];
    mr_after_thread *self = &after->threads[trace->thread[event]];
    uint8_t op = trace->op[event];
    if (mr_op_acquires(op))
        self->marked |= after->locks[operand].released ||
                        (!mr_op_is_shared(op) && after->locks[operand].shared_released);
    else if (mr_op_takes(op))
        wait(&after->locks[operand], self);
    else if (mr_op_joins(op))
        self->marked |= after->threads[operand].marked;
    else if (mr_op_reads(op))
        read_variable(after, event);
}

/* What leads from it. */
static bool lead_on(mr_after *after, uint32_t event)
{
    const mr_trace *trace = after->trace;
    uint32_t operand = trace->operand[event];
    mr_after_thread *self = &after->threads[trace->thread[event]];
    uint8_t op = trace->op[event];
    if (mr_op_starts_life(op)) {
        after->allocs[operand] = self->marked;
    } else if (mr_op_fences(op)) {
        fence(self, mr_trace_memory_order(trace, event));
    } else if (mr_op_releases(op) && mr_op_is_shared(op)) {
        after->locks[operand].shared_released |= self->marked;
    } else if (mr_op_releases(op)) {
        after->locks[operand].released |= self->marked;
    } else if (mr_op_gives(op)) {
        return mr_u32s_push(&after->locks[operand].units, self->marked);
    } else if (mr_op_forks(op)) {
        after->threads[operand].marked |= self->marked;
    } else if (mr_op_writes(op)) {
        return write_variable(after, event);
    }
    return true;
}

/* The object whose variable the event accesses, or which it frees; MR_NONE: none. */
static uint32_t object_of(const mr_trace *trace, uint32_t event)
{
    if (mr_op_is_access(trace->op[event]))
        return mr_trace_object(trace, trace->operand[event]);
    return mr_op_ends_life(trace->op[event]) ? trace->operand[event] : MR_NONE;
}

/* Does the alloc of its object, or a call that was not recorded, put a marked event before this
 * one? */
static bool kept_behind(const mr_after *after, uint32_t event)
{
    uint32_t object = object_of(after->trace, event);
    if (object != MR_NONE && after->allocs[object])
        return true;
    for (size_t i = after->reached.count; i-- > 0;)
        if (mr_witness_calls_keep(after->calls, after->replay, after->reached.items[i], event))
            return true;
    return false;
}

bool mr_after_do(mr_after *after, uint32_t event)
{
    mr_after_thread *self = &after->threads[after->trace->thread[event]];
    if (!self->marked && kept_behind(after, event))
        self->marked = true;
    follow(after, event);
    if (event == after->event)
        self->marked = true;
    if (self->marked && !after->calls->none && !mr_u32s_push(&after->reached, event))
        return false;
    return lead_on(after, event);
}

bool mr_after_is_before(const mr_after *after, uint32_t next)
{
    return after->threads[after->trace->thread[next]].marked || kept_behind(after, next) ||
           (acquires(mr_trace_memory_order(after->trace, next)) &&
            reads_marked_sequence(after, next));
}
