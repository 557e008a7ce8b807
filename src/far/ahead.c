#include "ahead.h"

#include "base/memory.h"
#include "base/thread.h"
#include "estimate.h"
#include "far_window.h"
#include "states.h"

#include <stdlib.h>
#include <time.h>

/* The second far window and the states may take one of so many parts of the memory that is left. */
enum { ROOM_PARTS = 4 };

/* How often who waits for the search looks whether the run is to end. */
enum { LOOK_MS = 20 };

struct mr_far_ahead {
    const mr_predict_settings *settings;
    uint64_t memory_bytes; /* for the states */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;    /* the thread has come to its end */
    mr_halt halt; /* of the search */
    mr_reduction reduction;
    mr_carried carried;
    mr_arena arena, scratch; /* the window, and the states */
    mr_problem problem;
    mr_together *together;
    uint64_t spent;
    mr_explored result; /* MR_EXPLORED_NO_MEMORY: there is none */
};

/* As the far window is built (far_window.h). */
static bool build(mr_far_ahead *ahead, mr_error *error)
{
    const mr_predict_settings *settings = ahead->settings;
    mr_window *window;
    if (mr_reduce(&ahead->reduction, settings->trace, &settings->opaque, settings->model, NULL,
                  error) != MR_OK ||
        mr_carried_init(&ahead->carried, &ahead->reduction.trace, error) != MR_OK)
        return false;
    ahead->carried.barrier_edges = &ahead->reduction.opaque;
    return ahead->reduction.trace.event_count &&
           mr_reduced_window_build(&ahead->carried, 0, (uint32_t)ahead->reduction.trace.event_count,
                                   settings->model, &ahead->arena, &window, error) == MR_OK &&
           mr_problem_init(&ahead->problem, window, &ahead->arena) &&
           mr_far_problem_refine(&ahead->problem, &settings->decide, &ahead->arena);
}

static void *search(void *argument)
{
    mr_far_ahead *ahead = argument;
    mr_error error;
    if (build(ahead, &error))
        ahead->result =
            mr_far_search_together(&ahead->problem, &ahead->settings->decide, ahead->memory_bytes,
                                   &ahead->spent, &ahead->scratch, &ahead->together);
    pthread_mutex_lock(&ahead->mutex);
    ahead->done = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

static bool has_room(mr_far_ahead *ahead)
{
    const mr_predict_settings *settings = ahead->settings;
    mr_far_bytes bytes;
    if (!settings->room)
        return true;
    uint64_t part = mr_room_left(settings->room) / ROOM_PARTS;
    if (!mr_far_bytes_find(&bytes, settings->trace, settings->model, 0) ||
        mr_far_bytes_peak(&bytes) >= part)
        return false;
    ahead->memory_bytes = part - mr_far_bytes_peak(&bytes);
    return true;
}

mr_far_ahead *mr_far_ahead_start(const mr_predict_settings *settings)
{
    const bool fits = mr_far_survey_fits(settings, settings->trace->event_count);
    mr_far_ahead *ahead = fits ? mr_calloc(1, sizeof *ahead) : NULL;
    if (!ahead)
        return NULL;
    ahead->settings = settings;
    ahead->result = MR_EXPLORED_NO_MEMORY;
    mr_arena_init(&ahead->arena);
    mr_arena_init(&ahead->scratch);
    ahead->arena.halt = ahead->scratch.halt = &ahead->halt;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (has_room(ahead) && mr_thread_start(&ahead->thread, search, ahead))
        return ahead;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead);
    return NULL;
}

bool mr_far_ahead_take(mr_far_ahead *ahead, mr_explored *result, uint64_t *spent,
                       mr_together **together)
{
    const mr_halt *halt = ahead->settings->halt;
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->done && mr_halt_asked(halt) == MR_HALT_NONE) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ahead->changed, &ahead->mutex, &until);
    }
    bool done = ahead->done;
    pthread_mutex_unlock(&ahead->mutex);
    if (!done || ahead->result == MR_EXPLORED_NO_MEMORY ||
        (ahead->result == MR_EXPLORED_OUT_OF_EFFORT && mr_together_is_full(ahead->together)))
        return false;
    *result = ahead->result;
    *spent = ahead->spent;
    *together = ahead->together;
    return true;
}

void mr_far_ahead_end(mr_far_ahead *ahead)
{
    if (!ahead)
        return;
    mr_halt_ask(&ahead->halt, MR_HALT_SIGNAL);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    mr_arena_free(&ahead->scratch);
    mr_arena_free(&ahead->arena);
    mr_carried_free(&ahead->carried);
    mr_reduction_free(&ahead->reduction);
    free(ahead);
}
