/* semaphore: what others of this folder need of the functions for semaphores. */
#ifndef MR_RUNTIME_SEMAPHORE_H
#define MR_RUNTIME_SEMAPHORE_H

#include <semaphore.h>
#include <stdint.h>

/* The program got the number of units. The caller is busy. */
void mr_semaphore_log_asked(const sem_t *semaphore, uintptr_t code);

#endif
