/*
 * tried_lock: locks of libraries that are not recorded. As with mutexes (mutex.h) the state of a lock stays in the lock: the library's
 * functions try and unlock, and who finds it taken waits in the runtime. The caller of each function is busy.
 */
#ifndef MR_RUNTIME_TRIED_LOCK_H
#define MR_RUNTIME_TRIED_LOCK_H

#include "state.h"

#include "log.h"

/* How a lock is taken and what it is in the log. */
typedef struct mr_tried_lock {
    mr_log_role role;
    uint64_t number;
    bool shared;
    /* Before a wait: where the library itself gives the lock back, it is to call the kernel then. NULL: it never does. */
    void (*mark)(void *lock);
} mr_tried_lock;

typedef int (*mr_try_function)(void *lock);

/* Waits until the lock is taken. False: the limit is over. */
bool mr_tried_lock_take(mr_thread *thread, mr_try_function try_now, const mr_tried_lock *how,
                        void *lock, int64_t limit, uintptr_t code);

/* A try of the program's: does not wait. */
bool mr_tried_lock_try(mr_thread *thread, mr_try_function try_now, const mr_tried_lock *how,
                       void *lock, uintptr_t code);

void mr_tried_lock_give(void (*real)(void *lock), const mr_tried_lock *how, void *lock,
                        uintptr_t code);

#endif
