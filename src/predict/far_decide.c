#include "far_label.h"
#include "far_pairs.h"

#include "order/detect.h"
#include "solver/reorder.h"
#include "windows/plan.h"

#include <stdlib.h>

/* Windows around different pairs of one static race, for each size. */
enum { PLACES = 4, GROWTH = 4 };

/* Events before and after an access whose variables are treated by value first. */
enum { CLOSE = 48 };

/* A far window is smaller when there are more threads: its clocks have an entry for each. */
enum { THREADS_OF_FULL_SIZE = 32 };

/* Of an event of a cone, and of steps of saturation that were in vain. */
enum { WORK_OF_CONE = 8, STEPS_OF_WORK = 4 };

/* A static race that has candidates in the far window. */
typedef struct open_race {
    uint32_t group; /* of `candidates` */
    bool no_race;   /* proven in the far window */
    mr_close_pairs pairs;
    uint64_t spent;      /* work */
    uint64_t unanswered; /* questions */
    mr_decision open;    /* the first answer without a verdict in the far window */
} open_race;

/* A window that one of them asks for. */
typedef struct request {
    uint32_t start, end;
    mr_close_pair pair;
    uint32_t race;
} request;

typedef struct decider {
    mr_driver *driver; /* of the full trace */
    const mr_far_limits *limits;
    mr_reduction reduction;
    mr_driver far;         /* of the reduced one */
    mr_order *hb, *wcp;    /* on the reduced trace, when they choose the static races; else NULL */
    mr_model model;        /* of the windows: a race of a stricter model is one of the driver's */
    mr_race_list reported; /* by HB or WCP on the full trace, when `listed` */
    bool listed;
    bool mixed; /* most variables by source */

    mr_arena arena; /* of the far window */
    mr_problem problem;
    mr_candidates candidates;
    open_race *open;
    uint32_t open_count;
    mr_ledger numbers; /* pair of locations to index in `open` */
    request *requests;
    uint32_t request_count;
    uint64_t spent;
} decider;

static const mr_candidate_group *group_of(const decider *d, const open_race *race)
{
    return &d->candidates.groups[race->group];
}

/* The ledger's entry; NULL: no memory. */
static mr_ledger_entry *entry_of(decider *d, const open_race *race)
{
    const mr_candidate_group *group = group_of(d, race);
    return mr_ledger_get(&d->far.ledger, group->location_1, group->location_2);
}

static bool is_settled(const decider *d, const open_race *race)
{
    const mr_candidate_group *group = group_of(d, race);
    const mr_ledger_entry *entry =
        mr_ledger_find(&d->far.ledger, group->location_1, group->location_2);
    return entry && entry->race;
}

/* ---- budgets ---- */

static bool can_pay(const decider *d, const open_race *race, uint64_t work)
{
    const mr_far_limits *limits = d->limits;
    return (!limits->per_race || race->spent + work <= limits->per_race) &&
           (!limits->all || d->spent + work <= limits->all);
}

static void pay(decider *d, open_race *race, uint64_t work)
{
    race->spent += work;
    d->spent += work;
}

static void count_race(decider *d)
{
    d->far.result->stats.settled[MR_STEP_FAR]++;
    d->far.result->stats.races[MR_STEP_FAR]++;
}

/* Is there a witness in trace order, but for sections that are held back? */
static mr_status try_reorder(decider *d, open_race *race, const mr_problem *problem,
                             mr_close_pair pair)
{
    mr_driver *far = &d->far;
    mr_decision decision = {.first = pair.first, .second = pair.second};
    if (!can_pay(d, race, 0))
        return MR_OK;
    pay(d, race, problem->window->size);
    mr_arena_mark mark = mr_arena_get_mark(&far->arena);
    mr_reordered found = mr_reorder(&problem->forced, pair.first, pair.second, &decision.events,
                                    &decision.event_count, &far->arena);
    mr_ledger_entry *entry = entry_of(d, race);
    if (found == MR_REORDER_NO_MEMORY || !entry)
        return mr_error_memory(far->error, "deciding far races");
    mr_status status = MR_OK;
    if (found == MR_REORDERED)
        status = mr_driver_confirm(far, problem->window, MR_STRENGTH_BEYOND_WCP, &decision,
                                   &entry->race);
    if (status == MR_OK && entry->race)
        count_race(d);
    mr_arena_release(&far->arena, mark);
    return status;
}

/* Asks about the accesses of two lists, if there is budget for it. */
static mr_status ask(decider *d, open_race *race, const mr_problem *problem, mr_stops one,
                     mr_stops two, mr_decision *decision)
{
    mr_driver *far = &d->far;
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    if (!can_pay(d, race, 0) || (far->max_unanswered && race->unanswered >= far->max_unanswered))
        return MR_OK;
    mr_ledger_entry *entry = entry_of(d, race);
    if (!entry)
        return mr_error_memory(far->error, "recording a candidate");
    mr_status status = mr_driver_ask(far, problem, entry, one, two, decision);
    pay(d, race, WORK_OF_CONE * decision->cone_events);
    if (decision->verdict == MR_VERDICT_UNKNOWN) {
        race->unanswered++;
        pay(d, race, far->decide.saturate_steps / STEPS_OF_WORK);
    }
    if (decision->verdict == MR_VERDICT_RACE)
        count_race(d);
    return status;
}

/* ---- windows ---- */

/* mr_candidate_options.wanted of a far window: no race so far. */
static bool has_no_race(void *context, uint32_t location_1, uint32_t location_2)
{
    const decider *d = context;
    const mr_ledger_entry *entry = mr_ledger_find(&d->far.ledger, location_1, location_2);
    return !entry || !entry->race;
}

/* Builds a window of the reduced trace. */
static mr_status build(decider *d, uint32_t start, uint32_t end, mr_arena *arena,
                       mr_window **window)
{
    mr_driver *far = &d->far;
    mr_stats *stats = &far->result->stats;
    mr_arena_reset(arena);
    mr_carried_move(&far->carried, start);
    stats->far_windows++;
    stats->far_events += end - start;
    return mr_window_build(&far->carried, end, d->model, arena, window, far->error);
}

static mr_status pose(decider *d, const mr_window *window, mr_arena *arena, mr_problem *problem)
{
    return mr_problem_init(problem, window, arena)
               ? MR_OK
               : mr_error_memory(d->far.error, "building a far window");
}

/* ---- windows around pairs ---- */

/* A window of the size with the pair in its middle, cut at the ends of the far window. */
static request around(const decider *d, uint32_t race, mr_close_pair pair, uint32_t size)
{
    const mr_window *window = d->problem.window;
    uint32_t half = (size - (pair.second + 1 - pair.first)) / 2;
    uint32_t before = pair.first - window->start, after = window->end - 1 - pair.second;
    return (request){.start = pair.first - (before < half ? before : half),
                     .end = pair.second + 1 + (after < half ? after : half),
                     .pair = pair,
                     .race = race};
}

/* Up to PLACES windows of the size for one static race, each around a pair that is in none of the
 * others. */
static void ask_for(decider *d, uint32_t number, uint32_t size)
{
    const mr_close_pairs *pairs = &d->open[number].pairs;
    request *own = d->requests + d->request_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < pairs->count && count < PLACES; i++) {
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
    const request *x = one, *y = two;
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

/* Can the request be met, when its window costs that much? */
static bool is_due(const decider *d, const request *r, uint64_t work)
{
    const open_race *race = &d->open[r->race];
    return !is_settled(d, race) && can_pay(d, race, work);
}

/* Decides the pairs of the requests in one window. What is no race there may be one outside. */
static mr_status try_window(decider *d, uint32_t start, uint32_t end, const request *requests,
                            uint32_t count)
{
    mr_window *window;
    mr_problem problem;
    mr_decision decision;
    uint32_t due = 0;
    for (uint32_t i = 0; i < count; i++)
        due += is_due(d, &requests[i], (end - start) / count);
    if (!due)
        return MR_OK;
    mr_status status = build(d, start, end, &d->far.arena, &window);
    if (status == MR_OK && d->mixed && !mix(window, requests, count, &d->far.arena))
        status = mr_error_memory(d->far.error, "building a far window");
    if (status == MR_OK)
        status = pose(d, window, &d->far.arena, &problem);
    for (uint32_t i = 0; status == MR_OK && i < count; i++) {
        const request *r = &requests[i];
        uint32_t first = r->pair.first - start, second = r->pair.second - start;
        if (!is_due(d, r, (end - start) / due))
            continue;
        pay(d, &d->open[r->race], (end - start) / due);
        status = ask(d, &d->open[r->race], &problem, (mr_stops){&first, 1}, (mr_stops){&second, 1},
                     &decision);
    }
    return status;
}

/* Requests that lie side by side share a window, of up to twice the size of each. */
static mr_status try_requests(decider *d, uint32_t size)
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

static mr_status try_sizes(decider *d)
{
    const mr_window *window = d->problem.window;
    mr_status status = MR_OK;
    for (uint64_t size = d->limits->window_size; status == MR_OK && size < window->size;
         size *= GROWTH) {
        d->request_count = 0;
        for (uint32_t i = 0; i < d->open_count; i++)
            if (!is_settled(d, &d->open[i]))
                ask_for(d, i, (uint32_t)size);
        status = try_requests(d, (uint32_t)size);
    }
    return status;
}

/* ---- the far window ---- */

static mr_status note_unknown(decider *d, open_race *race)
{
    const mr_site_pair *sites = &d->candidates.site_pairs[group_of(d, race)->first_site_pair];
    uint32_t start = d->problem.window->start;
    uint32_t one = start + sites->one->events[0], two = start + sites->two->events[0];
    mr_close_pair pair = {one < two ? one : two, one < two ? two : one};
    if (race->pairs.count)
        pair = race->pairs.items[0];
    mr_ledger_entry *entry = entry_of(d, race);
    if (!entry)
        return mr_error_memory(d->far.error, "recording a candidate");
    d->far.result->stats.far_unknown++;
    d->far.result->stats.unknown[race->open.reason]++;
    return mr_driver_note_unknown(&d->far, entry, d->problem.window, pair.first, pair.second,
                                  MR_STRENGTH_BEYOND_WCP, &race->open);
}

/* Decides all accesses of two sites; where that has no verdict, halves of the longer list, as
 * settle.c does. */
static mr_status decide_sites(decider *d, open_race *race, mr_stops one, mr_stops two)
{
    mr_decision decision;
    mr_arena_reset(&d->far.arena);
    mr_status status = ask(d, race, &d->problem, one, two, &decision);
    if (status != MR_OK || decision.verdict != MR_VERDICT_UNKNOWN)
        return status;
    if (decision.reason == MR_UNKNOWN_BUDGET || decision.reason == MR_UNKNOWN_REJECTED ||
        one.count + two.count == 2) {
        if (race->open.verdict != MR_VERDICT_UNKNOWN)
            race->open = decision;
        return MR_OK;
    }
    mr_stops *longer = one.count >= two.count ? &one : &two;
    uint32_t half = longer->count / 2, length = longer->count;
    longer->count = half;
    status = decide_sites(d, race, one, two);
    if (status != MR_OK || is_settled(d, race))
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(d, race, one, two);
}

/* The last word on a static race, in the far window. */
static mr_status decide(decider *d, open_race *race)
{
    const mr_candidate_group *group = group_of(d, race);
    const mr_site_pair *pairs = &d->candidates.site_pairs[group->first_site_pair];
    mr_status status = MR_OK;
    uint32_t start = d->problem.window->start;
    race->unanswered = 0;
    race->open.verdict = MR_VERDICT_NO_RACE;
    for (uint32_t i = 0; status == MR_OK && i < race->pairs.count && i < PLACES; i++) {
        mr_close_pair pair = race->pairs.items[i];
        mr_arena_reset(&d->far.arena);
        if (!is_settled(d, race))
            status = try_reorder(d, race, &d->problem,
                                 (mr_close_pair){pair.first - start, pair.second - start});
    }
    for (uint32_t i = 0; status == MR_OK && i < group->site_pair_count; i++) {
        if (is_settled(d, race))
            return MR_OK;
        status = decide_sites(d, race, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                              (mr_stops){pairs[i].two->events, pairs[i].two->count});
    }
    if (status != MR_OK || is_settled(d, race) || d->model != d->far.model)
        return status;
    if (race->open.verdict == MR_VERDICT_UNKNOWN)
        return note_unknown(d, race);
    race->no_race = true;
    d->far.result->stats.far_no_race++;
    d->far.result->stats.settled[MR_STEP_FAR]++;
    return MR_OK;
}

static mr_status decide_all(decider *d)
{
    mr_status status = MR_OK;
    d->mixed = true;
    if (d->model != MR_MODEL_RF)
        status = try_sizes(d);
    d->mixed = false;
    for (uint32_t i = 0; i < d->open_count; i++)
        d->open[i].unanswered = 0;
    if (status == MR_OK)
        status = try_sizes(d);
    for (uint32_t i = 0; status == MR_OK && i < d->open_count; i++) {
        mr_progress_tell(d->far.progress, "far races", i, d->open_count);
        if (!is_settled(d, &d->open[i]))
            status = decide(d, &d->open[i]);
    }
    return status;
}

/* The races of WCP or HB on the full trace. */
static mr_status list_reported(decider *d)
{
    mr_driver *driver = d->driver;
    mr_relation relation = d->limits->weakest == MR_STRENGTH_HB ? MR_RELATION_HB : MR_RELATION_WCP;
    mr_detect_options options = {
        .most_examples = 1, .edges = &driver->opaque, .progress = driver->progress};
    if (d->listed)
        return MR_OK;
    d->listed = true;
    return mr_detect(relation, driver->trace, &options, &d->reported, driver->error);
}

/* Their pairs of open static races come first: what they confirm is to be found here. */
static mr_status add_reported(decider *d)
{
    mr_status status = list_reported(d);
    const mr_race_list *list = &d->reported;
    for (size_t i = 0; status == MR_OK && i < list->race_count; i++) {
        const mr_race_example *example = &list->examples[list->races[i].first_example];
        const mr_ledger_entry *entry = mr_ledger_find_static(
            &d->numbers, d->driver->trace, example->first.event, example->second.event);
        uint32_t first = mr_reduction_at(&d->reduction, example->first.event);
        uint32_t second = mr_reduction_at(&d->reduction, example->second.event);
        if (entry && first >= d->problem.window->start && second < d->problem.window->end)
            mr_close_pairs_add(&d->open[entry->unknown_index].pairs, first, second);
    }
    return status;
}

/* Lists the static races that have candidates in the far window. */
static mr_status list_open(decider *d)
{
    const mr_candidates *candidates = &d->candidates;
    free(d->open);
    free(d->requests);
    mr_ledger_free(&d->numbers);
    d->open_count = 0;
    d->open = mr_calloc(candidates->group_count, sizeof *d->open);
    d->requests = mr_calloc((size_t)candidates->group_count * PLACES, sizeof *d->requests);
    if (!d->open || !d->requests)
        return mr_error_memory(d->far.error, "deciding far races");
    for (uint32_t g = 0; g < candidates->group_count; g++) {
        const mr_candidate_group *group = &candidates->groups[g];
        if (!group->site_pair_count)
            continue;
        mr_ledger_entry *number = mr_ledger_get(&d->numbers, group->location_1, group->location_2);
        if (!number)
            return mr_error_memory(d->far.error, "deciding far races");
        number->unknown_index = d->open_count;
        open_race *race = &d->open[d->open_count++];
        race->group = g;
        mr_close_pairs_find(&race->pairs, &d->problem, candidates, group);
    }
    if (d->model == d->far.model)
        d->far.result->stats.far_pairs += d->open_count;
    return d->open_count ? add_reported(d) : MR_OK;
}

static mr_status do_model(decider *d, uint32_t start, uint32_t end, mr_model model)
{
    mr_driver *far = &d->far;
    d->model = model;
    mr_window *window;
    mr_status status = build(d, start, end, &d->arena, &window);
    if (status == MR_OK)
        status = pose(d, window, &d->arena, &d->problem);
    if (status == MR_OK &&
        !mr_candidates_find(&d->candidates, d->problem.window, &d->problem.hard, &d->problem.forced,
                            d->hb, d->wcp, &far->candidates, &d->arena))
        status = mr_error_memory(far->error, "collecting candidates");
    if (status == MR_OK)
        status = list_open(d);
    return status == MR_OK && d->open_count ? decide_all(d) : status;
}

/* Decides in the stricter models first: their reads have fewer choices, and their races are races
 * of the weaker ones (docs/semantics.md 2.6). Between them comes a mixture: only what the two
 * threads use close to the accesses is not treated by source. */
static mr_status do_far_window(decider *d, uint32_t start, uint32_t end)
{
    mr_driver *far = &d->far;
    mr_status status = MR_OK;
    if (d->hb) {
        status = mr_order_slide(d->hb, start, end, far->error);
        if (status == MR_OK)
            status = mr_order_slide(d->wcp, start, end, far->error);
    }
    for (int model = MR_MODEL_RF; status == MR_OK && model <= (int)far->model; model++)
        status = do_model(d, start, end, (mr_model)model);
    return status;
}

/* Drops the unknowns of windows that are no races in the whole trace. */
static void settle_unknowns(decider *d, size_t first_unknown)
{
    mr_ledger *ledger = &d->far.ledger;
    for (size_t s = 0; s < ledger->slot_count; s++) {
        mr_ledger_entry *entry = &ledger->slots[s];
        if (!entry->used || !entry->unknown || entry->race || entry->unknown_index >= first_unknown)
            continue;
        const mr_ledger_entry *number = mr_ledger_find(&d->numbers, entry->key_1, entry->key_2);
        if (!number || d->open[number->unknown_index].no_race)
            d->far.result->unknowns[entry->unknown_index].window_end = 0; /* for finish */
    }
}

static mr_status do_far_windows(decider *d)
{
    const mr_far_limits *limits = d->limits;
    uint64_t size = limits->size, threads = d->reduction.trace.threads.count;
    size_t first_unknown = d->far.result->unknown_count;
    if (threads > THREADS_OF_FULL_SIZE)
        size = size * THREADS_OF_FULL_SIZE / threads;
    size = size && size < limits->window_size ? limits->window_size : size;
    mr_window_plan plan = {.event_count = d->reduction.trace.event_count,
                           .size = (uint32_t)size,
                           .overlap = (uint32_t)size / 2};
    mr_status status = MR_OK;
    uint32_t start, end;
    for (uint32_t k = 0; status == MR_OK && mr_window_plan_get(&plan, k, &start, &end); k++)
        status = do_far_window(d, start, end);
    if (status == MR_OK && mr_window_plan_count(&plan) == 1 &&
        limits->weakest == MR_STRENGTH_BEYOND_WCP)
        settle_unknowns(d, first_unknown);
    return status;
}

/* ---- life ---- */

static mr_status start(decider *d)
{
    mr_driver *driver = d->driver, *far = &d->far;
    mr_status status =
        mr_reduce(&d->reduction, driver->trace, &driver->opaque, driver->model, driver->error);
    if (status != MR_OK)
        return status;
    far->hb = far->wcp = NULL;
    far->trace = &d->reduction.trace;
    far->reduction = &d->reduction;
    far->opaque = d->reduction.opaque;
    /* What there is in trace order is a sync-preserving race, and known. In model branch reads that
     * nothing binds need not see what they saw. */
    far->decide.skip_linearise = driver->model != MR_MODEL_BRANCH;
    far->candidates.context = d;
    far->candidates.wanted = has_no_race;
    far->candidates.weakest = d->limits->weakest;
    far->candidates.max_per_group = 1; /* they are decided by sites */
    mr_arena_init(&far->arena);
    status = mr_carried_init(&far->carried, far->trace, far->error);
    if (status != MR_OK)
        return status;
    far->carried.opaque = &far->opaque;
    if (d->limits->weakest == MR_STRENGTH_BEYOND_WCP)
        return MR_OK;
    d->hb = mr_order_new(far->trace, MR_RELATION_HB);
    d->wcp = mr_order_new(far->trace, MR_RELATION_WCP);
    return d->hb && d->wcp && mr_order_use_edges(d->hb, &far->opaque) &&
                   mr_order_use_edges(d->wcp, &far->opaque)
               ? MR_OK
               : mr_error_memory(far->error, "ordering the accesses of far races");
}

static void stop(decider *d)
{
    d->driver->ledger = d->far.ledger;
    mr_arena_free(&d->arena);
    if (d->far.reduction) {
        mr_arena_free(&d->far.arena);
        mr_carried_free(&d->far.carried);
    }
    mr_order_free(d->hb);
    mr_order_free(d->wcp);
    mr_reduction_free(&d->reduction);
    mr_ledger_free(&d->numbers);
    mr_race_list_free(&d->reported);
    free(d->open);
    free(d->requests);
}

mr_status mr_driver_decide_far(mr_driver *driver, const mr_far_limits *limits)
{
    double begin = mr_seconds();
    size_t first_race = driver->result->race_count;
    size_t first_unknown = driver->result->unknown_count;
    decider d = {.driver = driver, .limits = limits, .far = *driver};
    d.far.reduction = NULL;
    mr_arena_init(&d.arena);
    mr_status status = start(&d);
    if (status == MR_OK)
        status = do_far_windows(&d);
    stop(&d);
    mr_status labelled = mr_far_label_result(driver, first_race, first_unknown);
    driver->result->stats.far_seconds += mr_seconds() - begin;
    return status != MR_OK ? status : labelled;
}
