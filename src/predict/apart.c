#include "apart.h"

#include "windows/lockset.h"

#include <inttypes.h>

/* The most effort for an event of a window. Windows with deep nests of locks take a thousand. */
enum { EFFORT_OF_EVENT = 4096 };

/* ---- two places ---- */

/* May an access of the one list and one of the other be the next events of their threads at the same time? */
static bool lists_may_meet(const mr_together *together, const mr_access_list *one,
                           const mr_access_list *other)
{
    for (uint32_t i = 0; i < one->count; i++)
        if (mr_together_may_be(together, one->events[i], other->events, other->count))
            return true;
    return false;
}

static bool sites_may_meet(const mr_window *w, const mr_together *together,
                           const mr_access_site *one, const mr_access_site *other)
{
    for (uint32_t i = 0; i < one->list_count; i++)
        for (uint32_t k = 0; k < other->list_count; k++)
            if (!mr_locksets_meet(w, one->lists[i].lockset, other->lists[k].lockset) &&
                lists_may_meet(together, &one->lists[i], &other->lists[k]))
                return true;
    return false;
}

bool mr_apart_are(const mr_window *window, const mr_candidates *candidates,
                  const mr_candidate_group *group, const mr_together *together)
{
    for (uint32_t i = 0; i < group->site_pair_count; i++) {
        const mr_site_pair *pair = &candidates->site_pairs[group->first_site_pair + i];
        if (sites_may_meet(window, together, pair->one, pair->two))
            return false;
    }
    return true;
}

/* ---- pairs of events ---- */

/* More pairs are not looked at. */
enum { MOST_PAIRS = 1 << 18 };

/* Adds the pairs of two lists that may be together. `*left`: how many may be looked at. False: too many, or no memory. */
static bool list_pairs(const mr_together *together, const mr_access_list *one,
                       const mr_access_list *other, mr_map *pairs, uint64_t *left)
{
    uint64_t count = (uint64_t)one->count * other->count;
    if (count > *left)
        return false;
    *left -= count;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t a = one->events[i / other->count], b = other->events[i % other->count];
        if (mr_together_may_be(together, a, &b, 1) && !mr_map_at(pairs, mr_map_key_of_two(a, b), 1))
            return false;
    }
    return true;
}

static bool list_sites(const mr_window *w, const mr_together *together, const mr_site_pair *pair,
                       mr_map *pairs, uint64_t *left)
{
    for (uint32_t i = 0; i < pair->one->list_count; i++)
        for (uint32_t k = 0; k < pair->two->list_count; k++) {
            const mr_access_list *one = &pair->one->lists[i], *other = &pair->two->lists[k];
            if (!mr_locksets_meet(w, one->lockset, other->lockset) &&
                !list_pairs(together, one, other, pairs, left))
                return false;
        }
    return true;
}

bool mr_apart_pairs(const mr_window *w, const mr_candidates *candidates, const bool *settled,
                    const mr_together *together, mr_map *pairs)
{
    uint64_t left = MOST_PAIRS;
    for (uint32_t g = 0; g < candidates->group_count; g++)
        for (uint32_t i = 0; i < candidates->groups[g].site_pair_count && !settled[g]; i++)
            if (!list_sites(w, together,
                            &candidates->site_pairs[candidates->groups[g].first_site_pair + i],
                            pairs, &left))
                return false;
    return true;
}

/* ---- a window ---- */

/* False: no memory, or the run is halted. */
static bool raise(const mr_problem *problem, const mr_together *together, mr_apart *apart)
{
    apart->raised = *problem;
    apart->is_raised = mr_precedence_copy(&apart->raised.forced, &problem->forced, &apart->arena) &&
                       mr_together_raise(together, &apart->raised.forced, &apart->arena);
    return apart->is_raised;
}

/* The memory of `apart` comes from the share of the worker, as that of its arena does. */
static void open_arena(mr_worker *worker, mr_apart *apart)
{
    mr_arena_init(&apart->arena);
    apart->arena.share = worker->arena.share;
    apart->arena.halt = worker->arena.halt;
    apart->arena.waits = worker->has_share; /* half a precedence would be of no use */
}

static mr_status use(mr_worker *worker, const mr_problem *problem, const mr_candidates *candidates,
                     const mr_together *together, bool *settled, mr_apart *apart)
{
    for (uint32_t g = 0; g < candidates->group_count; g++) {
        settled[g] |= mr_apart_are(problem->window, candidates, &candidates->groups[g], together);
        apart->settled += settled[g];
    }
    MR_DEBUG(worker->settings->debug, SEARCH, "apart=%" PRIu32 " of=%" PRIu32, apart->settled,
             candidates->group_count);
    if (apart->settled == candidates->group_count)
        return MR_OK;
    if (!(worker->decide.steps & MR_STEP_BIT(MR_STEP_CONE)))
        return MR_OK;
    open_arena(worker, apart);
    return raise(problem, together, apart) || apart->arena.refused
               ? MR_OK
               : mr_error_memory(worker->error, "deciding a candidate");
}

mr_status mr_apart_search(mr_worker *worker, const mr_problem *problem,
                          const mr_candidates *candidates, bool *settled, mr_apart *apart)
{
    bool cone = worker->decide.steps & MR_STEP_BIT(MR_STEP_CONE);
    const mr_explore_limits limits = {.effort = (uint64_t)problem->window->size * EFFORT_OF_EVENT,
                                      .memory_bytes =
                                          mr_limits_memory_bytes(&worker->decide.limits)};
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_together *together;
    uint64_t spent = 0;
    if (!candidates->group_count || !mr_together_has_few_parts(problem->window))
        return MR_OK;
    mr_explored result = mr_together_search(
        problem->window, &problem->hard, cone ? &problem->forced : &problem->hard, &limits, &spent,
        worker->settings->debug, &worker->arena, &together);
    if (result == MR_EXPLORED_ALL) {
        apart->together = together;
        return use(worker, problem, candidates, together, settled, apart);
    }
    mr_arena_release(&worker->arena, mark);
    return result == MR_EXPLORED_NO_MEMORY ? mr_worker_out_of_memory(worker) : MR_OK;
}

void mr_apart_list_pairs(mr_apart *apart, const mr_window *window, const mr_candidates *candidates,
                         const bool *settled)
{
    apart->has_pairs = apart->together &&
                       mr_apart_pairs(window, candidates, settled, apart->together, &apart->pairs);
    apart->together = NULL;
}

void mr_apart_free(mr_apart *apart)
{
    mr_arena_free(&apart->arena);
    mr_map_free(&apart->pairs);
    *apart = (mr_apart){0};
}
