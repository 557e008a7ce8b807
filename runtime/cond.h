/* cond: condition variables, for pthreads and C11. The caller is busy. */
#ifndef MR_RUNTIME_COND_H
#define MR_RUNTIME_COND_H

#include "state.h"

/* Status as of pthread_cond_timedwait. */
int mr_cond_wait(mr_thread *thread, pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t limit,
                 uintptr_t code);
int mr_cond_signal(mr_thread *thread, pthread_cond_t *cond, bool all, uintptr_t code);

#endif
