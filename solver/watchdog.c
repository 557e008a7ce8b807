#include "watchdog.h"

#include "base/assert.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { POLL_MS = 5 };

struct mr_watchdog {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    Z3_context context; /* NULL: nothing to watch */
    struct timespec deadline;
    bool has_deadline, stop;
    uint64_t memory_bytes;
    mr_watched watched; /* while there is a context */
    const mr_halt *halt;
    mr_alarm alarm;
};

static struct timespec after_ms(uint32_t ms)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += ms / 1000;
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static bool reached(const struct timespec *deadline)
{
    struct timespec now = after_ms(0);
    return now.tv_sec > deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

static void look(mr_watchdog *watchdog)
{
    if (watchdog->alarm == MR_ALARM_NONE) {
        if (watchdog->has_deadline && reached(&watchdog->deadline))
            watchdog->alarm = MR_ALARM_TIME;
        else if ((watchdog->memory_bytes &&
                  Z3_get_estimated_alloc_size() > watchdog->memory_bytes) ||
                 mr_room_is_over(&watchdog->watched))
            watchdog->alarm = MR_ALARM_MEMORY;
        else if (mr_halt_asked(watchdog->halt) != MR_HALT_NONE)
            watchdog->alarm = MR_ALARM_HALT;
    }
    /* Again at every look: an interrupt that arrives between two phases of Z3 can be lost. */
    if (watchdog->alarm != MR_ALARM_NONE)
        Z3_interrupt(watchdog->context);
}

static void *watch(void *argument)
{
    mr_watchdog *watchdog = argument;
    pthread_mutex_lock(&watchdog->mutex);
    while (!watchdog->stop) {
        if (!watchdog->context) {
            pthread_cond_wait(&watchdog->changed, &watchdog->mutex);
            continue;
        }
        struct timespec wake = after_ms(POLL_MS);
        pthread_cond_timedwait(&watchdog->changed, &watchdog->mutex, &wake);
        if (watchdog->context && !watchdog->stop)
            look(watchdog);
    }
    pthread_mutex_unlock(&watchdog->mutex);
    return NULL;
}

mr_watchdog *mr_watchdog_start(void)
{
    mr_watchdog *watchdog = mr_calloc(1, sizeof *watchdog);
    if (!watchdog)
        return NULL;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watchdog->mutex, NULL);
    pthread_cond_init(&watchdog->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!pthread_create(&watchdog->thread, NULL, watch, watchdog))
        return watchdog;
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->mutex);
    free(watchdog);
    return NULL;
}

void mr_watchdog_stop(mr_watchdog *watchdog)
{
    if (!watchdog)
        return;
    pthread_mutex_lock(&watchdog->mutex);
    watchdog->stop = true;
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->mutex);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->mutex);
    free(watchdog);
}

void mr_watchdog_arm(mr_watchdog *watchdog, Z3_context context, uint32_t timeout_ms,
                     uint64_t memory_bytes, mr_room *room, const mr_halt *halt)
{
    pthread_mutex_lock(&watchdog->mutex);
    MR_REQUIRE(!watchdog->context); /* one query at a time */
    watchdog->context = context;
    watchdog->has_deadline = timeout_ms != 0;
    watchdog->deadline = after_ms(timeout_ms);
    watchdog->memory_bytes = memory_bytes;
    watchdog->halt = halt;
    watchdog->alarm = MR_ALARM_NONE;
    mr_room_watch(room, &watchdog->watched);
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->mutex);
}

mr_alarm mr_watchdog_alarm(mr_watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    mr_alarm alarm = watchdog->alarm;
    pthread_mutex_unlock(&watchdog->mutex);
    return alarm;
}

mr_alarm mr_watchdog_disarm(mr_watchdog *watchdog)
{
    pthread_mutex_lock(&watchdog->mutex);
    MR_REQUIRE(watchdog->context);
    watchdog->context = NULL;
    mr_room_unwatch(&watchdog->watched);
    mr_alarm alarm = watchdog->alarm;
    pthread_mutex_unlock(&watchdog->mutex);
    return alarm;
}
