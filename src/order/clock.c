#include "clock.h"

#include "base/assert.h"

#include <string.h>

enum { ROUND = 8 }; /* entries; the rest of a short clock costs less than its header */

void mr_clock_pool_free(mr_clock_pool *pool)
{
    mr_slab_free(&pool->slab);
}

void mr_clock_pool_grow(mr_clock_pool *pool, uint32_t thread_count)
{
    if (pool->has_trees || thread_count <= pool->entry_count)
        return;
    pool->has_trees = thread_count > MR_CLOCK_FLAT;
    pool->entry_count = 0;
    if (!pool->has_trees)
        pool->entry_count = (thread_count + ROUND - 1) / ROUND * ROUND;
}

static size_t size_of(uint32_t entry_count)
{
    return sizeof(mr_clock) + (size_t)entry_count * sizeof(uint32_t);
}

/* Entries are uninitialised. */
static mr_clock *new_clock(mr_clock_pool *pool)
{
    mr_clock *clock = mr_slab_take(&pool->slab, size_of(pool->entry_count));
    if (clock) {
        clock->references = 1;
        clock->count = pool->entry_count;
        clock->tree = (mr_clock_tree){0};
    }
    return clock;
}

void mr_clock_recycle(mr_clock_pool *pool, mr_clock *clock)
{
    MR_ASSERT(!clock->references && (clock->count <= pool->entry_count || pool->has_trees));
    mr_clock_tree_drop(&clock->tree);
    mr_slab_give(&pool->slab, clock, size_of(clock->count));
}

/* First entry of `source` that is greater than in `target`, or the count. */
static uint32_t first_greater(const mr_clock *target, const mr_clock *source)
{
    uint32_t thread = 0, both = source->count < target->count ? source->count : target->count;
    while (thread < both && source->entries[thread] <= target->entries[thread])
        thread++;
    if (thread == both)
        while (thread < source->count && !source->entries[thread])
            thread++;
    return thread;
}

/* Enters an array into a tree. */
static bool plant(mr_clock_tree *tree, const uint32_t *entries, uint32_t count)
{
    for (uint32_t thread = 0; thread < count; thread++)
        if (entries[thread] > mr_clock_tree_get(*tree, thread) &&
            !mr_clock_tree_set(tree, thread, entries[thread]))
            return false;
    return true;
}

/* Makes *target a clock of its own whose entries are a tree. */
static bool own_tree(mr_clock_pool *pool, mr_clock **target)
{
    const mr_clock *old = *target;
    if (old && old->references == 1 && !old->count)
        return true;
    mr_clock *copy = new_clock(pool);
    if (!copy)
        return false;
    if (old)
        copy->tree = mr_clock_tree_share(old->tree);
    bool planted = !old || plant(&copy->tree, old->entries, old->count);
    mr_clock_drop(pool, target);
    *target = copy;
    return planted;
}

/* Makes *target a clock of its own, with an entry for every thread, that may be written. */
static bool own(mr_clock_pool *pool, mr_clock **target)
{
    mr_clock *old = *target;
    if (old && old->references == 1 && old->count == pool->entry_count)
        return true;
    mr_clock *copy = new_clock(pool);
    if (!copy)
        return false;
    uint32_t kept = old ? old->count : 0;
    MR_ASSERT(kept <= copy->count);
    if (kept)
        memcpy(copy->entries, old->entries, kept * sizeof copy->entries[0]);
    memset(copy->entries + kept, 0, (copy->count - kept) * sizeof copy->entries[0]);
    mr_clock_drop(pool, target);
    *target = copy;
    return true;
}

/* mr_clock_meet of trees. */
static bool meet_trees(mr_clock_pool *pool, mr_clock **target, mr_time one, const mr_clock *two)
{
    mr_clock *raised = NULL, *other = mr_clock_share((mr_clock *)two);
    *target = new_clock(pool);
    bool met = *target && mr_clock_join(pool, &raised, one) && own_tree(pool, &raised) &&
               own_tree(pool, &other) &&
               mr_clock_tree_meet(&(*target)->tree, raised->tree, other->tree);
    mr_clock_drop(pool, &raised);
    mr_clock_drop(pool, &other);
    return met;
}

bool mr_clock_meet(mr_clock_pool *pool, mr_clock **target, mr_time one, const mr_clock *two)
{
    MR_REQUIRE(!*target);
    if (pool->has_trees)
        return meet_trees(pool, target, one, two);
    mr_clock *met = new_clock(pool);
    if (!met)
        return false;
    for (uint32_t thread = 0; thread < met->count; thread++) {
        uint32_t entry = mr_clock_get(one.clock, thread), other = mr_clock_get(two, thread);
        if (one.local && thread == one.thread && one.local > entry)
            entry = one.local;
        met->entries[thread] = entry < other ? entry : other;
    }
    *target = met;
    return true;
}

/* Does the clock contain all that `source` says? */
static bool contains(const mr_clock *clock, mr_time source)
{
    uint32_t count = source.clock ? source.clock->count : 0;
    if (source.clock && source.clock->tree.root)
        count = UINT32_C(1) << mr_clock_tree_bits(source.clock->tree.level);
    for (uint32_t thread = 0; thread < count; thread++)
        if (mr_clock_get(clock, thread) < mr_clock_get(source.clock, thread))
            return false;
    return mr_clock_get(clock, source.thread) >= source.local;
}

/* *target, which is not NULL, learns all that `from` says. A shared clock is copied only when it
 * changes. */
static bool join_trees(mr_clock_pool *pool, mr_clock **target, const mr_clock *from)
{
    if (from->count || (*target)->count || (*target)->references == 1)
        return own_tree(pool, target) && plant(&(*target)->tree, from->entries, from->count) &&
               mr_clock_tree_join(&(*target)->tree, from->tree);
    mr_clock_tree joined = mr_clock_tree_share((*target)->tree);
    bool done = mr_clock_tree_join(&joined, from->tree);
    if (done && joined.root != (*target)->tree.root) {
        mr_clock *copy = new_clock(pool);
        done = copy != NULL;
        if (copy) {
            copy->tree = joined;
            mr_clock_drop(pool, target);
            *target = copy;
            return true;
        }
    }
    mr_clock_tree_drop(&joined);
    return done;
}

/* `join` in a pool of trees. */
static bool join_time(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    if (!*target)
        *target = mr_clock_share(source.clock);
    else if (source.clock && source.clock != *target && !join_trees(pool, target, source.clock))
        return false;
    return mr_clock_get(*target, source.thread) >= source.local ||
           (own_tree(pool, target) &&
            mr_clock_tree_set(&(*target)->tree, source.thread, source.local));
}

static bool join(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    if (pool->has_trees)
        return join_time(pool, target, source);
    const mr_clock *from = source.clock;
    if (!*target) {
        *target = mr_clock_share(source.clock);
    } else if (from && from != *target) {
        uint32_t thread = first_greater(*target, from);
        if (thread < from->count && !own(pool, target))
            return false;
        uint32_t *entries = (*target)->entries;
        for (; thread < from->count; thread++)
            entries[thread] =
                from->entries[thread] > entries[thread] ? from->entries[thread] : entries[thread];
    }
    if (mr_clock_get(*target, source.thread) >= source.local)
        return true;
    if (!own(pool, target))
        return false;
    MR_ASSERT(source.thread < (*target)->count);
    (*target)->entries[source.thread] = source.local;
    return true;
}

bool mr_clock_join(mr_clock_pool *pool, mr_clock **target, mr_time source)
{
    /* A source that is the target may be gone after the join. */
    bool is_own = source.clock == *target;
    bool joined = join(pool, target, source);
    MR_ASSERT_COSTLY(!joined || is_own || contains(*target, source));
    (void)is_own;
    return joined;
}
