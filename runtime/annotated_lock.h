/*
 * annotated_lock: locks that programs make themselves and annotate: __tsan_mutex_*, AnnotateRWLock*,
 * those of Java machines. They are locks in the trace. What happens between the annotations before
 * and after an operation is the lock's own work and is not recorded.
 *
 * A list has who holds which of them, because a trace in which two threads hold a lock is not valid:
 * where the annotations say so, the second one is left out, and logged as wrong. So is a release by
 * a thread that does not hold the lock, and the destruction of a lock that is held. A release in
 * another mode than the lock is held in is one of that mode.
 */
#ifndef MR_RUNTIME_ANNOTATED_LOCK_H
#define MR_RUNTIME_ANNOTATED_LOCK_H

#include "state.h"

#include <limits.h>

/* As often as it was acquired. */
#define MR_ANNOTATED_ALL UINT_MAX

/* What the thread does; a try would not have waited. */
typedef enum mr_annotated_use {
    MR_ANNOTATED_RELEASES,
    MR_ANNOTATED_ACQUIRES,
    MR_ANNOTATED_TRIES,
} mr_annotated_use;

/* The thread has acquired the lock, or is about to release it, so many times. Returns how often it
 * did. A release of what it does not hold does nothing (locks of Java machines move). */
unsigned mr_annotated_lock(const void *lock, bool shared, mr_annotated_use use, unsigned times,
                           uintptr_t code);
/* The same once, not shared, by a caller that is busy. */
void mr_annotated_lock_within(const void *lock, mr_annotated_use use, uintptr_t code);
/* The child of a fork: who holds what is not known. */
void mr_annotated_lock_forget(void);

#endif
