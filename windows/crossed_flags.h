/*
 * crossed_flags: two flags that are a lock together: a thread raises its own one and then sees that the other one is
 * down. So do readers and a writer of a big-reader lock (each reader has a flag, the writer looks at all of them), and
 * the threads of Dekker's and similar locks.
 *
 * A *flag* is a variable x of a window in model value with a value that is called free, and a thread is *up* at x from
 * some events on and up to others. It is one of
 *   - a variable that one thread alone writes in the window. The thread is up from a write of another value than the
 *     free one to its next write of the free one; and from the start of the window, unless the free value is carried in.
 *   - a spin lock (value_locks.h). A thread is up while it is inside.
 *
 * (I)  In a reordering x is not free while a thread is up at x. Proof: of a spin lock in value_locks.h. Else no other
 *      thread writes x, so its value is what this thread wrote last, or what is carried in; that is not the free one. (A
 *      value that is carried in and not known equals nothing: semantics.md 2.)
 *
 * A thread *crosses* from x to another flag y at an event when it is up at x there, and has read y as free since it came up at x.
 *
 * Then no reordering has a thread i that crosses from x to y and another thread j that crosses from y to x, both at
 * once. Proof: let i be up at x since the event s, and have read y as free by p; j likewise up at y since t, and x as free
 * by q. Both are still up at the end. All reads are right in model value. After s x is not free, by (I), so q is before s, and
 * likewise p is before t. By program order s is before p and t is before q. So s < p < t < q < s. (When i is up from the start, s is before everything,
 * and q cannot be.)
 * Two threads that cross from x to y are both up at x at once, and no reordering has that: of a spin lock by value_locks.h, and
 * else one thread alone is ever up at x.
 *
 * So {x, y} is as a lock that is held by whoever crosses from one of them to the other: two accesses of different threads that hold it are no race. The
 * event by which a thread goes down is still inside: the thread is up when it is next. The read is not.
 *
 * Which value is called free is a guess, and may be any: that which other threads mostly see where they do not look again at
 * once. A window has at most 64 flags, those that are looked at most, and only such whose writes are atomic: data that are
 * flags by chance keep nobody apart who is not otherwise, and make lock sets long.
 */
#ifndef MR_WINDOWS_CROSSED_FLAGS_H
#define MR_WINDOWS_CROSSED_FLAGS_H

#include "value_locks.h"

/* After the event its thread holds the lock, or holds it no more. */
typedef struct mr_crossed_change {
    uint32_t event, lock;
    bool holds;
} mr_crossed_change;

typedef struct mr_crossed_flags {
    uint32_t count; /* locks: pairs of flags from each of which some thread crosses to the other */
    uint32_t change_count;
    mr_crossed_change *changes; /* in the order of the trace; nobody holds a lock at the start */
} mr_crossed_flags;

/* Of a window that has its accesses. `found`: its spin locks. The memory is the arena's. False: no memory.
 * O(window · flags). */
bool mr_crossed_flags_find(const mr_window *window, const mr_value_locks *found,
                           mr_crossed_flags *crossed, mr_arena *arena);

#endif
