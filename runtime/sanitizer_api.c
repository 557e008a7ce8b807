/*
 * The functions that all sanitizers have (<sanitizer/common_interface_defs.h>, allocator_interface.h,
 * coverage_interface.h). Memory comes from glibc's allocator, which answers for it. There is no
 * report to write, and no coverage is kept.
 */
#include "scheduler.h"
#include "sys.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/syscall.h>

#define NO_EFFECT(name)                                                                            \
    MR_EXPORT void name(void);                                                                     \
    void name(void)                                                                                \
    {                                                                                              \
    }

/* Reports. */
NO_EFFECT(__sanitizer_set_report_path)
NO_EFFECT(__sanitizer_set_report_fd)
NO_EFFECT(__sanitizer_report_error_summary)
NO_EFFECT(__sanitizer_set_death_callback)
NO_EFFECT(__sanitizer_sandbox_on_notify)
NO_EFFECT(__sanitizer_on_print)

MR_EXPORT const char *__sanitizer_get_report_path(void);
const char *__sanitizer_get_report_path(void)
{
    return NULL;
}

/* The first caller gets it. */
MR_EXPORT int __sanitizer_acquire_crash_state(void);
int __sanitizer_acquire_crash_state(void)
{
    static int taken;
    return __atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED) == 0;
}

/* Coverage, which -fsanitize-coverage asks for; comparisons are in operands.c. */
NO_EFFECT(__sanitizer_cov_8bit_counters_init)
NO_EFFECT(__sanitizer_cov_bool_flag_init)
NO_EFFECT(__sanitizer_cov_dump)
NO_EFFECT(__sanitizer_cov_pcs_init)
NO_EFFECT(__sanitizer_cov_reset)
NO_EFFECT(__sanitizer_cov_trace_cmp)
NO_EFFECT(__sanitizer_cov_trace_div4)
NO_EFFECT(__sanitizer_cov_trace_div8)
NO_EFFECT(__sanitizer_cov_trace_gep)
NO_EFFECT(__sanitizer_cov_trace_pc_guard)
NO_EFFECT(__sanitizer_cov_trace_pc_guard_init)
NO_EFFECT(__sanitizer_cov_trace_pc_indir)
NO_EFFECT(__sanitizer_dump_coverage)
NO_EFFECT(__sanitizer_dump_trace_pc_guard_coverage)

/* Hooks of fuzzers, which define them. */
NO_EFFECT(__sanitizer_weak_hook_memcmp)
NO_EFFECT(__sanitizer_weak_hook_memmem)
NO_EFFECT(__sanitizer_weak_hook_strcasecmp)
NO_EFFECT(__sanitizer_weak_hook_strcasestr)
NO_EFFECT(__sanitizer_weak_hook_strcmp)
NO_EFFECT(__sanitizer_weak_hook_strncasecmp)
NO_EFFECT(__sanitizer_weak_hook_strncmp)
NO_EFFECT(__sanitizer_weak_hook_strstr)
NO_EFFECT(__sanitizer_malloc_hook)
NO_EFFECT(__sanitizer_free_hook)

/* 0: they could not be installed. */
MR_EXPORT int __sanitizer_install_malloc_and_free_hooks(void *given, void *freed);
int __sanitizer_install_malloc_and_free_hooks(void *given, void *freed)
{
    (void)given;
    (void)freed;
    return 0;
}

/* No block is of a sanitizer's allocator. */
MR_EXPORT int __sanitizer_get_ownership(const volatile void *block);
int __sanitizer_get_ownership(const volatile void *block)
{
    (void)block;
    return 0;
}

#define DEFINE_SIZE(name, parameters, value)                                                       \
    MR_EXPORT size_t __sanitizer_get_##name parameters;                                            \
    size_t __sanitizer_get_##name parameters                                                       \
    {                                                                                              \
        return value;                                                                              \
    }
DEFINE_SIZE(estimated_allocated_size, (size_t bytes), bytes)
DEFINE_SIZE(allocated_size, (const volatile void *block), malloc_usable_size((void *)block))
DEFINE_SIZE(current_allocated_bytes, (void), mallinfo2().uordblks + mallinfo2().hblkhd)
DEFINE_SIZE(heap_size, (void), mallinfo2().arena + mallinfo2().hblkhd)
DEFINE_SIZE(free_bytes, (void), mallinfo2().fordblks)
DEFINE_SIZE(unmapped_bytes, (void), 0)
#undef DEFINE_SIZE

/* Code and data as their symbols say. */
static void describe(const void *address, char *text, size_t bytes)
{
    Dl_info info;
    if (bytes == 0) {
        return;
    }
    bool known = dladdr(address, &info) != 0 && info.dli_sname != NULL;
    mr_copy_text(text, bytes, known ? info.dli_sname : "<unknown>");
}

MR_EXPORT void __sanitizer_symbolize_pc(void *code, const char *format, char *text, size_t bytes);
void __sanitizer_symbolize_pc(void *code, const char *format, char *text, size_t bytes)
{
    (void)format;
    describe(code, text, bytes);
}

MR_EXPORT void __sanitizer_symbolize_global(void *data, const char *format, char *text,
                                            size_t bytes);
void __sanitizer_symbolize_global(void *data, const char *format, char *text, size_t bytes)
{
    (void)format;
    describe(data, text, bytes);
}

MR_EXPORT int __sanitizer_get_module_and_offset_for_pc(void *code, char *path, size_t bytes,
                                                       void **offset);
int __sanitizer_get_module_and_offset_for_pc(void *code, char *path, size_t bytes, void **offset)
{
    Dl_info info;
    if (dladdr(code, &info) == 0) {
        return 0;
    }
    if (bytes > 0) {
        mr_copy_text(path, bytes, info.dli_fname != NULL ? info.dli_fname : "");
    }
    *offset = (void *)((uintptr_t)code - (uintptr_t)info.dli_fbase);
    return 1;
}

static size_t put_number(char *to, uint64_t value, unsigned base)
{
    char digits[24];
    size_t count = 0, length = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0) {
        to[length++] = digits[--count];
    }
    return length;
}

/* One line on standard error. */
static void print_call(uint32_t number, uintptr_t code)
{
    char line[256] = "    #";
    size_t length = 5;
    length += put_number(line + length, number, 10);
    length += mr_copy_text(line + length, sizeof line - length, " 0x");
    length += put_number(line + length, code, 16);
    length += mr_copy_text(line + length, sizeof line - length, " in ");
    describe((const void *)code, line + length, sizeof line - length - 1);
    while (line[length] != '\0') {
        length++;
    }
    line[length++] = '\n';
    mr_sys(SYS_write, 2, (long)line, (long)length, 0, 0, 0);
}

/* The calls of the thread, the innermost first. */
MR_EXPORT void __sanitizer_print_stack_trace(void);
void __sanitizer_print_stack_trace(void)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    uint32_t depth = thread->depth < MR_FRAMES_MAX ? thread->depth : MR_FRAMES_MAX;
    print_call(0, MR_CALLER);
    for (uint32_t i = 0; i < depth; i++) {
        print_call(i + 1, thread->frames[depth - 1 - i].caller);
    }
    mr_leave(thread);
}
