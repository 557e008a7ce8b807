/*
 * keys: 64-bit keys to dense numbers and back (interning), as trace/names.h does for strings.
 *
 * Numbers are 1, 2, … in the order of first appearance; 0 stands for "none", and items[0] is
 * unused. A lookup is O(1) expected; a key takes 16 to 24 bytes. Zero-initialise; free with
 * mr_keys_free.
 */
#ifndef MR_BASE_KEYS_H
#define MR_BASE_KEYS_H

#include "table.h"

typedef struct mr_keys {
    uint64_t *items; /* by number */
    uint32_t count;  /* the highest number in use */
    size_t capacity;
    mr_table table; /* of number - 1 */
} mr_keys;

static inline bool mr_keys_same(const void *items, uint32_t number, const void *key)
{
    return ((const uint64_t *)items)[number + 1] == *(const uint64_t *)key;
}

/* The number of the key, added when new. False: no memory. */
bool mr_keys_add(mr_keys *keys, uint64_t key, uint32_t *number);
void mr_keys_free(mr_keys *keys);

/* Fetches the slot of the key into the cache. */
static inline void mr_keys_fetch(const mr_keys *keys, uint64_t key)
{
    if (keys->count)
        mr_table_fetch(&keys->table, mr_table_hash_u64(key));
}

/* The number of the key, 0 when it was never added. */
static inline uint32_t mr_keys_find(const mr_keys *keys, uint64_t key)
{
    if (!keys->count)
        return 0;
    return *mr_table_slot(&keys->table, mr_table_hash_u64(key), mr_keys_same, keys->items, &key);
}

#endif
