#include "mrt_values.h"

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

static mr_status add_values(mr_mrt_values_reader *reader, const unsigned char *at, uint32_t count,
                            mr_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        uint32_t known = reader->values.count, number;
        memcpy(&value, at + (size_t)i * sizeof value, sizeof value);
        if (!mr_keys_add(&reader->values, value, &number))
            return no_memory(error);
        if (number <= known)
            return wrong(error, "a value comes twice");
    }
    return MR_OK;
}

static mr_status add_updates(const mr_mrt_values_reader *reader, mr_trace *trace,
                             const unsigned char *at, uint32_t count, mr_error *error)
{
    uint32_t old = trace->update_count ? trace->update_count : 1;
    if (!count)
        return MR_OK;
    if (count > UINT32_MAX - old)
        return wrong(error, "too many updates");
    mr_status status = mr_columns_reserve_updates(trace, (size_t)old + count, error);
    if (status)
        return status;
    trace->updates[0] = (mr_update){0};
    memcpy(trace->updates + old, at, count * sizeof *trace->updates);
    for (uint32_t i = old; i < old + count; i++) {
        mr_update update = trace->updates[i];
        if (!update.read_value || update.read_value > reader->values.count ||
            !update.written_value || update.written_value > reader->values.count)
            return wrong(error, "an update with a value that there is not");
    }
    trace->update_count = old + count;
    return MR_OK;
}

static mr_status add_items(mr_trace *trace, const unsigned char *at, uint32_t count,
                           mr_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item;
        memcpy(&item, at + (size_t)i * sizeof item, sizeof item);
        if (item >= trace->reach_names.count || trace->reach_items.count >= UINT32_MAX)
            return wrong(error, "a call reaches what has no name");
        if (!mr_u32s_push(&trace->reach_items, item))
            return no_memory(error);
    }
    return MR_OK;
}

/* The lists must follow each other without gaps, so no item is in two lists. */
static mr_status add_reaches(mr_trace *trace, const unsigned char *at, uint32_t count,
                             size_t items_before, mr_error *error)
{
    uint32_t old = trace->reach_count ? trace->reach_count : 1;
    size_t next = items_before;
    if (count > UINT32_MAX - old)
        return wrong(error, "too many calls");
    if (count) {
        mr_status status = mr_columns_reserve_reaches(trace, (size_t)old + count, error);
        if (status)
            return status;
        trace->reaches[0] = (mr_reach){0};
        memcpy(trace->reaches + old, at, count * sizeof *trace->reaches);
    }
    for (uint32_t i = 0; i < count; i++) {
        mr_reach list = trace->reaches[old + i];
        if (list.first != next)
            return wrong(error, "lists of calls that overlap");
        next += list.count;
    }
    if (next != trace->reach_items.count)
        return wrong(error, "lists of calls of another length");
    if (count)
        trace->reach_count = old + count;
    return MR_OK;
}

/* Can the event have this value? */
static mr_status check_value(const mr_mrt_values_reader *reader, const mr_trace *trace, mr_op op,
                             uint32_t operand, uint32_t value, mr_error *error)
{
    uint32_t bound = 1;
    if (mr_op_calls((uint8_t)op)) {
        if (!value || value >= trace->reach_count)
            return wrong(error, "a call without a list of what it reaches");
        return MR_OK;
    }
    if (mr_op_has_pair((uint8_t)op))
        bound = trace->update_count ? trace->update_count : 1;
    else if (mr_op_is_access((uint8_t)op))
        bound = reader->values.count + 1;
    if (value >= bound)
        return wrong(error, "an event with a value that there is not");
    if (!value && mr_op_operand_kind(op) == MR_OPERAND_VARIABLE) {
        /* A text file could not tell it from a variable with a value. */
        const mr_name *name = &trace->variables.items[operand];
        if (memchr(name->text, '=', name->length))
            return wrong(error, "'=' in the name of a variable without a value");
    }
    return MR_OK;
}

/* Most events are plain accesses with a value. These are checked without a call. */
mr_status mr_mrt_values_check(const mr_mrt_values_reader *reader, const mr_trace *trace,
                              const mr_events *events, const uint32_t *column, mr_error *error)
{
    const uint8_t *ops = events->op;
    uint32_t known = reader->values.count;
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t value = column ? column[i] : 0;
        if (mr_op_is_plain(ops[i]) & (value - 1 < known))
            continue;
        mr_status status =
            check_value(reader, trace, (mr_op)ops[i], events->operand[i], value, error);
        if (status)
            return status;
    }
    return MR_OK;
}

mr_status mr_mrt_values_tables(mr_mrt_values_reader *reader, mr_trace *trace,
                               const mr_mrt_chunk *chunk, const unsigned char *payload,
                               const uint32_t **column, mr_error *error)
{
    mr_mrt_values head;
    if (chunk->size_bytes < sizeof head)
        return wrong(error, "values of another size");
    memcpy(&head, payload, sizeof head);
    const unsigned char *updates = payload + sizeof head + 8ull * head.value_count;
    const unsigned char *reaches = updates + 8ull * head.update_count;
    const unsigned char *items = reaches + 8ull * head.reach_count;
    if (chunk->size_bytes != sizeof head + 8ull * head.value_count + 8ull * head.update_count +
                                 8ull * head.reach_count + 4ull * head.item_count +
                                 4ull * chunk->count)
        return wrong(error, "values of another size");
    /* It is aligned: the payload is, and the parts before it are multiples of four bytes. */
    *column = (const uint32_t *)(const void *)(items + 4ull * head.item_count);
    size_t items_before = trace->reach_items.count;
    mr_status status = add_values(reader, payload + sizeof head, head.value_count, error);
    if (!status)
        status = add_updates(reader, trace, updates, head.update_count, error);
    if (!status)
        status = add_items(trace, items, head.item_count, error);
    if (!status)
        status = add_reaches(trace, reaches, head.reach_count, items_before, error);
    return status;
}

mr_status mr_mrt_values_read(mr_mrt_values_reader *reader, mr_trace *trace, const mr_events *events,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             const uint32_t **column, mr_error *error)
{
    mr_status status = MR_OK;
    *column = NULL;
    if (chunk && (chunk->first != events->first || chunk->count < events->count))
        return wrong(error, "values of other events");
    if (chunk)
        status = mr_mrt_values_tables(reader, trace, chunk, payload, column, error);
    return status ? status : mr_mrt_values_check(reader, trace, events, *column, error);
}

void mr_mrt_values_finish(mr_mrt_values_reader *reader, mr_trace *trace)
{
    trace->values = (int64_t *)reader->values.items;
    trace->value_count = reader->values.count ? reader->values.count + 1 : 0;
    reader->values.items = NULL;
}

void mr_mrt_values_free(mr_mrt_values_reader *reader)
{
    mr_keys_free(&reader->values);
}
