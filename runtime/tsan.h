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
MR_EXPORT void __tsan_external_read(void *address, void *code, void *tag);
MR_EXPORT void __tsan_external_write(void *address, void *code, void *tag);
MR_EXPORT uint16_t __sanitizer_unaligned_load16(const void *address);
MR_EXPORT uint32_t __sanitizer_unaligned_load32(const void *address);
MR_EXPORT uint64_t __sanitizer_unaligned_load64(const void *address);
MR_EXPORT void __sanitizer_unaligned_store16(void *address, uint16_t value);
MR_EXPORT void __sanitizer_unaligned_store32(void *address, uint32_t value);
MR_EXPORT void __sanitizer_unaligned_store64(void *address, uint64_t value);
MR_EXPORT void *__tsan_get_current_fiber(void);
MR_EXPORT void *__tsan_create_fiber(unsigned flags);
MR_EXPORT void __tsan_destroy_fiber(void *fiber);
MR_EXPORT void __tsan_switch_to_fiber(void *fiber, unsigned flags);
MR_EXPORT void __tsan_set_fiber_name(void *fiber, const char *name);
MR_EXPORT void __tsan_testonly_barrier_init(uint64_t *barrier, unsigned count);
MR_EXPORT void __tsan_testonly_barrier_wait(uint64_t *barrier);
MR_EXPORT void *__tsan_memcpy(void *to, const void *from, unsigned long bytes);
MR_EXPORT void *__tsan_memmove(void *to, const void *from, unsigned long bytes);
MR_EXPORT void *__tsan_memset(void *to, int value, unsigned long bytes);

#endif
