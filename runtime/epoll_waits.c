/* Waiting for descriptors by an epoll set (waits_parts.h). */
#include "channels.h"
#include "clocks.h"
#include "input_descriptors.h"
#include "real.h"
#include "steer.h"
#include "sys.h"
#include "waits.h"
#include "waits_parts.h"
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* Behind all others: it defines MR_CALLER anew. */
#include "direct.h"

static void log_epoll(const mr_input *fed, int fd, const struct epoll_event *events, int result)
{
    mr_wait_log(fed, (uint64_t)fd, result,
                &(mr_input_part){events, result > 0 ? (size_t)result * sizeof *events : 0}, 1);
}

static bool is_found(const struct epoll_event *events, int result, uint64_t data)
{
    for (int i = 0; i < result; i++) {
        if (events[i].data.u64 == data) {
            return true;
        }
    }
    return false;
}

/* What the set was asked for and did not find. */
static void log_not_found(int set, const struct epoll_event *events, int result, uintptr_t code)
{
    mr_epoll_wanted wanted;
    int fd;
    for (unsigned at = 0; mr_epoll_next(set, &at, &fd, &wanted);) {
        if (mr_descriptor_is_peer(fd) || is_found(events, result, wanted.data)) {
            continue;
        }
        if ((wanted.events & EPOLLIN) != 0) {
            mr_channel_log_unready(fd, code);
        }
        if ((wanted.events & EPOLLOUT) != 0 && (wanted.events & EPOLLET) == 0) {
            mr_channel_log_full(fd, code);
        }
    }
}

static void log_event(int set, const struct epoll_event *event, uintptr_t code)
{
    mr_epoll_wanted wanted = {0, EPOLLET};
    int fd = mr_epoll_descriptor(set, event->data.u64);
    mr_channel_log_watch(MR_LOG_AFTER, set, event->data.u64, code);
    if ((event->events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP | EPOLLERR)) == 0) {
        return;
    }
    mr_epoll_kept(set, fd, &wanted);
    mr_channel_log_ready(fd, (wanted.events & EPOLLET) != 0, code);
}

static void log_found(int fd, const struct epoll_event *events, int result, uintptr_t code)
{
    mr_thread *thread = result >= 0 ? mr_enter() : NULL;
    if (thread != NULL) {
        for (int i = 0; i < result; i++) {
            log_event(fd, &events[i], code);
        }
        log_not_found(fd, events, result, code);
        mr_leave(thread);
    }
    mr_wait_end(events, result > 0 ? (size_t)result * sizeof *events : 0, code);
}

enum { SEEN_MAX = 64 };

/* Are those of the events there that threads of the program cause? The kernel says an event once
 * only, when it was asked so. */
static bool are_there(int fd, const struct epoll_event *events, int count, uint64_t *seen)
{
    struct epoll_event now[SEEN_MAX];
    long found = mr_sys(SYS_epoll_pwait, fd, (long)now, SEEN_MAX, 0, 0, 0);
    bool all = true;
    for (int i = 0; i < count && i < SEEN_MAX; i++) {
        for (long k = 0; k < found; k++) {
            bool same = now[k].data.u64 == events[i].data.u64;
            *seen |= same ? (uint64_t)1 << i : 0;
        }
        all = all && ((*seen >> i & 1) != 0 || !mr_epoll_is_inside(fd, events[i].data.u64));
    }
    return all;
}

static int feed_epoll(mr_thread *thread, mr_input *input, int fd, struct epoll_event *events,
                      int most)
{
    uint64_t seen = 0;
    int result = (int)mr_input_result(input), saved_errno = errno;
    if (result > 0) {
        mr_input_take(input, events, (size_t)most * sizeof *events);
    }
    for (int used = 0;
         used < MR_WAIT_PATIENCE && !mr_steers() && !are_there(fd, events, result, &seen);) {
        used += mr_wait_let_others(thread);
    }
    if (result == 0) {
        mr_yield_to_others(thread);
    }
    mr_leave(thread);
    errno = saved_errno;
    return result;
}

static int epoll_now(int fd, struct epoll_event *events, int most)
{
    return mr_wait_result(mr_sys(SYS_epoll_pwait, fd, (long)events, most, 0, 0, 0));
}

/* Looks at the set without waiting, and waits here, or lets the others run before a wait without a limit. False: it is to be a real
 * call, and the caller stays inside the runtime. With a mask the kernel is to look for signals, too. */
static bool is_found_here(mr_thread *thread, int fd, struct epoll_event *events, int most,
                          int timeout, const sigset_t *mask, int *result)
{
    struct pollfd whole = {.fd = fd, .events = POLLIN};
    bool is_over = false;
    *result = 0;
    if (mask == NULL) {
        *result = epoll_now(fd, events, most);
        is_over = mr_wait_is_settled(thread, *result, timeout == 0);
        if (!is_over && mr_awaits_set(fd)) {
            int64_t limit = timeout < 0 ? MR_NEVER : mr_limit_after((int64_t)timeout * 1000000);
            MR_AWAIT(thread, &whole, 1, limit, *result, epoll_now(fd, events, most));
            is_over = true;
        }
    }
    if (!is_over && timeout < 0 && !mr_steers()) {
        mr_poll_after_others(thread, &whole, 1);
        *result = epoll_now(fd, events, most);
        is_over = *result != 0;
    }
    if (is_over) {
        mr_leave(thread);
    }
    return is_over;
}

static int epoll_really(mr_thread *thread, int fd, struct epoll_event *events, int most,
                        int timeout, const sigset_t *mask)
{
    int result;
    if (!is_found_here(thread, fd, events, most, timeout, mask, &result)) {
        bool far = timeout < 0 || mr_wait_is_far(&(struct timespec){.tv_sec = timeout / 1000});
        MR_WAIT(thread, far, false, result = MR_REAL(epoll_pwait)(fd, events, most, timeout, mask));
    }
    return result;
}

MR_EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    mr_thread *thread = mr_wait_begin();
    if (thread == NULL) {
        return MR_REAL(epoll_wait)(fd, events, most, timeout);
    }
    mr_input input = mr_wait_find(thread, (uint64_t)fd);
    int result = input.head != NULL ? feed_epoll(thread, &input, fd, events, most)
                                    : epoll_really(thread, fd, events, most, timeout, NULL);
    log_epoll(&input, fd, events, result);
    log_found(fd, events, result, MR_CALLER);
    return result;
}

MR_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout,
                          const sigset_t *mask)
{
    mr_thread *thread = mr_wait_begin();
    if (thread == NULL) {
        return MR_REAL(epoll_pwait)(fd, events, most, timeout, mask);
    }
    mr_input input = mr_wait_find(thread, (uint64_t)fd);
    int result = input.head != NULL ? feed_epoll(thread, &input, fd, events, most)
                                    : epoll_really(thread, fd, events, most, timeout, mask);
    log_epoll(&input, fd, events, result);
    log_found(fd, events, result, MR_CALLER);
    return result;
}

static int milliseconds_of(const struct timespec *limit)
{
    int64_t seconds = limit != NULL && limit->tv_sec < 2000000 ? limit->tv_sec : 2000000;
    return limit == NULL ? -1 : (int)(seconds * 1000 + (limit->tv_nsec + 999999) / 1000000);
}

MR_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
                           const struct timespec *timeout, const sigset_t *mask)
{
    mr_thread *thread = mr_wait_begin();
    int result;
    if (thread == NULL) {
        return MR_REAL(epoll_pwait2)(fd, events, most, timeout, mask);
    }
    mr_wait_log_read(timeout, sizeof *timeout, MR_CALLER);
    mr_input input = mr_wait_find(thread, (uint64_t)fd);
    if (input.head != NULL) {
        result = feed_epoll(thread, &input, fd, events, most);
    } else if ((timeout != NULL && !mr_is_time(timeout)) ||
               !is_found_here(thread, fd, events, most, milliseconds_of(timeout), mask, &result)) {
        MR_WAIT(thread, mr_wait_is_far(timeout), false,
                result = MR_REAL(epoll_pwait2)(fd, events, most, timeout, mask));
    }
    log_epoll(&input, fd, events, result);
    log_found(fd, events, result, MR_CALLER);
    return result;
}

/* Also by syscall(). */
MR_DIRECT(epoll_wait)
MR_DIRECT(epoll_pwait)
