/* Windows around pairs of accesses that are close to each other. */
#include "far_decider.h"

#include <stdlib.h>

enum { GROWTH = 4 };

/* Events before and after an access whose variables are treated by value first. */
enum { CLOSE = 48 };

/* A window of the size with the pair in its middle, cut at the ends of the far window. */
static mr_far_request around(const mr_decider *d, uint32_t race, mr_close_pair pair, uint32_t size)
{
    const mr_window *window = d->problem.window;
    uint32_t half = (size - (pair.second + 1 - pair.first)) / 2;
    uint32_t before = pair.first - window->start, after = window->end - 1 - pair.second;
    return (mr_far_request){.start = pair.first - (before < half ? before : half),
                            .end = pair.second + 1 + (after < half ? after : half),
                            .pair = pair,
                            .race = race};
}

/* Up to MR_FAR_PLACES windows of the size for one static race, each around a pair that is in none
 * of the others. */
static void ask_for(mr_decider *d, uint32_t number, uint32_t size)
{
    const mr_close_pairs *pairs = &d->open[number].pairs;
    mr_far_request *own = d->requests + d->request_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < pairs->count && count < MR_FAR_PLACES; i++) {
        mr_close_pair pair = pairs->items[i];
        bool inside = pair.second - pair.first >= size;
        for (uint32_t k = 0; k < count && !inside; k++)
            inside = own[k].start <= pair.first && pair.second < own[k].end;
        if (!inside)
            own[count++] = around(d, number, pair, size);
    }
    d->request_count += count;
}

static int compare_requests(const void *one, const void *two)
{
    const mr_far_request *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Leaves the variables by value that the thread of an access uses close to it. */
static void keep_values(mr_window *window, uint32_t access)
{
    uint32_t thread = window->thread[access], at = window->position[access];
    uint32_t from = at < CLOSE ? 0 : at - CLOSE, length = mr_window_length(window, thread);
    for (uint32_t k = from; k < length && k <= at + CLOSE; k++) {
        uint32_t event = mr_window_at(window, thread, k);
        if (mr_op_is_access(mr_window_op(window, event)))
            window->variables[window->object[event]].by_source = false;
    }
}

/* Treats by source all variables but those that the requests are about: stricter than the model. */
static bool mix(mr_window *window, const mr_far_request *requests, uint32_t count, mr_arena *arena)
{
    uint8_t *by_source = mr_arena_alloc(arena, window->variable_count, 1);
    if (!by_source)
        return false;
    for (uint32_t v = 0; v < window->variable_count; v++) {
        by_source[v] = window->variables[v].by_source;
        window->variables[v].by_source = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        keep_values(window, requests[i].pair.first - window->start);
        keep_values(window, requests[i].pair.second - window->start);
    }
    for (uint32_t v = 0; v < window->variable_count; v++)
        window->variables[v].by_source |= by_source[v];
    return true;
}

/* Can the request be met, when its window costs that much? */
static bool is_due(const mr_decider *d, const mr_far_request *r, uint64_t work)
{
    const mr_open_race *race = &d->open[r->race];
    return !mr_decider_is_settled(d, race) && mr_decider_can_pay(d, race, work);
}

/* Decides the pairs of the requests in one window. What is no race there may be one outside. */
static mr_status try_window(mr_decider *d, uint32_t start, uint32_t end,
                            const mr_far_request *requests, uint32_t count)
{
    mr_window *window;
    mr_problem problem;
    mr_decision decision;
    uint32_t due = 0;
    for (uint32_t i = 0; i < count; i++)
        due += is_due(d, &requests[i], (end - start) / count);
    if (!due)
        return MR_OK;
    mr_status status = mr_decider_build(d, start, end, &d->far.arena, &window);
    if (status == MR_OK && d->mixed && !mix(window, requests, count, &d->far.arena))
        status = mr_error_memory(d->far.error, "building a far window");
    if (status == MR_OK)
        status = mr_decider_pose(d, window, &d->far.arena, &problem);
    if (status == MR_OK && !d->cheap &&
        !mr_problem_refine(&problem, &d->far.decide, 0, &d->far.arena))
        status = mr_error_memory(d->far.error, "deciding far races");
    for (uint32_t i = 0; status == MR_OK && i < count; i++) {
        const mr_far_request *r = &requests[i];
        uint32_t first = r->pair.first - start, second = r->pair.second - start;
        if (!is_due(d, r, (end - start) / due))
            continue;
        mr_decider_pay(d, &d->open[r->race], (end - start) / due);
        if (d->cheap)
            status = mr_decider_try_reorder(d, &d->open[r->race], &problem,
                                            (mr_close_pair){first, second});
        else
            status = mr_decider_ask(d, &d->open[r->race], &problem, (mr_stops){&first, 1},
                                    (mr_stops){&second, 1}, &decision);
    }
    return status;
}

/* Requests that lie side by side share a window, of up to twice the size of each. */
static mr_status try_requests(mr_decider *d, uint32_t size)
{
    mr_status status = MR_OK;
    qsort(d->requests, d->request_count, sizeof *d->requests, compare_requests);
    for (uint32_t i = 0, next; status == MR_OK && i < d->request_count; i = next) {
        uint32_t start = d->requests[i].start, end = d->requests[i].end;
        for (next = i + 1; next < d->request_count; next++) {
            if (d->requests[next].end - start > 2 * (uint64_t)size)
                break;
            end = d->requests[next].end > end ? d->requests[next].end : end;
        }
        status = try_window(d, start, end, &d->requests[i], next - i);
    }
    return status;
}

mr_status mr_decider_try_sizes(mr_decider *d)
{
    const mr_window *window = d->problem.window;
    mr_status status = MR_OK;
    for (uint64_t size = d->phase->settings->plan.size; status == MR_OK && size < window->size;
         size *= GROWTH) {
        d->request_count = 0;
        for (uint32_t i = 0; i < d->open_count; i++)
            if (!mr_decider_is_settled(d, &d->open[i]))
                ask_for(d, i, (uint32_t)size);
        status = try_requests(d, (uint32_t)size);
    }
    return status;
}
