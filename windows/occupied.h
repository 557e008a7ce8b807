/*
 * occupied: while a thread is inside a value lock (value_locks.h), which values its variable does not have.
 *
 * In model value the value of a spin lock is not the free one while a thread is inside, and that of a counting lock is busy
 * then; while a thread has units, it is a count that is not 0. This is so at each point of each reordering, whoever
 * reads. A *stretch* is the part of a thread from an acquire up to the event that ends it, so a read that sees a value which the
 * variable does not have there is *excluded*: it comes before the stretch or after it.
 *
 * Proof: by the proof in value_locks.h. A spin lock is not free while a thread is inside. Of a counting lock: only an update of a
 * thread that is not inside reads a count or the idle value, so the value stays busy until the thread that is inside writes
 * another one. While a thread has units nobody is inside, so the value is the number of all units, and not 0. All writes but the
 * first ones come after these, so each acquire does. A holder is inside only from these on, and reads need not come after them:
 * so it has a stretch from the start only where the lock has no such writes.
 *
 * So a reader that raises its flag and then sees that no writer is there, and a writer that comes and then sees no flag, keep each
 * other out (eliminate.h, rule *occupied*).
 */
#ifndef MR_WINDOWS_OCCUPIED_H
#define MR_WINDOWS_OCCUPIED_H

#include "value_locks.h"

typedef struct mr_stretch {
    uint32_t thread;
    uint32_t first; /* the acquire; MR_NONE: the thread is inside at the start */
    uint32_t end;   /* the event that ends it; MR_NONE: none does */
    bool shared;
} mr_stretch;

typedef struct mr_stretches {
    const mr_stretch *items; /* in program order */
    uint32_t count;
} mr_stretches;

typedef struct mr_occupied mr_occupied;

/* Keeps the stretches of the locks of `found` in the window. False: no memory. O(writes · log). */
bool mr_occupied_build(mr_window *window, const mr_value_locks *found, mr_arena *arena);

/* Has the variable stretches? */
bool mr_occupied_has(const mr_window *window, uint32_t variable);

/* Those of the thread, of a window that has some. O(log). */
mr_stretches mr_occupied_of(const mr_window *window, uint32_t variable, uint32_t thread);

/* Does the stretch, of the same variable and another thread, exclude the read? */
bool mr_occupied_excludes(const mr_window *window, const mr_stretch *stretch, uint32_t read);

#endif
