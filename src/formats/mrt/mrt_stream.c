/*
 * The stream of an .mrt file. When the file is mapped, a thread of the stream reads and checks some
 * blocks ahead of the caller, because checksums, bounds and validity cost as much as an order does.
 * Blocks stay in the map and are not copied. So the stream can give them once more, as they were found right. When the
 * file comes through a buffer, the caller's thread reads it.
 */
#include "base/thread.h"
#include "mrt_read.h"
#include "mrt_reader.h"
#include "trace/members.h"
#include "trace/stream_kind.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_AHEAD = 4 };

typedef struct block {
    mr_events events;
    uint64_t done_bytes;
    mr_status status; /* when there are no events: the end, or this error */
} block;

/* A block that was read. */
typedef struct known_block {
    mr_events events;
    mr_membership *members; /* owned: of the events */
} known_block;

typedef struct mrt_stream {
    mr_stream base;
    mr_mrt *mrt;
    mr_ticker ticker;

    /* Only the reader's thread uses the mrt until it has ended. Blocks [taken, filled), modulo
     * their number, wait for the caller, who still uses the events of block `taken` - 1. */
    bool threaded;   /* the reader was not joined so far */
    bool has_reader; /* there was one: mutex and conditions are there */
    pthread_t reader;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    pthread_cond_t more; /* known blocks */
    block blocks[BLOCKS_AHEAD];
    mr_told_members members[BLOCKS_AHEAD]; /* of the blocks */
    uint32_t told;                         /* members of the blocks so far; the reader's */
    uint64_t filled, taken;
    bool stopped;     /* the caller wants no more */
    uint64_t used_at; /* where the caller's last block is in the mapped file */
    mr_error failure;

    /* the blocks that were read so far */
    known_block *known;
    size_t known_count, known_capacity;
    bool known_all; /* none follows */
    size_t again;   /* once more: how many of them were given */
    bool rewound;
} mrt_stream;

static bool is_last(const block *given)
{
    return given->status != MR_OK || given->events.count == 0;
}

static bool add_known(mrt_stream *stream, const mr_events *events)
{
    void *known = stream->known;
    if (!mr_grow(&known, &stream->known_capacity, stream->known_count + 1, sizeof *stream->known))
        return false;
    stream->known = known;
    known_block added = {.events = *events};
    if (events->member_count) {
        added.members = mr_realloc(NULL, events->member_count, sizeof *added.members);
        if (!added.members)
            return false;
        memcpy(added.members, events->members, events->member_count * sizeof *added.members);
    }
    added.events.members = added.members;
    stream->known[stream->known_count++] = added;
    return true;
}

/* Notes a block that was read. */
static void note_known(mrt_stream *stream, block *next)
{
    if (stream->mrt->source.map && !is_last(next) && !add_known(stream, &next->events))
        *next = (block){.status = mr_error_memory(&stream->failure, "reading the trace")};
    stream->known_all = is_last(next);
}

/* The block of this number. Called without the mutex. */
static block read_block(mrt_stream *stream, uint64_t number)
{
    block next = {.status = MR_OK};
    mr_told_members *members = &stream->members[number % BLOCKS_AHEAD];
    next.status = mr_mrt_next(stream->mrt, &next.events, &stream->failure);
    if (!mr_members_tell(mr_mrt_dictionary(stream->mrt), stream->told, members, &next.events))
        next = (block){.status = mr_error_memory(&stream->failure, "reading the trace")};
    stream->told = members->end;
    next.done_bytes = stream->mrt->source.offset;
    return next;
}

static void *read_ahead(void *argument)
{
    mrt_stream *stream = argument;
    bool last = false;
    pthread_mutex_lock(&stream->mutex);
    while (!last) {
        /* One block stays free: the caller still uses the events of the block before `taken`. */
        while (stream->filled - stream->taken == BLOCKS_AHEAD - 1 && !stream->stopped)
            pthread_cond_wait(&stream->changed, &stream->mutex);
        if (stream->stopped)
            break;
        uint64_t number = stream->filled;
        pthread_mutex_unlock(&stream->mutex);
        block next = read_block(stream, number);
        pthread_mutex_lock(&stream->mutex);
        note_known(stream, &next);
        last = is_last(&next);
        stream->blocks[stream->filled++ % BLOCKS_AHEAD] = next;
        pthread_cond_signal(&stream->changed);
        pthread_cond_broadcast(&stream->more);
    }
    stream->known_all = true;
    pthread_cond_broadcast(&stream->more);
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

static void join_reader(mrt_stream *stream)
{
    if (!stream->threaded)
        return;
    pthread_join(stream->reader, NULL);
    stream->threaded = false;
}

static block take_block(mrt_stream *stream)
{
    if (!stream->threaded) {
        block next = read_block(stream, stream->taken++);
        note_known(stream, &next);
        return next;
    }
    pthread_mutex_lock(&stream->mutex);
    while (stream->filled == stream->taken)
        pthread_cond_wait(&stream->changed, &stream->mutex);
    block given = stream->blocks[stream->taken++ % BLOCKS_AHEAD];
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    return given;
}

/* The numbers of known blocks are in bounds as long as the file is what was checked. */
static bool stream_changed(const mr_stream *base)
{
    return mr_mrt_source_changed(&((const mrt_stream *)base)->mrt->source);
}

static bool stream_place(const mr_stream *base, const void *from, size_t bytes, void *to)
{
    return mr_mrt_source_place(&((const mrt_stream *)base)->mrt->source, from, bytes, to);
}

/* Where the events of a known block are in the file. */
static uint64_t offset_of(const mrt_stream *stream, size_t number)
{
    return (uint64_t)(stream->known[number].events.op - stream->mrt->source.map);
}

static bool stream_follow(mr_stream *base, size_t number, mr_events *events)
{
    mrt_stream *stream = (mrt_stream *)base;
    if (!stream->has_reader)
        return false;
    pthread_mutex_lock(&stream->mutex);
    while (number >= stream->known_count && !stream->known_all)
        pthread_cond_wait(&stream->more, &stream->mutex);
    if (number < stream->known_count && !stream_changed(base))
        *events = stream->known[number].events;
    if (events->count && number)
        mr_mrt_source_release_between(&stream->mrt->source, offset_of(stream, number - 1),
                                      offset_of(stream, number));
    pthread_mutex_unlock(&stream->mutex);
    return true;
}

/* A block that is known. All names and members are, too. */
static mr_status give_again(mrt_stream *stream, mr_events *events, mr_error *error)
{
    const mr_trace *names = mr_mrt_dictionary(stream->mrt);
    mr_mrt_source *source = &stream->mrt->source;
    *events = (mr_events){0};
    if (stream->again == stream->known_count)
        return MR_OK;
    if (stream_changed(&stream->base))
        return mr_error_set(error, MR_ERR_IO, mr_mrt_dictionary(stream->mrt)->path, 0,
                            MR_STREAM_HAS_CHANGED);
    *events = stream->known[stream->again].events;
    events->thread_count = names->threads.count;
    events->variable_count = names->variables.count;
    events->lock_count = names->locks.count;
    events->location_count = names->locations.count;
    events->object_count = names->objects.count;
    events->members = names->members.items;
    events->member_count = stream->again ? 0 : names->members.count;
    events->knows_members = true;
    stream->again++;
    mr_mrt_source_release(source, (uint64_t)(events->op - source->map));
    return MR_OK;
}

/* The caller comes behind the reader: pages that the reader has given back are there again. */
static void release_used(mrt_stream *stream, const mr_events *events)
{
    const mr_mrt_source *source = &stream->mrt->source;
    if (!source->map || !events->count)
        return;
    uint64_t at = (uint64_t)(events->op - source->map);
    mr_mrt_source_release_between(source, stream->used_at, at);
    stream->used_at = at;
}

static mr_status stream_next(mr_stream *base, mr_events *events, mr_error *error)
{
    mrt_stream *stream = (mrt_stream *)base;
    if (stream->rewound)
        return give_again(stream, events, error);
    block given = take_block(stream);
    mr_ticker_tell(&stream->ticker, given.done_bytes, stream->mrt->source.size_bytes);
    if (is_last(&given))
        join_reader(stream);
    *events = given.events;
    release_used(stream, events);
    if (given.status)
        *error = stream->failure;
    return given.status;
}

static const mr_outlook *stream_outlook(const mr_stream *base)
{
    return mr_mrt_outlook(((const mrt_stream *)base)->mrt);
}

static const mr_trace *stream_dictionary(const mr_stream *base)
{
    return mr_mrt_dictionary(((const mrt_stream *)base)->mrt);
}

static void stream_stop(mr_stream *base)
{
    mrt_stream *stream = (mrt_stream *)base;
    if (!stream->threaded)
        return;
    pthread_mutex_lock(&stream->mutex);
    stream->stopped = true;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&stream->mutex);
    join_reader(stream);
}

static bool stream_rewind(mr_stream *base)
{
    mrt_stream *stream = (mrt_stream *)base;
    if (stream->threaded || !stream->mrt->source.map || !stream->mrt->complete)
        return false;
    stream->rewound = true;
    stream->again = 0;
    mr_mrt_source_release(&stream->mrt->source, 0);
    return true;
}

static void stream_close(mr_stream *base)
{
    mrt_stream *stream = (mrt_stream *)base;
    stream_stop(base);
    mr_mrt_close(stream->mrt);
    for (int i = 0; i < BLOCKS_AHEAD; i++)
        free(stream->members[i].items);
    for (size_t i = 0; i < stream->known_count; i++)
        free(stream->known[i].members);
    free(stream->known);
    if (stream->has_reader) {
        pthread_cond_destroy(&stream->more);
        pthread_cond_destroy(&stream->changed);
        pthread_mutex_destroy(&stream->mutex);
    }
    free(stream);
}

/* Without a thread the caller reads. */
static void start_reader(mrt_stream *stream)
{
    if (!stream->mrt->source.map || stream->mrt->options.one_thread ||
        pthread_mutex_init(&stream->mutex, NULL))
        return;
    if (!pthread_cond_init(&stream->changed, NULL)) {
        if (!pthread_cond_init(&stream->more, NULL)) {
            stream->threaded = mr_thread_start(&stream->reader, read_ahead, stream);
            stream->has_reader = stream->threaded;
            if (stream->threaded)
                return;
            pthread_cond_destroy(&stream->more);
        }
        pthread_cond_destroy(&stream->changed);
    }
    pthread_mutex_destroy(&stream->mutex);
}

mr_status mr_mrt_stream_open(const char *path, mr_input *input, const mr_read_options *options,
                             mr_stream **result, mr_error *error)
{
    static const mr_stream_kind kind = {stream_next,    stream_outlook, stream_dictionary,
                                        stream_stop,    stream_rewind,  stream_follow,
                                        stream_changed, stream_place,   stream_close};
    *result = NULL;
    mrt_stream *stream = mr_calloc(1, sizeof *stream);
    if (!stream) {
        mr_input_close(input);
        return mr_error_memory(error, "reading the trace");
    }
    mr_status status = mr_mrt_open(path, input, options, &stream->mrt, error);
    if (status) {
        free(stream);
        return status;
    }
    /* Progress is told from the caller's thread. */
    stream->ticker = stream->mrt->ticker;
    stream->mrt->ticker.progress = NULL;
    stream->base.kind = &kind;
    start_reader(stream);
    *result = &stream->base;
    return MR_OK;
}
