#include "mrt_stacks.h"

#include "trace/columns.h"

#include <string.h>

static mr_status wrong(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the .mrt file is wrong: %s", what);
}

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "reading the trace");
}

/* The rows of a block without stacks are zeros. */
static mr_status fill_to(mr_mrt_stacks_reader *reader, mr_trace *trace, uint32_t count,
                         mr_error *error)
{
    mr_status status = mr_columns_reserve_stacks(trace, count, error);
    if (status)
        return status;
    if (count > reader->filled)
        memset(trace->stack + reader->filled, 0, (count - reader->filled) * sizeof *trace->stack);
    reader->filled = count;
    return MR_OK;
}

static mr_status add_stacks(mr_mrt_stacks_reader *reader, mr_trace *trace,
                            const unsigned char *entries, uint32_t count, mr_error *error)
{
    uint32_t old = trace->stack_count ? trace->stack_count : 1;
    void *stacks = trace->stacks;
    if (count > UINT32_MAX - old)
        return wrong(error, "too many stacks");
    if (!mr_grow(&stacks, &reader->stack_capacity, (size_t)old + count, sizeof *trace->stacks))
        return no_memory(error);
    trace->stacks = stacks;
    trace->stacks[0] = (mr_stack){0};
    if (count)
        memcpy(trace->stacks + old, entries, count * sizeof *trace->stacks);
    for (uint32_t i = old; i < old + count; i++)
        if (trace->stacks[i].caller >= i || trace->stacks[i].frame >= trace->frames.count)
            return wrong(error, "a stack of frames that there are not");
    trace->stack_count = old + count;
    return MR_OK;
}

mr_status mr_mrt_stacks_read(mr_mrt_stacks_reader *reader, mr_trace *trace,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             mr_error *error)
{
    mr_mrt_stacks head;
    if (chunk->size_bytes < sizeof head)
        return wrong(error, "stacks of another size");
    memcpy(&head, payload, sizeof head);
    if (chunk->size_bytes !=
        sizeof head + sizeof(mr_stack) * (uint64_t)head.stack_count + 4ull * chunk->count)
        return wrong(error, "stacks of another size");
    mr_status status = add_stacks(reader, trace, payload + sizeof head, head.stack_count, error);
    if (!status)
        status = fill_to(reader, trace, chunk->first + chunk->count, error);
    if (status)
        return status;
    uint32_t *rows = trace->stack + chunk->first;
    memcpy(rows, payload + sizeof head + sizeof(mr_stack) * (uint64_t)head.stack_count,
           chunk->count * sizeof *rows);
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (rows[i] < trace->stack_count)
            continue;
        memset(rows, 0, chunk->count * sizeof *rows);
        return wrong(error, "an event with a stack that there is not");
    }
    return MR_OK;
}

mr_status mr_mrt_stacks_finish(mr_mrt_stacks_reader *reader, mr_trace *trace, mr_error *error)
{
    return trace->stack ? fill_to(reader, trace, trace->event_count, error) : MR_OK;
}
