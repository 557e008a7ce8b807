/*
 * sections: the critical sections of the locks that several threads use, as WCP needs them.
 *
 * Algorithm 1 of the WCP paper has two queues, of acquire and release times, for each lock and
 * thread. Here each lock has one log of its released sections, in trace order, and each thread that
 * uses the lock a cursor into it. A section leaves the log when the cursors of all threads that
 * will release the lock again have passed it. It lives on while the log, its thread or a variable
 * ("the last section that accessed me") refers to it.
 *
 * Memory: a section for each release that some thread has yet to pass, with its clock, which is
 * usually shared; in the worst case that is linear in the trace, as it must be (Theorem 4).
 */
#ifndef MR_ORDER_SECTIONS_H
#define MR_ORDER_SECTIONS_H

#include "clock.h"
#include "map.h"
#include "sharing.h"

typedef struct mr_section {
    mr_clock *clock; /* HB clock at the release; not meaningful before */
    uint32_t thread;
    uint32_t acquired, released; /* local times of the two events */
    uint32_t references;
} mr_section;

typedef struct mr_lock_user {
    uint32_t thread, next;  /* next user of the same lock, MR_NONE: last */
    uint32_t cursor;        /* position of the first section that is not passed */
    uint32_t sections_left; /* sections of this thread that begin later in the trace */
} mr_lock_user;

typedef struct mr_lock_log {
    mr_u32s sections; /* numbers of sections; those before `head` are gone */
    size_t head;
    uint32_t first; /* position of sections.items[head]; the n-th released section has position n */
    uint32_t first_user; /* MR_NONE: the lock is not shared */
} mr_lock_log;

typedef struct mr_sections {
    mr_clock_pool *pool; /* borrowed */
    mr_section *items;
    size_t count, capacity;
    mr_u32s unused;
    mr_lock_log *logs; /* by lock */
    uint32_t lock_count;
    mr_lock_user *users;
    size_t user_count, user_capacity;
    mr_map user_numbers; /* (lock, thread) */
} mr_sections;

/* Counts, in one pass over the trace, who will use which shared lock how often. False: no memory
 * (mr_sections_free is still fine). */
bool mr_sections_init(mr_sections *sections, const mr_trace *trace, const mr_sharing *sharing,
                      mr_clock_pool *pool);
void mr_sections_free(mr_sections *sections);

/* A new section with one reference. False: no memory. */
bool mr_section_open(mr_sections *sections, uint32_t lock, uint32_t thread, uint32_t local,
                     uint32_t *section);
/* Puts the section into the log of the lock with the time of its release; takes over the caller's
 * reference and drops what nobody needs any more. O(users of the lock). False: no memory. */
bool mr_section_close(mr_sections *sections, uint32_t lock, uint32_t section, mr_time release);

void mr_section_share(mr_sections *sections, uint32_t section);
void mr_section_drop(mr_sections *sections, uint32_t section);

static inline mr_time mr_section_time(const mr_sections *sections, uint32_t section)
{
    const mr_section *item = &sections->items[section];
    return (mr_time){item->clock, item->thread, item->released};
}

mr_lock_user *mr_sections_user(const mr_sections *sections, uint32_t lock, uint32_t thread);

/* The section at a cursor's position, or MR_NONE at the end of the log. */
static inline uint32_t mr_sections_at(const mr_sections *sections, uint32_t lock, uint32_t position)
{
    const mr_lock_log *log = &sections->logs[lock];
    size_t index = log->head + (position - log->first);
    return index < log->sections.count ? log->sections.items[index] : MR_NONE;
}

#endif
