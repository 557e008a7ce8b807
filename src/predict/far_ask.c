/* Questions about far races, and the work that they take. */
#include "far_decider.h"

#include "solver/reorder.h"

/* Of an event of a cone, of steps of saturation that were in vain, and of reordering: its passes
 * over a window look at what is needed only. */
enum { WORK_OF_CONE = 8, STEPS_OF_WORK = 4, EVENTS_REORDERED_BY_WORK = 16 };

const mr_candidate_group *mr_decider_group_of(const mr_decider *d, const mr_open_race *race)
{
    return &d->candidates.groups[race->group];
}

mr_record mr_decider_record_of(const mr_decider *d, const mr_open_race *race)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    return (mr_record){.key_1 = group->location_1, .key_2 = group->location_2};
}

mr_status mr_decider_merge(mr_decider *d, mr_record *record)
{
    mr_stats *stats = &d->phase->merge->result->stats;
    if (record->has_race) {
        stats->settled[MR_STEP_FAR]++;
        stats->races[MR_STEP_FAR]++;
    }
    return mr_merge_record(d->phase->merge, record, MR_FAR_WINDOW, d->phase->error);
}

bool mr_decider_is_settled(const mr_decider *d, const mr_open_race *race)
{
    const mr_candidate_group *group = mr_decider_group_of(d, race);
    const mr_ledger_entry *entry =
        mr_ledger_find(&d->phase->merge->ledger, group->location_1, group->location_2);
    return entry && entry->race;
}

/* ---- budgets ---- */

bool mr_decider_can_pay(const mr_decider *d, const mr_open_race *race, uint64_t work)
{
    const mr_far_limits *limits = d->limits;
    return (!limits->per_race || race->spent + work <= limits->per_race) &&
           (!limits->all || d->spent + work <= limits->all);
}

void mr_decider_pay(mr_decider *d, mr_open_race *race, uint64_t work)
{
    race->spent += work;
    d->spent += work;
}

/* Is there a witness in trace order, but for sections that are held back? */
mr_status mr_decider_try_reorder(mr_decider *d, mr_open_race *race, const mr_problem *problem,
                                 mr_close_pair pair)
{
    mr_worker *far = &d->far;
    mr_decision decision = {.first = pair.first, .second = pair.second};
    mr_record record = mr_decider_record_of(d, race);
    if (!mr_decider_can_pay(d, race, 0))
        return MR_OK;
    mr_decider_pay(d, race, problem->window->size / EVENTS_REORDERED_BY_WORK);
    mr_arena_mark mark = mr_arena_get_mark(&far->arena);
    mr_reordered found = mr_reorder(&problem->forced, pair.first, pair.second, &decision.events,
                                    &decision.event_count, &far->arena);
    if (found == MR_REORDER_NO_MEMORY)
        return mr_error_memory(far->error, "deciding far races");
    mr_status status = MR_OK;
    if (found == MR_REORDERED)
        status =
            mr_worker_confirm(far, problem->window, MR_STRENGTH_BEYOND_WCP, &decision, &record);
    if (status == MR_OK)
        status = mr_decider_merge(d, &record);
    mr_arena_release(&far->arena, mark);
    return status;
}

/* Asks about the accesses of two lists, if there is budget for it. */
mr_status mr_decider_ask(mr_decider *d, mr_open_race *race, const mr_problem *problem, mr_stops one,
                         mr_stops two, mr_decision *decision)
{
    mr_worker *far = &d->far;
    uint64_t most = far->settings->max_unanswered;
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    if (!mr_decider_can_pay(d, race, 0) || (most && race->unanswered >= most))
        return MR_OK;
    mr_record record = mr_decider_record_of(d, race);
    mr_status status = mr_worker_ask(far, problem, &record, one, two, decision);
    mr_decider_pay(d, race, WORK_OF_CONE * decision->cone_events);
    if (decision->verdict == MR_VERDICT_UNKNOWN) {
        race->unanswered++;
        mr_decider_pay(d, race, far->decide.saturate_steps / STEPS_OF_WORK);
    }
    return status == MR_OK ? mr_decider_merge(d, &record) : status;
}

/* Builds a window of the reduced trace. */
mr_status mr_decider_build(mr_decider *d, uint32_t start, uint32_t end, mr_arena *arena,
                           mr_window **window)
{
    mr_worker *far = &d->far;
    mr_stats *stats = &d->phase->merge->result->stats;
    mr_arena_reset(arena);
    mr_carried_move(&far->carried, start);
    stats->far_windows++;
    stats->far_events += end - start;
    return mr_window_build(&far->carried, end, d->model, arena, window, far->error);
}

mr_status mr_decider_pose(mr_decider *d, const mr_window *window, mr_arena *arena,
                          mr_problem *problem)
{
    return mr_problem_init(problem, window, arena)
               ? MR_OK
               : mr_error_memory(d->far.error, "building a far window");
}
