/*
 * explore: what a log says in addition when all behaviours of a program are explored (MAXRACE_EXPLORE,
 * src/hunt/exhaustive/exhaustive.h): what decides how a thread goes on and leaves no record otherwise (CHOICE),
 * and where a thread is in its program (STATE).
 *
 * STATE. Just before a recorded access, when everything before it is done: a fingerprint of the place
 * of the access, of the registers that a call preserves, and of the stack from the caller's stack
 * pointer up to the frame of the thread's first function. Compiled code has nothing else that outlives
 * the call of the runtime, beside memory that is accessed by recorded accesses or by code that is not
 * recorded. So a thread that comes to the same fingerprint again, and has written no memory of its own
 * but its stack since, is in the same local state. 64 bits: two states have the same fingerprint by
 * chance once in 2^64 pairs. x86-64 only; elsewhere, and where the unwinder does not find the caller,
 * there is no STATE record, and loops that wait are not recognised.
 *
 * With MAXRACE_EXPLORE=2 the words of which the fingerprint is made come before it, at most MR_EXPLORE_WORDS: the registers,
 * then the stack from below. They are not told before a read right after a write, when there is no room for them.
 */
#ifndef MR_RUNTIME_EXPLORE_H
#define MR_RUNTIME_EXPLORE_H

#include "state.h"

void mr_explore_start(void);

/* The calling thread stands before the access that thread->about says. */
void mr_explore_state(const mr_thread *thread);

/* The calling thread stands before a read right after a write, whose value is not known yet; no other thread
 * runs in between (access.c). When both are of one statement, the write is not done yet. It is so each time that
 * the thread comes to this place, so the fingerprint says as much as elsewhere. */
void mr_explore_read_after_write(mr_thread *thread, const void *address, uintptr_t code);

/* Zeroes the stack below the caller's frame. */
void mr_explore_scrub(void);

/* The last thing before the library goes back to the program. What the library leaves below the stack pointer depends on the
 * schedule, and comes into the frames of functions that the program calls next, where compiled code does not write at once or at all:
 * the same local state would have many fingerprints. */
static inline __attribute__((always_inline)) void mr_explore_clean(void)
{
    if (__builtin_expect(mr_rt.explores, 0)) {
        mr_explore_scrub();
    }
}

/* A CHOICE record, when behaviours are explored. */
void mr_explore_choice(mr_log_choice what, mr_log_role role, const volatile void *object,
                       uintptr_t code, uint64_t number);

/* A try, or a wait with a limit, failed because a lock is held (`shared`: it was asked for as shared), or a semaphore
 * has no unit. USED says so in the log; where behaviours are explored, a CHOICE record does. */
void mr_explore_failed(mr_log_role role, const volatile void *object, uintptr_t code, bool shared);
/* The same of a lock with a number. */
void mr_explore_failed_of(mr_log_role role, uint64_t number, const volatile void *object,
                          uintptr_t code, bool shared);

/* The count of a BLOCKED record: 2 when the wait has a limit (or MR_NEVER), 1 for a shared lock; 0 when
 * behaviours are not explored. */
unsigned mr_explore_wait(int64_t limit, bool shared);

/* A spin lock is held by another thread: a BLOCKED record, as other locks have. */
void mr_explore_spins(const volatile void *lock, uintptr_t code);

#endif
