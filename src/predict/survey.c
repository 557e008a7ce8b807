#include "survey.h"

#include "open_races.h"
#include "solver/layers.h"

bool mr_survey_is_used(const mr_worker *worker, const mr_problem *problem)
{
    return worker->decide.steps & MR_STEP_BIT(MR_STEP_EXPLORE) &&
           problem->window->model != MR_MODEL_BRANCH &&
           worker->candidates.weakest == MR_STRENGTH_BEYOND_WCP && !worker->settings->is_crowded;
}

uint64_t mr_survey_effort(const mr_decide_options *options, uint32_t pairs)
{
    enum { TIMES = 4, TIMES_OF_PAIR = 2 };
    return (pairs < TIMES / TIMES_OF_PAIR ? pairs * TIMES_OF_PAIR : TIMES) *
           options->saturate_steps;
}

static mr_status search(mr_open_races *open, uint64_t effort, bool *complete)
{
    mr_worker *worker = open->worker;
    const mr_survey window = {.window = open->problem->window,
                              .stops = open->stops,
                              .wanted = mr_open_races_wanted,
                              .found = mr_open_races_keep,
                              .context = open};
    const mr_explore_limits limits = {
        .effort = effort, .memory_bytes = mr_limits_memory_bytes(&worker->decide.limits)};
    uint64_t spent = 0;
    mr_explored result =
        mr_layers_search(&window, &limits, &spent, worker->settings->debug, &worker->arena);
    *complete = result == MR_EXPLORED_ALL;
    return result == MR_EXPLORED_NO_MEMORY ? mr_worker_out_of_memory(worker) : open->status;
}

mr_status mr_survey_search(mr_worker *worker, const mr_problem *problem,
                           const mr_candidates *candidates, const mr_map *pairs, uint64_t effort,
                           bool *settled, mr_outcome *outcome, bool *complete)
{
    mr_open_races open = {.worker = worker,
                          .problem = problem,
                          .candidates = candidates,
                          .settled = settled,
                          .pairs = pairs,
                          .outcome = outcome};
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    *complete = false;
    mr_status status = mr_open_races_list(&open) ? search(&open, effort, complete)
                                                 : mr_worker_out_of_memory(worker);
    mr_arena_release(&worker->arena, mark);
    mr_open_races_free(&open);
    return status;
}
