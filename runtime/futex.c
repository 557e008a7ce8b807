#include "futex.h"

#include "clocks.h"
#include "scheduler.h"
#include "steer.h"
#include "sys.h"
#include "writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* linux/futex.h of older systems does not have it. */
enum { LOCK_PI2 = 13 };

/* -errno or 0, as of FUTEX_WAIT. */
static long wait(mr_thread *thread, uint32_t *word, uint32_t expected, int64_t limit, uint32_t bits,
                 bool shared)
{
    mr_yield(thread);
    if (bits == 0) {
        return -EINVAL;
    }
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) {
        return -EAGAIN;
    }
    thread->wake_bits = bits;
    thread->polls = shared;
    mr_wake_reason reason = mr_block(thread, word, limit, false);
    if (reason == MR_INTERRUPTED) {
        mr_attend(thread);
        return -EINTR;
    }
    return reason == MR_TIMED_OUT ? -ETIMEDOUT : 0;
}

/* How many a call wakes that asks for this number: one at least, as of the kernel. */
static long at_least_one(long number)
{
    return (int32_t)number > 0 ? (int32_t)number : 1;
}

static long wake(mr_thread *thread, uint32_t *word, long most, uint32_t bits)
{
    long count = 0;
    mr_yield(thread);
    while (count < most) {
        mr_thread *sleeper = mr_choose_blocked(word);
        if (sleeper == NULL) {
            break;
        }
        if (sleeper->wake_bits & bits) {
            count++;
        } /* else it wakes for nothing, which a futex may do */
        mr_wake(sleeper, MR_WOKEN);
    }
    return count;
}

/* As of FUTEX_WAKE_BITSET: also those of other processes. */
static long wake_here_and_elsewhere(mr_thread *thread, const long *a, uint32_t bits, bool shared)
{
    long most = at_least_one(a[2]);
    if (bits == 0) {
        return -EINVAL;
    }
    long count = wake(thread, (uint32_t *)a[0], most, bits);
    long others =
        shared && count < most ? mr_sys(SYS_futex, a[0], a[1], most - count, a[3], a[4], a[5]) : 0;
    return others > 0 ? count + others : count;
}

static void log_update(const uint32_t *word, uint32_t before, uint32_t after, uintptr_t code)
{
    enum { WORD = 2, SEQ_CST = 5 };
    mr_writer_settle();
    uint64_t *record = mr_writer_room();
    record[0] =
        mr_log_head(MR_LOG_ATOMIC_UPDATE, WORD | SEQ_CST << MR_LOG_ORDER_SHIFT, (uint64_t)word);
    record[1] = (uint64_t)code;
    record[2] = (uint64_t)(int32_t)before;
    record[3] = (uint64_t)(int32_t)after;
    mr_writer_advance(record + 4);
}

static void log_read(const uint32_t *word, uint32_t seen, uintptr_t code)
{
    enum { WORD = 2, SEQ_CST = 5 };
    mr_write_access(MR_LOG_ATOMIC_READ, WORD | SEQ_CST << MR_LOG_ORDER_SHIFT, word, (int32_t)seen,
                    code);
}

/* A replay may stop the thread before each of the accesses of a call. */
static void stop_before(mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_within(thread);
    }
}

/* The thread's number, as the program has it in words: a replay tells the program the recorded one. */
static uint32_t number_of(const mr_thread *thread)
{
    return (uint32_t)(mr_steers() && thread->told_id != 0 ? thread->told_id : thread->kernel_id);
}

/* One try for the word of a lock, as the kernel makes it: -EDEADLK, -EAGAIN or 0. Who will wait (`waits`) says so in the word, so that
 * the program gives the lock back by a call. */
static long take(mr_thread *thread, uint32_t *word, bool waits, uintptr_t code)
{
    stop_before(thread);
    const uint32_t self = number_of(thread);
    uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST), after;
    do {
        if ((seen & FUTEX_TID_MASK) == 0) {
            after = seen | self;
        } else if ((seen & FUTEX_TID_MASK) == self) {
            log_read(word, seen, code);
            return -EDEADLK;
        } else {
            after = waits ? seen | FUTEX_WAITERS : seen;
        }
    } while (!__atomic_compare_exchange_n(word, &seen, after, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    if (after != seen) {
        log_update(word, seen, after, code);
    } else if (!waits) {
        log_read(word, seen, code);
    }
    return (seen & FUTEX_TID_MASK) == 0 ? 0 : -EAGAIN;
}

/* Is there a thread whose number stands in the word of a lock? Here, or in another process. A number may have been that of a thread
 * that has ended, too. */
static bool has_holder(const uint32_t *word)
{
    const uint32_t number = __atomic_load_n(word, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
    bool has_ended = false;
    for (const mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (number_of(t) == number && t->state != MR_DONE) {
            return true;
        }
        has_ended = has_ended || number_of(t) == number;
    }
    return !has_ended && mr_sys(SYS_tkill, (long)number, 0, 0, 0, 0, 0) != -ESRCH;
}

/* -errno or 0, as of FUTEX_LOCK_PI. */
static long lock(mr_thread *thread, uint32_t *word, int64_t limit, bool shared, uintptr_t code)
{
    for (;;) {
        long status = take(thread, word, true, code);
        if (status != -EAGAIN) {
            return status;
        }
        if (!has_holder(word)) {
            return -ESRCH;
        }
        thread->polls = shared;
        thread->wake_bits = UINT32_MAX;
        mr_wake_reason reason = mr_block(thread, word, limit, false);
        if (reason == MR_TIMED_OUT) {
            return -ETIMEDOUT;
        }
        if (reason == MR_INTERRUPTED) {
            mr_attend(thread);
        }
    }
}

/* As of FUTEX_UNLOCK_PI. One of another process that waits has the word from the kernel. */
static long unlock(mr_thread *thread, uint32_t *word, const long *a, bool shared, uintptr_t code)
{
    stop_before(thread);
    uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    if ((seen & FUTEX_TID_MASK) != number_of(thread)) {
        log_read(word, seen, code);
        return -EPERM;
    }
    if (!shared || mr_sys(SYS_futex, (long)word, a[1], 0, 0, 0, 0) != 0) {
        __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
    }
    log_update(word, seen, __atomic_load_n(word, __ATOMIC_SEQ_CST), code);
    mr_wake_key(word);
    return 0;
}

/* As of FUTEX_WAIT_REQUEUE_PI: who is woken takes the lock. */
static long wait_and_lock(mr_thread *thread, const long *a, int64_t limit, bool shared,
                          uintptr_t code)
{
    long status = wait(thread, (uint32_t *)a[0], (uint32_t)a[2], limit, UINT32_MAX, shared);
    return status == 0 ? lock(thread, (uint32_t *)a[4], limit, shared, code) : status;
}

/* As of FUTEX_CMP_REQUEUE_PI, FUTEX_CMP_REQUEUE and FUTEX_REQUEUE: all of ours look again, which they may at any time. */
static long requeue(mr_thread *thread, const long *a, bool compares, bool shared)
{
    uint32_t *word = (uint32_t *)a[0];
    mr_yield(thread);
    if (compares && __atomic_load_n(word, __ATOMIC_SEQ_CST) != (uint32_t)a[5]) {
        return -EAGAIN;
    }
    long count = wake(thread, word, INT64_MAX, UINT32_MAX), most = compares ? a[2] + a[3] : a[2];
    long others = shared ? mr_sys(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]) : 0;
    count = count < most ? count : most;
    return others > 0 ? count + others : count;
}

/* As of FUTEX_WAKE_OP. The kernel changes the second word, and wakes those of other processes. */
static long change_and_wake(mr_thread *thread, const long *a, uintptr_t code)
{
    uint32_t *word = (uint32_t *)a[0], *other = (uint32_t *)a[4];
    mr_yield(thread);
    stop_before(thread);
    uint32_t before = __atomic_load_n(other, __ATOMIC_SEQ_CST);
    long result = mr_sys(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result < 0) {
        return result;
    }
    log_update(other, before, __atomic_load_n(other, __ATOMIC_SEQ_CST), code);
    result += wake(thread, word, at_least_one(a[2]), UINT32_MAX);
    mr_wake_key(other); /* whether the kernel would wake them or not: they may look at any time */
    return result;
}

/* Those that are locks; false: none of them. */
static bool lock_futex(mr_thread *thread, const long *a, uintptr_t code, long *result)
{
    uint32_t *word = (uint32_t *)a[0];
    const struct timespec *limit = (const struct timespec *)a[3];
    bool shared = !(a[1] & FUTEX_PRIVATE_FLAG);
    clockid_t clock = (a[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
        mr_yield(thread);
        *result = lock(thread, word, mr_limit_at(CLOCK_REALTIME, limit), shared, code);
        return true;
    case LOCK_PI2:
        mr_yield(thread);
        *result = lock(thread, word, mr_limit_at(clock, limit), shared, code);
        return true;
    case FUTEX_TRYLOCK_PI:
        mr_yield(thread);
        *result = take(thread, word, false, code);
        return true;
    case FUTEX_UNLOCK_PI:
        mr_yield(thread);
        *result = unlock(thread, word, a, shared, code);
        return true;
    case FUTEX_WAIT_REQUEUE_PI:
        *result = wait_and_lock(thread, a, mr_limit_at(clock, limit), shared, code);
        return true;
    default:
        return false;
    }
}

bool mr_futex(mr_thread *thread, const long *a, uintptr_t code, long *result)
{
    uint32_t *word = (uint32_t *)a[0];
    const struct timespec *timeout = (const struct timespec *)a[3];
    bool shared = !(a[1] & FUTEX_PRIVATE_FLAG);
    clockid_t clock = (a[1] & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        *result = wait(thread, word, (uint32_t)a[2], mr_limit_in(timeout), UINT32_MAX, shared);
        return true;
    case FUTEX_WAIT_BITSET:
        *result =
            wait(thread, word, (uint32_t)a[2], mr_limit_at(clock, timeout), (uint32_t)a[5], shared);
        return true;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        *result = wake_here_and_elsewhere(
            thread, a, (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE ? UINT32_MAX : (uint32_t)a[5], shared);
        return true;
    case FUTEX_REQUEUE:
        *result = requeue(thread, a, false, shared);
        return true;
    case FUTEX_CMP_REQUEUE:
    case FUTEX_CMP_REQUEUE_PI:
        *result = requeue(thread, a, true, shared);
        return true;
    case FUTEX_WAKE_OP:
        *result = change_and_wake(thread, a, code);
        return true;
    default:
        return lock_futex(thread, a, code, result);
    }
}
