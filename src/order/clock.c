#include "clock.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mr_clock_pool_init(mr_clock_pool *pool, uint32_t thread_count)
{
    *pool = (mr_clock_pool){.thread_count = thread_count};
}

void mr_clock_pool_free(mr_clock_pool *pool)
{
    for (mr_clock *clock = pool->unused, *next; clock; clock = next) {
        next = clock->next_unused;
        free(clock);
    }
    pool->unused = NULL;
}

/* Entries are uninitialised. */
static mr_clock *new_clock(mr_clock_pool *pool)
{
    mr_clock *clock = pool->unused;
    if (clock)
        pool->unused = clock->next_unused;
    else
        clock = mr_malloc(sizeof *clock, (size_t)pool->thread_count * sizeof clock->entries[0]);
    if (clock)
        clock->references = 1;
    return clock;
}

mr_clock *mr_clock_share(mr_clock *clock)
{
    if (clock)
        clock->references++;
    return clock;
}

void mr_clock_drop(mr_clock_pool *pool, mr_clock **clock)
{
    mr_clock *old = *clock;
    *clock = NULL;
    if (!old || --old->references)
        return;
    old->next_unused = pool->unused;
    pool->unused = old;
}

void mr_clock_set(mr_clock_pool *pool, mr_clock **target, mr_clock *clock)
{
    mr_clock_share(clock);
    mr_clock_drop(pool, target);
    *target = clock;
}

void mr_time_set(mr_clock_pool *pool, mr_time *target, mr_time source)
{
    mr_clock_set(pool, &target->clock, source.clock);
    target->thread = source.thread;
    target->local = source.local;
}

/* First entry of `source` that is greater than in `target`, or the thread count. */
static uint32_t first_greater(const mr_clock_pool *pool, const mr_clock *target,
                              const mr_clock *source)
{
    uint32_t thread = 0;
    while (thread < pool->thread_count && source->entries[thread] <= target->entries[thread])
        thread++;
    return thread;
}

/* Makes *target a clock of its own that may be written. */
static bool own(mr_clock_pool *pool, mr_clock **target)
{
    mr_clock *old = *target;
    if (old && old->references == 1)
        return true;
    mr_clock *copy = new_clock(pool);
    if (!copy)
        return false;
    size_t size_bytes = (size_t)pool->thread_count * sizeof copy->entries[0];
    if (old)
        memcpy(copy->entries, old->entries, size_bytes);
    else
        memset(copy->entries, 0, size_bytes);
    mr_clock_drop(pool, target);
    *target = copy;
    return true;
}

bool mr_clock_join(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    const mr_clock *from = source.clock;
    if (from && from != *target) {
        if (!*target)
            *target = mr_clock_share(source.clock);
        uint32_t thread = first_greater(pool, *target, from);
        if (thread < pool->thread_count && !own(pool, target))
            return false;
        uint32_t *entries = (*target)->entries;
        for (; thread < pool->thread_count; thread++)
            if (from->entries[thread] > entries[thread])
                entries[thread] = from->entries[thread];
    }
    if (mr_clock_get(*target, source.thread) >= source.local)
        return true;
    if (!own(pool, target))
        return false;
    (*target)->entries[source.thread] = source.local;
    return true;
}
