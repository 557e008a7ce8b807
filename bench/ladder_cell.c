#include "ladder_cell.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "tests/support/random.h"
#include "windows/lockset.h"
#include "witness/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 400, /* draws for each pair that is wanted */
    NEAR = 8,    /* accesses of the variable on either side that are near */
};

typedef struct pair {
    uint32_t first, second; /* window events, first < second */
} pair;

/* A window that is being asked about. */
typedef struct asked {
    mr_ladder_cell *cell;
    const mr_ladder_plan *plan;
    const mr_trace *trace;
    const char *name;
    mr_model model;
    mr_arena arena;
    mr_carried carried;
    mr_barrier_edges opaque;
    mr_window *window;
    mr_problem problem;
    mr_session *ladder_session, *eager_session;
    mr_checker *checker;
    pair pairs[MR_LADDER_MOST_QUERIES];
    uint32_t pair_count;
    mr_error *error;
} asked;

/* Drawing pairs. */

static int compare_by_variable(const void *one, const void *two)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;
    return (a > b) - (a < b);
}

/* The accesses of the window as (variable, event), sorted; NULL: no memory. */
static uint64_t *sorted_accesses(const mr_window *w, mr_arena *arena, uint32_t *count)
{
    uint64_t *accesses = mr_arena_alloc(arena, w->size, sizeof *accesses);
    *count = 0;
    for (uint32_t e = 0; accesses != NULL && e < w->size; e++)
        if (mr_op_is_access(mr_window_op(w, e)) && w->variables[w->object[e]].shared)
            accesses[(*count)++] = (uint64_t)w->object[e] << 32 | e;
    if (accesses != NULL && *count > 0)
        qsort(accesses, *count, sizeof *accesses, compare_by_variable);
    return accesses;
}

static bool is_question(const asked *self, uint32_t a, uint32_t b)
{
    const mr_window *w = self->window;
    return a < b && w->thread[a] != w->thread[b] &&
           mr_ops_conflict(mr_window_op(w, a), mr_window_op(w, b)) &&
           !mr_precedes(&self->problem.hard, a, b) &&
           !mr_locksets_meet(w, w->lockset[a], w->lockset[b]);
}

static bool draw_pairs(asked *self, uint32_t wanted)
{
    mr_random random = {self->plan->seed};
    uint32_t count;
    uint64_t *accesses = sorted_accesses(self->window, &self->arena, &count);
    if (accesses == NULL)
        return false;
    for (uint32_t i = 0; count > 1 && i < wanted * TRIES && self->pair_count < wanted; i++) {
        uint32_t at = mr_random_below(&random, count), first = at, end = at;
        uint64_t variable = accesses[at] >> 32;
        while (first > 0 && accesses[first - 1] >> 32 == variable)
            first--;
        while (end < count && accesses[end] >> 32 == variable)
            end++;
        if (i % 2 == 1) { /* one of its neighbours */
            first = at > first + NEAR ? at - NEAR : first;
            end = end > at + NEAR + 1 ? at + NEAR + 1 : end;
        }
        uint32_t one = (uint32_t)accesses[at];
        uint32_t two = (uint32_t)accesses[first + mr_random_below(&random, end - first)];
        pair drawn = {one < two ? one : two, one < two ? two : one};
        if (is_question(self, drawn.first, drawn.second))
            self->pairs[self->pair_count++] = drawn;
    }
    return true;
}

/* Asking. */

static mr_status check(asked *self, const mr_decision *decision)
{
    uint32_t start = self->window->start;
    mr_witness witness = {.first = start + decision->first,
                          .second = start + decision->second,
                          .window_start = start,
                          .window_end = self->window->end,
                          .model = self->model,
                          .events = mr_calloc(decision->event_count, sizeof *witness.events),
                          .event_count = decision->event_count};
    if (witness.events == NULL)
        return mr_error_memory(self->error, "checking a witness");
    for (uint32_t i = 0; i < decision->event_count; i++)
        witness.events[i] = start + decision->events[i];
    mr_status status = mr_checker_check(self->checker, &witness, self->error);
    mr_witness_free(&witness);
    if (status != MR_ERR_INTERNAL)
        return status;
    self->cell->rejected++;
    return MR_OK;
}

static void count(mr_ladder_side *side, const mr_decision *decision, double seconds)
{
    side->seconds[side->count++] = seconds;
    side->race += decision->verdict == MR_VERDICT_RACE;
    side->no_race += decision->verdict == MR_VERDICT_NO_RACE;
    side->unknown += decision->verdict == MR_VERDICT_UNKNOWN;
    if (decision->verdict != MR_VERDICT_UNKNOWN)
        side->settled[decision->step]++;
}

/* Gives the verdict, its seconds, and whether that took more than cone and linearise. */
static mr_status ask(asked *self, const pair *question, bool eager, mr_verdict *verdict,
                     double *seconds, bool *hard)
{
    mr_ladder_side *side = eager ? &self->cell->eager : &self->cell->ladder;
    mr_session *session = eager ? self->eager_session : self->ladder_session;
    mr_arena_mark mark = mr_arena_get_mark(&self->arena);
    mr_decision decision;
    double begin = mr_seconds();
    mr_status status =
        mr_decide(&self->problem, session, eager ? &self->plan->eager : &self->plan->ladder,
                  question->first, question->second, &self->arena, &decision, self->error);
    *seconds = mr_seconds() - begin;
    side->total += *seconds;
    *verdict = decision.verdict;
    *hard = decision.verdict == MR_VERDICT_UNKNOWN || decision.step > MR_STEP_LINEARISE;
    double limit = self->plan->ladder.limits.timeout_ms / 1e3;
    if (decision.verdict == MR_VERDICT_UNKNOWN && *seconds < limit)
        *seconds = limit;
    if (status == MR_OK)
        count(side, &decision, *seconds);
    if (status == MR_OK && decision.verdict == MR_VERDICT_RACE)
        status = check(self, &decision);
    mr_arena_release(&self->arena, mark);
    return status;
}

static void compare(asked *self, mr_verdict ladder, mr_verdict eager)
{
    if (eager == MR_VERDICT_UNKNOWN || ladder == eager)
        return;
    if (ladder == MR_VERDICT_UNKNOWN)
        self->cell->only_eager++;
    else
        self->cell->disagreements++;
}

static mr_status ask_all(asked *self, bool ask_eager)
{
    mr_ladder_cell *cell = self->cell;
    mr_status status = MR_OK;
    for (uint32_t i = 0; status == MR_OK && i < self->pair_count; i++) {
        mr_verdict ladder, eager;
        double seconds, eager_seconds;
        bool hard, eager_hard;
        if (cell->ladder.total > self->plan->cell_seconds ||
            cell->ladder.count == MR_LADDER_MOST_QUERIES)
            return MR_OK;
        status = ask(self, &self->pairs[i], false, &ladder, &seconds, &hard);
        if (seconds > cell->worst_seconds) {
            cell->worst_seconds = seconds;
            snprintf(cell->worst_input, sizeof cell->worst_input, "%s", self->name);
        }
        if (status != MR_OK || !ask_eager || i >= self->plan->eager_queries ||
            cell->eager.total > self->plan->cell_seconds)
            continue;
        cell->paired[cell->eager.count] = seconds;
        cell->paired_hard[cell->eager.count] = hard;
        status = ask(self, &self->pairs[i], true, &eager, &eager_seconds, &eager_hard);
        if (status == MR_OK)
            compare(self, ladder, eager);
    }
    return status;
}

static mr_status open_window(asked *self, uint32_t start, uint32_t end)
{
    mr_status status = mr_carried_init(&self->carried, self->trace, self->error);
    if (status == MR_OK)
        status = mr_barrier_edges_find(self->trace, MR_OPAQUE_PAIR, &self->opaque, self->error);
    if (status != MR_OK)
        return status;
    self->carried.barrier_edges = &self->opaque;
    mr_carried_move(&self->carried, start);
    self->ladder_session = mr_session_new();
    self->eager_session = mr_session_new();
    self->checker = mr_checker_new(self->trace, MR_OPAQUE_PAIR);
    if (self->ladder_session == NULL || self->eager_session == NULL || self->checker == NULL)
        return mr_error_memory(self->error, "opening a window");
    double begin = mr_seconds();
    status =
        mr_window_build(&self->carried, end, self->model, &self->arena, &self->window, self->error);
    if (status == MR_OK && !mr_problem_init(&self->problem, self->window, &self->arena))
        status = mr_error_memory(self->error, "opening a window");
    self->cell->window_seconds += mr_seconds() - begin;
    return status;
}

mr_status mr_ladder_ask(mr_ladder_cell *cell, const mr_ladder_plan *plan, const mr_trace *trace,
                        const char *name, uint32_t start, uint32_t end, mr_model model,
                        bool ask_eager, mr_error *error)
{
    asked *self = mr_calloc(1, sizeof *self);
    if (self == NULL)
        return mr_error_memory(error, "opening a window");
    *self = (asked){
        .cell = cell, .plan = plan, .trace = trace, .name = name, .model = model, .error = error};
    mr_arena_init(&self->arena);
    mr_status status = open_window(self, start, end);
    if (status == MR_OK && !draw_pairs(self, plan->queries))
        status = mr_error_memory(error, "drawing pairs");
    cell->windows += self->pair_count > 0;
    if (status == MR_OK)
        status = ask_all(self, ask_eager);
    mr_session_free(self->ladder_session);
    mr_session_free(self->eager_session);
    mr_checker_free(self->checker);
    mr_carried_free(&self->carried);
    mr_barrier_edges_free(&self->opaque);
    mr_arena_free(&self->arena);
    free(self);
    return status;
}

static int compare_doubles(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

double mr_ladder_quantile(double *values, uint32_t count, double q)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    return values[(uint32_t)(q * (count - 1) + 0.5)];
}
