/*
 * signals: handlers of the program run where its thread has the baton and is not inside the
 * runtime.
 *
 * A signal that a thread causes itself (a fault, raise, abort) is handled at once. Others are
 * noted, and handled at the thread's next event, or when it waits in the runtime; in a real call
 * that may block the thread takes the baton for the handler. What a handler does is logged as of
 * the interrupted thread, between SIGNAL_BEGIN and SIGNAL_END.
 *
 * A handler runs after what has caused it: who installed it, who sent the signal, who armed the
 * timer that did. The thread that unblocks a signal is the one that handles what was held back.
 */
#ifndef MR_RUNTIME_SIGNALS_H
#define MR_RUNTIME_SIGNALS_H

#include "state.h"

#include <signal.h>

/* Runs the handlers of the noted signals. The caller is busy. */
void mr_signals_handle(mr_thread *thread);

/* Blocks all signals. `mask` is then what the program had blocked; the result, what was blocked only
 * until the noted signal of that number is handled. The caller is busy. */
uint64_t mr_signals_block_all(mr_thread *thread, sigset_t *mask);

/* Ends that. */
void mr_signals_let_in(mr_thread *thread, uint64_t held, sigset_t mask);

/* The thread is the only one of a child now, where nobody handles what was noted before. */
void mr_signals_forget(mr_thread *thread);

/* Is there one whose handler can run now? */
bool mr_signals_ready(const mr_thread *thread);

/* A replay: does a handler run at this place? Then it has. The caller is busy, and it is its turn. */
bool mr_signals_replay(mr_thread *thread);

/* Does the last signal handled ask for its call to be made again (SA_RESTART)? */
bool mr_signals_restart(void);

/* sigaction, with the code address of the call, and without the writes to `old`. */
int mr_signal_action(int number, const struct sigaction *action, struct sigaction *old,
                     uintptr_t code);

/* Whether handlers that `signal` installs from now on let the signal end calls that wait. */
void mr_signal_interrupts(int number, bool ends);

/* sigprocmask, likewise. */
int mr_signal_mask(int how, const sigset_t *set, sigset_t *old);

/* Did the program install a handler? */
bool mr_signal_has_handler(int number);

/* Logs that the caller, who is busy, does what may make the handler run later. */
void mr_signal_caused(int number, uintptr_t code);

/* A call of the kernel that sends a signal (SYS_tgkill and its like), as of the function that makes it.
 * False: it is none, or nothing is recorded; then nothing was done. */
bool mr_signal_system_call(long call, long a[6], uintptr_t code, long *result);

/* The program has taken signals of these, or knows that it can: it comes after those who sent any. The caller is busy. */
void mr_signal_log_taken(const sigset_t *set, uintptr_t code);

/* None of these signals is pending, or the program has asked what is (`set` NULL: of all). The caller is busy. */
void mr_signal_log_pending(const sigset_t *set, uintptr_t code);

/* Has the program made or armed a timer that may send a signal? */
bool mr_timers_exist(void);

#endif
