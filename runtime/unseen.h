/*
 * unseen: synchronisation that the recording cannot see, told in one line when it is used: the
 * threads of OpenMP's libraries wait for each other in code that is not recorded, and the kernel
 * works on memory for io_uring, atomic accesses in inline assembly make no calls, and some libraries
 * hand data to other threads, or have locks, by atomic accesses of their own.
 */
#ifndef MR_RUNTIME_UNSEEN_H
#define MR_RUNTIME_UNSEEN_H

#include "log.h"

/* Code at this address creates a thread. */
void mr_unseen_thread(uintptr_t code);

/* A module synchronises threads by this: instrumented code with atomic accesses in assembly
 * (assembly.h), or a library that is not recorded. */
void mr_unseen_module(enum mr_log_unseen unseen);

/* The program makes this call of the kernel. */
void mr_unseen_call(long number);

#endif
