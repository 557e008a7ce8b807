/*
 * awaiting: waits for descriptors in a replay that is given its inputs.
 *
 * Nobody but the program itself makes a descriptor ready there. So a thread that waits for one is
 * blocked like one that waits for a lock, with its limit in virtual time, and whoever chooses the next
 * thread asks the kernel first which waits are over. In a real call the thread would come back when the
 * kernel lets it run, and limits would count real time: both differ from run to run. For the same
 * reason poll, select and epoll_wait wait so in a recording for what only the program itself can do, and for time alone;
 * a read is a real call there, as flags of the call or of the descriptor may say that it does not wait.
 *
 * A program that has made child processes may wait for what they write. Its waits are real calls.
 */
#ifndef MR_RUNTIME_AWAITING_H
#define MR_RUNTIME_AWAITING_H

#include "state.h"

/* Are all waits for descriptors made here? */
bool mr_awaits(void);

/* Is the wait for these made here? In a recording, when all are pipes, socket pairs and the like of this process alone. Each switch of
 * threads asks the kernel once for each thread that waits so: of many threads, only a few do. */
bool mr_awaits_these(const struct pollfd *fds, size_t count);
/* The same for an epoll set. */
bool mr_awaits_set(int set);

/* Does the thread wait here for what a child may do that another thread made since? Its limit is in real time then. With the lock held. */
bool mr_awaits_child(const mr_thread *thread);

/* Is there something in `attention` that cannot wait until after the call? */
bool mr_needs_attention(const mr_thread *thread);

/* What poll says (mr_poll_now) when the others have run, as long as they can: what they do may make a call ready, and then
 * the run does not depend on when the kernel wakes the thread. Not for ever: it may be for another process to do. A
 * recording uses it, too. */
long mr_poll_after_others(mr_thread *thread, struct pollfd *fds, size_t count);

/* Waits without the baton until one of the `count` descriptors is ready or not open (MR_WOKEN; another
 * thread may have been faster), the limit (virtual time, MR_NEVER) is over, or a handler has run
 * (MR_INTERRUPTED). A cancelled thread does not come back. The caller is busy and has the baton again;
 * `revents` of `fds` is overwritten. */
mr_wake_reason mr_await(mr_thread *thread, struct pollfd *fds, size_t count, int64_t limit);

/* Those whose descriptors are ready can run. With the lock held. */
void mr_awaited_look(void);

/* Time is about to be skipped to the limit of this thread: ends a program that for two seconds of
 * virtual time has done nothing but wait for inputs that the recording does not have, and for time.
 * With the lock held. */
void mr_awaited_skip(const mr_thread *thread);
/* Ends it. */
void mr_awaited_in_vain(void);

#endif
