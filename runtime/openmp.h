/*
 * openmp: what the recordings of OpenMP of gcc (gomp.h) and of clang (kmpc.h) have in common. Called with the baton, by a thread that is busy.
 */
#ifndef MR_RUNTIME_OPENMP_H
#define MR_RUNTIME_OPENMP_H

#include "real.h"
#include "scheduler.h"

/* Zeroed memory of the runtime's own, aligned to its size rounded up to a power of two, at most to a page. Without memory the process ends. */
void *mr_openmp_take(size_t bytes);
/* `bytes` as when it was taken. */
void mr_openmp_give(void *block, size_t bytes);

/* Zeroed bytes that are not given again: their addresses name objects of the log. From 8 on they are aligned to 8. */
char *mr_openmp_places(size_t count);

/* Units of a semaphore: POST or WAIT. `use`: as of a barrier (log.h). */
void mr_openmp_units(mr_log_kind kind, mr_log_role role, const void *object, uint64_t units,
                     uint64_t use, uintptr_t code);

/* Makes a thread of a team, detached, with the stack of OMP_STACKSIZE. The calling thread is out of the runtime meanwhile. False: there
 * can be none. */
bool mr_openmp_start(mr_thread **thread, void *(*start)(void *), void *argument, uintptr_t code);

#endif
