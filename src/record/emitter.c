#include "emitter.h"

#include "base/assert.h"
#include "formats/mrt/mrt_format.h"
#include "trace/members.h"

#include <stdlib.h>

struct mr_emitter_block {
    uint8_t op[MR_MRT_BLOCK_EVENTS];
    uint32_t thread[MR_MRT_BLOCK_EVENTS], operand[MR_MRT_BLOCK_EVENTS],
        location[MR_MRT_BLOCK_EVENTS], value[MR_MRT_BLOCK_EVENTS], stack[MR_MRT_BLOCK_EVENTS];
    uint8_t memory_order[MR_MRT_BLOCK_EVENTS];
};

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "writing the trace");
}

static void empty_rows(mr_emitter *emitter)
{
    mr_emitter_block *block = emitter->block;
    emitter->rows = (mr_rows){.op = block->op,
                              .thread = block->thread,
                              .operand = block->operand,
                              .location = block->location,
                              .value = block->value,
                              .memory_order = block->memory_order,
                              .room = MR_MRT_BLOCK_EVENTS};
}

mr_status mr_emitter_init(mr_emitter *emitter, FILE *file, const char *path, mr_error *error)
{
    *emitter = (mr_emitter){.block = mr_malloc(sizeof *emitter->block, 0)};
    if (!mr_builder_init(&emitter->builder, path) || !emitter->block)
        return no_memory(error);
    emitter->trace = emitter->builder.trace;
    mr_validity_init(&emitter->validity, emitter->trace);
    empty_rows(emitter);
    return mr_mrt_writer_new(file, &emitter->writer, error);
}

void mr_emitter_free(mr_emitter *emitter)
{
    mr_validity_free(&emitter->validity);
    mr_mrt_writer_free(emitter->writer);
    mr_builder_free(&emitter->builder);
    free(emitter->block);
    free(emitter->last_position);
    mr_bytes_free(&emitter->positions);
    *emitter = (mr_emitter){0};
}

static mr_status flush_positions(mr_emitter *emitter, const mr_events *events, mr_error *error)
{
    uint32_t first = emitter->codes_written, count = 0;
    if (!emitter->codes)
        return MR_OK;
    count = emitter->codes->count - first;
    uint64_t *codes = mr_malloc(0, (count + 1ull) * sizeof *codes);
    if (!codes || emitter->positions.failed) {
        free(codes);
        return no_memory(error);
    }
    for (uint32_t i = 0; i < count; i++)
        codes[i] = emitter->codes->items[first + i].low;
    mr_status status =
        mr_mrt_writer_positions(emitter->writer, events, codes, count, emitter->positions.items,
                                emitter->positions.count, error);
    emitter->codes_written += count;
    emitter->positions.count = 0;
    free(codes);
    return status;
}

/* Room for the last position of the thread. False: no memory. */
static bool fill_positions(mr_emitter *emitter, uint32_t thread)
{
    void *last = emitter->last_position;
    if (!mr_grow(&last, &emitter->last_capacity, thread + 1ull, sizeof *emitter->last_position))
        return false;
    emitter->last_position = last;
    while (emitter->last_count <= thread)
        emitter->last_position[emitter->last_count++] = 0;
    return true;
}

/* Notes where an event that was added stands. False: no memory. */
static bool note_position(mr_emitter *emitter, const mr_emitted *event)
{
    if (!emitter->codes)
        return true;
    if (event->thread >= emitter->last_count && !fill_positions(emitter, event->thread))
        return false;
    uint64_t *before = &emitter->last_position[event->thread];
    MR_ASSERT(event->position >= *before);
    mr_bytes_number(&emitter->positions, event->position - *before);
    mr_bytes_number(&emitter->positions, event->code);
    *before = event->position;
    return !emitter->positions.failed;
}

static mr_status flush(mr_emitter *emitter, mr_error *error)
{
    mr_trace *trace = emitter->trace;
    const mr_rows *rows = &emitter->rows;
    MR_ASSERT(rows->count > 0 && rows->count <= trace->event_count);
    mr_events events = {
        .first = trace->event_count - rows->count,
        .count = rows->count,
        .op = rows->op,
        .thread = rows->thread,
        .operand = rows->operand,
        .location = rows->location,
        .thread_count = trace->threads.count,
        .variable_count = trace->variables.count,
        .lock_count = trace->locks.count,
        .location_count = trace->locations.count,
        .object_count = trace->objects.count,
        .memory_order = rows->memory_order,
    };
    trace->values = (int64_t *)emitter->builder.values.items; /* on loan */
    mr_status status = mr_mrt_writer_add(emitter->writer, trace, &events, rows->value,
                                         emitter->block->stack, error);
    trace->values = NULL;
    if (!status)
        status = flush_positions(emitter, &events, error);
    empty_rows(emitter);
    return status;
}

/* Is the event possible after the events so far? */
static mr_status validate(mr_emitter *emitter, const mr_emitted *event, bool *valid,
                          mr_error *error)
{
    mr_step step = {event->op, event->thread, event->operand, emitter->trace->event_count + 1ull};
    mr_error reason;
    *valid = true;
    if (mr_op_is_access((uint8_t)event->op) &&
        mr_validity_access_changes_nothing(&emitter->validity, event->thread)) {
        mr_validity_note_access(&emitter->validity, event->operand);
        return MR_OK;
    }
    mr_status status = mr_validity_step(&emitter->validity, &step, &reason);
    *valid = status == MR_OK;
    if (status == MR_ERR_TRACE) {
        if (!emitter->dropped_count++)
            emitter->first_dropped = reason;
        return MR_OK;
    }
    if (status)
        *error = reason;
    return status;
}

mr_status mr_emitter_add(mr_emitter *emitter, const mr_emitted *event, mr_error *error)
{
    bool valid;
    mr_trace *trace = emitter->trace;
    MR_REQUIRE(event->thread < trace->threads.count && event->location < trace->locations.count);
    MR_REQUIRE(event->stack == 0 || event->stack < trace->stack_count);
    mr_status status = validate(emitter, event, &valid, error);
    if (status || !valid)
        return status;
    const char *reach = event->reach ? event->reach : "";
    mr_parsed parsed = {
        .op = event->op,
        .has_value = event->has_value,
        .value = event->value,
        .written_value = event->written_value,
        .memory_order = event->memory_order,
        .reach = {reach, (uint32_t)strlen(reach)},
    };
    MR_ASSERT(emitter->rows.count < emitter->rows.room);
    emitter->block->stack[emitter->rows.count] = event->stack;
    status =
        mr_builder_append_at(&emitter->builder, &emitter->rows, &parsed, event->thread,
                             event->operand, event->location, trace->event_count + 1ull, error);
    if (!status && !note_position(emitter, event))
        status = no_memory(error);
    if (!status && emitter->rows.count == emitter->rows.room)
        status = flush(emitter, error);
    return status;
}

mr_status mr_emitter_member(mr_emitter *emitter, uint32_t variable, uint32_t object,
                            mr_error *error)
{
    if (mr_trace_object(emitter->trace, variable) != MR_NONE)
        return MR_OK;
    mr_status status = mr_validity_member(&emitter->validity, variable, object, false, error);
    if (status)
        return status;
    return mr_members_put(emitter->trace, variable, object) ? MR_OK : no_memory(error);
}

mr_status mr_emitter_finish(mr_emitter *emitter, mr_error *error)
{
    mr_status status = emitter->rows.count ? flush(emitter, error) : MR_OK;
    return status ? status : mr_mrt_writer_finish(emitter->writer, emitter->trace, error);
}
