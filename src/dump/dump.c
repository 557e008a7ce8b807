#include "dump.h"

#include "encoder/smtlib.h"
#include "pair_problem.h"
#include "predict/settings.h"
#include "solver/cone.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One pair on its way into the dump. */
typedef struct dump {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    mr_pair_problem pair;
    uint32_t *required, *allowed, *cone; /* one a thread of the window; arena */
    bool impossible; /* one of the accesses is required before the other: no formula */
} dump;

static mr_status no_memory(mr_error *error)
{
    return mr_error_memory(error, "dumping a pair");
}

/* ---- words ---- */

static void write_event(const dump *self, uint32_t event)
{
    const mr_trace *trace = self->trace;
    char op[128];
    mr_trace_print_op(trace, event, true, op, sizeof op);
    fprintf(self->stream, "event %" PRIu32 " %s|%s|%s", event,
            mr_names_display(&trace->threads, trace->thread[event]), op,
            mr_names_display(&trace->locations, trace->location[event]));
}

/* A comment for a node of the formula (mr_formula_write_smtlib). */
typedef struct node_words {
    const dump *dump;
    const mr_encoding *encoding;
} node_words;

static void describe_node(FILE *stream, void *context, uint32_t node)
{
    const node_words *words = context;
    if (node == words->encoding->cut)
        fputs("CUT", stream);
    else
        write_event(words->dump, words->dump->pair.start + words->encoding->event_of[node]);
}

/* ---- the window ---- */

static void write_window(const dump *self)
{
    const mr_window *w = self->pair.problem.window;
    fprintf(self->stream, "; first   ");
    write_event(self, self->pair.first);
    fprintf(self->stream, "\n; second  ");
    write_event(self, self->pair.second);
    fprintf(self->stream,
            "\n; window  events %" PRIu32 " to %" PRIu32 "%s, model %s: %" PRIu32
            " threads, %" PRIu32 " variables, %" PRIu32 " locks, %" PRIu32 " critical sections\n",
            w->start, w->end - 1,
            self->pair.planned ? "" : " (no window of the plan has both accesses)",
            mr_model_name(w->model), w->thread_count, w->variable_count, w->lock_count,
            w->section_count);
}

/* ---- the cone ---- */

static bool find_cone(dump *self)
{
    const mr_problem *problem = &self->pair.problem;
    const mr_window *w = problem->window;
    uint32_t events[2] = {self->pair.first - w->start, self->pair.second - w->start};
    mr_stops stops[] = {{&events[0], 1}, {&events[1], 1}};
    mr_goal race = {.stops = stops, .stop_count = 2};
    self->required = mr_arena_alloc(&self->pair.arena, w->thread_count, sizeof *self->required);
    self->allowed = mr_arena_alloc(&self->pair.arena, w->thread_count, sizeof *self->allowed);
    self->cone = mr_arena_alloc(&self->pair.arena, w->thread_count, sizeof *self->cone);
    if (!self->required || !self->allowed || !self->cone)
        return false;
    memset(self->required, 0, w->thread_count * sizeof *self->required);
    self->impossible = !mr_cone_narrow(&problem->forced, &race) ||
                       !mr_cone_required(&problem->forced, &race, self->required);
    if (self->impossible)
        return true;
    mr_cone_allowed(&problem->forced, &race, self->allowed);
    return mr_cone_close(&problem->hard, &problem->forced, self->required, self->allowed, &race,
                         self->cone, &self->pair.arena);
}

static void write_cone(const dump *self)
{
    const mr_window *w = self->pair.problem.window;
    if (self->impossible) {
        fputs(
            "; cone    one access needs the other to have happened, or both hold a lock: no race\n",
            self->stream);
        return;
    }
    fputs("; cone    events of each thread: in the window, required (L), in the cone (C), allowed "
          "(U)\n",
          self->stream);
    for (uint32_t t = 0; t < w->thread_count; t++)
        fprintf(self->stream, ";   %-12s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "\n",
                mr_names_display(&self->trace->threads, w->threads[t].number),
                mr_window_length(w, t), self->required[t], self->cone[t], self->allowed[t]);
}

/* ---- the steps ---- */

static mr_status ask(dump *self, unsigned steps, const char *who, mr_error *error)
{
    mr_decision decision;
    mr_status status = mr_pair_problem_ask(&self->pair, self->config, steps, &decision, error);
    if (status != MR_OK)
        return status;
    fprintf(self->stream, ";   %-12s ", who);
    switch (decision.verdict) {
    case MR_VERDICT_RACE:
        fprintf(self->stream, "race, by %s: %" PRIu32 " events before it",
                mr_step_name(decision.step), decision.event_count);
        break;
    case MR_VERDICT_NO_RACE:
        fprintf(self->stream, "no race, by %s", mr_step_name(decision.step));
        break;
    case MR_VERDICT_UNKNOWN:
        fprintf(self->stream, "unknown (%s)", mr_unknown_reason_name(decision.reason));
        break;
    }
    fprintf(self->stream, ", effort %" PRIu64 "\n", decision.effort);
    return MR_OK;
}

static mr_status write_steps(dump *self, mr_error *error)
{
    mr_status status = MR_OK;
    fputs("; steps   what each says alone, and the ladder of solver.steps\n", self->stream);
    for (int step = 0; step < MR_STEP_FAR && status == MR_OK; step++)
        status = ask(self, MR_STEP_BIT(step), mr_step_name((mr_step)step), error);
    return status == MR_OK ? ask(self, mr_predict_limits(self->config).steps, "ladder", error)
                           : status;
}

/* ---- the formula ---- */

static mr_status write_formula(dump *self, mr_error *error)
{
    const mr_window *w = self->pair.problem.window;
    const uint32_t first = self->pair.first - w->start, second = self->pair.second - w->start;
    mr_stops stops[] = {{&first, 1}, {&second, 1}};
    const mr_goal race = {.stops = stops, .stop_count = 2};
    const mr_encoding_options options = {0};
    mr_encoding encoding = {0};
    mr_status status = MR_OK;
    if (self->impossible) {
        fputs("; formula none is needed\n(set-logic QF_IDL)\n(assert false)\n(check-sat)\n",
              self->stream);
        return MR_OK;
    }
    node_words words = {self, &encoding};
    bool built =
        mr_encoding_build(&encoding, w, &self->pair.problem.hard, &self->pair.problem.forced,
                          self->required, self->cone, &race, &options, &self->pair.arena);
    const mr_formula *formula = &encoding.formula;
    if (!built || formula->out_of_memory) {
        status = no_memory(error);
    } else {
        fprintf(self->stream,
                "; formula %" PRIu32 " nodes, %" PRIu32 " choices, %zu edges, %zu clauses\n",
                formula->node_count, formula->choice_count, formula->edge_count,
                formula->clause_count);
        mr_formula_write_smtlib(self->stream, formula, describe_node, &words);
    }
    mr_encoding_free(&encoding);
    return status;
}

/* ---- all of it ---- */

static mr_status check_pair(const mr_trace *trace, uint32_t first, uint32_t second, mr_error *error)
{
    if (second >= trace->event_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--pair: there is no event %" PRIu32
                            "; the trace has events 0 to %" PRIu64,
                            second, trace->event_count - 1);
    if (!mr_events_conflict(trace, first, second))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--pair: events %" PRIu32 " and %" PRIu32
                            " do not conflict; expected accesses of one variable by two threads, "
                            "one of them a write, not both atomic",
                            first, second);
    return MR_OK;
}

static mr_status write_all(dump *self, mr_error *error)
{
    if (!find_cone(self))
        return no_memory(error);
    errno = 0;
    write_window(self);
    write_cone(self);
    mr_status status = write_steps(self, error);
    if (status == MR_OK)
        status = write_formula(self, error);
    if (status == MR_OK && (fflush(self->stream) || ferror(self->stream)))
        status = mr_error_set(error, MR_ERR_IO, NULL, 0, "cannot write the dump: %s",
                              strerror(errno ? errno : EIO));
    return status;
}

mr_status mr_dump_pair(FILE *stream, const mr_trace *trace, const mr_config *config, uint32_t one,
                       uint32_t other, mr_error *error)
{
    dump self = {.stream = stream, .trace = trace, .config = config};
    uint32_t first = one < other ? one : other, second = one < other ? other : one;
    mr_status status = check_pair(trace, first, second, error);
    if (status != MR_OK)
        return status;
    status = mr_pair_problem_init(&self.pair, trace, config, first, second, 0, error);
    if (status == MR_OK)
        status = write_all(&self, error);
    mr_pair_problem_free(&self.pair);
    return status;
}
