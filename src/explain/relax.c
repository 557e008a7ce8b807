#include "relax.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *column, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, column, bytes);
    return copy;
}

static bool goes(const mr_trace *trace, mr_relaxed kind, uint32_t name, uint32_t event)
{
    uint8_t op = trace->op[event];
    if (name != MR_NONE && trace->operand[event] != name)
        return false;
    switch (kind) {
    case MR_RELAXED_READS:
        return mr_op_reads(op);
    case MR_RELAXED_LOCK:
        return MR_OP_DOES(op, MR_ACQUIRES | MR_RELEASES);
    case MR_RELAXED_SEMAPHORES:
        return MR_OP_DOES(op, MR_GIVES | MR_TAKES);
    case MR_RELAXED_CALLS:
        return MR_OP_DOES(op, MR_CALLS | MR_RETURNS);
    }
    return false;
}

static void take_away(mr_relaxed_trace *relaxed, uint32_t event)
{
    mr_trace *trace = &relaxed->trace;
    mr_op op = mr_op_updates(trace->op[event]) ? MR_OP_ATOMIC_WRITE : MR_OP_FENCE;
    uint32_t written = mr_trace_written_value(trace, event);
    trace->op_counts[trace->op[event]]--;
    trace->op_counts[op]++;
    relaxed->op[event] = (uint8_t)op;
    relaxed->value[event] = op == MR_OP_FENCE ? 0 : written;
    if (op != MR_OP_FENCE)
        return;
    relaxed->operand[event] = 0;
    relaxed->link[event] = MR_NONE;
}

bool mr_relax(mr_relaxed_trace *relaxed, const mr_trace *trace, mr_relaxed kind, uint32_t name,
              uint32_t first, uint32_t second)
{
    const size_t count = trace->event_count;
    *relaxed =
        (mr_relaxed_trace){.trace = *trace,
                           .op = copy_of(trace->op, count * sizeof *trace->op),
                           .operand = copy_of(trace->operand, count * sizeof *trace->operand),
                           .value = copy_of(trace->value, count * sizeof *trace->value),
                           .link = copy_of(trace->link, count * sizeof *trace->link)};
    if (!relaxed->op || !relaxed->operand || !relaxed->value || !relaxed->link)
        return false;
    relaxed->trace.outlook = NULL; /* the known one is of all events */
    relaxed->trace.op = relaxed->op;
    relaxed->trace.operand = relaxed->operand;
    relaxed->trace.value = relaxed->value;
    relaxed->trace.link = relaxed->link;
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (event != first && event != second && goes(trace, kind, name, event))
            take_away(relaxed, event);
    return true;
}

void mr_relaxed_free(mr_relaxed_trace *relaxed)
{
    free(relaxed->op);
    free(relaxed->operand);
    free(relaxed->value);
    free(relaxed->link);
}
