#include "holds.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

bool mr_holds_init(mr_holds *holds, const mr_trace *trace)
{
    holds->thread_count = trace->threads.count;
    holds->threads = mr_calloc((size_t)holds->thread_count + 1, sizeof *holds->threads);
    return holds->threads != NULL;
}

void mr_holds_free(mr_holds *holds)
{
    for (uint32_t t = 0; holds->threads && t < holds->thread_count; t++)
        free(holds->threads[t].items);
    free(holds->threads);
    *holds = (mr_holds){0};
}

static void drop(mr_thread_holds *held, uint32_t acquire)
{
    size_t i = held->count;
    while (i > 0 && held->items[i - 1].acquire != acquire)
        i--;
    MR_ASSERT(i > 0); /* the trace is valid */
    memmove(held->items + i - 1, held->items + i, (held->count - i) * sizeof *held->items);
    held->count--;
}

bool mr_holds_step(mr_holds *holds, const mr_trace *trace, uint32_t event)
{
    uint8_t op = trace->op[event];
    if ((!mr_op_acquires(op) && !mr_op_releases(op)) || trace->link[event] == MR_NESTED)
        return true;
    mr_thread_holds *held = &holds->threads[trace->thread[event]];
    if (mr_op_releases(op)) {
        drop(held, trace->link[event]);
        return true;
    }
    if (!mr_grow((void **)&held->items, &held->capacity, held->count + 1, sizeof *held->items))
        return false;
    held->items[held->count++] = (mr_hold){trace->operand[event], event, mr_op_is_shared(op)};
    return true;
}
