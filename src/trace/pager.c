#define _DEFAULT_SOURCE /* madvise */
#include "pager.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/resident.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { LOOK_MS = 2, WINDOW_PARTS = 8, MARGIN_PARTS = 16 };

typedef struct range {
    void *at;
    size_t bytes;
} range;

struct mr_pager {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stop;
    uint64_t limit_bytes;
    size_t slots;
    range ranges[];
};

uint64_t mr_pager_window_bytes(uint64_t limit_bytes)
{
    return limit_bytes / WINDOW_PARTS;
}

/* Some room to the limit is left, because the memory is taken already when it is counted. */
static void look(const mr_pager *pager)
{
    mr_resident now = mr_resident_now();
    if (now.anonymous_bytes + now.mapped_bytes <=
            pager->limit_bytes - pager->limit_bytes / MARGIN_PARTS ||
        now.mapped_bytes <= mr_pager_window_bytes(pager->limit_bytes))
        return;
    for (size_t i = 0; i < pager->slots; i++)
        if (pager->ranges[i].bytes)
            madvise(pager->ranges[i].at, pager->ranges[i].bytes, MADV_DONTNEED);
}

static void *watch(void *argument)
{
    mr_pager *pager = argument;
    pthread_mutex_lock(&pager->mutex);
    while (!pager->stop) {
        struct timespec wake;
        clock_gettime(CLOCK_MONOTONIC, &wake);
        wake.tv_nsec += LOOK_MS * 1000000L;
        wake.tv_sec += wake.tv_nsec / 1000000000;
        wake.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pager->stopped, &pager->mutex, &wake);
        look(pager);
    }
    pthread_mutex_unlock(&pager->mutex);
    return NULL;
}

mr_pager *mr_pager_start(uint64_t limit_bytes, size_t slots)
{
    mr_pager *pager = mr_malloc(sizeof *pager, slots * sizeof *pager->ranges);
    if (!pager)
        return NULL;
    *pager = (mr_pager){.limit_bytes = limit_bytes, .slots = slots};
    for (size_t i = 0; i < slots; i++)
        pager->ranges[i] = (range){0};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&pager->mutex, NULL);
    pthread_cond_init(&pager->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    if (mr_thread_start(&pager->thread, watch, pager))
        return pager;
    pthread_cond_destroy(&pager->stopped);
    pthread_mutex_destroy(&pager->mutex);
    free(pager);
    return NULL;
}

void mr_pager_stop(mr_pager *pager)
{
    if (!pager)
        return;
    pthread_mutex_lock(&pager->mutex);
    pager->stop = true;
    pthread_cond_signal(&pager->stopped);
    pthread_mutex_unlock(&pager->mutex);
    pthread_join(pager->thread, NULL);
    pthread_cond_destroy(&pager->stopped);
    pthread_mutex_destroy(&pager->mutex);
    free(pager);
}

void mr_pager_look(mr_pager *pager)
{
    pthread_mutex_lock(&pager->mutex);
    look(pager);
    pthread_mutex_unlock(&pager->mutex);
}

void mr_pager_set(mr_pager *pager, size_t slot, void *at, size_t bytes)
{
    MR_REQUIRE(slot < pager->slots);
    pthread_mutex_lock(&pager->mutex);
    pager->ranges[slot] = (range){at, bytes};
    pthread_mutex_unlock(&pager->mutex);
}
