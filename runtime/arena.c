#include "arena.h"

#include "quarantine.h"
#include "sys.h"

#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SLOTS_AT     0x100000000000u
#define SLOT_BYTES   ((size_t)1 << 35)
#define STACKS_BYTES ((size_t)1 << 32) /* at the end of a slot */

enum {
    SLOTS = 2048,
    GRANULE = 1 << 16,
    PAGE = 4096,
    SMALL_MAX = 1 << 15,
    EXACT_CLASSES = 8, /* of 16, 32, … 128 bytes; then four for each power of two */
    CLASSES = EXACT_CLASSES + 4 * 8,
    EXACT_BINS = 32, /* large blocks by granules; then eight for each power of two */
    BINS = EXACT_BINS + 8 * 14,
    GROW_LEAST = 1 << 20,
    GROW_MOST = 1 << 26,
    BORROW_BYTES = 1 << 24,
    WARM_BYTES = 1 << 25, /* of freed large blocks that keep their pages */
    DEAD_KEPT = 16,       /* threads that ended and whose freed blocks stay out of use */
};

/* What a granule is; 0: none, or not the first of a large block. Small: class + 1. */
#define LARGE    (1u << 31) /* with its pages */
#define COLD     (1u << 30) /* it has no memory: reads as 0 */
#define UNMAPPED (1u << 29) /* the program unmapped it */
#define PAGES    ((1u << 29) - 1)

typedef struct granule {
    uint32_t what;
    uint32_t next; /* of the large blocks of a list: granule number + 1, 0: the last */
} granule;

struct mr_arena {
    uintptr_t start, top, mapped, end; /* granules before `top` are in use */
    uintptr_t stack;                   /* of the thread, 0: none */
    size_t stack_bytes;
    void *free[CLASSES];
    size_t free_bytes[CLASSES];
    uintptr_t room[CLASSES], room_end[CLASSES]; /* of the span that is carved up */
    uint32_t bins[BINS];
    size_t warm_bytes;
    mr_ring ring;
    mr_arena *next_dead; /* that ended after it */
    granule granules[SLOT_BYTES / GRANULE];
};

static struct {
    mr_arena *of[SLOTS];
    uint32_t used;              /* slots before it may have one */
    mr_arena *dead, *last_dead; /* whose threads have ended, the first one first */
    mr_arena *fresh;            /* the first of them whose ring is not empty yet */
    uint32_t fresh_count;
    uint32_t first; /* slot of thread 0 */
    mr_ring shared;
} arenas;

bool mr_arena_has(const void *block)
{
    return (uintptr_t)block - SLOTS_AT < SLOTS * SLOT_BYTES;
}

static mr_arena *home_of(const void *block)
{
    return arenas.of[((uintptr_t)block - SLOTS_AT) / SLOT_BYTES];
}

static granule *granule_of(const void *block)
{
    uintptr_t at = (uintptr_t)block - SLOTS_AT;
    return &arenas.of[at / SLOT_BYTES]->granules[at % SLOT_BYTES / GRANULE];
}

static unsigned log2_of(size_t number)
{
    return 63u - (unsigned)__builtin_clzl(number);
}

static unsigned class_of(size_t bytes)
{
    if (bytes <= (size_t)16 * EXACT_CLASSES) {
        return bytes == 0 ? 0 : (unsigned)((bytes + 15) / 16 - 1);
    }
    unsigned log2 = log2_of(bytes - 1);
    return EXACT_CLASSES + 4 * (log2 - 7) + ((unsigned)((bytes - 1) >> (log2 - 2)) & 3);
}

static size_t class_bytes(unsigned class)
{
    if (class < EXACT_CLASSES) {
        return (size_t)16 * (class + 1);
    }
    unsigned log2 = 7 + (class - EXACT_CLASSES) / 4;
    return ((size_t)1 << log2) + ((size_t)((class - EXACT_CLASSES) % 4 + 1) << (log2 - 2));
}

/* The granules that a large block gets, and its bin. */
static size_t round_granules(size_t count, unsigned *bin)
{
    if (count <= EXACT_BINS) {
        *bin = (unsigned)count - 1;
        return count;
    }
    unsigned log2 = log2_of(count - 1);
    size_t step = (size_t)1 << (log2 - 3);
    *bin = EXACT_BINS + 8 * (log2 - 5) + ((unsigned)((count - 1) >> (log2 - 3)) & 7);
    return (count + step - 1) / step * step;
}

static size_t granules_of(size_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE;
}

/* The address space of a large block. */
static size_t all_bytes(size_t bytes)
{
    unsigned bin;
    return round_granules(granules_of(bytes), &bin) * GRANULE;
}

static bool map_at(uintptr_t at, size_t bytes)
{
    long result = mr_sys(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (!mr_sys_failed(result) && (uintptr_t)result != at) { /* an old kernel */
        mr_sys(SYS_munmap, result, (long)bytes, 0, 0, 0, 0);
    }
    return (uintptr_t)result == at;
}

/* Granules at the top; 0: there is no room. */
static uintptr_t grow(mr_arena *arena, size_t count)
{
    uintptr_t at = arena->top;
    size_t bytes = count * GRANULE;
    if (bytes > arena->end - at) {
        return 0;
    }
    if (at + bytes > arena->mapped) {
        size_t step = (arena->mapped - arena->start) / GROW_LEAST * GROW_LEAST;
        step = step < GROW_LEAST ? GROW_LEAST : step > GROW_MOST ? GROW_MOST : step;
        size_t missing = at + bytes - arena->mapped;
        step = missing > step ? missing : step;
        step = step < arena->end - arena->mapped ? step : arena->end - arena->mapped;
        if (!map_at(arena->mapped, step)) {
            return 0;
        }
        arena->mapped += step;
    }
    arena->top = at + bytes;
    return at;
}

/* The next block of a list: it was freed, and the program may have written there. */
static void *next_of(const void *block)
{
    void *next = *(void *const *)block;
    return next != NULL && (!mr_arena_has(next) || home_of(next) == NULL) ? NULL : next;
}

/* Takes over the blocks that another thread has freed, if it has many. */
static bool borrow(mr_arena *arena, unsigned class)
{
    for (uint32_t i = 0; i < arenas.used; i++) {
        mr_arena *from = arenas.of[i];
        if (from == NULL || from == arena || from->free_bytes[class] < BORROW_BYTES) {
            continue;
        }
        arena->free[class] = from->free[class];
        arena->free_bytes[class] = from->free_bytes[class];
        from->free[class] = NULL;
        from->free_bytes[class] = 0;
        return true;
    }
    return false;
}

static bool make_span(mr_arena *arena, unsigned class)
{
    size_t block = class_bytes(class), count = block <= GRANULE / 8 ? 1 : 4;
    uintptr_t at = grow(arena, count);
    if (at == 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        granule_of((void *)(at + i * GRANULE))->what = class + 1;
    }
    arena->room[class] = at;
    arena->room_end[class] = at + count * GRANULE / block * block;
    return true;
}

static void *take_small(mr_arena *arena, unsigned class, bool *zeroed)
{
    size_t bytes = class_bytes(class);
    *zeroed = false;
    if (arena->free[class] == NULL && arena->room[class] == arena->room_end[class] &&
        !borrow(arena, class) && !make_span(arena, class)) {
        return NULL;
    }
    void *block = arena->free[class];
    if (block != NULL) {
        arena->free[class] = next_of(block);
        arena->free_bytes[class] =
            arena->free[class] == NULL ? 0 : arena->free_bytes[class] - bytes;
    } else {
        block = (void *)arena->room[class];
        arena->room[class] += bytes;
        *zeroed = true;
    }
    return block;
}

/* A large block of the bin, with memory unless it is for a mapping; its granule says what it was. */
static void *take_large(mr_arena *arena, size_t bytes, bool *zeroed)
{
    unsigned bin;
    size_t count = round_granules(granules_of(bytes), &bin);
    uint32_t number = count * GRANULE < bytes || bin >= BINS ? 0 : arena->bins[bin];
    void *block;
    *zeroed = true;
    if (number != 0) {
        block = (void *)(SLOTS_AT + (uintptr_t)(number - 1) * GRANULE);
        granule *is = granule_of(block);
        arena->bins[bin] = is->next;
        if ((is->what & (COLD | UNMAPPED)) == 0) {
            arena->warm_bytes -= count * GRANULE;
            *zeroed = false;
        }
    } else {
        block = bin < BINS ? (void *)grow(arena, count) : NULL;
        if (block == NULL) {
            return NULL;
        }
        granule_of(block)->what = LARGE;
    }
    granule *is = granule_of(block);
    is->what = LARGE | (is->what & UNMAPPED) | (uint32_t)((bytes + PAGE - 1) / PAGE);
    return block;
}

static void put_large(mr_arena *arena, void *block, uint32_t state)
{
    unsigned bin;
    granule *is = granule_of(block);
    size_t bytes = (size_t)(is->what & PAGES) * PAGE;
    size_t all = round_granules(granules_of(bytes), &bin) * GRANULE;
    if (state == 0 && arena->warm_bytes + all > WARM_BYTES) {
        mr_sys(SYS_madvise, (long)block, (long)bytes, MADV_DONTNEED, 0, 0, 0);
        state = COLD;
    }
    arena->warm_bytes += state == 0 ? all : 0;
    is->what = LARGE | state | (is->what & PAGES);
    is->next = arena->bins[bin];
    arena->bins[bin] = (uint32_t)(((uintptr_t)block - SLOTS_AT) / GRANULE) + 1;
}

void *mr_arena_take(mr_arena *arena, size_t bytes, size_t alignment, bool zeroed)
{
    bool is_zero;
    void *block;
    if (arena == NULL || alignment > GRANULE || bytes > SLOT_BYTES) {
        return NULL;
    }
    if (alignment >
        16) { /* of a power of two, as glibc takes it; blocks of a power of two lie at multiples of it */
        alignment = (size_t)1 << (log2_of(alignment - 1) + 1);
        size_t least = bytes > alignment ? bytes : alignment;
        bytes = least <= SMALL_MAX ? (size_t)1 << (log2_of(least - 1) + 1) : least;
    }
    if (bytes <= SMALL_MAX) {
        block = take_small(arena, class_of(bytes), &is_zero);
    } else {
        block = take_large(arena, bytes, &is_zero);
        granule *is = block != NULL ? granule_of(block) : NULL;
        if (is != NULL && (is->what & UNMAPPED) != 0) {
            is->what &= ~UNMAPPED;
            if (!map_at((uintptr_t)block, all_bytes(bytes))) {
                return NULL;
            }
        }
    }
    if (block != NULL && zeroed && !is_zero) {
        __builtin_memset(block, 0, bytes);
    }
    return block;
}

void mr_arena_give(mr_arena *arena, void *block)
{
    if (arena == NULL || home_of(block) == NULL) {
        return;
    }
    uint32_t what = granule_of(block)->what;
    if (what == 0) {
        return; /* no block begins there */
    }
    if (what & LARGE) {
        put_large(arena, block, 0);
        return;
    }
    *(void **)block = arena->free[what - 1];
    arena->free[what - 1] = block;
    arena->free_bytes[what - 1] += class_bytes(what - 1);
}

size_t mr_arena_usable(const void *block)
{
    const granule *is = home_of(block) != NULL ? granule_of(block) : NULL;
    return is == NULL || is->what == 0 ? 0
           : is->what & LARGE          ? (size_t)(is->what & PAGES) * PAGE
                                       : class_bytes(is->what - 1);
}

bool mr_arena_resize(void *block, size_t bytes)
{
    granule *is = granule_of(block);
    unsigned before, after;
    if ((is->what & LARGE) == 0) {
        return bytes <= SMALL_MAX && class_of(bytes) + 1 == is->what;
    }
    if (bytes <= SMALL_MAX || bytes > SLOT_BYTES) {
        return false;
    }
    round_granules(granules_of((size_t)(is->what & PAGES) * PAGE), &before);
    round_granules(granules_of(bytes), &after);
    if (before != after) {
        return false;
    }
    is->what = LARGE | (uint32_t)((bytes + PAGE - 1) / PAGE);
    return true;
}

bool mr_arena_move(void *to, void *from, size_t bytes)
{
    size_t whole = bytes / PAGE * PAGE;
    if (bytes < (size_t)4 * GRANULE || (uintptr_t)to % PAGE != 0 || (uintptr_t)from % PAGE != 0 ||
        mr_sys_failed(mr_sys(SYS_mremap, (long)from, (long)whole, (long)whole,
                             MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, (long)to, 0))) {
        return false;
    }
    __builtin_memcpy((char *)to + whole, (const char *)from + whole, bytes - whole);
    return true;
}

void *mr_arena_map(mr_arena *arena, size_t bytes)
{
    bool zeroed;
    if (arena == NULL || bytes == 0 || bytes > SLOT_BYTES / 4) {
        return NULL;
    }
    void *block = take_large(arena, bytes, &zeroed);
    granule *is = block != NULL ? granule_of(block) : NULL;
    if (is != NULL && (is->what & UNMAPPED) == 0) {
        mr_sys(SYS_munmap, (long)block, (long)all_bytes(bytes), 0, 0, 0, 0);
    } else if (is != NULL) {
        is->what &= ~UNMAPPED;
    }
    return block;
}

size_t mr_arena_room(const void *at)
{
    const granule *is = mr_arena_has(at) && home_of(at) != NULL && (uintptr_t)at % GRANULE == 0
                            ? granule_of(at)
                            : NULL;
    return is != NULL && (is->what & LARGE) != 0 ? all_bytes((size_t)(is->what & PAGES) * PAGE) : 0;
}

void mr_arena_unmapped(mr_arena *arena, void *at, size_t bytes)
{
    size_t room = mr_arena_room(at);
    if (arena == NULL || room == 0 || (granule_of(at)->what & PAGES) != (bytes + PAGE - 1) / PAGE) {
        return;
    }
    put_large(arena, at, UNMAPPED);
}

void *mr_arena_stack(mr_arena *arena, size_t bytes, size_t guard_bytes)
{
    size_t guard = (guard_bytes + PAGE - 1) / PAGE * PAGE;
    size_t all = (bytes + PAGE - 1) / PAGE * PAGE + guard;
    if (arena == NULL || arena->stack != 0 || all < bytes || all > STACKS_BYTES) {
        return NULL;
    }
    uintptr_t at = arena->start + SLOT_BYTES - all;
    if (!map_at(at, all)) {
        return NULL;
    }
    mr_sys(SYS_mprotect, (long)at, (long)guard, PROT_NONE, 0, 0, 0);
    arena->stack = at;
    arena->stack_bytes = all;
    return (void *)(at + guard);
}

static mr_arena *make(uint32_t slot)
{
    mr_arena *arena = mr_pages(sizeof *arena);
    if (arena != NULL) {
        arena->start = SLOTS_AT + slot * SLOT_BYTES;
        arena->top = arena->mapped = arena->start;
        arena->end = arena->start + SLOT_BYTES - STACKS_BYTES;
        arenas.of[slot] = arena;
        arenas.used = slot < arenas.used ? arenas.used : slot + 1;
    }
    return arena;
}

/* The arena of the thread that ended first. */
static mr_arena *reuse(void)
{
    mr_arena *arena = arenas.dead;
    if (arena == NULL || arena == arenas.fresh) {
        return NULL;
    }
    arenas.dead = arena->next_dead;
    arena->next_dead = NULL;
    return arena;
}

mr_arena *mr_arena_make(uint32_t number)
{
    uint32_t slot = number < SLOTS ? number + arenas.first : SLOTS;
    mr_arena *arena = slot < SLOTS ? arenas.of[slot] : NULL;
    if (arena != NULL && arena->stack == 0 && arena->top == arena->start) {
        return arena; /* the thread could not be created */
    }
    return slot < SLOTS && arena == NULL ? make(slot) : reuse();
}

void mr_arena_forget(void)
{
    arenas.first = arenas.used;
}

void mr_arena_unused(mr_arena *arena)
{
    if (arena != NULL && arena->stack != 0) {
        mr_sys(SYS_munmap, (long)arena->stack, (long)arena->stack_bytes, 0, 0, 0, 0);
        arena->stack = 0;
    }
}

/* Is every block of the span in the lists? They count in `next`. */
static bool is_free(const granule *is)
{
    unsigned class = is->what - 1;
    return class < CLASSES && class_bytes(class) <= GRANULE / 8 &&
           is->next == GRANULE / class_bytes(class);
}

static void count_free(mr_arena *arena, unsigned class)
{
    for (void *block = arena->free[class]; block != NULL; block = next_of(block)) {
        granule_of(block)->next += home_of(block) == arena;
    }
}

/* Drops the blocks of spans that are to be released. */
static void drop_free(mr_arena *arena, unsigned class)
{
    void *kept = NULL;
    arena->free_bytes[class] = 0;
    for (void *block = arena->free[class], *next; block != NULL; block = next) {
        next = next_of(block);
        if (home_of(block) != arena || !is_free(granule_of(block))) {
            *(void **)block = kept;
            kept = block;
            arena->free_bytes[class] += class_bytes(class);
        }
    }
    arena->free[class] = kept;
}

static void chill(mr_arena *arena)
{
    for (unsigned bin = 0; bin < BINS; bin++) {
        for (uint32_t number = arena->bins[bin]; number != 0;) {
            void *block = (void *)(SLOTS_AT + (uintptr_t)(number - 1) * GRANULE);
            granule *is = granule_of(block);
            if ((is->what & (COLD | UNMAPPED)) == 0) {
                mr_sys(SYS_madvise, (long)block, (long)(is->what & PAGES) * PAGE, MADV_DONTNEED, 0,
                       0, 0);
                is->what |= COLD;
            }
            number = is->next;
        }
    }
    arena->warm_bytes = 0;
}

/* Gives what nobody uses back to the system. The addresses are not given out again. */
static void release(mr_arena *arena)
{
    for (unsigned class = 0; class < CLASSES; class ++) {
        count_free(arena, class);
    }
    for (unsigned class = 0; class < CLASSES; class ++) {
        drop_free(arena, class);
    }
    for (uintptr_t at = arena->start; at < arena->top; at += GRANULE) {
        granule *is = granule_of((void *)at);
        if (is->what != 0 && (is->what & LARGE) == 0) {
            if (is_free(is)) {
                mr_sys(SYS_madvise, (long)at, GRANULE, MADV_DONTNEED, 0, 0, 0);
                is->what = 0;
            }
            is->next = 0;
        }
    }
    chill(arena);
}

void mr_arena_end(mr_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    mr_arena_unused(arena);
    release(arena);
    arena->next_dead = NULL;
    *(arenas.dead == NULL ? &arenas.dead : &arenas.last_dead->next_dead) = arena;
    arenas.last_dead = arena;
    arenas.fresh = arenas.fresh == NULL ? arena : arenas.fresh;
    if (++arenas.fresh_count > DEAD_KEPT) {
        mr_arena *old = arenas.fresh;
        arenas.fresh = old->next_dead;
        arenas.fresh_count--;
        mr_quarantine_empty(old);
        release(old);
    }
}

mr_ring *mr_arena_ring(mr_arena *arena)
{
    return arena != NULL ? &arena->ring : &arenas.shared;
}
