/* A window with its precedences, ready for questions (decide.h). */
#include "base/assert.h"
#include "decide.h"
#include "eliminate.h"

bool mr_problem_begin(mr_problem *problem, const mr_window *window, mr_arena *arena)
{
    problem->window = window;
    problem->rows = NULL;
    problem->refined = false;
    problem->forced = problem->source = (mr_precedence){0};
    return mr_counters_build(&problem->counters, window, arena) &&
           mr_precedence_build(&problem->hard, window, MR_PRECEDENCE_HARD, NULL, arena);
}

bool mr_problem_force(mr_problem *problem, mr_arena *arena)
{
    MR_REQUIRE(!problem->forced.window);
    return mr_precedence_build(&problem->forced, problem->window, MR_PRECEDENCE_FORCED,
                               &problem->hard, arena);
}

bool mr_problem_complete(mr_problem *problem, mr_arena *arena)
{
    MR_REQUIRE(!problem->source.window);
    return (problem->forced.window || mr_problem_force(problem, arena)) &&
           mr_precedence_build(&problem->source, problem->window, MR_PRECEDENCE_SOURCE, NULL,
                               arena);
}

bool mr_problem_init(mr_problem *problem, const mr_window *window, mr_arena *arena)
{
    return mr_problem_begin(problem, window, arena) && mr_problem_force(problem, arena) &&
           mr_problem_complete(problem, arena);
}

bool mr_problem_list_rows(mr_problem *problem, const mr_decide_options *options, mr_arena *arena)
{
    if (problem->rows || !(options->steps & MR_STEP_BIT(MR_STEP_ELIMINATE)))
        return true;
    mr_rows *rows = mr_arena_alloc(arena, 1, sizeof *rows);
    if (!rows || !mr_rows_build(rows, problem->window, arena))
        return false;
    problem->rows = rows;
    return true;
}

bool mr_problem_refine(mr_problem *problem, const mr_decide_options *options, uint64_t effort,
                       mr_arena *arena)
{
    const unsigned needed = MR_STEP_BIT(MR_STEP_ELIMINATE) | MR_STEP_BIT(MR_STEP_CONE);
    const mr_eliminate_limits limits = {.effort = effort ? effort : MR_ELIMINATE_EFFORT,
                                        .memory_bytes = mr_limits_memory_bytes(&options->limits)};
    if (problem->refined || problem->window->model != MR_MODEL_VALUE ||
        (options->steps & needed) != needed)
        return true;
    problem->refined = true;
    bool waited = arena->waits;
    arena->waits = true; /* half a refinement would be of no use, and in the way */
    bool complete = mr_problem_list_rows(problem, options, arena) &&
                    mr_eliminate_refine(&problem->forced, problem->rows, &limits, arena);
    arena->waits = waited;
    return complete;
}
