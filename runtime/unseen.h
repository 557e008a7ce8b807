/*
 * unseen: synchronisation that the recording cannot see, told in one line when it is used: the
 * threads of OpenMP's libraries wait for each other in code that is not recorded, and the kernel
 * works on memory for io_uring, and atomic accesses in inline assembly make no calls.
 */
#ifndef MR_RUNTIME_UNSEEN_H
#define MR_RUNTIME_UNSEEN_H

#include <stdint.h>

/* Code at this address creates a thread. */
void mr_unseen_thread(uintptr_t code);

/* Instrumented code has atomic accesses in assembly (assembly.h). */
void mr_unseen_assembly(void);

/* The program makes this call of the kernel. */
void mr_unseen_call(long number);

#endif
