/*
 * Target regions of OpenMP (gomp.h), which run on the host. The library does what it does with memory, but it knows nothing of the
 * tasks and teams that are made here: it is never asked to wait for them, to make a task of its own, or to run in a team of several.
 */
#include "gomp_tasks.h"

enum { NO_WAIT = 1 };

static void wait_before(mr_thread *thread, void **depends, uintptr_t code)
{
    mr_gomp_task *current = mr_gomp_now()->task;
    mr_gomp_task task = {.parent = current, .team = current->team};
    mr_yield(thread);
    if (depends != NULL && current->team->size > 1) {
        mr_gomp_wait_before(thread, &task, depends, code);
    }
}

MR_EXPORT void GOMP_target_ext(int device, mr_gomp_function function, size_t count, void **memory,
                               size_t *sizes, unsigned short *kinds, unsigned flags, void **depends,
                               void **others);

typedef struct region {
    int device;
    unsigned flags;
    mr_gomp_function function;
    size_t count;
    void **memory, **others;
    size_t *sizes;
    unsigned short *kinds;
} region;

static void run(void *data)
{
    const region *self = data;
    MR_REAL(GOMP_target_ext)
    (self->device, self->function, self->count, self->memory, self->sizes, self->kinds,
     self->flags & ~(unsigned)NO_WAIT, NULL, self->others);
}

void GOMP_target_ext(int device, mr_gomp_function function, size_t count, void **memory,
                     size_t *sizes, unsigned short *kinds, unsigned flags, void **depends,
                     void **others)
{
    mr_thread *thread = MR_GOMP_ENTER();
    if (thread == NULL) {
        MR_REAL(GOMP_target_ext)
        (device, function, count, memory, sizes, kinds, flags, depends, others);
        return;
    }
    region all = {device, flags, function, count, memory, others, sizes, kinds};
    wait_before(thread, depends, MR_CALLER);
    if (mr_gomp_now()->team->size > 1) { /* its loops are not those of the team */
        mr_gomp_parallel(thread, run, &all, 1, NULL, MR_CALLER);
        mr_leave(thread);
    } else {
        mr_leave(thread);
        run(&all);
    }
}

#define MOVES(name)                                                                                \
    MR_EXPORT void name(int device, size_t count, void **memory, size_t *sizes,                    \
                        unsigned short *kinds, unsigned flags, void **depends);                    \
    void name(int device, size_t count, void **memory, size_t *sizes, unsigned short *kinds,       \
              unsigned flags, void **depends)                                                      \
    {                                                                                              \
        mr_thread *thread = MR_GOMP_ENTER();                                                       \
        if (thread != NULL) {                                                                      \
            wait_before(thread, depends, MR_CALLER);                                               \
            mr_leave(thread);                                                                      \
            depends = NULL;                                                                        \
            flags &= ~(unsigned)NO_WAIT;                                                           \
        }                                                                                          \
        MR_REAL(name)(device, count, memory, sizes, kinds, flags, depends);                        \
    }
MOVES(GOMP_target_update_ext)
MOVES(GOMP_target_enter_exit_data)
#undef MOVES
