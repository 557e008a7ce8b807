/*
 * Waiting for descriptors by poll and select (waits_parts.h). The kernel is asked for that directly, because functions of libc are cancellation points: a thread
 * that ends in one with the baton and in the middle of the runtime would take both along.
 */
#include "waits.h"
#include "channels.h"
#include "clocks.h"
#include "ignore.h"
#include "input_descriptors.h"
#include "input_signals.h"
#include "io.h"
#include "real.h"
#include "steer.h"
#include "sys.h"
#include "waits_parts.h"
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

enum {
    KERNEL_SET = 8, /* bytes of a sigset_t that are used */
    MOMENT_NS = 1000000,
    NAPS = 10,
    NAP_NS = 20000000,
};

bool mr_wait_is_settled(mr_thread *thread, int result, bool no_wait)
{
    if (result == 0 && no_wait) {
        mr_yield_to_others(thread);
    }
    return result != 0 || no_wait;
}

int mr_wait_result(long result)
{
    if (mr_sys_failed(result)) {
        errno = (int)-result;
        return -1;
    }
    return (int)result;
}

void mr_wait_log_read(const void *from, size_t bytes, uintptr_t code)
{
    if (from != NULL && bytes > 0 && mr_is_instrumented(code) && !mr_ignores_all(mr_self)) {
        mr_write_range(MR_LOG_RANGE_READ, from, bytes, code);
    }
}

void mr_wait_log(const mr_input *fed, uint64_t argument, int result, const mr_input_part *parts,
                 size_t count)
{
    int saved_errno = errno;
    mr_thread *thread = fed->head == NULL && mr_inputs_are_logged() ? mr_enter() : NULL;
    if (thread != NULL) {
        errno = saved_errno;
        mr_input_log(thread, MR_INPUT_WAIT, argument, false, result, parts,
                     result >= 0 ? count : 0);
        mr_leave(thread);
    }
    errno = saved_errno;
}

static int64_t limit_in(const struct timespec *time)
{
    return time == NULL ? MR_NEVER : mr_limit_in(time);
}

int mr_wait_let_others(mr_thread *thread)
{
    if (mr_others_can_run(thread)) {
        mr_yield_to_others(thread);
        return 1;
    }
    bool only_signals = mr_others_wait_for_ever(thread);
    mr_await(thread, NULL, 0, mr_limit_after(only_signals ? NAP_NS : MOMENT_NS));
    return only_signals ? MR_WAIT_PATIENCE / NAPS : 1;
}

/* Ready are those of the recording. What threads of the program are to do for that they do first. A
 * schedule says itself what comes first: it orders the read, and perhaps not the wait before it. */
static void await_inside(mr_thread *thread, struct pollfd *fds, size_t count)
{
    for (int used = 0; used < MR_WAIT_PATIENCE && !mr_steers();) {
        bool all = true;
        for (size_t k = 0; k < count; k++) {
            struct pollfd one = {.fd = fds[k].fd, .events = fds[k].revents};
            all = all && (fds[k].revents == 0 || !mr_descriptor_is_inside(fds[k].fd) ||
                          mr_poll_now(&one, 1) != 0);
        }
        if (all) {
            return;
        }
        used += mr_wait_let_others(thread);
    }
}

mr_input mr_wait_find(mr_thread *thread, uint64_t argument)
{
    while (mr_input_signal_send(thread)) {
        mr_leave(thread);
        mr_enter();
    }
    return mr_input_find(thread, MR_INPUT_WAIT, argument);
}

static int feed_events(mr_thread *thread, mr_input *input, struct pollfd *fds, size_t count)
{
    int result = (int)mr_input_result(input), saved_errno = errno;
    for (size_t i = 0; result >= 0 && i < count; i++) {
        mr_input_take(input, &fds[i].revents, sizeof fds[i].revents);
    }
    if (result > 0) {
        await_inside(thread, fds, count);
    } else {
        mr_yield_to_others(thread);
    }
    mr_leave(thread);
    errno = saved_errno;
    return result;
}

enum { POLLED_MAX = 1024 };

static void log_poll(const mr_input *fed, int result, const struct pollfd *fds, nfds_t count)
{
    mr_input_part parts[POLLED_MAX];
    for (nfds_t i = 0; i < count && i < POLLED_MAX; i++) {
        parts[i] = (mr_input_part){&fds[i].revents, sizeof fds[i].revents};
    }
    mr_wait_log(fed, count, result, parts, count < POLLED_MAX ? count : POLLED_MAX);
}

static void log_questions(const struct pollfd *fds, nfds_t count, uintptr_t code)
{
    for (nfds_t i = 0; i < count; i++) {
        mr_wait_log_read(&fds[i], offsetof(struct pollfd, revents), code);
    }
}

static void log_events(int result, const struct pollfd *fds, nfds_t count, uintptr_t code)
{
    mr_thread *thread = result >= 0 ? mr_enter() : NULL;
    if (thread == NULL) {
        return;
    }
    for (nfds_t i = 0; mr_is_instrumented(code) && !mr_ignores_writes(mr_self) && i < count; i++) {
        mr_write_access(MR_LOG_WRITE, 1, &fds[i].revents, fds[i].revents, code);
    }
    for (nfds_t i = 0; i < count; i++) {
        if ((fds[i].revents & (POLLIN | POLLHUP | POLLRDHUP | POLLERR)) != 0) {
            mr_channel_log_ready(fds[i].fd, false, code);
        }
    }
    for (nfds_t i = 0; i < count; i++) {
        if (mr_descriptor_is_peer(fds[i].fd)) {
            continue;
        }
        if ((fds[i].events & POLLIN) != 0 && fds[i].revents == 0) {
            mr_channel_log_unready(fds[i].fd, code);
        }
        if ((fds[i].events & POLLOUT) != 0 && fds[i].revents == 0) {
            mr_channel_log_full(fds[i].fd, code);
        }
    }
    mr_leave(thread);
}

static bool is_valid(const struct timespec *timeout)
{
    return timeout == NULL || mr_is_time(timeout);
}

static bool is_zero(const struct timespec *timeout)
{
    return timeout != NULL && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
}

/* Others come before a wait without a limit; a schedule says itself who comes first. */
static bool lets_others_first(bool has_limit)
{
    return !has_limit && !mr_steers();
}

/* With a mask the kernel is to look for signals, too. */
static int poll_really(mr_thread *thread, struct pollfd *fds, nfds_t count,
                       const struct timespec *timeout, const sigset_t *mask)
{
    int result = 0;
    if (mask == NULL && is_valid(timeout)) {
        result = mr_wait_result(mr_poll_now(fds, count));
        bool is_over = mr_wait_is_settled(thread, result, is_zero(timeout));
        if (!is_over && mr_awaits_these(fds, count)) {
            MR_AWAIT(thread, fds, count, limit_in(timeout), result,
                     mr_wait_result(mr_poll_now(fds, count)));
            is_over = true;
        }
        if (is_over) {
            mr_leave(thread);
            return result;
        }
    }
    bool ready = (lets_others_first(timeout != NULL) ? mr_poll_after_others(thread, fds, count)
                                                     : mr_poll_now(fds, count)) != 0;
    MR_WAIT(thread, mr_wait_is_far(timeout), ready,
            result = MR_REAL(ppoll)(fds, count, timeout, mask));
    return result;
}

MR_EXPORT int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    mr_thread *thread = mr_wait_begin();
    if (thread == NULL) {
        return MR_REAL(poll)(fds, count, milliseconds);
    }
    struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    log_questions(fds, count, MR_CALLER);
    mr_input input = mr_wait_find(thread, count);
    int result = input.head != NULL
                     ? feed_events(thread, &input, fds, count)
                     : poll_really(thread, fds, count, milliseconds < 0 ? NULL : &timeout, NULL);
    log_poll(&input, result, fds, count);
    log_events(result, fds, count, MR_CALLER);
    return result;
}

MR_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                    const sigset_t *mask)
{
    mr_thread *thread = mr_wait_begin();
    if (thread == NULL) {
        return MR_REAL(ppoll)(fds, count, timeout, mask);
    }
    log_questions(fds, count, MR_CALLER);
    mr_wait_log_read(timeout, sizeof *timeout, MR_CALLER);
    mr_wait_log_read(mask, KERNEL_SET, MR_CALLER);
    mr_input input = mr_wait_find(thread, count);
    int result = input.head != NULL ? feed_events(thread, &input, fds, count)
                                    : poll_really(thread, fds, count, timeout, mask);
    log_poll(&input, result, fds, count);
    log_events(result, fds, count, MR_CALLER);
    return result;
}

/* What each set asks for. */
static const short set_events[] = {POLLIN, POLLOUT, POLLPRI};

typedef struct descriptor_sets {
    fd_set *of[3];
    fd_set before[3];
} descriptor_sets;

/* The kernel looks at whole words of a set, as far as they have descriptors below `count`. */
static size_t set_bytes(int count)
{
    const int BITS = 8 * (int)sizeof(long);
    return count <= 0 ? 0 : (size_t)((count + BITS - 1) / BITS) * sizeof(long);
}

static void log_asked(const descriptor_sets *sets, int count, uintptr_t code)
{
    for (int i = 0; i < 3; i++) {
        mr_wait_log_read(sets->of[i], set_bytes(count), code);
    }
}

static void log_ready(const fd_set *reads, const fd_set *asked, int count, uintptr_t code)
{
    mr_thread *thread = reads != NULL ? mr_enter() : NULL;
    if (thread == NULL) {
        return;
    }
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        if (FD_ISSET(fd, reads)) {
            mr_channel_log_ready(fd, false, code);
        }
    }
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        if (FD_ISSET(fd, asked) && !FD_ISSET(fd, reads) && !mr_descriptor_is_peer(fd)) {
            mr_channel_log_unready(fd, code);
        }
    }
    mr_leave(thread);
}

/* Nothing was ready. */
static void log_full(const fd_set *asked, int count, uintptr_t code)
{
    mr_thread *thread = mr_enter();
    for (int fd = 0; thread != NULL && fd < count && fd < FD_SETSIZE; fd++) {
        if (FD_ISSET(fd, asked)) {
            mr_channel_log_full(fd, code);
        }
    }
    if (thread != NULL) {
        mr_leave(thread);
    }
}

static void log_sets(const descriptor_sets *sets, int count, int result, uintptr_t code)
{
    log_ready(result >= 0 ? sets->of[0] : NULL, &sets->before[0], count, code);
    if (result == 0 && sets->of[1] != NULL) {
        log_full(&sets->before[1], count, code);
    }
    for (int i = 0; i < 3 && result >= 0; i++) {
        mr_wait_end_if(true, sets->of[i], set_bytes(count), code);
    }
}

static void log_selected(const mr_input *fed, const descriptor_sets *sets, int count, int result)
{
    mr_input_part parts[3];
    size_t used = 0;
    for (int i = 0; i < 3; i++) {
        if (sets->of[i] != NULL) {
            parts[used++] = (mr_input_part){sets->of[i], set_bytes(count)};
        }
    }
    mr_wait_log(fed, (uint64_t)count, result, parts, used);
}

/* The caller stays inside the runtime. */
static int feed_sets(mr_thread *thread, mr_input *input, const descriptor_sets *sets, int count)
{
    struct pollfd ready[POLLED_MAX];
    size_t used = 0;
    int result = (int)mr_input_result(input), saved_errno = errno;
    for (int i = 0; i < 3 && result >= 0; i++) {
        if (sets->of[i] != NULL) {
            mr_input_take(input, sets->of[i], set_bytes(count));
        }
        for (int fd = 0; sets->of[i] != NULL && fd < count && fd < FD_SETSIZE; fd++) {
            if (FD_ISSET(fd, sets->of[i]) && used < POLLED_MAX) {
                ready[used++] = (struct pollfd){.fd = fd, .revents = set_events[i]};
            }
        }
    }
    await_inside(thread, ready, used);
    errno = saved_errno;
    return result;
}

/* A call overwrites what it was asked. */
static void keep_asked(descriptor_sets *sets)
{
    for (int i = 0; i < 3; i++) {
        if (sets->of[i] != NULL) {
            sets->before[i] = *sets->of[i];
        }
    }
}

static void ask_again(const descriptor_sets *sets)
{
    for (int i = 0; i < 3; i++) {
        if (sets->of[i] != NULL) {
            *sets->of[i] = sets->before[i];
        }
    }
}

/* Looks at the descriptors of the sets without waiting; `sets` says which are ready. */
static int select_now(const descriptor_sets *sets, int count)
{
    const struct timespec none = {0, 0};
    ask_again(sets);
    return mr_wait_result(mr_sys(SYS_pselect6, count, (long)sets->of[0], (long)sets->of[1],
                                 (long)sets->of[2], (long)&none, 0));
}

/* The same as a question of poll. Returns the number of descriptors. */
static size_t as_polled(const descriptor_sets *sets, int count, struct pollfd fds[FD_SETSIZE])
{
    size_t used = 0;
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        short events = 0;
        for (int i = 0; i < 3; i++) {
            events |= sets->of[i] != NULL && FD_ISSET(fd, &sets->before[i]) ? set_events[i] : 0;
        }
        if (events != 0) {
            fds[used++] = (struct pollfd){.fd = fd, .events = events};
        }
    }
    return used;
}

/* Poll always tells that the other end is closed, and select may not. Then a moment passes, so that the
 * wait comes to its limit. */
static int await_sets(mr_thread *thread, const descriptor_sets *sets, int count, int64_t limit)
{
    struct pollfd fds[FD_SETSIZE];
    size_t used = as_polled(sets, count, fds);
    int result = select_now(sets, count);
    while (result == 0 && mr_virtual_now() < limit) {
        mr_wake_reason why = mr_await(thread, fds, used, limit);
        result = why == MR_WOKEN ? select_now(sets, count) : 0;
        if (result == 0 && why == MR_WOKEN) {
            why = mr_await(thread, NULL, 0, mr_limit_after(MOMENT_NS));
        }
        if (why == MR_INTERRUPTED) {
            result = mr_wait_result(-EINTR);
        }
    }
    mr_leave(thread);
    return result;
}

/* … of `select`, which says what is left of the time. */
static int await_select(mr_thread *thread, const descriptor_sets *sets, int count,
                        struct timeval *timeout)
{
    if (timeout == NULL) {
        return await_sets(thread, sets, count, MR_NEVER);
    }
    int64_t limit =
        mr_limit_after((int64_t)timeout->tv_sec * 1000000000 + (int64_t)timeout->tv_usec * 1000);
    int result = await_sets(thread, sets, count, limit);
    int64_t left = limit - mr_virtual_now();
    left = left > 0 ? left / 1000 : 0;
    *timeout = (struct timeval){left / 1000000, left % 1000000};
    return result;
}

static bool awaits_sets(const descriptor_sets *sets, int count)
{
    struct pollfd fds[FD_SETSIZE];
    return mr_awaits_these(fds, as_polled(sets, count, fds));
}

/* What is ready when the others have run. */
static int select_after_others(mr_thread *thread, const descriptor_sets *sets, int count)
{
    struct pollfd fds[FD_SETSIZE];
    mr_poll_after_others(thread, fds, as_polled(sets, count, fds));
    return select_now(sets, count);
}

static int select_really(mr_thread *thread, const descriptor_sets *sets, int count,
                         struct timeval *timeout)
{
    int result = select_now(sets, count);
    bool is_over = mr_wait_is_settled(
        thread, result, timeout != NULL && timeout->tv_sec == 0 && timeout->tv_usec == 0);
    if (!is_over && awaits_sets(sets, count)) {
        return await_select(thread, sets, count, timeout);
    }
    if (!is_over && lets_others_first(timeout != NULL)) {
        result = select_after_others(thread, sets, count);
        is_over = result != 0;
    }
    if (is_over) {
        mr_leave(thread);
        return result;
    }
    ask_again(sets);
    MR_WAIT(thread,
            timeout == NULL || mr_wait_is_far(&(struct timespec){.tv_sec = timeout->tv_sec}), false,
            result = MR_REAL(select)(count, sets->of[0], sets->of[1], sets->of[2], timeout));
    return result;
}

MR_EXPORT int select(int count, fd_set *restrict reads, fd_set *restrict writes,
                     fd_set *restrict others, struct timeval *restrict timeout)
{
    descriptor_sets sets = {.of = {reads, writes, others}};
    mr_thread *thread = mr_wait_begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(select)(count, reads, writes, others, timeout);
    }
    log_asked(&sets, count, MR_CALLER);
    mr_wait_log_read(timeout, timeout != NULL ? sizeof *timeout : 0, MR_CALLER);
    keep_asked(&sets);
    mr_input input = mr_wait_find(thread, (uint64_t)count);
    if (input.head != NULL) {
        result = feed_sets(thread, &input, &sets, count);
        mr_leave(thread);
    } else {
        result = select_really(thread, &sets, count, timeout);
        mr_wait_end_if(timeout != NULL, timeout, sizeof(struct timeval),
                       MR_CALLER); /* what is left */
    }
    log_selected(&input, &sets, count, result);
    log_sets(&sets, count, result, MR_CALLER);
    return result;
}

static int pselect_really(mr_thread *thread, const descriptor_sets *sets, int count,
                          const struct timespec *timeout, const sigset_t *mask)
{
    int result = 0;
    if (mask == NULL && is_valid(timeout) && !is_zero(timeout) && awaits_sets(sets, count)) {
        return await_sets(thread, sets, count, limit_in(timeout));
    }
    if (lets_others_first(timeout != NULL)) {
        result = select_after_others(thread, sets, count);
    }
    if (result != 0) {
        mr_leave(thread);
        return result;
    }
    ask_again(sets);
    MR_WAIT(thread, mr_wait_is_far(timeout), false,
            result = MR_REAL(pselect)(count, sets->of[0], sets->of[1], sets->of[2], timeout, mask));
    return result;
}

MR_EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
                      fd_set *restrict others, const struct timespec *restrict timeout,
                      const sigset_t *restrict mask)
{
    descriptor_sets sets = {.of = {reads, writes, others}};
    mr_thread *thread = mr_wait_begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(pselect)(count, reads, writes, others, timeout, mask);
    }
    log_asked(&sets, count, MR_CALLER);
    mr_wait_log_read(timeout, sizeof *timeout, MR_CALLER);
    mr_wait_log_read(mask, KERNEL_SET, MR_CALLER);
    keep_asked(&sets);
    mr_input input = mr_wait_find(thread, (uint64_t)count);
    if (input.head != NULL) {
        result = feed_sets(thread, &input, &sets, count);
        mr_leave(thread);
    } else {
        result = pselect_really(thread, &sets, count, timeout, mask);
    }
    log_selected(&input, &sets, count, result);
    log_sets(&sets, count, result, MR_CALLER);
    return result;
}

/* Also by syscall(). */
MR_DIRECT(poll)
MR_DIRECT(ppoll)
MR_DIRECT(select)
