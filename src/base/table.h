/*
 * table: the hash table of this project. It finds the number of an item by a key.
 *
 * The caller keeps the items, in an array or wherever it likes, and numbers them 0, 1, …. The table
 * holds numbers only: open addressing with linear probing, a power of two of slots of 4 bytes, at
 * most half of them taken, so 8 to 16 bytes an item and O(1) expected. What a key is, how it is
 * hashed and when an item has it is said by the caller's functions; they are inlined where
 * mr_table_slot is called with their names.
 *
 *   mr_table_reserve → slot = mr_table_slot → *slot: the number + 1
 *                                            0: it is free; the caller adds an item and sets *slot
 *
 * Items are never removed. Whoever walks over the items does so in the caller's array, in the order
 * of their numbers, so nothing depends on hashes or addresses. A table is zero-initialised; numbers
 * go up to 2^30.
 *
 * keys.h and map.h have the two uses that are most common: 64-bit keys to dense numbers, and to
 * 32-bit values.
 */
#ifndef MR_BASE_TABLE_H
#define MR_BASE_TABLE_H

#include "arena.h"
#include "assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_table {
    uint32_t *slots;     /* the number of an item + 1; 0: free */
    uint32_t slot_count; /* 0, or a power of two */
} mr_table;

/* Does item `number` have the key? */
typedef bool mr_table_same(const void *items, uint32_t number, const void *key);
/* The hash of item `number`: that of its key. */
typedef uint32_t mr_table_hash(const void *items, uint32_t number);

/*
 * The seed of all hashes of this process. Who writes a trace could otherwise choose names or values
 * that fall into the same slots, and reading them would take time in the square of their number. It
 * is the address at which the system has put the program this time (address space layout
 * randomisation), so it needs no state. Nothing that is printed depends on it.
 */
extern const char mr_table_anchor;
static inline uint64_t mr_table_seed(void)
{
    return (uint64_t)(uintptr_t)&mr_table_anchor * UINT64_C(0xd6e8feb86659fd93);
}

/* The product of both in 128 bits, its halves folded: each bit depends on all bits of both. */
static inline uint64_t mr_table_fold(uint64_t one, uint64_t two)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)one * two;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A hash of a 64-bit key, each bit of which depends on all bits of the key and of the seed. */
static inline uint32_t mr_table_hash_u64(uint64_t key)
{
    key = (key ^ key >> 32 ^ mr_table_seed()) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(key >> 32);
}

/* The slot of the item with the key, or the free slot where it belongs. There must be slots. Valid
 * until the next mr_table_reserve. */
__attribute__((always_inline)) static inline uint32_t *
mr_table_slot(const mr_table *table, uint32_t hash, mr_table_same *same, const void *items,
              const void *key)
{
    uint32_t mask = table->slot_count - 1, at = hash & mask;
    MR_ASSERT_COSTLY(table->slot_count && !(table->slot_count & mask));
    while (table->slots[at] && !same(items, table->slots[at] - 1, key))
        at = (at + 1) & mask;
    return &table->slots[at];
}

/* Has the processor fetch the slots where a search for `hash` begins. */
static inline void mr_table_fetch(const mr_table *table, uint32_t hash)
{
    if (table->slot_count)
        __builtin_prefetch(&table->slots[hash & (table->slot_count - 1)], 1);
}

/* As mr_table_reserve, where there are too few slots. */
bool mr_table_grow(mr_table *table, uint32_t count, mr_table_hash *hash, const void *items,
                   uint32_t entered);

/* Makes room for `count` items in all; the first `entered` of them are in the table. False: no
 * memory, or too many; then nothing changes. O(1) amortised. */
static inline bool mr_table_reserve(mr_table *table, uint32_t count, mr_table_hash *hash,
                                    const void *items, uint32_t entered)
{
    return 2 * (uint64_t)count <= table->slot_count ||
           mr_table_grow(table, count, hash, items, entered);
}

/* A table for at most `count` items in the arena: never reserved or freed. False: no memory. */
bool mr_table_in_arena(mr_table *table, mr_arena *arena, uint32_t count);

void mr_table_free(mr_table *table);

#endif
