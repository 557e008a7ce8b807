#include "standing.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool mr_standing_make(mr_standing *standing, const mr_trace *trace)
{
    size_t last = (trace->variables.count + 1ull) * sizeof *standing->last;
    standing->last = mr_malloc(last, 0);
    standing->holders = mr_calloc(trace->locks.count + 1ull, sizeof *standing->holders);
    standing->exclusive = mr_calloc(trace->locks.count + 1ull, sizeof *standing->exclusive);
    if (!standing->last || !standing->holders || !standing->exclusive)
        return false;
    memset(standing->last, 0xFF, last);
    return true;
}

void mr_standing_free(mr_standing *standing)
{
    free(standing->last);
    free(standing->holders);
    free(standing->exclusive);
    *standing = (mr_standing){.last = NULL};
}

bool mr_standing_is_outermost(const mr_trace *trace, uint32_t event)
{
    return mr_op_acquires(trace->op[event]) && trace->link[event] != MR_NESTED;
}

bool mr_standing_can_acquire(const mr_standing *standing, const mr_trace *trace, uint32_t event)
{
    uint32_t lock = trace->operand[event];
    return !standing->holders[lock] ||
           (mr_op_is_shared(trace->op[event]) && !standing->exclusive[lock]);
}

void mr_standing_take(mr_standing *standing, const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    uint32_t what = trace->operand[event];
    if (mr_op_is_access(op) && mr_op_writes(op))
        standing->last[what] = event;
    if (mr_standing_is_outermost(trace, event)) {
        standing->holders[what]++;
        standing->exclusive[what] = !mr_op_is_shared(op);
    }
    if (mr_op_releases(op) && trace->link[event] != MR_NESTED && standing->holders[what])
        standing->holders[what]--;
}
