/*
 * scheduler: who runs. One thread of the program owns the baton; the others wait in the runtime.
 *
 * - An interposed function begins with mr_enter and ends with mr_leave. Between them the caller
 * owns the baton, its last write is settled, and its signals wait.
 * - mr_yield is a place where another thread may be given the baton; so is every access, at random.
 * - What would block blocks in mr_block, on a key; who makes it possible to go on calls
 *   mr_wake_key, and the woken thread tries again when it is its turn. Nobody waits in the kernel
 *   with the baton in hand.
 * - mr_outside_begin and mr_outside_end enclose a real call that may block.
 *
 * Time. Sleeps and limits count virtual time: one microsecond for each event, and when nobody can
 * run but those who wait for time, it goes on to the earliest limit (who waited for it then naps,
 * at most 20 ms, so that a loop that waits for another process by sleeping stays slow). So limits
 * run out at the same event with the same seed. When the others are in real calls, the watchdog
 * watches the real time; a replay has virtual time for waits for descriptors, too (awaiting.h). The
 * clocks that the program reads agree with that (clocks.h), and so do timers when time is skipped: it
 * goes on to the next signal of one at most (timers.h).
 *
 * Schedules. random: at a yield with probability 1/2 (later less), at accesses after a random
 * number, a thread that is drawn evenly. pct: the runnable thread of the highest priority; at a few
 * random points its priority drops (Burckhardt et al., ASPLOS 2010); so it does when it runs long
 * while others wait, as in a spin loop, and earlier the more often it has done so. os: as random,
 * but whoever the kernel lets run first gets the baton.
 */
#ifndef MR_RUNTIME_SCHEDULER_H
#define MR_RUNTIME_SCHEDULER_H

#include "state.h"

/* The calling thread, with the baton, marked busy; NULL: not recorded, call the real function. */
mr_thread *mr_enter_at(uintptr_t code);
/* A replay looks at where the interposed function was called: a macro, so that it is inside it. */
#define mr_enter() mr_enter_at(MR_CALLER)
void mr_leave(mr_thread *thread);

/* Where the call is to be logged: at `code`, or where a function that stands between says (cxx.c).
 */
static inline uintptr_t mr_code_of(const mr_thread *thread, uintptr_t code)
{
    return thread->caller != 0 ? thread->caller : code;
}

/* Maybe another thread first. The caller is busy. */
void mr_yield(mr_thread *thread);
/* Is there another thread that can run? */
bool mr_others_can_run(const mr_thread *thread);
/* Does each of the others wait, for no limited time? A signal may still come. */
bool mr_others_wait_for_ever(const mr_thread *thread);
/* The others first (sched_yield). */
void mr_yield_to_others(mr_thread *thread);

/*
 * Waits without the baton until the key is woken, the limit (virtual time, MR_NEVER) is over, a
 * signal is to be handled, or the thread is cancelled (when `cancellable`). It has the baton again.
 */
mr_wake_reason mr_block(mr_thread *thread, const void *key, int64_t limit, bool cancellable);

/* All who wait for the key can go on. */
void mr_wake_key(const void *key);
/* This one can go on. */
void mr_wake(mr_thread *thread, mr_wake_reason reason);

/* Is another thread blocked on the key? One that the seed chooses, NULL: none. */
mr_thread *mr_choose_blocked(const void *key);

void mr_outside_begin(mr_thread *thread);
void mr_outside_end(mr_thread *thread);

/*
 * A real call of an interposed function, inside it:
 *
 *     MR_CALL(thread, ready, result = MR_REAL(read)(fd, buffer, bytes));
 *     thread = mr_enter();
 *
 * `ready`: it will not block, so the baton is kept (the watchdog takes it when that was wrong). A
 * cancelled thread that unwinds out of the call has the baton again.
 */
typedef struct mr_call {
    mr_thread *thread; /* NULL: the baton was kept */
    bool returned;     /* the real call; else the thread unwinds */
} mr_call;
mr_call mr_call_begin(mr_thread *thread, bool ready);
void mr_call_end(mr_call *call);
#define MR_CALL(thread, ready, statement)                                                          \
    do {                                                                                           \
        mr_call call __attribute__((cleanup(mr_call_end), unused)) = mr_call_begin(thread, ready); \
        statement;                                                                                 \
        call.returned = true;                                                                      \
    } while (0)

/* The first turn of a new thread, and the last of one that ends (it does not come back to the
 * runtime). */
void mr_first_turn(mr_thread *thread);
void mr_last_turn(mr_thread *thread);

/* From an access: the budget is used up, or there is something to attend to. */
void mr_look_around(mr_thread *thread);
void mr_look_around_kept(mr_thread *thread); /* the same, and keeps vector registers (vectors.h) */

/* Something waits in `attention`: the baton, signals, cancellation. */
void mr_attend(mr_thread *thread);

/* A new budget of accesses. */
void mr_budget_renew(void);
/* … of this many. */
void mr_budget_set(int64_t budget);
/* The program makes its first other thread: what MAXRACE_MAX_EVENTS limits is counted from here on. */
void mr_events_counted(void);
uint64_t mr_events_now(void);

/* Virtual time, and a limit that is so far away. */
int64_t mr_virtual_now(void);
/* The time that passed on the program's clocks: also the real time in which nobody had the baton.
 */
int64_t mr_elapsed_now(void);
int64_t mr_limit_after(int64_t nanoseconds);

/* Even in [0, bound). */
uint64_t mr_random_below(uint64_t bound);
/* The priority of a new thread (pct). */
int64_t mr_random_priority(void);

/* Between the files of this module: waits for the baton; maybe gives it away, staying runnable. */
void mr_wait_turn(mr_thread *thread);
void mr_reconsider(mr_thread *thread);

/* The lock of owner and states. Who was given the baton under it is woken when it is free: else it
 * would run at once, and wait for the lock. */
void mr_state_lock(void);
void mr_state_unlock(void);

/* Gives the baton away, staying runnable, and waits for it. */
void mr_hand_over(mr_thread *thread);

/* With the lock held: time goes on to the limit of a thread that is blocked, which then can run.
 * NULL: a signal of a timer comes first. */
mr_thread *mr_skip_to(mr_thread *thread);
/* The signal of a timer is on its way: time does not go on before it is there. */
bool mr_signal_is_due(void);

/* With the lock held and no owner: gives the baton away. */
void mr_dispatch(void);

#endif
