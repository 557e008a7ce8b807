/* io: descriptors, for other files: order between threads by what they lead to, and readiness. */
#ifndef MR_RUNTIME_IO_H
#define MR_RUNTIME_IO_H

#include "scheduler.h"

#include <errno.h>

/* Who reads (AFTER) from a pipe, a file or a socket comes after those who wrote (BEFORE) to it. A write
 * comes before those who close a pipe, or a socket between threads, after it. The caller is busy. */
void mr_io_log_channel(mr_log_kind kind, int fd, uintptr_t code);
/* The call tells that the other end is closed, or may tell it: who closed it comes before. The caller is
 * busy. */
void mr_io_log_end(int fd, uintptr_t code);
/* A wait has found that the descriptor can be read from, or that its other end is closed: it comes after
 * those who wrote to it or closed it, when it is a pipe, has no file of its own, as eventfd, or is a socket
 * between threads of the program. Who finds another socket ready reads from it. The caller is busy. */
void mr_io_log_ready(int fd, uintptr_t code);
/* The descriptor is about to be closed: who finds out comes after that, when it is a pipe or
 * a socket between threads of the program. Those who close it after each other are in that order, but it
 * does not follow who wrote before. The caller is busy. */
void mr_io_log_closed(int fd, uintptr_t code);
/* The socket is about to be shut down. One between threads is closed by that; what another one tells, as one that
 * listens, counts as a write. The caller is busy. */
void mr_io_log_shut(int fd, uintptr_t code);
/* The two ends of a socketpair are one channel, as those of a pipe are. */
void mr_io_pair(const int ends[2]);

/* What a call that waits for these events of poll is to do. Others may run meanwhile. */
typedef enum mr_io_way {
    MR_IO_READY,       /* it will not block */
    MR_IO_BLOCKS,      /* it may */
    MR_IO_INTERRUPTED, /* a handler has run while it waited: EINTR */
    MR_IO_TIMED_OUT,   /* the limit of the socket is over: EAGAIN */
} mr_io_way;
mr_io_way mr_io_await(mr_thread *thread, int fd, short events);
/* That call, within the interposed function; what it gives, or the error, is the result. */
#define MR_IO_CALL(thread, fd, events, result, call)                                               \
    do {                                                                                           \
        mr_io_way way = mr_io_await(thread, fd, events);                                           \
        if (way == MR_IO_READY || way == MR_IO_BLOCKS) {                                           \
            MR_CALL(thread, way == MR_IO_READY, (result) = call);                                  \
        } else {                                                                                   \
            mr_leave(thread);                                                                      \
            errno = way == MR_IO_INTERRUPTED ? EINTR : EAGAIN;                                     \
            (result) = -1;                                                                         \
        }                                                                                          \
    } while (0)

#endif
