/*
 * steer: lets the threads run by a schedule (schedule.h) instead of by chance.
 *
 * A thread is known by its role: the thread of the recorded execution that it stands for. Its
 * position is the number of its operations so far, as the reader of a log counts them: they are
 * counted from the log that is written here, too. Between two stop points a thread does an operation
 * or part of one; at each stop point it looks whether its step is over. A step ends with the first
 * stop point, or wait, at its position or behind it.
 *
 * Each operation that the schedule says something about is compared with that. An operation of
 * another kind or place is a divergence: the program ends, and the result says what was expected and
 * what was seen. Another value is noted, the first one only, and the replay goes on.
 *
 * A thread whose turn it is may need something that the trace does not know: the end of a call that
 * another thread has begun, a lock that is not recorded. So when it waits, or does no operation for
 * some stop points, others help: each may run up to its own next operation that the schedule knows
 * of, and not further. When nobody can help, the replay has diverged; so it has when no operation is
 * done for long (watchdog.c); a loose schedule is given up half a second after a call that nobody can help. It never hangs.
 *
 * When the steps are over, threads run as the recorded schedule and seed say.
 */
#ifndef MR_RUNTIME_STEER_H
#define MR_RUNTIME_STEER_H

#include "schedule.h"
#include "state.h"

/* Reads MAXRACE_REPLAY, if it is set. Called once, before the first thread is made. */
void mr_steer_start(void);

static inline bool mr_steers(void)
{
    return __builtin_expect(mr_rt.steers, 0);
}

/* A new thread of this creator, or of nobody; it gets its role. It could not be made after all. */
void mr_steer_thread(mr_thread *creator, mr_thread *thread);
void mr_steer_no_thread(mr_thread *creator, mr_thread *thread);

typedef enum mr_stop_kind {
    MR_STOP_FUNCTION, /* entry or exit of a function */
    MR_STOP_CALL,     /* of an interposed function */
    MR_STOP_WITHIN,   /* in one, where a step stops the thread */
    MR_STOP_ACCESS,   /* just before the access that thread->about says */
    MR_STOP_ATOMIC,   /* just before an atomic operation */
} mr_stop_kind;

/* A stop point of the owner, who is busy. */
void mr_steer_stop(mr_thread *thread, mr_stop_kind kind);

/* A stop point within a call, just before it does a plain access: `head` is that of its record. */
void mr_steer_before(mr_thread *thread, const void *address, unsigned head, uintptr_t code);

/* A call that logs several operations may hold the one before which its thread stops. Within the
 * call, before the effect of what is logged next: */
void mr_steer_within(mr_thread *thread);
/* A call of libc: what it accesses is logged, then the call is made, then the rest is logged. The
 * thread stops before an access of the first ones, or before the call when the first of the rest is
 * meant. Calls of mr_steer_call_access that do not follow mr_steer_call_begins stop nobody. */
void mr_steer_call_begins(const mr_thread *thread);
void mr_steer_call_access(mr_thread *thread, const void *address, unsigned head, uintptr_t code);
void mr_steer_call_is_made(mr_thread *thread);

/* An access of a call that the runtime makes by itself, one access after the other: the thread stops
 * before each of them at which a step ends. */
void mr_steer_own_access(mr_thread *thread, const void *address, unsigned head, uintptr_t code);

/* Just before a read, directly after a write whose value is not known yet: is the thread to stop
 * between the two? That is not so when the store has not been done (access.c). */
bool mr_steer_splits(const mr_thread *thread, unsigned head, uintptr_t code);

/* Who runs next, of those who can; NULL: nobody can now. With the lock held. */
mr_thread *mr_steer_choose(void);

/* Operations in the log so far are counted. Before the log is moved; then it has been moved. */
void mr_steer_count(void);
void mr_steer_moved(void);
/* What is logged from here on is the thread's. */
void mr_steer_switched(uint32_t thread);

/* Who is to be woken by this thread; NULL: the schedule does not say. */
mr_thread *mr_steer_woken(const mr_thread *thread);

/* Is the next operation of the thread of this kind? 1 yes, 0 no, -1 the schedule does not say. */
int mr_steer_expects(const mr_thread *thread, mr_log_kind kind);

/* Where does the next handler of a signal run in this thread? */
typedef enum mr_handler_place {
    MR_HANDLER_FREE,  /* nothing is known */
    MR_HANDLER_NOW,   /* before its next operation */
    MR_HANDLER_LATER, /* after it */
} mr_handler_place;
mr_handler_place mr_steer_handler_place(const mr_thread *thread);
static inline mr_handler_place mr_steer_handler(const mr_thread *thread)
{
    return mr_steers() ? mr_steer_handler_place(thread) : MR_HANDLER_FREE;
}

/* A signal for the process came to this thread. Another thread for which the schedule has a handler, when it has
 * none for this one; else NULL. */
mr_thread *mr_steer_handles(const mr_thread *thread);

/* A module is mapped. */
void mr_steer_module(const mr_log_module *module, const char *path);

/* Nobody has done an operation for long, though it is the turn of somebody. */
void mr_steer_stuck(const char *why);

/* The program ends. */
void mr_steer_exit(void);

/* A debugger stops here when the goal is reached (MAXRACE_REPLAY with a step "hold"). */
void maxrace_replay_goal(void);

#endif
