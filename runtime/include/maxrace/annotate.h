/*
 * maxrace/annotate.h: what a program can tell its recorder. Each call does nothing, and costs
 * little, when the program is not recorded; and nothing at all when it is not compiled by `maxrace
 * cc`.
 *
 * An opaque call is one into code that was not compiled by `maxrace cc`. What happens between begin
 * and end of two calls of different threads that can reach the same object is kept in the order
 * that was observed, so no race is reported that the code inside prevents:
 *
 *     maxrace_reach reach[] = {{queue, sizeof *queue}, {&lock, sizeof lock}};
 *     unsigned long call = maxrace_annotate_call_begin("queue_push", reach, 2);
 *     queue_push(queue, item);
 *     maxrace_annotate_call_end(call);
 *
 * With no objects (NULL, 0) the call can reach anything.
 *
 * Happens-before: what a thread did before maxrace_annotate_happens_before(object) comes before
 * what another does after maxrace_annotate_happens_after(object), when the first call came first in
 * the recorded run.
 */
#ifndef MAXRACE_ANNOTATE_H
#define MAXRACE_ANNOTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct maxrace_reach {
    const volatile void *address;
    size_t bytes;
} maxrace_reach;

#if defined(__SANITIZE_THREAD__) || defined(MAXRACE_RUNTIME)
#define MAXRACE_ANNOTATE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MAXRACE_ANNOTATE 1
#endif
#endif

#ifdef MAXRACE_ANNOTATE
unsigned long maxrace_annotate_call_begin(const char *name, const maxrace_reach *reach,
                                          size_t count);
void maxrace_annotate_call_end(unsigned long call);
void maxrace_annotate_happens_before(const volatile void *object);
void maxrace_annotate_happens_after(const volatile void *object);
#else
static inline unsigned long maxrace_annotate_call_begin(const char *name,
                                                        const maxrace_reach *reach, size_t count)
{
    (void)name;
    (void)reach;
    (void)count;
    return 0;
}
static inline void maxrace_annotate_call_end(unsigned long call)
{
    (void)call;
}
static inline void maxrace_annotate_happens_before(const volatile void *object)
{
    (void)object;
}
static inline void maxrace_annotate_happens_after(const volatile void *object)
{
    (void)object;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
