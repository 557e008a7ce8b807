/* Questions about far races, and the work that they take. */
#include "far_decider.h"

#include "solver/reorder.h"

#include <string.h>

/* Of an event of a cone, of steps of saturation that were in vain, and of reordering: its passes
 * over a window look at what is needed only. */
enum { WORK_OF_CONE = 8, STEPS_OF_WORK = 4, EVENTS_REORDERED_BY_WORK = 16 };

mr_pair_verdict *mr_decider_answer(const mr_decider *d, const mr_open_race *race,
                                   mr_close_pair pair, mr_outcome *outcome)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    mr_pair_verdict *verdict = mr_outcome_add(outcome);
    if (!verdict)
        return NULL;
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    verdict->first = d->reduction.events[pair.first];
    verdict->second = d->reduction.events[pair.second];
    return verdict;
}

mr_status mr_decider_build(mr_carried *carried, uint32_t start, uint32_t end, mr_model model,
                           mr_arena *arena, mr_window **window, mr_error *error)
{
    mr_arena_reset(arena);
    mr_carried_move(carried, start);
    return mr_window_build(carried, end, model, arena, window, error);
}

mr_status mr_decider_pose(const mr_window *window, mr_arena *arena, mr_problem *problem,
                          mr_error *error)
{
    return mr_problem_init(problem, window, arena)
               ? MR_OK
               : mr_error_memory(error, "building a far window");
}

mr_status mr_decider_try_reorder(mr_worker *worker, const mr_problem *problem, mr_close_pair pair,
                                 mr_pair_verdict *verdict)
{
    mr_decision decision = {.first = pair.first, .second = pair.second};
    mr_status status = MR_OK;
    verdict->steps = problem->window->size / EVENTS_REORDERED_BY_WORK;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_reordered found = mr_reorder(&problem->forced, pair.first, pair.second, &decision.events,
                                    &decision.event_count, &worker->arena);
    bool refused =
        found == MR_REORDER_NO_MEMORY && worker->arena.refused; /* then it is not known */
    worker->arena.refused = false;
    if (found == MR_REORDER_NO_MEMORY && !refused)
        status = mr_error_memory(worker->error, "deciding far races");
    else if (found == MR_REORDERED)
        status =
            mr_worker_confirm(worker, problem->window, MR_STRENGTH_BEYOND_WCP, &decision, verdict);
    mr_arena_release(&worker->arena, mark);
    return status;
}

mr_status mr_decider_ask(mr_worker *worker, const mr_problem *problem, mr_stops one, mr_stops two,
                         mr_decision *decision, mr_pair_verdict *verdict)
{
    verdict->asked = true;
    mr_status status = mr_worker_ask(worker, problem, verdict, one, two, decision);
    verdict->steps = WORK_OF_CONE * decision->cone_events;
    if (decision->verdict == MR_VERDICT_UNKNOWN) {
        verdict->steps += worker->decide.saturate_steps / STEPS_OF_WORK;
        verdict->unknown[decision->reason] = 1;
    }
    return status;
}

/* The pair that stands for all of the static race. */
static mr_close_pair pair_of(const mr_decider *d, const mr_open_race *race)
{
    const mr_site_pair *sites =
        &d->candidates.site_pairs[mr_decider_group_of(d, race)->first_site_pair];
    uint32_t start = d->problem.window->start;
    uint32_t one = start + sites->one->events[0], two = start + sites->two->events[0];
    if (race->pairs.count)
        return race->pairs.items[0];
    return (mr_close_pair){one < two ? one : two, one < two ? two : one};
}

mr_unknown mr_decider_unknown(const mr_decider *d, const mr_open_race *race,
                              const mr_decision *decision)
{
    const mr_window *window = d->problem.window;
    const uint32_t *full = d->reduction.events;
    mr_close_pair pair = pair_of(d, race);
    mr_unknown unknown = {.first = full[pair.first],
                          .second = full[pair.second],
                          .window_start = full[window->start],
                          .window_end = full[window->end - 1] + 1,
                          .strength = MR_STRENGTH_BEYOND_WCP,
                          .reason = decision->reason};
    memcpy(unknown.detail, decision->detail, sizeof unknown.detail);
    return unknown;
}
