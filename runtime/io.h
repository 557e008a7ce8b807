/* io: calls that may wait for a descriptor. */
#ifndef MR_RUNTIME_IO_H
#define MR_RUNTIME_IO_H

#include "scheduler.h"

#include <errno.h>

/* What a call that waits for these events of poll is to do. Others may run meanwhile. */
typedef enum mr_io_way {
    MR_IO_READY,       /* it will not block */
    MR_IO_BLOCKS,      /* it may */
    MR_IO_INTERRUPTED, /* a handler has run while it waited: EINTR */
    MR_IO_TIMED_OUT,   /* its limit is over; that of a socket: EAGAIN */
} mr_io_way;
mr_io_way mr_io_await(mr_thread *thread, int fd, short events);
/* The same, for a call with a limit of its own (virtual time, MR_NEVER). */
mr_io_way mr_io_await_until(mr_thread *thread, int fd, short events, int64_t limit);
/* That call, within the interposed function; what it gives, or the error, is the result. */
#define MR_IO_CALL(thread, fd, events, result, call)                                               \
    MR_IO_CALL_BY(thread, mr_io_await(thread, fd, events), EAGAIN, result, call)
/* The same, in a way that is known; `late`: the error when the limit is over. */
#define MR_IO_CALL_BY(thread, its_way, late, result, call)                                         \
    do {                                                                                           \
        mr_io_way way = its_way;                                                                   \
        if (way == MR_IO_READY || way == MR_IO_BLOCKS) {                                           \
            MR_CALL(thread, way == MR_IO_READY, (result) = call);                                  \
        } else {                                                                                   \
            mr_leave(thread);                                                                      \
            errno = way == MR_IO_INTERRUPTED ? EINTR : (late);                                     \
            (result) = -1;                                                                         \
        }                                                                                          \
    } while (0)

#endif
