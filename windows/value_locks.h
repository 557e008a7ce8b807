/*
 * value_locks: variables of a window that are locks by their values alone: spin locks, and counts of
 * users that become something else when nobody uses it.
 *
 * x is a *spin lock*, with the free value f, when in the window each write of x fits the state of its
 * thread, which is *inside* or not; at the start none is, but at most one, the *holder*. What fits:
 *   - a thread that is not inside: an *acquire*, an atomic update that reads f and writes something else:
 *     it is inside; a *mark*, an update that reads something else than f and writes something else than
 *     f; an update that reads and writes f;
 *   - a thread that is inside: a *release*, a write of f: it is not inside; any write of something else, but
 *     for an update that reads f.
 * A thread whose first acquire or release is a release is the holder, when the value that is carried in is not f.
 *
 * Then in model value no reordering has two threads inside sections of x at once, where a thread is
 * inside after its acquire and up to its release, which the release is not yet done at. Proof: the
 * value is f when nobody is inside, and not f when one thread is; so it stays. At the start this is
 * so, or the value is not f although the holder never acquired, or not f though nobody is inside, and then
 * nobody comes inside. An acquire reads f, so nobody is inside, and then one is. A mark changes neither: so a lock says
 * that a thread waits for it (free, taken, taken and waited for). A release is done by a thread that is inside, hence
 * by the only one, and then nobody is. What else a thread that is inside writes is not f.
 *
 * x is a *counting lock* when its value at the start is known, and each write of x after the start
 * fits the state of its thread, which has so many *units* and is *inside* or not. A value of 0 and
 * more is a count. There may be one other value that stands for nobody, the *idle* value; all others
 * are *busy*. At the start a thread has no units and is not inside. What fits:
 *   - a thread that is not inside: an update that reads a count n and writes n + 1: one unit more; that
 *     reads n > 0 and writes n - 1: one unit less, or, of a thread without units, one of those that
 *     are there at the start, which are the count at the start; that reads as many as it has units, or the idle
 *     value by a thread without units, and writes a busy value: it is inside and has no units; that reads
 *     so and writes a count or the idle value: it has so many units; that writes what it reads, when that is not busy;
 *   - a thread that is inside: any write. Of a busy value: it stays inside. Of a count: it is not inside
 *     and has so many units. Of the idle value: neither.
 * The start is the window's, and the value the one that is carried in. Or it is the last of the first writes,
 * when one thread does these and then forks all others that write x: nobody else is there before.
 * When the busy value of the start is read by a thread as its first write of x, that thread is
 * inside from the start: the holder. An update of a thread that is inside reads what it wrote last.
 *
 * Then in model value, at each point of a reordering: when nobody is inside, the value is the number of
 * units of all threads and of those of the start that are left, or it is the idle value and there are none;
 * when the value is busy, one thread is inside and nobody has units; and never two are. Proof: so it is
 * at the start. Who is not inside reads a count or the idle value, hence nobody is inside, and the number of
 * units follows the value. It enters, or sets the count at once, only from the idle value, when
 * there are no units, or from the number of its own ones, when there are no others: so a lock for readers and
 * writers is upgraded by the last reader. Who is inside is the only one, and what it writes says how it leaves. So a thread
 * with units (*shared*) and one that is inside, or two that are inside, are never there at once.
 *
 * A variable that only counts, and never has a busy value, is found, too: as long as a thread has units it is not 0 (occupied.h).
 *
 * So two accesses inside sections of x, by two threads, not both shared, are no race. The release itself
 * is inside: it is next when the section is not left yet. The acquire is not. A plain write that a lock guards is
 * as an update (guarded_writes.h): a lock that is made of a flag and a mutex is one, too. Only locks that several threads take are found, and those of
 * guarded writes only where they are few. In model branch a thread
 * that has diverged acquires whatever it sees, so there are no such locks; in model rf reads tell more.
 */
#ifndef MR_WINDOWS_VALUE_LOCKS_H
#define MR_WINDOWS_VALUE_LOCKS_H

#include "window.h"

typedef enum mr_value_change {
    MR_VALUE_RELEASE,
    MR_VALUE_ACQUIRE,
    MR_VALUE_ACQUIRE_SHARED,
    MR_VALUE_DOWNGRADE, /* inside before, with units after */
    MR_VALUE_UPGRADE,   /* with units before, inside after */
    MR_VALUE_CHANGES,   /* how many there are */
} mr_value_change;

/* What the values of a lock say. */
typedef struct mr_value_lock_kind {
    uint32_t variable; /* MR_NONE: it is a semaphore */
    /* False: a count that nobody is ever inside of; its sections are all shared. */
    bool keeps_apart;
    bool counts; /* a counting lock; else a spin lock */
    /* A counting lock that begins after the first writes, and not with the window. */
    bool begins_late;
    bool has_idle;       /* of a counting lock */
    int64_t idle;        /* of a counting lock that has it */
    uint32_t free_value; /* of a spin lock: index */
} mr_value_lock_kind;

/* Filled by mr_value_locks_find, then by mr_unit_locks_find (unit_locks.h). */
typedef struct mr_value_locks {
    uint32_t count, sections;
    uint32_t *holder;          /* one a lock: thread that holds it at the start; MR_NONE: none */
    mr_value_lock_kind *kinds; /* one a lock */
    /* One an event: MR_VALUE_CHANGES * lock + mr_value_change; MR_NONE: neither. NULL: there are no locks. */
    uint32_t *changes;
} mr_value_locks;

/* Of a window that has its accesses. The memory is the arena's. False: no memory. O(window). */
bool mr_value_locks_find(const mr_window *window, mr_value_locks *found, mr_arena *arena);

/* Adds a lock with so many sections, without its changes. `*lock`: its number. False: no memory. */
bool mr_value_locks_add(const mr_window *window, mr_value_locks *found,
                        const mr_value_lock_kind *kind, uint32_t holder, uint32_t sections,
                        uint32_t *lock, mr_arena *arena);

/* Is the value one that a counting lock counts with? */
bool mr_value_is_count(int64_t value);

#endif
