/*
 * held: for contended locks, which sections a thread of a window is in at a point of its program
 * order, and which threads have entered a lock how far into their own events.
 *
 * From this solver/linearise.c finds the sections that are open at the ends of a set of events (one
 * prefix for each thread) at the cost of the open ones, however many sections the set contains.
 *
 * A thread's open sections are a list, of which each acquire and release makes a new version.
 * Versions share their tails. An acquire puts one entry in front. A release of the innermost
 * section goes back to the tail. Any other release leaves the section's entry in the list, and
 * readers pass over it (mr_held_is_left). When a list has more left sections than open ones, it is
 * written anew without them. So there are at most two entries a section, and reading a list costs
 * at most twice the number of open sections.
 *
 * All memory is the window's arena: at most 48 bytes a section, and 20 more when some chain of threads has several.
 * O(window + sections) to build.
 */
#ifndef MR_WINDOWS_HELD_H
#define MR_WINDOWS_HELD_H

#include "window.h"

typedef struct mr_held_entry {
    uint32_t section;
    uint32_t next; /* MR_NONE: the end of the list */
} mr_held_entry;

/* The sections of a lock that one thread, or a chain of threads (trace/chains.h), enters in one way:
 * entered[first … end), in trace order, the one that is carried in first. */
typedef struct mr_lock_user {
    uint32_t thread; /* of a chain: one of its threads */
    bool shared;
    uint32_t first, end;
} mr_lock_user;

typedef struct mr_lock_users {
    uint32_t *first;   /* one a lock and one more: its users are [first, next first) */
    mr_lock_user *of;  /* those of a lock by thread, exclusive before shared */
    uint32_t *entered; /* sections */
} mr_lock_users;

typedef struct mr_held {
    uint32_t *change_first; /* one a thread and one more: its changes are [first, next first) */
    uint32_t *change_from;  /* one a change: prefixes of this length and longer have its list */
    uint32_t *change_head;  /* first entry of the list; MR_NONE: empty */
    mr_held_entry *entries;
    mr_lock_users by_thread;
    mr_lock_users by_chain; /* the same memory when each thread is a chain of its own */
} mr_held;

/* Fills window->held of a window that has its sections. mr_window_build calls it. False: no
 * memory. */
bool mr_window_build_held(mr_window *window, mr_arena *arena);

/* Is the section left within the first `length` events of its thread? */
static inline bool mr_held_is_left(const mr_window *w, const mr_section *section, uint32_t length)
{
    return section->release != MR_NONE && w->position[section->release] < length;
}

/* The list of the sections that `thread` is in after its first `length` events; entries for which
 * mr_held_is_left are to be passed over. O(log changes). */
uint32_t mr_held_at(const mr_held *held, uint32_t thread, uint32_t length);

/* The first user in by_thread of the lock with this thread or a later one; may be the lock's end. O(log). */
uint32_t mr_held_user_from(const mr_held *held, uint32_t lock, uint32_t thread);

/*
 * Is one of the sections of `user`, of by_thread, beyond the section `after` of its lock, entered within the
 * first `length` events of its thread? Sections of a lock are numbered in trace order. O(log).
 */
bool mr_held_enters_after(const mr_window *w, const mr_lock_user *user, uint32_t length,
                          uint32_t after);

#endif
