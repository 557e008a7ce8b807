/*
 * futex: the futex operations that a program asks the kernel for itself, by syscall().
 *
 * Who waits does so in the runtime. What the kernel does to the word of a futex that is a lock (FUTEX_LOCK_PI and its like), and to the
 * second word of FUTEX_WAKE_OP, are atomic accesses of the thread: so sections that begin and end by them, and those that the program
 * begins or ends by an exchange of the word alone, exclude each other in the trace as they do in the program.
 */
#ifndef MR_RUNTIME_FUTEX_H
#define MR_RUNTIME_FUTEX_H

#include "state.h"

/* `a` are the arguments of the call; the result is as of the kernel, -errno when it fails. False: another operation, for the kernel. The
 * caller is busy. */
bool mr_futex(mr_thread *thread, const long *a, uintptr_t code, long *result);

#endif
