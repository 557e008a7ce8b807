#include "slab.h"

#include "assert.h"
#include "huge.h"
#include "memory.h"

#include <stdlib.h>

enum { UNIT_BYTES = 16, LEAST_CHUNK = 1 << 13, MOST_CHUNK = 1 << 22 };

typedef struct mr_slab_unused {
    struct mr_slab_unused *next;
} mr_slab_unused;

typedef struct mr_slab_chunk {
    struct mr_slab_chunk *next;
    size_t size_bytes; /* with this header */
    _Alignas(UNIT_BYTES) char bytes[];
} mr_slab_chunk;

typedef struct mr_slab_large {
    struct mr_slab_large *next, *before;
    _Alignas(UNIT_BYTES) char bytes[];
} mr_slab_large;

static void *take_large(mr_slab *slab, size_t size_bytes)
{
    mr_slab_large *large = mr_malloc(sizeof *large, size_bytes);
    if (!large)
        return NULL;
    large->next = slab->large;
    large->before = NULL;
    if (large->next)
        large->next->before = large;
    slab->large = large;
    return large->bytes;
}

static void give_large(mr_slab *slab, char *bytes)
{
    mr_slab_large *large = (mr_slab_large *)(void *)(bytes - offsetof(mr_slab_large, bytes));
    if (large->before)
        large->before->next = large->next;
    else
        slab->large = large->next;
    if (large->next)
        large->next->before = large->before;
    free(large);
}

/* What is left of the chunk before is lost: less than a large block. */
static bool add_chunk(mr_slab *slab)
{
    size_t size = slab->chunks ? slab->chunks->size_bytes * 2 : LEAST_CHUNK;
    size = size < MOST_CHUNK ? size : MOST_CHUNK;
    mr_slab_chunk *chunk = mr_huge_new(size);
    if (!chunk)
        return false;
    chunk->next = slab->chunks;
    chunk->size_bytes = size;
    slab->chunks = chunk;
    slab->next = chunk->bytes;
    slab->end = (char *)chunk + size;
    return true;
}

/* The number of its size, MR_SLAB_SIZES or more when it is large. */
static size_t number_of(size_t size_bytes)
{
    return (size_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
}

void *mr_slab_take(mr_slab *slab, size_t size_bytes)
{
    size_t number = number_of(size_bytes);
    MR_ASSERT(size_bytes > 0);
    if (number >= MR_SLAB_SIZES)
        return take_large(slab, size_bytes);
    mr_slab_unused *unused = slab->unused[number];
    if (unused) {
        slab->unused[number] = unused->next;
        return unused;
    }
    if ((size_t)(slab->end - slab->next) < number * UNIT_BYTES && !add_chunk(slab))
        return NULL;
    void *taken = slab->next;
    slab->next += number * UNIT_BYTES;
    return taken;
}

void mr_slab_give(mr_slab *slab, void *block, size_t size_bytes)
{
    size_t number = number_of(size_bytes);
    mr_slab_unused *given = block;
    if (!block)
        return;
    if (number >= MR_SLAB_SIZES) {
        give_large(slab, block);
        return;
    }
    given->next = slab->unused[number];
    slab->unused[number] = given;
}

void mr_slab_free(mr_slab *slab)
{
    for (mr_slab_large *large = slab->large, *next; large; large = next) {
        next = large->next;
        free(large);
    }
    for (mr_slab_chunk *chunk = slab->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        mr_huge_free(chunk, chunk->size_bytes);
    }
    *slab = (mr_slab){0};
}
