#include "packed.h"

#include "base/assert.h"
#include "base/table.h"

#include <string.h>

enum {
    WORD_BITS = 64,
    BLOCK = 16, /* numbers that are compared at once */
};

static uint32_t round_up(uint32_t count)
{
    return (count + BLOCK - 1) / BLOCK * BLOCK;
}

uint32_t *mr_packed_new_state(uint32_t most, mr_arena *arena)
{
    return mr_arena_zalloc(arena, round_up(most), sizeof(uint32_t));
}

bool mr_packed_init(mr_packed *x, uint32_t most, mr_arena *arena)
{
    *x = (mr_packed){.places = mr_arena_alloc(arena, most, sizeof *x->places),
                     .state = mr_packed_new_state(most, arena)};
    return x->places && x->state;
}

void mr_packed_add(mr_packed *x, uint32_t most)
{
    uint32_t need = 1;
    while (need < 32 && most >> need)
        need++;
    if (x->bits % WORD_BITS + need > WORD_BITS)
        x->bits += WORD_BITS - x->bits % WORD_BITS;
    x->places[x->width++] = (mr_packed_place){.word = x->bits / WORD_BITS,
                                              .shift = (uint8_t)(x->bits % WORD_BITS),
                                              .mask = (UINT64_C(1) << need) - 1};
    x->bits += need;
}

/* The part of the hash that a word has. */
static inline uint64_t hash_word(uint32_t word, uint64_t bits)
{
    uint64_t place = (word + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15) ^ mr_table_seed();
    return mr_table_fold(bits ^ place, UINT64_C(0xd6e8feb86659fd93));
}

bool mr_packed_begin(mr_packed *x, uint32_t variables, uint32_t variable_count, mr_arena *arena)
{
    x->words = (x->bits + WORD_BITS - 1) / WORD_BITS;
    x->variables = variables;
    x->variable_count = variable_count;
    x->first = mr_arena_zalloc(arena, (size_t)x->words + 1, sizeof *x->first);
    x->key = mr_arena_zalloc(arena, x->words, sizeof *x->key);
    x->later =
        mr_arena_zalloc(arena, (variable_count + WORD_BITS - 1) / WORD_BITS, sizeof *x->later);
    if (!x->first || !x->key || !x->later)
        return false;
    for (uint32_t i = 0; i < x->width; i++)
        x->first[x->places[i].word + 1] = i + 1;
    for (uint32_t word = 0; word < x->words; word++)
        x->hash ^= hash_word(word, 0);
    return true;
}

static inline uint32_t number_at(const mr_packed *x, const uint64_t *key, uint32_t i)
{
    const mr_packed_place *place = &x->places[i];
    return (uint32_t)(key[place->word] >> place->shift & place->mask);
}

void mr_packed_go_to(mr_packed *x, const uint64_t *key, uint64_t hash)
{
    for (uint32_t word = 0; word < x->words; word++) {
        if (x->key[word] == key[word])
            continue;
        x->key[word] = key[word];
        for (uint32_t i = x->first[word]; i < x->first[word + 1]; i++)
            x->state[i] = number_at(x, key, i);
    }
    x->hash = hash;
}

void mr_packed_keep(mr_packed *x, const uint64_t *later)
{
    memcpy(x->later, later, (x->variable_count + WORD_BITS - 1) / WORD_BITS * sizeof *later);
}

/* Puts a number into the key. Returns what changes in its hash. */
static inline uint64_t put(const mr_packed *x, uint64_t *key, uint32_t i, uint64_t number)
{
    const mr_packed_place *place = &x->places[i];
    uint64_t before = key[place->word];
    uint64_t now = (before & ~(place->mask << place->shift)) | number << place->shift;
    if (now == before)
        return 0;
    key[place->word] = now;
    return hash_word(place->word, before) ^ hash_word(place->word, now);
}

static inline bool differs(const uint32_t *one, const uint32_t *other)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
        all |= one[i] ^ other[i];
    return all;
}

static inline bool is_kept(const mr_packed *x, const uint64_t *later, uint32_t i)
{
    uint32_t variable = i - x->variables;
    return variable >= x->variable_count || later[variable / WORD_BITS] >> variable % WORD_BITS & 1;
}

/* Is the key that of the state, but for what is not kept? */
static bool is_packed(const mr_packed *x, const uint32_t *state, const uint64_t *later,
                      const uint64_t *key, uint64_t hash)
{
    for (uint32_t word = 0; word < x->words; word++)
        hash ^= hash_word(word, key[word]);
    for (uint32_t i = 0; i < x->width; i++)
        if (number_at(x, key, i) != (is_kept(x, later, i) ? state[i] : 0))
            return false;
    return !hash;
}

uint64_t mr_packed_pack(const mr_packed *x, const uint32_t *state, const uint64_t *later,
                        uint64_t *key)
{
    uint64_t hash = x->hash;
    memcpy(key, x->key, x->words * sizeof *key);
    for (uint32_t block = 0; block < x->width; block += BLOCK) {
        if (!differs(&state[block], &x->state[block]))
            continue;
        for (uint32_t i = block; i < block + BLOCK; i++)
            if (state[i] != x->state[i])
                hash ^= put(x, key, i, is_kept(x, later, i) ? state[i] : 0);
    }
    for (uint32_t k = 0; k * WORD_BITS < x->variable_count; k++)
        for (uint64_t left = x->later[k] & ~later[k]; left; left &= left - 1)
            hash ^= put(x, key, x->variables + WORD_BITS * k + (uint32_t)__builtin_ctzll(left), 0);
    MR_ASSERT_COSTLY(is_packed(x, state, later, key, hash));
    return hash;
}
