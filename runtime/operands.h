/*
 * operands: what the program compares, for a search for inputs (operands_format.h).
 *
 * Compilers call __sanitizer_cov_trace_cmp and its like with -fsanitize-coverage=trace-cmp; functions
 * of libc that compare texts tell theirs. Without MAXRACE_OPERANDS in the environment each of these
 * calls ends at once.
 */
#ifndef MR_RUNTIME_OPERANDS_H
#define MR_RUNTIME_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the environment says. */
void mr_operands_start(void);
/* In the child of a fork: nothing more is kept. */
void mr_operands_forget(void);

extern bool mr_operands_are_kept;

/* Two texts or pieces of memory that code at `code` compares; what each has. */
void mr_operands_text(const void *a, size_t bytes, const void *b, size_t other, uintptr_t code);

#endif
