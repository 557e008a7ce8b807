#include "base/memory.h"
#include "far_bytes.h"
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
    const mr_ledger_entry *entry =
        mr_ledger_find(&d->context->merge->ledger, location_1, location_2);
    return !entry || !entry->race;
}

/* Has nothing gone wrong, and is there something left to ask? */
static bool goes_on(mr_decider *d, mr_status status)
{
    return status == MR_OK && !mr_decider_is_halted(d) && mr_decider_count_open(d);
}

/* What needs no formula: in windows around the closest pairs, then in the far window. */
static mr_status try_cheap(mr_decider *d)
{
    mr_status status = mr_decider_try_sizes(d, MR_FAR_CHEAP);
    return goes_on(d, status) ? mr_decider_try_whole(d) : status;
}

/* What formulas can say. */
static mr_status decide_all(mr_decider *d)
{
    mr_status status = MR_OK;
    if (d->model != MR_MODEL_RF)
        status = mr_decider_try_sizes(d, MR_FAR_MIXED);
    for (uint32_t i = 0; i < d->open_count; i++)
        d->open[i].unanswered = 0;
    if (goes_on(d, status))
        status = mr_decider_try_sizes(d, MR_FAR_PLAIN);
    return goes_on(d, status) ? mr_decider_decide_whole(d) : status;
}

/* Raises the precedence of the far window; the static races that have no candidates then are none.
 */
static mr_status refine(mr_decider *d)
{
    uint32_t before = mr_decider_count_open(d);
    if (!mr_problem_refine(&d->problem, &d->decide, REFINE_STEPS, &d->arena))
        return mr_error_memory(d->error, "deciding far races");
    if (!d->problem.refined)
        return MR_OK;
    mr_status status = mr_decider_find_open(d);
    if (status == MR_OK && d->model == d->context->settings->model)
        d->context->merge->result->stats.far_no_race += before - d->open_count;
    return status;
}

static mr_status build_far_window(mr_decider *d, uint32_t start, uint32_t end)
{
    mr_stats *stats = &d->context->merge->result->stats;
    mr_window *window;
    stats->far_windows++;
    stats->far_events += end - start;
    mr_status status =
        mr_decider_build(&d->carried, start, end, d->model, &d->arena, &window, d->error);
    return status == MR_OK ? mr_decider_pose(window, &d->arena, &d->problem, d->error) : status;
}

/* Precedence is raised only for what is left when everything cheap has been tried: on most traces
 * that is nothing. */
static mr_status do_model(mr_decider *d, uint32_t start, uint32_t end, mr_model model)
{
    d->model = model;
    mr_status status = build_far_window(d, start, end);
    if (status == MR_OK)
        status = mr_decider_find_open(d);
    if (status == MR_OK && model == d->context->settings->model)
        d->context->merge->result->stats.far_pairs += d->open_count;
    if (goes_on(d, status))
        status = try_cheap(d);
    if (goes_on(d, status))
        status = refine(d);
    return goes_on(d, status) ? decide_all(d) : status;
}

/* Decides in the stricter models first: their reads have fewer choices, and their races are races
 * of the weaker ones (docs/semantics.md 2.6). Between them comes a mixture: only what the two
 * threads use close to the accesses is not treated by source. */
static mr_status do_far_window(mr_decider *d, uint32_t start, uint32_t end)
{
    mr_status status = MR_OK;
    if (d->hb) {
        status = mr_order_slide(d->hb, start, end, d->error);
        if (status == MR_OK)
            status = mr_order_slide(d->wcp, start, end, d->error);
    }
    for (int model = MR_MODEL_RF;
         status == MR_OK && model <= (int)d->context->settings->model && !mr_decider_is_halted(d);
         model++)
        status = do_model(d, start, end, (mr_model)model);
    return status;
}

/* Drops the unknowns of windows that are no races in the whole trace. */
static void settle_unknowns(mr_decider *d, size_t first_unknown)
{
    mr_ledger *ledger = &d->context->merge->ledger;
    for (uint32_t i = 0; i < ledger->count; i++) {
        mr_ledger_entry *entry = &ledger->entries[i];
        if (!entry->unknown || entry->race || entry->unknown_index >= first_unknown)
            continue;
        const mr_ledger_entry *number = mr_ledger_find(&d->numbers, entry->key_1, entry->key_2);
        if (!number || d->open[number->unknown_index].no_race)
            d->context->merge->result->unknowns[entry->unknown_index].window_end =
                0; /* for finish */
    }
}

static mr_status do_far_windows(mr_decider *d)
{
    const mr_far_limits *limits = d->limits;
    uint64_t size = limits->size, threads = d->reduction.trace.threads.count;
    size_t first_unknown = d->context->merge->result->unknown_count;
    if (threads > THREADS_OF_FULL_SIZE)
        size = size * THREADS_OF_FULL_SIZE / threads;
    size = size && size < d->context->settings->plan.size ? d->context->settings->plan.size : size;
    mr_window_plan plan = {.event_count = d->reduction.trace.event_count,
                           .size = (uint32_t)size,
                           .overlap = (uint32_t)size / 2};
    mr_status status = MR_OK;
    uint32_t start, end;
    for (uint32_t k = 0; status == MR_OK && mr_window_plan_get(&plan, k, &start, &end); k++)
        status = do_far_window(d, start, end);
    if (mr_decider_is_halted(d)) /* what was seen is not all */
        return status;
    if (status == MR_OK && mr_window_plan_count(&plan) == 1 &&
        limits->weakest == MR_STRENGTH_BEYOND_WCP)
        settle_unknowns(d, first_unknown);
    if (status == MR_OK && mr_window_plan_count(&plan) > 1 &&
        !mr_far_parts_count(&d->reduction.trace, &plan, &d->context->merge->ledger,
                            &d->context->merge->result->stats.far_parts))
        return mr_error_memory(d->error, "counting what far windows have not seen");
    return status;
}

/* ---- life ---- */

static void choose_questions(mr_decider *d)
{
    const mr_predict_settings *settings = d->context->settings;
    d->decide = settings->decide;
    /* What there is in trace order is a sync-preserving race, and known. In model branch reads that
     * nothing binds need not see what they saw. */
    if (settings->model != MR_MODEL_BRANCH)
        d->decide.steps &= ~MR_STEP_BIT(MR_STEP_LINEARISE);
    d->candidate_set = settings->candidates;
    d->candidate_set.context = d;
    d->candidate_set.wanted = has_no_race;
    d->candidate_set.weakest = d->limits->weakest;
    d->candidate_set.max_per_group = 1; /* they are decided by sites */
    d->candidate_set.stop_when_full = false;
}

static mr_status start_orders(mr_decider *d)
{
    const mr_barrier_edges *opaque = &d->reduction.opaque;
    d->hb = mr_order_new(&d->reduction.trace, MR_RELATION_HB);
    d->wcp = mr_order_new(&d->reduction.trace, MR_RELATION_WCP);
    return d->hb && d->wcp && mr_order_use_edges(d->hb, opaque) &&
                   mr_order_use_edges(d->wcp, opaque)
               ? MR_OK
               : mr_error_memory(d->error, "ordering the accesses of far races");
}

static mr_status start_far(mr_decider *d)
{
    const mr_predict_settings *settings = d->context->settings;
    d->workers = mr_calloc(d->context->dispatch->jobs, sizeof(mr_far_worker *));
    if (!d->workers)
        return mr_error_memory(d->error, "deciding far races");
    mr_status status =
        mr_reduce(&d->reduction, settings->trace, &settings->opaque, settings->model, d->error);
    if (status == MR_OK)
        status = mr_carried_init(&d->carried, &d->reduction.trace, d->error);
    d->carried.barrier_edges = &d->reduction.opaque;
    choose_questions(d);
    return status == MR_OK && d->limits->weakest != MR_STRENGTH_BEYOND_WCP ? start_orders(d)
                                                                           : status;
}

static void stop_far(mr_decider *d)
{
    mr_decider_free_workers(d);
    mr_arena_free(&d->arena);
    mr_carried_free(&d->carried);
    mr_order_free(d->hb);
    mr_order_free(d->wcp);
    mr_reduction_free(&d->reduction);
    mr_ledger_free(&d->numbers);
    mr_race_list_free(&d->reported);
    free(d->open);
    free(d->todo);
    pthread_mutex_destroy(&d->lock);
}

/* What the reduction and the far window take; the workers' questions have what is left. */
static mr_status hold_memory(const mr_decider *d, uint64_t *bytes)
{
    const mr_predict_settings *settings = d->context->settings;
    mr_far_bytes far;
    *bytes = 0;
    if (!settings->room)
        return MR_OK;
    if (!mr_far_bytes_find(&far, settings->trace, settings->model, d->limits->size))
        return mr_error_memory(d->error, "deciding far races");
    *bytes = mr_far_bytes_peak(&far);
    mr_room_hold(settings->room, MR_ROOM_FAR, *bytes);
    return MR_OK;
}

mr_status mr_far_decide(mr_far_context *far, mr_error *error)
{
    mr_decider d = {.context = far, .limits = &far->settings->far_limits, .error = error};
    uint64_t bytes;
    mr_arena_init(&d.arena);
    pthread_mutex_init(&d.lock, NULL);
    mr_status status = hold_memory(&d, &bytes);
    if (status == MR_OK)
        status = start_far(&d);
    if (status == MR_OK)
        status = do_far_windows(&d);
    stop_far(&d);
    mr_room_give(far->settings->room, MR_ROOM_FAR, bytes);
    return status;
}
