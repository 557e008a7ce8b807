#include "exhaustive.h"

#include "base/assert.h"
#include "hunt/model/model_state.h"
#include "hunt/model/model_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUESTIONS_AT_ONCE = 256 };

typedef struct exploring {
    mr_explore *self;
    const mr_explore_settings *settings;
    bool is_over, reached_goal, uses_freed;
} exploring;

void mr_explore_free(mr_explore *self)
{
    mr_graph_free(&self->graph);
    mr_seek_free(&self->search);
    mr_pmodel_free(&self->model);
    free(self->had);
    free(self->shown);
    free(self->uses);
    *self = (mr_explore){.had = NULL};
}

static void end(exploring *its, mr_explore_verdict verdict, const char *reason)
{
    its->is_over = true;
    its->self->verdict = verdict;
    snprintf(its->self->reason, sizeof its->self->reason, "%s", reason);
}

/* ---- ways as positions ---- */

/* Where a way is: the state, and the place of each thread in the model. */
typedef struct walker {
    const mr_graph *graph;
    mr_state state;
    uint32_t nodes[MR_PMODEL_THREADS_MAX];
    uint64_t positions[MR_PMODEL_THREADS_MAX];
    uint32_t last[MR_PMODEL_THREADS_MAX]; /* edges; MR_PMODEL_NONE: it is at its begin */
    bool is_stale;
} walker;

/* The position of the thread just before its next operation. */
static uint64_t before_next(const walker *at, uint32_t thread)
{
    const mr_pmodel *model = at->graph->model;
    uint32_t last = at->last[thread];
    return at->positions[thread] +
           (last == MR_PMODEL_NONE ? model->threads[thread].lead : model->edges[last].lead);
}

/* Passes over what others do not notice, up to the node of the graph. A run that came after the search
 * may have shown that an edge leads back: then the way there is another one (`is_stale`). */
static void catch_up(walker *at, uint32_t thread)
{
    const mr_pmodel *model = at->graph->model;
    uint32_t goal = at->graph->nodes[mr_state_node(&at->state, thread)].model, steps = 0;
    while (at->nodes[thread] != goal && !at->is_stale) {
        uint32_t edge = model->nodes[at->nodes[thread]].edges;
        at->is_stale = edge == MR_PMODEL_NONE || steps++ > model->node_count;
        if (at->is_stale)
            return;
        at->positions[thread] = before_next(at, thread) + model->edges[edge].records;
        at->last[thread] = edge;
        at->nodes[thread] = model->edges[edge].to;
    }
}

/* A signal has, beside those of its edge, two for each thread that it wakes, or one when it wakes none. */
static uint64_t records_of(const walker *at, const mr_seek_step *step)
{
    const mr_graph *graph = at->graph;
    const mr_graph_node *node = &graph->nodes[mr_state_node(&at->state, step->thread)];
    const mr_pmodel_edge *edge = &graph->model->edges[graph->edges[step->edge].model];
    if (node->kind != MR_PMODEL_SIGNAL && node->kind != MR_PMODEL_BROADCAST)
        return edge->records;
    uint64_t woken = 0;
    for (uint32_t t = 0; t < at->state.thread_count; t++)
        woken += mr_state_lives(&at->state, t) &&
                 mr_state_mode_of(&at->state, t) == MR_STATE_ASLEEP &&
                 graph->nodes[mr_state_node(&at->state, t)].object == node->object;
    woken = node->kind == MR_PMODEL_SIGNAL && woken > 1 ? 1 : woken;
    return edge->records + (woken ? 2 * woken : 1);
}

static void walk(walker *at, const mr_seek_step *step, mr_explore_stop *stop)
{
    const mr_graph *graph = at->graph;
    uint32_t thread = step->thread;
    catch_up(at, thread);
    uint32_t number = graph->edges[step->edge].model;
    const mr_pmodel_edge *edge = &graph->model->edges[number];
    stop->wakes_at = before_next(at, thread) + edge->records - 1;
    stop->exits = graph->nodes[mr_state_node(&at->state, thread)].kind == MR_PMODEL_EXIT;
    at->positions[thread] = before_next(at, thread) + records_of(at, step);
    at->last[thread] = number;
    at->nodes[thread] = edge->to;
    mr_state_do(&at->state, step);
    stop->thread = thread;
    stop->position = at->positions[thread];
    stop->woken = step->woken;
}

static bool walker_init(walker *at, const mr_graph *graph)
{
    *at = (walker){.graph = graph};
    for (uint32_t t = 0; t < graph->model->thread_count; t++) {
        at->nodes[t] = graph->model->threads[t].root;
        at->last[t] = MR_PMODEL_NONE;
    }
    return mr_state_init(&at->state, graph);
}

/* The way as stops, and where threads are after it. */
static mr_status walk_way(walker *at, const mr_explore *self, const mr_seek_way *way,
                          mr_explore_stop **stops, mr_error *error)
{
    *stops = mr_calloc(way->count + 1ull, sizeof **stops);
    if (!*stops || !walker_init(at, &self->graph)) {
        free(*stops);
        *stops = NULL;
        mr_state_free(&at->state);
        return mr_error_memory(error, "making a schedule");
    }
    for (uint32_t i = 0; i < way->count; i++)
        walk(at, &self->search.steps[way->first + i], &(*stops)[i]);
    return MR_OK;
}

mr_status mr_explore_stops(const mr_explore *self, const mr_seek_way *way, mr_explore_stop **stops,
                           size_t *count, mr_error *error)
{
    walker at;
    mr_status status = walk_way(&at, self, way, stops, error);
    *count = way->count;
    if (!status)
        mr_state_free(&at.state);
    return status;
}

/* ---- runs ---- */

static mr_status note_had(exploring *its, mr_pmodel_run *run, mr_error *error)
{
    mr_explore *self = its->self;
    if (!mr_grow((void **)&self->had, &self->had_capacity, self->had_count + 1, sizeof *self->had))
        return mr_error_memory(error, "keeping the behaviour of a run");
    mr_explore_had *had = &self->had[self->had_count++];
    *had = (mr_explore_had){.exited = run->exited};
    for (uint32_t t = 0; t < MR_PMODEL_THREADS_MAX; t++) {
        bool begun = t < run->place_count && (run->places[t].node != MR_PMODEL_NONE);
        had->nodes[t] = begun ? run->places[t].node : MR_SEEK_NOT_CREATED;
    }
    return MR_OK;
}

static void judge(exploring *its, const mr_pmodel_run *run, const mr_explore_ran *ran)
{
    mr_explore *self = its->self;
    if (ran->end == MR_EXPLORE_FAILED && !self->failed_runs++)
        self->failure_status = ran->exit_status;
    if (ran->end == MR_EXPLORE_FINE && !self->has_status) {
        self->has_status = true;
        self->first_status = ran->exit_status;
    }
    if (ran->end == MR_EXPLORE_FINE && ran->exit_status != self->first_status &&
        !self->other_status_runs++)
        self->other_status = ran->exit_status;
    self->deadlocked_runs += ran->end == MR_EXPLORE_DEADLOCK;
    self->timed_out_runs += ran->end == MR_EXPLORE_TIMEOUT;
    its->reached_goal = ran->reached_goal;
    its->uses_freed = ran->uses_freed;
    if (run->problem[0])
        end(its, MR_EXPLORE_DIFFERS, run->problem);
    if (ran->is_cut)
        end(its, MR_EXPLORE_LEFT, "a run was not recorded to its end");
    if (ran->unseen[0] && !self->unseen[0])
        snprintf(self->unseen, sizeof self->unseen, "%s", ran->unseen);
}

static mr_status run_once(exploring *its, const mr_explore_request *request, mr_error *error)
{
    mr_pmodel_run run = {.places = NULL, .watched = 0};
    mr_explore_ran ran = {.end = MR_EXPLORE_FINE};
    mr_explore *self = its->self;
    self->runs++;
    if (request->use)
        run.watched = self->model.nodes[request->use->first_node].op.code;
    mr_status status =
        its->settings->runner(its->settings->context, &self->model, request, &run, &ran, error);
    if (!status)
        status = note_had(its, &run, error);
    if (!status)
        judge(its, &run, &ran);
    mr_pmodel_run_free(&run);
    return status;
}

static const char *halt_text(const mr_halt *halt)
{
    return mr_halt_asked(halt) == MR_HALT_TIME ? "the time is used up" : "interrupted";
}

/* Has a limit been reached? */
static bool is_at_limit(exploring *its)
{
    const mr_explore_settings *settings = its->settings;
    char reason[200] = "";
    if (settings->max_runs && its->self->runs >= settings->max_runs)
        snprintf(reason, sizeof reason, "stopped after %" PRIu64 " runs", its->self->runs);
    else if (mr_halt_asked(settings->halt))
        snprintf(reason, sizeof reason, "%s", halt_text(settings->halt));
    if (reason[0])
        end(its, MR_EXPLORE_LEFT, reason);
    return its->is_over;
}

/* How many records the next operation of a thread has. When it is not known, so many that it is among
 * them: beside an operation there are those of memory that is allocated, and of the begin of a thread. */
static uint64_t records_ahead(const mr_explore *self, uint32_t node)
{
    enum { UNKNOWN = 4 };
    uint32_t edge = self->graph.model->nodes[node].edges;
    return edge == MR_PMODEL_NONE ? UNKNOWN : self->graph.model->edges[edge].records;
}

mr_status mr_explore_plan(const mr_explore *self, const mr_seek_way *way, uint32_t then,
                          const mr_seek_race *race, mr_explore_request *request,
                          mr_explore_stop **stops, bool *is_stale, mr_error *error)
{
    uint32_t second = race ? race->second : MR_PMODEL_NONE;
    walker at;
    mr_status status = walk_way(&at, self, way, stops, error);
    if (status)
        return status;
    *request = (mr_explore_request){.model = &self->model,
                                    .stops = *stops,
                                    .steps = self->search.steps + way->first,
                                    .stop_count = way->count,
                                    .then = then,
                                    .second = second,
                                    .race = race,
                                    .seed = self->runs};
    if (then != MR_PMODEL_NONE) {
        catch_up(&at, then);
        request->then_from = before_next(&at, then);
        request->then_to = request->then_from + records_ahead(self, at.nodes[then]);
    }
    if (second != MR_PMODEL_NONE) {
        catch_up(&at, second);
        request->second_from = before_next(&at, second);
    }
    mr_state_free(&at.state);
    *is_stale = at.is_stale;
    return MR_OK;
}

/* Runs the program by the way; then `then` (MR_PMODEL_NONE: nobody) does one operation, or stands before
 * it with the second thread of the race (NULL: there is none), or to use freed memory (NULL: it is not). */
static mr_status run_way(exploring *its, const mr_seek_way *way, uint32_t then,
                         const mr_seek_race *race, const mr_seek_use *use, mr_error *error)
{
    mr_explore_request request = {.use = NULL};
    mr_explore_stop *stops = NULL;
    bool is_stale = false;
    mr_status status =
        mr_explore_plan(its->self, way, then, race, &request, &stops, &is_stale, error);
    request.use = use;
    if (!status && !is_stale)
        status = run_once(its, &request, error);
    free(stops);
    return status;
}

/* ---- the loop ---- */

static mr_status search(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    const mr_seek_limits limits = {.states = its->settings->max_states,
                                   .bytes = its->settings->max_bytes,
                                   .questions = QUESTIONS_AT_ONCE,
                                   .no_reduction = its->settings->no_reduction,
                                   .halt = its->settings->halt};
    mr_graph_free(&self->graph);
    mr_seek_free(&self->search);
    mr_status status = mr_graph_make(&self->graph, &self->model, error);
    if (!status)
        status = mr_seek_run(&self->search, &self->graph, &limits, error);
    self->searches++;
    return status;
}

/* Was the question answered by a run for another one? */
static bool is_answered(const mr_explore *self, const mr_seek_question *question)
{
    uint32_t node = self->graph.of[question->node];
    return self->graph.nodes[node].kind == MR_PMODEL_UNKNOWN && !self->graph.nodes[node].loops &&
           self->model.nodes[question->node].op.kind != MR_PMODEL_UNKNOWN &&
           self->model.nodes[question->node].edges != MR_PMODEL_NONE;
}

static void tell_stuck(exploring *its)
{
    const mr_seek_question *question = &its->self->search.questions[0];
    const mr_pmodel_op *op = &its->self->model.nodes[question->node].op;
    char reason[300];
    snprintf(reason, sizeof reason,
             "runs that were to show what thread %" PRIu32
             " does next did not: it stands before an operation that is %s, at 0x%" PRIx64,
             question->thread, mr_pmodel_kind_name((mr_pmodel_kind)op->kind), op->code);
    end(its, MR_EXPLORE_STUCK, reason);
}

static mr_status answer(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    uint64_t before = self->model.version;
    mr_status status = MR_OK;
    for (size_t i = 0; i < self->search.question_count && !status && !is_at_limit(its); i++) {
        const mr_seek_question *question = &self->search.questions[i];
        if (!is_answered(self, question))
            status = run_way(its, &question->way, question->thread, NULL, NULL, error);
    }
    if (!status && !its->is_over && self->model.version == before)
        tell_stuck(its);
    return status;
}

/* The same words for a run as for a final state. */
static void row_of_had(const mr_explore *self, const mr_explore_had *had, uint32_t *row)
{
    uint32_t threads = self->model.thread_count;
    for (uint32_t t = 0; t < threads; t++)
        row[t] =
            had->nodes[t] != MR_SEEK_NOT_CREATED ? self->graph.of[had->nodes[t]] : had->nodes[t];
    row[threads] = had->exited;
}

/* Which behaviours did runs have? */
static mr_status mark_confirmed(mr_explore *self, bool *confirmed, mr_error *error)
{
    uint32_t row[MR_PMODEL_THREADS_MAX + 1];
    mr_rows rows = {.length = self->model.thread_count + 1};
    bool is_new, ok = true;
    for (size_t i = 0; i < self->search.final_count && ok; i++)
        ok = mr_rows_add(&rows, self->search.final_nodes + self->search.finals[i].nodes, &is_new) !=
             MR_PMODEL_NONE;
    size_t known = rows.count;
    self->confirmed = 0;
    for (size_t i = 0; i < self->had_count && ok; i++) {
        row_of_had(self, &self->had[i], row);
        uint32_t number = mr_rows_add(&rows, row, &is_new);
        ok = number != MR_PMODEL_NONE;
        if (ok && number < known && !confirmed[number]) {
            confirmed[number] = true;
            self->confirmed++;
        }
    }
    mr_rows_free(&rows);
    return ok ? MR_OK : mr_error_memory(error, "comparing behaviours");
}

/* Runs what no run had. The model may grow by that. */
static mr_status confirm(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    bool *confirmed = mr_calloc(self->search.final_count + 1, sizeof *confirmed);
    uint64_t version = self->model.version;
    if (!confirmed)
        return mr_error_memory(error, "comparing behaviours");
    mr_status status = mark_confirmed(self, confirmed, error);
    for (size_t i = 0; i < self->search.final_count && !status && !its->is_over; i++)
        if (!confirmed[i] && !is_at_limit(its) && self->model.version == version)
            status = run_way(its, &self->search.finals[i].way, MR_PMODEL_NONE, NULL, NULL, error);
    if (!status && self->model.version == version) {
        memset(confirmed, 0, self->search.final_count * sizeof *confirmed);
        status = mark_confirmed(self, confirmed, error);
    }
    free(confirmed);
    return status;
}

/* Lets the threads of each race stand before their operations in a run. */
static mr_status show_races(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    mr_status status = MR_OK;
    uint64_t version = self->model.version;
    free(self->shown);
    self->shown_count = self->search.race_count;
    self->shown = mr_calloc(self->shown_count + 1, sizeof *self->shown);
    if (!self->shown)
        return mr_error_memory(error, "showing races");
    for (size_t i = 0;
         i < self->shown_count && !status && !is_at_limit(its) && self->model.version == version;
         i++) {
        const mr_seek_race *race = &self->search.races[i];
        its->reached_goal = false;
        status = run_way(its, &race->way, race->first, race, NULL, error);
        self->shown[i] = its->reached_goal;
    }
    return status;
}

/* Has a run shown it, or one of the same places? */
static bool is_shown(const mr_explore *self, const mr_seek_use *use)
{
    const mr_pmodel_node *nodes = self->model.nodes;
    for (size_t i = 0; i < self->use_count; i++)
        if (nodes[self->uses[i].first_node].op.code == nodes[use->first_node].op.code &&
            nodes[self->uses[i].second_node].op.code == nodes[use->second_node].op.code)
            return true;
    return false;
}

static mr_status note_use(mr_explore *self, const mr_seek_use *use, mr_error *error)
{
    if (!mr_grow((void **)&self->uses, &self->use_capacity, self->use_count + 1,
                 sizeof *self->uses))
        return mr_error_memory(error, "keeping a use of freed memory");
    self->uses[self->use_count++] = *use;
    return MR_OK;
}

/* Lets the thread of each use go on in a run, which says whether the memory was free. */
static mr_status show_uses(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    mr_status status = MR_OK;
    uint64_t version = self->model.version;
    for (size_t i = 0; i < self->search.use_count && !status && !its->is_over &&
                       self->model.version == version && !is_at_limit(its);
         i++) {
        const mr_seek_use *use = &self->search.uses[i];
        if (is_shown(self, use))
            continue;
        its->uses_freed = false;
        status = run_way(its, &use->way, use->first, NULL, use, error);
        if (!status && its->uses_freed)
            status = note_use(self, use, error);
    }
    return status;
}

static void end_search(exploring *its)
{
    static const char *const reasons[] = {
        [MR_SEEK_STATES] = "the search reached the limit of states",
        [MR_SEEK_BYTES] = "the search reached the limit of memory",
    };
    mr_seek_stop stop = its->self->search.stop;
    if (stop != MR_SEEK_COMPLETE && stop != MR_SEEK_QUESTIONS)
        end(its, MR_EXPLORE_LEFT,
            stop == MR_SEEK_STOPPED ? halt_text(its->settings->halt) : reasons[stop]);
    else if (its->self->graph.ambiguous != MR_PMODEL_NONE)
        end(its, MR_EXPLORE_DIFFERS,
            "a read of data that one thread uses saw different values after the same history");
}

static void conclude(exploring *its)
{
    mr_explore *self = its->self;
    char reason[300];
    if (mr_graph_is_strange(&self->graph))
        snprintf(self->unseen, sizeof self->unseen,
                 "writes to shared data by code that is not recorded");
    if (self->unseen[0]) {
        snprintf(reason, sizeof reason, "what the mode cannot enumerate: %s", self->unseen);
        end(its, MR_EXPLORE_UNSEEN, reason);
    } else if (self->confirmed < self->search.final_count && !its->settings->no_confirmation) {
        snprintf(reason, sizeof reason,
                 "%" PRIu64
                 " behaviours were found by the search, and a run by the way to them had "
                 "another one",
                 (uint64_t)self->search.final_count - self->confirmed);
        end(its, MR_EXPLORE_STUCK, reason);
    } else {
        end(its, MR_EXPLORE_ALL, "");
    }
}

static mr_status round_of(exploring *its, mr_error *error)
{
    mr_explore *self = its->self;
    mr_status status = search(its, error);
    if (status)
        return status;
    end_search(its);
    if (its->is_over)
        return MR_OK;
    if (self->search.question_count)
        return answer(its, error);
    uint64_t version = self->model.version;
    if (!its->settings->no_confirmation)
        status = confirm(its, error);
    if (!status && !its->is_over && self->model.version == version &&
        !its->settings->no_confirmation)
        status = show_races(its, error);
    if (!status && !its->is_over && self->model.version == version &&
        !its->settings->no_confirmation)
        status = show_uses(its, error);
    if (!status && !its->is_over && self->model.version == version)
        conclude(its);
    return status;
}

mr_status mr_explore_all(mr_explore *self, const mr_explore_settings *settings, mr_error *error)
{
    exploring its = {.self = self, .settings = settings};
    const mr_explore_request first = {
        .model = &self->model, .then = MR_PMODEL_NONE, .second = MR_PMODEL_NONE, .seed = 1};
    mr_status status = run_once(&its, &first, error);
    while (!status && !its.is_over && !is_at_limit(&its))
        status = round_of(&its, error);
    self->deadlocks = 0;
    for (size_t i = 0; i < self->search.final_count; i++)
        self->deadlocks += self->search.finals[i].end == MR_SEEK_DEADLOCK;
    return status;
}
