#include "sees.h"

#include "base/assert.h"

#include <stdlib.h>

/* ---- writes ---- */

bool mr_writes_build(mr_writes *writes, const mr_trace *trace)
{
    size_t variables = trace->variables.count;
    uint32_t *first = mr_calloc(variables + 2, sizeof *first);
    *writes = (mr_writes){.first = first};
    if (!first)
        return false;
    /* Counted two places on, so that filling in moves each begin to its own place. */
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (mr_op_writes(trace->op[i]))
            first[trace->operand[i] + 2]++;
    for (size_t i = 2; i < variables + 2; i++)
        first[i] += first[i - 1];
    writes->events = mr_calloc((size_t)first[variables + 1] + 1, sizeof *writes->events);
    for (uint32_t i = 0; writes->events && i < trace->event_count; i++)
        if (mr_op_writes(trace->op[i]))
            writes->events[first[trace->operand[i] + 1]++] = i;
    return writes->events != NULL;
}

void mr_writes_free(mr_writes *writes)
{
    free(writes->first);
    free(writes->events);
    *writes = (mr_writes){0};
}

/* The last write of the variable before `position`, or MR_NONE. */
static uint32_t write_before(const mr_writes *writes, uint32_t variable, uint32_t position)
{
    uint32_t low = writes->first[variable], first = low, high = writes->first[variable + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (writes->events[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? writes->events[low - 1] : MR_NONE;
}

/* ---- without them ---- */

static void forget(mr_sees *sees)
{
    for (uint32_t i = 0; i < sees->trace->variables.count; i++)
        sees->last_write[i] = MR_NONE;
    sees->position = 0;
}

static void go_to(mr_sees *sees, uint32_t window_start)
{
    const mr_trace *trace = sees->trace;
    if (window_start < sees->position)
        forget(sees);
    for (; sees->position < window_start; sees->position++)
        if (mr_op_writes(trace->op[sees->position]))
            sees->last_write[trace->operand[sees->position]] = sees->position;
}

/* ---- both ---- */

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
    MR_REQUIRE(window_start <= sees->trace->event_count);
    MR_ASSERT(sees->undo.count % 2 == 0);
    while (sees->undo.count > 0) {
        uint32_t before = sees->undo.items[--sees->undo.count];
        uint32_t variable = sees->undo.items[--sees->undo.count];
        sees->last_write[variable] = before;
    }
    if (sees->writes)
        sees->position = window_start;
    else
        go_to(sees, window_start);
}

uint32_t mr_sees_last(const mr_sees *sees, uint32_t variable)
{
    uint32_t last = sees->last_write[variable];
    return last == MR_NONE && sees->writes ? write_before(sees->writes, variable, sees->position)
                                           : last;
}

bool mr_sees_step(mr_sees *sees, uint32_t event, uint32_t *seen)
{
    const mr_trace *trace = sees->trace;
    MR_REQUIRE(event < trace->event_count && event >= sees->position);
    uint32_t variable = trace->operand[event];
    *seen = mr_op_reads(trace->op[event]) ? mr_sees_last(sees, variable) : MR_NONE;
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
