/*
 * waits_parts: what the waits for descriptors have in common (waits.c, epoll_waits.c). Between files of this folder only.
 *
 * A wait first looks, without waiting. Where nothing is ready, it is made here when nobody but threads of the program can end it
 * (awaiting.h); else the others run first, when it has no limit; then it is a real call.
 */
#ifndef MR_RUNTIME_WAITS_PARTS_H
#define MR_RUNTIME_WAITS_PARTS_H

#include "awaiting.h"
#include "inputs.h"

#include <time.h>

/* A wait for descriptors outside. `far`: it has no limit, or one that lies beyond the patience of a
 * replay whose inputs ran out (watchdog.c). */
#define MR_WAIT(thread, far, ready, statement)                                                     \
    do {                                                                                           \
        (thread)->waits_for_outside = far;                                                         \
        MR_CALL(thread, ready, statement);                                                         \
        (thread)->waits_for_outside = false; /* it may not have been outside */                    \
    } while (0)

/* A wait that is made here. `now` looks without waiting, and gives the result. The caller stays
 * inside the runtime. */
#define MR_AWAIT(thread, fds, count, limit, result, now)                                           \
    for (mr_wake_reason why = MR_WOKEN; (result) == 0 && why != MR_TIMED_OUT;) {                   \
        why = mr_await(thread, fds, count, limit);                                                 \
        (result) = why == MR_INTERRUPTED ? mr_wait_result(-EINTR) : (now);                         \
    }

static inline bool mr_wait_is_far(const struct timespec *limit)
{
    enum { FAR_SECONDS = 2 };
    return limit == NULL || limit->tv_sec >= FAR_SECONDS;
}

/* The result of a call of the kernel, as of a function of libc. */
int mr_wait_result(long result);

/* The last call found nothing: when it was not to wait, it may be a loop that waits for another thread. */
bool mr_wait_is_settled(mr_thread *thread, int result, bool no_wait);

/* Lets others go on; when none can run, as they wait for time or are in calls, a while passes. Returns how much of MR_WAIT_PATIENCE is used
 * up: where all others wait for ever, only the handler of a signal can still do something, which comes in a nap. The caller stays inside the
 * runtime. */
enum { MR_WAIT_PATIENCE = 3000 };
int mr_wait_let_others(mr_thread *thread);

/* What a call reads. The caller is busy. */
void mr_wait_log_read(const void *from, size_t bytes, uintptr_t code);

/* What a wait gave, as an input. */
void mr_wait_log(const mr_input *fed, uint64_t argument, int result, const mr_input_part *parts,
                 size_t count);

/* The next input. The handler of a signal that came in the middle of the wait ran before the wait had a result; it may
 * have inputs of its own. */
mr_input mr_wait_find(mr_thread *thread, uint64_t argument);

#endif
