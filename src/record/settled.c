#include "settled.h"

#include "base/memory.h"

#include <stdlib.h>

/* Stretches of each kind have numbers of their own. */
typedef enum stretch_kind { OF_READS = 1, OF_LOCKS, GUARDED } stretch_kind;

bool mr_settled_init(mr_settled *settled)
{
    *settled =
        (mr_settled){.known = mr_calloc((size_t)1 << MR_SETTLED_BITS, sizeof *settled->known)};
    return settled->known != NULL;
}

void mr_settled_free(mr_settled *settled)
{
    for (size_t i = 0; i < settled->count; i++)
        free(settled->threads[i].sections);
    free(settled->threads);
    free(settled->known);
    *settled = (mr_settled){.known = NULL};
}

static uint64_t mix(uint64_t number)
{
    number *= UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return number ^ number >> 29;
}

/* What stands for a held lock; never 0. */
static uint64_t lock_of(uint32_t lock, bool shared)
{
    return mix(((uint64_t)lock << 1 | shared) + 1);
}

/* NULL: no memory. */
static mr_settled_thread *fill(mr_settled *settled, uint32_t thread)
{
    void *threads = settled->threads;
    if (!mr_grow(&threads, &settled->capacity, thread + 1ull, sizeof *settled->threads))
        return NULL;
    settled->threads = threads;
    while (settled->count <= thread)
        settled->threads[settled->count++] = (mr_settled_thread){.count = 0};
    return &settled->threads[thread];
}

bool mr_settled_end(mr_settled *settled, uint32_t thread)
{
    mr_settled_thread *own = fill(settled, thread);
    if (own)
        own->reads = ++settled->last;
    return own != NULL;
}

bool mr_settled_acquire(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared)
{
    mr_settled_thread *own = fill(settled, thread);
    void *sections = own ? own->sections : NULL;
    if (!own || !mr_grow(&sections, &own->capacity, own->count + 1, sizeof *own->sections))
        return false;
    own->sections = sections;
    own->sections[own->count++] = (mr_settled_section){lock, shared};
    own->locks += lock_of(lock, shared);
    own->reads = ++settled->last;
    return true;
}

bool mr_settled_release(mr_settled *settled, uint32_t thread, uint32_t lock, bool shared)
{
    mr_settled_thread *own = fill(settled, thread);
    if (!own)
        return false;
    size_t at = own->count;
    while (at && (own->sections[at - 1].held != lock || own->sections[at - 1].shared != shared))
        at--;
    if (at) {
        own->locks -= lock_of(lock, shared);
        own->count--;
        for (size_t i = at - 1; i < own->count; i++)
            own->sections[i] = own->sections[i + 1];
    }
    return mr_settled_end(settled, thread);
}

static mr_settled_read *find(const mr_settled *settled, uint32_t thread, uint64_t code,
                             uint32_t variable)
{
    uint64_t mixed = mix(variable ^ code << 24 ^ (uint64_t)thread << 56);
    return &settled->known[mixed >> (64 - MR_SETTLED_BITS)];
}

static bool is_of(const mr_settled_read *known, uint32_t thread, uint64_t code, uint32_t variable)
{
    return known->variable == variable + 1 && known->code == code && known->thread == thread;
}

static bool holds(const mr_settled *settled, uint32_t thread, uint32_t guard, bool exclusively)
{
    const mr_settled_thread *own = thread < settled->count ? &settled->threads[thread] : NULL;
    bool holds = false;
    for (size_t i = 0; own && i < own->count && !holds; i++)
        holds = own->sections[i].held + 1 == guard && !(exclusively && own->sections[i].shared);
    return holds;
}

bool mr_settled_is_nested(const mr_settled *settled, uint32_t thread)
{
    return thread < settled->count && settled->threads[thread].count > 1;
}

bool mr_settled_holds(const mr_settled *settled, uint32_t thread, uint32_t guard)
{
    return guard != MR_SETTLED_NOBODY && holds(settled, thread, guard, false);
}

uint32_t mr_settled_guard(const mr_settled *settled, uint32_t thread, uint32_t guard)
{
    const mr_settled_thread *own = thread < settled->count ? &settled->threads[thread] : NULL;
    if (!guard && own && own->count && !own->sections[own->count - 1].shared)
        return own->sections[own->count - 1].held + 1;
    return guard && holds(settled, thread, guard, true) ? guard : MR_SETTLED_NOBODY;
}

bool mr_settled_knows(mr_settled *settled, const mr_settled_question *read)
{
    const mr_settled_thread none = {.count = 0};
    const mr_settled_thread *own =
        read->thread < settled->count ? &settled->threads[read->thread] : &none;
    uint64_t stretch = mix(own->locks) << 3 | OF_LOCKS;
    if (read->is_guarded)
        stretch = (read->is_nested ? mix(own->locks) << 3 : 0) | GUARDED;
    else if (read->is_released)
        stretch = own->reads << 3 | OF_READS;
    mr_settled_read *known = find(settled, read->thread, read->code, read->variable);
    if (is_of(known, read->thread, read->code, read->variable) && known->stretch == stretch &&
        (known->is_used || !read->is_pointer))
        return true;
    *known = (mr_settled_read){read->code, stretch, read->variable + 1, read->thread, false};
    return false;
}

void mr_settled_use(mr_settled *settled, uint32_t thread, uint64_t code, uint32_t variable)
{
    mr_settled_read *known = find(settled, thread, code, variable);
    known->is_used = known->is_used || is_of(known, thread, code, variable);
}
