/*
 * annotated_lock: locks that programs make themselves and annotate: __tsan_mutex_*, AnnotateRWLock*,
 * those of Java machines. They are locks in the trace. What happens between the annotations before
 * and after an operation is the lock's own work and is not recorded.
 *
 * A list has who holds which of them, because a trace in which two threads hold a lock is not valid:
 * where the annotations say so, the second one is left out.
 */
#ifndef MR_RUNTIME_ANNOTATED_LOCK_H
#define MR_RUNTIME_ANNOTATED_LOCK_H

#include "state.h"

#include <limits.h>

/* As often as it was acquired. */
#define MR_ANNOTATED_ALL UINT_MAX

/* The thread has acquired the lock, or is about to release it, so many times. Returns how often it
 * did. */
unsigned mr_annotated_lock(const void *lock, bool shared, bool acquires, unsigned times,
                           uintptr_t code);

#endif
