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
 *
 * Atomic accesses and fences in assembly that the recorder does not see by itself (docs/recording.md): what stands between
 * begin and end is done in one step, as no other thread runs meanwhile. So nothing but the assembly
 * may stand there. The orders are those of the compiler, __ATOMIC_RELAXED to __ATOMIC_SEQ_CST:
 *
 *     maxrace_atomic atomic;
 *     maxrace_annotate_atomic_begin(&atomic, &lock->word, sizeof lock->word);
 *     __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(lock->word) : : "memory");
 *     maxrace_annotate_atomic_end(&atomic, MAXRACE_ATOMIC_UPDATE, __ATOMIC_SEQ_CST);
 *
 * A compare and exchange that fails is a MAXRACE_ATOMIC_READ.
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

/* 1, 2, 4, 8 or 16 bytes; others are not recorded. */
typedef struct maxrace_atomic {
    const volatile void *address;
    size_t bytes;
    unsigned char before[16];
} maxrace_atomic;

typedef enum maxrace_atomic_access {
    MAXRACE_ATOMIC_READ,
    MAXRACE_ATOMIC_WRITE,
    MAXRACE_ATOMIC_UPDATE /* a read and a write in one step */
} maxrace_atomic_access;

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
void maxrace_annotate_atomic_begin(maxrace_atomic *atomic, const volatile void *address,
                                   size_t bytes);
void maxrace_annotate_atomic_end(const maxrace_atomic *atomic, maxrace_atomic_access access,
                                 int order);
void maxrace_annotate_fence(int order);
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
static inline void maxrace_annotate_atomic_begin(maxrace_atomic *atomic,
                                                 const volatile void *address, size_t bytes)
{
    (void)atomic;
    (void)address;
    (void)bytes;
}
static inline void maxrace_annotate_atomic_end(const maxrace_atomic *atomic,
                                               maxrace_atomic_access access, int order)
{
    (void)atomic;
    (void)access;
    (void)order;
}
static inline void maxrace_annotate_fence(int order)
{
    (void)order;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
