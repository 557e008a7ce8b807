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
    const mr_precedence *precedence; /* FORCED; without the step cone: HARD */
    mr_stops stops[2];
    mr_arena *arena;
    mr_decision *decision;
    bool impossible;    /* L contains a or b; the fields below are then not used */
    uint32_t *required; /* L, NULL until some step asks for it */
    uint32_t *allowed;  /* U, likewise */
    bool encoded;
    mr_encoding encoding; /* the formula of the cone, when `encoded` */
    int64_t *order;       /* for its solution */
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

/* Passes on for want of something that may also be the reason for the end. */
static outcome give_up(candidate_task *task, mr_unknown_reason reason)
{
    task->decision->reason = reason;
    return PASSED_ON;
}

static bool uses(const candidate_task *task, mr_step step)
{
    return task->options->steps & MR_STEP_BIT(step);
}

static void set_accesses(candidate_task *task, uint32_t a, uint32_t b)
{
    task->decision->first = a < b ? a : b;
    task->decision->second = a < b ? b : a;
}

/* ---- filter, cone ---- */

static outcome try_filter(candidate_task *task)
{
    bool left = mr_cone_narrow(&task->problem->hard, &task->stops[0], &task->stops[1]);
    return left ? PASSED_ON : settle(task, MR_VERDICT_NO_RACE, MR_STEP_FILTER);
}

static outcome try_cone(candidate_task *task)
{
    bool left = mr_cone_narrow(&task->problem->forced, &task->stops[0], &task->stops[1]);
    return left ? PASSED_ON : settle(task, MR_VERDICT_NO_RACE, MR_STEP_CONE);
}

/* Computes L and U for the steps that need them. */
static outcome prepare(candidate_task *task)
{
    uint32_t count = task->problem->window->thread_count, last[2];
    if (task->required || task->impossible)
        return PASSED_ON;
    /* The rest presumes that there is something left; filter and cone may have been left out. */
    task->impossible = !mr_cone_narrow(task->precedence, &task->stops[0], &task->stops[1]);
    if (task->impossible)
        return PASSED_ON;
    task->required = mr_arena_alloc(task->arena, count, sizeof *task->required);
    task->allowed = mr_arena_alloc(task->arena, count, sizeof *task->allowed);
    if (!task->required || !task->allowed)
        return NO_MEMORY;
    for (int i = 0; i < 2; i++)
        last[i] = task->stops[i].events[task->stops[i].count - 1];
    mr_cone_required(task->precedence, task->stops[0].events[0], task->stops[1].events[0],
                     task->required);
    mr_cone_allowed(task->precedence, last[0], last[1], task->allowed);
    return PASSED_ON;
}

/* ---- trace order ---- */

static outcome try_linearise(candidate_task *task)
{
    const mr_window *w = task->problem->window;
    if (task->stops[0].count > 1 || task->stops[1].count > 1)
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

/* ---- the formula ---- */

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

/* Builds the formula unless it is there. SETTLED: it has no solution, which counts for `step`.
 * PASSED_ON: look at formula.too_large. */
static outcome encode(candidate_task *task, mr_step step)
{
    const mr_problem *problem = task->problem;
    outcome result = prepare(task);
    if (result == NO_MEMORY || task->encoded)
        return result;
    if (task->impossible)
        return settle(task, MR_VERDICT_NO_RACE, step);
    uint32_t last[2];
    uint32_t *cone = mr_arena_alloc(task->arena, problem->window->thread_count, sizeof *cone);
    if (!cone)
        return NO_MEMORY;
    for (int i = 0; i < 2; i++)
        last[i] = task->stops[i].events[task->stops[i].count - 1];
    mr_encoding_options options = {.max_clauses = task->options->max_clauses,
                                   .plain = task->options->eager};
    if (task->options->eager)
        cone = task->allowed;
    else if (!mr_cone_close(&problem->hard, task->precedence, task->required, task->allowed, last,
                            cone, task->arena))
        return NO_MEMORY;
    if (!mr_encoding_build(&task->encoding, problem->window, &problem->hard, task->precedence,
                           task->required, cone, task->stops, &options, task->arena))
        return NO_MEMORY;
    task->encoded = true;
    const mr_formula *formula = &task->encoding.formula;
    if (formula->contradiction)
        return settle(task, MR_VERDICT_NO_RACE, step);
    if (formula->out_of_memory)
        return NO_MEMORY;
    if (formula->too_large)
        return PASSED_ON;
    task->order = mr_arena_alloc(task->arena, formula->node_count, sizeof *task->order);
    return task->order ? PASSED_ON : NO_MEMORY;
}

static bool saturation_fits(const candidate_task *task)
{
    uint64_t cells = (uint64_t)task->encoding.formula.node_count *
                     (task->problem->window->thread_count + 1); /* of the closure */
    uint64_t memory_bytes = task->options->limits.memory_bytes;
    return !memory_bytes || cells * sizeof(uint32_t) <= memory_bytes;
}

static outcome try_saturate(candidate_task *task)
{
    if (!task->options->saturate_steps)
        return PASSED_ON;
    outcome encoded = encode(task, MR_STEP_SATURATE);
    if (encoded != PASSED_ON)
        return encoded;
    if (task->encoding.formula.too_large)
        return give_up(task, MR_UNKNOWN_SIZE);
    if (!saturation_fits(task))
        return give_up(task, MR_UNKNOWN_MEMORY);
    switch (mr_saturate(&task->encoding, task->options->saturate_steps, task->order, task->arena)) {
    case MR_SATURATED_SAT:
        return settle_race(task, &task->encoding, task->order, MR_STEP_SATURATE);
    case MR_SATURATED_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_SATURATE);
    case MR_SATURATED_OUT_OF_STEPS:
        return give_up(task, MR_UNKNOWN_STEPS);
    case MR_SATURATED_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static outcome try_z3(candidate_task *task)
{
    mr_decision *decision = task->decision;
    mr_interrupted why;
    outcome encoded = encode(task, MR_STEP_SOLVER);
    if (encoded != PASSED_ON)
        return encoded;
    if (task->encoding.formula.too_large)
        return give_up(task, MR_UNKNOWN_SIZE);
    switch (mr_session_solve(task->session, &task->encoding.formula, &task->options->limits,
                             task->options->eager, task->order, &why, decision->detail,
                             sizeof decision->detail)) {
    case MR_ANSWER_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_SOLVER);
    case MR_ANSWER_SAT:
        return settle_race(task, &task->encoding, task->order, MR_STEP_SOLVER);
    case MR_ANSWER_UNKNOWN:
        break;
    }
    return give_up(task, reason_of(why));
}

/* ---- the ladder ---- */

typedef struct step_row {
    mr_step step;
    outcome (*try)(candidate_task *task);
} step_row;

static const step_row ladder[] = {
    {MR_STEP_FILTER, try_filter},     {MR_STEP_CONE, try_cone}, {MR_STEP_LINEARISE, try_linearise},
    {MR_STEP_SATURATE, try_saturate}, {MR_STEP_SOLVER, try_z3},
};

static outcome climb(candidate_task *task)
{
    task->decision->reason = MR_UNKNOWN_STEPS;
    double begin = mr_seconds();
    for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
        if (!uses(task, ladder[i].step))
            continue;
        outcome result = ladder[i].try(task);
        double end = mr_seconds();
        task->decision->seconds[ladder[i].step] = end - begin;
        begin = end;
        if (result != PASSED_ON)
            return result;
    }
    task->decision->verdict = MR_VERDICT_UNKNOWN;
    task->decision->step = MR_STEP_SOLVER;
    return SETTLED;
}

mr_status mr_decide_any(const mr_problem *problem, mr_session *session,
                        const mr_decide_options *options, mr_stops a, mr_stops b, mr_arena *arena,
                        mr_decision *decision, mr_error *error)
{
    *decision = (mr_decision){0};
    candidate_task task = {.problem = problem,
                           .session = session,
                           .options = options,
                           .precedence = options->steps & MR_STEP_BIT(MR_STEP_CONE)
                                             ? &problem->forced
                                             : &problem->hard,
                           .stops = {a, b},
                           .arena = arena,
                           .decision = decision};
    outcome result = climb(&task);
    mr_encoding_free(&task.encoding);
    if (result == NO_MEMORY)
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
