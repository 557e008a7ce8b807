/*
 * steer_tasks: which task of OpenMP a thread takes next (steer.h). The schedule names a task by the operation that has made it.
 */
#ifndef MR_RUNTIME_STEER_TASKS_H
#define MR_RUNTIME_STEER_TASKS_H

#include "steer.h"

/* The role of who made the task, and the position of the operation by which it did. */
typedef struct mr_made {
    uint32_t maker;
    uint64_t at;
} mr_made;

static inline bool mr_is_made(mr_made one, mr_made other)
{
    return one.at == other.at && one.maker == other.maker;
}

/* A task that is made by the next operation of the thread. */
mr_made mr_steer_made(const mr_thread *thread);

typedef enum mr_takes {
    MR_TAKES_ANY,  /* the schedule does not say */
    MR_TAKES_NONE, /* the thread does something else */
    MR_TAKES_THIS,
} mr_takes;

/*
 * What the thread takes next. `updates`: it takes one by an atomic update, which comes first. `comes_after`: of how many others the end
 * comes before the task is taken.
 */
mr_takes mr_steer_takes(const mr_thread *thread, bool updates, mr_made *made,
                        unsigned *comes_after);

#endif
