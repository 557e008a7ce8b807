#include "syncp_reference.h"

#include <stdlib.h>
#include <string.h>

/* The last events of something, while the columns are gone through. */
typedef struct scan {
    uint32_t *of_thread, *write_of_variable, *acquire_of_lock, *depth_of_lock;
} scan;

static uint32_t *new_numbers(uint32_t count, uint32_t value)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < count; i++)
        numbers[i] = value;
    return numbers;
}

static void scan_lock(mr_syncp_reference *reference, scan *s, uint32_t event)
{
    uint32_t lock = reference->trace->operand[event];
    if (reference->trace->op[event] == MR_OP_ACQUIRE) {
        if (s->depth_of_lock[lock]++)
            return;
        reference->outermost[event] = true;
        s->acquire_of_lock[lock] = event;
    } else if (--s->depth_of_lock[lock] == 0) {
        reference->release[s->acquire_of_lock[lock]] = event;
    }
}

static void scan_event(mr_syncp_reference *reference, scan *s, uint32_t event)
{
    const mr_trace *trace = reference->trace;
    uint32_t thread = trace->thread[event], operand = trace->operand[event];
    reference->previous[event] = s->of_thread[thread];
    s->of_thread[thread] = event;
    switch ((mr_op)trace->op[event]) {
    case MR_OP_READ:
    case MR_OP_ATOMIC_READ:
        reference->source[event] = s->write_of_variable[operand];
        break;
    case MR_OP_ATOMIC_UPDATE:
        reference->source[event] = s->write_of_variable[operand];
        s->write_of_variable[operand] = event;
        break;
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
        s->write_of_variable[operand] = event;
        break;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
        scan_lock(reference, s, event);
        break;
    case MR_OP_FORK:
        reference->fork[operand] = event;
        break;
    case MR_OP_JOIN:
        reference->source[event] = s->of_thread[operand];
        break;
    case MR_OP_ALLOC:
        reference->alloc[operand] = event;
        break;
    case MR_OP_FREE:
        reference->freed[operand] = event;
        break;
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* not in the traces that it is asked about, or nothing to note */
    }
}

bool mr_syncp_reference_init(mr_syncp_reference *reference, const mr_trace *trace)
{
    uint32_t events = trace->event_count, locks = trace->locks.count;
    *reference = (mr_syncp_reference){
        .trace = trace,
        .previous = new_numbers(events, MR_NONE),
        .source = new_numbers(events, MR_NONE),
        .release = new_numbers(events, MR_NONE),
        .fork = new_numbers(trace->threads.count, MR_NONE),
        .alloc = new_numbers(trace->objects.count, MR_NONE),
        .freed = new_numbers(trace->objects.count, MR_NONE),
        .outermost = calloc(events + 1, sizeof(bool)),
        .latest = new_numbers(locks, MR_NONE),
        .included = calloc(events + 1, sizeof(bool)),
        .stack = new_numbers(events, 0),
    };
    scan s = {
        .of_thread = new_numbers(trace->threads.count, MR_NONE),
        .write_of_variable = new_numbers(trace->variables.count, MR_NONE),
        .acquire_of_lock = new_numbers(locks, MR_NONE),
        .depth_of_lock = new_numbers(locks, 0),
    };
    bool ok = reference->previous && reference->source && reference->release && reference->fork &&
              reference->alloc && reference->freed && reference->outermost && reference->latest &&
              reference->included && reference->stack && s.of_thread && s.write_of_variable &&
              s.acquire_of_lock && s.depth_of_lock;
    for (uint32_t event = 0; ok && event < events; event++)
        scan_event(reference, &s, event);
    free(s.of_thread);
    free(s.write_of_variable);
    free(s.acquire_of_lock);
    free(s.depth_of_lock);
    return ok;
}

void mr_syncp_reference_free(mr_syncp_reference *reference)
{
    free(reference->previous);
    free(reference->source);
    free(reference->release);
    free(reference->fork);
    free(reference->alloc);
    free(reference->freed);
    free(reference->outermost);
    free(reference->latest);
    free(reference->included);
    free(reference->stack);
}

/* The object that the event accesses or frees, MR_NONE: none. */
static uint32_t object_of(const mr_trace *trace, uint32_t event)
{
    uint32_t operand = trace->operand[event];
    if (trace->op[event] == MR_OP_FREE)
        return operand;
    return trace->op[event] <= MR_OP_ATOMIC_UPDATE ? mr_trace_object(trace, operand) : MR_NONE;
}

static void include(mr_syncp_reference *reference, uint32_t event)
{
    if (event == MR_NONE || reference->included[event])
        return;
    reference->included[event] = true;
    reference->stack[reference->stack_count++] = event;
}

/* What has to come before the event wherever it is. */
static void include_needs(mr_syncp_reference *reference, uint32_t event)
{
    include(reference, reference->previous[event]);
    include(reference, reference->fork[reference->trace->thread[event]]);
    uint32_t object = object_of(reference->trace, event);
    if (object != MR_NONE)
        include(reference, reference->alloc[object]);
}

/* Has the object of the access been freed in the closure, though not yet in the trace? */
static bool is_over(const mr_syncp_reference *reference, uint32_t access)
{
    uint32_t object = object_of(reference->trace, access);
    uint32_t freed = object == MR_NONE ? MR_NONE : reference->freed[object];
    return freed != MR_NONE && freed > access && reference->included[freed];
}

/* All acquires of the lock in the closure but the latest have their releases there. */
static void include_release(mr_syncp_reference *reference, uint32_t acquire)
{
    uint32_t *latest = &reference->latest[reference->trace->operand[acquire]];
    uint32_t earlier = acquire;
    if (*latest == MR_NONE || *latest < acquire) {
        earlier = *latest;
        *latest = acquire;
    }
    if (earlier != MR_NONE)
        include(reference, reference->release[earlier]);
}

bool mr_syncp_reference_race(mr_syncp_reference *reference, uint32_t first, uint32_t second,
                             uint32_t start)
{
    const mr_trace *trace = reference->trace;
    memset(reference->included, 0, trace->event_count * sizeof(bool));
    for (uint32_t lock = 0; lock < trace->locks.count; lock++)
        reference->latest[lock] = MR_NONE;
    reference->stack_count = 0;
    for (uint32_t event = 0; event < start; event++)
        include(reference, event);
    include_needs(reference, first);
    include_needs(reference, second);
    while (reference->stack_count && !reference->included[first] && !reference->included[second]) {
        uint32_t event = reference->stack[--reference->stack_count];
        include_needs(reference, event);
        include(reference, reference->source[event]);
        if (reference->outermost[event])
            include_release(reference, event);
    }
    return !reference->included[first] && !reference->included[second] &&
           !is_over(reference, first) && !is_over(reference, second);
}
