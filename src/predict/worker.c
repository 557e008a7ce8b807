#include "worker.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "fans.h"
#include "near.h"
#include "walks.h"

#include <inttypes.h>

/* mr_candidate_options.wanted: is there no lower window that is known to prove the pair? Of questions that were left, those
 * that are asked now. */
static bool is_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const mr_worker *worker = context;
    return mr_deferred_has(worker->only, worker->window, location_1, location_2) &&
           (!worker->known ||
            !mr_known_races_below(worker->known, location_1, location_2, worker->window));
}

/* The same in a crowded trace: has no race of the pair been proven before all windows? A question about a fan (fans.h)
 * is about many pairs, so what other workers have proven by now must not change it. */
static bool is_open_before(void *context, uint32_t location_1, uint32_t location_2)
{
    const mr_worker *worker = context;
    return !worker->known || !mr_known_races_below(worker->known, location_1, location_2, 0);
}

/* Makes all that every worker needs. */
static mr_status start(mr_worker *worker)
{
    const mr_predict_settings *settings = worker->settings;
    mr_status status = mr_carried_init(&worker->carried, settings->trace, worker->error);
    if (status != MR_OK)
        return status;
    worker->carried.barrier_edges = &settings->opaque;
    worker->session = mr_session_new();
    return worker->session ? MR_OK : mr_error_memory(worker->error, "starting the prediction");
}

mr_status mr_worker_init(mr_worker *worker, const mr_predict_settings *settings,
                         mr_known_races *known, mr_error *error)
{
    *worker = (mr_worker){.settings = settings,
                          .trace = settings->trace,
                          .known = known,
                          .decide = settings->decide,
                          .candidates = settings->candidates,
                          .opaque = &settings->opaque,
                          .error = error};
    if (!settings->by_event) {
        worker->candidates.wanted = is_open;
        worker->candidates.context = worker;
    }
    mr_arena_init(&worker->arena);
    worker->arena.halt = settings->halt;
    return start(worker);
}

mr_checker *mr_worker_checker(mr_worker *worker)
{
    const mr_checker *known = worker->checker ? NULL : mr_facts_checker(worker->settings->facts);
    if (known)
        worker->checker = mr_checker_like(known);
    return worker->checker;
}

/* With a limit on memory, an arena keeps so much from one window to the next. */
enum { MR_WORKER_KEEPS_BYTES = 32 << 20 };

/* The memory that every window takes: for each event 240 bytes, and one for each thread. */
static uint64_t least_bytes(const mr_worker *worker)
{
    const mr_predict_settings *settings = worker->settings;
    uint64_t bytes = settings->plan.size * (240 + (uint64_t)worker->trace->threads.count);
    uint64_t left = mr_room_left(settings->room) / 4;
    return bytes < left ? bytes : left;
}

void mr_worker_begin(mr_worker *worker, mr_room_holder holder)
{
    worker->arena.halt = worker->settings->halt;
    if (!worker->settings->room)
        return;
    if (worker->has_share)
        mr_room_share_renew(&worker->share);
    else
        mr_room_share_open(&worker->share, worker->settings->room, holder, least_bytes(worker));
    worker->has_share = true;
    worker->arena.share = &worker->share;
    worker->arena.waits = true;
}

void mr_worker_asks(mr_worker *worker, bool asks)
{
    worker->arena.waits = !asks && worker->has_share;
}

void mr_worker_end(mr_worker *worker)
{
    if (worker->has_share)
        mr_room_share_rest(&worker->share);
}

mr_status mr_worker_ended(mr_worker *worker, mr_status status)
{
    bool refused = worker->arena.refused;
    worker->arena.refused = false;
    if (mr_halt_asked(worker->settings->halt) == MR_HALT_NONE)
        return status;
    worker->halted = true;
    return status == MR_ERR_MEMORY && refused ? MR_OK : status;
}

mr_status mr_worker_out_of_memory(mr_worker *worker)
{
    if (!worker->arena.refused || worker->arena.waits)
        return mr_error_memory(worker->error, "deciding a candidate");
    worker->arena.refused = false;
    return MR_OK;
}

void mr_worker_leave(mr_worker *worker)
{
    mr_arena_free(&worker->arena);
    if (worker->has_share)
        mr_room_share_close(&worker->share);
    worker->has_share = false;
}

void mr_worker_free(mr_worker *worker)
{
    mr_worker_leave(worker);
    mr_carried_free(&worker->carried);
    mr_order_free(worker->hb);
    mr_order_free(worker->wcp);
    mr_session_free(worker->session);
    mr_checker_free(worker->checker);
}

/* ---- windows ---- */

static mr_status slide(mr_worker *worker, mr_order **order, mr_relation relation, uint32_t start,
                       uint32_t end)
{
    if (*order && (start < mr_order_start(*order) || end < mr_order_end(*order))) {
        mr_order_free(*order);
        *order = NULL;
    }
    if (!*order) {
        const mr_outlook *outlook = mr_facts_outlook(worker->settings->facts);
        *order = outlook ? mr_order_foreseen(worker->trace, relation, outlook) : NULL;
        if (!*order || !mr_order_use_edges(*order, worker->opaque))
            return mr_error_memory(worker->error, "starting the prediction");
    }
    if (relation == MR_RELATION_HB && start > mr_order_end(*order)) {
        mr_status status = mr_order_skip(*order, start, worker->error);
        if (status != MR_OK)
            return status;
    }
    return mr_order_slide(*order, start, end, worker->error);
}

mr_status mr_worker_order(mr_worker *worker, uint32_t start, uint32_t end)
{
    double begin = mr_seconds();
    mr_status status = slide(worker, &worker->hb, MR_RELATION_HB, start, end);
    if (status == MR_OK && worker->candidates.weakest == MR_STRENGTH_WCP)
        status = slide(worker, &worker->wcp, MR_RELATION_WCP, start, end);
    worker->run.order_seconds += mr_seconds() - begin;
    return status;
}

/* A problem that is not complete. */
typedef struct begun {
    mr_problem *problem;
    mr_arena *arena;
} begun;

static bool force(void *problem)
{
    const begun *self = problem;
    return mr_problem_force(self->problem, self->arena);
}

static mr_status find_candidates(mr_worker *worker, mr_problem *problem, mr_candidates *candidates,
                                 mr_outcome *outcome)
{
    const mr_window *window = problem->window;
    mr_status status = mr_worker_order(worker, window->start, window->end);
    if (status != MR_OK)
        return status;
    double begin = mr_seconds();
    mr_candidate_options options = worker->candidates;
    options.force = force;
    options.problem = &(begun){problem, &worker->arena};
    if (worker->settings->is_crowded) {
        options.wanted = is_open_before;
        options.stop_when_full = false; /* a proof is about all pairs of sites */
    }
    if (!mr_candidates_find(candidates, window, &problem->hard, &problem->forced, worker->hb,
                            worker->wcp, &options, &worker->arena))
        return mr_error_memory(worker->error, "collecting candidates");
    worker->run.step_seconds[MR_STEP_FILTER] += mr_seconds() - begin;
    MR_DEBUG(worker->settings->debug, WINDOWS,
             "window=%" PRIu64 " events=%" PRIu32 "-%" PRIu32 " threads=%" PRIu32
             " variables=%" PRIu32 " locks=%" PRIu32 " sections=%" PRIu32 " candidates=%" PRIu32
             " static=%" PRIu32 " dropped_by_filter=%" PRIu64 " dropped_by_cone=%" PRIu64,
             worker->window, window->start, window->end - 1, window->thread_count,
             window->variable_count, window->lock_count, window->section_count, candidates->count,
             candidates->group_count, candidates->dropped_by_filter, candidates->dropped_by_cone);
    outcome->dropped_by_filter = candidates->dropped_by_filter;
    outcome->dropped_by_cone = candidates->dropped_by_cone;
    return MR_OK;
}

void mr_worker_drop(mr_worker *worker, mr_outcome *outcome)
{
    MR_REQUIRE(outcome->count && !outcome->verdicts[outcome->count - 1].has_race);
    worker->rejected_witnesses += outcome->verdicts[--outcome->count].rejected_witnesses;
}

/* What questions about fans have settled in a window of a crowded trace. */
typedef struct window_fans {
    const mr_candidates *candidates;
    bool *settled;     /* one a group: it has a race, in `found` */
    uint8_t *proven;   /* one a site pair (fans.h) */
    mr_outcome *found; /* owned */
    mr_map index;      /* by two places: number in `found` */
    bool many;         /* so many groups are left that questions have a part of the budgets */
} window_fans;

/* Is every pair of sites of the group proven? */
static bool is_proven(const window_fans *fans, const mr_candidate_group *group)
{
    for (uint32_t i = 0; i < group->site_pair_count; i++)
        if (!fans->proven[group->first_site_pair + i])
            return false;
    return true;
}

/* Groups that may have the whole budget of a question each. */
enum { FEW_GROUPS = 64 };

static bool has_many_left(const window_fans *fans)
{
    uint32_t left = 0;
    for (uint32_t g = 0; g < fans->candidates->group_count; g++)
        left += !fans->settled[g] && !is_proven(fans, &fans->candidates->groups[g]);
    return left > FEW_GROUPS;
}

static mr_status search_fans(mr_worker *worker, mr_problem *problem,
                             const mr_candidates *candidates, window_fans *fans)
{
    const mr_decide_options all = worker->decide;
    mr_arena *arena = &worker->arena;
    fans->settled = mr_arena_zalloc(arena, candidates->group_count, sizeof *fans->settled);
    fans->proven = mr_arena_zalloc(arena, candidates->site_pair_count, sizeof *fans->proven);
    fans->found = mr_outcome_new(worker->window);
    if (!fans->settled || !fans->proven || !fans->found ||
        !mr_problem_refine(problem, &worker->decide, 0, arena))
        return mr_error_memory(worker->error, "deciding a candidate");
    mr_worker_asks(worker, true);
    worker->decide = mr_near_options(&all);
    bool walked = worker->settings->is_walked;
    mr_status status = MR_OK;
    if (!walked)
        status =
            mr_walks_search(worker, problem, candidates, fans->settled, false, NULL, fans->found);
    if (status == MR_OK)
        status =
            mr_fans_search(worker, problem, candidates, fans->settled, fans->proven, fans->found);
    worker->decide = all;
    fans->many = worker->settings->max_window_steps && (walked || has_many_left(fans));
    for (size_t i = 0; status == MR_OK && i < fans->found->count; i++) {
        const mr_pair_verdict *verdict = &fans->found->verdicts[i];
        uint32_t *number = mr_map_at(&fans->index, mr_map_key(verdict->key_1, verdict->key_2), 0);
        if (!number)
            return mr_error_memory(worker->error, "recording a candidate");
        *number = (uint32_t)i;
    }
    return status;
}

/* Fills the verdict of a group that is settled. False: it is not. */
static bool take_from_fans(window_fans *fans, const mr_window *window, uint32_t g,
                           mr_pair_verdict *verdict)
{
    const mr_candidate_group *group = &fans->candidates->groups[g];
    const mr_candidate *first = &fans->candidates->items[group->first];
    uint64_t pairs = group->count + group->left_out;
    if (fans->settled[g]) {
        uint32_t number =
            mr_map_get(&fans->index, mr_map_key(group->location_1, group->location_2), MR_NONE);
        MR_REQUIRE(number < fans->found->count && fans->found->verdicts[number].has_race);
        *verdict = fans->found->verdicts[number];
        fans->found->verdicts[number].has_race = false;
    } else {
        if (!is_proven(fans, group))
            return false;
        verdict->settled[fans->proven[group->first_site_pair] - 1] = pairs;
    }
    verdict->asked = true;
    verdict->pairs = pairs;
    verdict->first = window->start + first->first;
    verdict->second = window->start + first->second;
    verdict->strength = first->strength;
    return true;
}

/* A window of which the groups are being decided. */
typedef struct window_groups {
    mr_worker *worker;
    mr_problem *problem;
    const mr_candidates *candidates;
    window_fans fans;
    mr_outcome *outcome;
    mr_u32s
        put_off; /* groups that wait for lower windows, each with the number of its verdict; owned */
} window_groups;

static void keys_of(const window_groups *groups, uint32_t number, uint32_t *key_1, uint32_t *key_2)
{
    const mr_candidate_group *group = &groups->candidates->groups[number];
    const mr_candidate *first = &groups->candidates->items[group->first];
    uint32_t start = groups->problem->window->start;
    bool by_event = groups->worker->settings->by_event;
    *key_1 = by_event ? start + first->first : group->location_1;
    *key_2 = by_event ? start + first->second : group->location_2;
}

/* Notes that the group is to be decided after all others. */
static mr_status put_off(window_groups *groups, uint32_t number, uint32_t place, uint64_t steps)
{
    mr_worker *worker = groups->worker;
    mr_pair_verdict *verdict = &groups->outcome->verdicts[place];
    *verdict = (mr_pair_verdict){.key_1 = verdict->key_1,
                                 .key_2 = verdict->key_2,
                                 .pairs = verdict->pairs,
                                 .first = verdict->first,
                                 .second = verdict->second,
                                 .strength = verdict->strength};
    worker->window_steps = steps;
    worker->has_put_off = false;
    return mr_u32s_push(&groups->put_off, number) && mr_u32s_push(&groups->put_off, place)
               ? MR_OK
               : mr_error_memory(worker->error, "deciding a candidate");
}

/* Fills verdict number `place`. */
static mr_status fill(window_groups *groups, uint32_t number, uint32_t place)
{
    mr_worker *worker = groups->worker;
    mr_pair_verdict *verdict = &groups->outcome->verdicts[place];
    const uint64_t steps = worker->window_steps;
    const mr_decide_options all = worker->decide;
    mr_status status = MR_OK;
    if (groups->fans.many)
        worker->decide = mr_near_options(&all);
    if (!groups->fans.found ||
        !take_from_fans(&groups->fans, groups->problem->window, number, verdict))
        status = mr_worker_decide_group(worker, groups->problem, groups->candidates,
                                        &groups->candidates->groups[number], verdict);
    worker->decide = all;
    if (worker->has_put_off)
        return status == MR_OK ? put_off(groups, number, place, steps) : status;
    if (verdict->in_trace_order && worker->known)
        mr_known_races_add(worker->known, verdict->key_1, verdict->key_2, worker->window);
    mr_known_races_settle(worker->known, worker->window, verdict->key_1, verdict->key_2,
                          verdict->has_race);
    if (worker->trusts && !verdict->has_race)
        mr_known_races_leave(worker->known, verdict->key_1, verdict->key_2, verdict->unanswered);
    verdict->rejected_witnesses += worker->rejected_witnesses;
    worker->rejected_witnesses = 0;
    return status;
}

static mr_status decide_group(window_groups *groups, uint32_t number)
{
    mr_worker *worker = groups->worker;
    uint32_t key_1, key_2;
    keys_of(groups, number, &key_1, &key_2);
    if (worker->known && mr_known_races_below(worker->known, key_1, key_2, worker->window)) {
        mr_known_races_settle(worker->known, worker->window, key_1, key_2, false);
        return MR_OK;
    }
    mr_pair_verdict *verdict = mr_outcome_add(groups->outcome);
    if (!verdict)
        return mr_error_memory(worker->error, "recording a candidate");
    verdict->key_1 = key_1;
    verdict->key_2 = key_2;
    return fill(groups, number, (uint32_t)groups->outcome->count - 1);
}

/* Is it worth while to wait for what lower windows say of the pair? Not when the search is there that decides it here. */
static bool waits_for(mr_worker *worker, uint32_t key_1, uint32_t key_2)
{
    worker->halted |= mr_halt_asked(worker->settings->halt) != MR_HALT_NONE;
    return !worker->near && !worker->halted && mr_known_races_may_wait(worker->known) &&
           mr_known_races_below_says(worker->known, key_1, key_2, worker->window,
                                     worker->settings->max_unanswered) == MR_BELOW_OPEN;
}

/* The groups that have been put off. While the worker waits, nobody waits for its memory. */
static mr_status decide_put_off(window_groups *groups)
{
    mr_worker *worker = groups->worker;
    mr_status status = MR_OK;
    bool waited = false;
    worker->puts_off = false;
    for (size_t i = 0; status == MR_OK && i < groups->put_off.count && !worker->halted; i += 2) {
        const uint32_t place = groups->put_off.items[i + 1];
        const mr_pair_verdict *verdict = &groups->outcome->verdicts[place];
        const uint32_t key_1 = verdict->key_1, key_2 = verdict->key_2;
        mr_worker_end(worker);
        for (; waits_for(worker, key_1, key_2); waited = true)
            mr_known_races_wait(worker->known);
        mr_worker_begin(worker, MR_ROOM_WINDOWS);
        mr_worker_asks(worker, true);
        if (!worker->halted)
            status = fill(groups, groups->put_off.items[i], place);
    }
    if (waited && !worker->halted)
        mr_known_races_has_waited(worker->known, !worker->near);
    return status;
}

static mr_status decide_groups(mr_worker *worker, mr_problem *problem,
                               const mr_candidates *candidates, mr_outcome *outcome)
{
    window_groups groups = {.worker = worker,
                            .problem = problem,
                            .candidates = candidates,
                            .fans = {.candidates = candidates},
                            .outcome = outcome};
    mr_status status = MR_OK;
    if (worker->settings->is_crowded && candidates->group_count)
        status = search_fans(worker, problem, candidates, &groups.fans);
    for (uint32_t g = 0; mr_near_is_used(worker) && g < candidates->group_count; g++) {
        uint32_t key_1, key_2;
        keys_of(&groups, g, &key_1, &key_2);
        if (candidates->groups[g].count)
            mr_known_races_list(worker->known, worker->window, key_1, key_2);
    }
    mr_worker_asks(worker, true);
    worker->puts_off = true;
    for (uint32_t g = 0; status == MR_OK && g < candidates->group_count && !worker->halted; g++)
        if (candidates->groups[g].count)
            status = decide_group(&groups, g);
    if (status == MR_OK)
        status = decide_put_off(&groups);
    worker->puts_off = false;
    mr_outcome_free(groups.fans.found);
    mr_map_free(&groups.fans.index);
    mr_u32s_free(&groups.put_off);
    return status;
}

static mr_status decide(mr_worker *worker, uint32_t start, uint32_t end, mr_outcome *outcome)
{
    double begin = mr_seconds();
    mr_window *window;
    mr_problem problem;
    mr_candidates candidates = {0};
    mr_arena_reset(&worker->arena);
    if (worker->has_share)
        mr_arena_trim(&worker->arena, MR_WORKER_KEEPS_BYTES);
    mr_worker_begin(worker, MR_ROOM_WINDOWS);
    mr_carried_move(&worker->carried, start);
    mr_status status = mr_window_build(&worker->carried, end, worker->settings->model,
                                       &worker->arena, &window, worker->error);
    if (status != MR_OK)
        return status;
    if (!mr_problem_begin(&problem, window, &worker->arena))
        return mr_error_memory(worker->error, "building a window");
    status = find_candidates(worker, &problem, &candidates, outcome);
    if (status == MR_OK && candidates.group_count &&
        (!mr_problem_complete(&problem, &worker->arena) ||
         !mr_problem_list_rows(&problem, &worker->decide, &worker->arena)))
        status = mr_error_memory(worker->error, "building a window");
    double ready = mr_seconds();
    if (status == MR_OK)
        status = decide_groups(worker, &problem, &candidates, outcome);
    mr_near_forget(worker);
    worker->run.window_seconds += ready - begin;
    worker->run.decide_seconds += mr_seconds() - ready;
    return status;
}

mr_status mr_worker_decide_window(mr_worker *worker, uint64_t window, mr_outcome *outcome,
                                  mr_error *error)
{
    uint32_t start = 0, end = 0;
    worker->error = error;
    worker->window = window;
    worker->window_steps = 0;
    worker->halted = mr_halt_asked(worker->settings->halt) != MR_HALT_NONE;
    if (worker->halted)
        return MR_OK;
    mr_window_plan_get(&worker->settings->plan, (uint32_t)window, &start, &end);
    mr_known_races_begin(worker->known, window);
    mr_status status = mr_worker_ended(worker, decide(worker, start, end, outcome));
    mr_known_races_end(worker->known, window);
    mr_worker_end(worker);
    outcome->cut = status == MR_OK && worker->halted;
    if (outcome->cut)
        mr_outcome_keep_races(outcome);
    return status;
}
