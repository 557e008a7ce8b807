/*
 * Windows around pairs of accesses that are close to each other.
 *
 * A phase for each size. Requests that lie side by side share a window. A unit is a few requests of
 * one window; a worker that has built the window keeps it for the next unit, so that many questions
 * about one window are shared out, too.
 */
#include "far_decider.h"

#include "base/memory.h"

#include <stdlib.h>

enum { GROWTH = 4 };

/* Events before and after an access whose variables are treated by value first. */
enum { CLOSE = 48 };

/* Requests of a unit: without formulas they are answered in no time. */
enum { REQUESTS_OF_UNIT = 1, CHEAP_REQUESTS_OF_UNIT = 16 };

/* A window that a static race asks for. */
typedef struct request {
    uint32_t start, end;
    mr_close_pair pair;
    uint32_t race;
} request;

/* A window that requests share. */
typedef struct shared_window {
    uint32_t start, end;
    uint32_t first, count; /* requests[first …) */
    uint32_t due;          /* how many were due when it came to the first: they share the cost */
} shared_window;

typedef struct unit {
    uint32_t window;       /* of `windows` */
    uint32_t first, count; /* requests[first …) */
} unit;

/* The plan of a phase. */
typedef struct plan {
    mr_decider *d;
    mr_far_way way;
    uint32_t size;
    request *requests;
    shared_window *windows;
    unit *units;
    uint32_t request_count, window_count, unit_count;
} plan;

/* ---- planning ---- */

/* A window of the size with the pair in its middle, cut at the ends of the far window. */
static request around(const plan *p, uint32_t race, mr_close_pair pair)
{
    const mr_window *window = p->d->problem.window;
    uint32_t half = (p->size - (pair.second + 1 - pair.first)) / 2;
    uint32_t before = pair.first - window->start, after = window->end - 1 - pair.second;
    return (request){.start = pair.first - (before < half ? before : half),
                     .end = pair.second + 1 + (after < half ? after : half),
                     .pair = pair,
                     .race = race};
}

/* Up to MR_FAR_PLACES windows for one static race, each around a pair that is in none of the
 * others. */
static void ask_for(plan *p, uint32_t race)
{
    const mr_close_pairs *pairs = &p->d->open[race].pairs;
    request *own = p->requests + p->request_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < pairs->count && count < MR_FAR_PLACES; i++) {
        mr_close_pair pair = pairs->items[i];
        bool inside = pair.second - pair.first >= p->size;
        for (uint32_t k = 0; k < count && !inside; k++)
            inside = own[k].start <= pair.first && pair.second < own[k].end;
        if (!inside)
            own[count++] = around(p, race, pair);
    }
    p->request_count += count;
}

static int compare_requests(const void *one, const void *two)
{
    const request *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->race > y->race) - (x->race < y->race); /* one race never asks twice for a window */
}

static void add_units(plan *p, uint32_t window)
{
    uint32_t most = p->way == MR_FAR_CHEAP ? CHEAP_REQUESTS_OF_UNIT : REQUESTS_OF_UNIT;
    uint32_t end = p->windows[window].first + p->windows[window].count;
    for (uint32_t first = p->windows[window].first; first < end; first += most)
        p->units[p->unit_count++] = (unit){window, first, end - first < most ? end - first : most};
}

/* Requests that lie side by side share a window, of up to twice the size of each. */
static void share_windows(plan *p)
{
    for (uint32_t i = 0, next; i < p->request_count; i = next) {
        uint32_t start = p->requests[i].start, end = p->requests[i].end;
        for (next = i + 1; next < p->request_count; next++) {
            if (p->requests[next].end - start > 2 * (uint64_t)p->size)
                break;
            end = p->requests[next].end > end ? p->requests[next].end : end;
        }
        p->windows[p->window_count] = (shared_window){start, end, i, next - i, 0};
        add_units(p, p->window_count++);
    }
}

static mr_status make_plan(plan *p)
{
    mr_decider *d = p->d;
    size_t most = (size_t)mr_decider_count_open(d) * MR_FAR_PLACES;
    p->requests = mr_calloc(most, sizeof *p->requests);
    p->windows = mr_calloc(most, sizeof *p->windows);
    p->units = mr_calloc(most, sizeof *p->units);
    if (!p->requests || !p->windows || !p->units)
        return mr_error_memory(d->error, "deciding far races");
    for (uint32_t i = 0; i < d->todo_count; i++)
        ask_for(p, d->todo[i]);
    if (p->request_count)
        qsort(p->requests, p->request_count, sizeof *p->requests, compare_requests);
    share_windows(p);
    return MR_OK;
}

/* ---- by the workers ---- */

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
static bool mix(mr_window *window, const request *requests, uint32_t count, mr_arena *arena)
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

/* Builds the window, unless it is there from the last unit. */
static mr_status build(const plan *p, uint32_t number, mr_far_worker *far)
{
    const shared_window *shared = &p->windows[number];
    uint64_t serial = p->d->windows + number + 1;
    mr_worker *worker = &far->worker;
    mr_window *window;
    if (far->built == serial)
        return MR_OK;
    far->built = 0;
    mr_status status = mr_decider_build(&worker->carried, shared->start, shared->end, p->d->model,
                                        &worker->arena, &window, worker->error);
    if (status != MR_OK)
        return status;
    if (p->way == MR_FAR_MIXED &&
        !mix(window, &p->requests[shared->first], shared->count, &worker->arena))
        return mr_error_memory(worker->error, "building a far window");
    status = mr_decider_pose(window, &worker->arena, &far->problem, worker->error);
    if (status == MR_OK && p->way != MR_FAR_CHEAP &&
        !mr_problem_refine(&far->problem, &worker->decide, 0, &worker->arena))
        status = mr_error_memory(worker->error, "deciding far races");
    if (status == MR_OK)
        far->built = serial;
    return status;
}

static mr_status answer(const plan *p, const request *r, mr_far_worker *far, mr_outcome *outcome)
{
    uint32_t start = far->problem.window->start;
    uint32_t first = r->pair.first - start, second = r->pair.second - start;
    mr_decision decision;
    mr_pair_verdict *verdict = mr_decider_answer(p->d, &p->d->open[r->race], r->pair, outcome);
    if (!verdict)
        return mr_error_memory(far->worker.error, "deciding far races");
    if (p->way == MR_FAR_CHEAP)
        return mr_decider_try_reorder(&far->worker, &far->problem, (mr_close_pair){first, second},
                                      verdict);
    return mr_decider_ask(&far->worker, &far->problem, (mr_stops){&first, 1},
                          (mr_stops){&second, 1}, &decision, verdict);
}

/* Has the unit found this race already? */
static bool has_race(const mr_decider *d, const request *r, const mr_outcome *outcome)
{
    const mr_candidate_group *group = mr_decider_group_of(d, &d->open[r->race]);
    for (size_t i = 0; i < outcome->count; i++) {
        const mr_pair_verdict *verdict = &outcome->verdicts[i];
        if (verdict->has_race && verdict->key_1 == group->location_1 &&
            verdict->key_2 == group->location_2)
            return true;
    }
    return false;
}

static mr_status decide_unit(void *context, mr_far_worker *far, mr_outcome *outcome)
{
    const plan *p = context;
    const unit *u = &p->units[outcome->unit];
    const shared_window *shared = &p->windows[u->window];
    uint64_t least = (shared->end - shared->start) / shared->count; /* if all are due */
    mr_status status = MR_OK;
    for (uint32_t i = u->first; status == MR_OK && i < u->first + u->count; i++) {
        const request *r = &p->requests[i];
        far->worker.halted |= mr_decider_is_halted(p->d);
        if (far->worker.halted)
            break;
        if (has_race(p->d, r, outcome) ||
            !mr_decider_may_ask_now(p->d, &p->d->open[r->race], least, 0))
            continue;
        mr_worker_asks(&far->worker, false);
        status = build(p, u->window, far);
        mr_worker_asks(&far->worker, true);
        if (status == MR_OK)
            status = answer(p, r, far, outcome);
    }
    return status;
}

/* ---- by who merges ---- */

/* Is the verdict the answer to the request? */
static bool answers(const plan *p, const request *r, const mr_pair_verdict *verdict)
{
    const mr_candidate_group *group = mr_decider_group_of(p->d, &p->d->open[r->race]);
    const uint32_t *full = p->d->reduction.events;
    return verdict->key_1 == group->location_1 && verdict->key_2 == group->location_2 &&
           verdict->first == full[r->pair.first] && verdict->second == full[r->pair.second];
}

static void count_due(const plan *p, shared_window *shared)
{
    mr_stats *stats = &p->d->context->merge->result->stats;
    uint32_t size = shared->end - shared->start;
    for (uint32_t i = 0; i < shared->count; i++)
        shared->due += mr_decider_is_due(p->d, &p->d->open[p->requests[shared->first + i].race],
                                         size / shared->count);
    if (!shared->due)
        return;
    stats->far_windows++;
    stats->far_events += size;
}

/* `verdict`: NULL when it was not asked for, as there was no budget. */
static mr_status merge_answer(const plan *p, const request *r, const shared_window *shared,
                              mr_pair_verdict *verdict, mr_error *error)
{
    mr_open_race *race = &p->d->open[r->race];
    uint64_t share = shared->due ? (shared->end - shared->start) / shared->due : 0;
    if (!shared->due || !mr_decider_is_due(p->d, race, share))
        return MR_OK;
    mr_decider_pay(p->d, race, share);
    return verdict && mr_decider_may_ask(p->d, race, 0, 0)
               ? mr_decider_count(p->d, race, verdict, error)
               : MR_OK;
}

static mr_status merge_unit(void *context, mr_outcome *outcome, mr_error *error)
{
    const plan *p = context;
    const unit *u = &p->units[outcome->unit];
    shared_window *shared = &p->windows[u->window];
    size_t next = 0;
    mr_status status = MR_OK;
    if (u->first == shared->first)
        count_due(p, shared);
    for (uint32_t i = u->first; status == MR_OK && i < u->first + u->count; i++) {
        const request *r = &p->requests[i];
        mr_pair_verdict *verdict = next < outcome->count ? &outcome->verdicts[next] : NULL;
        if (verdict && !answers(p, r, verdict))
            verdict = NULL;
        next += verdict != NULL;
        status = merge_answer(p, r, shared, verdict, error);
    }
    return status;
}

/* ---- a phase for each size ---- */

static mr_status try_size(mr_decider *d, mr_far_way way, uint32_t size)
{
    plan p = {.d = d, .way = way, .size = size};
    mr_status status = make_plan(&p);
    const mr_far_units units = {
        .context = &p, .count = p.unit_count, .decide = decide_unit, .merge = merge_unit};
    if (status == MR_OK)
        status = mr_decider_run(d, &units);
    d->windows += p.window_count;
    free(p.requests);
    free(p.windows);
    free(p.units);
    return status;
}

mr_status mr_decider_try_sizes(mr_decider *d, mr_far_way way)
{
    const mr_window *window = d->problem.window;
    mr_status status = MR_OK;
    for (uint64_t size = d->context->settings->plan.size;
         status == MR_OK && size < window->size && !mr_decider_is_halted(d); size *= GROWTH)
        status = try_size(d, way, (uint32_t)size);
    return status;
}
