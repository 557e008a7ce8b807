/*
 * keys: 64-bit keys to dense numbers and back (interning), as `names` does for strings.
 *
 * Numbers are 1, 2, … in the order of first appearance; 0 is left free for "none", and items[0] is
 * unused. Lookup is O(1) expected. Zero-initialise; free with mr_keys_free.
 */
#ifndef MR_TRACE_KEYS_H
#define MR_TRACE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_keys {
    uint64_t *items;
    uint32_t count; /* the highest number in use */
    size_t capacity;
    uint32_t *slots; /* open addressing, 0 is free */
    uint32_t slot_count;
} mr_keys;

/* The number of the key, added when new. False: no memory. */
bool mr_keys_add(mr_keys *keys, uint64_t key, uint32_t *number);
/* The number of the key, 0 when it was never added. */
uint32_t mr_keys_find(const mr_keys *keys, uint64_t key);
void mr_keys_free(mr_keys *keys);

#endif
