/*
 * slab: small blocks of one owner, taken and given back in any order, and freed together.
 *
 * malloc has one lock for all threads that share a heap. Where two orders run side by side, each takes and gives back
 * hundreds of thousands of blocks, and most of the time would go into waiting for the lock. A slab has none: one thread
 * at a time may use it. A block that was given back is the next one of its size, rounded up to 16 bytes. A large one is
 * taken from malloc.
 */
#ifndef MR_BASE_SLAB_H
#define MR_BASE_SLAB_H

#include <stddef.h>

enum { MR_SLAB_SIZES = 64 };

/* Zero-initialise. */
typedef struct mr_slab {
    struct mr_slab_unused *unused[MR_SLAB_SIZES]; /* by size in units of 16 bytes */
    struct mr_slab_chunk *chunks;                 /* owned, the latest first */
    struct mr_slab_large *large;                  /* owned */
    char *next, *end;                             /* what is left of the latest chunk */
} mr_slab;

/* Uninitialised, 16-byte aligned. NULL: no memory. */
void *mr_slab_take(mr_slab *slab, size_t size_bytes);

/* A block that was taken with this size; NULL is fine. */
void mr_slab_give(mr_slab *slab, void *block, size_t size_bytes);

/* Frees all of them. */
void mr_slab_free(mr_slab *slab);

#endif
