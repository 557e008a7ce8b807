/* Messages of POSIX message queues: as reads and writes (io.c). Several threads that receive keep their order. */
#include "channels.h"
#include "clocks.h"
#include "io.h"
#include "io_parts.h"
#include "memory.h"
#include "real.h"
#include "scheduler.h"

#include <errno.h>
#include <mqueue.h>
#include <poll.h>

/*
 * Waits until the limit, which is a time that the program's clocks show; NULL: for ever. `of_kernel` is the same time
 * by the kernel's clock. A limit that is no time stays what it is, and the call gives the error.
 */
static mr_io_way await(mr_thread *thread, mqd_t queue, short events, const struct timespec *limit,
                       struct timespec *of_kernel)
{
    if (limit == NULL) {
        return mr_io_await(thread, queue, events);
    }
    *of_kernel = *limit;
    if (!mr_is_time(limit)) {
        return MR_IO_READY;
    }
    mr_io_way way = mr_io_await_until(thread, queue, events, mr_limit_at(CLOCK_REALTIME, limit));
    *of_kernel = mr_clock_real_time(CLOCK_REALTIME, limit);
    return way;
}

static int send_really(mqd_t queue, const char *message, size_t bytes, unsigned priority,
                       const struct timespec *limit)
{
    return limit == NULL ? MR_REAL(mq_send)(queue, message, bytes, priority)
                         : MR_REAL(mq_timedsend)(queue, message, bytes, priority, limit);
}

static int send_until(mqd_t queue, const char *message, size_t bytes, unsigned priority,
                      const struct timespec *limit, uintptr_t code)
{
    mr_thread *thread = mr_io_begin(queue, code);
    struct timespec own;
    int result;
    if (thread == NULL) {
        return send_really(queue, message, bytes, priority, limit);
    }
    mr_io_log_range(MR_LOG_RANGE_READ, message, bytes, code);
    mr_channel_log(MR_LOG_BEFORE, queue, code);
    MR_IO_CALL_BY(thread, await(thread, queue, POLLOUT, limit, &own), ETIMEDOUT, result,
                  send_really(queue, message, bytes, priority, limit == NULL ? NULL : &own));
    mr_io_end_room(queue, result, 0, code);
    return result;
}

MR_EXPORT int mq_send(mqd_t queue, const char *message, size_t bytes, unsigned priority)
{
    return send_until(queue, message, bytes, priority, NULL, MR_CALLER);
}

MR_EXPORT int mq_timedsend(mqd_t queue, const char *message, size_t bytes, unsigned priority,
                           const struct timespec *limit)
{
    return send_until(queue, message, bytes, priority, limit, MR_CALLER);
}

static void end_received(mqd_t queue, char *message, ssize_t bytes, unsigned *priority,
                         uintptr_t code)
{
    mr_io_end(bytes >= 0 ? queue : -1, message, bytes, code);
    bool is_empty = bytes < 0 && (errno == EAGAIN || errno == ETIMEDOUT);
    int saved_errno = errno;
    mr_thread *thread = bytes >= 0 || is_empty ? mr_enter() : NULL;
    if (thread != NULL) {
        if (is_empty) {
            mr_channel_log_empty(queue, code);
        } else {
            mr_channel_log_turn(queue, code);
            mr_io_log_range(MR_LOG_RANGE_WRITE, priority, sizeof *priority, code);
        }
        mr_leave(thread);
        errno = saved_errno;
    }
}

static ssize_t receive_really(mqd_t queue, char *message, size_t bytes, unsigned *priority,
                              const struct timespec *limit)
{
    return limit == NULL ? MR_REAL(mq_receive)(queue, message, bytes, priority)
                         : MR_REAL(mq_timedreceive)(queue, message, bytes, priority, limit);
}

static ssize_t receive_until(mqd_t queue, char *message, size_t bytes, unsigned *priority,
                             const struct timespec *limit, uintptr_t code)
{
    mr_thread *thread = mr_io_begin(queue, code);
    struct timespec own;
    ssize_t result;
    if (thread == NULL) {
        return receive_really(queue, message, bytes, priority, limit);
    }
    MR_IO_CALL_BY(thread, await(thread, queue, POLLIN, limit, &own), ETIMEDOUT, result,
                  receive_really(queue, message, bytes, priority, limit == NULL ? NULL : &own));
    end_received(queue, message, result, priority, code);
    return result;
}

MR_EXPORT ssize_t mq_receive(mqd_t queue, char *message, size_t bytes, unsigned *priority)
{
    return receive_until(queue, message, bytes, priority, NULL, MR_CALLER);
}

MR_EXPORT ssize_t mq_timedreceive(mqd_t queue, char *message, size_t bytes, unsigned *priority,
                                  const struct timespec *limit)
{
    return receive_until(queue, message, bytes, priority, limit, MR_CALLER);
}
