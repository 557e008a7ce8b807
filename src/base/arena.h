/*
 * arena: memory that is freed together.
 *
 * Everything a window needs is taken from one arena and given back by resetting it, so nothing of a
 * window can leak into the next. Allocation is O(1) amortised; blocks are kept for reuse.
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
 */
#ifndef MR_BASE_ARENA_H
#define MR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_room_share;

typedef struct mr_arena_block mr_arena_block;

typedef struct mr_arena {
    mr_arena_block *first, *current; /* owned list; `current` is where the next bytes come from */
    size_t in_use_bytes;             /* handed out since the last reset, alignment included */
    struct mr_room_share *share;     /* borrowed; NULL: nobody asks */
    bool waits, refused;             /* of the caller, see above; without a share never refused */
} mr_arena;

typedef struct mr_arena_mark {
    mr_arena_block *block;
    size_t used, in_use_bytes;
} mr_arena_mark;

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
