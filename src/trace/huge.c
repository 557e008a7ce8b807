#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include "huge.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
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

void mr_huge_free(void *memory, size_t bytes)
{
    if (bytes < MR_HUGE_MAPPED_BYTES)
        free(memory);
    else if (memory)
        (void)munmap(memory, mapped_bytes(bytes));
}
