/*
 * Semaphores and messages of System V. A semaphore of a set is one of units (log.h): who takes units tries with the baton, and
 * waits in the runtime, as for those of POSIX. Who waits for zero, or is told the value, sees the units. Other processes may use the
 * same ones.
 */
#include "clocks.h"
#include "real.h"
#include "signals.h"
#include "sys.h"
#include "waits.h"
#include "writer.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

enum { KNOWN_MAX = 1024, OPERATIONS_MAX = 500, UNITS_MAX = 65535, EVERY_MESSAGE = -1 };

/* Semaphores and queues that were seen so far; numbers, because those of the system are others in each run. */
static struct {
    int set;
    int number; /* of the semaphore in the set; EVERY_MESSAGE: a queue */
} known[KNOWN_MAX];
static unsigned known_count;

static const char waiting; /* the key of all who wait for units */

/* NULL: there are too many of them. */
static void *known_at(int set, int number)
{
    unsigned i = 0;
    while (i < known_count && (known[i].set != set || known[i].number != number)) {
        i++;
    }
    if (i == KNOWN_MAX) {
        return NULL;
    }
    if (i == known_count) {
        known[known_count].set = set;
        known[known_count++].number = number;
    }
    return (void *)(uintptr_t)(MR_LOG_SYSV_AT + i);
}

static void log_units(mr_log_kind kind, int set, int number, unsigned count, uintptr_t code)
{
    void *semaphore = known_at(set, number);
    if (semaphore != NULL) {
        mr_write_object(kind, MR_LOG_ROLE_UNITS, semaphore, code, count, 0);
    }
}

/* What the program is told of the value, and does because of it. */
static void log_value(int set, int number, uintptr_t code)
{
    log_units(MR_LOG_USED, set, number, MR_LOG_USED_ASKED, code);
}

static void log_operation(int set, const struct sembuf *one, uintptr_t code)
{
    if (one->sem_op == 0) {
        log_value(set, one->sem_num, code);
    } else {
        log_units(one->sem_op > 0 ? MR_LOG_POST : MR_LOG_WAIT, set, one->sem_num,
                  (unsigned)(one->sem_op > 0 ? one->sem_op : -one->sem_op), code);
    }
}

/* With the baton: 0, or the errno. */
static int try_now(int set, const struct sembuf *operations, size_t count, uintptr_t code)
{
    struct sembuf own[OPERATIONS_MAX];
    for (size_t i = 0; i < count; i++) {
        own[i] = operations[i];
        own[i].sem_flg |= IPC_NOWAIT;
    }
    if (MR_REAL(semop)(set, own, count) != 0) {
        return errno;
    }
    for (size_t i = 0; i < count; i++) {
        log_operation(set, &operations[i], code);
    }
    mr_wake_key(&waiting);
    return 0;
}

static bool may_wait(const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((operations[i].sem_flg & IPC_NOWAIT) != 0) {
            return false;
        }
    }
    return true;
}

/* The thread waits until somebody may have changed something; another process may do it, too. */
static mr_wake_reason wait_a_while(mr_thread *thread, int64_t limit, bool cancellable,
                                   uintptr_t code)
{
    thread->polls = true;
    mr_write_object(MR_LOG_BLOCKED, MR_LOG_ROLE_NONE, NULL, code, 0, 0);
    mr_wake_reason reason = mr_block(thread, &waiting, limit, cancellable);
    if (reason == MR_INTERRUPTED) {
        mr_attend(thread);
    }
    if (reason == MR_CANCELLED) {
        mr_thread_cancel_point(thread);
    }
    return reason;
}

static int wait_for(mr_thread *thread, int set, const struct sembuf *operations, size_t count,
                    int64_t limit, uintptr_t code)
{
    int status;
    while ((status = try_now(set, operations, count, code)) == EAGAIN &&
           may_wait(operations, count)) {
        mr_wake_reason reason = wait_a_while(thread, limit, false, code);
        if (reason == MR_TIMED_OUT) {
            break;
        }
        if (reason == MR_INTERRUPTED) {
            return EINTR;
        }
    }
    for (size_t i = 0; status == EAGAIN && i < count; i++) {
        log_value(set, operations[i].sem_num, code);
    }
    return status;
}

static int operate(int set, struct sembuf *operations, size_t count, const struct timespec *timeout,
                   uintptr_t code)
{
    mr_thread *thread = mr_enter();
    int saved_errno = errno;
    if (thread == NULL || count > OPERATIONS_MAX) {
        if (thread != NULL) {
            mr_leave(thread);
        }
        return MR_REAL(semtimedop)(set, operations, count, timeout);
    }
    mr_yield(thread);
    int64_t limit = timeout == NULL ? MR_NEVER : mr_limit_in(timeout);
    int status = wait_for(thread, set, operations, count, limit, code);
    mr_leave(thread);
    errno = status == 0 ? saved_errno : status;
    return status == 0 ? 0 : -1;
}

MR_EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
    return operate(set, operations, count, NULL, MR_CALLER);
}

MR_EXPORT int semtimedop(int set, struct sembuf *operations, size_t count,
                         const struct timespec *timeout)
{
    return operate(set, operations, count, timeout, MR_CALLER);
}

/* It is another one from here on, with these units. */
static void log_set(int set, int number, unsigned value, uintptr_t code)
{
    log_units(MR_LOG_RETIRED, set, number, MR_LOG_RETIRED_KNOWN, code);
    if (value > 0) {
        log_units(MR_LOG_POST, set, number, value < UNITS_MAX ? value : UNITS_MAX, code);
    }
    mr_wake_key(&waiting);
}

static void log_control(int set, int number, int command, void *argument, uintptr_t code)
{
    struct semid_ds about;
    if (command == SETVAL) {
        log_set(set, number, (unsigned)(uintptr_t)argument, code);
    } else if (command == GETVAL) {
        log_value(set, number, code);
    } else if ((command == SETALL || command == GETALL) &&
               MR_REAL(semctl)(set, 0, IPC_STAT, &about) == 0) {
        for (unsigned i = 0; i < about.sem_nsems; i++) {
            if (command == GETALL) {
                log_value(set, (int)i, code);
            } else {
                log_set(set, (int)i, ((const unsigned short *)argument)[i], code);
            }
        }
    }
}

MR_EXPORT int semctl(int set, int number, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *); /* a union of the size of a pointer, or nothing */
    va_end(arguments);
    mr_thread *thread = mr_enter();
    int result = MR_REAL(semctl)(set, number, command, argument);
    if (thread != NULL) {
        int saved_errno = errno;
        if (result >= 0) {
            log_control(set, number, command, argument, MR_CALLER);
        }
        mr_leave(thread);
        errno = saved_errno;
    }
    return result;
}

/* Somebody has removed it. */
static bool is_removed(int error)
{
    return error == EIDRM || error == EINVAL;
}

static void log_queue(mr_log_kind kind, int queue, unsigned count, mr_log_channel which,
                      uintptr_t code)
{
    void *channel = known_at(queue, EVERY_MESSAGE);
    if (channel != NULL) {
        mr_write_object(kind, MR_LOG_ROLE_CHANNEL, channel, code, count, which);
    }
}

/* The program is told what is in the queue, and does something because of that. */
static void log_queue_seen(int queue, uintptr_t code)
{
    log_queue(MR_LOG_AFTER, queue, MR_LOG_NOT_YET, MR_LOG_CHANNEL_DATA, code);
    log_queue(MR_LOG_AFTER, queue, MR_LOG_NOT_YET, MR_LOG_CHANNEL_TAKEN, code);
}

MR_EXPORT int msgctl(int queue, int command, struct msqid_ds *to)
{
    mr_thread *thread = mr_enter();
    int saved_errno = errno;
    if (thread == NULL) {
        return MR_REAL(msgctl)(queue, command, to);
    }
    mr_yield(thread);
    if (command == IPC_RMID) {
        log_queue(MR_LOG_BEFORE, queue, MR_LOG_WRITING_IN_ORDER, MR_LOG_CHANNEL_DATA, MR_CALLER);
        mr_wake_key(&waiting);
    }
    int result = MR_REAL(msgctl)(queue, command, to);
    saved_errno = result < 0 ? errno : saved_errno;
    bool tells = result >= 0 && (command == IPC_STAT || command == MSG_STAT);
    if (tells || (result < 0 && is_removed(saved_errno))) {
        log_queue_seen(queue, MR_CALLER);
    }
    mr_memory_end(thread, to, tells && mr_is_instrumented(MR_CALLER) ? sizeof *to : 0, MR_CALLER);
    errno = saved_errno;
    return result;
}

/* The call without a wait, again and again until it does not find the queue full or empty (`finds`); `note` when it waits. */
#define UNTIL_SETTLED(thread, result, finds, flags, note, code, call)                              \
    while (((result) = call) < 0 && errno == (finds) && ((flags)&IPC_NOWAIT) == 0) {               \
        note;                                                                                      \
        if (wait_a_while(thread, MR_NEVER, true, code) == MR_INTERRUPTED) {                        \
            errno = EINTR;                                                                         \
            break;                                                                                 \
        }                                                                                          \
    }

MR_EXPORT int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
    mr_thread *thread = mr_wait_begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(msgsnd)(queue, message, bytes, flags);
    }
    if (mr_is_instrumented(MR_CALLER)) {
        mr_memory_read(thread, message, sizeof(long) + bytes, MR_CALLER);
    }
    bool waited = false;
    UNTIL_SETTLED(thread, result, EAGAIN, flags, waited = true, MR_CALLER,
                  MR_REAL(msgsnd)(queue, message, bytes, flags | IPC_NOWAIT));
    bool is_full = result < 0 && errno == EAGAIN;
    if (result < 0 && is_removed(errno)) {
        log_queue_seen(queue, MR_CALLER);
    }
    if (is_full) {
        log_queue(MR_LOG_AFTER, queue, 0, MR_LOG_CHANNEL_DATA, MR_CALLER);
    }
    if (is_full || waited) {
        log_queue(MR_LOG_AFTER, queue, is_full ? MR_LOG_NOT_YET : 0, MR_LOG_CHANNEL_TAKEN,
                  MR_CALLER);
    }
    if (result == 0) {
        log_queue(MR_LOG_BEFORE, queue, MR_LOG_WRITING_IN_ORDER, MR_LOG_CHANNEL_DATA, MR_CALLER);
        mr_wake_key(&waiting);
    }
    mr_leave(thread);
    return result;
}

MR_EXPORT ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
    mr_thread *thread = mr_wait_begin();
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(msgrcv)(queue, message, bytes, type, flags);
    }
    UNTIL_SETTLED(thread, result, ENOMSG, flags, (void)0, MR_CALLER,
                  MR_REAL(msgrcv)(queue, message, bytes, type, flags | IPC_NOWAIT));
    int saved_errno = errno;
    bool is_empty = result < 0 && saved_errno == ENOMSG;
    if (result < 0 && (saved_errno == E2BIG || is_removed(saved_errno))) {
        log_queue_seen(queue, MR_CALLER);
    }
    if (result >= 0 || is_empty) {
        log_queue(MR_LOG_AFTER, queue, is_empty ? MR_LOG_NOT_YET : 0, MR_LOG_CHANNEL_DATA,
                  MR_CALLER);
        log_queue(is_empty ? MR_LOG_AFTER : MR_LOG_BEFORE, queue,
                  is_empty ? 0 : MR_LOG_TAKING_UNLIKE, MR_LOG_CHANNEL_TAKEN, MR_CALLER);
        mr_wake_key(&waiting);
    }
    bool logged = result >= 0 && mr_is_instrumented(MR_CALLER);
    mr_memory_end(thread, message, logged ? (size_t)result + sizeof(long) : 0, MR_CALLER);
    errno = saved_errno;
    return result;
}
