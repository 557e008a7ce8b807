#include "scheduler.h"

#include "awaiting.h"
#include "input_signals.h"
#include "shared_maps.h"
#include "signals.h"
#include "steer.h"
#include "sys.h"
#include "thread.h"
#include "timers.h"
#include "watchdog.h"
#include "writer.h"

#include <sys/syscall.h>
#include <time.h>

enum {
    NAP_MAX_NS = 20000000,
    SIGNAL_REPLAY_NS = 200000000, /* of a replay, which depends on where it came */
    SIGNAL_NS = 50000000,         /* the signal of a timer has come by then, or nobody handles it */
    EVENT_NS = 1000,
    PATIENCE = 20000, /* pct: events that a thread may run while others wait, … */
    HALVINGS = 4,     /* … half as many after each time, up to so often */
};

void mr_state_lock(void)
{
    mr_lock(&mr_rt.lock);
}

void mr_state_unlock(void)
{
    uint32_t *word = mr_rt.to_wake;
    mr_rt.to_wake = NULL;
    mr_unlock(&mr_rt.lock);
    if (word != NULL) {
        mr_futex_wake(word, 1);
    }
}

static uint64_t random_next(void)
{
    /* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
    uint64_t z = mr_rt.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t mr_random_below(uint64_t bound)
{
    return (uint64_t)((unsigned __int128)random_next() * bound >> 64);
}

int64_t mr_random_priority(void)
{
    return (int64_t)(random_next() >> 2);
}

uint64_t mr_events_now(void)
{
    return mr_rt.events + (uint64_t)(mr_rt.budget_given - mr_hot->budget);
}

int64_t mr_virtual_now(void)
{
    return (int64_t)mr_events_now() * EVENT_NS + mr_rt.skipped_ns;
}

int64_t mr_elapsed_now(void)
{
    return mr_virtual_now() + mr_rt.waited_ns;
}

int64_t mr_limit_after(int64_t nanoseconds)
{
    int64_t now = mr_virtual_now();
    return nanoseconds > MR_NEVER - now - 1 ? MR_NEVER - 1
                                            : now + (nanoseconds < 0 ? 0 : nanoseconds);
}

/* Until the limit. What happens before there is another thread races with nothing: it does not use up what is left for the threads. */
static uint64_t events_left(void)
{
    uint64_t counted = mr_rt.thread_count <= 1 ? 0 : mr_rt.events - mr_rt.events_alone;
    return mr_rt.max_events > counted ? mr_rt.max_events - counted : 0;
}

void mr_events_counted(void)
{
    mr_rt.events_alone = mr_events_now();
    if (mr_rt.max_events != 0 && mr_hot->budget > 0 &&
        (uint64_t)mr_hot->budget > mr_rt.max_events) {
        mr_budget_set((int64_t)mr_rt.max_events);
    }
}

void mr_budget_renew(void)
{
    mr_rt.events = mr_events_now();
    if (!mr_rt.steers) {
        mr_input_signals_due(mr_virtual_now());
    }
    uint64_t mean = mr_rt.switch_events;
    if (mean == 0) {
        mean = mr_rt.events / 32;
        mean = mean < 16 ? 16 : mean > 2048 ? 2048 : mean;
    }
    uint64_t budget = 1 + mr_random_below(2 * mean);
    if (mr_rt.max_events != 0) {
        uint64_t left = events_left();
        if (left == 0) {
            mr_writer_close(MR_LOG_LIMIT, 0);
        } else if (budget > left) {
            budget = left;
        }
    }
    mr_rt.budget_given = (int64_t)budget;
    mr_hot->budget = (int64_t)budget;
}

void mr_budget_set(int64_t budget)
{
    mr_rt.events = mr_events_now();
    mr_rt.budget_given = budget;
    mr_hot->budget = budget;
}

/* Those whose time is over can go on, and those that a replay has left asleep. Returns the number of threads that others
 * than threads of the program may let go on. */
static uint32_t look_at_times(void)
{
    uint32_t outside = 0;
    int64_t now = mr_virtual_now();
    mr_awaited_look();
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        outside += t->state == MR_OUTSIDE || mr_awaits_child(t);
        if (t->state == MR_BLOCKED && t->deadline <= now) {
            t->state = MR_RUNNABLE;
            t->reason = MR_TIMED_OUT;
        } else if (t->state == MR_BLOCKED && t->missed_signal && !mr_steers()) {
            t->state = MR_RUNNABLE;
            t->reason = MR_INTERRUPTED;
        }
    }
    return outside;
}

/* A thread for which a signal came while it waited. */
static mr_thread *interrupted(void)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && mr_signals_ready(t)) {
            t->state = MR_RUNNABLE;
            t->reason = MR_INTERRUPTED;
            return t;
        }
    }
    return NULL;
}

bool mr_signal_is_due(void)
{
    return mr_rt.signal_until != 0 && mr_clock_ns(CLOCK_MONOTONIC) < mr_rt.signal_until;
}

mr_thread *mr_skip_to(mr_thread *thread)
{
    if (mr_signal_is_due()) {
        return NULL;
    }
    int64_t skip = thread->deadline - mr_virtual_now();
    int64_t passed = mr_timers_advance(skip > 0 ? skip : 0);
    mr_rt.skipped_ns += passed;
    if (passed < skip) {
        int64_t wait = mr_steers() ? SIGNAL_REPLAY_NS : SIGNAL_NS;
        mr_rt.signal_until = mr_clock_ns(CLOCK_MONOTONIC) + wait;
        return NULL;
    }
    thread->nap_ns = thread->is_inner ? 0 : skip < NAP_MAX_NS ? skip : NAP_MAX_NS;
    thread->state = MR_RUNNABLE;
    thread->reason = MR_TIMED_OUT;
    return thread;
}

/* Nobody can run and nobody is outside: time goes on to the earliest limit, or until a timer sends
 * a signal. */
static mr_thread *skip_time(void)
{
    mr_thread *earliest = interrupted();
    if (earliest != NULL || mr_signal_is_due()) {
        return earliest;
    }
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && t->deadline != MR_NEVER &&
            (earliest == NULL || t->deadline < earliest->deadline)) {
            earliest = t;
        }
    }
    int64_t signal = mr_rt.steers ? MR_NEVER : mr_input_signals_next();
    if (signal != MR_NEVER && (earliest == NULL || signal <= earliest->deadline)) {
        int64_t skip = signal - mr_virtual_now();
        mr_rt.skipped_ns += skip > 0 ? skip : 0;
        mr_input_signals_due(signal);
        mr_rt.signal_until = mr_clock_ns(CLOCK_MONOTONIC) + SIGNAL_NS;
        return NULL;
    }
    if (earliest == NULL) {
        return NULL;
    }
    mr_awaited_skip(earliest);
    return mr_skip_to(earliest);
}

static mr_thread *highest_priority(void)
{
    mr_thread *best = NULL;
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_RUNNABLE && (best == NULL || t->priority > best->priority)) {
            best = t;
        }
    }
    return best;
}

/* Who runs next, of those who can; NULL: nobody can. */
static mr_thread *choose(void)
{
    if (mr_steers()) {
        mr_thread *next = mr_steer_choose();
        if (next != NULL || mr_rt.steers) {
            return next;
        }
    }
    uint32_t count = 0;
    uint32_t outside = look_at_times();
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        count += t->state == MR_RUNNABLE;
    }
    if (count == 0) {
        return outside == 0 ? skip_time() : NULL;
    }
    if (mr_rt.schedule == MR_LOG_SCHEDULE_PCT) {
        return highest_priority();
    }
    uint64_t chosen = count == 1 ? 0 : mr_random_below(count);
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_RUNNABLE && chosen-- == 0) {
            return t;
        }
    }
    return NULL;
}

/* Somebody has the baton, perhaps again. */
static void end_idle(void)
{
    if (mr_rt.idle_since != 0) {
        mr_rt.waited_ns += mr_clock_ns(CLOCK_MONOTONIC) - mr_rt.idle_since;
        mr_rt.idle_since = 0;
    }
}

static void give(mr_thread *next)
{
    end_idle();
    mr_rt.owner = next;
    next->state = MR_RUNNING;
    if (mr_rt.last_owner != next) {
        mr_rt.last_owner = next;
        next->since_events = mr_events_now();
    }
    __atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
    mr_rt.to_wake = next != mr_self ? &next->go : NULL;
}

/* Schedule os: all who can run may try. */
static void give_to_first(void)
{
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_RUNNABLE) {
            __atomic_store_n(&t->go, 2, __ATOMIC_RELEASE);
            mr_futex_wake(&t->go, 1);
        }
    }
}

void mr_dispatch(void)
{
    mr_thread *next = choose();
    if (next == NULL) {
        mr_rt.idle_since = mr_rt.idle_since != 0 ? mr_rt.idle_since : mr_clock_ns(CLOCK_MONOTONIC);
        return;
    }
    if (mr_rt.schedule == MR_LOG_SCHEDULE_OS) {
        end_idle();
        give_to_first();
    } else {
        give(next);
    }
}

/* Did it get the baton? With `go` 2 it has to try; with 3 it only had to wake up. */
static bool try_turn(mr_thread *thread)
{
    uint32_t go = 3;
    __atomic_compare_exchange_n(&thread->go, &go, 0, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    if (go != 2) {
        return go == 1;
    }
    mr_state_lock();
    if (mr_rt.owner == NULL && thread->state == MR_RUNNABLE) {
        mr_rt.owner = thread;
        thread->state = MR_RUNNING;
        thread->go = 1;
    } else if (thread->go == 2) {
        thread->go = 0;
    }
    mr_state_unlock();
    return thread->go == 1;
}

/* A blocked thread that has a signal to handle becomes runnable. */
static void interrupt_wait(mr_thread *thread)
{
    mr_state_lock();
    if (thread->state == MR_BLOCKED) {
        thread->state = MR_RUNNABLE;
        thread->reason = MR_INTERRUPTED;
        if (mr_rt.owner == NULL) {
            mr_dispatch();
        }
    }
    mr_state_unlock();
}

/*
 * The thread that ended last still gives its memory back to malloc and its stack to the system. Who
 * comes next would find them or not, as it happens: it waits.
 */
static void wait_until_gone(void)
{
    const int PATIENCE_NS = 1000000000;
    int64_t start = mr_clock_ns(CLOCK_MONOTONIC);
    long process = mr_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
    while (mr_sys(SYS_tgkill, process, mr_rt.leaving, 0, 0, 0, 0) == 0 &&
           mr_clock_ns(CLOCK_MONOTONIC) - start < PATIENCE_NS) {
        mr_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
    mr_rt.leaving = 0;
}

void mr_wait_turn(mr_thread *thread)
{
    while (!try_turn(thread)) {
        if (thread->attention & MR_ATTENTION_SIGNAL && thread->state == MR_BLOCKED) {
            interrupt_wait(thread);
        }
        mr_futex_wait(&thread->go, 0, -1);
    }
    __atomic_store_n(&thread->go, 0, __ATOMIC_RELAXED);
    if (mr_rt.logged != thread->id) {
        mr_rt.logged = thread->id;
        mr_rt.header->hand_overs++;
        mr_write_switch(thread->id);
    }
    if (thread->nap_ns > 0) {
        uint32_t never = 0;
        mr_futex_wait(&never, 0, thread->nap_ns);
        thread->nap_ns = 0;
    }
    if (mr_rt.leaving != 0) {
        wait_until_gone();
    }
    if (mr_rt.reap != NULL) {
        mr_thread_reap();
    }
}

/* Gives the baton away in the given state, and waits for it. */
static void hand_over(mr_thread *thread, mr_thread_state state)
{
    mr_writer_settle();
    mr_state_lock();
    thread->state = state;
    mr_rt.owner = NULL;
    mr_dispatch();
    mr_state_unlock();
    if (mr_rt.schedule == MR_LOG_SCHEDULE_OS && state == MR_RUNNABLE) {
        mr_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
    mr_wait_turn(thread);
}

void mr_hand_over(mr_thread *thread)
{
    hand_over(thread, MR_RUNNABLE);
}

bool mr_others_can_run(const mr_thread *thread)
{
    bool found = false;
    mr_state_lock();
    look_at_times();
    for (mr_thread *t = mr_rt.threads; t != NULL && !found; t = t->next) {
        found = t != thread && t->state == MR_RUNNABLE;
    }
    mr_state_unlock();
    return found;
}

bool mr_others_wait_for_ever(const mr_thread *thread)
{
    bool found = false;
    mr_state_lock();
    for (mr_thread *t = mr_rt.threads; t != NULL && !found; t = t->next) {
        bool waits = t->state == MR_BLOCKED && t->deadline == MR_NEVER;
        found = t != thread && !waits && t->state != MR_DONE;
    }
    mr_state_unlock();
    return !found;
}

/* pct: change points, and the end of patience with a thread that spins. Threads that wait for each
 * other in loops use all of it up at each turn, so it gets less. */
static void adjust_priority(mr_thread *thread)
{
    uint64_t now = mr_events_now();
    uint32_t halvings = thread->long_runs < HALVINGS ? thread->long_runs : HALVINGS;
    while (mr_rt.change_count > 0 && mr_rt.changes[mr_rt.change_count - 1] <= now) {
        mr_rt.change_count--;
        thread->priority = --mr_rt.lowest;
    }
    if (now - thread->since_events > (uint64_t)PATIENCE >> halvings) {
        thread->since_events = now;
        thread->long_runs++;
        thread->priority = --mr_rt.lowest;
    }
}

/* Maybe gives the baton away; it stays runnable. */
void mr_reconsider(mr_thread *thread)
{
    if (mr_steers() || thread->quiet != 0 || thread->annotates || mr_rt.alive < 2 ||
        !mr_others_can_run(thread)) {
        return;
    }
    if (mr_rt.schedule == MR_LOG_SCHEDULE_PCT) {
        adjust_priority(thread);
    }
    hand_over(thread, MR_RUNNABLE);
}

/* With which probability, as a power of two, a thread goes on at a yield. */
static bool goes_on(void)
{
    uint64_t syncs = mr_rt.syncs++;
    uint64_t bound = syncs < 1000     ? 2
                     : syncs < 4000   ? 4
                     : syncs < 20000  ? 16
                     : syncs < 200000 ? 64
                                      : 256;
    return mr_random_below(bound) != 0;
}

void mr_yield(mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
        return;
    }
    mr_hot->budget--;
    if (mr_rt.schedule == MR_LOG_SCHEDULE_PCT || !goes_on()) {
        mr_reconsider(thread);
    }
    if (mr_hot->budget < 0) {
        mr_budget_renew();
    }
}

void mr_yield_to_others(mr_thread *thread)
{
    if (mr_steers()) {
        mr_steer_stop(thread, MR_STOP_CALL);
        return;
    }
    if (mr_rt.schedule == MR_LOG_SCHEDULE_PCT) {
        thread->priority = --mr_rt.lowest;
    }
    mr_hot->budget--;
    mr_reconsider(thread);
}

mr_wake_reason mr_block(mr_thread *thread, const void *key, int64_t limit, bool cancellable)
{
    thread->shown_deadline = limit == MR_NEVER ? MR_NEVER : limit + mr_rt.waited_ns;
    if (mr_signals_ready(thread)) {
        return MR_INTERRUPTED;
    }
    if (cancellable && thread->cancel_pending && !thread->cancel_disabled) {
        return MR_CANCELLED;
    }
    if (thread->polls || limit == MR_NEVER) {
        mr_watchdog_start();
    }
    thread->key = mr_shared_maps_first(key);
    thread->deadline = limit;
    thread->real_deadline =
        limit == MR_NEVER ? MR_NEVER : mr_clock_ns(CLOCK_MONOTONIC) + limit - mr_virtual_now();
    thread->cancellable = cancellable;
    hand_over(thread, MR_BLOCKED);
    if (thread->reason == MR_TIMED_OUT && thread->shown_deadline > mr_elapsed_now()) {
        mr_rt.waited_ns += thread->shown_deadline - mr_elapsed_now(); /* it was real time */
    }
    thread->key = NULL;
    thread->deadline = MR_NEVER;
    thread->cancellable = false;
    thread->polls = false;
    thread->is_inner = false;
    return thread->reason;
}

void mr_wake(mr_thread *thread, mr_wake_reason reason)
{
    mr_state_lock();
    if (thread->state == MR_BLOCKED) {
        thread->state = MR_RUNNABLE;
        thread->reason = reason;
    }
    mr_state_unlock();
}

void mr_wake_key(const void *key)
{
    if (mr_rt.alive < 2) {
        return;
    }
    key = mr_shared_maps_first(key);
    mr_state_lock();
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && t->key == key) {
            t->state = MR_RUNNABLE;
            t->reason = MR_WOKEN;
        }
    }
    mr_state_unlock();
}

mr_thread *mr_choose_blocked(const void *key)
{
    uint32_t count = 0;
    key = mr_shared_maps_first(key);
    mr_thread *chosen = mr_steers() ? mr_steer_woken(mr_self) : NULL;
    if (chosen != NULL && chosen->state == MR_BLOCKED && chosen->key == key) {
        return chosen;
    }
    chosen = NULL;
    mr_state_lock();
    for (mr_thread *t = mr_rt.threads; t != NULL; t = t->next) {
        if (t->state == MR_BLOCKED && t->key == key && mr_random_below(++count) == 0) {
            chosen = t;
        }
    }
    mr_state_unlock();
    return chosen;
}
