#include "states.h"

#include "ahead.h"
#include "base/assert.h"
#include "base/memory.h"
#include "predict/apart.h"
#include "predict/survey.h"

#include <stdlib.h>

/* In a longer window a state takes much, and the search would mostly give up. */
enum { MOST_EVENTS = 1 << 18 };

/* The most effort for an event: what takes more is rather for questions about the pairs of places that are left. */
enum { EFFORT_OF_EVENT = 8192 };

/* The same for the states of each two threads. */
enum { EFFORT_OF_TOGETHER = 1 << 15 };

/* A second survey looks for races among the pairs of events alone that the states of each two threads leave. It pays where these
 * are few: then most states have no prospect of one. */
enum {
    MOST_EVENTS_AGAIN = 1 << 15,
    FIRST_PAIRS = 16, /* there may be so many pairs, and one more for so many events: */
    EVENTS_OF_PAIR = 16,
    /* The effort for an event and an open pair of places, of so many pairs at most. A window of fewer events than that has as much as
     * it has events: small traces would spend most of their time here. */
    EFFORT_OF_PLACES = 8192,
    MOST_PLACES = 16
};

typedef struct plan {
    mr_far_asker *asker;
    const mr_map *pairs; /* of events that may race; NULL: all */
    bool *settled;       /* owned; one a group of the candidates */
} plan;

/* The pair of places of the window, for a change. NULL: it has none. */
static mr_place_pair *places_of(const mr_far_window *window, uint32_t location_1,
                                uint32_t location_2)
{
    const mr_place_pair *places = mr_far_window_find(window, location_1, location_2);
    return places ? &window->places.items[places - window->places.items] : NULL;
}

/* False: no memory. */
static bool make_plan(plan *p)
{
    mr_far_window *window = p->asker->window;
    const mr_candidates *candidates = &window->candidates;
    p->settled = mr_calloc((size_t)candidates->group_count + 1, sizeof *p->settled);
    for (uint32_t g = 0; g < candidates->group_count && p->settled; g++) {
        const mr_candidate_group *group = &candidates->groups[g];
        const mr_place_pair *places =
            mr_far_window_find(window, group->location_1, group->location_2);
        p->settled[g] = !places || places->no_race || mr_far_window_is_settled(window, places);
    }
    return p->settled;
}

/* ---- by a worker ---- */

/* Of a race: the verdict is about the accesses of its witness. */
static void name_races(mr_outcome *outcome)
{
    for (size_t i = 0; i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        verdict->asked = true;
        verdict->first = verdict->race.witness.first;
        verdict->second = verdict->race.witness.second;
    }
}

/* A proof for each pair of places that is not settled, and has no race. */
static mr_status add_proofs(const plan *p, const bool *settled, mr_outcome *outcome,
                            mr_error *error)
{
    const mr_far_window *window = p->asker->window;
    const mr_candidates *candidates = &window->candidates;
    for (uint32_t g = 0; g < candidates->group_count; g++) {
        const mr_candidate *first = &candidates->items[candidates->groups[g].first];
        const mr_candidate_group *group = &candidates->groups[g];
        if (settled[g])
            continue;
        uint32_t start = window->problem.window->start;
        mr_close_pair pair = {start + first->first, start + first->second};
        mr_pair_verdict *verdict = mr_far_answer_new(
            p->asker, mr_far_window_find(window, group->location_1, group->location_2), pair,
            outcome);
        if (!verdict)
            return mr_error_memory(error, "deciding far races");
        verdict->asked = true;
        verdict->settled[MR_STEP_EXPLORE] = 1;
    }
    return MR_OK;
}

static mr_status search(const plan *p, mr_far_worker *far, mr_outcome *outcome)
{
    const mr_far_window *window = p->asker->window;
    uint32_t count = window->candidates.group_count, open = 0;
    uint64_t size = window->problem.window->size;
    bool complete, *settled = mr_calloc((size_t)count + 1, sizeof *settled);
    if (!settled)
        return mr_error_memory(far->worker.error, "deciding far races");
    for (uint32_t g = 0; g < count; g++)
        open += !(settled[g] = p->settled[g]);
    uint64_t effort = mr_survey_effort(&p->asker->decide, open);
    if (p->pairs)
        effort = size * (size < EFFORT_OF_PLACES ? size : EFFORT_OF_PLACES) *
                 (open < MOST_PLACES ? open : MOST_PLACES);
    else if (effort > size * EFFORT_OF_EVENT)
        effort = size * EFFORT_OF_EVENT;
    mr_status status = mr_survey_search(&far->worker, &window->problem, &window->candidates,
                                        p->pairs, effort, settled, outcome, &complete);
    name_races(outcome);
    if (status == MR_OK && complete)
        status = add_proofs(p, settled, outcome, far->worker.error);
    free(settled);
    return status;
}

/* mr_phase.decide */
static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    const plan *p = context;
    mr_far_worker *far = NULL;
    mr_status status = mr_far_unit_begin(p->asker, number, unit, &far, outcome, error);
    if (status != MR_OK)
        return status;
    mr_far_clear_arena(far);
    if (!far->worker.halted)
        status = search(p, far, *outcome);
    if (status == MR_OK)
        mr_far_unit_is_halted(p->asker, far);
    return mr_far_unit_end(far, outcome, status);
}

/* ---- merging ---- */

/* mr_phase.merge */
static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const plan *p = context;
    mr_far_budget *budget = p->asker->budget;
    mr_status status = MR_OK;
    pthread_mutex_lock(&budget->lock);
    for (size_t i = 0; status == MR_OK && i < outcome->count; i++) {
        mr_pair_verdict *verdict = &outcome->verdicts[i];
        mr_place_pair *places = places_of(p->asker->window, verdict->key_1, verdict->key_2);
        bool proof = !verdict->has_race;
        /* A checkpoint that was changed may name places that the far window does not have. */
        if (!places || !mr_far_budget_covers(budget, places, 0))
            continue;
        status = mr_far_budget_count(budget, places, verdict, error);
        if (status == MR_OK && proof)
            status = mr_far_budget_conclude(budget, places, NULL, error);
    }
    pthread_mutex_unlock(&budget->lock);
    return status;
}

bool mr_far_survey_fits(const mr_predict_settings *settings, uint32_t events)
{
    return settings->decide.steps & MR_STEP_BIT(MR_STEP_EXPLORE) && !settings->is_crowded &&
           settings->model != MR_MODEL_BRANCH && events <= MOST_EVENTS &&
           settings->far_limits.weakest == MR_STRENGTH_BEYOND_WCP;
}

bool mr_far_survey_is_used(const mr_far_asker *asker)
{
    const mr_predict_settings *settings = asker->context->settings;
    MR_REQUIRE(asker->window->model == settings->model);
    return mr_far_survey_fits(settings, asker->window->problem.window->size);
}

static mr_status survey(plan p, mr_error *error)
{
    const mr_phase phase = {
        .context = &p, .stage = "far races", .count = 1, .decide = decide, .merge = merge};
    mr_status status = make_plan(&p) ? mr_dispatch_run(p.asker->context->dispatch, &phase, error)
                                     : mr_error_memory(error, "deciding far races");
    free(p.settled);
    return status;
}

mr_status mr_far_survey(mr_far_asker *asker, mr_error *error)
{
    return mr_far_survey_is_used(asker) ? survey((plan){.asker = asker}, error) : MR_OK;
}

/* ---- each two threads ---- */

/* The pairs of places that never meet, then what is left with more precedence. */
static mr_status use(mr_far_asker *asker, const mr_together *together, mr_far_met *met,
                     mr_error *error)
{
    mr_far_window *window = asker->window;
    mr_status status = MR_OK;
    uint32_t no_race;
    for (uint32_t i = 0; status == MR_OK && i < window->places.count; i++) {
        if (mr_halt_asked(asker->context->settings->halt) != MR_HALT_NONE)
            return MR_OK;
        mr_place_pair *places = &window->places.items[i];
        if (!places->no_race && !mr_far_window_is_settled(window, places) &&
            mr_apart_are(window->problem.window, &window->candidates, places->group, together))
            status = mr_far_budget_conclude(asker->budget, places, NULL, error);
    }
    if (status != MR_OK || !(asker->decide.steps & MR_STEP_BIT(MR_STEP_CONE)) ||
        !mr_far_window_list_unsettled(window))
        return status;
    if (!mr_together_raise(together, &window->problem.forced, &window->arena))
        return mr_error_memory(error, "deciding far races");
    *met = MR_FAR_MET_RAISED;
    status = mr_far_window_list_again(window, &no_race, error);
    asker->context->merge->result->stats.far_no_race += no_race;
    return status;
}

/* The pairs of events that may be together and race. False: they are too many, or there is no memory. */
static bool list_pairs(mr_far_asker *asker, const mr_together *together, mr_map *pairs)
{
    plan p = {.asker = asker};
    const mr_far_window *window = asker->window;
    bool listed = make_plan(&p) && mr_apart_pairs(window->problem.window, &window->candidates,
                                                  p.settled, together, pairs);
    free(p.settled);
    return listed;
}

/* Keeps the pairs of events that may be together, where a second survey may pay. */
static void keep_pairs(mr_far_asker *asker, const mr_together *together)
{
    const mr_window *w = asker->window->problem.window;
    if (mr_far_is_halted(asker) || w->size > MOST_EVENTS_AGAIN || !mr_together_has_few_parts(w) ||
        !mr_far_window_list_unsettled(asker->window))
        return;
    const uint32_t kept = list_pairs(asker, together, &asker->together) &&
                          asker->together.count <= FIRST_PAIRS + w->size / EVENTS_OF_PAIR;
    mr_dispatch_note(asker->context->dispatch, &kept, sizeof kept);
    asker->has_together = kept;
}

mr_status mr_far_survey_together(mr_far_asker *asker, mr_error *error)
{
    if (!asker->has_together)
        return MR_OK;
    mr_status status = survey((plan){.asker = asker, .pairs = &asker->together}, error);
    mr_far_forget_together(asker);
    return status;
}

void mr_far_forget_together(mr_far_asker *asker)
{
    mr_map_free(&asker->together);
    asker->together = (mr_map){0};
    asker->has_together = false;
}

mr_explored mr_far_search_together(const mr_problem *problem, const mr_decide_options *decide,
                                   uint64_t memory_bytes, uint64_t *spent, mr_arena *arena,
                                   mr_together **together)
{
    const bool cone = decide->steps & MR_STEP_BIT(MR_STEP_CONE);
    const mr_explore_limits limits = {.effort =
                                          (uint64_t)problem->window->size * EFFORT_OF_TOGETHER,
                                      .memory_bytes = memory_bytes};
    return mr_together_search(problem->window, &problem->hard,
                              cone ? &problem->forced : &problem->hard, &limits, spent,
                              decide->debug, arena, together);
}

/* What was searched ahead (ahead.h), or else is searched now. */
static mr_explored search_or_take(mr_far_asker *asker, uint64_t *spent, mr_arena *scratch,
                                  mr_together **together)
{
    const mr_problem *problem = &asker->window->problem;
    mr_far_ahead *ahead = asker->context->ahead;
    mr_explored result;
    if (ahead && mr_far_ahead_take(ahead, &result, spent, together)) {
        mr_together_move(*together, problem->window);
        return result;
    }
    if (mr_halt_asked(asker->context->settings->halt) != MR_HALT_NONE)
        return MR_EXPLORED_NO_MEMORY;
    return mr_far_search_together(problem, &asker->decide,
                                  mr_limits_memory_bytes(&asker->decide.limits), spent, scratch,
                                  together);
}

mr_status mr_far_meet(mr_far_asker *asker, mr_far_met *met, mr_error *error)
{
    mr_together *together;
    uint64_t spent = 0;
    mr_arena scratch;
    *met = MR_FAR_MET_LITTLE;
    if (!mr_far_survey_is_used(asker))
        return MR_OK;
    mr_arena_init(&scratch);
    scratch.halt = asker->window->arena.halt;
    mr_explored result = search_or_take(asker, &spent, &scratch, &together);
    const uint32_t told = result; /* it may have given up for want of memory */
    mr_dispatch_note(asker->context->dispatch, &told, sizeof told);
    mr_status status = result == MR_EXPLORED_NO_MEMORY
                           ? mr_error_memory(error, "deciding far races")
                       : result == MR_EXPLORED_ALL ? use(asker, together, met, error)
                                                   : MR_OK;
    if (result == MR_EXPLORED_OUT_OF_EFFORT && spent)
        *met = MR_FAR_MET_GAVE_UP;
    if (status == MR_OK && result == MR_EXPLORED_ALL)
        keep_pairs(asker, together);
    mr_arena_free(&scratch);
    return status;
}
