#include "findings.h"

#include "base/assert.h"

uint32_t mr_finding_deref(const mr_trace *trace, const mr_witness *witness)
{
    uint32_t read = witness->second, thread = trace->thread[read], x = trace->operand[read];
    uint32_t last = MR_NONE, first = MR_NONE;
    for (uint32_t e = read + 1; e < trace->event_count; e++) {
        if (trace->thread[e] != thread)
            continue;
        /* `last` is a deref, and `e` the event behind it: is it of the kind that is looked for? */
        bool frees = mr_op_ends_life(trace->op[e]);
        if (last != MR_NONE && (witness->kind == MR_WITNESS_NULL ||
                                frees == (witness->kind == MR_WITNESS_DOUBLE_FREE)))
            return last;
        last = MR_NONE;
        if (mr_op_reads(trace->op[e]) && trace->operand[e] == x)
            break;
        if (trace->op[e] == MR_OP_DEREF && trace->operand[e] == x) {
            last = e;
            first = first == MR_NONE ? e : first;
        }
    }
    return last != MR_NONE ? last : first;
}

uint32_t mr_finding_held_since(const mr_trace *trace, uint32_t wait, uint32_t holder)
{
    bool shared = mr_op_is_shared(trace->op[wait]);
    for (uint32_t e = holder; e-- > 0;) {
        uint8_t op = trace->op[e];
        if (trace->thread[e] == trace->thread[holder] && mr_op_acquires(op) &&
            trace->operand[e] == trace->operand[wait] && trace->link[e] != MR_NESTED &&
            (trace->link[e] == MR_NONE || trace->link[e] > holder) &&
            !(shared && mr_op_is_shared(op)))
            return e;
    }
    MR_REQUIRE(false); /* the checker has accepted it */
    return MR_NONE;
}

const char *mr_finding_noun(mr_witness_kind kind, bool many)
{
    switch (kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        return many ? "uses after free" : "use after free";
    case MR_WITNESS_DEADLOCK:
        return many ? "deadlocks" : "deadlock";
    case MR_WITNESS_NULL:
        return many ? "null pointers" : "null pointer";
    case MR_WITNESS_DANGLING:
        return many ? "dangling pointers" : "dangling pointer";
    case MR_WITNESS_DOUBLE_FREE:
        return many ? "double frees" : "double free";
    case MR_WITNESS_SEES:
        return many ? "reads that see it" : "read that sees it";
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_KINDS:
        break;
    }
    return many ? "races" : "race";
}
