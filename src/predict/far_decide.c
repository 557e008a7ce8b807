#include "far_label.h"
#include "far_pairs.h"

#include "order/detect.h"
#include "windows/plan.h"

#include <stdlib.h>

/* Windows around different pairs of one static race, for each size. */
enum { PLACES = 4, GROWTH = 4 };

/* A far window is smaller when there are more threads: its clocks have an entry for each. */
enum { THREADS_OF_FULL_SIZE = 32 };

/* A static race that has candidates in the far window. */
typedef struct open_race {
    uint32_t group; /* of `candidates` */
    mr_close_pairs pairs;
    uint64_t spent; /* events built into windows for it */
    bool unpaid;    /* its budget was too small for some window */
} open_race;

/* A window that one of them asks for. */
typedef struct request {
    uint32_t start, end, race;
} request;

typedef struct decider {
    mr_driver *driver; /* of the full trace */
    const mr_far_limits *limits;
    mr_reduction reduction;
    mr_driver far;      /* of the reduced one */
    mr_order *hb, *wcp; /* on the reduced trace, when they choose the static races; else NULL */

    mr_arena arena; /* of the far window */
    mr_problem problem;
    mr_candidates candidates;
    open_race *open;
    uint32_t open_count;
    mr_ledger numbers; /* pair of locations to index in `open`; .race: no longer open */
    request *requests;
    uint32_t request_count;
    uint64_t spent;
} decider;

static const mr_candidate_group *group_of(const decider *d, const open_race *race)
{
    return &d->candidates.groups[race->group];
}

static const mr_ledger_entry *entry_of(const decider *d, const mr_ledger *ledger,
                                       const open_race *race)
{
    const mr_candidate_group *group = group_of(d, race);
    return mr_ledger_find(ledger, group->location_1, group->location_2);
}

static bool is_settled(const decider *d, const open_race *race)
{
    const mr_ledger_entry *entry = entry_of(d, &d->far.ledger, race);
    return entry && entry->race;
}

/* ---- windows ---- */

/* mr_candidate_options.wanted of a far window: no race so far. */
static bool has_no_race(void *context, uint32_t location_1, uint32_t location_2)
{
    const decider *d = context;
    const mr_ledger_entry *entry = mr_ledger_find(&d->far.ledger, location_1, location_2);
    return !entry || !entry->race;
}

/* The same of a window inside it: one of the open static races. */
static bool is_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const decider *d = context;
    return mr_ledger_find(&d->numbers, location_1, location_2) &&
           has_no_race(context, location_1, location_2);
}

/* Builds a window of the reduced trace, with its candidates as far.candidates asks for. */
static mr_status build(decider *d, uint32_t start, uint32_t end, mr_arena *arena,
                       mr_problem *problem, mr_candidates *candidates)
{
    mr_driver *far = &d->far;
    mr_window *window;
    mr_stats *stats = &far->result->stats;
    mr_arena_reset(arena);
    mr_carried_move(&far->carried, start);
    mr_status status = mr_window_build(&far->carried, end, far->model, arena, &window, far->error);
    if (status != MR_OK)
        return status;
    stats->far_windows++;
    stats->far_events += end - start;
    if (!mr_problem_init(problem, window, arena) ||
        !mr_candidates_find(candidates, window, &problem->hard, &problem->forced, d->hb, d->wcp,
                            &far->candidates, arena))
        return mr_error_memory(far->error, "building a far window");
    return MR_OK;
}

/* ---- windows around pairs ---- */

static bool add_request(decider *d, uint32_t race, mr_close_pair pair, uint32_t size,
                        uint32_t first_own)
{
    const mr_window *far_window = d->problem.window;
    uint32_t room = size - (pair.second + 1 - pair.first);
    uint32_t before = pair.first - far_window->start, after = far_window->end - 1 - pair.second;
    for (uint32_t i = first_own; i < d->request_count; i++)
        if (d->requests[i].start <= pair.first && pair.second < d->requests[i].end)
            return false;
    uint32_t half = room / 2;
    d->requests[d->request_count++] =
        (request){.start = pair.first - (before < half ? before : half),
                  .end = pair.second + 1 + (after < half ? after : half),
                  .race = race};
    return true;
}

/* Up to PLACES windows of the size for one static race, within its budget. */
static void ask_for(decider *d, uint32_t number, uint32_t size)
{
    open_race *race = &d->open[number];
    const mr_far_limits *limits = d->limits;
    uint32_t first_own = d->request_count;
    for (uint32_t i = 0; i < race->pairs.count && d->request_count - first_own < PLACES; i++) {
        mr_close_pair pair = race->pairs.items[i];
        if (pair.second - pair.first >= size)
            continue;
        if (limits->per_pair && race->spent + size > limits->per_pair) {
            race->unpaid = true;
            return;
        }
        if (add_request(d, number, pair, size, first_own))
            race->spent += size;
    }
}

static int compare_requests(const void *one, const void *two)
{
    const request *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Decides the open static races in one window. Without a race nothing is known of them. */
static mr_status try_window(decider *d, uint32_t start, uint32_t end)
{
    mr_driver *far = &d->far;
    mr_problem problem;
    mr_candidates candidates;
    mr_status status = build(d, start, end, &far->arena, &problem, &candidates);
    for (uint32_t g = 0; status == MR_OK && g < candidates.group_count; g++) {
        const mr_candidate_group *group = &candidates.groups[g];
        mr_ledger_entry *entry = mr_ledger_get(&far->ledger, group->location_1, group->location_2);
        if (!entry)
            return mr_error_memory(far->error, "deciding far races");
        entry->unanswered = 0; /* a new window, a new budget */
        status = mr_driver_settle(far, &problem, &candidates, group);
    }
    return status;
}

static bool budget_left(const decider *d, uint32_t events)
{
    return !d->limits->all || d->spent + events <= d->limits->all;
}

/* Are all the static races of the requests settled? */
static bool nobody_asks(const decider *d, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!is_settled(d, &d->open[d->requests[i].race]))
            return false;
    return true;
}

/* Makes the requests, which lie side by side, one window, up to twice the size of each. */
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
        if (nobody_asks(d, i, next))
            continue;
        if (!budget_left(d, end - start)) {
            for (; i < next; i++)
                d->open[d->requests[i].race].unpaid = true;
            continue;
        }
        d->spent += end - start;
        status = try_window(d, start, end);
    }
    return status;
}

static mr_status try_sizes(decider *d)
{
    const mr_window *window = d->problem.window;
    mr_status status = MR_OK;
    d->far.candidates.wanted = is_open;
    d->far.candidates.weakest = MR_STRENGTH_BEYOND_WCP;
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

static mr_status note_unknown(decider *d, open_race *race, mr_unknown_reason reason)
{
    const mr_site_pair *sites = &d->candidates.site_pairs[group_of(d, race)->first_site_pair];
    uint32_t start = d->problem.window->start;
    uint32_t one = start + sites->one->events[0], two = start + sites->two->events[0];
    mr_close_pair pair = {one < two ? one : two, one < two ? two : one};
    if (race->pairs.count)
        pair = race->pairs.items[0];
    mr_decision decision = {.verdict = MR_VERDICT_UNKNOWN, .reason = reason};
    mr_ledger_entry *entry =
        mr_ledger_get(&d->far.ledger, group_of(d, race)->location_1, group_of(d, race)->location_2);
    if (!entry)
        return mr_error_memory(d->far.error, "recording a candidate");
    d->far.result->stats.far_unknown++;
    return mr_driver_note_unknown(&d->far, entry, d->problem.window, pair.first, pair.second,
                                  MR_STRENGTH_BEYOND_WCP, &decision);
}

/* Another candidates.max_unanswered queries for the static race. */
static mr_status renew(decider *d, const open_race *race)
{
    const mr_candidate_group *group = group_of(d, race);
    mr_ledger_entry *entry = mr_ledger_get(&d->far.ledger, group->location_1, group->location_2);
    if (!entry)
        return mr_error_memory(d->far.error, "recording a candidate");
    entry->unanswered = 0;
    return MR_OK;
}

/* The last word on a static race, in the far window. */
static mr_status decide(decider *d, open_race *race)
{
    mr_driver *far = &d->far;
    const mr_candidate_group *group = group_of(d, race);
    far->left_open = false;
    mr_arena_reset(&far->arena);
    mr_status status = renew(d, race);
    if (status == MR_OK)
        status = mr_driver_settle(far, &d->problem, &d->candidates, group);
    if (status != MR_OK || is_settled(d, race))
        return status;
    if (far->left_open)
        return note_unknown(d, race, far->left_reason);
    far->result->stats.far_no_race++;
    mr_ledger_entry *number = mr_ledger_get(&d->numbers, group->location_1, group->location_2);
    number->race = true; /* it is in the ledger, so that this cannot fail */
    return MR_OK;
}

static mr_status decide_all(decider *d)
{
    mr_status status = MR_OK;
    for (uint32_t i = 0; status == MR_OK && i < d->open_count; i++)
        status = renew(d, &d->open[i]);
    if (status == MR_OK)
        status = try_sizes(d);
    for (uint32_t i = 0; status == MR_OK && i < d->open_count; i++) {
        mr_progress_tell(d->far.progress, "far races", i, d->open_count);
        if (!is_settled(d, &d->open[i]))
            status = decide(d, &d->open[i]);
        if (status == MR_OK && is_settled(d, &d->open[i])) {
            d->far.result->stats.settled[MR_STEP_FAR]++;
            d->far.result->stats.races[MR_STEP_FAR]++;
        }
    }
    return status;
}

/* The pairs that HB or WCP report of open static races; what they confirm is to be found here. */
static mr_status add_reported(decider *d)
{
    mr_driver *driver = d->driver;
    mr_race_list list;
    mr_relation relation = d->limits->weakest == MR_STRENGTH_HB ? MR_RELATION_HB : MR_RELATION_WCP;
    mr_detect_options options = {
        .most_examples = 1, .edges = &driver->opaque, .progress = driver->progress};
    mr_status status = mr_detect(relation, driver->trace, &options, &list, driver->error);
    for (size_t i = 0; status == MR_OK && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        const mr_ledger_entry *entry = mr_ledger_find_static(
            &d->numbers, driver->trace, example->first.event, example->second.event);
        uint32_t first = mr_reduction_at(&d->reduction, example->first.event);
        uint32_t second = mr_reduction_at(&d->reduction, example->second.event);
        if (entry && first >= d->problem.window->start && second < d->problem.window->end)
            mr_close_pairs_add(&d->open[entry->unknown_index].pairs, first, second);
    }
    mr_race_list_free(&list);
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
    d->far.result->stats.far_pairs += d->open_count;
    return d->open_count ? add_reported(d) : MR_OK;
}

static mr_status do_far_window(decider *d, uint32_t start, uint32_t end)
{
    mr_driver *far = &d->far;
    far->candidates.wanted = has_no_race;
    far->candidates.weakest = d->limits->weakest;
    if (d->hb) {
        mr_status status = mr_order_slide(d->hb, start, end, far->error);
        if (status == MR_OK)
            status = mr_order_slide(d->wcp, start, end, far->error);
        if (status != MR_OK)
            return status;
    }
    d->spent += end - start;
    mr_status status = build(d, start, end, &d->arena, &d->problem, &d->candidates);
    mr_order *hb = d->hb;
    d->hb = NULL; /* the windows inside are for any pair of the static races */
    if (status == MR_OK)
        status = list_open(d);
    if (status == MR_OK && d->open_count)
        status = decide_all(d);
    d->hb = hb;
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
        if (!number || number->race)
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
    far->trace = &d->reduction.trace;
    far->reduction = &d->reduction;
    far->opaque = d->reduction.opaque;
    far->skip_trace_order = far->decide.skip_linearise = driver->model != MR_MODEL_BRANCH;
    far->candidates.context = d;
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
