#include "near.h"

#include "apart.h"
#include "base/map.h"
#include "base/memory.h"
#include "survey.h"

#include <stdlib.h>

/* The parts of a window that small windows are, from the smallest on. */
static const uint32_t parts[] = {16, 8, 4};

/* A smaller window has no two accesses. */
enum { LEAST_EVENTS = 2 };

/* What a first attempt may spend, as a part of what a question may. */
enum { ELIMINATE_PART = 16, SATURATE_PART = 8 };

struct mr_near {
    const mr_worker *worker;
    mr_outcome *found; /* owned; verdicts with a race */
    mr_map index;      /* by two places: number in `found`, or NEVER_TOGETHER */
    mr_apart apart;    /* owned */
    bool complete;     /* all other pairs of places have no race */
    bool many_states;  /* too many for the survey */
};

enum { NEVER_TOGETHER = MR_NONE - 1 };

/* When more than one of so many pairs of places is never together, threads take turns in so many ways that the survey takes long,
 * and precedence says enough of the others, unless these are many. Where threads take their locks in one order, nearly all pairs that
 * are left race. */
enum { APART_PART = 4, MANY_LEFT = 16, TIMES_OF_MANY = 4 };

mr_decide_options mr_near_options(const mr_decide_options *options)
{
    mr_decide_options cheap = *options;
    cheap.steps &= ~(MR_STEP_BIT(MR_STEP_LAZY) | MR_STEP_BIT(MR_STEP_Z3));
    cheap.saturate_steps = options->saturate_steps / SATURATE_PART + 1;
    cheap.eliminate_part = ELIMINATE_PART;
    cheap.first_attempt = true;
    return cheap;
}

bool mr_near_has_many_states(const mr_worker *worker)
{
    return worker->near && worker->near->many_states;
}

const mr_problem *mr_near_problem(const mr_worker *worker)
{
    return worker->near && worker->near->apart.is_raised ? &worker->near->apart.raised : NULL;
}

bool mr_near_is_used(const mr_worker *worker)
{
    if (worker->settings->is_crowded) /* its small windows came before all windows */
        return false;
    return !worker->expand && !worker->near_in && !worker->decide.eager &&
           worker->decide.saturate_steps && worker->decide.steps & MR_STEP_BIT(MR_STEP_SATURATE);
}

void mr_near_forget(mr_worker *worker)
{
    if (!worker->near)
        return;
    mr_outcome_free(worker->near->found);
    mr_map_free(&worker->near->index);
    mr_apart_free(&worker->near->apart);
    free(worker->near);
    worker->near = NULL;
}

/* mr_candidate_options.wanted: has no smaller or lower small window a race of the two places? Of questions that were left, those that are
 * asked now. */
static bool is_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const struct mr_near *near = context;
    const mr_worker *worker = near->worker;
    return mr_deferred_has(worker->only, worker->window, location_1, location_2) &&
           mr_map_get(&near->index, mr_map_key(location_1, location_2), MR_NONE) == MR_NONE;
}

/* Notes a number, or NEVER_TOGETHER, for two places. False: no memory. */
static bool note(struct mr_near *near, uint32_t location_1, uint32_t location_2, uint32_t number)
{
    uint32_t *place = mr_map_at(&near->index, mr_map_key(location_1, location_2), 0);
    if (place)
        *place = number;
    return place;
}

/* Notes a race, number `number` in `found`. False: no memory. */
static bool note_race(struct mr_near *near, size_t number)
{
    const mr_pair_verdict *verdict = &near->found->verdicts[number];
    return note(near, verdict->key_1, verdict->key_2, (uint32_t)number);
}

/* Asks about two places, and keeps a race. */
static mr_status ask_group(mr_worker *worker, mr_problem *problem, const mr_candidates *candidates,
                           const mr_candidate_group *group)
{
    struct mr_near *near = worker->near;
    mr_outcome *found = near->found;
    mr_pair_verdict *verdict = mr_outcome_add(found);
    if (!verdict)
        return mr_error_memory(worker->error, "recording a candidate");
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_status status = mr_worker_decide_group(worker, problem, candidates, group, verdict);
    if (status != MR_OK)
        return status;
    if (!verdict->has_race) {
        mr_worker_drop(worker, found);
        return MR_OK;
    }
    return note_race(near, found->count - 1)
               ? MR_OK
               : mr_error_memory(worker->error, "recording a candidate");
}

mr_status mr_small_window_build(mr_worker *worker, uint32_t start, uint32_t end, mr_model model,
                                const mr_candidate_options *options, bool asks,
                                mr_small_window *small)
{
    mr_window *window;
    *small = (mr_small_window){.candidates = {0}};
    mr_carried_move(&worker->carried, start);
    mr_status status =
        mr_window_build(&worker->carried, end, model, &worker->arena, &window, worker->error);
    if (status != MR_OK)
        return status;
    if (!mr_problem_init(&small->problem, window, &worker->arena) ||
        !mr_candidates_find(&small->candidates, window, &small->problem.hard,
                            &small->problem.forced, worker->hb, worker->wcp, options,
                            &worker->arena) ||
        (asks && small->candidates.group_count &&
         !mr_problem_list_rows(&small->problem, &worker->decide, &worker->arena)))
        return mr_error_memory(worker->error, "building a window");
    return MR_OK;
}

static mr_status search_small_window(mr_worker *worker, uint32_t start, uint32_t end)
{
    mr_small_window small;
    mr_candidate_options options = worker->settings->candidates;
    options.wanted = is_open;
    options.context = worker->near;
    mr_status status =
        mr_small_window_build(worker, start, end, worker->settings->model, &options, true, &small);
    if (status != MR_OK)
        return status;
    mr_worker_asks(worker, true);
    for (uint32_t g = 0; status == MR_OK && g < small.candidates.group_count && !worker->halted;
         g++)
        status = ask_group(worker, &small.problem, &small.candidates, &small.candidates.groups[g]);
    mr_worker_asks(worker, false);
    return status;
}

/* All small windows of a size. */
static mr_status search_size(mr_worker *worker, const mr_window *window, uint32_t size,
                             const mr_carried_copy *state)
{
    mr_status status = MR_OK;
    bool last = false;
    mr_carried_restore(&worker->carried, state);
    for (uint32_t start = window->start; status == MR_OK && !last && !worker->halted;
         start += size / 2) {
        last = window->end - start <= size;
        mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
        status = search_small_window(worker, start, last ? window->end : start + size);
        mr_arena_release(&worker->arena, mark);
    }
    return status;
}

/* The pairs of places of the window without a race so far. */
typedef struct open_groups {
    const mr_problem *problem;
    mr_candidates candidates; /* with all site pairs */
    bool *settled;            /* one a group */
} open_groups;

static mr_status collect_open(mr_worker *worker, open_groups *open)
{
    const mr_problem *problem = open->problem;
    mr_candidate_options options = worker->candidates;
    options.wanted = is_open;
    options.context = worker->near;
    options.stop_when_full = false;
    bool found =
        mr_candidates_find(&open->candidates, problem->window, &problem->hard, &problem->forced,
                           worker->hb, worker->wcp, &options, &worker->arena);
    open->settled =
        mr_arena_zalloc(&worker->arena, open->candidates.group_count, sizeof *open->settled);
    return found && open->settled ? MR_OK : mr_error_memory(worker->error, "collecting candidates");
}

/* Those of the groups that are never together have no race. */
static mr_status find_apart(mr_worker *worker, open_groups *open)
{
    struct mr_near *near = worker->near;
    const mr_candidates *candidates = &open->candidates;
    mr_worker_asks(worker, true);
    mr_status status =
        mr_apart_search(worker, open->problem, candidates, open->settled, &near->apart);
    mr_worker_asks(worker, false);
    for (uint32_t g = 0; status == MR_OK && g < candidates->group_count; g++)
        if (open->settled[g] && !note(near, candidates->groups[g].location_1,
                                      candidates->groups[g].location_2, NEVER_TOGETHER))
            status = mr_error_memory(worker->error, "recording a candidate");
    return status;
}

/* All races of the groups that are not settled. */
static mr_status find_all(mr_worker *worker, const open_groups *open, uint64_t effort)
{
    struct mr_near *near = worker->near;
    size_t before = near->found->count;
    const mr_map *pairs = near->apart.has_pairs ? &near->apart.pairs : NULL;
    mr_status status = mr_survey_search(worker, open->problem, &open->candidates, pairs, effort,
                                        open->settled, near->found, &near->complete);
    for (size_t i = before; status == MR_OK && i < near->found->count; i++)
        if (!note_race(near, i))
            status = mr_error_memory(worker->error, "recording a candidate");
    return status;
}

/* Settles the groups of which small windows have found a race. How many are left. */
static uint32_t settle_found(const struct mr_near *near, open_groups *open)
{
    uint32_t left = 0;
    for (uint32_t g = 0; g < open->candidates.group_count; g++) {
        const mr_candidate_group *group = &open->candidates.groups[g];
        open->settled[g] =
            mr_map_get(&near->index, mr_map_key(group->location_1, group->location_2), MR_NONE) !=
            MR_NONE;
        left += !open->settled[g];
    }
    return left;
}

/* The pairs of places that have no race so far, in the whole window at once. `whole`: the options of a question about
 * it. */
static mr_status search_whole(mr_worker *worker, open_groups *open, const mr_decide_options *whole)
{
    struct mr_near *near = worker->near;
    mr_status status = MR_OK;
    uint32_t left = settle_found(near, open), apart = near->apart.settled;
    uint64_t effort = mr_survey_effort(whole, left);
    mr_apart_list_pairs(&near->apart, open->problem->window, &open->candidates, open->settled);
    mr_worker_asks(worker, true);
    if (apart < (left + apart) / APART_PART + 1)
        status = find_all(worker, open, effort);
    else if (left >= MANY_LEFT)
        status = find_all(worker, open, effort * TIMES_OF_MANY);
    mr_worker_asks(worker, false);
    near->many_states = !near->complete;
    return status;
}

static mr_status search(mr_worker *worker, const mr_problem *problem,
                        const mr_decide_options *whole)
{
    const mr_window *window = problem->window;
    mr_carried_copy state;
    mr_status status = MR_OK;
    open_groups open = {.problem = problem};
    bool all = mr_survey_is_used(worker, problem);
    worker->near->found = mr_outcome_new(worker->window);
    if (!worker->near->found || !mr_carried_save(&worker->carried, &state, &worker->arena))
        return mr_error_memory(worker->error, "deciding a candidate");
    if (all)
        status = collect_open(worker, &open);
    if (all && status == MR_OK)
        status = find_apart(worker, &open);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == MR_OK; i++)
        if (window->size / parts[i] >= LEAST_EVENTS)
            status = search_size(worker, window, window->size / parts[i], &state);
    mr_carried_restore(&worker->carried, &state);
    return status == MR_OK && all && !worker->halted ? search_whole(worker, &open, whole) : status;
}

/* The search, with what it changes of the worker put back. */
static mr_status search_window(mr_worker *worker, const mr_problem *problem)
{
    mr_decide_options decide = worker->decide;
    mr_candidate_options candidates = worker->candidates;
    uint64_t steps = worker->window_steps;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    worker->near = mr_calloc(1, sizeof *worker->near);
    if (!worker->near)
        return mr_error_memory(worker->error, "deciding a candidate");
    worker->near->worker = worker;
    worker->decide = mr_near_options(&decide);
    worker->near_in = problem->window;
    worker->window_steps = 0; /* what was spent before must not matter */
    mr_worker_asks(worker, false);
    mr_status status = search(worker, problem, &decide);
    mr_worker_asks(worker, true);
    worker->near_in = NULL;
    worker->decide = decide;
    worker->candidates = candidates;
    worker->window_steps = steps;
    mr_arena_release(&worker->arena, mark);
    return status;
}

/* Tells windows above this one what they need not ask. */
static void tell_others(const mr_worker *worker)
{
    const struct mr_near *near = worker->near;
    for (size_t i = 0; i < near->found->count; i++)
        mr_known_races_settle(worker->known, worker->window, near->found->verdicts[i].key_1,
                              near->found->verdicts[i].key_2, true);
    if (near->complete)
        mr_known_races_settle_all(worker->known, worker->window);
}

mr_status mr_near_race(mr_worker *worker, const mr_problem *problem, uint32_t location_1,
                       uint32_t location_2, mr_pair_verdict **race, bool *no_race)
{
    mr_status status = MR_OK;
    *race = NULL;
    *no_race = false;
    if (!worker->near) {
        mr_known_races_search(worker->known, worker->window);
        status = search_window(worker, problem);
        if (status == MR_OK && !worker->halted)
            tell_others(worker);
    }
    if (status != MR_OK)
        return status;
    const struct mr_near *near = worker->near;
    uint32_t number = mr_map_get(&near->index, mr_map_key(location_1, location_2), MR_NONE);
    *no_race = number == NEVER_TOGETHER || (number == MR_NONE && near->complete);
    if (number < NEVER_TOGETHER && near->found->verdicts[number].has_race)
        *race = &near->found->verdicts[number];
    return MR_OK;
}
