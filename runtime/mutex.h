/*
 * mutex: locking by trying. The state of a mutex stays in the mutex itself (the real functions try
 * and unlock), so code that the runtime does not see, and other processes, agree with it; who finds
 * it taken waits in the runtime.
 */
#ifndef MR_RUNTIME_MUTEX_H
#define MR_RUNTIME_MUTEX_H

#include "state.h"

/* Locks until the limit; status as of pthread_mutex_timedlock. The caller is busy. */
int mr_mutex_lock(mr_thread *thread, pthread_mutex_t *mutex, int64_t limit, uintptr_t code);

/* The same until `at` by the clock. A clock that ends no waits is EINVAL; a time that is no end is, where the thread would have to wait. */
int mr_mutex_lock_until(mr_thread *thread, pthread_mutex_t *mutex, clockid_t clock,
                        const struct timespec *at, uintptr_t code);

int mr_mutex_try(pthread_mutex_t *mutex, uintptr_t code);

/* An object of pthread begins or ends, and the thread (NULL: not recorded) leaves the runtime. */
void mr_mutex_retire(mr_thread *thread, mr_log_role role, const volatile void *object,
                     mr_log_retired how, uintptr_t code);

/* The thread is at its end: other threads can take the robust mutexes that it holds, with EOWNERDEAD. The kernel
 * would let them do so a little later, at a moment that no log knows. */
void mr_mutex_leave_robust(mr_thread *thread);

/* Status as of pthread_mutex_unlock. */
int mr_mutex_unlock(pthread_mutex_t *mutex, uintptr_t code);

#endif
