#include "awaiting.h"

#include "channels.h"
#include "input_descriptors.h"
#include "inputs.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "writer.h"

#include <poll.h>
#include <sys/syscall.h>

enum {
    PATIENCE_NS = 2000000000, /* of virtual time */
    SKIPS = 16,               /* and so many waits for time at least */
};

bool mr_needs_attention(const mr_thread *thread)
{
    return (thread->attention & ~(uint32_t)MR_ATTENTION_IGNORE) != 0;
}

long mr_poll_after_others(mr_thread *thread, struct pollfd *fds, size_t count)
{
    enum { TURNS = 200 };
    long result = mr_poll_now(fds, count);
    for (int i = 0;
         i < TURNS && result == 0 && !mr_needs_attention(thread) && mr_others_can_run(thread);
         i++) {
        mr_yield_to_others(thread);
        result = mr_poll_now(fds, count);
    }
    return result;
}

bool mr_awaits(void)
{
    return mr_inputs_are_fed() && !mr_inputs_come_from_children();
}

static bool has_room(void)
{
    enum { FEW = 8 };
    unsigned waiting = 0;
    for (const mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        waiting += t->state == MR_BLOCKED && t->awaits;
    }
    return waiting < FEW;
}

/* A set of descriptors may have some that are outside. */
static bool is_of_threads(int fd)
{
    unsigned at = 0;
    int member;
    mr_epoll_wanted wanted;
    return fd < 0 || (mr_descriptor_is_inside(fd) && !mr_epoll_next(fd, &at, &member, &wanted));
}

bool mr_awaits_these(const struct pollfd *fds, size_t count)
{
    if (mr_inputs_are_fed() || mr_steers()) {
        return mr_awaits();
    }
    bool all = has_room() && (count == 0 || !mr_channels_are_inherited());
    for (size_t i = 0; all && i < count; i++) {
        all = is_of_threads(fds[i].fd);
    }
    return all;
}

bool mr_awaits_set(int set)
{
    if (mr_inputs_are_fed() || mr_steers()) {
        return mr_awaits();
    }
    unsigned at = 0;
    int member;
    mr_epoll_wanted wanted;
    bool any = false, all = has_room() && !mr_channels_are_inherited() && mr_epoll_are_all_kept();
    while (all && mr_epoll_next(set, &at, &member, &wanted)) {
        any = true;
        all = is_of_threads(member);
    }
    return any && all;
}

bool mr_awaits_child(const mr_thread *thread)
{
    return thread->state == MR_BLOCKED && thread->awaits && thread->awaited_count > 0 &&
           mr_channels_are_inherited() && !mr_inputs_are_fed();
}

mr_wake_reason mr_await(mr_thread *thread, struct pollfd *fds, size_t count, int64_t limit)
{
    thread->awaits = true;
    thread->awaited = fds;
    thread->awaited_count = count;
    thread->waits_for_outside =
        limit == MR_NEVER || limit - mr_virtual_now() >= (int64_t)PATIENCE_NS;
    mr_wake_reason reason = mr_block(thread, NULL, limit, true);
    thread->awaits = false;
    thread->waits_for_outside = false;
    if (reason == MR_CANCELLED) {
        mr_thread_cancel_point(thread);
    }
    if (reason == MR_INTERRUPTED) {
        mr_attend(thread);
    }
    return reason;
}

void mr_awaited_look(void)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && t->awaits && mr_poll_now(t->awaited, t->awaited_count) != 0) {
            t->state = MR_RUNNABLE;
            t->reason = MR_WOKEN;
            mr_rt.starved_ns = 0;
        }
    }
}

void mr_awaited_in_vain(void)
{
    mr_complain("the program waits for inputs that the recording does not have: it is ended here",
                NULL);
    mr_writer_close(MR_LOG_STARVED, 0);
    mr_sys(SYS_exit_group, MR_LOG_STARVED_STATUS, 0, 0, 0, 0, 0);
}

void mr_awaited_skip(const mr_thread *thread)
{
    bool any = false;
    for (const mr_thread *t = mr_rt.threads; t != NULL && !any; t = t->next) {
        any = t->state == MR_BLOCKED && t->waits_for_outside;
    }
    if (!any || !mr_inputs_ran_out()) {
        return;
    }
    int64_t skip = thread->deadline - mr_virtual_now();
    mr_rt.starved_ns += skip < PATIENCE_NS / SKIPS ? skip : PATIENCE_NS / SKIPS;
    if (mr_rt.starved_ns >= PATIENCE_NS) {
        mr_awaited_in_vain();
    }
}
