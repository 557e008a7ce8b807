#include "text_stream.h"

#include "base/assert.h"
#include "base/thread.h"
#include "base/ticker.h"
#include "text_source.h"
#include "trace/members.h"
#include "trace/stream_kind.h"

#include <stdlib.h>

/* A block fits in the cache of the thread that fills it, and is large enough that waking the other
 * thread costs little beside it. */
enum { MR_STREAM_BLOCKS = 4, MR_STREAM_BLOCK_EVENTS = 1 << 14 };

typedef struct text_block {
    uint32_t *columns; /* owned: thread, operand, location, op */
    mr_events events;
    mr_told_members members; /* owned: of the events */
    uint64_t done_bytes;
    mr_status status; /* what came after these events */
    bool last;        /* nothing follows but `status` */
} text_block;

typedef struct text_stream {
    mr_stream base;
    mr_text_source source; /* the parser's, until it has ended */
    uint32_t told;         /* the parser's: members of the blocks so far */
    uint32_t block_events;
    text_block blocks[MR_STREAM_BLOCKS];
    mr_error failure; /* goes with the last block */
    uint64_t total_bytes;
    mr_ticker ticker;

    /* The ring: blocks [taken, filled), modulo their number, are full. The caller reads block
     * `taken` - 1 while `reading`. */
    bool threaded;
    pthread_t parser;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    uint64_t filled, released;
    bool stopped; /* the caller wants no more */

    uint64_t taken; /* the caller's: blocks it was given */
    bool ended;     /* the caller's: it was given the last one */
} text_stream;

static text_block *block_of(text_stream *stream, uint64_t number)
{
    return &stream->blocks[number % MR_STREAM_BLOCKS];
}

static mr_rows rows_of(const text_stream *stream, const text_block *block)
{
    uint32_t room = stream->block_events;
    return (mr_rows){
        .thread = block->columns,
        .operand = block->columns + room,
        .location = block->columns + 2 * (size_t)room,
        .op = (uint8_t *)(block->columns + 3 * (size_t)room),
        .room = room,
    };
}

/* Fills the block; the parser's side. */
static void fill(text_stream *stream, text_block *block)
{
    mr_text_source *source = &stream->source;
    mr_trace *trace = source->builder.trace;
    mr_rows rows = rows_of(stream, block);
    uint64_t first = trace->event_count;
    block->status = mr_text_source_fill(source, &rows, &stream->failure);
    block->last = block->status || source->ended;
    if (block->last && !mr_builder_name(&source->builder) && !block->status)
        block->status = mr_error_memory(&stream->failure, "reading the trace");
    MR_ASSERT(rows.count <= rows.room && trace->event_count == first + rows.count);
    for (uint32_t i = 0; i < rows.count; i++)
        trace->op_counts[rows.op[i]]++;
    block->done_bytes = mr_text_source_done_bytes(source);
    block->events = (mr_events){
        .first = first,
        .count = rows.count,
        .op = rows.op,
        .thread = rows.thread,
        .operand = rows.operand,
        .location = rows.location,
        .thread_count = trace->threads.count,
        .variable_count = trace->variables.count,
        .lock_count = trace->locks.count,
        .location_count = trace->locations.count,
        .object_count = trace->objects.count,
    };
    if (!mr_members_tell(trace, stream->told, &block->members, &block->events)) {
        block->status = mr_error_memory(&stream->failure, "reading the trace");
        block->last = true;
    }
    stream->told = block->members.end;
}

static void *parse(void *argument)
{
    text_stream *stream = argument;
    bool last = false;
    pthread_mutex_lock(&stream->mutex);
    while (!last) {
        while (stream->filled - stream->released == MR_STREAM_BLOCKS && !stream->stopped)
            pthread_cond_wait(&stream->changed, &stream->mutex);
        if (stream->stopped)
            break;
        MR_ASSERT(stream->filled - stream->released < MR_STREAM_BLOCKS); /* it is not in use */
        text_block *block = block_of(stream, stream->filled);
        pthread_mutex_unlock(&stream->mutex);
        fill(stream, block);
        last = block->last;
        pthread_mutex_lock(&stream->mutex);
        stream->filled++;
        pthread_cond_signal(&stream->changed);
    }
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

/* Gives back the block that the caller has, and waits for the next. */
static text_block *next_block(text_stream *stream)
{
    text_block *block = block_of(stream, stream->taken);
    if (!stream->threaded) {
        fill(stream, block);
        stream->taken++;
        return block;
    }
    pthread_mutex_lock(&stream->mutex);
    stream->released = stream->taken;
    pthread_cond_signal(&stream->changed);
    while (stream->filled == stream->taken)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    pthread_mutex_unlock(&stream->mutex);
    stream->taken++;
    return block;
}

/* Waits for the parser to end; afterwards everything belongs to the caller's thread. */
static void join_parser(text_stream *stream)
{
    if (!stream->threaded)
        return;
    pthread_join(stream->parser, NULL);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->mutex);
    stream->threaded = false;
}

static mr_status text_next(mr_stream *base, mr_events *events, mr_error *error)
{
    text_stream *stream = (text_stream *)base;
    *events = (mr_events){0};
    if (!stream->ended) {
        text_block *block = next_block(stream);
        mr_ticker_tell(&stream->ticker, block->done_bytes, stream->total_bytes);
        *events = block->events;
        stream->ended = block->last;
        if (stream->ended) {
            join_parser(stream);
            mr_builder_drop_indexes(&stream->source.builder);
        }
        if (events->count)
            return MR_OK;
    }
    text_block *last = block_of(stream, stream->taken - 1);
    if (last->status)
        *error = stream->failure;
    return last->status;
}

static const mr_outlook *text_outlook(const mr_stream *base)
{
    (void)base;
    return NULL;
}

static const mr_trace *text_dictionary(const mr_stream *base)
{
    return ((const text_stream *)base)->source.builder.trace;
}

static void end_parser(text_stream *stream)
{
    if (!stream->threaded)
        return;
    pthread_mutex_lock(&stream->mutex);
    stream->stopped = true;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    mr_input_interrupt(stream->source.input);
    join_parser(stream);
}

/* Without memory for the texts for people, names stand for themselves. */
static void text_stop(mr_stream *base)
{
    text_stream *stream = (text_stream *)base;
    end_parser(stream);
    if (!stream->ended)
        (void)mr_builder_name(&stream->source.builder);
    mr_builder_drop_indexes(&stream->source.builder);
}

static void text_close(mr_stream *base)
{
    text_stream *stream = (text_stream *)base;
    end_parser(stream);
    mr_text_source_free(&stream->source);
    for (int i = 0; i < MR_STREAM_BLOCKS; i++) {
        free(stream->blocks[i].columns);
        free(stream->blocks[i].members.items);
    }
    free(stream);
}

static const mr_stream_kind text_kind = {
    text_next, text_outlook, text_dictionary, text_stop, NULL, NULL, NULL, NULL, text_close};

/* Without a thread the caller parses. */
static void start_parser(text_stream *stream)
{
    if (!mr_input_allow_interrupt(stream->source.input) || pthread_mutex_init(&stream->mutex, NULL))
        return;
    if (pthread_cond_init(&stream->changed, NULL)) {
        pthread_mutex_destroy(&stream->mutex);
        return;
    }
    stream->threaded = mr_thread_start(&stream->parser, parse, stream);
    if (stream->threaded)
        return;
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->mutex);
}

static bool make_blocks(text_stream *stream)
{
    enum { COLUMN_WORDS = 4 }; /* the last column needs bytes only, which wastes little */
    for (int i = 0; i < MR_STREAM_BLOCKS; i++) {
        stream->blocks[i].columns = mr_realloc(NULL, (size_t)stream->block_events * COLUMN_WORDS,
                                               sizeof *stream->blocks[i].columns);
        if (!stream->blocks[i].columns)
            return false;
    }
    return true;
}

mr_status mr_text_stream_open(mr_input *input, const char *path, const mr_read_options *options,
                              const mr_text_stream_tuning *tuning, mr_stream **result,
                              mr_error *error)
{
    static const mr_text_stream_tuning usual = {0};
    *result = NULL;
    tuning = tuning ? tuning : &usual;
    text_stream *stream = mr_calloc(1, sizeof *stream);
    if (!stream) {
        mr_input_close(input);
        return mr_error_memory(error, "opening the trace");
    }
    stream->base.kind = &text_kind;
    stream->block_events = tuning->block_events ? tuning->block_events : MR_STREAM_BLOCK_EVENTS;
    stream->total_bytes = mr_input_total_bytes(input);
    stream->ticker =
        (mr_ticker){.progress = options ? options->progress : NULL, .stage = "reading"};
    mr_status status = mr_text_source_init(&stream->source, input, path, "", options, error);
    if (!status && !make_blocks(stream))
        status = mr_error_memory(error, "opening the trace");
    if (status) {
        text_close(&stream->base);
        return status;
    }
    /* The caller's path need not last as long as the stream. */
    stream->source.place = mr_text_source_place(stream->source.builder.trace->path);
    stream->source.only_exact = tuning->only_exact;
    stream->source.ahead_chunk_bytes = tuning->ahead_bytes;
    if (tuning->ahead_bytes)
        stream->source.ahead_from_bytes = 0;
    if (!tuning->in_caller && !(options && options->one_thread))
        start_parser(stream);
    *result = &stream->base;
    return MR_OK;
}
