/*
 * decide: the verdict of one candidate, step by step, cheapest first.
 *
 *   filter, cone  pairs that need each other; windows/candidates has dropped most     cone.h
 *   linearise     the required events in trace order, closed under releases: race     linearise.h
 *   eliminate     what is certain, by propagation on clocks: no race, or a smaller    eliminate.h
 *                 question; before and after it, by sums of counters: no race         sums.h
 *                 (or a formula about the events near the accesses, with only_near_events    region.h)
 *   greedy        running what can run, in trace order: race                          greedy.h
 *   saturate      the formula of the cone, by propagation and search within a part of saturate.h
 *                 the budget
 *   explore       the states that reorderings lead to: race or no race                explore.h
 *   saturate      the same formula within the whole budget
 *   lazy          the same, by Z3, clauses made when the trace or a model violates them lazy.h
 *   z3            the whole formula, by Z3                                            session.h
 *
 * The steps are a table in decide.c: each takes the question and settles it or passes it on, and
 * `options.steps` chooses among them. Every step is right alone, so the choice changes what is
 * unknown and how long it takes, never a verdict. Without `cone` only precedence HARD is used, in
 * the formula too. The strategy eager is z3 alone with the plain formula of the papers: C = U,
 * nothing folded (encoding.h), Z3 as it comes. Every race comes with its reordering; whether it is
 * right is for the witness checker to say.
 */
#ifndef MR_SOLVER_DECIDE_H
#define MR_SOLVER_DECIDE_H

#include "base/debug.h"
#include "base/model.h"
#include "encoder/encoding.h"
#include "session.h"
#include "sums.h"
#include "windows/rows.h"

/* Budget of elimination, which is for short proofs: clock entries, some tenths of a second. */
enum { MR_ELIMINATE_EFFORT = 200000000 };

/* A window with its precedences, ready for questions (problem.c). All memory is the window's arena. */
typedef struct mr_problem {
    const mr_window *window;
    mr_precedence hard, forced, source;
    const mr_rows *rows;  /* NULL: a question that needs them makes them itself */
    bool refined;         /* mr_problem_refine has been here */
    mr_counters counters; /* none: nothing is proven by sums */
} mr_problem;

typedef struct mr_decide_options {
    mr_limits limits;
    size_t max_clauses;      /* 0: no limit */
    unsigned steps;          /* MR_STEP_BIT of each step that is used */
    bool eager;              /* the formula is the plain one; for the step z3 alone */
    const mr_debug *debug;   /* NULL: nobody listens (cone, steps, formula, search) */
    uint32_t eliminate_part; /* elimination has one of so many parts of its budget; 0: all */
    /* Elimination looks for a proof near the accesses alone, with one of so many parts of its
     * budget; 0: not alone. */
    uint32_t only_near_part;
    /* Instead of elimination, saturation looks for a proof by so many events near the accesses alone
     * (region.h), also when the step saturate is off; 0: not. */
    uint32_t only_near_events;
    uint32_t only_near_apart; /* how far apart the accesses may be then; 0: as many events */
    bool first_attempt;       /* explore looks at few states */
    /* The window leads to many states: saturation comes with twice its budget before explore, which has a part of its
     * own. Not in a first attempt. */
    bool many_states;
    uint64_t explore_most;   /* of the budget of explore; 0: all of it */
    uint64_t saturate_steps; /* budget of saturation; 0: not used, as for what would need more than
                                limits.memory_bytes */
} mr_decide_options;

typedef struct mr_decision {
    mr_verdict verdict;
    mr_step step;             /* that settled it */
    mr_unknown_reason reason; /* of MR_VERDICT_UNKNOWN: why the last step gave up */
    char detail[64];
    /* MR_VERDICT_RACE: where the threads stop, one a list of the goal, window events; memory of the
     * caller's arena. `first` and `second` are the least and the greatest: the accesses of a race. */
    uint32_t *stops;
    uint32_t first, second;
    /* MR_VERDICT_RACE: the reordering, window events; memory of the caller's arena */
    uint32_t *events;
    uint32_t event_count;
    uint32_t observed;             /* so many are the first of the window, as observed */
    double seconds[MR_STEP_COUNT]; /* spent in each step; building the formula counts for the first
                                      one that needs it */
    /* A count of operations that does not depend on the machine: each step adds what it
     * spent, those of Z3 by their units. */
    uint64_t effort;
    /* Queries of Z3 that a bound on time or memory ended, and not their units: another run may end
     * otherwise. */
    uint32_t stopped_by_time, stopped_by_memory;
    /* Of the cone; 0: there was none. A proof without a cone counts as the required events, so what a
     * budget covers does not depend on the way to the proof; with only_near_part, as so many as take
     * its time, since the question may be asked again. */
    uint64_t cone_events;
    /* MR_VERDICT_UNKNOWN: what the lists of the goal are narrowed to, one each; a witness stops at accesses of
     * these. Memory of the caller's arena; NULL: they were not. */
    const mr_stops *left;
} mr_decision;

/* Builds the precedences in memory of `arena`. False: no memory. */
bool mr_problem_init(mr_problem *problem, const mr_window *window, mr_arena *arena);
/* The same step by step: `hard`; `forced`, when `hard` leaves pairs of accesses; what is left, when there is something to ask. */
bool mr_problem_begin(mr_problem *problem, const mr_window *window, mr_arena *arena);
bool mr_problem_force(mr_problem *problem, mr_arena *arena);
bool mr_problem_complete(mr_problem *problem, mr_arena *arena);

/* Makes the rows, once, when `options` has the step eliminate: for those who ask more than a few
 * questions. Not while a question is under way. False: no memory of `arena`. O(window · log). */
bool mr_problem_list_rows(mr_problem *problem, const mr_decide_options *options, mr_arena *arena);

/*
 * Raises `forced` by what elimination finds for the window as a whole (mr_eliminate_refine), once;
 * for models with reads by value, where it decides many questions at a stroke. Does nothing when
 * `options` leaves out the step eliminate or cone. Not while a question is under way. An arena with
 * a share waits for room. False: no memory of `arena`. `effort` is its budget, 0: the default.
 */
bool mr_problem_refine(mr_problem *problem, const mr_decide_options *options, uint64_t effort,
                       mr_arena *arena);

/*
 * Decides whether window events a and b race. Scratch memory and the decision's events are taken
 * from `arena`. MR_ERR_MEMORY when our own memory runs out; everything that the solver cannot do is
 * a verdict of MR_VERDICT_UNKNOWN, and so is, with the reason memory, what does not fit into the
 * arena's share (base/arena.h), which is not waited for here.
 */
mr_status mr_decide(const mr_problem *problem, mr_session *session,
                    const mr_decide_options *options, uint32_t a, uint32_t b, mr_arena *arena,
                    mr_decision *decision, mr_error *error);

/*
 * Decides whether a reordering ends in the goal (encoder/goal.h): MR_VERDICT_RACE, or MR_VERDICT_NO_RACE
 * when that is impossible. The events of a list are on one side of the free of their object. Exact for
 * the whole product of the lists.
 */
mr_status mr_decide_goal(const mr_problem *problem, mr_session *session,
                         const mr_decide_options *options, const mr_goal *goal, mr_arena *arena,
                         mr_decision *decision, mr_error *error);

/*
 * Decides at once whether any access of `a` races with any of `b`: two lists in program order, of
 * different threads, of which each pair conflicts, each list on one side of the free of its object
 * (windows/access_groups.h). The verdict is exact for the whole product, by
 * one formula (solver/cone.h, encoder/race.h); linearise is tried for single pairs only. Many pairs
 * of a hot variable cost little more than one.
 */
mr_status mr_decide_any(const mr_problem *problem, mr_session *session,
                        const mr_decide_options *options, mr_stops a, mr_stops b, mr_arena *arena,
                        mr_decision *decision, mr_error *error);

#endif
