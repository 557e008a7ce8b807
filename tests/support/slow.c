#include "slow.h"

bool mr_slow_is_write(const mr_trace *trace, uint32_t e)
{
    uint8_t op = trace->op[e];
    return op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
}

bool mr_slow_is_read(const mr_trace *trace, uint32_t e)
{
    uint8_t op = trace->op[e];
    return op == MR_OP_READ || op == MR_OP_ATOMIC_READ || op == MR_OP_ATOMIC_UPDATE;
}

bool mr_slow_is_access(const mr_trace *trace, uint32_t e)
{
    return mr_slow_is_read(trace, e) || mr_slow_is_write(trace, e);
}

uint32_t mr_slow_read_value(const mr_trace *trace, uint32_t e)
{
    uint32_t value = trace->value[e];
    return trace->op[e] != MR_OP_ATOMIC_UPDATE || !value ? value : trace->updates[value].read_value;
}

uint32_t mr_slow_written_value(const mr_trace *trace, uint32_t e)
{
    uint32_t value = trace->value[e];
    return trace->op[e] != MR_OP_ATOMIC_UPDATE || !value ? value
                                                         : trace->updates[value].written_value;
}

/* The two ways of holding a lock. */
static const uint8_t enter[2] = {MR_OP_ACQUIRE, MR_OP_SHARED_ACQUIRE};
static const uint8_t leave[2] = {MR_OP_RELEASE, MR_OP_SHARED_RELEASE};

uint32_t mr_slow_depth(const mr_trace *trace, uint32_t event, uint32_t thread, uint32_t lock,
                       bool shared)
{
    uint32_t held = 0;
    for (uint32_t e = 0; e < event; e++) {
        if (trace->thread[e] != thread || trace->operand[e] != lock)
            continue;
        held += trace->op[e] == enter[shared];
        held -= trace->op[e] == leave[shared];
    }
    return held;
}

bool mr_slow_is_outermost(const mr_trace *trace, uint32_t e)
{
    uint8_t op = trace->op[e];
    bool shared = op == MR_OP_SHARED_ACQUIRE || op == MR_OP_SHARED_RELEASE;
    uint32_t before = mr_slow_depth(trace, e, trace->thread[e], trace->operand[e], shared);
    return (op == enter[shared] && before == 0) || (op == leave[shared] && before == 1);
}

bool mr_slow_begins(const mr_trace *trace, uint32_t e)
{
    return (trace->op[e] == enter[0] || trace->op[e] == enter[1]) && mr_slow_is_outermost(trace, e);
}

uint32_t mr_slow_last_write(const mr_trace *trace, uint32_t from, uint32_t to, uint32_t variable,
                            uint32_t thread)
{
    while (to-- > from)
        if (mr_slow_is_write(trace, to) && trace->operand[to] == variable &&
            (thread == MR_NONE || trace->thread[to] == thread))
            return to;
    return MR_NONE;
}

uint32_t mr_slow_next_write(const mr_trace *trace, uint32_t from, uint32_t to, uint32_t variable,
                            uint32_t thread)
{
    for (; from < to; from++)
        if (mr_slow_is_write(trace, from) && trace->operand[from] == variable &&
            trace->thread[from] == thread)
            return from;
    return MR_NONE;
}

uint32_t mr_slow_release_after(const mr_trace *trace, uint32_t e, uint32_t end, uint32_t thread,
                               uint32_t lock, bool shared)
{
    for (; e < end; e++)
        if (trace->op[e] == leave[shared] && trace->thread[e] == thread &&
            trace->operand[e] == lock && mr_slow_is_outermost(trace, e))
            return e;
    return MR_NONE;
}
