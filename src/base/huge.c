#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS, mremap */
#include "huge.h"

#include "assert.h"
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MR_HUGE_LEAST_BYTES = 1 << 22 };

void mr_huge_ask(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    long page = sysconf(_SC_PAGESIZE);
    if (bytes < MR_HUGE_LEAST_BYTES || page <= 0)
        return;
    size_t past = (uintptr_t)memory % (size_t)page, skip = past ? (size_t)page - past : 0;
    (void)madvise((char *)memory + skip, (bytes - skip) / (size_t)page * (size_t)page,
                  MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

enum { MR_HUGE_ALIGN_BYTES = 1 << 21, MR_HUGE_MAPPED_BYTES = 1 << 20 };

/* What is mapped for a block: nothing of the last large page is left to others. */
static size_t mapped_bytes(size_t bytes)
{
    return (bytes + MR_HUGE_ALIGN_BYTES - 1) / MR_HUGE_ALIGN_BYTES * MR_HUGE_ALIGN_BYTES;
}

static void *map_aligned(size_t bytes)
{
    char *begin = mmap(NULL, bytes + MR_HUGE_ALIGN_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        return NULL;
    size_t past = (uintptr_t)begin % MR_HUGE_ALIGN_BYTES;
    size_t before = past ? MR_HUGE_ALIGN_BYTES - past : 0;
    if (before)
        (void)munmap(begin, before);
    (void)munmap(begin + before + bytes, MR_HUGE_ALIGN_BYTES - before);
    return begin + before;
}

bool mr_huge_is_mapped(size_t bytes)
{
    return bytes >= MR_HUGE_MAPPED_BYTES;
}

void *mr_huge_new(size_t bytes)
{
    if (bytes < MR_HUGE_MAPPED_BYTES)
        return mr_calloc(bytes, 1);
    if (bytes > SIZE_MAX / 2 || mr_memory_fails())
        return NULL;
    void *memory = map_aligned(mapped_bytes(bytes));
    if (memory)
        mr_huge_ask(memory, mapped_bytes(bytes));
    return memory;
}

void *mr_huge_new_present(size_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    volatile char *memory = mr_huge_new(bytes);
    for (size_t at = 0; memory && bytes < MR_HUGE_LEAST_BYTES && at < bytes; at += PAGE_BYTES)
        memory[at] = 0;
    return (void *)memory;
}

void mr_huge_free(void *memory, size_t bytes)
{
    if (bytes < MR_HUGE_MAPPED_BYTES)
        free(memory);
    else if (memory)
        (void)munmap(memory, mapped_bytes(bytes));
}

/* A block in another place, with what fits of the old one. */
static void *copy(void *memory, size_t old_bytes, size_t new_bytes)
{
    void *other =
        new_bytes < MR_HUGE_MAPPED_BYTES ? mr_malloc(new_bytes, 0) : mr_huge_new(new_bytes);
    if (other && memory)
        memcpy(other, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
    if (other)
        mr_huge_free(memory, old_bytes);
    return other;
}

/* Makes a mapped block longer, where it is or in another place, which begins at a multiple of 2 MiB, too. */
static void *lengthen(void *memory, size_t from, size_t to)
{
#ifdef MREMAP_FIXED
    if (to > SIZE_MAX / 2 || mr_memory_fails())
        return NULL;
    void *longer = mremap(memory, from, to, 0);
    if (longer == MAP_FAILED) {
        char *place = map_aligned(to);
        longer = place ? mremap(memory, from, to, MREMAP_MAYMOVE | MREMAP_FIXED, place) : NULL;
        if (place && longer == MAP_FAILED) {
            (void)munmap(place, to);
            longer = NULL;
        }
    }
    if (longer)
        mr_huge_ask(longer, to);
    return longer;
#else
    return copy(memory, from, to);
#endif
}

void *mr_huge_resize(void *memory, size_t old_bytes, size_t new_bytes)
{
    MR_REQUIRE(memory || !old_bytes);
    if (old_bytes < MR_HUGE_MAPPED_BYTES && new_bytes < MR_HUGE_MAPPED_BYTES)
        return mr_realloc(memory, new_bytes, 1);
    if (old_bytes < MR_HUGE_MAPPED_BYTES || new_bytes < MR_HUGE_MAPPED_BYTES)
        return copy(memory, old_bytes, new_bytes);
    size_t from = mapped_bytes(old_bytes), to = mapped_bytes(new_bytes);
    if (to > from)
        return lengthen(memory, from, to);
    if (to < from)
        (void)munmap((char *)memory + to, from - to);
    return memory;
}

bool mr_huge_grow(void **array, size_t *capacity, size_t need, size_t size_bytes)
{
    MR_REQUIRE(*array || !*capacity);
    if (need <= *capacity)
        return true;
    size_t wanted = mr_grown(*capacity, need);
    if (wanted > SIZE_MAX / 2 / size_bytes)
        return false;
    void *grown = mr_huge_resize(*array, *capacity * size_bytes, wanted * size_bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}
