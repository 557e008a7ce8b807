/*
 * arena: memory that is freed together.
 *
 * Everything a window needs is taken from one arena and given back by resetting it, so nothing of a
 * window can leak into the next. Allocation is O(1) amortised; blocks are kept for reuse,
 * except those of 16 MiB and more that are too small for a larger array: they are given back before its block is made.
 *
 *   mr_arena_init → mr_arena_alloc* → mr_arena_reset → mr_arena_alloc* → … → mr_arena_free
 *
 * mr_arena_mark/mr_arena_release give back only what was taken since the mark (per candidate work).
 *
 * An arena may be that of a worker with a share of the memory (room.h): each block, 64 KiB to 16
 * MiB or what one allocation needs, is charged to the share until it is freed. While `waits` is
 * set, an allocation waits for room; otherwise it is NULL when there is none, and `refused` is set:
 * that is how a question that is too large for its share is told apart from a system that has no
 * memory.
 *
 * An arena may know the halt of the run (halt.h). When the run was asked to end, it gives no new
 * block and sets `refused`. Work that may take long without new blocks asks mr_arena_is_halted
 * every so often, and ends as if there was no memory. So a run ends soon, wherever it is, and
 * whoever handles a refusal handles the end of the run.
 */
#ifndef MR_BASE_ARENA_H
#define MR_BASE_ARENA_H

#include "halt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_room_share;

typedef struct mr_arena_block mr_arena_block;

typedef struct mr_arena {
    mr_arena_block *first, *current; /* owned list; `current` is where the next bytes come from */
    size_t in_use_bytes;             /* handed out since the last reset, alignment included */
    struct mr_room_share *share;     /* borrowed; NULL: nobody asks */
    const mr_halt *halt;             /* borrowed; NULL: nobody stops the run */
    bool waits, refused;             /* see above; without a share and a halt never refused */
} mr_arena;

typedef struct mr_arena_mark {
    mr_arena_block *block;
    size_t used, in_use_bytes;
} mr_arena_mark;

/* Was the run asked to end? Then `refused` is set. Costs a look at the clock at most. */
static inline bool mr_arena_is_halted(mr_arena *arena)
{
    if (mr_halt_asked(arena->halt) == MR_HALT_NONE)
        return false;
    arena->refused = true;
    return true;
}

void mr_arena_init(mr_arena *arena);
void mr_arena_free(mr_arena *arena);
void mr_arena_reset(mr_arena *arena);
/* After a reset: frees blocks until no more than `keep_bytes` are left. */
void mr_arena_trim(mr_arena *arena, size_t keep_bytes);

mr_arena_mark mr_arena_get_mark(const mr_arena *arena);
void mr_arena_release(mr_arena *arena, mr_arena_mark mark);

/* `count` elements of `size_bytes`, 16-byte aligned, uninitialised or zeroed; NULL when out of
 * memory, refused, or when the product overflows. A zero count gives a valid pointer that must not
 * be read.
 */
void *mr_arena_alloc(mr_arena *arena, size_t count, size_t size_bytes);
void *mr_arena_zalloc(mr_arena *arena, size_t count, size_t size_bytes);

#endif
