#include "text_ahead.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

/* The chunks of the ring and what was seen in them stay in the cache that the processors share. A
 * chunk with more lines than that is left to the taker from there on. */
enum { AHEAD_CHUNKS = 8, AHEAD_LINES = 1 << 13, AHEAD_THREADS = 2 };

typedef struct text_chunk {
    char *buffer;      /* owned, of ahead_bytes */
    mr_looked *looked; /* owned */
    uint32_t looked_count;
    size_t rest;       /* bytes at the front from the chunk before */
    size_t whole, end; /* up to where lines are complete; up to where there are bytes */
    size_t got;        /* bytes that were read, without `rest`; 0: the end, or `status` */
    mr_status status;
    uint64_t done_bytes;
    bool has_nul;
    bool is_ready; /* its lines were looked at; with the mutex */
} text_chunk;

struct mr_text_ahead {
    mr_lines_filler filler;
    mr_lines *lines;     /* the taker's */
    mr_names *locations; /* the taker's; others look at them with `names` */
    mr_text_look look;
    size_t chunk_bytes;
    text_chunk chunks[AHEAD_CHUNKS];

    /* The reading thread's, one after the other. */
    mr_input *input;
    const char *rest; /* the incomplete line so far */
    size_t rest_bytes;
    mr_error failure; /* goes with the last chunk */

    pthread_t threads[AHEAD_THREADS];
    unsigned thread_count;
    pthread_rwlock_t names;  /* names.h */
    pthread_mutex_t mutex;   /* guards the next ones */
    pthread_cond_t changed;  /* for the threads */
    pthread_cond_t ready;    /* for the taker */
    uint64_t read, released; /* chunks [released, read), modulo their number, are in use */
    bool is_reading;         /* a thread reads chunk number `read` */
    bool is_last;            /* nothing follows the chunks that were read */
    unsigned asleep;         /* threads that wait for a chunk */
    bool stopped;            /* the taker wants no more */

    uint64_t done_before;      /* bytes of the file before the first chunk */
    uint64_t taken;            /* the taker's: chunks it was given */
    const text_chunk *current; /* the taker's: where the lines are; NULL: not in a chunk */
    uint32_t next_looked;      /* the taker's, in `current` */
    bool ended;                /* the taker's: it was given the last chunk */
};

static size_t ahead_bytes(void)
{
    return (size_t)MR_LINE_MAX_BYTES + 2 + MR_LINES_FILL_BYTES + MR_LINES_BEYOND_BYTES;
}

static text_chunk *chunk_of(mr_text_ahead *ahead, uint64_t number)
{
    return &ahead->chunks[number % AHEAD_CHUNKS];
}

/* ---- the threads ---- */

/* The bytes behind the last newline of [from, to). Of a line that is too long already, none: the
 * taker skips it. */
static size_t incomplete(const char *buffer, size_t from, size_t to)
{
    size_t start = to;
    while (start > from && buffer[start - 1] != '\n')
        start--;
    return to - start > MR_LINE_MAX_BYTES + 1 ? 0 : to - start;
}

/* Finds locations that are known. */
static void know_locations(const mr_names *locations, const char *buffer, mr_looked *lines,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mr_looked *line = &lines[i];
        uint32_t length = mr_looked_location_length(line);
        if (line->kind.way == MR_TEXT_ELSEWHERE)
            continue;
        mr_name_key key = {.text = buffer + line->start + line->location_start,
                           .length = length,
                           .hash = line->location_hash};
        if (length <= MR_NAME_SHORT_BYTES)
            mr_names_words(key.text, length, key.words);
        uint32_t found = mr_names_look(locations, &key);
        if (!found)
            continue;
        line->location = found - 1;
        line->kind.knows_location = true;
    }
}

/* Looks at the lines from `count` on, some batches of them. Returns how many there are now. */
static uint32_t look_at_some(const mr_text_ahead *ahead, text_chunk *chunk, uint32_t count)
{
    enum { SOME_BATCHES = 32 };
    for (int i = 0; i < SOME_BATCHES && count < AHEAD_LINES; i++) {
        uint32_t room = AHEAD_LINES - count;
        const mr_looked *before = chunk->looked + count - 1;
        size_t at = count ? (size_t)before->start + before->length : 0;
        uint32_t found = mr_text_look_at(&ahead->look, chunk->buffer, at, chunk->whole,
                                         room < MR_TEXT_LOOK_BATCH ? room : MR_TEXT_LOOK_BATCH,
                                         chunk->looked + count);
        if (!found)
            break;
        know_locations(ahead->locations, chunk->buffer, chunk->looked + count, found);
        count += found;
    }
    return count;
}

/* The names are given free now and then: the taker may wait for them. */
static void look_at(mr_text_ahead *ahead, text_chunk *chunk)
{
    uint32_t count = 0, before;
    do {
        before = count;
        pthread_rwlock_rdlock(&ahead->names);
        count = look_at_some(ahead, chunk, count);
        pthread_rwlock_unlock(&ahead->names);
    } while (count > before && count < AHEAD_LINES);
    MR_ASSERT(count <= AHEAD_LINES);
    chunk->looked_count = count;
}

/* Reads on. False: nothing follows. */
static bool fill_chunk(mr_text_ahead *ahead, text_chunk *chunk)
{
    if (ahead->rest_bytes)
        memcpy(chunk->buffer, ahead->rest, ahead->rest_bytes);
    chunk->rest = ahead->rest_bytes;
    MR_ASSERT(chunk->rest + ahead->chunk_bytes + MR_LINES_BEYOND_BYTES <= ahead_bytes());
    char *read = chunk->buffer + chunk->rest;
    chunk->got = 0;
    chunk->status =
        mr_input_read(ahead->input, read, ahead->chunk_bytes, &chunk->got, &ahead->failure);
    chunk->done_bytes = mr_input_done_bytes(ahead->input);
    if (chunk->status || !chunk->got)
        return false;
    chunk->end = chunk->rest + chunk->got;
    chunk->has_nul = memchr(read, 0, chunk->got) != NULL;
    memset(chunk->buffer + chunk->end, 0, MR_LINES_BEYOND_BYTES);
    ahead->rest_bytes = incomplete(chunk->buffer, 0, chunk->end);
    ahead->rest = chunk->buffer + chunk->end - ahead->rest_bytes;
    chunk->whole = chunk->end - ahead->rest_bytes;
    return true;
}

/* With the mutex: waits for a chunk to read. False: there is none. */
static bool may_read(mr_text_ahead *ahead)
{
    while (!ahead->stopped && !ahead->is_last &&
           (ahead->is_reading || ahead->read - ahead->released == AHEAD_CHUNKS)) {
        ahead->asleep++;
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
        ahead->asleep--;
    }
    return !ahead->stopped && !ahead->is_last;
}

static void *read_ahead(void *argument)
{
    mr_text_ahead *ahead = argument;
    pthread_mutex_lock(&ahead->mutex);
    while (may_read(ahead)) {
        text_chunk *chunk = chunk_of(ahead, ahead->read);
        chunk->is_ready = false;
        ahead->is_reading = true;
        pthread_mutex_unlock(&ahead->mutex);
        bool goes_on = fill_chunk(ahead, chunk);
        pthread_mutex_lock(&ahead->mutex);
        ahead->read++;
        ahead->is_reading = false;
        ahead->is_last = !goes_on;
        if (goes_on) {
            pthread_cond_signal(&ahead->changed);
            pthread_mutex_unlock(&ahead->mutex);
            look_at(ahead, chunk);
            pthread_mutex_lock(&ahead->mutex);
        }
        chunk->is_ready = true;
        pthread_cond_signal(&ahead->ready);
    }
    pthread_cond_signal(&ahead->changed); /* whoever waits ends, too */
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

/* ---- the taker ---- */

/* Gives back the chunk that the taker has. Waking a thread costs as much as a tenth of a chunk: one is woken for a quarter
 * of the ring when all sleep, else for half of it. */
static void give_back(mr_text_ahead *ahead)
{
    ahead->released = ahead->taken;
    uint64_t free_chunks = AHEAD_CHUNKS - (ahead->read - ahead->released);
    if (free_chunks >= (ahead->asleep == ahead->thread_count ? AHEAD_CHUNKS / 4 : AHEAD_CHUNKS / 2))
        pthread_cond_signal(&ahead->changed);
}

/* The next chunk, when it is ready. */
static const text_chunk *next_chunk(mr_text_ahead *ahead)
{
    const text_chunk *chunk = chunk_of(ahead, ahead->taken);
    pthread_mutex_lock(&ahead->mutex);
    give_back(ahead);
    while (ahead->read == ahead->taken || !chunk->is_ready)
        pthread_cond_wait(&ahead->ready, &ahead->mutex);
    pthread_mutex_unlock(&ahead->mutex);
    ahead->taken++;
    return chunk;
}

/* The rest of the lines is at the front of the next chunk. Of a line that is skipped, it has no end. */
static mr_status fill(mr_lines_filler *filler, mr_lines *lines, size_t *got, mr_error *error)
{
    mr_text_ahead *ahead = (mr_text_ahead *)filler;
    size_t rest = lines->end - lines->next;
    const text_chunk *chunk = ahead->ended ? chunk_of(ahead, ahead->taken - 1) : next_chunk(ahead);
    *got = chunk->got;
    ahead->ended = !chunk->got;
    if (chunk->status)
        *error = ahead->failure;
    if (ahead->ended) /* the thread writes to no chunk any more: the rest stays where it is */
        return chunk->status;
    MR_ASSERT(!rest || rest == chunk->rest);
    lines->buffer = chunk->buffer;
    lines->next = 0;
    lines->end = chunk->end;
    lines->has_nul |= chunk->has_nul;
    ahead->current = chunk;
    ahead->next_looked = 0;
    return MR_OK;
}

const mr_looked *mr_text_ahead_lines(mr_text_ahead *ahead, uint32_t *count)
{
    const text_chunk *chunk = ahead->current;
    *count = 0;
    if (!chunk)
        return NULL;
    uint32_t number = ahead->next_looked;
    while (number < chunk->looked_count && chunk->looked[number].start < ahead->lines->next)
        number++;
    ahead->next_looked = number;
    if (number < chunk->looked_count && chunk->looked[number].start == ahead->lines->next)
        *count = chunk->looked_count - number;
    return chunk->looked + number;
}

uint64_t mr_text_ahead_done_bytes(const mr_text_ahead *ahead)
{
    return ahead->taken ? ahead->chunks[(ahead->taken - 1) % AHEAD_CHUNKS].done_bytes
                        : ahead->done_before;
}

/* ---- start and end ---- */

static void free_all(mr_text_ahead *ahead)
{
    for (int i = 0; i < AHEAD_CHUNKS; i++) {
        free(ahead->chunks[i].buffer);
        free(ahead->chunks[i].looked);
    }
    free(ahead);
}

static bool make_chunks(mr_text_ahead *ahead)
{
    for (int i = 0; i < AHEAD_CHUNKS; i++) {
        text_chunk *chunk = &ahead->chunks[i];
        chunk->buffer = mr_malloc(ahead_bytes(), 0);
        chunk->looked = mr_realloc(NULL, AHEAD_LINES, sizeof *chunk->looked);
        if (!chunk->buffer || !chunk->looked)
            return false;
    }
    return true;
}

static bool make_locks(mr_text_ahead *ahead)
{
    if (pthread_mutex_init(&ahead->mutex, NULL))
        return false;
    if (!pthread_cond_init(&ahead->changed, NULL)) {
        if (!pthread_cond_init(&ahead->ready, NULL)) {
            if (!pthread_rwlock_init(&ahead->names, NULL))
                return true;
            pthread_cond_destroy(&ahead->ready);
        }
        pthread_cond_destroy(&ahead->changed);
    }
    pthread_mutex_destroy(&ahead->mutex);
    return false;
}

static void free_locks(mr_text_ahead *ahead)
{
    pthread_rwlock_destroy(&ahead->names);
    pthread_cond_destroy(&ahead->ready);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
}

/* Fewer threads than wanted do it, too. */
static bool start_threads(mr_text_ahead *ahead)
{
    if (!make_locks(ahead))
        return false;
    ahead->locations->shared = &ahead->names;
    while (ahead->thread_count < AHEAD_THREADS &&
           mr_thread_start(&ahead->threads[ahead->thread_count], read_ahead, ahead))
        ahead->thread_count++;
    if (ahead->thread_count)
        return true;
    ahead->locations->shared = NULL;
    free_locks(ahead);
    return false;
}

mr_text_ahead *mr_text_ahead_start(mr_lines *lines, const mr_text_ops *ops, mr_names *locations,
                                   bool keep_values, size_t chunk_bytes)
{
    mr_text_ahead *ahead =
        mr_input_allow_interrupt(lines->input) ? mr_calloc(1, sizeof *ahead) : NULL;
    if (!ahead)
        return NULL;
    ahead->filler.fill = fill;
    ahead->lines = lines;
    ahead->locations = locations;
    ahead->input = lines->input;
    ahead->done_before = mr_input_done_bytes(lines->input);
    ahead->look = (mr_text_look){.ops = ops, .keep_values = keep_values};
    ahead->chunk_bytes = chunk_bytes ? chunk_bytes : MR_LINES_FILL_BYTES;
    MR_REQUIRE(ahead->chunk_bytes <= MR_LINES_FILL_BYTES);
    ahead->rest_bytes = lines->skipping ? 0 : incomplete(lines->buffer, lines->next, lines->end);
    ahead->rest = lines->buffer + lines->end - ahead->rest_bytes;
    if (!make_chunks(ahead) || !start_threads(ahead)) {
        free_all(ahead);
        return NULL;
    }
    lines->filler = &ahead->filler;
    return ahead;
}

void mr_text_ahead_stop(mr_text_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stopped = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    mr_input_interrupt(ahead->input);
    for (unsigned i = 0; i < ahead->thread_count; i++)
        pthread_join(ahead->threads[i], NULL);
    ahead->locations->shared = NULL;
    free_locks(ahead);
    ahead->lines->next = ahead->lines->end = 0;
    free_all(ahead);
}
