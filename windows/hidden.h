/*
 * hidden: writes of a window that critical sections hide from reads.
 *
 * Let r be a read in a section S of a lock, s a write of its variable in a section T of that lock by another
 * thread, and S and T exclude each other. In a reordering in which r sees s, T is left before S is
 * entered: s is done, so T is entered, and S is not left before r is done. So all of T after s, and all of S before
 * r, is between the two. Hence r does not see s when one of these is *foreign*:
 *
 *   - a write of the variable, since r would see that one;
 *   - a read of it that saw another value, since it stands where r would see what it sees. Not in model
 *     branch, where it need not see what it saw.
 *
 * The same is so when S is held at the start of the window, as T cannot be left before, and when T is not left in it.
 *
 * An access *keeps* a lock when the foreign access nearest to it is in the same section. So s is hidden
 * from r when r keeps a lock that s holds, or s keeps one that r holds, not both shared. Sets of locks are
 * words of bits. In a window with more locks those with most sections have a bit; leaving out the others
 * only hides less.
 */
#ifndef MR_WINDOWS_HIDDEN_H
#define MR_WINDOWS_HIDDEN_H

#include "window.h"

/* Contended locks, and those of them that are held exclusively. */
typedef struct mr_lock_mask {
    uint64_t any, exclusive;
} mr_lock_mask;

/* What an access holds, and what it keeps as a read back to what is foreign, and as a write on to it. */
typedef struct mr_hiding {
    mr_lock_mask held, as_read, as_write;
} mr_hiding;

typedef struct mr_hidden {
    const uint32_t *of;     /* one an event: number of its hiding */
    const mr_hiding *items; /* all different; 0: no locks */
} mr_hidden;

/* Fills window->hidden of a window that has its sections and accesses; NULL when nothing is hidden.
 * mr_window_build calls it. False: no memory. O(window + accesses · locks held). */
bool mr_window_build_hidden(mr_window *window, mr_arena *arena);

static inline bool mr_lock_masks_meet(mr_lock_mask one, mr_lock_mask other)
{
    return (one.any & other.exclusive) || (one.exclusive & other.any);
}

/* Is the write, of the variable of the read, hidden from it? */
static inline bool mr_write_is_hidden(const mr_window *window, uint32_t write, uint32_t read)
{
    const mr_hidden *hidden = window->hidden;
    if (!hidden || window->thread[write] == window->thread[read])
        return false;
    const mr_hiding *s = &hidden->items[hidden->of[write]], *r = &hidden->items[hidden->of[read]];
    return mr_lock_masks_meet(r->as_read, s->held) || mr_lock_masks_meet(r->held, s->as_write);
}

#endif
