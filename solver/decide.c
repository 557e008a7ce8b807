#include "decide.h"

#include "base/seconds.h"
#include "cone.h"
#include "encoder/encoding.h"
#include "linearise.h"
#include "saturate.h"
#include "schedule.h"

#include <stdio.h>

/* One candidate on its way through the steps. */
typedef struct candidate_task {
    const mr_problem *problem;
    mr_session *session;
    const mr_decide_options *options;
    mr_stops stops[2];
    mr_arena *arena;
    mr_decision *decision;
} candidate_task;

/* What a step makes of a task. */
typedef enum outcome {
    SETTLED,
    PASSED_ON,
    NO_MEMORY,
} outcome;

bool mr_problem_init(mr_problem *problem, const mr_window *window, mr_arena *arena)
{
    problem->window = window;
    if (!mr_precedence_build(&problem->hard, window, MR_PRECEDENCE_HARD, NULL, arena) ||
        !mr_precedence_build(&problem->source, window, MR_PRECEDENCE_SOURCE, NULL, arena))
        return false;
    return mr_precedence_build(&problem->forced, window, MR_PRECEDENCE_FORCED, &problem->hard,
                               arena);
}

static outcome settle(candidate_task *task, mr_verdict verdict, mr_step step)
{
    task->decision->verdict = verdict;
    task->decision->step = step;
    return SETTLED;
}

static outcome give_up(candidate_task *task, mr_unknown_reason reason)
{
    task->decision->verdict = MR_VERDICT_UNKNOWN;
    task->decision->step = MR_STEP_SOLVER;
    task->decision->reason = reason;
    return SETTLED;
}

static void set_accesses(candidate_task *task, uint32_t a, uint32_t b)
{
    task->decision->first = a < b ? a : b;
    task->decision->second = a < b ? b : a;
}

static outcome try_linearise(candidate_task *task)
{
    const mr_window *w = task->problem->window;
    if (task->options->skip_linearise)
        return PASSED_ON;
    uint32_t *prefix = mr_arena_alloc(task->arena, w->thread_count, sizeof *prefix);
    if (!prefix)
        return NO_MEMORY;
    uint32_t a = task->stops[0].events[0], b = task->stops[1].events[0];
    if (mr_linearise(&task->problem->source, a, b, prefix) != MR_LINEARISED)
        return PASSED_ON;
    set_accesses(task, a, b);
    task->decision->events =
        mr_schedule_in_trace_order(w, prefix, &task->decision->event_count, task->arena);
    return task->decision->events ? settle(task, MR_VERDICT_RACE, MR_STEP_LINEARISE) : NO_MEMORY;
}

static mr_unknown_reason reason_of(mr_interrupted why)
{
    switch (why) {
    case MR_INTERRUPTED_TIME:
        return MR_UNKNOWN_TIME;
    case MR_INTERRUPTED_MEMORY:
        return MR_UNKNOWN_MEMORY;
    case MR_INTERRUPTED_BY_SOLVER:
        break;
    }
    return MR_UNKNOWN_SOLVER;
}

/* The formula has a solution. */
static outcome settle_race(candidate_task *task, const mr_encoding *encoding, const int64_t *order,
                           mr_step step)
{
    mr_decision *decision = task->decision;
    set_accesses(task, mr_schedule_stop(encoding, &encoding->stops[0], order),
                 mr_schedule_stop(encoding, &encoding->stops[1], order));
    decision->events =
        mr_schedule_of_solution(encoding, order, &decision->event_count, task->arena);
    return decision->events ? settle(task, MR_VERDICT_RACE, step) : NO_MEMORY;
}

static outcome try_saturate(candidate_task *task, const mr_encoding *encoding, int64_t *order)
{
    uint64_t cells = (uint64_t)encoding->formula.node_count *
                     (task->problem->window->thread_count + 1); /* of the closure */
    uint64_t memory_bytes = task->options->limits.memory_bytes;
    if (!task->options->saturate_steps || (memory_bytes && cells * sizeof(uint32_t) > memory_bytes))
        return PASSED_ON;
    switch (mr_saturate(encoding, task->options->saturate_steps, order, task->arena)) {
    case MR_SATURATED_SAT:
        return settle_race(task, encoding, order, MR_STEP_SATURATE);
    case MR_SATURATED_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_SATURATE);
    case MR_SATURATED_OUT_OF_STEPS:
        return PASSED_ON;
    case MR_SATURATED_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static outcome try_z3(candidate_task *task, const mr_encoding *encoding, int64_t *order)
{
    mr_decision *decision = task->decision;
    mr_interrupted why;
    switch (mr_session_solve(task->session, &encoding->formula, &task->options->limits, order, &why,
                             decision->detail, sizeof decision->detail)) {
    case MR_ANSWER_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_SOLVER);
    case MR_ANSWER_SAT:
        return settle_race(task, encoding, order, MR_STEP_SOLVER);
    case MR_ANSWER_UNKNOWN:
        break;
    }
    return give_up(task, reason_of(why));
}

static outcome try_formula(candidate_task *task, const mr_encoding *encoding)
{
    if (encoding->formula.out_of_memory)
        return NO_MEMORY;
    if (encoding->formula.too_large && !encoding->formula.contradiction)
        return give_up(task, MR_UNKNOWN_SIZE);
    int64_t *order = mr_arena_alloc(task->arena, encoding->formula.node_count, sizeof *order);
    if (!order)
        return NO_MEMORY;
    outcome result = try_saturate(task, encoding, order);
    return result == PASSED_ON ? try_z3(task, encoding, order) : result;
}

static outcome encode_and_try(candidate_task *task, const uint32_t *required)
{
    const mr_problem *problem = task->problem;
    uint32_t count = problem->window->thread_count, last[2];
    uint32_t *allowed = mr_arena_alloc(task->arena, count, sizeof *allowed);
    uint32_t *cone = mr_arena_alloc(task->arena, count, sizeof *cone);
    if (!allowed || !cone)
        return NO_MEMORY;
    double begin = mr_seconds();
    for (int i = 0; i < 2; i++)
        last[i] = task->stops[i].events[task->stops[i].count - 1];
    mr_cone_allowed(&problem->forced, last[0], last[1], allowed);
    mr_encoding encoding = {0};
    outcome result = NO_MEMORY;
    if (mr_cone_close(&problem->hard, &problem->forced, required, allowed, last, cone,
                      task->arena) &&
        mr_encoding_build(&encoding, problem->window, &problem->hard, &problem->forced, required,
                          cone, task->stops, task->options->max_clauses, task->arena))
        result = try_formula(task, &encoding);
    mr_encoding_free(&encoding);
    for (uint32_t t = 0; t < count; t++)
        task->decision->cone_events += cone[t];
    task->decision->solver_seconds = mr_seconds() - begin;
    return result;
}

static outcome run_steps(candidate_task *task)
{
    const mr_problem *problem = task->problem;
    uint32_t *required =
        mr_arena_alloc(task->arena, problem->window->thread_count, sizeof *required);
    if (!required)
        return NO_MEMORY;
    if (!mr_cone_narrow(&problem->hard, &task->stops[0], &task->stops[1]))
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_FILTER);
    if (!mr_cone_narrow(&problem->forced, &task->stops[0], &task->stops[1]))
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_CONE);
    if (task->stops[0].count == 1 && task->stops[1].count == 1) {
        outcome result = try_linearise(task);
        if (result != PASSED_ON)
            return result;
    }
    if (task->options->linearise_only) {
        snprintf(task->decision->detail, sizeof task->decision->detail,
                 "no witness in trace order");
        return give_up(task, MR_UNKNOWN_SOLVER);
    }
    mr_cone_required(&problem->forced, task->stops[0].events[0], task->stops[1].events[0],
                     required);
    return encode_and_try(task, required);
}

mr_status mr_decide_any(const mr_problem *problem, mr_session *session,
                        const mr_decide_options *options, mr_stops a, mr_stops b, mr_arena *arena,
                        mr_decision *decision, mr_error *error)
{
    *decision = (mr_decision){0};
    candidate_task task = {.problem = problem,
                           .session = session,
                           .options = options,
                           .stops = {a, b},
                           .arena = arena,
                           .decision = decision};
    if (run_steps(&task) == NO_MEMORY)
        return mr_error_memory(error, "deciding a candidate");
    return MR_OK;
}

mr_status mr_decide(const mr_problem *problem, mr_session *session,
                    const mr_decide_options *options, uint32_t a, uint32_t b, mr_arena *arena,
                    mr_decision *decision, mr_error *error)
{
    return mr_decide_any(problem, session, options, (mr_stops){&a, 1}, (mr_stops){&b, 1}, arena,
                         decision, error);
}
