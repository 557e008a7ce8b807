#include "mrt_orders.h"

#include "trace/columns.h"

#include <string.h>

/* Rows of blocks without memory orders are sc. */
static mr_status fill_to(mr_mrt_orders_reader *reader, mr_trace *trace, uint32_t count,
                         mr_error *error)
{
    mr_status status = mr_columns_reserve_orders(trace, count, error);
    if (status)
        return status;
    if (count > reader->filled)
        memset(trace->memory_order + reader->filled, MR_ORDER_SC, count - reader->filled);
    reader->filled = count;
    return MR_OK;
}

mr_status mr_mrt_orders_read(mr_mrt_orders_reader *reader, mr_trace *trace,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             mr_error *error)
{
    uint32_t end = chunk->first + chunk->count;
    mr_status status = fill_to(reader, trace, end, error);
    if (status)
        return status;
    for (uint32_t i = 0; i < chunk->count; i++) {
        mr_op op = (mr_op)trace->op[chunk->first + i];
        if (payload[i] >= MR_MEMORY_ORDER_COUNT ||
            !mr_memory_order_fits(op, (mr_memory_order)payload[i]))
            return mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                                "the .mrt file is wrong: an event with a memory order that it "
                                "cannot have");
        trace->memory_order[chunk->first + i] = payload[i];
    }
    return MR_OK;
}

mr_status mr_mrt_orders_finish(mr_mrt_orders_reader *reader, mr_trace *trace, mr_error *error)
{
    return trace->memory_order ? fill_to(reader, trace, trace->event_count, error) : MR_OK;
}
