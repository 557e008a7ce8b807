#include "quarantine.h"

#include "arena.h"
#include "writer.h"

enum { BYTES_MAX = 1 << 20, BLOCK_BYTES_MAX = BYTES_MAX / 4, BUCKETS = 1 << 16 };

void __libc_free(void *block);

/* How many blocks in rings hash to each bucket, and the rings that are not empty. */
static struct {
    uint16_t buckets[BUCKETS];
    mr_ring *rings;
} quarantine;

static uint16_t *bucket_of(const void *block)
{
    return &quarantine.buckets[((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 48];
}

bool mr_quarantine_fits(size_t bytes)
{
    return bytes <= BLOCK_BYTES_MAX;
}

static void unlink_ring(const mr_ring *ring)
{
    mr_ring **at = &quarantine.rings;
    while (*at != ring) {
        at = &(*at)->next;
    }
    *at = ring->next;
}

static void release_oldest(mr_ring *ring, mr_arena *arena)
{
    void *block = ring->of[ring->first].block;
    mr_write_object(MR_LOG_FORGOTTEN, MR_LOG_MEMORY_HEAP, block, 0, 0, 0);
    ring->bytes -= ring->of[ring->first].bytes;
    ring->first = (ring->first + 1) % MR_RING_MAX;
    (*bucket_of(block))--;
    if (--ring->count == 0) {
        unlink_ring(ring);
    }
    if (mr_arena_has(block)) {
        mr_arena_give(arena, block);
    } else {
        __libc_free(block);
    }
}

void mr_quarantine_put(mr_arena *arena, void *block, size_t bytes)
{
    mr_ring *ring = mr_arena_ring(arena);
    while (ring->count == MR_RING_MAX || (ring->count > 0 && ring->bytes + bytes > BYTES_MAX)) {
        release_oldest(ring, arena);
    }
    size_t at = (ring->first + ring->count) % MR_RING_MAX;
    ring->of[at].block = block;
    ring->of[at].bytes = bytes;
    if (ring->count++ == 0) {
        ring->next = quarantine.rings;
        quarantine.rings = ring;
    }
    ring->bytes += bytes;
    (*bucket_of(block))++;
}

void mr_quarantine_empty(mr_arena *arena)
{
    mr_ring *ring = mr_arena_ring(arena);
    while (ring->count > 0) {
        release_oldest(ring, arena);
    }
}

static bool is_in(const mr_ring *ring, const void *block)
{
    size_t left = ring->count;
    for (size_t i = ring->first; left > 0; i = (i + 1) % MR_RING_MAX, left--) {
        if (ring->of[i].block == block) {
            return true;
        }
    }
    return false;
}

bool mr_quarantine_has(const void *block)
{
    bool found = false;
    if (*bucket_of(block) > 0) {
        for (const mr_ring *ring = quarantine.rings; ring != NULL && !found; ring = ring->next) {
            found = is_in(ring, block);
        }
    }
    return found;
}
