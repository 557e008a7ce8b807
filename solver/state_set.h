/*
 * state_set: sets of states that are close to each other, many of them: a word has bits for 64 states, and a set has the words from
 * its first state to its last. Most sets have one word or two, which stand in the set itself; the words of others are pieces of a pool.
 */
#ifndef MR_SOLVER_STATE_SET_H
#define MR_SOLVER_STATE_SET_H

#include "base/arena.h"

enum { MR_STATE_WORDS = 2, MR_STATE_MOST_WORDS = 64, MR_STATE_BLOCKS = 1 << 11 };

/* The caller sets the first two. */
typedef struct mr_state_pool {
    mr_arena *arena;
    uint64_t max_bytes; /* 0: no limit */
    uint64_t bytes;     /* of the blocks; the caller may count its own, too */
    uint64_t *blocks[MR_STATE_BLOCKS];
    uint32_t block_count, block_used;
    /* the first of the spare pieces by length, + 1; 0: none */
    uint32_t spare[MR_STATE_MOST_WORDS + 1];
    bool full, out_of_memory; /* a set was too long, or there were too many bytes */
} mr_state_pool;

/* Zero is the empty set. */
typedef struct mr_state_set {
    union {
        uint64_t words[MR_STATE_WORDS];
        uint32_t at; /* with more words: of the first one in the pool */
    };
    uint16_t first, count; /* words: bit 0 of the first one is state 64 * first */
} mr_state_set;

/* Makes room in the set for the words from `first` up to `last`. False: `full` or `out_of_memory`. */
bool mr_state_set_cover(mr_state_pool *pool, mr_state_set *set, uint32_t first, uint32_t last);

/* Counts so many bytes that the caller takes. False: `full`. */
bool mr_state_pool_count(mr_state_pool *pool, size_t bytes);

enum { MR_STATE_BLOCK_WORDS = 1 << 16 };

static inline uint64_t *mr_state_pool_at(const mr_state_pool *pool, uint32_t at)
{
    return &pool->blocks[at / MR_STATE_BLOCK_WORDS][at % MR_STATE_BLOCK_WORDS];
}

static inline const uint64_t *mr_state_set_words(const mr_state_pool *pool, const mr_state_set *set)
{
    return set->count > MR_STATE_WORDS ? mr_state_pool_at(pool, set->at) : set->words;
}

static inline uint64_t *mr_state_set_change(const mr_state_pool *pool, mr_state_set *set)
{
    return set->count > MR_STATE_WORDS ? mr_state_pool_at(pool, set->at) : set->words;
}

/* Has the set the word? */
static inline bool mr_state_set_spans(const mr_state_set *set, uint32_t word)
{
    return word >= set->first && word < set->first + (uint32_t)set->count;
}

static inline bool mr_state_set_has(const mr_state_pool *pool, const mr_state_set *set,
                                    uint32_t state)
{
    uint32_t word = state / 64;
    return mr_state_set_spans(set, word) &&
           mr_state_set_words(pool, set)[word - set->first] >> state % 64 & 1;
}

/* Has the set all of these, `count` words from word `first` on? */
static inline bool mr_state_set_has_all(const mr_state_pool *pool, const mr_state_set *set,
                                        uint32_t first, uint32_t count, const uint64_t *words)
{
    const uint64_t *own = mr_state_set_words(pool, set);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t word = first + k - set->first;
        if (words[k] & ~(word < set->count ? own[word] : 0))
            return false;
    }
    return true;
}

#endif
