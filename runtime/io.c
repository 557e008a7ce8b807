/*
 * Calls that may block. One that is ready (poll says so) keeps the baton, so that files and pipes
 * with data do not make a run depend on time; else the others run meanwhile. What is read is logged
 * as a write to the buffer.
 */
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    return mr_poll_now(&one, 1) != 0; /* also when it is not open: the call says so at once */
}

/* Is there something that cannot wait until after the call? */
static bool needs_attention(const mr_thread *thread)
{
    return (thread->attention & ~(uint32_t)MR_ATTENTION_IGNORE) != 0;
}

/*
 * Will the call not block? When it would, the others run first, as long as they can: what they do
 * may make it ready, and then the run does not depend on when the kernel wakes the thread. Not for
 * ever: it may be for another process to do.
 */
static bool gets_ready(mr_thread *thread, int fd, short events)
{
    enum { PATIENCE = 200 };
    bool ready = is_ready(fd, events);
    if (!ready && (mr_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK) != 0) {
        mr_yield_to_others(thread);
        return true;
    }
    for (int i = 0; i < PATIENCE && !ready && !needs_attention(thread) && mr_others_can_run(thread);
         i++) {
        mr_yield_to_others(thread);
        ready = is_ready(fd, events);
    }
    if (needs_attention(thread)) {
        mr_attend(thread);
        mr_thread_cancel_point(thread); /* here, and not when the kernel has found out */
        ready = is_ready(fd, events);
    }
    return ready;
}

enum { CHANNELS_MAX = 1024 };

/* The pipes and files seen so far; numbers, because that of an inode is another in each run. */
static struct {
    struct {
        dev_t device;
        ino_t inode;
    } of[CHANNELS_MAX];
    uint64_t count;
} channels;

static uint64_t channel_of(const struct stat *is)
{
    for (uint64_t i = 0; i < channels.count; i++) {
        if (channels.of[i].inode == is->st_ino && channels.of[i].device == is->st_dev) {
            return i + 1;
        }
    }
    if (channels.count == CHANNELS_MAX) {
        return 0;
    }
    channels.of[channels.count].inode = is->st_ino;
    channels.of[channels.count].device = is->st_dev;
    return ++channels.count;
}

/*
 * Who reads from a pipe, a file or a socket comes after those who wrote to it. Pipes and files are
 * told apart; the ends of sockets, and whatever has no file of its own, are not: channel 0.
 */
static void log_channel(mr_log_kind kind, int fd, uintptr_t code)
{
    struct stat is;
    int saved_errno = errno;
    if (MR_REAL(fstat)(fd, &is) == 0 && !S_ISCHR(is.st_mode)) {
        bool own = S_ISFIFO(is.st_mode) || S_ISREG(is.st_mode);
        uint64_t channel = own ? channel_of(&is) : 0;
        mr_write_object(kind, MR_LOG_ROLE_CHANNEL, (void *)channel, code, 0, 0);
    }
    errno = saved_errno;
}

/* Before and after the real call; NULL: not recorded. */
static mr_thread *begin(void)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_thread_cancel_point(thread);
    }
    return thread;
}

static void end(int fd, const void *written, ssize_t bytes, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (fd >= 0 && bytes >= 0) {
            log_channel(MR_LOG_AFTER, fd, code);
        }
        bool logged = bytes > 0 && mr_is_instrumented(code);
        mr_memory_end(thread, written, logged ? (size_t)bytes : 0, code);
    }
}

static void read_by_call(mr_thread *thread, int fd, const void *from, size_t bytes, uintptr_t code)
{
    log_channel(MR_LOG_BEFORE, fd, code);
    if (mr_is_instrumented(code)) {
        mr_memory_read(thread, from, bytes, code);
    }
}

#define READS(name, parameters, arguments)                                                         \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = begin();                                                               \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_CALL(thread, gets_ready(thread, fd, POLLIN), result = MR_REAL(name) arguments);         \
        end(fd, buffer, result < (ssize_t)bytes ? result : (ssize_t)bytes, MR_CALLER);             \
        return result;                                                                             \
    }
READS(read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
READS(pread, (int fd, void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
READS(pread64, (int fd, void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
READS(recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
READS(recvfrom,
      (int fd, void *restrict buffer, size_t bytes, int flags, struct sockaddr *restrict address,
       socklen_t *restrict length),
      (fd, buffer, bytes, flags, address, length))
#undef READS

#define WRITES(name, parameters, arguments)                                                        \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = begin();                                                               \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        read_by_call(thread, fd, buffer, bytes, MR_CALLER);                                        \
        MR_CALL(thread, gets_ready(thread, fd, POLLOUT), result = MR_REAL(name) arguments);        \
        end(-1, NULL, 0, MR_CALLER);                                                               \
        return result;                                                                             \
    }
WRITES(write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes))
WRITES(pwrite, (int fd, const void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
WRITES(pwrite64, (int fd, const void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
WRITES(send, (int fd, const void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
WRITES(sendto,
       (int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *address,
        socklen_t length),
       (fd, buffer, bytes, flags, address, length))
#undef WRITES

/* The parts of a vector that `bytes` bytes fill. */
static void log_vector(mr_log_kind kind, const struct iovec *parts, size_t count, ssize_t bytes,
                       uintptr_t code)
{
    if (!mr_is_instrumented(code)) {
        return;
    }
    for (size_t i = 0; i < count && bytes > 0; i++) {
        size_t part = parts[i].iov_len < (size_t)bytes ? parts[i].iov_len : (size_t)bytes;
        mr_write_range(kind, parts[i].iov_base, part, code);
        bytes -= (ssize_t)part;
    }
}

static void end_vector(int fd, const struct iovec *parts, size_t count, ssize_t bytes,
                       uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (bytes >= 0) {
            log_channel(MR_LOG_AFTER, fd, code);
        }
        log_vector(MR_LOG_RANGE_WRITE, parts, count, bytes, code);
        mr_leave(thread);
    }
}

MR_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    mr_thread *thread = begin();
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(readv)(fd, parts, count);
    }
    MR_CALL(thread, gets_ready(thread, fd, POLLIN), result = MR_REAL(readv)(fd, parts, count));
    end_vector(fd, parts, (size_t)count, result, MR_CALLER);
    return result;
}

MR_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    mr_thread *thread = begin();
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(writev)(fd, parts, count);
    }
    log_channel(MR_LOG_BEFORE, fd, MR_CALLER);
    log_vector(MR_LOG_RANGE_READ, parts, (size_t)count, SSIZE_MAX, MR_CALLER);
    MR_CALL(thread, gets_ready(thread, fd, POLLOUT), result = MR_REAL(writev)(fd, parts, count));
    end(-1, NULL, 0, MR_CALLER);
    return result;
}

MR_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    mr_thread *thread = begin();
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(recvmsg)(fd, message, flags);
    }
    MR_CALL(thread, gets_ready(thread, fd, POLLIN), result = MR_REAL(recvmsg)(fd, message, flags));
    end_vector(fd, message->msg_iov, message->msg_iovlen, result, MR_CALLER);
    return result;
}

MR_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    mr_thread *thread = begin();
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(sendmsg)(fd, message, flags);
    }
    log_channel(MR_LOG_BEFORE, fd, MR_CALLER);
    log_vector(MR_LOG_RANGE_READ, message->msg_iov, message->msg_iovlen, SSIZE_MAX, MR_CALLER);
    MR_CALL(thread, gets_ready(thread, fd, POLLOUT), result = MR_REAL(sendmsg)(fd, message, flags));
    end(-1, NULL, 0, MR_CALLER);
    return result;
}

/* A call that waits for a descriptor and gives an address. */
#define ACCEPTS(name, parameters, arguments)                                                       \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = begin();                                                               \
        int result;                                                                                \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_CALL(thread, gets_ready(thread, fd, POLLIN), result = MR_REAL(name) arguments);         \
        end(fd, address, result >= 0 && address != NULL ? (ssize_t)*length : 0, MR_CALLER);        \
        return result;                                                                             \
    }
ACCEPTS(accept, (int fd, struct sockaddr *restrict address, socklen_t *restrict length),
        (fd, address, length))
ACCEPTS(accept4, (int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags),
        (fd, address, length, flags))
#undef ACCEPTS

MR_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    mr_thread *thread = begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(connect)(fd, address, length);
    }
    log_channel(MR_LOG_BEFORE, fd, MR_CALLER);
    MR_CALL(thread, false, result = MR_REAL(connect)(fd, address, length));
    end(-1, NULL, 0, MR_CALLER);
    return result;
}
