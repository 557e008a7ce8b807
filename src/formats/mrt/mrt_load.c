/* The whole trace from an .mrt file: blocks and their values → columns and what is derived. */
#include "base/assert.h"
#include "mrt_reader.h"
#include "mrt_values.h"
#include "trace/columns.h"
#include "trace/index.h"

#include <stdlib.h>
#include <string.h>

typedef struct load_state {
    mr_mrt *mrt;
    mr_trace *trace; /* that of the reader */
    mr_mrt_values_reader values;
    mr_index *index;
} load_state;

static mr_status make_room(load_state *load, size_t need, mr_error *error)
{
    const mr_mrt *mrt = load->mrt;
    /* The index tells the number of events, so the columns need not move later. The number is not
     * used when the file is too short for it. */
    uint64_t told = mrt->has_contents ? mrt->contents.index.event_count : 0;
    if (told > MR_NESTED)
        return mr_mrt_too_many(mrt, error);
    if (mrt->options.least_events && told > mrt->options.least_events + MR_MRT_BLOCK_EVENTS)
        told = mrt->options.least_events + MR_MRT_BLOCK_EVENTS;
    if (told > need && told <= mrt->source.size_bytes / sizeof(uint32_t))
        need = (size_t)told;
    if (load->trace->link && need <= mr_columns_room(load->trace))
        return MR_OK;
    mr_status status = mr_columns_reserve_events(load->trace, need, error);
    return status ? status
                  : mr_columns_reserve_links(load->trace, mr_columns_room(load->trace), error);
}

/* Reads the VALUES chunk of the last block. */
static mr_status take_values(mr_mrt *mrt, mr_mrt_chunk *chunk, const unsigned char **payload,
                             mr_error *error)
{
    mr_status status = mr_mrt_source_next(&mrt->source, chunk, error);
    if (!status && (chunk->kind != MR_MRT_VALUES || chunk->count != mrt->block_count))
        status = mr_error_set(error, MR_ERR_TRACE, NULL, 0,
                              "the .mrt file is wrong: a block without its values");
    return status ? status : mr_mrt_source_payload(&mrt->source, chunk, payload, error);
}

static mr_status read_values(load_state *load, const mr_events *events, const uint32_t **column,
                             mr_error *error)
{
    mr_mrt *mrt = load->mrt;
    mr_mrt_chunk chunk;
    const unsigned char *payload = NULL;
    if (!mrt->has_values)
        return mr_mrt_values_read(&load->values, load->trace, events, NULL, NULL, column, error);
    mr_status status = take_values(mrt, &chunk, &payload, error);
    if (!status)
        status =
            mr_mrt_values_read(&load->values, load->trace, events, &chunk, payload, column, error);
    if (!status && mrt->state == MR_MRT_AT_VALUES)
        mrt->state = MR_MRT_AT_EVENTS;
    return status;
}

/* Puts the events where they belong in the columns. */
static mr_events place(mr_trace *trace, const mr_events *events)
{
    size_t first = events->first, count = events->count;
    MR_ASSERT(first + count <= mr_columns_room(trace));
    memcpy(trace->op + first, events->op, count * sizeof *events->op);
    memcpy(trace->thread + first, events->thread, count * sizeof *events->thread);
    memcpy(trace->operand + first, events->operand, count * sizeof *events->operand);
    memcpy(trace->location + first, events->location, count * sizeof *events->location);
    return mr_events_of_trace(trace, events->first, events->count);
}

/* The value column of the events; NULL: they have no values. */
static void place_values(mr_trace *trace, const mr_events *events, const uint32_t *values)
{
    size_t bytes = events->count * sizeof *trace->value;
    if (values)
        memcpy(trace->value + events->first, values, bytes);
    else
        memset(trace->value + events->first, 0, bytes);
}

static mr_status append(load_state *load, const mr_events *given, mr_error *error)
{
    mr_trace *trace = load->trace;
    const uint32_t *values = NULL;
    mr_events events = *given;
    MR_ASSERT(given->first + given->count == trace->event_count);
    mr_status status = make_room(load, (size_t)events.first + events.count, error);
    if (!status) {
        /* Events first: when the file is not mapped, their values are read into the same buffer. */
        events = place(trace, given);
        status = read_values(load, &events, &values, error);
        mr_spill_look(&trace->spill);
    }
    if (!status) {
        place_values(trace, &events, values);
        if ((!load->mrt->options.check_states ||
             mr_mrt_states_add(&load->mrt->states, trace, &events, values,
                               mr_mrt_outlook(load->mrt))) &&
            mr_index_add(load->index, trace, events.first, events.count))
            return MR_OK;
        (void)mr_error_memory(error, "reading the trace");
    }
    trace->event_count = events.first;
    return mr_mrt_fail(load->mrt, error);
}

static mr_status read_blocks(load_state *load, mr_error *error)
{
    mr_events events;
    mr_status status;
    const mr_halt *halt = load->mrt->options.halt;
    uint64_t least = load->mrt->options.least_events;
    do {
        status = mr_mrt_next(load->mrt, &events, error);
        if (!status && events.count)
            status = append(load, &events, error);
        if (!status && mr_halt_asked(halt))
            status = mr_halt_fail(halt, load->mrt->place, "reading the trace", error);
    } while (!status && events.count && (!least || load->trace->event_count < least));
    return status;
}

/* A membership may come after events that use the variable, so what those were is asked here. */
static mr_status check_lives(const mr_trace *trace, mr_error *error)
{
    if (!trace->members.count)
        return MR_OK;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (!mr_op_is_access(trace->op[event]))
            continue;
        uint32_t object = mr_trace_object(trace, trace->operand[event]);
        uint32_t alloc = object == MR_NONE ? MR_NONE : trace->object_info[object].alloc;
        if (alloc != MR_NONE && event < alloc)
            return mr_error_set(error, MR_ERR_TRACE, trace->path, 0,
                                "the .mrt file is wrong: event %u is an access of an object "
                                "before its alloc, event %u",
                                event, alloc);
    }
    return MR_OK;
}

/* Gives the outlook of the file to the trace. Reading has checked it: mr_mrt_outlook. */
static mr_status take_outlook(load_state *load, mr_trace *trace, mr_error *error)
{
    mr_mrt *mrt = load->mrt;
    if (!mrt->complete || !mr_mrt_outlook(mrt))
        return MR_OK;
    trace->outlook = mr_malloc(sizeof *trace->outlook, 0);
    if (!trace->outlook)
        return mr_error_memory(error, "reading the trace");
    if (mrt->options.check_states && mrt->states.has_facts)
        trace->most_places = mrt->states.most_places;
    *trace->outlook = mrt->contents.outlook;
    mr_outlook_init(&mrt->contents.outlook);
    mrt->contents.has_outlook = false;
    return MR_OK;
}

/* Derives what is derived, and takes the trace out of the reader. */
static mr_status finish(load_state *load, mr_trace **result, mr_error *error)
{
    mr_trace *trace = load->trace;
    /* An empty trace has columns, too. */
    mr_status status = mr_columns_reserve_events(trace, trace->event_count, error);
    if (!status)
        status = mr_columns_reserve_links(trace, trace->event_count, error);
    if (!status)
        status = mr_mrt_stacks_finish(&load->mrt->stacks, trace, error);
    if (!status)
        status = mr_mrt_orders_finish(&load->mrt->orders, trace, error);
    if (status)
        return status;
    mr_mrt_values_finish(&load->values, trace);
    if (!mr_index_finish(load->index, trace))
        return mr_error_memory(error, "indexing the trace");
    status = mr_columns_fit(trace, error);
    if (!status)
        status = check_lives(trace, error);
    if (!status)
        status = take_outlook(load, trace, error);
    if (status)
        return status;
    *result = trace;
    load->mrt->trace = NULL;
    return MR_OK;
}

mr_status mr_mrt_read(const char *path, mr_input *input, const mr_read_options *options,
                      mr_trace **trace, mr_error *error)
{
    mr_error unused = {0}, failure = {0};
    load_state load = {0};
    *trace = NULL;
    error = error ? error : &unused;
    mr_status status = mr_mrt_open_any(path, input, options, true, &load.mrt, error);
    if (status)
        return status;
    load.trace = load.mrt->trace;
    load.index = mr_index_new();
    status = load.index ? read_blocks(&load, error) : mr_error_memory(error, "reading the trace");
    bool keep = !status || (status == MR_ERR_TRACE && options && options->keep_partial);
    if (keep && finish(&load, trace, &failure)) {
        *error = failure;
        status = failure.status;
    }
    mr_index_free(load.index);
    mr_mrt_values_free(&load.values);
    mr_mrt_close(load.mrt);
    return status;
}
