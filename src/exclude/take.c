#include "take.h"

#include "base/assert.h"

#include <stdlib.h>

/* Removes the acquire that belongs to `release` from the list of open acquires of its thread, whose
 * newest is at `*top`, and returns it. MR_NONE: there is none. */
static uint32_t close_acquire(const mr_trace *trace, uint32_t release, uint32_t *top,
                              uint32_t *below)
{
    bool shared = mr_op_is_shared(trace->op[release]);
    for (uint32_t *at = top; *at != MR_NONE; at = &below[*at]) {
        uint32_t acquire = *at;
        if (trace->operand[acquire] == trace->operand[release] &&
            mr_op_is_shared(trace->op[acquire]) == shared) {
            *at = below[acquire];
            return acquire;
        }
    }
    return MR_NONE;
}

static void take_together(bool *taken, uint32_t a, uint32_t b)
{
    taken[a] = taken[b] = taken[a] || taken[b];
}

/* Takes the partners of taken events: of acquires and releases, nested ones too, and of posts and
 * waits. */
static bool take_partners(const mr_trace *trace, bool *taken)
{
    uint32_t *top = mr_calloc((size_t)trace->threads.count + 1, sizeof *top);
    uint32_t *below = mr_calloc((size_t)trace->event_count + 1, sizeof *below);
    bool done = top && below;
    for (uint32_t t = 0; done && t < trace->threads.count; t++)
        top[t] = MR_NONE;
    for (uint32_t event = 0; done && event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        uint32_t *own = &top[trace->thread[event]];
        if (mr_op_acquires(op)) {
            below[event] = *own;
            *own = event;
        } else if (mr_op_releases(op)) {
            uint32_t acquire = close_acquire(trace, event, own, below);
            MR_ASSERT(acquire == MR_NONE || acquire < event);
            if (acquire != MR_NONE)
                take_together(taken, acquire, event);
        } else if (mr_op_takes(op) && trace->link[event] != MR_NONE) {
            MR_ASSERT(trace->link[event] < event && mr_op_gives(trace->op[trace->link[event]]));
            take_together(taken, trace->link[event], event);
        }
    }
    free(top);
    free(below);
    return done;
}

/* For each variable, the thread that writes it in events that are not taken, or one of: MR_NONE, no
 * thread; SEVERAL. */
enum { SEVERAL = MR_NONE - 1 };

static void find_writers(const mr_trace *trace, const bool *taken, uint32_t *writer)
{
    for (uint32_t v = 0; v < trace->variables.count; v++)
        writer[v] = MR_NONE;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (taken[event] || !mr_op_writes(trace->op[event]))
            continue;
        uint32_t *of = &writer[trace->operand[event]];
        *of = *of == MR_NONE || *of == trace->thread[event] ? trace->thread[event] : SEVERAL;
    }
}

/* Takes writes by rule (2). From the end to the start: an update that is taken here reads, too. */
static bool take_sources(const mr_trace *trace, bool *taken)
{
    bool every = trace->op_counts[MR_OP_BRANCH] > 0;
    uint32_t *writer = mr_calloc((size_t)trace->variables.count + 1, sizeof *writer);
    if (!writer)
        return false;
    find_writers(trace, taken, writer);
    for (uint32_t event = trace->event_count; event-- > 0;) {
        if (!taken[event] || !mr_op_reads(trace->op[event]) || trace->link[event] == MR_NONE)
            continue;
        MR_ASSERT(trace->link[event] < event); /* the walk backwards still meets the write */
        if (every || writer[trace->operand[event]] == SEVERAL)
            taken[trace->link[event]] = true;
    }
    free(writer);
    return true;
}

/* Can the event go into a call? What begins and ends lives has to stay, and so have the accesses
 * that another thread's alloc or free is ordered with, because a call is not ordered with these; a
 * fence orders events of its thread that stay. */
static bool can_go(const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    if (mr_op_operand_kind((mr_op)op) == MR_OPERAND_CALL)
        return false;
    if (mr_op_operand_kind((mr_op)op) == MR_OPERAND_OBJECT || mr_op_fences(op))
        return false;
    uint32_t object = mr_op_is_access(op) ? mr_trace_object(trace, trace->operand[event]) : MR_NONE;
    if (object == MR_NONE)
        return true;
    const mr_object_info *info = &trace->object_info[object];
    uint32_t thread = trace->thread[event];
    return (info->alloc == MR_NONE || trace->thread[info->alloc] == thread) &&
           (info->free == MR_NONE || trace->thread[info->free] == thread);
}

bool mr_take_events(const mr_trace *trace, const mr_exclude_options *options, bool *taken)
{
    for (uint32_t event = 0; event < trace->event_count; event++)
        taken[event] = options->chosen[trace->location[event]] && can_go(trace, event);
    return take_partners(trace, taken) && (options->whole_runs || take_sources(trace, taken));
}
