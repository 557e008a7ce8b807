/*
 * memory: accesses that functions of libc make for instrumented code.
 *
 *   thread = mr_memory_begin(code) → mr_memory_read… → the real function → mr_memory_end(what it
 * wrote)
 */
#ifndef MR_RUNTIME_MEMORY_H
#define MR_RUNTIME_MEMORY_H

#include "state.h"

/* The calling thread, busy; NULL: it is not recorded, or the caller is not instrumented. */
mr_thread *mr_memory_begin(uintptr_t code);
void mr_memory_read(const mr_thread *thread, const void *address, size_t bytes, uintptr_t code);
/* The bytes were written (0: none), and the thread leaves. Both do nothing when it is NULL. */
void mr_memory_end(mr_thread *thread, const void *written, size_t bytes, uintptr_t code);

/* The runtime has written for the caller, who is busy. */
void mr_memory_written(const void *address, size_t bytes, uintptr_t code);

#endif
