#include "decide.h"

#include "base/assert.h"
#include "base/seconds.h"
#include "cone.h"
#include "each_stop.h"
#include "eliminate.h"
#include "explore.h"
#include "goal_holds.h"
#include "greedy.h"
#include "lazy.h"
#include "linearise.h"
#include "region.h"
#include "saturate.h"
#include "schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How many writers a read is offered at first. */
enum { SATURATE_STAGE = 4 };

/* What the step lazy may cost: rounds, and nodes and writes looked at. */
enum { LAZY_ROUNDS = 10000, LAZY_EFFORT = 200000000 };
enum { EFFORT_PER_UNIT = 10 }; /* work that takes as long as a unit of Z3 */
enum { GREEDY_PASSES = 20 };   /* over the cone */
/* Events run and words of states that explore may look at: some hundredths and some tenths of a second. */
enum { EXPLORE_FIRST = 1000000, EXPLORE_LARGE = 12500000, EXPLORE_EFFORT = 50000000 };
enum { LARGE_CONE = 20000 }; /* events */
/* Parts of its budget that saturation has before explore, and how often it has it with many states. */
enum { SATURATE_PART = 8, SATURATE_TIMES = 2 };
/* Writes of the value that a goal ends with, each of which is tried in trace order. */
enum { WRITES_TRIED = 8 };

/* One candidate on its way through the steps. */
typedef struct candidate_task {
    const mr_problem *problem;
    mr_session *session;
    const mr_decide_options *options;
    const mr_precedence *precedence; /* FORCED; without the step cone: HARD */
    mr_goal *goal;
    mr_arena *arena;
    mr_decision *decision;
    bool impossible;         /* L or sums show it; the fields below are then not used */
    uint32_t *required;      /* L, NULL until some step asks for it */
    uint32_t *allowed;       /* U, likewise */
    uint32_t *cone;          /* C, likewise */
    mr_known *known;         /* by eliminate; NULL: nothing */
    bool without_z3;         /* saturation has looked at a large formula */
    uint64_t saturate_steps; /* that saturation may take now */
} candidate_task;

/* What a step makes of a task. */
typedef enum outcome {
    SETTLED,
    PASSED_ON,
    NO_MEMORY,
} outcome;

static outcome settle(candidate_task *task, mr_verdict verdict, mr_step step)
{
    const mr_decision *d = task->decision;
    MR_ASSERT(verdict != MR_VERDICT_UNKNOWN);
    MR_ASSERT(verdict != MR_VERDICT_RACE ||
              mr_schedule_is_sound(task->problem->window, d->events, d->event_count, d->stops,
                                   task->goal->stop_count, task->arena));
    task->decision->verdict = verdict;
    task->decision->step = step;
    return SETTLED;
}

/* Passes on and keeps the reason, which is reported if no later step settles the question. */
static outcome give_up(candidate_task *task, mr_unknown_reason reason)
{
    task->decision->reason = reason;
    return PASSED_ON;
}

static bool uses(const candidate_task *task, mr_step step)
{
    return task->options->steps & MR_STEP_BIT(step);
}

/* Notes where the threads stop. */
static void set_stop(candidate_task *task, uint32_t number, uint32_t event)
{
    mr_decision *d = task->decision;
    d->stops[number] = event;
    if (!number)
        d->first = d->second = event;
    d->first = event < d->first ? event : d->first;
    d->second = event > d->second ? event : d->second;
}

static void set_first_stops(candidate_task *task)
{
    for (uint32_t i = 0; i < task->goal->stop_count; i++)
        set_stop(task, i, task->goal->stops[i].events[0]);
}

/* A schedule of a step that does not look at what the goal asks of the end. */
static outcome settle_by_schedule(candidate_task *task, mr_step step)
{
    const mr_decision *d = task->decision;
    bool holds;
    if (!mr_goal_holds(task->problem->window, task->goal, d->events, d->event_count, &holds,
                       task->arena))
        return NO_MEMORY;
    return holds ? settle(task, MR_VERDICT_RACE, step) : PASSED_ON;
}

/* ---- filter, cone ---- */

static outcome try_filter(candidate_task *task)
{
    bool left = mr_cone_narrow(&task->problem->hard, task->goal);
    return left ? PASSED_ON : settle(task, MR_VERDICT_NO_RACE, MR_STEP_FILTER);
}

static outcome try_cone(candidate_task *task)
{
    bool left = mr_cone_narrow(&task->problem->forced, task->goal);
    return left ? PASSED_ON : settle(task, MR_VERDICT_NO_RACE, MR_STEP_CONE);
}

/* Is L a subset of U? */
static bool may_be_included(const candidate_task *task)
{
    for (uint32_t t = 0; t < task->problem->window->thread_count; t++)
        if (task->required[t] > task->allowed[t])
            return false;
    return true;
}

static bool refute_by_sums(candidate_task *task, const uint32_t *allowed)
{
    return mr_sums_refute(&task->problem->counters, task->precedence, task->goal, task->required,
                          allowed, &task->decision->effort, task->arena);
}

/* Computes L and U for the steps that need them. */
static outcome prepare(candidate_task *task)
{
    uint32_t count = task->problem->window->thread_count;
    if (task->required || task->impossible)
        return PASSED_ON;
    /* The rest presumes that there is something left; filter and cone may have been left out. */
    task->impossible = !mr_cone_narrow(task->precedence, task->goal);
    if (task->impossible)
        return PASSED_ON;
    task->required = mr_arena_alloc(task->arena, count, sizeof *task->required);
    task->allowed = mr_arena_alloc(task->arena, count, sizeof *task->allowed);
    if (!task->required || !task->allowed)
        return NO_MEMORY;
    mr_cone_required(task->precedence, task->goal, task->required);
    mr_cone_allowed(task->precedence, task->goal, task->allowed);
    task->impossible = !mr_goal_only_stops(task->goal) &&
                       (!mr_cone_drop_unreached(task->precedence, task->goal, task->allowed) ||
                        !may_be_included(task));
    if (!task->impossible && uses(task, MR_STEP_ELIMINATE))
        task->impossible = refute_by_sums(task, task->allowed);
    return PASSED_ON;
}

/* ---- trace order ---- */

/* Trace order with one more required event, MR_NONE: none. */
static outcome linearise_with(candidate_task *task, uint32_t more, uint32_t *prefix)
{
    const mr_window *w = task->problem->window;
    mr_goal goal;
    task->decision->effort += w->thread_count;
    if (!mr_goal_with(task->goal, more, &goal, task->arena))
        return NO_MEMORY;
    mr_linearised linearised = mr_linearise(&task->problem->source, &goal, prefix, task->arena);
    if (linearised != MR_LINEARISED)
        return linearised == MR_NOT_LINEARISED ? PASSED_ON : NO_MEMORY;
    set_first_stops(task);
    task->decision->events =
        mr_schedule_in_trace_order(w, prefix, &task->decision->event_count, task->arena);
    return task->decision->events ? settle_by_schedule(task, MR_STEP_LINEARISE) : NO_MEMORY;
}

static outcome try_linearise(candidate_task *task)
{
    const mr_window *w = task->problem->window;
    const mr_last_write *last = task->goal->last;
    for (uint32_t i = 0; i < task->goal->stop_count; i++)
        if (task->goal->stops[i].count > 1)
            return PASSED_ON;
    uint32_t *prefix = mr_arena_alloc(task->arena, w->thread_count, sizeof *prefix);
    if (!prefix)
        return NO_MEMORY;
    outcome result = linearise_with(task, MR_NONE, prefix);
    if (!last || !last->value)
        return result;
    const mr_window_variable *variable = &w->variables[last->variable];
    for (uint32_t k = variable->writes_first, tried = 0;
         result == PASSED_ON && k < variable->writes_end && tried < WRITES_TRIED; k++) {
        if (!mr_last_write_fits(w, last, w->writes[k]))
            continue;
        result = linearise_with(task, w->writes[k], prefix);
        tried++;
    }
    return result;
}

static outcome settle_race(candidate_task *task, const mr_encoding *encoding, const int64_t *order,
                           mr_step step)
{
    mr_decision *decision = task->decision;
    for (uint32_t i = 0; i < task->goal->stop_count; i++)
        set_stop(task, i, mr_schedule_stop(encoding, &encoding->goal->stops[i], order));
    decision->events =
        mr_schedule_of_solution(encoding, order, &decision->event_count, task->arena);
    return decision->events ? settle(task, MR_VERDICT_RACE, step) : NO_MEMORY;
}

static void tell_cone(const candidate_task *task)
{
    const mr_debug *debug = task->options->debug;
    const mr_window *w = task->problem->window;
    uint64_t required = 0, cone = 0, allowed = 0;
    if (!mr_debug_on(debug, MR_DEBUG_CONE))
        return;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        required += task->required[t];
        cone += task->cone[t];
        allowed += task->allowed[t];
    }
    MR_DEBUG(debug, CONE,
             "first=%" PRIu32 " second=%" PRIu32 " window=%" PRIu32 " required=%" PRIu64
             " cone=%" PRIu64 " allowed=%" PRIu64,
             w->start + task->goal->stops[0].events[0],
             w->start + task->goal->stops[task->goal->stop_count - 1].events[0], w->size, required,
             cone, allowed);
}

/* Computes C. */
static outcome close_cone(candidate_task *task)
{
    const mr_problem *problem = task->problem;
    if (task->cone)
        return PASSED_ON;
    if (task->options->eager) {
        task->cone = task->allowed;
        return PASSED_ON;
    }
    task->cone = mr_arena_alloc(task->arena, problem->window->thread_count, sizeof *task->cone);
    if (!task->cone || !mr_cone_close(&problem->hard, task->precedence, task->required,
                                      task->allowed, task->goal, task->cone, task->arena))
        return NO_MEMORY;
    for (uint32_t t = 0; t < problem->window->thread_count; t++)
        task->decision->cone_events += task->cone[t];
    tell_cone(task);
    return PASSED_ON;
}

/* In a window of more events than this a proof without the cone is tried first, with one of so many parts of the budget. Its effort
 * counts as so many events of a cone: one for some steps, and one for some events of the window. */
enum { LARGE_WINDOW = 1 << 14, PART_NEAR = 128, EFFORT_OF_EVENT = 64, EVENTS_OF_QUESTION = 512 };

static outcome try_near(candidate_task *task, const mr_eliminate_limits *limits)
{
    const mr_window *w = task->problem->window;
    uint32_t alone = task->options->only_near_part;
    const mr_eliminate_limits near = {limits->effort / (alone ? alone : PART_NEAR),
                                      limits->memory_bytes};
    uint64_t effort, events;
    bool large = w->size > LARGE_WINDOW && task->problem->rows;
    if (!(large || alone) || task->cone || !may_be_included(task))
        return PASSED_ON;
    mr_arena_mark mark = mr_arena_get_mark(task->arena);
    mr_eliminated answer =
        mr_eliminate_near(task->precedence, task->problem->rows, task->goal, task->required,
                          task->allowed, &near, &effort, task->arena);
    mr_arena_release(task->arena, mark);
    events = effort / EFFORT_OF_EVENT + w->size / EVENTS_OF_QUESTION;
    task->decision->effort += events;
    if (answer == MR_ELIMINATED_NO_MEMORY)
        return NO_MEMORY;
    if (answer != MR_ELIMINATED_ALL)
        return PASSED_ON;
    task->decision->cone_events = alone && events < w->size ? events : 0;
    for (uint32_t t = 0; t < w->thread_count && !alone; t++)
        task->decision->cone_events += task->required[t];
    return settle(task, MR_VERDICT_NO_RACE, MR_STEP_ELIMINATE);
}

/* Steps of saturation that count as one event of a window. */
enum { STEPS_OF_EVENT = 32 };

static outcome try_region(candidate_task *task)
{
    const mr_problem *problem = task->problem;
    uint64_t spent = 0;
    if (!may_be_included(task))
        return PASSED_ON;
    mr_saturated answer =
        mr_region_saturate(&problem->hard, task->precedence, task->goal, task->required,
                           task->allowed, task->options, &spent, task->arena);
    task->decision->effort += spent / STEPS_OF_EVENT + problem->window->size / EVENTS_OF_QUESTION;
    if (answer == MR_SATURATED_NO_MEMORY)
        return NO_MEMORY;
    return answer == MR_SATURATED_UNSAT ? settle(task, MR_VERDICT_NO_RACE, MR_STEP_SATURATE)
                                        : PASSED_ON;
}

static outcome try_eliminate(candidate_task *task)
{
    uint32_t part = task->options->eliminate_part ? task->options->eliminate_part : 1;
    const mr_eliminate_limits limits = {.effort = MR_ELIMINATE_EFFORT / part,
                                        .memory_bytes =
                                            mr_limits_memory_bytes(&task->options->limits)};
    if (prepare(task) == NO_MEMORY)
        return NO_MEMORY;
    if (task->impossible)
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_ELIMINATE);
    if (task->options->only_near_events)
        return try_region(task);
    outcome near = try_near(task, &limits);
    if (near != PASSED_ON || task->options->only_near_part)
        return near;
    mr_known *known = mr_arena_alloc(task->arena, 1, sizeof *known);
    if (!known || close_cone(task) == NO_MEMORY)
        return NO_MEMORY;
    task->decision->effort += task->decision->cone_events;
    mr_eliminated answer = mr_eliminate(task->precedence, task->problem->rows, task->goal,
                                        task->required, task->cone, &limits, known, task->arena);
    if (answer == MR_ELIMINATED_ALL)
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_ELIMINATE);
    if (answer != MR_ELIMINATED_SOME)
        return answer == MR_ELIMINATED_NOTHING ? give_up(task, MR_UNKNOWN_STEPS) : NO_MEMORY;
    task->known = known;
    uint64_t effort = 0;
    bool refuted = refute_by_sums(task, task->cone) ||
                   mr_each_stop_refute(task->precedence, known->rows, task->goal, task->required,
                                       task->cone, &limits, &effort, task->arena);
    task->decision->effort += effort / EFFORT_OF_EVENT;
    return refuted ? settle(task, MR_VERDICT_NO_RACE, MR_STEP_ELIMINATE) : PASSED_ON;
}

/* For the steps that look at what is known of a row. */
static outcome complete_known(candidate_task *task)
{
    mr_eliminated known = task->known ? mr_eliminate_complete(task->known) : MR_ELIMINATED_NOTHING;
    if (known == MR_ELIMINATED_NO_MEMORY)
        return NO_MEMORY;
    if (known == MR_ELIMINATED_NOTHING)
        task->known = NULL;
    return PASSED_ON;
}

/* What all the steps on the cone need. SETTLED: `step` finds without more that there is no race. */
static outcome prepare_search(candidate_task *task, mr_step step)
{
    if (prepare(task) == NO_MEMORY)
        return NO_MEMORY;
    if (task->impossible)
        return settle(task, MR_VERDICT_NO_RACE, step);
    return close_cone(task) == NO_MEMORY ? NO_MEMORY : complete_known(task);
}

static outcome try_greedy(candidate_task *task)
{
    outcome ready = prepare_search(task, MR_STEP_GREEDY);
    if (ready != PASSED_ON)
        return ready;
    task->decision->effort += task->decision->cone_events;
    const mr_greedy_question question = {.precedence = task->precedence,
                                         .goal = task->goal,
                                         .required = task->required,
                                         .cone = task->cone,
                                         .known = task->known};
    switch (mr_greedy_run(&question, GREEDY_PASSES, &task->decision->events,
                          &task->decision->event_count, task->arena)) {
    case MR_GREEDY_FOUND:
        set_first_stops(task);
        return settle_by_schedule(task, MR_STEP_GREEDY);
    case MR_GREEDY_NOT_FOUND:
        return PASSED_ON;
    case MR_GREEDY_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static outcome try_explore(candidate_task *task)
{
    mr_decision *decision = task->decision;
    if (!mr_goal_only_stops(task->goal) || task->problem->window->model == MR_MODEL_BRANCH)
        return PASSED_ON;
    outcome ready = prepare_search(task, MR_STEP_EXPLORE);
    if (ready != PASSED_ON)
        return ready;
    bool large = decision->cone_events > LARGE_CONE || task->options->many_states;
    uint64_t effort = task->options->first_attempt ? EXPLORE_FIRST
                      : large                      ? EXPLORE_LARGE
                                                   : EXPLORE_EFFORT;
    if (task->options->explore_most && effort > task->options->explore_most)
        effort = task->options->explore_most;
    const mr_explore_limits limits = {effort, mr_limits_memory_bytes(&task->options->limits)};
    uint32_t *stops = mr_arena_alloc(task->arena, task->goal->stop_count, sizeof *stops);
    if (!stops)
        return NO_MEMORY;
    const mr_explore_question question = {.window = task->problem->window,
                                          .goal = task->goal,
                                          .required = task->required,
                                          .cone = task->cone,
                                          .known = task->known};
    switch (mr_explore(&question, &limits, &decision->effort, &decision->events,
                       &decision->event_count, stops, task->options->debug, task->arena)) {
    case MR_EXPLORED_FOUND:
        for (uint32_t i = 0; i < task->goal->stop_count; i++)
            set_stop(task, i, stops[i]);
        return settle(task, MR_VERDICT_RACE, MR_STEP_EXPLORE);
    case MR_EXPLORED_ALL:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_EXPLORE);
    case MR_EXPLORED_OUT_OF_EFFORT:
        return give_up(task, MR_UNKNOWN_STEPS);
    case MR_EXPLORED_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

/* A formula under way, and room for a solution. */
typedef struct formula_task {
    mr_encoding encoding; /* owned */
    int64_t *order;       /* one a node; arena */
} formula_task;

/* Builds the formula for `step`. SETTLED: it has no solution. PASSED_ON: it is there, unless it is
 * too large. In any case the encoding is to be freed. */
static outcome encode(candidate_task *task, mr_step step, mr_encoding_options options,
                      formula_task *f)
{
    const mr_problem *problem = task->problem;
    options.max_clauses = task->options->max_clauses;
    options.max_bytes = mr_limits_formula_bytes(&task->options->limits);
    options.known = task->known;
    if (!mr_encoding_build(&f->encoding, problem->window, &problem->hard, task->precedence,
                           task->required, task->cone, task->goal, &options, task->arena))
        return NO_MEMORY;
    const mr_formula *formula = &f->encoding.formula;
    task->decision->effort += formula->literal_count + formula->attempts;
    MR_DEBUG(task->options->debug, FORMULA,
             "step=%s nodes=%" PRIu32 " choices=%" PRIu32 " edges=%zu clauses=%zu literals=%zu "
             "contradiction=%d too_large=%d",
             mr_step_name(step), formula->node_count, formula->choice_count, formula->edge_count,
             formula->clause_count, formula->literal_count, formula->contradiction,
             formula->too_large);
    if (formula->contradiction)
        return settle(task, MR_VERDICT_NO_RACE, step);
    if (formula->out_of_memory)
        return NO_MEMORY;
    if (formula->too_large)
        return give_up(task, mr_formula_reason(formula));
    f->order = mr_arena_alloc(task->arena, formula->node_count, sizeof *f->order);
    return f->order ? PASSED_ON : NO_MEMORY;
}

/* Builds the formula, and has `solve` decide it unless it is too large. */
static outcome try_formula(candidate_task *task, mr_step step, mr_encoding_options options,
                           outcome (*solve)(candidate_task *task, formula_task *f))
{
    formula_task f = {0};
    outcome ready = prepare_search(task, step);
    if (ready != PASSED_ON)
        return ready;
    if (!options.lazy && task->known && !mr_eliminate_list_sources(task->known))
        return NO_MEMORY;
    mr_arena_mark mark = mr_arena_get_mark(task->arena);
    outcome result = encode(task, step, options, &f);
    if (result == PASSED_ON && !f.encoding.formula.too_large)
        result = solve(task, &f);
    mr_encoding_free(&f.encoding);
    if (result == PASSED_ON)
        mr_arena_release(task->arena, mark);
    return result;
}

/* Without too large a search: two words for each node and thread. */
static bool saturation_fits(const candidate_task *task, const mr_encoding *encoding)
{
    uint64_t cells =
        (uint64_t)encoding->formula.node_count * (task->problem->window->thread_count + 1);
    uint64_t memory_bytes = mr_limits_memory_bytes(&task->options->limits);
    return !memory_bytes || 2 * cells * sizeof(uint32_t) <= memory_bytes;
}

/* Formulas with more nodes than this are for saturation alone, which has so many times its budget for them: Z3 used up its units on
 * each such formula that was met, and took ten times as long. */
enum { NODES_OF_Z3 = 30000, LARGE_TIMES = 2 };

static outcome saturate(candidate_task *task, formula_task *f)
{
    bool large = f->encoding.formula.node_count > NODES_OF_Z3;
    uint64_t steps = task->saturate_steps * (large ? LARGE_TIMES : 1);
    if (!saturation_fits(task, &f->encoding))
        return give_up(task, MR_UNKNOWN_MEMORY);
    task->without_z3 = large;
    switch (mr_saturate(&f->encoding, steps, &task->decision->effort, f->order,
                        task->options->debug, task->arena)) {
    case MR_SATURATED_SAT:
        return settle_race(task, &f->encoding, f->order, MR_STEP_SATURATE);
    case MR_SATURATED_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_SATURATE);
    case MR_SATURATED_OUT_OF_EFFORT:
        return give_up(task, mr_formula_reason(&f->encoding.formula));
    case MR_SATURATED_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static outcome saturate_with(candidate_task *task, uint64_t steps)
{
    const mr_encoding_options options = {.lazy = true, .stage = SATURATE_STAGE};
    task->saturate_steps = steps;
    return steps ? try_formula(task, MR_STEP_SATURATE, options, saturate) : PASSED_ON;
}

/* What saturation settles, it mostly settles soon. What it does not is often one for explore. */
static outcome try_saturate_first(candidate_task *task)
{
    const mr_decide_options *options = task->options;
    uint64_t steps = options->saturate_steps;
    if (options->many_states)
        steps *= SATURATE_TIMES;
    else if (!options->first_attempt)
        steps = steps && uses(task, MR_STEP_EXPLORE) ? steps / SATURATE_PART + 1 : 0;
    return saturate_with(task, steps);
}

static outcome try_saturate(candidate_task *task)
{
    bool done = task->options->first_attempt || task->options->many_states;
    return saturate_with(task, done ? 0 : task->options->saturate_steps);
}

static outcome give_up_in_trouble(candidate_task *task, const mr_trouble *trouble)
{
    memcpy(task->decision->detail, trouble->detail, sizeof task->decision->detail);
    task->decision->stopped_by_time += trouble->why == MR_INTERRUPTED_TIME;
    task->decision->stopped_by_memory += trouble->why == MR_INTERRUPTED_MEMORY;
    return give_up(task, mr_session_reason(trouble->why));
}

static outcome solve_lazily(candidate_task *task, formula_task *f)
{
    static const mr_lazy_budget budget = {.rounds = LAZY_ROUNDS, .effort = LAZY_EFFORT};
    mr_trouble trouble;
    mr_lazily result = mr_solve_lazily(&f->encoding, task->session, &task->options->limits, &budget,
                                       f->order, &trouble, task->arena);
    task->decision->effort += trouble.units * EFFORT_PER_UNIT;
    switch (result) {
    case MR_LAZILY_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_LAZY);
    case MR_LAZILY_SAT:
        return settle_race(task, &f->encoding, f->order, MR_STEP_LAZY);
    case MR_LAZILY_OUT_OF_ROUNDS:
    case MR_LAZILY_TOO_LARGE:
        return give_up(task, mr_formula_reason(&f->encoding.formula));
    case MR_LAZILY_TROUBLE:
        return give_up_in_trouble(task, &trouble);
    case MR_LAZILY_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

static outcome try_lazy(candidate_task *task)
{
    const mr_encoding_options options = {.lazy = true, .stage = MR_LAZY_STAGE};
    if (task->without_z3)
        return PASSED_ON;
    return try_formula(task, MR_STEP_LAZY, options, solve_lazily);
}

static outcome solve_whole(candidate_task *task, formula_task *f)
{
    mr_trouble trouble;
    mr_settings settings = task->options->eager ? MR_SETTINGS_AS_IT_COMES : MR_SETTINGS_TUNED;
    mr_answer answer = mr_session_solve(task->session, &f->encoding.formula, &task->options->limits,
                                        settings, f->encoding.event_of, f->order, &trouble);
    task->decision->effort += trouble.units * EFFORT_PER_UNIT;
    switch (answer) {
    case MR_ANSWER_UNSAT:
        return settle(task, MR_VERDICT_NO_RACE, MR_STEP_Z3);
    case MR_ANSWER_SAT:
        return settle_race(task, &f->encoding, f->order, MR_STEP_Z3);
    case MR_ANSWER_UNKNOWN:
        break;
    }
    return give_up_in_trouble(task, &trouble);
}

static outcome try_z3(candidate_task *task)
{
    const mr_encoding_options options = {.plain = task->options->eager};
    if (task->without_z3)
        return PASSED_ON;
    return try_formula(task, MR_STEP_Z3, options, solve_whole);
}

/* ---- the ladder ---- */

static const struct {
    mr_step step;
    outcome (*try)(candidate_task *task);
} ladder[] = {
    {MR_STEP_FILTER, try_filter},       {MR_STEP_CONE, try_cone},
    {MR_STEP_LINEARISE, try_linearise}, {MR_STEP_ELIMINATE, try_eliminate},
    {MR_STEP_GREEDY, try_greedy},       {MR_STEP_SATURATE, try_saturate_first},
    {MR_STEP_EXPLORE, try_explore},     {MR_STEP_SATURATE, try_saturate},
    {MR_STEP_LAZY, try_lazy},           {MR_STEP_Z3, try_z3},
};

/* The arena refused memory, which makes the candidate unknown. The system does not lack memory. */
static outcome out_of_share(candidate_task *task)
{
    task->arena->refused = false;
    task->decision->events = NULL;
    task->decision->verdict = MR_VERDICT_UNKNOWN;
    task->decision->step = MR_STEP_Z3;
    task->decision->reason = MR_UNKNOWN_MEMORY;
    snprintf(task->decision->detail, sizeof task->decision->detail,
             mr_halt_asked(task->arena->halt) == MR_HALT_NONE
                 ? "its share of memory.limit_mb is used up"
                 : "the run was asked to end");
    return SETTLED;
}

static const char *answer_of(const candidate_task *task, outcome result)
{
    if (result != SETTLED)
        return result == PASSED_ON ? "passed-on" : "no-memory";
    return task->decision->verdict == MR_VERDICT_RACE ? "race" : "no-race";
}

static outcome climb(candidate_task *task)
{
    task->decision->reason = MR_UNKNOWN_STEPS;
    double begin = mr_seconds();
    for (size_t i = 0; i < sizeof ladder / sizeof *ladder; i++) {
        if (!uses(task, ladder[i].step))
            continue;
        if (mr_arena_is_halted(task->arena))
            return out_of_share(task);
        uint64_t before = task->decision->effort;
        outcome result = ladder[i].try(task);
        double end = mr_seconds();
        MR_DEBUG(task->options->debug, STEPS, "step=%s answer=%s effort=%" PRIu64 " seconds=%.6f",
                 mr_step_name(ladder[i].step), answer_of(task, result),
                 task->decision->effort - before, end - begin);
        task->decision->seconds[ladder[i].step] += end - begin;
        begin = end;
        if (result != PASSED_ON)
            return result == NO_MEMORY && task->arena->refused ? out_of_share(task) : result;
    }
    task->decision->verdict = MR_VERDICT_UNKNOWN;
    task->decision->step = MR_STEP_Z3;
    task->decision->left = task->goal->stops;
    return SETTLED;
}

mr_status mr_decide_goal(const mr_problem *problem, mr_session *session,
                         const mr_decide_options *options, const mr_goal *goal, mr_arena *arena,
                         mr_decision *decision, mr_error *error)
{
    mr_goal narrowed = *goal;
    *decision = (mr_decision){0};
    candidate_task task = {.problem = problem,
                           .session = session,
                           .options = options,
                           .precedence = options->steps & MR_STEP_BIT(MR_STEP_CONE)
                                             ? &problem->forced
                                             : &problem->hard,
                           .goal = &narrowed,
                           .arena = arena,
                           .decision = decision};
    for (uint32_t i = 0; i < goal->stop_count; i++)
        MR_REQUIRE(goal->stops[i].count && mr_stops_have_one_end(problem->window, &goal->stops[i]));
    bool waited = arena->waits;
    arena->waits = false;
    narrowed.stops = mr_arena_alloc(arena, goal->stop_count, sizeof *narrowed.stops);
    decision->stops = mr_arena_alloc(arena, goal->stop_count, sizeof *decision->stops);
    outcome result = NO_MEMORY;
    if (narrowed.stops && decision->stops) {
        memcpy(narrowed.stops, goal->stops, goal->stop_count * sizeof *narrowed.stops);
        result = climb(&task);
    } else if (arena->refused) {
        result = out_of_share(&task);
    }
    arena->waits = waited;
    return result == NO_MEMORY ? mr_error_memory(error, "deciding a candidate") : MR_OK;
}
