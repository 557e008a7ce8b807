#include "ignore.h"

#include "scheduler.h"
#include "tsan.h"
#include "writer.h"

void mr_ignore(mr_thread *thread, int reads, int writes, int sync)
{
    mr_ignores *ignores = &thread->ignores;
    ignores->reads += reads;
    ignores->writes += writes;
    ignores->sync += sync;
    if (ignores->reads > 0 || ignores->writes > 0 || ignores->sync > 0 || ignores->locks > 0) {
        __atomic_or_fetch(&thread->attention, MR_ATTENTION_IGNORE, __ATOMIC_RELAXED);
    } else {
        __atomic_and_fetch(&thread->attention, ~(uint32_t)MR_ATTENTION_IGNORE, __ATOMIC_RELAXED);
    }
}

/* Notes that the thread took the lock unrecorded; false: there is no room, so it is recorded. */
static bool take(mr_thread *thread, unsigned role, const void *address)
{
    mr_ignores *ignores = &thread->ignores;
    if (ignores->sync <= 0 || ignores->locks == MR_IGNORED_LOCKS_MAX) {
        return false;
    }
    ignores->taken[ignores->locks++] = (mr_ignored_lock){address, role};
    return true;
}

/* Was it taken so? Then it is given back. */
static bool give_back(mr_thread *thread, unsigned role, const void *address)
{
    mr_ignores *ignores = &thread->ignores;
    for (unsigned i = ignores->locks; i-- > 0;) {
        if (ignores->taken[i].address == address && ignores->taken[i].role == role) {
            ignores->taken[i] = ignores->taken[--ignores->locks];
            mr_ignore(thread, 0, 0, 0);
            return true;
        }
    }
    return false;
}

bool mr_ignore_object(mr_thread *thread, mr_log_kind kind, unsigned role, const void *address)
{
    if ((thread->attention & MR_ATTENTION_IGNORE) == 0) {
        return false;
    }
    switch ((int)kind) {
    case MR_LOG_ACQUIRE:
    case MR_LOG_SHARED_ACQUIRE:
        return take(thread, role, address);
    case MR_LOG_RELEASE:
    case MR_LOG_SHARED_RELEASE:
        return give_back(thread, role, address);
    case MR_LOG_POST:
    case MR_LOG_WAIT:
    case MR_LOG_BEFORE:
    case MR_LOG_AFTER:
    case MR_LOG_FENCE:
        return thread->ignores.sync > 0;
    default:
        return false;
    }
}

void mr_ignore_note_end(const mr_thread *thread)
{
    const mr_ignores *now = &thread->ignores;
    if (now->reads > 0 || now->writes > 0 || now->sync > 0) {
        mr_write_object(MR_LOG_NOTE, 0, NULL, 0, MR_LOG_NOTE_IGNORES, thread->id);
    }
}

/* Begins and ends are counted; an end without a begin does nothing. */
static void count(int reads, int writes, int sync)
{
    mr_thread *thread = mr_enter();
    if (thread == NULL) {
        return;
    }
    const mr_ignores *now = &thread->ignores;
    if (now->reads + reads >= 0 && now->writes + writes >= 0 && now->sync + sync >= 0) {
        mr_ignore(thread, reads, writes, sync);
    }
    mr_leave(thread);
}

void __tsan_ignore_thread_begin(void)
{
    count(1, 1, 0);
}

void __tsan_ignore_thread_end(void)
{
    count(-1, -1, 0);
}

#define DEFINE_IGNORE(name, reads, writes, sync)                                                   \
    MR_EXPORT void Annotate##name(const char *file, int line);                                     \
    void Annotate##name(const char *file, int line)                                                \
    {                                                                                              \
        (void)file;                                                                                \
        (void)line;                                                                                \
        count(reads, writes, sync);                                                                \
    }
DEFINE_IGNORE(IgnoreReadsBegin, 1, 0, 0)
DEFINE_IGNORE(IgnoreReadsEnd, -1, 0, 0)
DEFINE_IGNORE(IgnoreWritesBegin, 0, 1, 0)
DEFINE_IGNORE(IgnoreWritesEnd, 0, -1, 0)
DEFINE_IGNORE(IgnoreSyncBegin, 0, 0, 1)
DEFINE_IGNORE(IgnoreSyncEnd, 0, 0, -1)
#undef DEFINE_IGNORE
