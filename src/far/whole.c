#include "whole.h"

#include "base/assert.h"

/* Close pairs of a pair of places that are tried in the far window. */
enum { PAIRS_TRIED = 4 };

/* A pair of places that a worker is asking about. */
typedef struct inquiry {
    mr_far_asker *asker;
    mr_far_worker *far;
    const mr_place_pair *places;
    mr_outcome *outcome;
    bool soon;                   /* the questions are short ones, and the budget is halved */
    uint64_t effort, unanswered; /* of the questions of this unit so far */
    bool over;                   /* a race was found, the budget is spent, or the run is halted */
} inquiry;

static mr_place_pair *places_of(const mr_far_asker *asker, uint64_t unit)
{
    const mr_far_window *window = asker->window;
    MR_ASSERT(unit < window->unsettled_count);
    return &window->places.items[window->unsettled[unit]];
}

/* ---- without formulas ---- */

static mr_status try_pairs(mr_far_asker *asker, mr_far_worker *far, const mr_place_pair *places,
                           mr_outcome *outcome)
{
    const mr_problem *problem = &asker->window->problem;
    uint32_t start = problem->window->start;
    uint64_t effort = 0;
    mr_status status = MR_OK;
    for (uint32_t k = 0; status == MR_OK && k < places->close.count && k < PAIRS_TRIED; k++) {
        mr_close_pair pair = places->close.items[k];
        if (mr_far_unit_is_halted(asker, far) ||
            !mr_far_budget_covers_now(asker->budget, places, effort))
            break;
        mr_pair_verdict *verdict = mr_far_answer_new(asker, places, pair, outcome);
        if (!verdict)
            return mr_error_memory(far->worker.error, "deciding far races");
        status =
            mr_far_try_reorder(&far->worker, problem, &asker->window->foreign,
                               (mr_close_pair){pair.first - start, pair.second - start}, verdict);
        effort += verdict->steps;
        if (verdict->has_race)
            break;
    }
    return status;
}

/* mr_phase.decide */
static mr_status decide_tries(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                              mr_error *error)
{
    mr_far_asker *asker = context;
    mr_far_worker *far = NULL;
    mr_status status = mr_far_unit_begin(asker, number, unit, &far, outcome, error);
    if (status != MR_OK)
        return status;
    mr_far_clear_arena(far);
    status = try_pairs(asker, far, places_of(asker, unit), *outcome);
    return mr_far_unit_end(far, outcome, status);
}

/* mr_phase.merge */
static mr_status merge_tries(void *context, mr_outcome *outcome, mr_error *error)
{
    mr_far_asker *asker = context;
    mr_place_pair *places = places_of(asker, outcome->unit);
    mr_status status = MR_OK;
    pthread_mutex_lock(&asker->budget->lock);
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++)
        if (mr_far_budget_covers(asker->budget, places, 0))
            status = mr_far_budget_count(asker->budget, places, &outcome->verdicts[i], error);
    pthread_mutex_unlock(&asker->budget->lock);
    return status;
}

mr_status mr_far_try_whole(mr_far_asker *asker, mr_error *error)
{
    const mr_phase phase = {.context = asker,
                            .stage = "far races",
                            .count = mr_far_window_list_unsettled(asker->window),
                            .decide = decide_tries,
                            .merge = merge_tries};
    if (!phase.count)
        return MR_OK;
    return mr_foreign_reads_list(&asker->window->foreign, asker->window->problem.window,
                                 &asker->window->arena)
               ? mr_dispatch_run(asker->context->dispatch, &phase, error)
               : mr_error_memory(error, "deciding far races");
}

/* ---- questions about all accesses ---- */

static void note_unknown(const inquiry *q, const mr_decision *decision, mr_pair_verdict *verdict)
{
    verdict->has_unknown = true;
    verdict->open = mr_far_window_unknown(q->asker->window, q->places, decision);
}

/* Asks one question, or notes in the outcome that the budget does not cover it. */
static mr_status ask(inquiry *q, mr_stops one, mr_stops two, mr_decision *decision)
{
    const mr_problem *problem = &q->asker->window->problem;
    uint32_t start = problem->window->start;
    uint32_t x = start + one.events[0], y = start + two.events[0];
    mr_close_pair pair = {x < y ? x : y, x < y ? y : x};
    mr_pair_verdict *verdict = mr_far_answer_new(q->asker, q->places, pair, q->outcome);
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    if (!verdict)
        return mr_error_memory(q->far->worker.error, "deciding far races");
    q->over =
        q->soon ? !mr_far_budget_may_try_now(q->asker->budget, q->places, q->effort)
                : !mr_far_budget_may_ask_now(q->asker->budget, q->places, q->effort, q->unanswered);
    if (q->over) {
        note_unknown(q, decision, verdict);
        return MR_OK;
    }
    mr_arena_reset(&q->far->worker.arena);
    mr_status status = mr_far_ask(&q->far->worker, problem, one, two, decision, verdict);
    bool is_unknown = decision->verdict == MR_VERDICT_UNKNOWN;
    q->effort += verdict->steps;
    q->unanswered += verdict->unanswered;
    q->over = verdict->has_race || q->far->worker.halted;
    bool last = q->soon || decision->reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2;
    if (is_unknown && last)
        note_unknown(q, decision, verdict);
    return status;
}

/* Decides all accesses of two places at once. When the verdict is unknown, decides halves of the
 * longer list. */
static mr_status decide_sites(inquiry *q, mr_stops one, mr_stops two)
{
    mr_decision decision;
    mr_status status = ask(q, one, two, &decision);
    if (status != MR_OK || q->over || decision.verdict != MR_VERDICT_UNKNOWN ||
        decision.reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2 || q->soon)
        return status;
    mr_stops *longer = one.count >= two.count ? &one : &two;
    uint32_t half = longer->count / 2, length = longer->count;
    MR_ASSERT(half > 0 && half < length); /* both halves are smaller, so the recursion ends */
    longer->count = half;
    status = decide_sites(q, one, two);
    if (status != MR_OK || q->over)
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(q, one, two);
}

static mr_status decide_places(inquiry *q)
{
    const mr_candidate_group *group = q->places->group;
    const mr_site_pair *pairs = &q->asker->window->candidates.site_pairs[group->first_site_pair];
    const bool *proven = &q->asker->window->proven[group->first_site_pair];
    mr_status status = MR_OK;
    for (uint32_t i = 0; status == MR_OK && !q->over && i < group->site_pair_count; i++)
        if (!proven[i])
            status = decide_sites(q, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                                  (mr_stops){pairs[i].two->events, pairs[i].two->count});
    return status;
}

/* A short question: its steps, and the part of the budget of saturation that it has. */
#define SOON_STEPS                                                                                 \
    (MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_LINEARISE) |    \
     MR_STEP_BIT(MR_STEP_ELIMINATE) | MR_STEP_BIT(MR_STEP_GREEDY) | MR_STEP_BIT(MR_STEP_SATURATE))
enum { SOON_PART = 4 };

static mr_decide_options short_options(const mr_decide_options *all)
{
    mr_decide_options options = *all;
    options.steps &= SOON_STEPS;
    options.first_attempt = true;
    if (!(options.steps & MR_STEP_BIT(MR_STEP_SATURATE)))
        options.saturate_steps = 0;
    options.saturate_steps = (options.saturate_steps + SOON_PART - 1) / SOON_PART;
    return options;
}

static mr_status decide_unit(mr_far_asker *asker, unsigned number, uint64_t unit, bool soon,
                             mr_outcome **outcome, mr_error *error)
{
    inquiry q = {.asker = asker, .soon = soon};
    mr_status status = mr_far_unit_begin(asker, number, unit, &q.far, outcome, error);
    if (status != MR_OK)
        return status;
    const mr_decide_options all = q.far->worker.decide;
    q.places = places_of(asker, unit);
    q.outcome = *outcome;
    mr_far_clear_arena(q.far);
    if (soon)
        q.far->worker.decide = short_options(&all);
    if (!q.far->worker.halted)
        status = decide_places(&q);
    q.far->worker.decide = all;
    return mr_far_unit_end(q.far, outcome, status);
}

/* mr_phase.decide */
static mr_status decide_soon(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                             mr_error *error)
{
    return decide_unit(context, number, unit, true, outcome, error);
}

/* mr_phase.decide */
static mr_status decide_answers(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                                mr_error *error)
{
    return decide_unit(context, number, unit, false, outcome, error);
}

/* Counts the answers one after the other, until the budget does not cover the next question or a
 * race settles the pair of places. `*is_unknown`: some question has no verdict; `unknown` is the
 * first such. */
static mr_status count_answers(mr_far_asker *asker, mr_place_pair *places, bool soon,
                               mr_outcome *outcome, bool *is_unknown, mr_unknown *unknown,
                               mr_error *error)
{
    mr_status status = MR_OK;
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        bool may = soon ? mr_far_budget_may_try(asker->budget, places, 0)
                        : mr_far_budget_may_ask(asker->budget, places, 0, 0);
        if (!*is_unknown && (!may || verdict->has_unknown)) {
            const mr_decision spent = {.reason =
                                           places->refused ? MR_UNKNOWN_MEMORY : MR_UNKNOWN_BUDGET};
            *unknown = may ? verdict->open : mr_far_window_unknown(asker->window, places, &spent);
            *is_unknown = true;
        }
        if (!may)
            break;
        verdict->has_unknown = false; /* the pair of places has one unknown, noted at the end */
        status = mr_far_budget_count(asker->budget, places, verdict, error);
    }
    return status;
}

static mr_status merge_unit(mr_far_asker *asker, bool soon, mr_outcome *outcome, mr_error *error)
{
    mr_place_pair *places = places_of(asker, outcome->unit);
    mr_unknown unknown = {0};
    bool is_unknown = false;
    pthread_mutex_lock(&asker->budget->lock);
    mr_status status = count_answers(asker, places, soon, outcome, &is_unknown, &unknown, error);
    if (status == MR_OK && !mr_far_window_is_settled(asker->window, places) &&
        asker->window->model == asker->context->settings->model && !(soon && is_unknown))
        status = mr_far_budget_conclude(asker->budget, places, is_unknown ? &unknown : NULL, error);
    pthread_mutex_unlock(&asker->budget->lock);
    return status;
}

/* mr_phase.merge */
static mr_status merge_soon(void *context, mr_outcome *outcome, mr_error *error)
{
    return merge_unit(context, true, outcome, error);
}

/* mr_phase.merge */
static mr_status merge_answers(void *context, mr_outcome *outcome, mr_error *error)
{
    return merge_unit(context, false, outcome, error);
}

/* No question has gone without an answer. */
static void forget_unanswered(mr_far_window *window)
{
    for (uint32_t i = 0; i < window->places.count; i++)
        window->places.items[i].unanswered = 0;
}

mr_status mr_far_decide_soon(mr_far_asker *asker, mr_error *error)
{
    const mr_phase phase = {.context = asker,
                            .stage = "far races",
                            .count = mr_far_window_list_unsettled(asker->window),
                            .decide = decide_soon,
                            .merge = merge_soon};
    forget_unanswered(asker->window);
    mr_status status =
        phase.count ? mr_dispatch_run(asker->context->dispatch, &phase, error) : MR_OK;
    forget_unanswered(asker->window);
    return status;
}

mr_status mr_far_decide_whole(mr_far_asker *asker, mr_error *error)
{
    const mr_phase phase = {.context = asker,
                            .stage = "far races",
                            .count = mr_far_window_list_unsettled(asker->window),
                            .decide = decide_answers,
                            .merge = merge_answers};
    forget_unanswered(asker->window);
    return phase.count ? mr_dispatch_run(asker->context->dispatch, &phase, error) : MR_OK;
}
