#include "ask.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>

/* Effort: for each event of a cone, for steps of saturation that gave no verdict, and for
 * reordering, whose passes over a window look only at the events that are needed. */
enum { EFFORT_OF_CONE_EVENT = 8, STEPS_OF_EFFORT = 4, EVENTS_REORDERED_BY_EFFORT = 16 };

/* ---- how much is asked ---- */

/* Where the states of a far window are too many, long questions settle little more than short ones do, and Z3 settles nothing. Then a
 * question has a part of its budget, which is the events of the window by so many, and all questions together one by so many; a small window
 * counts as one of at least so many. */
enum { EVENTS_OF_STEPS = 1 << 20, EVENTS_OF_ALL = 1 << 18, LEAST_EVENTS = 1 << 16 };

void mr_far_use_settings(mr_far_asker *asker)
{
    const mr_predict_settings *settings = asker->context->settings;
    asker->decide = settings->decide;
    /* A race in trace order is sync-preserving, and known by now. In model branch that is not so:
     * reads that nothing binds need not see what they saw. */
    if (settings->model != MR_MODEL_BRANCH)
        asker->decide.steps &= ~MR_STEP_BIT(MR_STEP_LINEARISE);
}

static uint64_t part_of(uint64_t budget, double part)
{
    return (uint64_t)((double)budget * part) + 1;
}

void mr_far_bound_questions(mr_far_asker *asker)
{
    const mr_predict_settings *settings = asker->context->settings;
    mr_decide_options *decide = &asker->decide;
    double events = asker->window->problem.window->size;
    if (events < LEAST_EVENTS)
        events = LEAST_EVENTS;
    mr_far_budget_bound(asker->budget, part_of(settings->far_limits.all, events / EVENTS_OF_ALL));
    if (!decide->saturate_steps || !(decide->steps & MR_STEP_BIT(MR_STEP_SATURATE)))
        return;
    decide->saturate_steps = part_of(settings->decide.saturate_steps, events / EVENTS_OF_STEPS);
    decide->explore_most = decide->saturate_steps;
    decide->steps &= ~(MR_STEP_BIT(MR_STEP_LAZY) | MR_STEP_BIT(MR_STEP_Z3));
}

/* ---- the workers ---- */

mr_status mr_far_asker_init(mr_far_asker *asker, const mr_far_context *context,
                            mr_far_window *window, mr_far_budget *budget, mr_error *error)
{
    MR_REQUIRE(context->dispatch->jobs > 0);
    *asker = (mr_far_asker){.context = context, .window = window, .budget = budget};
    mr_far_use_settings(asker);
    asker->workers = mr_calloc(context->dispatch->jobs, sizeof(mr_far_worker *));
    return asker->workers ? MR_OK : mr_error_memory(error, "deciding far races");
}

void mr_far_asker_free(mr_far_asker *asker)
{
    mr_map_free(&asker->together);
    for (unsigned i = 0; asker->workers && i < asker->context->dispatch->jobs; i++) {
        if (!asker->workers[i])
            continue;
        mr_worker_leave(&asker->workers[i]->worker);
        mr_carried_free(&asker->workers[i]->worker.carried);
        free(asker->workers[i]);
    }
    free(asker->workers);
}

/* mr_worker.expand */
static mr_status expand(const void *context, mr_witness *witness, mr_error *error)
{
    return mr_reduction_expand(context, witness, error);
}

static mr_status start_worker(const mr_far_asker *asker, unsigned number, mr_far_worker *made,
                              mr_error *error)
{
    const mr_far_context *context = asker->context;
    const mr_reduction *reduction = &asker->window->reduction;
    mr_worker *full = NULL;
    mr_status status = context->worker_of(context->context, number, &full, error);
    if (status == MR_OK && !mr_worker_checker(full))
        status = mr_error_memory(error, "deciding far races");
    if (status != MR_OK)
        return status;
    made->worker = (mr_worker){.settings = context->settings,
                               .trace = &reduction->trace,
                               .session = full->session,
                               .checker = full->checker,
                               .decide = asker->decide,
                               .expand = expand,
                               .expand_context = reduction,
                               .opaque = &reduction->opaque};
    mr_arena_init(&made->worker.arena);
    made->worker.arena.halt = context->settings->halt;
    status = mr_carried_init(&made->worker.carried, made->worker.trace, error);
    made->worker.carried.barrier_edges = &reduction->opaque;
    return status;
}

static mr_status worker_of(mr_far_asker *asker, unsigned number, mr_far_worker **worker,
                           mr_error *error)
{
    mr_status status = MR_OK;
    MR_REQUIRE(number < asker->context->dispatch->jobs);
    if (!asker->workers[number]) {
        asker->workers[number] = mr_calloc(1, sizeof **worker);
        if (!asker->workers[number])
            return mr_error_memory(error, "deciding far races");
        status = start_worker(asker, number, asker->workers[number], error);
    }
    *worker = asker->workers[number];
    return status;
}

/* ---- units ---- */

bool mr_far_is_halted(const mr_far_asker *asker)
{
    return mr_halt_asked(asker->context->settings->halt) != MR_HALT_NONE;
}

mr_status mr_far_unit_begin(mr_far_asker *asker, unsigned number, uint64_t unit,
                            mr_far_worker **worker, mr_outcome **outcome, mr_error *error)
{
    mr_status status = worker_of(asker, number, worker, error);
    if (status != MR_OK)
        return status;
    *outcome = mr_outcome_new(unit);
    if (!*outcome)
        return mr_error_memory(error, "deciding far races");
    (*worker)->worker.decide = asker->decide;
    (*worker)->worker.error = error;
    (*worker)->worker.halted = mr_far_is_halted(asker);
    mr_worker_begin(&(*worker)->worker, MR_ROOM_FAR);
    return MR_OK;
}

mr_status mr_far_unit_end(mr_far_worker *worker, mr_outcome **outcome, mr_status status)
{
    status = mr_worker_ended(&worker->worker, status);
    mr_worker_end(&worker->worker);
    if (status == MR_OK && worker->worker.halted) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

bool mr_far_unit_is_halted(const mr_far_asker *asker, mr_far_worker *worker)
{
    worker->worker.halted |= mr_far_is_halted(asker);
    return worker->worker.halted;
}

void mr_far_clear_arena(mr_far_worker *worker)
{
    worker->built = 0;
    mr_arena_reset(&worker->worker.arena);
    mr_worker_asks(&worker->worker, true);
}

/* ---- questions ---- */

uint64_t mr_far_effort(const mr_worker *worker, const mr_decision *decision)
{
    uint64_t effort = EFFORT_OF_CONE_EVENT * decision->cone_events;
    if (decision->verdict == MR_VERDICT_UNKNOWN)
        effort += worker->decide.saturate_steps / STEPS_OF_EFFORT;
    return effort;
}

mr_pair_verdict *mr_far_answer_new(const mr_far_asker *asker, const mr_place_pair *places,
                                   mr_close_pair pair, mr_outcome *outcome)
{
    const mr_reduction *reduction = &asker->window->reduction;
    MR_REQUIRE(pair.first < pair.second && pair.second < reduction->trace.event_count);
    mr_pair_verdict *verdict = mr_outcome_add(outcome);
    if (!verdict)
        return NULL;
    verdict->key_1 = places->group->location_1;
    verdict->key_2 = places->group->location_2;
    verdict->first = reduction->events[pair.first];
    verdict->second = reduction->events[pair.second];
    return verdict;
}

mr_status mr_far_try_reorder(mr_worker *worker, const mr_problem *problem,
                             const mr_foreign_reads *foreign, mr_close_pair pair,
                             mr_pair_verdict *verdict)
{
    verdict->steps = problem->window->size / EVENTS_REORDERED_BY_EFFORT;
    return mr_worker_try_reorder(worker, problem, foreign, MR_STRENGTH_BEYOND_WCP, pair.first,
                                 pair.second, verdict);
}

mr_status mr_far_ask(mr_worker *worker, const mr_problem *problem, mr_stops one, mr_stops two,
                     mr_decision *decision, mr_pair_verdict *verdict)
{
    MR_REQUIRE(one.count && two.count);
    MR_REQUIRE(one.events[one.count - 1] < problem->window->size &&
               two.events[two.count - 1] < problem->window->size);
    verdict->asked = true;
    mr_status status = mr_worker_ask(worker, problem, verdict, one, two, decision);
    MR_ASSERT(status != MR_OK || decision->cone_events <= problem->window->size);
    verdict->steps = mr_far_effort(worker, decision);
    if (decision->verdict == MR_VERDICT_UNKNOWN)
        verdict->unknown[decision->reason] = 1;
    return status;
}
