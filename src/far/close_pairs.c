#include "close_pairs.h"

#include "base/assert.h"
#include "windows/lockset.h"

#include <string.h>

static uint32_t distance(const mr_close_pair *pair)
{
    return pair->second - pair->first;
}

static void insert(mr_close_pairs *pairs, uint32_t at, mr_close_pair pair)
{
    MR_ASSERT(at <= pairs->count && at < MR_CLOSE_PAIRS && pair.first < pair.second);
    uint32_t count = pairs->count < MR_CLOSE_PAIRS ? pairs->count++ : MR_CLOSE_PAIRS - 1;
    memmove(&pairs->items[at + 1], &pairs->items[at], (count - at) * sizeof *pairs->items);
    pairs->items[at] = pair;
}

void mr_close_pairs_add(mr_close_pairs *pairs, uint32_t first, uint32_t second)
{
    MR_REQUIRE(first < second);
    insert(pairs, 0, (mr_close_pair){first, second});
}

/* Inserts the pair by its distance, unless 64 closer ones are there. */
static void consider(mr_close_pairs *pairs, mr_close_pair pair)
{
    uint32_t at = pairs->count;
    if (at == MR_CLOSE_PAIRS && distance(&pair) >= distance(&pairs->items[at - 1]))
        return;
    while (at && distance(&pair) < distance(&pairs->items[at - 1]))
        at--;
    insert(pairs, at, pair);
}

/* Are the pairs ordered by distance? */
static bool is_sorted(const mr_close_pairs *pairs)
{
    for (uint32_t i = 1; i < pairs->count; i++)
        if (distance(&pairs->items[i]) < distance(&pairs->items[i - 1]))
            return false;
    return true;
}

/* Considers each access with the last access of the other list before it. Goes through both lists
 * at once, in trace order. */
static void merge(mr_close_pairs *pairs, const mr_problem *problem, const mr_access_list *one,
                  const mr_access_list *two)
{
    uint32_t start = problem->window->start;
    for (uint32_t i = 0, j = 0; i < one->count || j < two->count;) {
        bool take_one = j == two->count || (i < one->count && one->events[i] < two->events[j]);
        uint32_t event = take_one ? one->events[i++] : two->events[j++];
        if (!i || !j)
            continue;
        uint32_t before = take_one ? two->events[j - 1] : one->events[i - 1];
        if (!mr_precedence_enables(&problem->forced, before, event))
            consider(pairs, (mr_close_pair){start + before, start + event});
    }
}

void mr_close_pairs_find(mr_close_pairs *pairs, const mr_problem *problem,
                         const mr_candidates *candidates, const mr_candidate_group *group)
{
    pairs->count = 0;
    for (uint32_t k = 0; k < group->site_pair_count; k++) {
        const mr_site_pair *sites = &candidates->site_pairs[group->first_site_pair + k];
        for (uint32_t i = 0; i < sites->one->list_count; i++)
            for (uint32_t j = 0; j < sites->two->list_count; j++)
                if (!mr_locksets_meet(problem->window, sites->one->lists[i].lockset,
                                      sites->two->lists[j].lockset))
                    merge(pairs, problem, &sites->one->lists[i], &sites->two->lists[j]);
    }
    MR_ASSERT_COSTLY(is_sorted(pairs));
}
