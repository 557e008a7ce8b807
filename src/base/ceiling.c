#define _DEFAULT_SOURCE /* malloc_trim */
#include "ceiling.h"

#include "memory.h"
#include "resident.h"
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Parts are those of the limit. The pager leaves an eighth of the limit mapped, and all of the code. */
enum {
    /* How long until the next look: as long as what is left may take to be used up, but so long at most. */
    USED_UP_BYTES_A_MS = 8 << 20,
    LONGEST_LOOK_MS = 50,
    LOOK_MS = 3,
    NEAR_LOOK_MS = 1, /* when less than a sixth of the limit is left */
    NEAR_PARTS = 6,
    MAPPED_PARTS = 8,
    MARGIN_PARTS = 32, /* the run is asked to end when less than this part is left */
    ALWAYS_BYTES = 16 << 20,
    CODE_MOST_BYTES = 12 << 20 /* what is mapped at the start, up to this, is taken for code */
};

struct mr_ceiling {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool stop;
    mr_halt *halt;
    uint64_t limit_bytes, begin_bytes, code_bytes;
};

/* What the process holds of its limit; 0: it has not grown enough for the limit to count. */
static uint64_t held_bytes(const mr_ceiling *ceiling)
{
    mr_resident now = mr_resident_now();
    uint64_t most = ceiling->limit_bytes / MAPPED_PARTS + ceiling->code_bytes;
    uint64_t mapped = now.mapped_bytes < most ? now.mapped_bytes : most;
    return now.anonymous_bytes > ceiling->begin_bytes + ALWAYS_BYTES ? now.anonymous_bytes + mapped
                                                                     : 0;
}

/* With what is held, is less than one of `parts` equal parts of the limit left? */
static bool leaves_less(const mr_ceiling *ceiling, uint64_t held, uint64_t parts)
{
    return held > ceiling->limit_bytes - ceiling->limit_bytes / parts;
}

static bool is_near(const mr_ceiling *ceiling, uint64_t parts)
{
    return leaves_less(ceiling, held_bytes(ceiling), parts);
}

/* A look takes up to 0.1 ms, which is much for a process that has gigabytes left. */
static long wait_ms(const mr_ceiling *ceiling)
{
    uint64_t held = held_bytes(ceiling);
    if (leaves_less(ceiling, held, NEAR_PARTS))
        return NEAR_LOOK_MS;
    uint64_t ms =
        (ceiling->limit_bytes - ceiling->limit_bytes / MARGIN_PARTS - held) / USED_UP_BYTES_A_MS;
    return ms < LOOK_MS ? LOOK_MS : ms > LONGEST_LOOK_MS ? LONGEST_LOOK_MS : (long)ms;
}

static void look(const mr_ceiling *ceiling)
{
    if (!is_near(ceiling, MARGIN_PARTS))
        return;
#ifdef __GLIBC__
    malloc_trim(0);
    if (!is_near(ceiling, MARGIN_PARTS))
        return;
#endif
    mr_halt_ask(ceiling->halt, MR_HALT_MEMORY);
}

static void *watch(void *argument)
{
    mr_ceiling *ceiling = argument;
    pthread_mutex_lock(&ceiling->mutex);
    while (!ceiling->stop && mr_halt_asked(ceiling->halt) == MR_HALT_NONE) {
        struct timespec wake;
        clock_gettime(CLOCK_MONOTONIC, &wake);
        wake.tv_nsec += wait_ms(ceiling) * 1000000L;
        wake.tv_sec += wake.tv_nsec / 1000000000;
        wake.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ceiling->stopped, &ceiling->mutex, &wake);
        look(ceiling);
    }
    pthread_mutex_unlock(&ceiling->mutex);
    return NULL;
}

mr_ceiling *mr_ceiling_start(uint64_t limit_bytes, mr_halt *halt)
{
    mr_ceiling *ceiling = limit_bytes ? mr_calloc(1, sizeof *ceiling) : NULL;
    pthread_condattr_t attributes;
    if (!ceiling)
        return NULL;
    mr_resident now = mr_resident_now();
    *ceiling = (mr_ceiling){.halt = halt,
                            .limit_bytes = limit_bytes,
                            .begin_bytes = now.anonymous_bytes,
                            .code_bytes = now.mapped_bytes < CODE_MOST_BYTES ? now.mapped_bytes
                                                                             : CODE_MOST_BYTES};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&ceiling->mutex, NULL);
    pthread_cond_init(&ceiling->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    if (mr_thread_start(&ceiling->thread, watch, ceiling))
        return ceiling;
    pthread_cond_destroy(&ceiling->stopped);
    pthread_mutex_destroy(&ceiling->mutex);
    free(ceiling);
    return NULL;
}

void mr_ceiling_stop(mr_ceiling *ceiling)
{
    if (!ceiling)
        return;
    pthread_mutex_lock(&ceiling->mutex);
    ceiling->stop = true;
    pthread_cond_signal(&ceiling->stopped);
    pthread_mutex_unlock(&ceiling->mutex);
    pthread_join(ceiling->thread, NULL);
    pthread_cond_destroy(&ceiling->stopped);
    pthread_mutex_destroy(&ceiling->mutex);
    free(ceiling);
}
