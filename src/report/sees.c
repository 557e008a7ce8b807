#include "sees.h"

#include "base/assert.h"

#include <stdlib.h>

static void forget(mr_sees *sees)
{
    for (uint32_t i = 0; i < sees->trace->variables.count; i++)
        sees->last_write[i] = MR_NONE;
    sees->position = 0;
}

bool mr_sees_init(mr_sees *sees, const mr_trace *trace)
{
    *sees = (mr_sees){.trace = trace};
    sees->last_write = mr_calloc((size_t)trace->variables.count + 1, sizeof *sees->last_write);
    if (sees->last_write == NULL)
        return false;
    forget(sees);
    return true;
}

void mr_sees_free(mr_sees *sees)
{
    free(sees->last_write);
    mr_u32s_free(&sees->undo);
}

void mr_sees_start(mr_sees *sees, uint32_t window_start)
{
    const mr_trace *trace = sees->trace;
    MR_REQUIRE(window_start <= trace->event_count);
    MR_ASSERT(sees->undo.count % 2 == 0);
    while (sees->undo.count > 0) {
        uint32_t before = sees->undo.items[--sees->undo.count];
        uint32_t variable = sees->undo.items[--sees->undo.count];
        sees->last_write[variable] = before;
    }
    if (window_start < sees->position)
        forget(sees);
    for (; sees->position < window_start; sees->position++)
        if (mr_op_writes(trace->op[sees->position]))
            sees->last_write[trace->operand[sees->position]] = sees->position;
}

bool mr_sees_step(mr_sees *sees, uint32_t event, uint32_t *seen)
{
    const mr_trace *trace = sees->trace;
    MR_REQUIRE(event < trace->event_count && event >= sees->position);
    uint32_t variable = trace->operand[event];
    *seen = mr_op_reads(trace->op[event]) ? sees->last_write[variable] : MR_NONE;
    if (!mr_op_writes(trace->op[event]))
        return true;
    if (!mr_u32s_push(&sees->undo, variable))
        return false;
    if (!mr_u32s_push(&sees->undo, sees->last_write[variable])) {
        sees->undo.count--;
        return false;
    }
    sees->last_write[variable] = event;
    return true;
}

uint32_t mr_sees_last(const mr_sees *sees, uint32_t variable)
{
    return sees->last_write[variable];
}
