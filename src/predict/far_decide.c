#include "base/memory.h"
#include "base/seconds.h"
#include "far_decider.h"
#include "far_parts.h"

#include <stdlib.h>

/* A far window is smaller when there are more threads: its clocks have an entry for each. */
enum { THREADS_OF_FULL_SIZE = 32 };

/* What it may cost to raise the precedence of the far window, once: some seconds. */
#define REFINE_STEPS UINT64_C(4000000000)

/* mr_candidate_options.wanted of a far window: no race so far. */
static bool has_no_race(void *context, uint32_t location_1, uint32_t location_2)
{
    const mr_decider *d = context;
    const mr_ledger_entry *entry = mr_ledger_find(&d->phase->merge->ledger, location_1, location_2);
    return !entry || !entry->race;
}

static mr_status note_unknown(mr_decider *d, mr_open_race *race)
{
    const mr_site_pair *sites =
        &d->candidates.site_pairs[mr_decider_group_of(d, race)->first_site_pair];
    uint32_t start = d->problem.window->start;
    uint32_t one = start + sites->one->events[0], two = start + sites->two->events[0];
    mr_close_pair pair = {one < two ? one : two, one < two ? two : one};
    if (race->pairs.count)
        pair = race->pairs.items[0];
    mr_record record = mr_decider_record_of(d, race);
    mr_stats *stats = &d->phase->merge->result->stats;
    stats->far_unknown++;
    stats->unknown[race->open.reason]++;
    mr_worker_note_unknown(&d->far, d->problem.window, pair.first, pair.second,
                           MR_STRENGTH_BEYOND_WCP, &race->open, &record);
    return mr_decider_merge(d, &record);
}

/* Decides all accesses of two sites; where that has no verdict, halves of the longer list, as
 * settle.c does. */
static mr_status decide_sites(mr_decider *d, mr_open_race *race, mr_stops one, mr_stops two)
{
    mr_decision decision;
    mr_arena_reset(&d->far.arena);
    mr_status status = mr_decider_ask(d, race, &d->problem, one, two, &decision);
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
    if (status != MR_OK || mr_decider_is_settled(d, race))
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(d, race, one, two);
}

/* The last word on a static race, in the far window. */
static mr_status decide(mr_decider *d, mr_open_race *race)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    const mr_site_pair *pairs = &d->candidates.site_pairs[group->first_site_pair];
    mr_status status = MR_OK;
    race->unanswered = 0;
    race->open.verdict = MR_VERDICT_NO_RACE;
    for (uint32_t i = 0; status == MR_OK && i < group->site_pair_count; i++) {
        if (mr_decider_is_settled(d, race))
            return MR_OK;
        status = decide_sites(d, race, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                              (mr_stops){pairs[i].two->events, pairs[i].two->count});
    }
    if (status != MR_OK || mr_decider_is_settled(d, race) || d->model != d->phase->settings->model)
        return status;
    if (race->open.verdict == MR_VERDICT_UNKNOWN)
        return note_unknown(d, race);
    race->no_race = true;
    d->phase->merge->result->stats.far_no_race++;
    d->phase->merge->result->stats.settled[MR_STEP_FAR]++;
    return MR_OK;
}

/* What needs no formula: in windows around the closest pairs, then in the far window. */
static mr_status try_cheap(mr_decider *d)
{
    uint32_t start = d->problem.window->start;
    d->cheap = true;
    mr_status status = mr_decider_try_sizes(d);
    d->cheap = false;
    mr_arena_reset(&d->far.arena);
    for (uint32_t i = 0; i < d->open_count; i++)
        for (uint32_t k = 0; k < d->open[i].pairs.count && k < MR_FAR_PLACES; k++) {
            mr_close_pair pair = d->open[i].pairs.items[k];
            if (status == MR_OK && !mr_decider_is_settled(d, &d->open[i]))
                status = mr_decider_try_reorder(
                    d, &d->open[i], &d->problem,
                    (mr_close_pair){pair.first - start, pair.second - start});
        }
    return status;
}

/* What formulas can say. */
static mr_status decide_all(mr_decider *d)
{
    mr_status status = MR_OK;
    d->mixed = true;
    if (d->model != MR_MODEL_RF)
        status = mr_decider_try_sizes(d);
    d->mixed = false;
    for (uint32_t i = 0; i < d->open_count; i++)
        d->open[i].unanswered = 0;
    if (status == MR_OK)
        status = mr_decider_try_sizes(d);
    for (uint32_t i = 0; status == MR_OK && i < d->open_count; i++) {
        mr_progress_tell(d->phase->progress, "far races", i, d->open_count);
        if (!mr_decider_is_settled(d, &d->open[i]))
            status = decide(d, &d->open[i]);
    }
    return status;
}

/* The races of WCP or HB on the full trace. */
static mr_status list_reported(mr_decider *d)
{
    const mr_predict_settings *settings = d->phase->settings;
    mr_relation relation = d->limits->weakest == MR_STRENGTH_HB ? MR_RELATION_HB : MR_RELATION_WCP;
    mr_detect_options options = {
        .most_examples = 1, .edges = &settings->opaque, .progress = d->phase->progress};
    if (d->listed)
        return MR_OK;
    d->listed = true;
    return mr_detect(relation, settings->trace, &options, &d->reported, d->phase->error);
}

/* Their pairs of open static races come first: what they confirm is to be found here. */
static mr_status add_reported(mr_decider *d)
{
    mr_status status = list_reported(d);
    const mr_race_list *list = &d->reported;
    for (size_t i = 0; status == MR_OK && i < list->race_count; i++) {
        const mr_race_example *example = &list->examples[list->races[i].first_example];
        const mr_ledger_entry *entry = mr_ledger_find_static(
            &d->numbers, d->phase->settings->trace, example->first.event, example->second.event);
        uint32_t first = mr_reduction_at(&d->reduction, example->first.event);
        uint32_t second = mr_reduction_at(&d->reduction, example->second.event);
        if (entry && first >= d->problem.window->start && second < d->problem.window->end)
            mr_close_pairs_add(&d->open[entry->unknown_index].pairs, first, second);
    }
    return status;
}

/* A static race as one to be decided; what it has cost before counts on. */
static mr_status add_open(mr_decider *d, uint32_t number, const mr_decider *before)
{
    const mr_candidate_group *group = &d->candidates.groups[number];
    const mr_ledger_entry *old =
        mr_ledger_find(&before->numbers, group->location_1, group->location_2);
    mr_ledger_entry *entry = mr_ledger_get(&d->numbers, group->location_1, group->location_2);
    if (!entry)
        return mr_error_memory(d->far.error, "deciding far races");
    entry->unknown_index = d->open_count;
    mr_open_race *race = &d->open[d->open_count++];
    race->group = number;
    race->spent = old ? before->open[old->unknown_index].spent : 0;
    mr_close_pairs_find(&race->pairs, &d->problem, &d->candidates, group);
    return MR_OK;
}

/* Lists the static races that have candidates in the far window. */
static mr_status list_open(mr_decider *d)
{
    const mr_candidates *candidates = &d->candidates;
    mr_decider before = *d;
    d->numbers = (mr_ledger){0};
    d->open_count = 0;
    d->open = mr_calloc(candidates->group_count, sizeof *d->open);
    d->requests = mr_calloc((size_t)candidates->group_count * MR_FAR_PLACES, sizeof *d->requests);
    mr_status status =
        d->open && d->requests ? MR_OK : mr_error_memory(d->far.error, "deciding far races");
    for (uint32_t g = 0; status == MR_OK && g < candidates->group_count; g++)
        if (candidates->groups[g].site_pair_count)
            status = add_open(d, g, &before);
    free(before.open);
    free(before.requests);
    mr_ledger_free(&before.numbers);
    return status == MR_OK && d->open_count ? add_reported(d) : status;
}

static mr_status find_open(mr_decider *d)
{
    mr_worker *far = &d->far;
    if (!mr_candidates_find(&d->candidates, d->problem.window, &d->problem.hard, &d->problem.forced,
                            d->hb, d->wcp, &far->candidates, &d->arena))
        return mr_error_memory(far->error, "collecting candidates");
    return list_open(d);
}

static uint32_t count_open(const mr_decider *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->open_count; i++)
        count += !mr_decider_is_settled(d, &d->open[i]);
    return count;
}

/* Raises the precedence of the far window; the static races that have no candidates then are none.
 */
static mr_status refine(mr_decider *d)
{
    uint32_t before = count_open(d);
    if (!mr_problem_refine(&d->problem, &d->far.decide, REFINE_STEPS, &d->arena))
        return mr_error_memory(d->far.error, "deciding far races");
    if (!d->problem.refined)
        return MR_OK;
    mr_status status = find_open(d);
    if (status == MR_OK && d->model == d->phase->settings->model)
        d->phase->merge->result->stats.far_no_race += before - d->open_count;
    return status;
}

/* Precedence is raised only for what is left when everything cheap has been tried: on most traces
 * that is nothing. */
static mr_status do_model(mr_decider *d, uint32_t start, uint32_t end, mr_model model)
{
    d->model = model;
    mr_window *window;
    mr_status status = mr_decider_build(d, start, end, &d->arena, &window);
    if (status == MR_OK)
        status = mr_decider_pose(d, window, &d->arena, &d->problem);
    if (status == MR_OK)
        status = find_open(d);
    if (status == MR_OK && model == d->phase->settings->model)
        d->phase->merge->result->stats.far_pairs += d->open_count;
    if (status == MR_OK && d->open_count)
        status = try_cheap(d);
    if (status == MR_OK && count_open(d))
        status = refine(d);
    return status == MR_OK && count_open(d) ? decide_all(d) : status;
}

/* Decides in the stricter models first: their reads have fewer choices, and their races are races
 * of the weaker ones (docs/semantics.md 2.6). Between them comes a mixture: only what the two
 * threads use close to the accesses is not treated by source. */
static mr_status do_far_window(mr_decider *d, uint32_t start, uint32_t end)
{
    mr_worker *far = &d->far;
    mr_status status = MR_OK;
    if (d->hb) {
        status = mr_order_slide(d->hb, start, end, far->error);
        if (status == MR_OK)
            status = mr_order_slide(d->wcp, start, end, far->error);
    }
    for (int model = MR_MODEL_RF; status == MR_OK && model <= (int)d->phase->settings->model;
         model++)
        status = do_model(d, start, end, (mr_model)model);
    return status;
}

/* Drops the unknowns of windows that are no races in the whole trace. */
static void settle_unknowns(mr_decider *d, size_t first_unknown)
{
    mr_ledger *ledger = &d->phase->merge->ledger;
    for (size_t s = 0; s < ledger->slot_count; s++) {
        mr_ledger_entry *entry = &ledger->slots[s];
        if (!entry->used || !entry->unknown || entry->race || entry->unknown_index >= first_unknown)
            continue;
        const mr_ledger_entry *number = mr_ledger_find(&d->numbers, entry->key_1, entry->key_2);
        if (!number || d->open[number->unknown_index].no_race)
            d->phase->merge->result->unknowns[entry->unknown_index].window_end = 0; /* for finish */
    }
}

static mr_status do_far_windows(mr_decider *d)
{
    const mr_far_limits *limits = d->limits;
    uint64_t size = limits->size, threads = d->reduction.trace.threads.count;
    size_t first_unknown = d->phase->merge->result->unknown_count;
    if (threads > THREADS_OF_FULL_SIZE)
        size = size * THREADS_OF_FULL_SIZE / threads;
    size = size && size < d->phase->settings->plan.size ? d->phase->settings->plan.size : size;
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
    if (status == MR_OK && mr_window_plan_count(&plan) > 1 &&
        !mr_far_parts_count(d->far.trace, &plan, &d->phase->merge->ledger,
                            &d->phase->merge->result->stats.far_parts))
        return mr_error_memory(d->far.error, "counting what far windows have not seen");
    return status;
}

/* ---- life ---- */

static mr_status start_far(mr_decider *d)
{
    const mr_predict_settings *settings = d->phase->settings;
    mr_worker *far = &d->far;
    mr_error *error = d->phase->error;
    mr_status status =
        mr_reduce(&d->reduction, settings->trace, &settings->opaque, settings->model, error);
    if (status != MR_OK)
        return status;
    *far = (mr_worker){.settings = settings,
                       .trace = &d->reduction.trace,
                       .session = d->phase->worker->session,
                       .checker = d->phase->worker->checker,
                       .decide = settings->decide,
                       .candidates = settings->candidates,
                       .reduction = &d->reduction,
                       .opaque = &d->reduction.opaque,
                       .error = error};
    /* What there is in trace order is a sync-preserving race, and known. In model branch reads that
     * nothing binds need not see what they saw. */
    if (settings->model != MR_MODEL_BRANCH)
        far->decide.steps &= ~MR_STEP_BIT(MR_STEP_LINEARISE);
    far->candidates.context = d;
    far->candidates.wanted = has_no_race;
    far->candidates.weakest = d->limits->weakest;
    far->candidates.max_per_group = 1; /* they are decided by sites */
    far->candidates.stop_when_full = false;
    mr_arena_init(&far->arena);
    status = mr_carried_init(&far->carried, far->trace, error);
    if (status != MR_OK)
        return status;
    far->carried.opaque = far->opaque;
    if (d->limits->weakest == MR_STRENGTH_BEYOND_WCP)
        return MR_OK;
    d->hb = mr_order_new(far->trace, MR_RELATION_HB);
    d->wcp = mr_order_new(far->trace, MR_RELATION_WCP);
    return d->hb && d->wcp && mr_order_use_edges(d->hb, far->opaque) &&
                   mr_order_use_edges(d->wcp, far->opaque)
               ? MR_OK
               : mr_error_memory(error, "ordering the accesses of far races");
}

static void stop_far(mr_decider *d)
{
    mr_arena_free(&d->arena);
    mr_arena_free(&d->far.arena);
    mr_carried_free(&d->far.carried);
    mr_order_free(d->hb);
    mr_order_free(d->wcp);
    mr_reduction_free(&d->reduction);
    mr_ledger_free(&d->numbers);
    mr_race_list_free(&d->reported);
    free(d->open);
    free(d->requests);
}

mr_status mr_far_decide(mr_far_phase *phase)
{
    mr_decider d = {.phase = phase, .limits = &phase->settings->far_limits};
    mr_arena_init(&d.arena);
    mr_status status = start_far(&d);
    if (status == MR_OK)
        status = do_far_windows(&d);
    stop_far(&d);
    return status;
}
