#include "unit_choices.h"

#include "base/assert.h"

/* Beyond so many operations of a kind ranks are not bounded: the formula is too large anyway. */
enum { MR_MOST_RANKED = 4096 };

static void rank(const mr_precedence *forced, const uint32_t *events, uint32_t count,
                 uint32_t carried)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = carried, high = UINT32_MAX;
        if (count <= MR_MOST_RANKED) {
            high = carried + count - 1;
            for (uint32_t k = 0; k < count; k++) {
                low += mr_precedes(forced, events[k], events[i]);
                high -= mr_precedes(forced, events[i], events[k]);
            }
        }
        MR_ASSERT(low <= high);
        forced->rank_low[events[i]] = low;
        forced->rank_high[events[i]] = high;
    }
}

bool mr_unit_ranks_build(mr_precedence *forced, mr_arena *arena)
{
    const mr_window *w = forced->window;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_semaphore *s = &w->semaphores[l];
        if (!s->shared)
            continue;
        if (!forced->rank_low) {
            forced->rank_low = mr_arena_alloc(arena, w->size, sizeof *forced->rank_low);
            forced->rank_high = mr_arena_alloc(arena, w->size, sizeof *forced->rank_high);
            if (!forced->rank_low || !forced->rank_high)
                return false;
        }
        rank(forced, w->posts + s->posts_first, s->posts_end - s->posts_first, s->units);
        rank(forced, w->waits + s->waits_first, s->waits_end - s->waits_first, 0);
    }
    return true;
}

bool mr_wait_may_take(const mr_precedence *forced, uint32_t wait, uint32_t post)
{
    if (mr_precedes(forced, wait, post))
        return false;
    return !forced->rank_low || (forced->rank_low[wait] <= forced->rank_high[post] &&
                                 forced->rank_low[post] <= forced->rank_high[wait]);
}

bool mr_wait_may_take_carried(const mr_precedence *forced, uint32_t wait)
{
    const mr_window *w = forced->window;
    uint32_t low = forced->rank_low ? forced->rank_low[wait] : 0;
    return low < w->semaphores[w->object[wait]].units;
}
