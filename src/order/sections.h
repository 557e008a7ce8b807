/*
 * sections: the critical sections of the locks that several threads use, as WCP needs them.
 *
 * Algorithm 1 of the WCP paper has two queues, of acquire and release times, for each lock and
 * thread. Here each lock has one log of its released sections, in trace order, and each thread that
 * uses the lock a cursor into it. A section lives while the log, its thread or a variable ("the
 * last section that accessed me") refers to it.
 *
 * With an outlook, who will use a lock how often is known. A section leaves the log soon after the
 * cursors of all threads that will release the lock again have passed it. So the memory is that of
 * the releases that some thread has not passed yet: a section each, and a clock that sections often
 * share. In the worst case this is linear in the trace, which cannot be avoided (Theorem 4).
 *
 * Shared sections have logs of their own, one for each lock and *reader*, a thread with shared
 * sections of the lock. The reason is that shared sections of different threads are not ordered,
 * while those of one reader are ordered among each other and with all exclusive ones. Readers' logs
 * keep all their sections.
 *
 * Without an outlook no section leaves a log, because a thread that has had no event yet may still
 * use the lock and need any section of it. Memory is then 32 bytes and at most one clock for each
 * outermost section in the trace.
 */
#ifndef MR_ORDER_SECTIONS_H
#define MR_ORDER_SECTIONS_H

#include "base/map.h"
#include "clock.h"
#include "trace/outlook.h"

typedef struct mr_section {
    mr_clock *clock; /* HB clock at the release; not meaningful before */
    uint32_t thread;
    uint32_t acquired, released; /* local times of the two events */
    uint32_t references;
} mr_section;

typedef struct mr_lock_user {
    uint32_t thread, next;  /* next user of the same lock, MR_NONE: last */
    uint32_t cursor;        /* position of the first section that is not passed */
    uint32_t sections_left; /* sections of this thread that end later; 0 when not known */
    bool has_own;           /* the log has sections of this thread, or had them */
} mr_lock_user;

typedef struct mr_logged {
    uint32_t section, thread;
} mr_logged;

/* A release; local 0: none. */
typedef struct mr_release {
    uint32_t thread, local;
} mr_release;

typedef struct mr_lock_log {
    mr_logged *items; /* the released sections; those before `head` are gone */
    size_t head, count, capacity;
    mr_release last, other; /* the last release, and the last one by another thread than that */
    uint32_t first;         /* position of items[head]; the n-th released section has position n */
    uint32_t first_user;    /* MR_NONE: nobody yet */
    uint32_t recent_user;   /* MR_NONE, or who used it last */
    uint32_t user_count;
    uint32_t since_forgetting; /* sections closed */
    uint32_t first_reader;     /* of the lock; MR_NONE: none */
} mr_lock_log;

/* Logs are numbered: that of the exclusive sections of a lock as the lock, a reader's as
 * MR_LOG_READER + number of the reader. */
#define MR_LOG_READER (UINT32_C(1) << 31)

typedef struct mr_reader {
    uint32_t thread, next; /* next reader of the lock, MR_NONE: last */
    mr_lock_log log;
} mr_reader;

/* Zero-initialise. */
typedef struct mr_sections {
    mr_clock_pool *pool; /* borrowed */
    bool forgetful;      /* is there an outlook? */
    mr_section *items;
    size_t count, capacity;
    mr_u32s unused;
    mr_lock_log *logs; /* by lock */
    size_t lock_count, lock_capacity;
    mr_reader *readers;
    size_t reader_count, reader_capacity;
    mr_map reader_numbers; /* (lock, thread) */
    mr_lock_user *users;
    size_t user_count, user_capacity;
    mr_map user_numbers; /* (log, thread) */
} mr_sections;

/* There are so many locks from now on. False: no memory. */
bool mr_sections_grow(mr_sections *sections, uint32_t lock_count);
/* Takes from the outlook who will use the locks; before the first section, after mr_sections_grow.
 * False: no memory. */
bool mr_sections_foresee(mr_sections *sections, const mr_outlook *outlook);
void mr_sections_free(mr_sections *sections);

/* The number of the thread as a user of the log. False: no memory. O(1) for the last one. */
bool mr_sections_user(mr_sections *sections, uint32_t log, uint32_t thread, uint32_t *user);

/* The number of the thread's log of shared sections, made when new. False: no memory. */
bool mr_sections_reader(mr_sections *sections, uint32_t lock, uint32_t thread, uint32_t *log);

/* A new section of the thread, with one reference. False: no memory. */
bool mr_section_open(mr_sections *sections, uint32_t thread, uint32_t local, uint32_t *section);
/* Puts the section into the log with the time of its release; takes over the caller's reference and
 * drops what nobody needs any more. `user` is the thread as a user of the lock. Amortised O(1).
 * False: no memory. */
bool mr_section_close(mr_sections *sections, uint32_t log, uint32_t user, uint32_t section,
                      mr_time release);

/* Forgets all sections, also open ones. */
void mr_sections_forget(mr_sections *sections);
/* A section of the thread, foreseen by the outlook, will not come. False: no memory. */
bool mr_sections_miss(mr_sections *sections, uint32_t lock, uint32_t thread);

void mr_section_share(mr_sections *sections, uint32_t section);
void mr_section_drop(mr_sections *sections, uint32_t section);

static inline mr_time mr_section_time(const mr_sections *sections, uint32_t section)
{
    const mr_section *item = &sections->items[section];
    return (mr_time){item->clock, item->thread, item->released};
}

static inline mr_lock_log *mr_sections_log(const mr_sections *sections, uint32_t number)
{
    return number < MR_LOG_READER ? &sections->logs[number]
                                  : &sections->readers[number - MR_LOG_READER].log;
}

/* The section at a cursor's position, or MR_NONE at the end of the log. */
static inline uint32_t mr_sections_at(const mr_sections *sections, uint32_t number,
                                      uint32_t position)
{
    const mr_lock_log *log = mr_sections_log(sections, number);
    size_t index = log->head + (position - log->first);
    return index < log->count ? log->items[index].section : MR_NONE;
}

/* The last release of the log by another thread. */
static inline mr_release mr_sections_foreign(const mr_sections *sections, uint32_t number,
                                             uint32_t thread)
{
    const mr_lock_log *log = mr_sections_log(sections, number);
    return log->last.thread == thread ? log->other : log->last;
}

#endif
