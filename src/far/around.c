#include "around.h"

#include "base/assert.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each phase has windows so many times larger than the phase before. */
enum { GROWTH = 4 };

/* Windows of one size that a pair of places asks for. */
enum { WINDOWS_OF_PLACES = 4 };

/* MR_FAR_MIXED: events before and after an access whose variables are treated as the model says. */
enum { CLOSE = 48 };

/* Requests of a unit. Without formulas they take so little time that a unit has many. */
enum { REQUESTS_OF_UNIT = 1, CHEAP_REQUESTS_OF_UNIT = 16 };

/* A window that a pair of places asks for. Events have the numbers of the reduced trace. */
typedef struct request {
    uint32_t start, end;
    mr_close_pair pair;
    uint32_t places; /* index in the far window's places */
} request;

/* A window that requests share. */
typedef struct shared_window {
    uint32_t start, end;
    uint32_t first, count; /* requests[first …) */
    uint32_t due; /* requests that the budget covered when the merge came to the first of them */
} shared_window;

typedef struct unit {
    uint32_t window;       /* index in `windows` */
    uint32_t first, count; /* requests[first …) */
} unit;

/* The plan of a phase. It does not change while the phase runs, but for shared_window.due, which
 * only the merge uses. */
typedef struct plan {
    mr_far_asker *asker;
    mr_far_way way;
    uint32_t size;
    request *requests;
    shared_window *windows;
    unit *units;
    uint32_t request_count, window_count, unit_count;
} plan;

static mr_place_pair *places_of(const plan *p, const request *r)
{
    return &p->asker->window->places.items[r->places];
}

/* ---- planning, by the calling thread ---- */

/* A window of the size with the pair in its middle, cut at the ends of the far window. */
static request around(const plan *p, uint32_t places, mr_close_pair pair)
{
    const mr_window *window = p->asker->window->problem.window;
    MR_ASSERT(window->start <= pair.first && pair.first < pair.second && pair.second < window->end);
    MR_ASSERT(pair.second - pair.first < p->size);
    uint32_t half = (p->size - (pair.second + 1 - pair.first)) / 2;
    uint32_t before = pair.first - window->start, after = window->end - 1 - pair.second;
    return (request){.start = pair.first - (before < half ? before : half),
                     .end = pair.second + 1 + (after < half ? after : half),
                     .pair = pair,
                     .places = places};
}

/* Asks for the windows of a pair of places, each around a pair that is in none of the others. */
static void ask_for_windows(plan *p, uint32_t places)
{
    const mr_close_pairs *close = &p->asker->window->places.items[places].close;
    request *own = p->requests + p->request_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < close->count && count < WINDOWS_OF_PLACES; i++) {
        mr_close_pair pair = close->items[i];
        bool skip = pair.second - pair.first >= p->size;
        for (uint32_t k = 0; k < count && !skip; k++)
            skip = own[k].start <= pair.first && pair.second < own[k].end;
        if (!skip)
            own[count++] = around(p, places, pair);
    }
    p->request_count += count;
}

/* A pair of places never asks twice for the same window, so no two requests are equal. */
static int compare_requests(const void *one, const void *two)
{
    const request *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->places > y->places) - (x->places < y->places);
}

static void add_units(plan *p, uint32_t window)
{
    uint32_t most = p->way == MR_FAR_CHEAP ? CHEAP_REQUESTS_OF_UNIT : REQUESTS_OF_UNIT;
    uint32_t end = p->windows[window].first + p->windows[window].count;
    for (uint32_t first = p->windows[window].first; first < end; first += most)
        p->units[p->unit_count++] = (unit){window, first, end - first < most ? end - first : most};
}

/* Merges requests that lie side by side into windows of up to twice the size. */
static void share_windows(plan *p)
{
    for (uint32_t i = 0, next; i < p->request_count; i = next) {
        uint32_t start = p->requests[i].start, end = p->requests[i].end;
        for (next = i + 1; next < p->request_count; next++) {
            MR_ASSERT(start <= p->requests[next].start); /* requests are sorted */
            if (p->requests[next].end - start > 2 * (uint64_t)p->size)
                break;
            end = p->requests[next].end > end ? p->requests[next].end : end;
        }
        p->windows[p->window_count] = (shared_window){start, end, i, next - i, 0};
        add_units(p, p->window_count++);
    }
    MR_ASSERT(p->window_count <= p->unit_count && p->unit_count <= p->request_count);
}

/* Is each request in exactly one unit, in order, and inside the window of that unit? */
static bool is_in_order(const plan *p)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->unit_count; i++) {
        const unit *u = &p->units[i];
        const shared_window *shared = &p->windows[u->window];
        if (u->first != next || !u->count)
            return false;
        for (; next < u->first + u->count; next++)
            if (p->requests[next].start < shared->start || p->requests[next].end > shared->end)
                return false;
    }
    return next == p->request_count;
}

static mr_status make_plan(plan *p, mr_error *error)
{
    mr_far_window *window = p->asker->window;
    size_t most = (size_t)mr_far_window_list_unsettled(window) * WINDOWS_OF_PLACES;
    p->requests = mr_calloc(most, sizeof *p->requests);
    p->windows = mr_calloc(most, sizeof *p->windows);
    p->units = mr_calloc(most, sizeof *p->units);
    if (!p->requests || !p->windows || !p->units)
        return mr_error_memory(error, "deciding far races");
    for (uint32_t i = 0; i < window->unsettled_count; i++)
        ask_for_windows(p, window->unsettled[i]);
    MR_ASSERT(p->request_count <= most);
    if (p->request_count)
        qsort(p->requests, p->request_count, sizeof *p->requests, compare_requests);
    share_windows(p);
    MR_ASSERT_COSTLY(is_in_order(p));
    return MR_OK;
}

/* ---- deciding, by the workers ---- */

/* Leaves the variables as they are that the thread of an access uses close to it. */
static void keep_close_variables(mr_window *window, uint32_t access)
{
    uint32_t thread = window->thread[access], at = window->position[access];
    uint32_t from = at < CLOSE ? 0 : at - CLOSE, length = mr_window_length(window, thread);
    for (uint32_t k = from; k < length && k <= at + CLOSE; k++) {
        uint32_t event = mr_window_at(window, thread, k);
        if (mr_op_is_access(mr_window_op(window, event)))
            window->variables[window->object[event]].by_source = false;
    }
}

/* Makes the window stricter than its model: reads of all variables must see the same write, but for
 * the variables that are used close to the accesses of the requests. */
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
        keep_close_variables(window, requests[i].pair.first - window->start);
        keep_close_variables(window, requests[i].pair.second - window->start);
    }
    for (uint32_t v = 0; v < window->variable_count; v++)
        window->variables[v].by_source |= by_source[v];
    return true;
}

/* Is the shared window the far window itself? */
static bool is_far_window(const plan *p, const shared_window *shared)
{
    const mr_window *window = p->asker->window->problem.window;
    return shared->start == window->start && shared->end == window->end;
}

/* The far window, with variables of its own: all but FORCED is the same however reads are treated. */
static mr_status mix_far_window(const plan *p, const shared_window *shared, mr_far_worker *far)
{
    const mr_problem *whole = &p->asker->window->problem;
    const mr_window *from = whole->window;
    mr_worker *worker = &far->worker;
    mr_window *window = mr_arena_alloc(&worker->arena, 1, sizeof *window);
    mr_window_variable *variables =
        mr_arena_alloc(&worker->arena, from->variable_count, sizeof *variables);
    if (!window || !variables)
        return mr_error_memory(worker->error, "building a far window");
    memcpy(variables, from->variables, from->variable_count * sizeof *variables);
    *window = *from;
    window->variables = variables;
    far->problem = (mr_problem){.window = window, .hard = whole->hard, .source = whole->source};
    far->problem.hard.window = far->problem.source.window = window;
    return mix(window, &p->requests[shared->first], shared->count, &worker->arena) &&
                   mr_precedence_build(&far->problem.forced, window, MR_PRECEDENCE_FORCED,
                                       &far->problem.hard, &worker->arena)
               ? MR_OK
               : mr_error_memory(worker->error, "building a far window");
}

/* The far window itself has all that a window of its own would have, and its precedence has been raised. */
static mr_status take_far_window(const plan *p, const shared_window *shared, mr_far_worker *far)
{
    mr_arena_reset(&far->worker.arena);
    if (p->way == MR_FAR_MIXED)
        return mix_far_window(p, shared, far);
    far->problem = p->asker->window->problem;
    return MR_OK;
}

static mr_status build_window(const plan *p, const shared_window *shared, mr_far_worker *far)
{
    mr_worker *worker = &far->worker;
    mr_window *window;
    mr_status status =
        mr_reduced_window_build(&worker->carried, shared->start, shared->end,
                                p->asker->window->model, &worker->arena, &window, worker->error);
    if (status != MR_OK)
        return status;
    return (p->way != MR_FAR_MIXED ||
            mix(window, &p->requests[shared->first], shared->count, &worker->arena)) &&
                   mr_problem_init(&far->problem, window, &worker->arena)
               ? MR_OK
               : mr_error_memory(worker->error, "building a far window");
}

/* Makes what questions about a shared window need, in the arena of the worker. */
static mr_status make_problem(const plan *p, const shared_window *shared, mr_far_worker *far)
{
    mr_worker *worker = &far->worker;
    mr_status status =
        is_far_window(p, shared) ? take_far_window(p, shared, far) : build_window(p, shared, far);
    if (status != MR_OK || p->way == MR_FAR_CHEAP)
        return status;
    return mr_problem_list_rows(&far->problem, &worker->decide, &worker->arena) &&
                   mr_problem_refine(&far->problem, &worker->decide, 0, &worker->arena)
               ? MR_OK
               : mr_error_memory(worker->error, "deciding far races");
}

/* Builds a shared window, unless the worker has it from its last unit. */
static mr_status build(const plan *p, uint32_t number, mr_far_worker *far)
{
    const shared_window *shared = &p->windows[number];
    uint64_t serial = p->asker->windows + number + 1;
    if (far->built == serial)
        return MR_OK;
    far->built = 0;
    mr_status status = make_problem(p, shared, far);
    if (status != MR_OK)
        return status;
    if (p->way == MR_FAR_CHEAP &&
        !mr_foreign_reads_list(&far->foreign, far->problem.window, &far->worker.arena))
        return mr_error_memory(far->worker.error, "building a far window");
    far->built = serial;
    return MR_OK;
}

static mr_status answer(const plan *p, const request *r, mr_far_worker *far, mr_outcome *outcome)
{
    const mr_window *window = far->problem.window;
    MR_ASSERT(window->start <= r->start && r->end <= window->end);
    uint32_t first = r->pair.first - window->start, second = r->pair.second - window->start;
    mr_decision decision;
    mr_pair_verdict *verdict = mr_far_answer_new(p->asker, places_of(p, r), r->pair, outcome);
    if (!verdict)
        return mr_error_memory(far->worker.error, "deciding far races");
    if (p->way == MR_FAR_CHEAP)
        return mr_far_try_reorder(&far->worker, &far->problem, &far->foreign,
                                  (mr_close_pair){first, second}, verdict);
    return mr_far_ask(&far->worker, &far->problem, (mr_stops){&first, 1}, (mr_stops){&second, 1},
                      &decision, verdict);
}

/* Has the unit found a race of these places already? */
static bool has_race(const mr_place_pair *places, const mr_outcome *outcome)
{
    for (size_t i = 0; i < outcome->count; i++) {
        const mr_pair_verdict *verdict = &outcome->verdicts[i];
        if (verdict->has_race && verdict->key_1 == places->group->location_1 &&
            verdict->key_2 == places->group->location_2)
            return true;
    }
    return false;
}

/* Answers a request, unless the answer would not be merged. */
static mr_status decide_request(const plan *p, const unit *u, const request *r, mr_far_worker *far,
                                mr_outcome *outcome)
{
    const shared_window *shared = &p->windows[u->window];
    const mr_place_pair *places = places_of(p, r);
    /* The share in the effort of the window is smallest when all requests are due. */
    uint64_t least = (shared->end - shared->start) / shared->count;
    if (has_race(places, outcome) || !mr_far_budget_may_ask_now(p->asker->budget, places, least, 0))
        return MR_OK;
    mr_worker_asks(&far->worker, false);
    mr_status status = build(p, u->window, far);
    mr_worker_asks(&far->worker, true);
    return status == MR_OK ? answer(p, r, far, outcome) : status;
}

/* mr_phase.decide */
static mr_status decide(void *context, unsigned number, uint64_t unit_number, mr_outcome **outcome,
                        mr_error *error)
{
    const plan *p = context;
    MR_REQUIRE(unit_number < p->unit_count);
    const unit *u = &p->units[unit_number];
    mr_far_worker *far = NULL;
    mr_status status = mr_far_unit_begin(p->asker, number, unit_number, &far, outcome, error);
    if (status != MR_OK)
        return status;
    for (uint32_t i = u->first; status == MR_OK && i < u->first + u->count; i++) {
        if (mr_far_unit_is_halted(p->asker, far))
            break;
        status = decide_request(p, u, &p->requests[i], far, *outcome);
    }
    return mr_far_unit_end(far, outcome, status);
}

/* ---- merging, by the calling thread ---- */

/* Is the verdict the answer to the request? */
static bool answers(const plan *p, const request *r, const mr_pair_verdict *verdict)
{
    const mr_candidate_group *group = places_of(p, r)->group;
    const uint32_t *full = p->asker->window->reduction.events;
    return verdict->key_1 == group->location_1 && verdict->key_2 == group->location_2 &&
           verdict->first == full[r->pair.first] && verdict->second == full[r->pair.second];
}

/* Counts the pairs of places that share the window. */
static uint32_t count_places(const plan *p, const shared_window *shared)
{
    const mr_far_window *window = p->asker->window;
    uint8_t *seen = mr_calloc(window->places.count, 1);
    uint32_t count = 0;
    for (uint32_t i = 0; seen && i < shared->count; i++) {
        uint8_t *mark = &seen[p->requests[shared->first + i].places];
        count += !*mark;
        *mark = 1;
    }
    free(seen);
    return count;
}

static void tell_window(const plan *p, const shared_window *shared)
{
    static const char *const ways[] = {"reorder", "mixed", "formula"};
    const mr_far_window *window = p->asker->window;
    const mr_debug *debug = window->settings->debug;
    const uint32_t *full = window->reduction.events;
    if (!mr_debug_on(debug, MR_DEBUG_FAR))
        return;
    mr_debug_write(debug, MR_DEBUG_FAR,
                   "window=around events=%" PRIu32 "-%" PRIu32 " size=%" PRIu32
                   " model=%s way=%s places=%" PRIu32 " questions=%" PRIu32 " due=%" PRIu32,
                   full[shared->start], full[shared->end - 1], shared->end - shared->start,
                   mr_model_name(window->model), ways[p->way], count_places(p, shared),
                   shared->count, shared->due);
}

/* Counts the requests that the budget covers when each pays an equal share of the window. */
static void count_due(const plan *p, shared_window *shared)
{
    const mr_far_budget *budget = p->asker->budget;
    mr_stats *stats = &budget->merge->result->stats;
    uint32_t size = shared->end - shared->start;
    MR_ASSERT(!shared->due);
    for (uint32_t i = 0; i < shared->count; i++)
        shared->due += mr_far_budget_covers(budget, places_of(p, &p->requests[shared->first + i]),
                                            size / shared->count);
    if (!shared->due)
        return;
    stats->far_windows++;
    stats->far_events += size;
    tell_window(p, shared);
}

/* Pays the share of the window and counts the answer. `verdict`: NULL when the worker has not asked
 * the question. */
static mr_status merge_answer(const plan *p, const request *r, const shared_window *shared,
                              mr_pair_verdict *verdict, mr_error *error)
{
    mr_far_budget *budget = p->asker->budget;
    mr_place_pair *places = places_of(p, r);
    uint64_t share = shared->due ? (shared->end - shared->start) / shared->due : 0;
    if (!shared->due || !mr_far_budget_covers(budget, places, share))
        return MR_OK;
    mr_far_budget_pay(budget, places, share);
    return verdict && mr_far_budget_may_ask(budget, places, 0, 0)
               ? mr_far_budget_count(budget, places, verdict, error)
               : MR_OK;
}

/* mr_phase.merge */
static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const plan *p = context;
    MR_REQUIRE(outcome->unit < p->unit_count);
    const unit *u = &p->units[outcome->unit];
    shared_window *shared = &p->windows[u->window];
    size_t next = 0;
    mr_status status = MR_OK;
    pthread_mutex_lock(&p->asker->budget->lock);
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
    pthread_mutex_unlock(&p->asker->budget->lock);
    return status;
}

/* ---- a phase for each size ---- */

/* A small window has less than one of so many parts of the events of the far window. */
enum { SMALL_PART = 8 };

static mr_status try_size(mr_far_asker *asker, mr_far_way way, uint32_t size, mr_error *error)
{
    plan p = {.asker = asker, .way = way, .size = size};
    mr_status status = make_plan(&p, error);
    const mr_phase phase = {.context = &p,
                            .stage = "far races",
                            .count = p.unit_count,
                            .decide = decide,
                            .merge = merge};
    if (status == MR_OK && phase.count)
        status = mr_dispatch_run(asker->context->dispatch, &phase, error);
    asker->windows += p.window_count;
    free(p.requests);
    free(p.windows);
    free(p.units);
    return status;
}

mr_status mr_far_try_around(mr_far_asker *asker, mr_far_way way, mr_far_sizes sizes,
                            mr_error *error)
{
    const mr_window *window = asker->window->problem.window;
    uint64_t first = asker->context->settings->plan.size;
    mr_status status = MR_OK;
    for (uint64_t size = first; status == MR_OK && size < window->size && !mr_far_is_halted(asker);
         size *= GROWTH) {
        bool is_small = size == first || size < window->size / SMALL_PART;
        if (sizes == MR_FAR_ALL_SIZES || is_small == (sizes == MR_FAR_SMALL_SIZES))
            status = try_size(asker, way, (uint32_t)size, error);
    }
    return status;
}
