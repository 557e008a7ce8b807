/* Questions to the far window: a unit is one static race. */
#include "far_decider.h"

/* One of `todo` on its way. */
typedef struct inquiry {
    mr_decider *d;
    mr_worker *worker;
    const mr_open_race *race;
    mr_outcome *outcome;
    uint64_t work, unanswered; /* by now */
    bool over;                 /* a race was found, there is no budget, or the run is halted */
} inquiry;

static mr_open_race *race_of(const mr_decider *d, const mr_outcome *outcome)
{
    return &d->open[d->todo[outcome->unit]];
}

/* The worker's arena for the questions alone: what it held is gone. */
static mr_worker *worker_of(mr_far_worker *far)
{
    far->built = 0;
    mr_arena_reset(&far->worker.arena);
    mr_worker_asks(&far->worker, true);
    return &far->worker;
}

/* ---- without formulas ---- */

static mr_status try_unit(void *context, mr_far_worker *far, mr_outcome *outcome)
{
    mr_decider *d = context;
    mr_worker *worker = worker_of(far);
    const mr_open_race *race = race_of(d, outcome);
    uint32_t start = d->problem.window->start;
    uint64_t work = 0;
    mr_status status = MR_OK;
    for (uint32_t k = 0; status == MR_OK && k < race->pairs.count && k < MR_FAR_PLACES; k++) {
        mr_close_pair pair = race->pairs.items[k];
        worker->halted |= mr_decider_is_halted(d);
        if (worker->halted || !mr_decider_is_due_now(d, race, work))
            break;
        mr_pair_verdict *verdict = mr_decider_answer(d, race, pair, outcome);
        if (!verdict)
            return mr_error_memory(worker->error, "deciding far races");
        status = mr_decider_try_reorder(
            worker, &d->problem, (mr_close_pair){pair.first - start, pair.second - start}, verdict);
        work += verdict->steps;
        if (verdict->has_race)
            break;
    }
    return status;
}

static mr_status merge_tries(void *context, mr_outcome *outcome, mr_error *error)
{
    mr_decider *d = context;
    mr_open_race *race = race_of(d, outcome);
    mr_status status = MR_OK;
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++)
        if (mr_decider_is_due(d, race, 0))
            status = mr_decider_count(d, race, &outcome->verdicts[i], error);
    return status;
}

mr_status mr_decider_try_whole(mr_decider *d)
{
    const mr_far_units units = {
        .context = d, .count = mr_decider_count_open(d), .decide = try_unit, .merge = merge_tries};
    return mr_decider_run(d, &units);
}

/* ---- the last word ---- */

/* Asks, or says in the outcome that there was no budget for it. */
static mr_status ask(inquiry *q, mr_stops one, mr_stops two, mr_decision *decision)
{
    const mr_decider *d = q->d;
    uint32_t start = d->problem.window->start;
    uint32_t x = start + one.events[0], y = start + two.events[0];
    mr_pair_verdict *verdict =
        mr_decider_answer(d, q->race, (mr_close_pair){x < y ? x : y, x < y ? y : x}, q->outcome);
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    if (!verdict)
        return mr_error_memory(q->worker->error, "deciding far races");
    q->over = !mr_decider_may_ask_now(q->d, q->race, q->work, q->unanswered);
    if (q->over) {
        verdict->has_unknown = true;
        verdict->open = mr_decider_unknown(d, q->race, decision);
        return MR_OK;
    }
    mr_arena_reset(&q->worker->arena);
    mr_status status = mr_decider_ask(q->worker, &d->problem, one, two, decision, verdict);
    q->work += verdict->steps;
    q->unanswered += verdict->unanswered;
    q->over = verdict->has_race || q->worker->halted;
    bool last = decision->reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2;
    if (decision->verdict == MR_VERDICT_UNKNOWN && last) {
        verdict->has_unknown = true;
        verdict->open = mr_decider_unknown(d, q->race, decision);
    }
    return status;
}

/* Decides all accesses of two sites; where that has no verdict, halves of the longer list, as
 * group.c does. */
static mr_status decide_sites(inquiry *q, mr_stops one, mr_stops two)
{
    mr_decision decision;
    mr_status status = ask(q, one, two, &decision);
    if (status != MR_OK || q->over || decision.verdict != MR_VERDICT_UNKNOWN ||
        decision.reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2)
        return status;
    mr_stops *longer = one.count >= two.count ? &one : &two;
    uint32_t half = longer->count / 2, length = longer->count;
    longer->count = half;
    status = decide_sites(q, one, two);
    if (status != MR_OK || q->over)
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(q, one, two);
}

static mr_status decide_unit(void *context, mr_far_worker *far, mr_outcome *outcome)
{
    mr_decider *d = context;
    inquiry q = {.d = d, .worker = worker_of(far), .race = race_of(d, outcome), .outcome = outcome};
    const mr_candidate_group *group = mr_decider_group_of(d, q.race);
    const mr_site_pair *pairs = &d->candidates.site_pairs[group->first_site_pair];
    mr_status status = MR_OK;
    for (uint32_t i = 0; status == MR_OK && !q.over && i < group->site_pair_count; i++)
        status = decide_sites(&q, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                              (mr_stops){pairs[i].two->events, pairs[i].two->count});
    return status;
}

/* Goes through the answers as if they had been asked for one after the other now. */
static mr_status merge_answers(void *context, mr_outcome *outcome, mr_error *error)
{
    mr_decider *d = context;
    mr_open_race *race = race_of(d, outcome);
    mr_unknown open = {0};
    bool is_open = false;
    mr_status status = MR_OK;
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        bool may = mr_decider_may_ask(d, race, 0, 0);
        if (!is_open && (!may || verdict->has_unknown)) {
            const mr_decision budget = {.reason =
                                            race->refused ? MR_UNKNOWN_MEMORY : MR_UNKNOWN_BUDGET};
            open = may ? verdict->open : mr_decider_unknown(d, race, &budget);
            is_open = true;
        }
        if (!may)
            break;
        verdict->has_unknown = false; /* one is noted at the end */
        status = mr_decider_count(d, race, verdict, error);
    }
    if (status != MR_OK || mr_decider_is_settled(d, race) ||
        d->model != d->context->settings->model)
        return status;
    return mr_decider_conclude(d, race, is_open ? &open : NULL, error);
}

mr_status mr_decider_decide_whole(mr_decider *d)
{
    const mr_far_units units = {.context = d,
                                .count = mr_decider_count_open(d),
                                .decide = decide_unit,
                                .merge = merge_answers};
    for (uint32_t i = 0; i < d->open_count; i++)
        d->open[i].unanswered = 0;
    return mr_decider_run(d, &units);
}
