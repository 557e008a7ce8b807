/* eventfd_read and eventfd_write: as read and write (io.c). */
#include "channels.h"
#include "io.h"
#include "io_parts.h"
#include "real.h"
#include "scheduler.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int status_of(ssize_t result)
{
    return result == sizeof(eventfd_t) ? 0 : -1;
}

MR_EXPORT int eventfd_read(int fd, eventfd_t *to)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(eventfd_read)(fd, to);
    }
    mr_input input = mr_input_find(thread, MR_INPUT_READ, (uint64_t)fd);
    if (input.head != NULL) {
        result = mr_io_feed(thread, &input, to, sizeof *to);
    } else {
        MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(read)(fd, to, sizeof *to));
        mr_io_log_input(&input, fd, result,
                        &(mr_input_part){to, status_of(result) == 0 ? sizeof *to : 0}, 1);
    }
    mr_io_end(fd, to, result, MR_CALLER);
    return status_of(result);
}

MR_EXPORT int eventfd_write(int fd, eventfd_t value)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(eventfd_write)(fd, value);
    }
    mr_channel_log_written(fd, &value, sizeof value, MR_CALLER);
    MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(write)(fd, &value, sizeof value));
    mr_io_end_sent(false, fd, result, 0, MR_CALLER);
    return status_of(result);
}
