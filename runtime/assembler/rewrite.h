/*
 * rewrite: makes the atomic accesses of inline assembly visible to the runtime library. The compiler puts no calls into
 * assembly; but what it hands to the assembler has each piece between two marks (#APP, #NO_APP). There this puts calls
 * of the library (assembly_calls.h) before and after each
 *
 *   - instruction with a lock prefix, and exchange with memory: an atomic update;
 *   - move from or to memory: an atomic read that acquires, an atomic write that releases, as the processor has it;
 *   - mfence, and locked addition or "or" of 0 on the stack: a fence.
 *
 * So it is in instrumented functions with instructions of the compiler's own that have a lock prefix: it puts no call before some atomic updates, as of OpenMP's
 * of a double, or of the larger of two.
 *
 * In all functions it is so after rdtsc and rdtscp, by whomever they are: the program shall see the time there that its other clocks show.
 *
 * Only AT&T syntax of x86-64 without segments. What is not understood stays as it is; the library knows such atomic
 * accesses by what is not before them (assembly.h).
 *
 * The calls change neither registers nor flags but what rdtsc gave, and leave alone what is below the stack pointer. While the stack pointer
 * is another one, the unwind information says so where the compiler's counts from that register.
 */
#ifndef MR_RUNTIME_ASSEMBLER_REWRITE_H
#define MR_RUNTIME_ASSEMBLER_REWRITE_H

#include <stddef.h>
#include <stdio.h>

/* Writes the text with the calls. How many instructions have got some. 0: none has, or some jump counts bytes, which
 * calls would make more; then what was written is of no use. */
size_t mr_rewrite(const char *text, size_t length, FILE *out);

#endif
