#include "state_set.h"

#include <string.h>

bool mr_state_pool_count(mr_state_pool *pool, size_t bytes)
{
    pool->bytes += bytes;
    pool->full |= pool->max_bytes && pool->bytes > pool->max_bytes;
    return !pool->full;
}

static bool add_block(mr_state_pool *pool)
{
    pool->full |= pool->block_count == MR_STATE_BLOCKS;
    if (!mr_state_pool_count(pool, sizeof(uint64_t) * MR_STATE_BLOCK_WORDS))
        return false;
    uint64_t *block = mr_arena_alloc(pool->arena, MR_STATE_BLOCK_WORDS, sizeof *block);
    pool->out_of_memory |= !block;
    if (!block)
        return false;
    pool->blocks[pool->block_count++] = block;
    pool->block_used = 0;
    return true;
}

/* A piece of `count` words. False: there is none. */
static bool take_piece(mr_state_pool *pool, uint32_t count, uint32_t *at)
{
    if (pool->spare[count]) {
        *at = pool->spare[count] - 1;
        pool->spare[count] = (uint32_t)*mr_state_pool_at(pool, *at);
        return true;
    }
    if ((!pool->block_count || pool->block_used + count > MR_STATE_BLOCK_WORDS) && !add_block(pool))
        return false;
    *at = (pool->block_count - 1) * MR_STATE_BLOCK_WORDS + pool->block_used;
    pool->block_used += count;
    return true;
}

static void give_piece(mr_state_pool *pool, uint32_t count, uint32_t at)
{
    *mr_state_pool_at(pool, at) = pool->spare[count];
    pool->spare[count] = at + 1;
}

bool mr_state_set_cover(mr_state_pool *pool, mr_state_set *set, uint32_t first, uint32_t last)
{
    if (set->count && first >= set->first && last < set->first + (uint32_t)set->count)
        return true;
    if (set->count && set->first < first)
        first = set->first;
    if (set->count && set->first + (uint32_t)set->count - 1 > last)
        last = set->first + (uint32_t)set->count - 1;
    uint32_t count = last - first + 1;
    mr_state_set grown = {.first = (uint16_t)first, .count = (uint16_t)count};
    pool->full |= count > MR_STATE_MOST_WORDS;
    if (pool->full || (count > MR_STATE_WORDS && !take_piece(pool, count, &grown.at)))
        return false;
    uint64_t *words = mr_state_set_change(pool, &grown);
    memset(words, 0, count * sizeof *words);
    if (set->count)
        memcpy(words + (set->first - first), mr_state_set_words(pool, set),
               set->count * sizeof *words);
    if (set->count > MR_STATE_WORDS)
        give_piece(pool, set->count, set->at);
    *set = grown;
    return true;
}
