/* cond: condition variables, for pthreads and C11. The caller is busy. */
#ifndef MR_RUNTIME_COND_H
#define MR_RUNTIME_COND_H

#include "state.h"

/* Status as of pthread_cond_timedwait. */
int mr_cond_wait(mr_thread *thread, pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t limit,
                 uintptr_t code);
int mr_cond_signal(mr_thread *thread, const void *cond, bool all, uintptr_t code);

/* How the mutex of a wait is given back and taken again; status as of pthread_mutex_lock. */
typedef struct mr_cond_mutex {
    void *mutex;
    uint64_t sized; /* MR_LOG_SIZED of the condition variable, 0: as of pthread */
    int (*unlock)(void *mutex, uintptr_t code);
    int (*lock)(mr_thread *thread, void *mutex, uintptr_t code);
    bool cancels; /* the wait is a cancellation point */
} mr_cond_mutex;

/* The same with another mutex, and a condition variable that is no more than an address. */
int mr_cond_wait_with(mr_thread *thread, const void *cond, const mr_cond_mutex *mutex,
                      int64_t limit, uintptr_t code);

#endif
