/* thread: threads of the library's own, beside those of the program that uses it. */
#ifndef MR_BASE_THREAD_H
#define MR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that takes no signals: they are for the threads of the program itself. The caller
 * joins it. False: no thread could be started; the caller does the work itself. */
bool mr_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* On how many processors the calling thread may run: taskset and the cpuset of a container count, a share of their time
 * does not. At least 1. */
unsigned mr_thread_cores(void);

#endif
