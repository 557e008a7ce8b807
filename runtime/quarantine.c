#include "quarantine.h"

#include "writer.h"

enum { BLOCKS_MAX = 256, BYTES_MAX = 1 << 20, BLOCK_BYTES_MAX = BYTES_MAX / 4, BUCKETS = 1024 };

void __libc_free(void *block);

/* A ring, and how many of its blocks hash to each bucket. */
static struct {
    struct {
        void *block;
        size_t bytes;
    } ring[BLOCKS_MAX];
    size_t first, count, bytes;
    uint16_t buckets[BUCKETS];
} quarantine;

static uint16_t *bucket_of(const void *block)
{
    return &quarantine.buckets[((uintptr_t)block >> 4) % BUCKETS];
}

bool mr_quarantine_fits(size_t bytes)
{
    return bytes <= BLOCK_BYTES_MAX;
}

static void release_oldest(void)
{
    void *block = quarantine.ring[quarantine.first].block;
    mr_write_object(MR_LOG_FORGOTTEN, MR_LOG_MEMORY_HEAP, block, 0, 0, 0);
    quarantine.bytes -= quarantine.ring[quarantine.first].bytes;
    quarantine.first = (quarantine.first + 1) % BLOCKS_MAX;
    quarantine.count--;
    (*bucket_of(block))--;
    __libc_free(block);
}

void mr_quarantine_put(void *block, size_t bytes)
{
    while (quarantine.count == BLOCKS_MAX ||
           (quarantine.count > 0 && quarantine.bytes + bytes > BYTES_MAX)) {
        release_oldest();
    }
    size_t at = (quarantine.first + quarantine.count) % BLOCKS_MAX;
    quarantine.ring[at].block = block;
    quarantine.ring[at].bytes = bytes;
    quarantine.count++;
    quarantine.bytes += bytes;
    (*bucket_of(block))++;
}

bool mr_quarantine_has(const void *block)
{
    size_t left = *bucket_of(block) > 0 ? quarantine.count : 0;
    for (size_t i = quarantine.first; left > 0; i = (i + 1) % BLOCKS_MAX, left--) {
        if (quarantine.ring[i].block == block) {
            return true;
        }
    }
    return false;
}
