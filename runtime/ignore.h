/*
 * ignore: what a thread asks not to be recorded.
 *
 * While `ignores.writes` of a thread is above zero, its writes are not logged, neither its own nor those
 * that libc makes for it. While `ignores.reads` is, its reads are logged with MR_LOG_IGNORED: what the thread
 * does later depends on what they saw. While `ignores.sync` is above zero, its
 * synchronisation is not logged: locks that it takes and gives back meanwhile, semaphores, orders;
 * its atomic accesses are relaxed. A lock that was taken before is released in the log, and one that
 * was taken meanwhile is not. While all three are above zero (inside of an annotated lock), none of its
 * accesses is logged, atomic or not. Threads take turns as always. A signal handler that
 * interrupts the thread is recorded.
 *
 * What another thread then reads, no recorded write wrote: such variables are treated as in rf
 * (docs/semantics.md 2.6).
 */
#ifndef MR_RUNTIME_IGNORE_H
#define MR_RUNTIME_IGNORE_H

#include "state.h"

/* Adds to the counts; the last write of the thread is settled. */
void mr_ignore(mr_thread *thread, int reads, int writes, int sync);

static inline bool mr_ignores_reads(const mr_thread *thread)
{
    return (thread->attention & MR_ATTENTION_IGNORE) != 0 && thread->ignores.reads > 0;
}

static inline bool mr_ignores_writes(const mr_thread *thread)
{
    return (thread->attention & MR_ATTENTION_IGNORE) != 0 && thread->ignores.writes > 0;
}

static inline bool mr_ignores_sync(const mr_thread *thread)
{
    return (thread->attention & MR_ATTENTION_IGNORE) != 0 && thread->ignores.sync > 0;
}

static inline bool mr_ignores_all(const mr_thread *thread)
{
    return mr_ignores_reads(thread) && mr_ignores_writes(thread) && mr_ignores_sync(thread);
}

/* The detail of a read that the thread makes now: `detail`, with MR_LOG_IGNORED when it is to be ignored. Nobody asks
 * then whether it is volatile. */
static inline unsigned mr_ignore_detail(const mr_thread *thread, unsigned detail)
{
    return mr_ignores_reads(thread) ? (detail & ~MR_LOG_VOLATILE) | MR_LOG_IGNORED : detail;
}

/* The thread ends: notes that it still ignores something. */
void mr_ignore_note_end(const mr_thread *thread);

/* Is this record of synchronisation to be left out? Keeps the account of locks that are. */
bool mr_ignore_object(mr_thread *thread, mr_log_kind kind, unsigned role, const void *address);

#endif
