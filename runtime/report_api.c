/*
 * The part of ThreadSanitizer's interface that is about its reports and its own memory. The program
 * is only recorded and nothing is reported while it runs. So there is no report to ask about, and
 * hooks that ThreadSanitizer calls for a report are not called, but for suppressions: these
 * definitions are for programs that do not define them.
 */
#include "scheduler.h"

#include <stddef.h>

#define NOTHING(result, name, parameters, value)                                                   \
    MR_EXPORT result name parameters;                                                              \
    result name parameters                                                                         \
    {                                                                                              \
        return value;                                                                              \
    }
#define NO_EFFECT(name, parameters)                                                                \
    MR_EXPORT void name parameters;                                                                \
    void name parameters                                                                           \
    {                                                                                              \
    }

/* Given by programs. */
NOTHING(const char *, __tsan_default_options, (void), "")
NOTHING(const char *, __tsan_default_suppressions, (void), "") /* called: suppressions.h */
NO_EFFECT(__tsan_on_report, (void *report __attribute__((unused))))
NOTHING(int, __tsan_symbolize_external,
        (uintptr_t code __attribute__((unused)), char *function __attribute__((unused)),
         int function_bytes __attribute__((unused)), char *file __attribute__((unused)),
         int file_bytes __attribute__((unused)), int *line __attribute__((unused)),
         int *column __attribute__((unused))),
        0)
NO_EFFECT(__tsan_symbolize_external_ex,
          (uintptr_t code __attribute__((unused)), void *add_frame __attribute__((unused)),
           void *context __attribute__((unused))))

/* There is no report: each of these has 0 for "not found". */
NOTHING(void *, __tsan_get_current_report, (void), NULL)
#define NO_REPORT(name) NOTHING(int, name, (void), 0)
NO_REPORT(__tsan_get_report_data)
NO_REPORT(__tsan_get_report_tag)
NO_REPORT(__tsan_get_report_stack)
NO_REPORT(__tsan_get_report_mop)
NO_REPORT(__tsan_get_report_loc)
NO_REPORT(__tsan_get_report_loc_object_type)
NO_REPORT(__tsan_get_report_mutex)
NO_REPORT(__tsan_get_report_thread)
NO_REPORT(__tsan_get_report_unique_tid)
NO_REPORT(__tsan_get_alloc_stack)
NOTHING(const char *, __tsan_locate_address,
        (uintptr_t address __attribute__((unused)), char *name, size_t name_bytes,
         uintptr_t *region, uintptr_t *region_bytes),
        (name_bytes > 0 ? (name[0] = '\0') : '\0', *region = 0, *region_bytes = 0, ""))

/* Its own memory. */
NO_EFFECT(__tsan_flush_memory, (void))
NO_EFFECT(__tsan_on_thread_idle, (void))
NO_EFFECT(__tsan_test_only_on_fork, (void))

/* Tags of external objects: only their addresses matter here (__tsan_external_read). */
MR_EXPORT void *__tsan_external_register_tag(const char *type);
void *__tsan_external_register_tag(const char *type)
{
    static uintptr_t tags;
    (void)type;
    return (void *)__atomic_add_fetch(&tags, 1, __ATOMIC_RELAXED);
}
NO_EFFECT(__tsan_external_register_header,
          (void *tag __attribute__((unused)), const char *header __attribute__((unused))))
NO_EFFECT(__tsan_external_assign_tag,
          (void *address __attribute__((unused)), void *tag __attribute__((unused))))

/* How many functions the calling thread is in. */
MR_EXPORT unsigned long __tsan_testonly_shadow_stack_current_size(void);
unsigned long __tsan_testonly_shadow_stack_current_size(void)
{
    return mr_self != NULL ? mr_self->depth : 0;
}
