/* shutdown, and files that go into a descriptor: orders as those of writes (io.c), and inputs when the other end is a peer. Copies between
 * processes. */
#include "channels.h"
#include "descriptors.h"
#include "inputs.h"
#include "io.h"
#include "io_parts.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

/* Neither is a cancellation point. */
static mr_thread *begin(int fd, void (*log)(int fd, uintptr_t code), uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_descriptor_use(fd, code);
        log(fd, code);
    }
    return thread;
}

static void log_sent(int fd, uintptr_t code)
{
    mr_channel_log(MR_LOG_BEFORE, fd, code);
}

/* Inputs of older versions do not have these calls. */
static bool feed(mr_thread *thread, int fd, ssize_t *result)
{
    return mr_inputs_have_sockets() && mr_io_feed_sent(thread, fd, result);
}

/* Who reads the end of the socket, on either side, or waits for a connection, comes after that. */
MR_EXPORT int shutdown(int fd, int how)
{
    mr_thread *thread = begin(fd, mr_channel_log_shut, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(shutdown)(fd, how);
    }
    bool fed = feed(thread, fd, &result);
    if (!fed) {
        MR_CALL(thread, true, result = MR_REAL(shutdown)(fd, how));
    }
    mr_io_end_sent(fed, fd, result, 0, MR_CALLER);
    return (int)result;
}

/* The file was written before, perhaps by another thread. */
static void end(bool fed, int to, int from, ssize_t result, uintptr_t code)
{
    mr_io_end_sent(fed, to, result, 0, code);
    mr_io_end(from, NULL, 0, code);
}

#define SENDS(name, offset_type)                                                                   \
    MR_EXPORT ssize_t name(int to, int from, offset_type *at, size_t count)                        \
    {                                                                                              \
        mr_thread *thread = begin(to, log_sent, MR_CALLER);                                        \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(to, from, at, count);                                             \
        }                                                                                          \
        mr_descriptor_use(from, MR_CALLER);                                                        \
        mr_io_log_range(MR_LOG_RANGE_READ, at, sizeof *at, MR_CALLER);                             \
        bool fed = feed(thread, to, &result);                                                      \
        if (!fed) {                                                                                \
            MR_IO_CALL(thread, to, POLLOUT, result, MR_REAL(name)(to, from, at, count));           \
        } else if (at != NULL && result > 0) {                                                     \
            *at += result;                                                                         \
        }                                                                                          \
        end(fed, to, from, result, MR_CALLER);                                                     \
        mr_io_written(at, result > 0 ? sizeof *at : 0, MR_CALLER);                                 \
        return result;                                                                             \
    }
SENDS(sendfile, off_t)
SENDS(sendfile64, off64_t)
#undef SENDS

/* What the call took, or saw and left there (`takes`). Who reads it where it went comes after who wrote it: BEFORE is logged
 * again, since the call began before that. */
static void end_moved(int from, int to, ssize_t bytes, bool takes, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (bytes > 0 && takes) {
            mr_channel_log_taken(from, (size_t)bytes, NULL, code);
        } else if (bytes >= 0) {
            mr_channel_log_end(from, code);
        } else if (saved_errno == EAGAIN) {
            mr_channel_log_empty(from, code);
        }
        if (bytes > 0) {
            mr_channel_log(MR_LOG_BEFORE, to, code);
        }
        mr_leave(thread);
    }
    errno = saved_errno;
}

/* From one descriptor to another one, within the kernel. */
#define MOVES(name, parameters, arguments, takes, beside)                                          \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(from, MR_CALLER);                                          \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_descriptor_use(to, MR_CALLER);                                                          \
        mr_channel_log(MR_LOG_BEFORE, to, MR_CALLER);                                              \
        MR_IO_CALL(thread, from, POLLIN, result, MR_REAL(name) arguments);                         \
        end_moved(from, to, result, takes, MR_CALLER);                                             \
        mr_io_end_room(to, result, 0, MR_CALLER);                                                  \
        beside;                                                                                    \
        return result;                                                                             \
    }
MOVES(splice, (int from, off64_t *at, int to, off64_t *to_at, size_t count, unsigned flags),
      (from, at, to, to_at, count, flags), true,
      mr_io_written(at, result > 0 && at != NULL ? sizeof *at : 0, MR_CALLER);
      mr_io_written(to_at, result > 0 && to_at != NULL ? sizeof *to_at : 0, MR_CALLER))
MOVES(tee, (int from, int to, size_t count, unsigned flags), (from, to, count, flags), false, )
#undef MOVES

MR_EXPORT ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(vmsplice)(fd, parts, count, flags);
    }
    mr_io_log_range(MR_LOG_RANGE_READ, parts, count * sizeof *parts, MR_CALLER);
    mr_io_log_vector(MR_LOG_RANGE_READ, parts, count, SSIZE_MAX, MR_CALLER);
    mr_channel_log(MR_LOG_BEFORE, fd, MR_CALLER);
    MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(vmsplice)(fd, parts, count, flags));
    mr_io_end_room(fd, result, mr_io_bytes(parts, count), MR_CALLER);
    return result;
}

/* Of another process only our side is memory of the program. Each part of `ours` and `theirs` is copied as far as both reach. */
#define COPIES(name, read_from, written_to)                                                        \
    MR_EXPORT ssize_t name(pid_t process, const struct iovec *ours, unsigned long ours_count,      \
                           const struct iovec *theirs, unsigned long theirs_count,                 \
                           unsigned long flags)                                                    \
    {                                                                                              \
        mr_thread *thread = mr_memory_begin(MR_CALLER);                                            \
        process = (pid_t)mr_inputs_process(process);                                               \
        bool is_own = process == (pid_t)mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);                      \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name)(process, ours, ours_count, theirs, theirs_count, flags);          \
        }                                                                                          \
        mr_io_log_range(MR_LOG_RANGE_READ, ours, ours_count * sizeof *ours, MR_CALLER);            \
        mr_io_log_range(MR_LOG_RANGE_READ, theirs, theirs_count * sizeof *theirs, MR_CALLER);      \
        ssize_t result = MR_REAL(name)(process, ours, ours_count, theirs, theirs_count, flags);    \
        if (is_own || read_from == ours) {                                                         \
            mr_io_log_vector(MR_LOG_RANGE_READ, read_from, read_from##_count, result, MR_CALLER);  \
        }                                                                                          \
        if (is_own || written_to == ours) {                                                        \
            mr_io_log_vector(MR_LOG_RANGE_WRITE, written_to, written_to##_count, result,           \
                             MR_CALLER);                                                           \
        }                                                                                          \
        if (!is_own) {                                                                             \
            mr_inputs_unfed(MR_INPUTS_UNFED_SYSTEM_CALL);                                          \
        }                                                                                          \
        mr_leave(thread);                                                                          \
        return result;                                                                             \
    }
COPIES(process_vm_readv, theirs, ours)
COPIES(process_vm_writev, ours, theirs)
#undef COPIES

/* Also by syscall(). */
MR_DIRECT(shutdown)
MR_DIRECT(sendfile64)
MR_DIRECT(splice)
MR_DIRECT(tee)
MR_DIRECT(vmsplice)
