/* The state that the events before a window leave behind. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *new_numbers(uint32_t count)
{
    uint32_t *numbers = mr_calloc(count, sizeof *numbers);
    if (numbers)
        memset(numbers, 0xff, count * sizeof *numbers); /* MR_NONE */
    return numbers;
}

mr_status mr_carried_init(mr_carried *carried, const mr_trace *trace, mr_error *error)
{
    *carried = (mr_carried){.trace = trace};
    carried->last_write = new_numbers(trace->variables.count);
    carried->open_acquire = new_numbers(trace->locks.count);
    carried->dense_thread = new_numbers(trace->threads.count);
    carried->dense_variable = new_numbers(trace->variables.count);
    carried->dense_lock = new_numbers(trace->locks.count);
    if (carried->last_write && carried->open_acquire && carried->dense_thread &&
        carried->dense_variable && carried->dense_lock)
        return MR_OK;
    mr_carried_free(carried);
    return mr_error_memory(error, "preparing the windows");
}

void mr_carried_free(mr_carried *carried)
{
    free(carried->last_write);
    free(carried->open_acquire);
    free(carried->dense_thread);
    free(carried->dense_variable);
    free(carried->dense_lock);
    *carried = (mr_carried){0};
}

static void play(mr_carried *carried, uint32_t event)
{
    const mr_trace *trace = carried->trace;
    uint32_t operand = trace->operand[event];
    switch (trace->op[event]) {
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        carried->last_write[operand] = event;
        break;
    case MR_OP_ACQUIRE:
        if (trace->link[event] != MR_NESTED)
            carried->open_acquire[operand] = event;
        break;
    case MR_OP_RELEASE:
        if (trace->link[event] != MR_NESTED)
            carried->open_acquire[operand] = MR_NONE;
        break;
    default:
        break;
    }
}

void mr_carried_move(mr_carried *carried, uint32_t event)
{
    if (event < carried->next) {
        const mr_trace *trace = carried->trace;
        memset(carried->last_write, 0xff, trace->variables.count * sizeof *carried->last_write);
        memset(carried->open_acquire, 0xff, trace->locks.count * sizeof *carried->open_acquire);
        carried->next = 0;
    }
    for (; carried->next < event; carried->next++)
        play(carried, carried->next);
}
