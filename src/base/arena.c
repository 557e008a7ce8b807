#include "arena.h"

#include "assert.h"
#include "huge.h"
#include "memory.h"
#include "room.h"

#include <stdlib.h>
#include <string.h>

/* Blocks grow from the least size up to that of a large one; one is larger only for one large array. */
enum { MR_ARENA_ALIGN = 16, MR_ARENA_MIN_BLOCK = 1 << 16, MR_ARENA_LARGE_BLOCK = 1 << 24 };

struct mr_arena_block {
    mr_arena_block *next;
    size_t size, used;
    _Alignas(16) unsigned char bytes[];
};

void mr_arena_init(mr_arena *arena)
{
    memset(arena, 0, sizeof *arena);
}

static void free_block(mr_arena *arena, mr_arena_block *block)
{
    if (arena->share)
        mr_room_share_give(arena->share, block->size);
    free(block);
}

void mr_arena_free(mr_arena *arena)
{
    for (mr_arena_block *block = arena->first, *next; block; block = next) {
        next = block->next;
        free_block(arena, block);
    }
    mr_arena_init(arena);
}

/* Blocks grow from the first to the last, so the first ones are those to keep. */
void mr_arena_trim(mr_arena *arena, size_t keep_bytes)
{
    size_t kept = 0;
    MR_REQUIRE(!arena->in_use_bytes); /* a block that is freed must not be in use */
    mr_arena_block **at = &arena->first;
    while (*at) {
        mr_arena_block *block = *at;
        MR_ASSERT(block->used <= block->size);
        if (block->size <= keep_bytes - kept) {
            kept += block->size;
            at = &block->next;
        } else {
            *at = block->next;
            free_block(arena, block);
        }
    }
    arena->current = arena->first;
}

void mr_arena_reset(mr_arena *arena)
{
    mr_arena_release(arena, (mr_arena_mark){0});
}

mr_arena_mark mr_arena_get_mark(const mr_arena *arena)
{
    return (mr_arena_mark){.block = arena->current,
                           .used = arena->current ? arena->current->used : 0,
                           .in_use_bytes = arena->in_use_bytes};
}

/* Is the block one of the arena's, up to the current one? */
static bool is_behind_current(const mr_arena *arena, const mr_arena_block *block)
{
    const mr_arena_block *at = arena->first;
    while (at && at != block && at != arena->current)
        at = at->next;
    return at == block;
}

void mr_arena_release(mr_arena *arena, mr_arena_mark mark)
{
    /* Marks are given back in the opposite order: a later one is gone with an earlier one. */
    MR_REQUIRE(mark.in_use_bytes <= arena->in_use_bytes);
    MR_REQUIRE(!mark.block || mark.used <= mark.block->used);
    MR_ASSERT_COSTLY(!mark.block || is_behind_current(arena, mark.block));
    mr_arena_block *block = mark.block ? mark.block : arena->first;
    arena->current = block;
    arena->in_use_bytes = mark.in_use_bytes;
    if (!block)
        return;
    block->used = mark.used;
    for (block = block->next; block; block = block->next)
        block->used = 0;
}

/* Asks for room for a block of `*size` bytes, or of `least` where there is not so much. */
static bool may_take(mr_arena *arena, size_t least, size_t *size)
{
    if (!arena->share || mr_room_share_try(arena->share, *size))
        return true;
    *size = least;
    bool granted = arena->waits || mr_room_share_try(arena->share, least);
    if (arena->waits)
        mr_room_share_must(arena->share, least);
    arena->refused |= !granted;
    return granted;
}

static mr_arena_block *new_block(mr_arena *arena, size_t need_bytes, size_t previous_size)
{
    size_t size =
        previous_size < MR_ARENA_LARGE_BLOCK / 2 ? previous_size * 2 : MR_ARENA_LARGE_BLOCK;
    size_t least = need_bytes > MR_ARENA_MIN_BLOCK ? need_bytes : MR_ARENA_MIN_BLOCK;
    if (size < least)
        size = least;
    if (mr_arena_is_halted(arena))
        return NULL;
    if (!may_take(arena, least, &size))
        return NULL;
    mr_arena_block *block = mr_malloc(sizeof *block, size);
    if (!block) {
        if (arena->share)
            mr_room_share_give(arena->share, size);
        return NULL;
    }
    mr_huge_ask(block, sizeof *block + size);
    block->next = NULL;
    block->size = size;
    block->used = 0;
    return block;
}

/* Gives back the large blocks from `*at` on, none of which has room for what is asked for. Else questions
 * of growing size would leave behind a row of blocks, each too small for the next. */
static void drop_large(mr_arena *arena, mr_arena_block **at)
{
    while (*at) {
        mr_arena_block *block = *at;
        if (block->size < MR_ARENA_LARGE_BLOCK) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        free_block(arena, block);
    }
}

/* The block after `current`, with room for so much: the first kept one that is large enough, or a new one.
 * Kept blocks that are too small come after it, for later arrays. */
static mr_arena_block *advance(mr_arena *arena, size_t need_bytes)
{
    mr_arena_block **next = arena->current ? &arena->current->next : &arena->first, **at = next;
    size_t largest = arena->current ? arena->current->size : 0;
    while (*at && (*at)->size < need_bytes) {
        largest = (*at)->size > largest ? (*at)->size : largest;
        at = &(*at)->next;
    }
    mr_arena_block *block = *at;
    if (block) {
        *at = block->next;
    } else {
        drop_large(arena, next);
        block = new_block(arena, need_bytes, largest);
        if (!block)
            return NULL;
    }
    block->used = 0;
    block->next = *next;
    *next = block;
    return block;
}

void *mr_arena_alloc(mr_arena *arena, size_t count, size_t size_bytes)
{
    if (size_bytes && count > (SIZE_MAX / 2) / size_bytes)
        return NULL;
    size_t need = (count * size_bytes + MR_ARENA_ALIGN - 1) & ~(size_t)(MR_ARENA_ALIGN - 1);
    mr_arena_block *block = arena->current;
    if (!block || block->size - block->used < need) {
        block = advance(arena, need);
        if (!block)
            return NULL;
        arena->current = block;
    }
    MR_ASSERT(need <= block->size - block->used);
    void *result = block->bytes + block->used;
    block->used += need;
    arena->in_use_bytes += need;
    return result;
}

void *mr_arena_zalloc(mr_arena *arena, size_t count, size_t size_bytes)
{
    void *result = mr_arena_alloc(arena, count, size_bytes);
    if (result)
        memset(result, 0, count * size_bytes);
    return result;
}
