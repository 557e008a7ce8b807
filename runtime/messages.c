/* Messages and connections of sockets; as reads and writes (io.c). */
#include "channels.h"
#include "descriptors.h"
#include "io.h"
#include "io_parts.h"
#include "outside.h"
#include "real.h"
#include "scheduler.h"
#include "writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

/* A message that was received into the room that `before` tells of. */
static void end_message(int fd, const struct msghdr *message, const struct msghdr *before,
                        ssize_t bytes, uintptr_t code)
{
    mr_thread *thread = bytes >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        socklen_t name =
            message->msg_namelen < before->msg_namelen ? message->msg_namelen : before->msg_namelen;
        mr_io_log_range(MR_LOG_RANGE_WRITE, message->msg_name, name, code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, message->msg_control, message->msg_controllen, code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, &message->msg_namelen, sizeof message->msg_namelen,
                        code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, &message->msg_controllen,
                        sizeof message->msg_controllen, code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, &message->msg_flags, sizeof message->msg_flags, code);
        mr_leave(thread);
    }
    mr_io_end_vector(fd, message->msg_iov, message->msg_iovlen, bytes, code);
}

/* What tells where the data of a message is; `msg_flags` is not looked at. The caller is busy. */
static void begin_message(const struct msghdr *message, uintptr_t code)
{
    mr_io_log_range(MR_LOG_RANGE_READ, message, offsetof(struct msghdr, msg_flags), code);
    mr_io_log_range(MR_LOG_RANGE_READ, message->msg_iov,
                    message->msg_iovlen * sizeof *message->msg_iov, code);
}

static void begin_sent(const struct msghdr *message, uintptr_t code)
{
    begin_message(message, code);
    mr_io_log_range(MR_LOG_RANGE_READ, message->msg_name, message->msg_namelen, code);
    mr_io_log_range(MR_LOG_RANGE_READ, message->msg_control, message->msg_controllen, code);
    mr_io_log_vector(MR_LOG_RANGE_READ, message->msg_iov, message->msg_iovlen, SSIZE_MAX, code);
}

/* What a message has beside its data. */
typedef struct message_ends {
    uint32_t name_bytes, flags;
    uint64_t control_bytes;
} message_ends;

static void log_message(const mr_input *fed, int fd, const struct msghdr *message,
                        const struct msghdr *before, ssize_t result)
{
    mr_input_part data[MR_IO_PARTS_MAX + 3];
    message_ends ends = {message->msg_namelen, (uint32_t)message->msg_flags,
                         message->msg_controllen};
    if (message->msg_iovlen > MR_IO_PARTS_MAX) {
        return;
    }
    size_t count = mr_io_filled(data, message->msg_iov, message->msg_iovlen, result);
    socklen_t name =
        message->msg_namelen < before->msg_namelen ? message->msg_namelen : before->msg_namelen;
    data[count++] = (mr_input_part){&ends, sizeof ends};
    data[count++] = (mr_input_part){message->msg_name, message->msg_name != NULL ? name : 0};
    data[count++] = (mr_input_part){message->msg_control,
                                    message->msg_control != NULL ? message->msg_controllen : 0};
    mr_io_log_input(fed, fd, result, data, count);
}

static ssize_t feed_message(mr_thread *thread, mr_input *input, struct msghdr *message)
{
    message_ends ends = {0, 0, 0};
    ssize_t result = mr_io_feed_vector(thread, input, message->msg_iov, message->msg_iovlen);
    if (result >= 0) {
        mr_input_take(input, &ends, sizeof ends);
        mr_input_take(input, message->msg_name,
                      ends.name_bytes < message->msg_namelen ? ends.name_bytes
                                                             : message->msg_namelen);
        mr_input_take(input, message->msg_control, ends.control_bytes);
        message->msg_namelen = ends.name_bytes;
        message->msg_controllen = ends.control_bytes;
        message->msg_flags = (int)ends.flags;
    }
    return result;
}

MR_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(recvmsg)(fd, message, flags);
    }
    struct msghdr before = *message;
    begin_message(message, MR_CALLER);
    mr_input input = mr_input_find(thread, MR_INPUT_READ, (uint64_t)fd);
    if (input.head != NULL) {
        result = feed_message(thread, &input, message);
    } else {
        MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(recvmsg)(fd, message, flags));
        log_message(&input, fd, message, &before, result);
    }
    end_message(fd, message, &before, result, MR_CALLER);
    return result;
}

MR_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    ssize_t result;
    if (thread == NULL) {
        return MR_REAL(sendmsg)(fd, message, flags);
    }
    begin_sent(message, MR_CALLER);
    mr_channel_log(MR_LOG_BEFORE, fd, MR_CALLER);
    bool fed = mr_io_feed_sent(thread, fd, &result);
    if (!fed) {
        MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(sendmsg)(fd, message, flags));
    }
    mr_io_end_sent(fed, fd, result, mr_io_bytes(message->msg_iov, message->msg_iovlen), MR_CALLER);
    return result;
}

static void end_length(const unsigned *length, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, length, sizeof *length, code);
        mr_leave(thread);
    }
}

/* Many more messages at once than anybody asks for are not recorded. */
MR_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                       struct timespec *timeout)
{
    enum { KEPT = 64 };
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    int result;
    if (thread == NULL || count > KEPT) {
        if (thread != NULL) {
            mr_leave(thread);
        }
        return MR_REAL(recvmmsg)(fd, messages, count, flags, timeout);
    }
    struct msghdr before[KEPT];
    for (unsigned i = 0; i < count; i++) {
        before[i] = messages[i].msg_hdr;
        begin_message(&messages[i].msg_hdr, MR_CALLER);
    }
    MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(recvmmsg)(fd, messages, count, flags, timeout));
    for (int i = 0; i < result && i < (int)count; i++) {
        end_message(fd, &messages[i].msg_hdr, &before[i], messages[i].msg_len, MR_CALLER);
        end_length(&messages[i].msg_len, MR_CALLER);
    }
    return result;
}

MR_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    int result;
    if (thread == NULL) {
        return MR_REAL(sendmmsg)(fd, messages, count, flags);
    }
    for (unsigned i = 0; i < count; i++) {
        begin_sent(&messages[i].msg_hdr, MR_CALLER);
    }
    mr_channel_log(MR_LOG_BEFORE, fd, MR_CALLER);
    MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(sendmmsg)(fd, messages, count, flags));
    for (int i = 0; i < result; i++) {
        end_length(&messages[i].msg_len, MR_CALLER);
    }
    return result;
}

static int feed_accepted(mr_thread *thread, mr_input *input, struct sockaddr *address,
                         socklen_t *length)
{
    int fd = mr_descriptor_place(input->head, (mr_input_descriptor){S_IFSOCK, 0}, -1);
    int saved_errno = errno;
    if (fd >= 0) {
        mr_descriptor_set(fd, MR_DESCRIPTOR_PEER);
        mr_io_feed_address(input, address, length);
    }
    mr_yield(thread);
    mr_leave(thread);
    errno = saved_errno;
    return fd;
}

/* The descriptor of a connection with the program itself gets any number when it runs again. */
static void log_accepted(int fd, int result, mr_input_part length, mr_input_part address)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_descriptor_forget(result);
        mr_descriptor_origin origin =
            result < 0 ? MR_DESCRIPTOR_PEER : mr_descriptor_peer_of(result, NULL, true);
        errno = saved_errno;
        mr_input_log(thread, MR_INPUT_ACCEPT, (uint64_t)fd, origin == MR_DESCRIPTOR_INSIDE, result,
                     (const mr_input_part[]){length, address}, result >= 0 ? 2 : 0);
        mr_descriptor_set(result, origin);
        mr_leave(thread);
    }
    errno = saved_errno;
}

/* Another thread has shut the socket down that this one waited at. */
static bool is_shut(int result)
{
    return result < 0 && (errno == EINVAL || errno == ECONNABORTED);
}

/* Nobody wants a connection: that comes before the next connect. */
static int accepted(int fd, bool is_new, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (fd < 0 && saved_errno == EAGAIN) {
            mr_outside_call_seen(MR_OUTSIDE_CONNECTS, false, code);
        }
        fd = mr_descriptor_given(thread, fd, is_new, code);
        mr_leave(thread);
    }
    errno = saved_errno;
    return fd;
}

/* A call that waits for a descriptor and gives an address. */
#define ACCEPTS(name, parameters, arguments)                                                       \
    MR_EXPORT int name parameters                                                                  \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        int result;                                                                                \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        socklen_t room = mr_io_begin_address(address, length, MR_CALLER);                          \
        mr_input input = mr_input_find(thread, MR_INPUT_ACCEPT, (uint64_t)fd);                     \
        if (input.head != NULL) {                                                                  \
            result = accepted(feed_accepted(thread, &input, address, length), false, MR_CALLER);   \
        } else {                                                                                   \
            MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(name) arguments);                       \
            result = accepted(result, true, MR_CALLER);                                            \
            log_accepted(fd, result, (mr_input_part)MR_IO_LENGTH_PART(address, length),            \
                         (mr_input_part)MR_IO_ADDRESS_PART(address, length, room));                \
        }                                                                                          \
        bool learns = result >= 0 || is_shut(result);                                              \
        mr_io_end_address(result >= 0, address, length, room, MR_CALLER);                          \
        mr_io_end(learns ? fd : -1, NULL, 0, MR_CALLER);                                           \
        return result;                                                                             \
    }
ACCEPTS(accept, (int fd, struct sockaddr *restrict address, socklen_t *restrict length),
        (fd, address, length))
ACCEPTS(accept4, (int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags),
        (fd, address, length, flags))
#undef ACCEPTS

/* `given`: by a replay. `address` may be NULL. */
static void log_connected(int fd, int result, const struct sockaddr *address, bool given,
                          uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_descriptor_origin origin = mr_descriptor_peer_of(fd, address, false);
        if (result == 0 || saved_errno == ECONNREFUSED || saved_errno == ENOENT) {
            mr_outside_call_seen(MR_OUTSIDE_LISTENS, result == 0, code);
        }
        if (!given) {
            errno = saved_errno;
            mr_input_log(thread, MR_INPUT_CONNECT, (uint64_t)fd, origin == MR_DESCRIPTOR_INSIDE,
                         result, NULL, 0);
        }
        mr_descriptor_set(fd, origin);
        mr_leave(thread);
    }
    errno = saved_errno;
}

MR_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    mr_thread *thread = mr_io_begin(fd, MR_CALLER);
    int result;
    if (thread == NULL) {
        return MR_REAL(connect)(fd, address, length);
    }
    mr_io_log_range(MR_LOG_RANGE_READ, address, length, MR_CALLER);
    mr_channel_log(MR_LOG_BEFORE, fd, MR_CALLER);
    mr_outside_call_begins(MR_OUTSIDE_CONNECTS, MR_CALLER);
    mr_input input = mr_input_find(thread, MR_INPUT_CONNECT, (uint64_t)fd);
    if (input.head != NULL) {
        result = (int)mr_io_feed(thread, &input, NULL, 0);
        log_connected(fd, result, NULL, true, MR_CALLER);
    } else {
        struct sockaddr_storage led;
        address = mr_descriptor_lead(address, length, &led);
        MR_CALL(thread, false, result = MR_REAL(connect)(fd, address, length));
        log_connected(fd, result, address, false, MR_CALLER);
    }
    mr_io_end(-1, NULL, 0, MR_CALLER);
    return result;
}

/* Who connects comes after that. */
MR_EXPORT int listen(int fd, int count)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_descriptor_use(fd, MR_CALLER);
        mr_outside_call_begins(MR_OUTSIDE_LISTENS, MR_CALLER);
        mr_leave(thread);
    }
    return MR_REAL(listen)(fd, count);
}

/* Also by syscall(). */
MR_DIRECT(sendmsg)
MR_DIRECT(recvmsg)
MR_DIRECT(accept)
MR_DIRECT(accept4)
MR_DIRECT(connect)
MR_DIRECT(listen)
