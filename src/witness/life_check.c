#include "life_check.h"

#include <stdlib.h>

/* The object of which the event accesses a variable, or MR_NONE. */
static uint32_t accessed(const mr_trace *trace, uint32_t event)
{
    return mr_op_is_access(trace->op[event]) ? mr_trace_object(trace, trace->operand[event])
                                             : MR_NONE;
}

bool mr_witness_lives_init(mr_witness_lives *lives, const mr_trace *trace)
{
    uint32_t count = trace->objects.count;
    *lives = (mr_witness_lives){.trace = trace};
    lives->alloc = mr_calloc(count, sizeof *lives->alloc);
    lives->free = mr_calloc(count, sizeof *lives->free);
    if (!lives->alloc || !lives->free)
        return false;
    for (uint32_t object = 0; object < count; object++)
        lives->alloc[object] = lives->free[object] = MR_NONE;
    for (uint32_t event = 0; count && event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (trace->op[event] == MR_OP_ALLOC)
            lives->alloc[trace->operand[event]] = event;
        if (trace->op[event] == MR_OP_FREE)
            lives->free[trace->operand[event]] = event;
    }
    return true;
}

void mr_witness_lives_free(mr_witness_lives *lives)
{
    free(lives->alloc);
    free(lives->free);
}

bool mr_witness_lives_freed_by(const mr_witness_lives *lives, uint32_t access, uint32_t other)
{
    const mr_trace *trace = lives->trace;
    return trace->op[other] == MR_OP_FREE && accessed(trace, access) == trace->operand[other];
}

uint32_t mr_witness_lives_unborn(const mr_witness_lives *lives, const mr_replay *replay,
                                 uint32_t event)
{
    const mr_trace *trace = lives->trace;
    uint32_t object = accessed(trace, event);
    if (trace->op[event] == MR_OP_FREE)
        object = trace->operand[event];
    uint32_t alloc = object == MR_NONE ? MR_NONE : lives->alloc[object];
    return alloc != MR_NONE && !mr_replay_happened(replay, alloc) ? alloc : MR_NONE;
}

uint32_t mr_witness_lives_over(const mr_witness_lives *lives, const mr_replay *replay,
                               uint32_t event)
{
    uint32_t object = accessed(lives->trace, event);
    uint32_t end = object == MR_NONE ? MR_NONE : lives->free[object];
    return end != MR_NONE && event < end && mr_replay_happened(replay, end) ? end : MR_NONE;
}
