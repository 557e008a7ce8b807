/*
 * direct: functions that a program also reaches by syscall(), as syscall(SYS_read, …). Between files
 * of this folder only.
 *
 * A file with such functions includes this header after all others. MR_CALLER is then the caller of
 * syscall() where that is how a function was called, and MR_DIRECT(read) gives it a second name, for
 * the program may have a function `read` of its own.
 */
#ifndef MR_RUNTIME_DIRECT_H
#define MR_RUNTIME_DIRECT_H

#include "state.h"

/* The call by its function: true when there is one. *result is as of the kernel. `code` called
 * syscall(). */
bool mr_direct_call(long number, const long *a, uintptr_t code, long *result);

/* Where the code is that calls these functions for it. */
extern const char __start_mr_direct[] __attribute__((visibility("hidden")));
extern const char __stop_mr_direct[] __attribute__((visibility("hidden")));
/* The caller of syscall(), while it calls one. */
extern __thread uintptr_t mr_direct_code __attribute__((tls_model("initial-exec")));

static inline uintptr_t mr_direct_caller(uintptr_t code)
{
    const uintptr_t start = (uintptr_t)__start_mr_direct, end = (uintptr_t)__stop_mr_direct;
    return code - start < end - start ? mr_direct_code : code;
}

#undef MR_CALLER
#define MR_CALLER mr_direct_caller((uintptr_t)__builtin_return_address(0))

#define MR_DIRECT(name)                                                                            \
    extern __typeof__(name) mr_own_##name                                                          \
        __attribute__((alias(#name), visibility("hidden"), nothrow, leaf));

#endif
