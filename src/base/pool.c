#include "pool.h"

#include "assert.h"
#include "memory.h"
#include "thread.h"

#include <stdlib.h>
#include <time.h>

/* A unit that is done, or that failed. */
typedef struct done_unit {
    struct done_unit *next;
    uint64_t unit;
    void *product;
    mr_status status;
    mr_error error;
} done_unit;

typedef struct runner {
    const mr_pool *pool;
    pthread_mutex_t mutex; /* of all below, and of `take` */
    pthread_cond_t changed_for_caller, changed_for_workers;
    done_unit *first, **last; /* done and not delivered, oldest first */
    unsigned running;         /* workers that may still make something */
    bool failed;              /* no unit is taken any more */
} runner;

typedef struct worker {
    runner *runner;
    pthread_t thread;
    unsigned number;
    done_unit *spare; /* for the next unit, so that nothing can fail after it is done */
} worker;

static struct timespec pause_of(const mr_pool *pool)
{
    unsigned ms = pool->look_ms ? pool->look_ms : MR_POOL_LOOK_MS;
    return (struct timespec){ms / 1000, ms % 1000 * 1000000L};
}

static struct timespec soon(const mr_pool *pool)
{
    struct timespec time, pause = pause_of(pool);
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += pause.tv_sec;
    time.tv_nsec += pause.tv_nsec;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* The next unit for a worker, waiting until there is one. The mutex is held. */
static bool take(runner *r, uint64_t *unit)
{
    while (!r->failed) {
        mr_taken taken = r->pool->take(r->pool->context, unit);
        if (taken != MR_TAKEN_LATER)
            return taken == MR_TAKEN;
        struct timespec wake = soon(r->pool);
        pthread_cond_timedwait(&r->changed_for_workers, &r->mutex, &wake);
    }
    return false;
}

static void *run_worker(void *argument)
{
    worker *self = argument;
    runner *r = self->runner;
    uint64_t unit;
    pthread_mutex_lock(&r->mutex);
    while (self->spare && take(r, &unit)) {
        done_unit *done = self->spare;
        pthread_mutex_unlock(&r->mutex);
        *done = (done_unit){.unit = unit};
        done->status =
            r->pool->work(r->pool->context, self->number, unit, &done->product, &done->error);
        self->spare = mr_calloc(1, sizeof *self->spare);
        pthread_mutex_lock(&r->mutex);
        *r->last = done;
        r->last = &done->next;
        r->failed |= done->status != MR_OK || !self->spare;
        pthread_cond_signal(&r->changed_for_caller);
    }
    MR_ASSERT(r->running > 0);
    r->running--;
    pthread_cond_signal(&r->changed_for_caller);
    pthread_mutex_unlock(&r->mutex);
    return NULL;
}

/* Keeps the first error. */
static void note(mr_status *first, mr_error *error, mr_status status, const mr_error *found)
{
    if (*first != MR_OK || status == MR_OK)
        return;
    *first = status;
    if (error)
        *error = *found;
}

static void deliver(const mr_pool *pool, const done_unit *done, mr_status *status, mr_error *error)
{
    mr_error found = {0};
    note(status, error, done->status, &done->error);
    if (done->product)
        note(status, error, pool->deliver(pool->context, done->unit, done->product, &found),
             &found);
}

static void look(const mr_pool *pool, mr_status *status, mr_error *error)
{
    mr_error found = {0};
    if (pool->look && *status == MR_OK)
        note(status, error, pool->look(pool->context, &found), &found);
}

/* The calling thread's part while workers run. */
static mr_status attend(runner *r, mr_error *error)
{
    mr_status status = MR_OK;
    pthread_mutex_lock(&r->mutex);
    while (r->running || r->first) {
        done_unit *ready = r->first;
        r->first = NULL;
        r->last = &r->first;
        if (!ready) {
            struct timespec wake = soon(r->pool);
            pthread_cond_timedwait(&r->changed_for_caller, &r->mutex, &wake);
        }
        pthread_mutex_unlock(&r->mutex);
        while (ready) {
            done_unit *next = ready->next;
            deliver(r->pool, ready, &status, error);
            free(ready);
            ready = next;
        }
        look(r->pool, &status, error);
        pthread_mutex_lock(&r->mutex);
        r->failed |= status != MR_OK;
        pthread_cond_broadcast(&r->changed_for_workers);
    }
    pthread_mutex_unlock(&r->mutex);
    return status;
}

static mr_status run_alone(const mr_pool *pool, mr_error *error)
{
    mr_status status = MR_OK;
    while (status == MR_OK) {
        done_unit done = {0};
        mr_taken taken = pool->take(pool->context, &done.unit);
        if (taken == MR_TAKEN_NONE)
            break;
        if (taken == MR_TAKEN) {
            done.status = pool->work(pool->context, 0, done.unit, &done.product, &done.error);
            deliver(pool, &done, &status, error);
        } else {
            const struct timespec nap = pause_of(pool);
            nanosleep(&nap, NULL);
        }
        look(pool, &status, error);
    }
    return status;
}

static void init(runner *r, const mr_pool *pool)
{
    pthread_condattr_t attributes;
    *r = (runner){.pool = pool};
    r->last = &r->first;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->mutex, NULL);
    pthread_cond_init(&r->changed_for_caller, &attributes);
    pthread_cond_init(&r->changed_for_workers, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void end(runner *r)
{
    MR_ASSERT(!r->running && !r->first); /* every product was delivered */
    pthread_cond_destroy(&r->changed_for_caller);
    pthread_cond_destroy(&r->changed_for_workers);
    pthread_mutex_destroy(&r->mutex);
}

/* Starts as many workers as can be had. */
static unsigned start(runner *r, worker *workers)
{
    unsigned started = 0;
    for (; started < r->pool->workers; started++) {
        worker *self = &workers[started];
        *self = (worker){.runner = r, .number = started, .spare = mr_calloc(1, sizeof(done_unit))};
        if (!self->spare)
            break;
        pthread_mutex_lock(&r->mutex);
        r->running++;
        pthread_mutex_unlock(&r->mutex);
        if (mr_thread_start(&self->thread, run_worker, self))
            continue;
        pthread_mutex_lock(&r->mutex);
        r->running--;
        pthread_mutex_unlock(&r->mutex);
        free(self->spare);
        break;
    }
    return started;
}

mr_status mr_pool_run(const mr_pool *pool, mr_error *error)
{
    MR_REQUIRE(pool->workers > 0 && pool->take && pool->work && pool->deliver);
    if (pool->workers == 1 && !pool->apart)
        return run_alone(pool, error);
    worker *workers = mr_calloc(pool->workers, sizeof *workers);
    if (!workers)
        return mr_error_memory(error, "starting the workers");
    runner r;
    init(&r, pool);
    unsigned started = start(&r, workers);
    mr_status status = started ? attend(&r, error) : run_alone(pool, error);
    bool starved = false;
    for (unsigned i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        starved |= !workers[i].spare;
        free(workers[i].spare);
    }
    end(&r);
    free(workers);
    return status == MR_OK && starved ? mr_error_memory(error, "recording a unit") : status;
}
