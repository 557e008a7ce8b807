/*
 * tsan: the functions that compilers call when they instrument for ThreadSanitizer
 * (-fsanitize=thread of gcc and clang). They are declared here because no system header does.
 */
#ifndef MR_RUNTIME_TSAN_H
#define MR_RUNTIME_TSAN_H

#include "state.h"

/* X(bytes, log2 of them): accesses that fit into a word. */
#define MR_TSAN_SIZES(X) X(1, 0) X(2, 1) X(4, 2) X(8, 3)

#define MR_TSAN_DECLARE(bytes, log2)                                                               \
    MR_EXPORT void __tsan_read##bytes(void *address);                                              \
    MR_EXPORT void __tsan_write##bytes(void *address);                                             \
    MR_EXPORT void __tsan_read##bytes##_pc(void *address, void *code);                             \
    MR_EXPORT void __tsan_write##bytes##_pc(void *address, void *code);                            \
    MR_EXPORT void __tsan_volatile_read##bytes(void *address);                                     \
    MR_EXPORT void __tsan_volatile_write##bytes(void *address);                                    \
    MR_EXPORT void __tsan_read_write##bytes(void *address);                                        \
    MR_EXPORT void __tsan_unaligned_read##bytes(void *address);                                    \
    MR_EXPORT void __tsan_unaligned_write##bytes(void *address);                                   \
    MR_EXPORT void __tsan_unaligned_volatile_read##bytes(void *address);                           \
    MR_EXPORT void __tsan_unaligned_volatile_write##bytes(void *address);                          \
    MR_EXPORT void __tsan_unaligned_read_write##bytes(void *address);
MR_TSAN_SIZES(MR_TSAN_DECLARE)
MR_TSAN_DECLARE(16, 4)
#undef MR_TSAN_DECLARE

MR_EXPORT void __tsan_read_range(void *address, unsigned long bytes);
MR_EXPORT void __tsan_write_range(void *address, unsigned long bytes);
MR_EXPORT void __tsan_read_range_pc(void *address, unsigned long bytes, void *code);
MR_EXPORT void __tsan_write_range_pc(void *address, unsigned long bytes, void *code);
MR_EXPORT void __tsan_vptr_read(void **address);
MR_EXPORT void __tsan_vptr_update(void **address, void *value);
MR_EXPORT void __tsan_func_entry(void *caller);
MR_EXPORT void __tsan_func_exit(void);
MR_EXPORT void __tsan_init(void);
MR_EXPORT void __tsan_ignore_thread_begin(void);
MR_EXPORT void __tsan_ignore_thread_end(void);
MR_EXPORT void *__tsan_memcpy(void *to, const void *from, unsigned long bytes);
MR_EXPORT void *__tsan_memmove(void *to, const void *from, unsigned long bytes);
MR_EXPORT void *__tsan_memset(void *to, int value, unsigned long bytes);

#endif
