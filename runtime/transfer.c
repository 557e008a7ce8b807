/* shutdown, and files that go into a descriptor: orders as those of writes (io.c), and inputs when the other end is a peer. */
#include "channels.h"
#include "descriptors.h"
#include "io.h"
#include "io_parts.h"
#include "real.h"
#include "scheduler.h"

#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

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
    mr_io_end_sent(fed, fd, result, MR_CALLER);
    return (int)result;
}

/* The file was written before, perhaps by another thread. */
static void end(bool fed, int to, int from, ssize_t result, uintptr_t code)
{
    mr_io_end_sent(fed, to, result, code);
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
