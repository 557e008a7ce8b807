/* Messages of POSIX message queues: as reads and writes (io.c). Several threads that receive keep their order. */
#include "channels.h"
#include "io.h"
#include "io_parts.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"

#include <mqueue.h>
#include <poll.h>

static mr_thread *begin_sent(mqd_t queue, const char *message, size_t bytes, uintptr_t code)
{
    mr_thread *thread = mr_io_begin(queue, code);
    if (thread != NULL) {
        mr_channel_log(MR_LOG_BEFORE, queue, code);
        mr_io_log_range(MR_LOG_RANGE_READ, message, bytes, code);
    }
    return thread;
}

#define SENDS(name, parameters, arguments)                                                         \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = begin_sent(queue, message, bytes, MR_CALLER);                          \
        int result;                                                                                \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_IO_CALL(thread, queue, POLLOUT, result, MR_REAL(name) arguments);                       \
        return result;                                                                             \
    }
SENDS(mq_send, (mqd_t queue, const char *message, size_t bytes, unsigned priority),
      (queue, message, bytes, priority))
SENDS(mq_timedsend,
      (mqd_t queue, const char *message, size_t bytes, unsigned priority,
       const struct timespec *limit),
      (queue, message, bytes, priority, limit))
#undef SENDS

static void end_received(mqd_t queue, char *message, ssize_t bytes, unsigned *priority,
                         uintptr_t code)
{
    mr_io_end(bytes >= 0 ? queue : -1, message, bytes, code);
    mr_thread *thread = bytes >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_channel_log_turn(queue, code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, priority, sizeof *priority, code);
        mr_leave(thread);
    }
}

#define RECEIVES(name, parameters, arguments)                                                      \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(queue, MR_CALLER);                                         \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        MR_IO_CALL(thread, queue, POLLIN, result, MR_REAL(name) arguments);                        \
        end_received(queue, message, result, priority, MR_CALLER);                                 \
        return result;                                                                             \
    }
RECEIVES(mq_receive, (mqd_t queue, char *message, size_t bytes, unsigned *priority),
         (queue, message, bytes, priority))
RECEIVES(mq_timedreceive,
         (mqd_t queue, char *message, size_t bytes, unsigned *priority,
          const struct timespec *limit),
         (queue, message, bytes, priority, limit))
#undef RECEIVES
