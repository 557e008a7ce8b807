#include "watchdog.h"

#include "awaiting.h"
#include "input_signals.h"
#include "inputs.h"
#include "real.h"
#include "scheduler.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "timers.h"
#include "writer.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>

enum {
    TICK_NS = 5000000,
    ASLEEP_TICKS = 2,         /* so often it must be seen asleep, without an event in between */
    SPIN_NS = 100000000,      /* time on the processor without an event */
    SIGNAL_NS = 10000000,     /* … while a signal waits to be handled */
    SPINS_OF_REPLAY = 20,     /* … of a replay, where the place of that is another in each run */
    SETTLE_NS = 1000000,      /* an event that was under way is over after so long */
    SETTLE_MAX_NS = 50000000, /* … or the processor is not ours: try again later */
    COMPLAIN_TICKS = 400,
    SOON_TICKS = 10, /* … where nobody but the program itself can help */
    STILL_TICKS = 2000,
};

/* What the watchdog saw last. */
typedef struct view {
    mr_thread *owner;
    uint32_t *cursor;
    uint32_t asleep;  /* ticks */
    int64_t cpu_ns;   /* of the owner at its last event that was seen */
    uint32_t stalled; /* ticks in which nobody ran or could */
    uint32_t idle;    /* ticks in which nobody had the baton, or was about to have it */
    uint32_t starved; /* ticks in which nothing inside the program can let a thread go on */
    uint32_t *last;   /* the cursor a tick ago … */
    uint32_t still;   /* … and for how many ticks it is the same */
} view;

/* 'S' asleep in the kernel, 'R', 'D', …; '?' unknown. */
static char kernel_state(int id)
{
    char text[512];
    long bytes = mr_read_task(id, "/stat", text, sizeof text);
    /* The state follows the name, which ends with the last closing bracket. */
    while (bytes > 2 && text[bytes - 1] != ')') {
        bytes--;
    }
    return bytes > 2 ? text[bytes + 1] : '?';
}

/* The time that a thread has spent on a processor. */
static int64_t cpu_time(int id)
{
    const int PER_THREAD = 4, SCHED = 2;
    return mr_clock_ns((int)(~(unsigned)id << 3 | PER_THREAD | SCHED));
}

static bool somebody_waits(const mr_thread *owner)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t != owner &&
            (t->state == MR_RUNNABLE || (t->state == MR_BLOCKED && t->deadline != MR_NEVER))) {
            return true;
        }
    }
    return false;
}

static void pause_ns(int64_t nanoseconds)
{
    uint32_t never = 0;
    mr_futex_wait(&never, 0, nanoseconds);
}

/* After `attention` was set: is the thread certainly not in an event? */
static bool out_of_events(const view *seen, bool asleep)
{
    mr_thread *owner = seen->owner;
    if (asleep) {
        return kernel_state(owner->kernel_id) == 'S' && mr_hot->live.cursor == seen->cursor &&
               owner->busy == 0;
    }
    int64_t start = cpu_time(owner->kernel_id);
    for (int64_t waited = 0; waited < SETTLE_MAX_NS; waited += SETTLE_NS) {
        pause_ns(SETTLE_NS);
        if (cpu_time(owner->kernel_id) - start >= SETTLE_NS) {
            return mr_hot->live.cursor == seen->cursor && owner->busy == 0;
        }
    }
    return false;
}

/* From here on the thread looks around at its next event. */
static void call_back(mr_thread *owner)
{
    __atomic_or_fetch(&owner->attention, MR_ATTENTION_LOST, __ATOMIC_SEQ_CST);
    mr_sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
}

/* A signal waits for an event of its thread, which makes none: it is handled where the thread is. */
static void have_handled_by(mr_thread *thread)
{
    uint64_t signals = thread->signals;
    if (signals != 0) {
        mr_thread_poke(thread, __builtin_ctzll(signals) + 1);
    }
}

static void have_handled(const view *seen)
{
    call_back(seen->owner);
    if (out_of_events(seen, false)) {
        have_handled_by(seen->owner);
    }
}

/* With the lock held. */
static void take_baton(const view *seen, bool asleep)
{
    mr_thread *owner = seen->owner;
    call_back(owner);
    if (!out_of_events(seen, asleep)) {
        return; /* the bit stays; its owner finds that it has lost nothing */
    }
    mr_writer_settle();
    owner->state = MR_OUTSIDE;
    mr_rt.owner = NULL;
    mr_rt.header->taken++;
    mr_dispatch();
}

static void look_at_owner(view *seen)
{
    mr_thread *owner = mr_rt.owner;
    if (owner != seen->owner || mr_hot->live.cursor != seen->cursor || owner->busy != 0) {
        seen->owner = owner;
        seen->cursor = mr_hot->live.cursor;
        seen->asleep = 0;
        seen->cpu_ns = cpu_time(owner->kernel_id);
        return;
    }
    if (mr_signals_ready(owner) && cpu_time(owner->kernel_id) - seen->cpu_ns > SIGNAL_NS) {
        have_handled(seen);
        seen->owner = NULL;
        return;
    }
    if (!somebody_waits(owner)) {
        return;
    }
    seen->asleep = kernel_state(owner->kernel_id) == 'S' ? seen->asleep + 1 : 0;
    bool asleep = seen->asleep >= ASLEEP_TICKS;
    int64_t spin = mr_inputs_are_fed() ? (int64_t)SPINS_OF_REPLAY * SPIN_NS : SPIN_NS;
    if (asleep || cpu_time(owner->kernel_id) - seen->cpu_ns > spin) {
        take_baton(seen, asleep);
        seen->owner = NULL;
    }
}

/* Nobody can run, and no timer of the program will change that. With the lock held. */
static void meet_deadlock(void)
{
    if (mr_rt.waits_in_deadlock || !mr_rt.logging || mr_timers_exist()) {
        mr_complain(
            "all threads of the program wait for each other (a deadlock, or they wait for a "
            "signal)",
            NULL);
        return;
    }
    mr_complain("all threads of the program wait for each other: it is ended here", NULL);
    mr_writer_close(MR_LOG_DEADLOCK, 0);
    mr_sys(SYS_exit_group, MR_LOG_DEADLOCK_STATUS, 0, 0, 0, 0, 0);
}

/* Does a thread in a call really wait? One that only lacks a processor comes back by itself. */
static bool all_calls_sleep(void)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_OUTSIDE && kernel_state(t->kernel_id) != 'S') {
            return false;
        }
    }
    return true;
}

/* Do all threads wait without a limit, so that only another process could let them go on? */
static bool all_wait_for_outside(void)
{
    bool any = false;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        bool is_blocked = t->state == MR_BLOCKED && t->deadline == MR_NEVER && !t->polls;
        bool waits = t->waits_for_outside && (t->state == MR_OUTSIDE || t->state == MR_BLOCKED);
        if (!waits && !is_blocked && t->state != MR_DONE) {
            return false;
        }
        any = any || waits;
    }
    return any && !mr_timers_exist();
}

/* A replay whose threads ask for more than the recording has. Nobody has the baton. What other
 * threads do to a descriptor, they do at once; so where all wait without a limit, a few looks are
 * enough, however busy the processors are. */
static void look_for_inputs(view *seen)
{
    if (!mr_inputs_are_fed()) {
        seen->idle++;
        return;
    }
    if (!all_calls_sleep()) {
        seen->idle = seen->starved = 0;
        return;
    }
    seen->idle++;
    seen->starved = seen->still > 0 && all_wait_for_outside() ? seen->starved + 1 : 0;
    if ((seen->starved >= SOON_TICKS || seen->idle >= COMPLAIN_TICKS) && mr_inputs_ran_out()) {
        mr_awaited_in_vain();
    }
}

/* Nobody has the baton: limits count in real time, and what other processes may do is tried again.
 */
static void look_at_waiters(view *seen)
{
    int64_t now = mr_clock_ns(CLOCK_MONOTONIC);
    uint32_t hopeful = 0;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        hopeful += t->state == MR_OUTSIDE || t->state == MR_RUNNABLE;
        if (t->state != MR_BLOCKED) {
            continue;
        }
        hopeful += t->real_deadline != MR_NEVER || t->polls || t->awaits;
        if (t->real_deadline <= now || t->polls) {
            t->reason = t->real_deadline <= now ? MR_TIMED_OUT : MR_WOKEN;
            t->state = MR_RUNNABLE;
        }
    }
    mr_dispatch();
    if (mr_rt.owner == NULL && !mr_rt.steers) {
        look_for_inputs(seen);
        if (seen->idle >= ASLEEP_TICKS && mr_input_signals_due(MR_NEVER)) {
            seen->starved = 0;
        }
    }
    seen->stalled = hopeful == 0 ? seen->stalled + 1 : 0;
    /* A replay is given the signals of other processes, so nobody else can help it. */
    bool is_alone = mr_rt.ends_deadlock_soon || mr_inputs_are_fed();
    uint32_t patience = is_alone ? SOON_TICKS : COMPLAIN_TICKS;
    if (seen->stalled == patience && mr_rt.alive > 0 && !mr_rt.complained) {
        mr_rt.complained = true;
        meet_deadlock();
    }
}

/* The kernel goes on with the wait of a blocked thread when the handler has SA_RESTART, so the
 * thread does not see its signal. With the lock held. */
static void wake_signalled(void)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && mr_signals_ready(t)) {
            t->reason = MR_INTERRUPTED;
            t->state = MR_RUNNABLE;
        } else if (mr_thread_is_lost(t) && mr_signals_ready(t) && !t->poked) {
            have_handled_by(t);
        }
    }
}

/* A replay: does anybody do anything? */
static void look_at_replay(const view *seen)
{
    if (seen->still == STILL_TICKS) {
        mr_steer_stuck(mr_rt.owner != NULL ? "does no operation for 10 s"
                                           : "is in a call that does not come back for 10 s");
    }
}

static void *watch(void *unused)
{
    view seen = {0};
    (void)unused;
    while (mr_rt.active && mr_rt.alive > 0) { /* the last thread ends the process */
        pause_ns(TICK_NS);
        mr_state_lock();
        wake_signalled();
        seen.still = seen.last != mr_hot->live.cursor ? 0 : seen.still + 1;
        seen.last = mr_hot->live.cursor;
        if (mr_rt.owner != NULL) {
            seen.idle = seen.starved = 0;
            look_at_owner(&seen);
        } else {
            look_at_waiters(&seen);
        }
        if (mr_steers()) {
            look_at_replay(&seen);
        }
        mr_state_unlock();
    }
    return NULL;
}

void mr_watchdog_start(void)
{
    sigset_t all, old;
    pthread_t handle;
    if (mr_rt.watchdog) {
        return;
    }
    mr_rt.watchdog = true;
    mr_sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
    sigfillset(&all);
    MR_REAL(pthread_sigmask)(SIG_SETMASK, &all, &old);
    if (MR_REAL(pthread_create)(&handle, NULL, watch, NULL) == 0) {
        MR_REAL(pthread_detach)(handle);
    }
    MR_REAL(pthread_sigmask)(SIG_SETMASK, &old, NULL);
}
