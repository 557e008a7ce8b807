/*
 * Calls that may block. One that is ready (poll says so) keeps the baton, so that files and pipes
 * with data do not make a run depend on time; else the others run meanwhile. What is read is logged
 * as a write to the buffer.
 */
#include "io.h"

#include "awaiting.h"
#include "channels.h"
#include "descriptors.h"
#include "ignore.h"
#include "input_descriptors.h"
#include "io_parts.h"
#include "memory.h"
#include "modules.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "sys.h"
#include "thread.h"
#include "timers.h"
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

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

static bool is_ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    return mr_poll_now(&one, 1) != 0; /* also when it is not open: the call says so at once */
}

/* When the call would block, the others run first. */
static bool gets_ready(mr_thread *thread, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    bool ready = mr_poll_after_others(thread, &one, 1) != 0;
    if (mr_needs_attention(thread)) {
        mr_attend(thread);
        if (thread->cancel_pending) {
            mr_thread_cancel_point(thread); /* here, and not when the kernel has found out */
        }
        ready = is_ready(fd, events);
    }
    return ready;
}

/* How long a call waits for the socket, in virtual time. */
static int64_t limit_of(int fd, short events)
{
    struct timeval limit = {0, 0};
    socklen_t bytes = sizeof limit;
    mr_sys(SYS_getsockopt, fd, SOL_SOCKET, events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO,
           (long)&limit, (long)&bytes, 0);
    int64_t ns = (int64_t)limit.tv_sec * 1000000000 + limit.tv_usec * 1000;
    return ns > 0 ? mr_limit_after(ns) : MR_NEVER;
}

/* A replay: the thread waits here, and not in the call. */
static mr_io_way await_here(mr_thread *thread, int fd, short events, int64_t limit)
{
    struct pollfd one = {.fd = fd, .events = events};
    mr_wake_reason reason = MR_WOKEN;
    while (!is_ready(fd, events)) {
        if (reason == MR_TIMED_OUT) {
            return MR_IO_TIMED_OUT;
        }
        if (reason == MR_INTERRUPTED && !mr_signals_restart()) {
            return MR_IO_INTERRUPTED;
        }
        reason = mr_await(thread, &one, 1, limit);
    }
    return MR_IO_READY;
}

/* Without a wait; MR_IO_BLOCKS: it is not ready, and the others can do nothing for that now. */
static mr_io_way try_others(mr_thread *thread, int fd, short events)
{
    bool ready = is_ready(fd, events);
    thread->found_full = !ready && events == POLLOUT;
    if (!ready && (mr_sys(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK) != 0) {
        mr_yield_to_others(thread);
        return MR_IO_READY;
    }
    if (ready && !mr_needs_attention(thread)) {
        return MR_IO_READY;
    }
    return gets_ready(thread, fd, events) ? MR_IO_READY : MR_IO_BLOCKS;
}

mr_io_way mr_io_await(mr_thread *thread, int fd, short events)
{
    mr_io_way way = try_others(thread, fd, events);
    return way == MR_IO_BLOCKS && mr_awaits() ? await_here(thread, fd, events, limit_of(fd, events))
                                              : way;
}

mr_io_way mr_io_await_until(mr_thread *thread, int fd, short events, int64_t limit)
{
    mr_io_way way = try_others(thread, fd, events);
    return way == MR_IO_BLOCKS && mr_awaits() ? await_here(thread, fd, events, limit) : way;
}

/* Before and after the real call; NULL: not recorded. */
mr_thread *mr_io_begin(int fd, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_yield(thread);
        mr_thread_cancel_point(thread);
        mr_descriptor_use(fd, code);
    }
    return thread;
}

/* The result tells what another thread did: what it wrote, or that the other end is closed. */
static bool tells_of_others(ssize_t result)
{
    return result >= 0 || errno == EPIPE || errno == ECONNRESET;
}

/* Data may be older than the end. */
static void log_received(int fd, ssize_t bytes, const uint8_t *token, uintptr_t code)
{
    if (bytes > 0) {
        mr_channel_log_taken(fd, (size_t)bytes, token, code);
    } else {
        mr_channel_log_end(fd, code);
    }
}

void mr_io_end_read(int fd, void *written, ssize_t bytes, size_t asked, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        errno = saved_errno;
        if (fd >= 0 && bytes == sizeof(uint64_t)) {
            mr_timers_read(fd, written);
        }
        if (fd >= 0 && tells_of_others(bytes)) {
            log_received(fd, bytes, asked == 1 ? written : NULL, code);
        } else if (fd >= 0 && errno == EAGAIN) {
            mr_channel_log_empty(fd, code);
        }
        bool logged = bytes > 0 && mr_is_instrumented(code);
        mr_memory_end(thread, written, logged ? (size_t)bytes : 0, code);
    }
}

void mr_io_end(int fd, void *written, ssize_t bytes, uintptr_t code)
{
    mr_io_end_read(fd, written, bytes, 0, code);
}

/* What was read: an input, unless it was fed. */
void mr_io_log_input(const mr_input *fed, int fd, ssize_t result, const mr_input_part *parts,
                     size_t count)
{
    int saved_errno = errno;
    mr_thread *thread = fed->head == NULL && mr_inputs_are_logged() ? mr_enter() : NULL;
    if (thread != NULL) {
        errno = saved_errno;
        mr_input_log(thread, MR_INPUT_READ, (uint64_t)fd, mr_descriptor_is_inside(fd), result,
                     parts, result >= 0 ? count : 0);
        mr_leave(thread);
    }
}

static size_t part_of(ssize_t result, size_t room)
{
    return result < 0 ? 0 : (size_t)result < room ? (size_t)result : room;
}

static void log_data(const mr_input *fed, int fd, const void *buffer, ssize_t result, size_t room)
{
    mr_io_log_input(fed, fd, result, &(mr_input_part){buffer, part_of(result, room)}, 1);
}

/* What the recorded thread got. */
ssize_t mr_io_feed(mr_thread *thread, mr_input *input, void *buffer, size_t room)
{
    ssize_t result = mr_input_result(input);
    mr_input_take(input, buffer, part_of(result, room));
    mr_yield(thread);
    mr_leave(thread);
    return result;
}

/* A call that writes to a peer has the result that it had. */
bool mr_io_feed_sent(mr_thread *thread, int fd, ssize_t *result)
{
    mr_input input = {NULL, NULL, 0};
    if (mr_descriptor_is_peer(fd)) {
        input = mr_input_find(thread, MR_INPUT_WRITE, (uint64_t)fd);
    }
    if (input.head != NULL) {
        *result = mr_io_feed(thread, &input, NULL, 0);
    }
    return input.head != NULL;
}

/* What the result of a write says of those who read. */
void mr_io_end_room(int fd, ssize_t result, size_t asked, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    if (result < 0) {
        mr_channel_log_refused(fd, code);
    }
    if (result > 0) {
        mr_channel_wrote(fd, (size_t)result);
    }
    if (result < 0 ? saved_errno == EAGAIN || saved_errno == ETIMEDOUT : (size_t)result < asked) {
        mr_channel_log_full(fd, code); /* there was room for a part, or for nothing */
    } else if (result >= 0 && thread->found_full) {
        mr_channel_log_room(fd, code);
    }
    thread->found_full = false;
    mr_leave(thread);
    errno = saved_errno;
}

void mr_io_end_sent(bool fed, int fd, ssize_t result, size_t asked, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread =
        !fed && mr_inputs_are_logged() && mr_descriptor_is_peer(fd) ? mr_enter() : NULL;
    if (thread != NULL) {
        errno = saved_errno;
        mr_input_log(thread, MR_INPUT_WRITE, (uint64_t)fd, false, result, NULL, 0);
        mr_leave(thread);
    }
    errno = saved_errno;
    mr_io_end_room(fd, result, asked, code);
    mr_io_end(result < 0 && tells_of_others(result) ? fd : -1, NULL, 0, code);
    errno = saved_errno;
}

void mr_io_written(const void *to, size_t bytes, uintptr_t code)
{
    int saved_errno = errno;
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, to, bytes, code);
        mr_leave(thread);
    }
    errno = saved_errno;
}

static bool ignores(mr_log_kind kind)
{
    return kind == MR_LOG_RANGE_READ ? mr_ignores_all(mr_self) : mr_ignores_writes(mr_self);
}

/* Memory that a call reads or writes beside the data. The caller is busy. */
void mr_io_log_range(mr_log_kind kind, const void *address, size_t bytes, uintptr_t code)
{
    if (address != NULL && bytes > 0 && mr_is_instrumented(code) && !ignores(kind)) {
        mr_write_range(kind, address, bytes, code);
    }
}

/* The address of a peer: what the kernel gives of it, and how long it is. `room` was there. */
void mr_io_end_address(bool given, const struct sockaddr *address, const socklen_t *length,
                       socklen_t room, uintptr_t code)
{
    mr_thread *thread = given && address != NULL ? mr_enter() : NULL;
    if (thread != NULL) {
        mr_io_log_range(MR_LOG_RANGE_WRITE, address, *length < room ? *length : room, code);
        mr_io_log_range(MR_LOG_RANGE_WRITE, length, sizeof *length, code);
        mr_leave(thread);
    }
}

/* Room for an address. The caller is busy. */
socklen_t mr_io_begin_address(const struct sockaddr *address, const socklen_t *length,
                              uintptr_t code)
{
    if (address == NULL || length == NULL) {
        return 0;
    }
    mr_io_log_range(MR_LOG_RANGE_READ, length, sizeof *length, code);
    return *length;
}

/* Who gets the bytes comes after the reads of them, and may change them. */
static void read_by_call(mr_thread *thread, int fd, const void *from, size_t bytes, uintptr_t code)
{
    if (mr_is_instrumented(code)) {
        mr_memory_read(thread, from, bytes, code);
    }
    mr_channel_log_written(fd, from, bytes, code);
}

extern ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
extern ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room);
extern ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room);
extern ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
extern ssize_t __recvfrom_chk(int fd, void *buffer, size_t bytes, size_t room, int flags,
                              struct sockaddr *address, socklen_t *length);

#define READS(name, parameters, arguments)                                                         \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_input input = mr_input_find(thread, MR_INPUT_READ, (uint64_t)fd);                       \
        if (input.head != NULL) {                                                                  \
            result = mr_io_feed(thread, &input, buffer, bytes);                                    \
        } else {                                                                                   \
            MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(name) arguments);                       \
            log_data(&input, fd, buffer, result, bytes);                                           \
        }                                                                                          \
        mr_io_end_read(fd, buffer, result < (ssize_t)bytes ? result : (ssize_t)bytes, bytes,       \
                       MR_CALLER);                                                                 \
        return result;                                                                             \
    }
READS(read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
READS(pread, (int fd, void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
READS(pread64, (int fd, void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
READS(recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
READS(__read_chk, (int fd, void *buffer, size_t bytes, size_t room), (fd, buffer, bytes, room))
READS(__pread_chk, (int fd, void *buffer, size_t bytes, off_t at, size_t room),
      (fd, buffer, bytes, at, room))
READS(__pread64_chk, (int fd, void *buffer, size_t bytes, off64_t at, size_t room),
      (fd, buffer, bytes, at, room))
READS(__recv_chk, (int fd, void *buffer, size_t bytes, size_t room, int flags),
      (fd, buffer, bytes, room, flags))
#undef READS

void mr_io_feed_address(mr_input *input, struct sockaddr *address, socklen_t *length)
{
    if (address != NULL && length != NULL) {
        mr_input_take(input, length, sizeof *length);
        mr_input_take(input, address, input->left);
    }
}

/* … and gives the address of the sender. */
#define READS_FROM(name, parameters, arguments)                                                    \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        socklen_t room_before = mr_io_begin_address(address, length, MR_CALLER);                   \
        mr_input input = mr_input_find(thread, MR_INPUT_READ, (uint64_t)fd);                       \
        if (input.head != NULL) {                                                                  \
            result = mr_io_feed(thread, &input, buffer, bytes);                                    \
            mr_io_feed_address(&input, address, length);                                           \
        } else {                                                                                   \
            MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(name) arguments);                       \
            mr_io_log_input(                                                                       \
                &input, fd, result,                                                                \
                (const mr_input_part[]){{buffer, part_of(result, bytes)},                          \
                                        MR_IO_LENGTH_PART(address, length),                        \
                                        MR_IO_ADDRESS_PART(address, length, room_before)},         \
                3);                                                                                \
        }                                                                                          \
        mr_io_end_address(result >= 0, address, length, room_before, MR_CALLER);                   \
        mr_io_end_read(fd, buffer, result < (ssize_t)bytes ? result : (ssize_t)bytes, bytes,       \
                       MR_CALLER);                                                                 \
        return result;                                                                             \
    }
READS_FROM(recvfrom,
           (int fd, void *restrict buffer, size_t bytes, int flags,
            struct sockaddr *restrict address, socklen_t *restrict length),
           (fd, buffer, bytes, flags, address, length))
READS_FROM(__recvfrom_chk,
           (int fd, void *buffer, size_t bytes, size_t room, int flags, struct sockaddr *address,
            socklen_t *length),
           (fd, buffer, bytes, room, flags, address, length))
#undef READS_FROM

#define WRITES(name, parameters, arguments, beside)                                                \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        beside;                                                                                    \
        read_by_call(thread, fd, buffer, bytes, MR_CALLER);                                        \
        bool fed = mr_io_feed_sent(thread, fd, &result);                                           \
        if (!fed) {                                                                                \
            MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(name) arguments);                      \
        }                                                                                          \
        mr_io_end_sent(fed, fd, result, bytes, MR_CALLER);                                         \
        return result;                                                                             \
    }
WRITES(write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes), )
WRITES(pwrite, (int fd, const void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at), )
WRITES(pwrite64, (int fd, const void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at), )
WRITES(send, (int fd, const void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags), )
WRITES(sendto,
       (int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *address,
        socklen_t length),
       (fd, buffer, bytes, flags, address, length),
       mr_io_log_range(MR_LOG_RANGE_READ, address, length, MR_CALLER))
#undef WRITES

size_t mr_io_bytes(const struct iovec *parts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += parts[i].iov_len;
    }
    return bytes;
}

/* The parts of a vector that `bytes` bytes fill. */
void mr_io_log_vector(mr_log_kind kind, const struct iovec *parts, size_t count, ssize_t bytes,
                      uintptr_t code)
{
    if (!mr_is_instrumented(code) || ignores(kind)) {
        return;
    }
    for (size_t i = 0; i < count && bytes > 0; i++) {
        size_t part = parts[i].iov_len < (size_t)bytes ? parts[i].iov_len : (size_t)bytes;
        mr_write_range(kind, parts[i].iov_base, part, code);
        bytes -= (ssize_t)part;
    }
}

void mr_io_end_vector(int fd, const struct iovec *parts, size_t count, ssize_t bytes,
                      uintptr_t code)
{
    mr_thread *thread = mr_enter();
    if (thread != NULL) {
        if (tells_of_others(bytes)) {
            log_received(fd, bytes, NULL, code);
        }
        mr_io_log_vector(MR_LOG_RANGE_WRITE, parts, count, bytes, code);
        mr_leave(thread);
    }
}

ssize_t mr_io_feed_vector(mr_thread *thread, mr_input *input, const struct iovec *parts,
                          size_t count)
{
    ssize_t result = mr_input_result(input);
    size_t left = part_of(result, SSIZE_MAX);
    for (size_t i = 0; i < count && left > 0; i++) {
        left -= mr_input_take(input, parts[i].iov_base,
                              parts[i].iov_len < left ? parts[i].iov_len : left);
    }
    mr_yield(thread);
    mr_leave(thread);
    return result;
}

/* The parts of a vector that were filled; returns their number. */
size_t mr_io_filled(mr_input_part *to, const struct iovec *parts, size_t count, ssize_t result)
{
    size_t used = 0;
    for (size_t left = part_of(result, SSIZE_MAX); used < count && left > 0; used++) {
        size_t part = parts[used].iov_len < left ? parts[used].iov_len : left;
        to[used] = (mr_input_part){parts[used].iov_base, part};
        left -= part;
    }
    return used;
}

static void log_parts(const mr_input *fed, int fd, const struct iovec *parts, size_t count,
                      ssize_t result)
{
    mr_input_part data[MR_IO_PARTS_MAX];
    if (count <= MR_IO_PARTS_MAX) {
        mr_io_log_input(fed, fd, result, data, mr_io_filled(data, parts, count, result));
    }
}

#define READS_PARTS(name, parameters, arguments)                                                   \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_io_log_range(MR_LOG_RANGE_READ, parts, (size_t)count * sizeof *parts, MR_CALLER);       \
        mr_input input = mr_input_find(thread, MR_INPUT_READ, (uint64_t)fd);                       \
        if (input.head != NULL) {                                                                  \
            result = mr_io_feed_vector(thread, &input, parts, (size_t)count);                      \
        } else {                                                                                   \
            MR_IO_CALL(thread, fd, POLLIN, result, MR_REAL(name) arguments);                       \
            log_parts(&input, fd, parts, (size_t)count, result);                                   \
        }                                                                                          \
        mr_io_end_vector(fd, parts, (size_t)count, result, MR_CALLER);                             \
        return result;                                                                             \
    }
READS_PARTS(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
READS_PARTS(preadv, (int fd, const struct iovec *parts, int count, off_t at),
            (fd, parts, count, at))
READS_PARTS(preadv64, (int fd, const struct iovec *parts, int count, off64_t at),
            (fd, parts, count, at))
READS_PARTS(preadv2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
            (fd, parts, count, at, flags))
READS_PARTS(preadv64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
            (fd, parts, count, at, flags))
#undef READS_PARTS

#define WRITES_PARTS(name, parameters, arguments)                                                  \
    MR_EXPORT ssize_t name parameters                                                              \
    {                                                                                              \
        mr_thread *thread = mr_io_begin(fd, MR_CALLER);                                            \
        ssize_t result;                                                                            \
        if (thread == NULL) {                                                                      \
            return MR_REAL(name) arguments;                                                        \
        }                                                                                          \
        mr_io_log_range(MR_LOG_RANGE_READ, parts, (size_t)count * sizeof *parts, MR_CALLER);       \
        mr_io_log_vector(MR_LOG_RANGE_READ, parts, (size_t)count, SSIZE_MAX, MR_CALLER);           \
        mr_channel_log(MR_LOG_BEFORE, fd, MR_CALLER);                                              \
        bool fed = mr_io_feed_sent(thread, fd, &result);                                           \
        if (!fed) {                                                                                \
            MR_IO_CALL(thread, fd, POLLOUT, result, MR_REAL(name) arguments);                      \
        }                                                                                          \
        mr_io_end_sent(fed, fd, result, mr_io_bytes(parts, (size_t)count), MR_CALLER);             \
        return result;                                                                             \
    }
WRITES_PARTS(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITES_PARTS(pwritev, (int fd, const struct iovec *parts, int count, off_t at),
             (fd, parts, count, at))
WRITES_PARTS(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at),
             (fd, parts, count, at))
WRITES_PARTS(pwritev2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
             (fd, parts, count, at, flags))
WRITES_PARTS(pwritev64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
             (fd, parts, count, at, flags))
#undef WRITES_PARTS

/* Also by syscall(). */
MR_DIRECT(read)
MR_DIRECT(write)
MR_DIRECT(pread64)
MR_DIRECT(pwrite64)
MR_DIRECT(readv)
MR_DIRECT(writev)
MR_DIRECT(preadv64)
MR_DIRECT(pwritev64)
MR_DIRECT(recvfrom)
MR_DIRECT(sendto)
