#include "mrt_fill.h"

#include "base/thread.h"
#include "trace/index.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4 };

/* A block to be filled in, with the columns as they were when it was put: the trace itself belongs
 * to the reader. */
typedef struct block {
    mr_events events;
    const uint32_t *values;
    mr_index_run run;
    uint8_t *op;
    uint32_t *thread, *operand, *location, *value;
    bool is_copied; /* only the index is missing */
} block;

struct mr_mrt_fill {
    mr_index *index; /* the thread's, when there is one */
    bool threaded;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    block blocks[BLOCKS]; /* [done, put), modulo their number, are to be filled in */
    uint64_t put, done;
    bool ended, failed;
};

static void copy(void *to, const void *from, size_t bytes)
{
    if (to != from)
        memcpy(to, from, bytes);
}

static void fill_rows(const block *b)
{
    const mr_events *events = &b->events;
    size_t first = events->first, count = events->count, bytes = count * sizeof(uint32_t);
    copy(b->op + first, events->op, count);
    copy(b->thread + first, events->thread, bytes);
    copy(b->operand + first, events->operand, bytes);
    copy(b->location + first, events->location, bytes);
    if (b->values)
        memcpy(b->value + first, b->values, bytes);
    else
        memset(b->value + first, 0, bytes);
}

static bool fill_in(mr_index *index, const block *b)
{
    if (!b->is_copied)
        fill_rows(b);
    return mr_index_add(index, &b->run);
}

static void *fill_behind(void *argument)
{
    mr_mrt_fill *fill = argument;
    pthread_mutex_lock(&fill->mutex);
    for (;;) {
        while (fill->done == fill->put && !fill->ended)
            pthread_cond_wait(&fill->changed, &fill->mutex);
        if (fill->done == fill->put)
            break;
        block next = fill->blocks[fill->done % BLOCKS];
        bool failed = fill->failed;
        pthread_mutex_unlock(&fill->mutex);
        failed = failed || !fill_in(fill->index, &next);
        pthread_mutex_lock(&fill->mutex);
        fill->failed = failed;
        fill->done++;
        pthread_cond_broadcast(&fill->changed);
    }
    pthread_mutex_unlock(&fill->mutex);
    return NULL;
}

static void start_thread(mr_mrt_fill *fill)
{
    if (pthread_mutex_init(&fill->mutex, NULL))
        return;
    if (!pthread_cond_init(&fill->changed, NULL)) {
        fill->threaded = mr_thread_start(&fill->thread, fill_behind, fill);
        if (fill->threaded)
            return;
        pthread_cond_destroy(&fill->changed);
    }
    pthread_mutex_destroy(&fill->mutex);
}

mr_mrt_fill *mr_mrt_fill_new(bool apart)
{
    mr_mrt_fill *fill = mr_calloc(1, sizeof *fill);
    if (!fill)
        return NULL;
    fill->index = mr_index_new();
    if (!fill->index) {
        free(fill);
        return NULL;
    }
    if (apart)
        start_thread(fill);
    return fill;
}

static void join(mr_mrt_fill *fill)
{
    if (!fill->threaded)
        return;
    pthread_mutex_lock(&fill->mutex);
    fill->ended = true;
    pthread_cond_broadcast(&fill->changed);
    pthread_mutex_unlock(&fill->mutex);
    pthread_join(fill->thread, NULL);
    pthread_cond_destroy(&fill->changed);
    pthread_mutex_destroy(&fill->mutex);
    fill->threaded = false;
}

void mr_mrt_fill_free(mr_mrt_fill *fill)
{
    if (!fill)
        return;
    join(fill);
    mr_index_free(fill->index);
    free(fill);
}

static bool is_full(mr_mrt_fill *fill)
{
    pthread_mutex_lock(&fill->mutex);
    bool full = fill->put - fill->done == BLOCKS;
    pthread_mutex_unlock(&fill->mutex);
    return full;
}

bool mr_mrt_fill_put(mr_mrt_fill *fill, const mr_trace *trace, const mr_events *events,
                     const uint32_t *values)
{
    block next = {.events = *events,
                  .values = values,
                  .run = mr_index_run_of(trace, events->first, events->count),
                  .op = trace->op,
                  .thread = trace->thread,
                  .operand = trace->operand,
                  .location = trace->location,
                  .value = trace->value};
    if (!fill->threaded) {
        fill->failed = fill->failed || !fill_in(fill->index, &next);
        return !fill->failed;
    }
    if (is_full(fill)) {
        fill_rows(&next); /* instead of waiting */
        next.is_copied = true;
    }
    pthread_mutex_lock(&fill->mutex);
    while (fill->put - fill->done == BLOCKS)
        pthread_cond_wait(&fill->changed, &fill->mutex);
    fill->blocks[fill->put++ % BLOCKS] = next;
    bool failed = fill->failed;
    pthread_cond_broadcast(&fill->changed);
    pthread_mutex_unlock(&fill->mutex);
    return !failed;
}

void mr_mrt_fill_wait(mr_mrt_fill *fill)
{
    if (!fill->threaded)
        return;
    pthread_mutex_lock(&fill->mutex);
    while (fill->done < fill->put)
        pthread_cond_wait(&fill->changed, &fill->mutex);
    pthread_mutex_unlock(&fill->mutex);
}

bool mr_mrt_fill_end(mr_mrt_fill *fill, mr_trace *trace)
{
    join(fill);
    return !fill->failed && mr_index_finish(fill->index, trace);
}
