/*
 * value_locks: variables of a window that are locks by their values alone, as spin locks are.
 *
 * x is one, with the free value f, when in the window
 *   - each write of x is an *acquire*, an atomic update that reads f and writes something else, or a
 *     *release*, a write of f;
 *   - in each thread they alternate. At most one thread begins with a release, and only when the
 *     value that is carried in is not f: it *holds* x when the window starts.
 *
 * Then in model value no reordering has two threads inside sections of x at once, where a thread is
 * inside after its acquire and up to its release, which the release is not yet done at. Proof: the
 * value is f when nobody is inside, and not f when one thread is; so it stays. At the start this is
 * so, or the value is not f although the holder never acquired. An acquire reads f, so nobody is
 * inside, and then one is. A release is done by a thread that is inside, hence by the only one, and
 * then nobody is.
 *
 * So two accesses inside sections of x, by two threads, are no race. The release itself is inside: it
 * is next when the section is not left yet. The acquire is not. In model branch a thread that has
 * diverged acquires whatever it sees, so there are no such locks; in model rf reads tell more.
 */
#ifndef MR_WINDOWS_VALUE_LOCKS_H
#define MR_WINDOWS_VALUE_LOCKS_H

#include "window.h"

typedef struct mr_value_locks {
    uint32_t count, sections;
    uint32_t *holder; /* one a lock: thread that holds it at the start; MR_NONE: none */
    uint32_t
        *changes; /* one an event: 2 * lock, + 1 when it acquires; MR_NONE: neither. NULL: there
                          are no locks */
} mr_value_locks;

/* Of a window that has its accesses. The memory is the arena's. False: no memory. O(window). */
bool mr_value_locks_find(const mr_window *window, mr_value_locks *found, mr_arena *arena);

#endif
