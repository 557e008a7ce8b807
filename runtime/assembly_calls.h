/*
 * assembly_calls: what the text of inline assembly calls around its atomic accesses and after it reads the counter of the
 * processor's ticks (assembler/rewrite.h), and the words that both know. The calls keep all registers and flags, but for
 * what rdtsc gave.
 */
#ifndef MR_RUNTIME_ASSEMBLY_CALLS_H
#define MR_RUNTIME_ASSEMBLY_CALLS_H

#define MR_ASSEMBLY_BEGIN_NAME "__maxrace_assembly_begin"
#define MR_ASSEMBLY_END_NAME   "__maxrace_assembly_end"
#define MR_ASSEMBLY_FENCE_NAME "__maxrace_assembly_fence"
#define MR_ASSEMBLY_CLOCK_NAME "__maxrace_assembly_clock"

/* The number on the stack: bits 0..2 log2 of the bytes, then the kind, then one more than the register with the number of
 * a bit, 0: none. */
enum { MR_ASSEMBLY_KIND_SHIFT = 3, MR_ASSEMBLY_BIT_SHIFT = 8 };

enum {
    MR_ASSEMBLY_UPDATE,
    MR_ASSEMBLY_COMPARE, /* an update when the zero flag says so afterwards, else a read */
    MR_ASSEMBLY_READ,
    MR_ASSEMBLY_WRITE,
};

#ifdef MAXRACE_RUNTIME
#include <stdbool.h>
#include <stdint.h>

/* Around an access of the running thread (atomic.c): no other one runs meanwhile. An access within an annotated one
 * (maxrace/annotate.h) is part of that. `zero`: the zero flag, for MR_ASSEMBLY_COMPARE. */
void mr_atomic_assembly_begin(const void *address, unsigned log2, unsigned kind, uintptr_t code);
void mr_atomic_assembly_end(bool zero, uintptr_t code);
void mr_atomic_assembly_fence(uintptr_t code);

/* What the program sees of the counter of the processor's ticks, which is `ticks` now (clocks.c): the time that all its other
 * clocks count, in ns, or `ticks` where they show the real time. */
uint64_t mr_clock_ticks(uint64_t ticks);
#endif

#endif
