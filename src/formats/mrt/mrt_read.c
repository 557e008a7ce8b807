#include "mrt_read.h"

#include "base/assert.h"
#include "mrt_names.h"
#include "mrt_orders.h"
#include "mrt_reader.h"
#include "trace/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "reading the trace");
}

static mr_status wrong(mr_error *error, const char *what)
{
    return mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the .mrt file is wrong: %s", what);
}

/* Puts the place before the error. */
static void set_place(const mr_mrt *mrt, mr_error *error)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    if (error->status != MR_ERR_MEMORY)
        mr_error_set(error, error->status, mrt->place, 0, "%s", text);
}

/* Says what to do about damage. */
static void add_remedy(const mr_mrt *mrt, mr_error *error)
{
    uint64_t count = mrt->trace->event_count;
    char remedy[160];
    int length =
        snprintf(remedy, sizeof remedy,
                 "; the %" PRIu64 " event%s before it %s right: copy or convert the file again%s",
                 count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
                 mrt->options.repair ? "" : ", or keep what is right with --repair");
    size_t used = strlen(error->text);
    if (used + (size_t)length >= sizeof error->text)
        used = sizeof error->text - (size_t)length - 1;
    memcpy(error->text + used, remedy, (size_t)length + 1);
}

mr_status mr_mrt_fail(mr_mrt *mrt, mr_error *error)
{
    mr_trace *trace = mrt->trace;
    set_place(mrt, error);
    if (error->status == MR_ERR_TRACE)
        add_remedy(mrt, error);
    if (error->status != MR_ERR_TRACE || !mrt->options.repair) {
        mrt->failure = *error;
        return error->status;
    }
    if (!trace->dropped_count++)
        trace->first_dropped = *error;
    mrt->state = MR_MRT_AT_DONE;
    return MR_OK;
}

bool mr_mrt_is(const char *path, const mr_input *input)
{
    size_t count, length = strlen(path);
    const unsigned char *first = mr_input_first(input, &count);
    return mr_mrt_detect(first, count) ||
           (!count && length > 4 && !strcmp(path + length - 4, ".mrt"));
}

static void load_contents(mr_mrt *mrt)
{
    mr_mrt_chunk end, index;
    const unsigned char *payload;
    const mr_mrt_source *source = &mrt->source;
    mr_error unused;
    if (source->size_bytes < MR_MRT_ALIGN_BYTES ||
        !mr_mrt_source_peek(source, source->size_bytes - MR_MRT_ALIGN_BYTES, MR_MRT_END, &end,
                            &payload) ||
        !mr_mrt_source_peek(source, end.index_offset, MR_MRT_INDEX, &index, &payload))
        return;
    /* A damaged or wrong index is reported when the reader comes to it. */
    if (mr_mrt_contents_read(&mrt->contents, payload, index.size_bytes, source->version, &unused))
        mr_mrt_contents_free(&mrt->contents);
    else
        mrt->has_contents = true;
}

static mr_trace *new_trace(const char *path, const mr_read_options *options)
{
    mr_trace *trace = mr_calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT; space++)
        mr_names_init(mr_mrt_names_of(trace, space));
    trace->path = mr_strndup(path, strlen(path));
    if (trace->path && mr_columns_limit(trace, options))
        return trace;
    mr_trace_free(trace);
    return NULL;
}

static mr_status open_source(mr_mrt *mrt, const char *path, mr_error *error)
{
    bool mapped = false;
    if (strcmp(path, "-") != 0) {
        mr_status status = mr_mrt_source_open(&mrt->source, path, &mapped, error);
        if (status)
            return status;
    }
    if (!mapped)
        return mr_mrt_source_attach(&mrt->source, mrt->input, error);
    mr_input_close(mrt->input);
    mrt->input = NULL;
    load_contents(mrt);
    return MR_OK;
}

mr_status mr_mrt_open_any(const char *path, mr_input *input, const mr_read_options *options,
                          bool whole, mr_mrt **result, mr_error *error)
{
    *result = NULL;
    mr_mrt *mrt = mr_calloc(1, sizeof *mrt);
    if (!mrt) {
        mr_input_close(input);
        return no_memory(error);
    }
    mrt->place = strcmp(path, "-") != 0 ? path : "<stdin>";
    mrt->whole = whole;
    mrt->input = input;
    if (options)
        mrt->options = *options;
    mrt->ticker = (mr_ticker){.progress = mrt->options.progress, .stage = "reading"};
    mr_arena_init(&mrt->texts);
    mrt->trace = new_trace(path, options);
    if (mrt->trace && strcmp(path, "-") != 0)
        mrt->place = mrt->trace->path; /* the caller's may go */
    mr_status status = mrt->trace ? open_source(mrt, path, error) : no_memory(error);
    mr_mrt_source_limit(&mrt->source, mrt->options.memory_bytes);
    mrt->states.lacks_outlook = !mr_mrt_outlook(mrt);
    if (!status && !mr_mrt_check_init(&mrt->check, mrt->trace, mr_mrt_outlook(mrt)))
        status = no_memory(error);
    if (!status) {
        *result = mrt;
        return MR_OK;
    }
    set_place(mrt, error);
    mr_mrt_close(mrt);
    return status;
}

mr_status mr_mrt_open(const char *path, mr_input *input, const mr_read_options *options,
                      mr_mrt **mrt, mr_error *error)
{
    mr_error unused = {0};
    return mr_mrt_open_any(path, input, options, false, mrt, error ? error : &unused);
}

void mr_mrt_close(mr_mrt *mrt)
{
    if (!mrt)
        return;
    mr_mrt_check_free(&mrt->check);
    mr_mrt_states_free(&mrt->states);
    mr_mrt_contents_free(&mrt->contents);
    mr_trace_free(mrt->trace);
    mr_arena_free(&mrt->texts);
    mr_mrt_source_close(&mrt->source);
    mr_input_close(mrt->input);
    free(mrt);
}

const mr_outlook *mr_mrt_outlook(const mr_mrt *mrt)
{
    return mrt->has_contents && mrt->contents.has_outlook ? &mrt->contents.outlook : NULL;
}

const mr_trace *mr_mrt_dictionary(const mr_mrt *mrt)
{
    return mrt->trace;
}

/* Names point into the payload, so it must stay: copies it where it is only in the buffer. */
static mr_status keep_payload(mr_mrt *mrt, const mr_mrt_chunk *chunk, const unsigned char **payload,
                              mr_error *error)
{
    if (mrt->whole || mrt->source.map)
        return MR_OK;
    unsigned char *copy = mr_arena_alloc(&mrt->texts, (size_t)chunk->size_bytes, 1);
    if (!copy)
        return no_memory(error);
    if (chunk->size_bytes)
        memcpy(copy, *payload, (size_t)chunk->size_bytes);
    *payload = copy;
    return MR_OK;
}

/* Does the outlook have room for all names so far? */
static bool fits_outlook(const mr_mrt *mrt)
{
    const mr_outlook *outlook = mr_mrt_outlook(mrt);
    return !outlook || (mrt->trace->threads.count <= outlook->thread_count &&
                        mrt->trace->variables.count <= outlook->variable_count &&
                        mrt->trace->locks.count <= outlook->lock_count);
}

static mr_status read_tables(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    mr_mrt_keep keep = mrt->whole ? MR_MRT_KEEP_COPY : MR_MRT_KEEP_LOAN;
    if (!status && chunk->kind == MR_MRT_LINES)
        return mr_mrt_lines_read(mrt->trace, chunk, payload, mrt->trace->event_count, error);
    if (!status)
        status = keep_payload(mrt, chunk, &payload, error);
    if (status)
        return status;
    if (chunk->kind == MR_MRT_TEXTS)
        return mr_mrt_texts_read(mrt->trace, chunk, payload, keep, error);
    status = mr_mrt_names_read(mrt->trace, chunk, payload, keep, error);
    return !status && !fits_outlook(mrt) ? wrong(error, "more names than the index says") : status;
}

static mr_events events_in(const mr_mrt *mrt, const mr_mrt_chunk *chunk,
                           const unsigned char *payload)
{
    const mr_trace *trace = mrt->trace;
    mr_mrt_columns columns = mr_mrt_columns_of(chunk->count);
    return (mr_events){
        .first = mrt->trace->event_count,
        .count = chunk->count,
        .op = payload,
        .thread = (const uint32_t *)(const void *)(payload + columns.thread),
        .operand = (const uint32_t *)(const void *)(payload + columns.operand),
        .location = (const uint32_t *)(const void *)(payload + columns.location),
        .thread_count = trace->threads.count,
        .variable_count = trace->variables.count,
        .lock_count = trace->locks.count,
        .location_count = trace->locations.count,
        .object_count = trace->objects.count,
    };
}

/* Adds to the error which event it is about. */
static void describe_event(uint64_t event, mr_error *error)
{
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    if (error->status == MR_ERR_TRACE)
        mr_error_set(error, MR_ERR_TRACE, NULL, 0, "the .mrt file is wrong: event %" PRIu64 " %s",
                     event, text);
}

/* A trace that is read whole has 32 bits for the number of an event. */
mr_status mr_mrt_too_many(const mr_mrt *mrt, mr_error *error)
{
    return mr_error_set(error, MR_ERR_UNSUPPORTED, mrt->place, 0,
                        "the trace has more than %u events; order with hb, fhb, shb, wcp or hybrid "
                        "takes it; for the rest cut it",
                        MR_NESTED);
}

/* Gives the events of a block. When one of them is wrong, gives the events before it. */
static mr_status read_events(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_events *events,
                             mr_error *error)
{
    const unsigned char *payload;
    const mr_outlook *outlook = mr_mrt_outlook(mrt);
    mr_trace *trace = mrt->trace;
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    if (status)
        return status;
    if (mrt->whole && trace->event_count + chunk->count > MR_NESTED)
        return mr_mrt_too_many(mrt, error);
    if (chunk->first != (uint32_t)trace->event_count || !chunk->count ||
        chunk->count > MR_MRT_BLOCK_EVENTS ||
        chunk->size_bytes != mr_mrt_columns_of(chunk->count).size_bytes || !trace->line_step_count)
        return wrong(error, "events that are out of order");
    /* Who follows the stream has room for those of the outlook. */
    if (outlook && chunk->count + trace->event_count > outlook->event_count)
        return wrong(error, "more events than the index says");
    *events = events_in(mrt, chunk, payload);
    mrt->has_values = chunk->has_values;
    mrt->block_count = chunk->count;
    mrt->had_stacks = mrt->had_orders = false;
    mrt->state = chunk->has_values ? MR_MRT_AT_VALUES : MR_MRT_AT_EVENTS;
    uint32_t good = mr_mrt_check_events(&mrt->check, events, trace->op_counts, error);
    MR_ASSERT(good <= events->count);
    trace->event_count += good;
    if (good == events->count)
        return MR_OK;
    describe_event(events->first + good, error);
    events->count = good;
    if (!good)
        return error->status;
    mr_mrt_fail(mrt, error); /* the next call reports the error */
    return MR_OK;
}

/* A block has at most one chunk of stacks, before the next block. The chunk is used only when the
 * trace is read whole. */
static mr_status read_stacks(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    if (mrt->had_stacks || chunk->count != mrt->block_count ||
        chunk->first + chunk->count != (uint32_t)mrt->trace->event_count)
        return wrong(error, "stacks of other events");
    mrt->had_stacks = true;
    if (!mrt->whole)
        return mr_mrt_source_skip(&mrt->source, chunk, error);
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    return status ? status : mr_mrt_stacks_read(&mrt->stacks, mrt->trace, chunk, payload, error);
}

/* Likewise. */
static mr_status read_orders(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    if (mrt->had_orders || chunk->count != mrt->block_count || chunk->size_bytes != chunk->count ||
        chunk->first + chunk->count != (uint32_t)mrt->trace->event_count)
        return wrong(error, "memory orders of other events");
    mrt->had_orders = true;
    if (!mrt->whole)
        return mr_mrt_source_skip(&mrt->source, chunk, error);
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    return status ? status : mr_mrt_orders_read(&mrt->orders, mrt->trace, chunk, payload, error);
}

static mr_status read_members(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    return status ? status
                  : mr_mrt_members_read(mrt->trace, &mrt->check.validity, chunk, payload, error);
}

static mr_status read_types(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    return status ? status : mr_mrt_types_read(mrt->trace, chunk, payload, error);
}

/* What is for who reads a part of the file. It is looked at only when the trace is read whole. */
static mr_status read_state(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    if (!mrt->whole)
        return mr_mrt_source_skip(&mrt->source, chunk, error);
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    if (status || !mrt->options.check_states)
        return status;
    return chunk->kind == MR_MRT_STATE
               ? mr_mrt_states_check(&mrt->states, chunk, payload, error)
               : mr_mrt_states_check_facts(&mrt->states, mrt->trace, chunk, payload, error);
}

/* Its checksum is looked at, as it is little. */
static mr_status read_gap(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    return mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
}

static mr_status check_contents(const mr_mrt *mrt, const mr_mrt_index *index, mr_error *error)
{
    bool same = index->event_count == mrt->trace->event_count &&
                !memcmp(index->op_counts, mrt->trace->op_counts, sizeof index->op_counts);
    /* Stacks are counted only when the trace is read whole. */
    uint32_t stacks = mrt->trace->stack_count ? mrt->trace->stack_count - 1 : 0;
    same = same && (!mrt->whole || index->stack_count == stacks);
    same = same && index->member_count == mrt->trace->members.count;
    for (unsigned space = 0; space < MR_MRT_SPACE_COUNT; space++)
        same = same && index->name_counts[space] == mr_mrt_names_of(mrt->trace, space)->count;
    return same && mr_mrt_check_end(&mrt->check)
               ? MR_OK
               : wrong(error, "its index does not say what is in it");
}

static mr_status read_ending(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    for (uint64_t at = 0; at < chunk->size_bytes && !status;) {
        const char *line = (const char *)payload + at;
        const char *end = memchr(line, '\n', (size_t)(chunk->size_bytes - at));
        if (!end)
            return wrong(error, "a line of its ending has no end");
        if (!mr_ending_take(&mrt->trace->ending, line, (size_t)(end - line)))
            status = no_memory(error);
        at += (uint64_t)(end - line) + 1;
    }
    return status;
}

/* Does the RUN chunk that was given last name the command that was recorded? A damaged one does not;
 * who needs the chunk says so. */
static bool names_command(const mr_mrt_source *source)
{
    static const char key[] = "arg ";
    const size_t length = sizeof key - 1;
    mr_mrt_chunk chunk;
    const unsigned char *payload;
    if (!mr_mrt_source_peek(source, source->chunk_offset, MR_MRT_RUN, &chunk, &payload))
        return false;
    for (uint64_t at = 0; at + length <= chunk.size_bytes;) {
        if (memcmp(payload + at, key, length) == 0)
            return true;
        const unsigned char *end = memchr(payload + at, '\n', (size_t)(chunk.size_bytes - at));
        if (!end)
            return false;
        at = (uint64_t)(end - payload) + 1;
    }
    return false;
}

static mr_status read_index(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    const unsigned char *payload;
    mr_mrt_contents contents = {0};
    mr_status status = mr_mrt_source_payload(&mrt->source, chunk, &payload, error);
    if (!status)
        status =
            mr_mrt_contents_read(&contents, payload, chunk->size_bytes, mrt->source.version, error);
    if (!status)
        status = check_contents(mrt, &contents.index, error);
    if (!status)
        status = mr_mrt_states_check_end(&mrt->states, mrt->trace,
                                         contents.has_outlook ? &contents.outlook : NULL, error);
    if (!status) {
        mrt->index_offset = mrt->source.chunk_offset;
        mrt->trace->dropped_count = contents.index.dropped_count;
        mrt->trace->first_dropped = contents.first_dropped;
        mrt->state = MR_MRT_AT_END;
    }
    mr_mrt_contents_free(&contents);
    return status;
}

static mr_status read_end(mr_mrt *mrt, const mr_mrt_chunk *chunk, mr_error *error)
{
    if (mrt->state != MR_MRT_AT_END || chunk->size_bytes)
        return wrong(error, "it ends without an index");
    if (chunk->index_offset != mrt->index_offset) /* who maps the file goes there */
        return wrong(error, "its end does not say where its index is");
    mr_status status = mr_mrt_source_end(&mrt->source, error);
    if (!status) {
        mrt->state = MR_MRT_AT_DONE;
        mrt->complete = true;
    }
    return status;
}

static mr_status read_chunk(mr_mrt *mrt, mr_events *events, mr_error *error)
{
    mr_mrt_chunk chunk;
    mr_status status = mr_mrt_source_next(&mrt->source, &chunk, error);
    if (status)
        return status;
    if ((chunk.kind == MR_MRT_VALUES) != (mrt->state == MR_MRT_AT_VALUES) ||
        (chunk.kind != MR_MRT_END && mrt->state == MR_MRT_AT_END))
        return wrong(error, "a chunk that is out of order");
    switch ((mr_mrt_kind)chunk.kind) {
    case MR_MRT_NAMES:
    case MR_MRT_TEXTS:
    case MR_MRT_LINES:
        return read_tables(mrt, &chunk, error);
    case MR_MRT_EVENTS:
        return read_events(mrt, &chunk, events, error);
    case MR_MRT_VALUES:
        mrt->state = MR_MRT_AT_EVENTS;
        return mr_mrt_source_skip(&mrt->source, &chunk, error);
    case MR_MRT_STACKS:
        return read_stacks(mrt, &chunk, error);
    case MR_MRT_ORDERS:
        return read_orders(mrt, &chunk, error);
    case MR_MRT_MEMBERS:
        return read_members(mrt, &chunk, error);
    case MR_MRT_TYPES:
        return read_types(mrt, &chunk, error);
    case MR_MRT_ENDING:
        return read_ending(mrt, &chunk, error);
    case MR_MRT_GAP:
        return read_gap(mrt, &chunk, error);
    case MR_MRT_STATE:
    case MR_MRT_FACTS:
        return read_state(mrt, &chunk, error);
    case MR_MRT_POSITIONS:
        mrt->has_positions = true;
        return mr_mrt_source_skip(&mrt->source, &chunk, error);
    case MR_MRT_RUN:
        mrt->trace->replayable = mrt->has_positions && names_command(&mrt->source);
        return mr_mrt_source_skip(&mrt->source, &chunk, error);
    case MR_MRT_INPUTS:
        return mr_mrt_source_skip(&mrt->source, &chunk, error);
    case MR_MRT_INDEX:
        return read_index(mrt, &chunk, error);
    case MR_MRT_END:
        return read_end(mrt, &chunk, error);
    }
    return wrong(error, "a chunk of an unknown kind");
}

mr_status mr_mrt_next(mr_mrt *mrt, mr_events *events, mr_error *error)
{
    mr_error unused = {0};
    error = error ? error : &unused;
    *events = (mr_events){.first = mrt->trace->event_count};
    if (mrt->failure.status) {
        *error = mrt->failure;
        return error->status;
    }
    mr_ticker_tell(&mrt->ticker, mrt->source.offset, mrt->source.size_bytes);
    while (mrt->state != MR_MRT_AT_DONE && !events->count) {
        mr_status status = read_chunk(mrt, events, error);
        if (status) {
            events->count = 0;
            return mr_mrt_fail(mrt, error);
        }
    }
    MR_ASSERT(events->first + events->count == mrt->trace->event_count);
    return MR_OK;
}
