#include "base/memory.h"
#include "base/seconds.h"
#include "engine/predict.h"
#include "formats/read.h"
#include "hunt/inputs/inputs_coverage.h"
#include "shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GO_ON = 1000 }; /* operations that the thread of a task does alone after it */

typedef char long_path[MR_STORE_PATH_BYTES + 64];

/* ---- behaviours of earlier runs ---- */

static void feed_path(const mr_hunt_worker *worker, uint32_t number, long_path path)
{
    snprintf(path, sizeof(long_path), "%s/feed-%" PRIu32, worker->runner.folder, number);
}

void mr_parent_free(mr_hunt_worker *worker, mr_parent *parent)
{
    long_path path;
    if (parent->used) {
        feed_path(worker, parent->number, path);
        unlink(path);
    }
    mr_trace_free(parent->trace);
    mr_positions_free(&parent->positions);
    mr_run_info_free(&parent->info);
    mr_way_index_free(&parent->index);
    *parent = (mr_parent){.trace = NULL};
}

mr_status mr_parent_read(mr_hunt_worker *worker, uint32_t number, mr_parent *parent,
                         mr_error *error)
{
    long_path path, feed;
    mr_store_behaviour_path(&worker->hunt->store, number, path);
    *parent = (mr_parent){.number = number, .used = ++worker->clock};
    mr_status status = mr_trace_read(path, NULL, &parent->trace, error);
    if (!status)
        status = mr_positions_read(path, parent->trace, &parent->positions, error);
    if (!status)
        status = mr_run_info_read(&parent->info, parent->positions.run, error);
    if (!status && !mr_way_index_make(&parent->index, parent->trace))
        status = mr_error_memory(error, "reading a behaviour");
    if (status)
        return status;
    feed_path(worker, number, feed);
    FILE *file = fopen(feed, "w");
    if (!file)
        return mr_error_set(error, MR_ERR_IO, feed, 0, "cannot write: %s", strerror(errno));
    status = mr_mrt_inputs(path, file, &parent->has_feed, error);
    if (fclose(file) != 0 && !status)
        status = mr_error_set(error, MR_ERR_IO, feed, 0, "cannot write: %s", strerror(errno));
    return status;
}

/* The behaviour, read now or kept; the one that was not used for longest goes. */
static mr_status find_parent(mr_hunt_worker *worker, uint32_t number, const mr_parent **found,
                             mr_error *error)
{
    mr_parent *oldest = &worker->parents[0];
    for (int i = 0; i < MR_PARENTS; i++) {
        mr_parent *parent = &worker->parents[i];
        if (parent->used && parent->number == number) {
            parent->used = ++worker->clock;
            *found = parent;
            return MR_OK;
        }
        if (parent->used < oldest->used)
            oldest = parent;
    }
    mr_parent_free(worker, oldest);
    *found = oldest;
    return mr_parent_read(worker, number, oldest, error);
}

/* ---- a run ---- */

mr_run_request mr_hunt_request(const mr_hunting *hunt, uint64_t number)
{
    const mr_hunt_options *options = hunt->options;
    return (mr_run_request){.arguments = options->arguments,
                            .strategy = number % 2 == 0 ? "pct" : "random",
                            .seed = options->seed + number - 1,
                            .timeout_ms = options->timeout_ms,
                            .keeps_inputs = true};
}

/* The schedule of a task. */
static mr_status write_schedule(const mr_task *task, const mr_parent *parent,
                                const mr_run_request *request, const char *path, mr_error *error)
{
    mr_prefix prefix = {.trace = parent->trace,
                        .positions = &parent->positions,
                        .info = &parent->info,
                        .events = task->events,
                        .event_count = task->event_count,
                        .stop_count = task->stop_count,
                        .first = task->kind == MR_TASK_SWAP ? 1 : 0,
                        .strategy = request->strategy,
                        .seed = request->seed,
                        .go_on = task->kind == MR_TASK_FINDING ? 0 : GO_ON};
    memcpy(prefix.stops, task->stops, sizeof prefix.stops);
    return mr_prefix_write(&prefix, path, error);
}

typedef struct trial {
    mr_task task;
    uint64_t number;
    mr_run_request request;
    long_path schedule, feed, trace;
    mr_ran ran;
    mr_behaviour behaviour;
    mr_run_outcome outcome;
    mr_hunt_line line;
    const mr_parent *parent;
    bool is_new, possible;
    uint32_t input;    /* with a source */
    bool tries_input;  /* … which is a new one … */
    bool input_is_new; /* … and covered something */
    bool keeps_input;  /* a behaviour or a finding came of it */
} trial;

/* It is no question about the trace of another run, and no claim of this process. */
static bool is_its_own(const mr_task *task)
{
    return task->kind == MR_TASK_FREE || task->kind == MR_TASK_STATE;
}

/* ---- inputs ---- */

/* Which input the run has, and how it gets it. */
static mr_status take_input(mr_hunt_worker *worker, trial *t, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_status status = MR_OK;
    worker->reference = hunt->has_reference ? &hunt->reference : NULL;
    if (!hunt->source)
        return MR_OK;
    pthread_mutex_lock(&hunt->lock);
    if (t->task.kind == MR_TASK_FREE)
        status = mr_input_source_next(hunt->source, &t->input, &t->tries_input, error);
    else
        t->input = mr_input_source_of(hunt->source, t->task.parent);
    worker->reference = mr_input_source_reference(hunt->source, t->input);
    t->keeps_input = !t->tries_input || mr_input_source_is_other(hunt->source, t->input);
    pthread_mutex_unlock(&hunt->lock);
    if (!status)
        status = mr_input_place_make(hunt->source, t->input, &worker->place, error);
    t->request.arguments = worker->place.arguments;
    t->request.input = worker->place.is_stdin ? worker->place.path : NULL;
    t->request.compares = t->tries_input;
    return status;
}

/* Later runs of the input are compared with the first one that did not fail. */
static mr_status refer(mr_hunting *hunt, const trial *t, mr_error *error)
{
    if (mr_run_kind_fails(t->outcome.kind))
        return MR_OK;
    pthread_mutex_lock(&hunt->lock);
    bool done = mr_input_source_refer(hunt->source, t->input, &t->ran.end);
    pthread_mutex_unlock(&hunt->lock);
    return done ? MR_OK : mr_error_memory(error, "noting how a run ended");
}

/* Tells the source what the run covered and compared. */
static mr_status tell_source(mr_hunting *hunt, trial *t, mr_error *error)
{
    mr_coverage coverage;
    if (!hunt->source)
        return MR_OK;
    if (!t->tries_input)
        return refer(hunt, t, error);
    mr_status status = mr_coverage_of_trace(t->ran.trace, &coverage, error);
    if (status)
        return status;
    const mr_input_seen seen = {coverage.keys, coverage.count, t->ran.operands.items,
                                t->ran.operands.count};
    pthread_mutex_lock(&hunt->lock);
    status = mr_input_source_told(hunt->source, t->input, &seen, &t->input_is_new, error);
    hunt->state.inputs_tried = mr_input_source_tried(hunt->source);
    hunt->state.inputs_kept = mr_input_source_kept(hunt->source);
    pthread_mutex_unlock(&hunt->lock);
    t->keeps_input = t->keeps_input || t->input_is_new;
    mr_coverage_free(&coverage);
    return status || !t->input_is_new ? status : refer(hunt, t, error);
}

/* `possible`: the task can be run. */
static mr_status decide(mr_hunt_worker *worker, trial *t, mr_error *error)
{
    t->possible = true;
    if (is_its_own(&t->task))
        return MR_OK;
    mr_status status = find_parent(worker, t->task.parent, &t->parent, error);
    return status ? status
                  : mr_frontier_decide(&t->task, t->parent->trace, &t->parent->index,
                                       worker->hunt->config, &t->possible, error);
}

/* The run tells local states. When the guide has no question, it is a free one. */
static mr_status prepare_guided(mr_hunt_worker *worker, trial *t, mr_error *error)
{
    mr_guide *guide = worker->hunt->guide;
    bool asks = false;
    snprintf(t->schedule, sizeof t->schedule, "%s/schedule", worker->runner.folder);
    mr_status status = mr_guide_ask(guide, t->request.arguments, t->request.strategy,
                                    t->request.seed, t->schedule, &asks, error);
    if (!status && !asks && mr_guide_is_over(guide)) {
        t->task.kind = MR_TASK_FREE;
        return MR_OK;
    }
    t->request.schedule = asks ? t->schedule : NULL;
    t->request.explores = t->request.tells_states = true;
    t->request.read_log = mr_guide_learn;
    t->request.context = guide;
    return status;
}

/* How the task is run. */
static mr_status prepare(mr_hunt_worker *worker, trial *t, mr_error *error)
{
    t->request = mr_hunt_request(worker->hunt, t->number);
    snprintf(t->trace, sizeof t->trace, "%s/kept.mrt", worker->runner.folder);
    t->request.trace_path = t->trace;
    mr_status status = take_input(worker, t, error);
    if (!status && t->task.kind == MR_TASK_STATE)
        return prepare_guided(worker, t, error);
    if (status || t->task.kind == MR_TASK_FREE)
        return status;
    snprintf(t->schedule, sizeof t->schedule, "%s/schedule", worker->runner.folder);
    t->request.schedule = t->schedule;
    feed_path(worker, t->task.parent, t->feed);
    t->request.feed = t->parent->has_feed ? t->feed : NULL;
    return write_schedule(&t->task, t->parent, &t->request, t->schedule, error);
}

/* The race or other finding was reached: it is confirmed. */
static bool confirms(const trial *t)
{
    return t->task.kind == MR_TASK_SWAP && t->ran.replay.outcome == MR_REPLAY_GOAL;
}

static mr_run_outcome race_of(const trial *t)
{
    const mr_trace *trace = t->parent->trace;
    uint32_t one = t->task.stops[0], two = t->task.stops[1];
    mr_run_outcome outcome = {.kind = MR_RUN_RACE};
    const char *first = mr_names_display(&trace->locations, trace->location[one]);
    const char *second = mr_names_display(&trace->locations, trace->location[two]);
    bool sorted = strcmp(first, second) <= 0;
    uint32_t variable = mr_pair_variable(trace, one, two);
    snprintf(outcome.text, sizeof outcome.text, "on %.80s between %.90s and %.90s",
             mr_names_display(&trace->variables, variable), sorted ? first : second,
             sorted ? second : first);
    outcome.identity =
        mr_hash_join(mr_hash_text(sorted ? first : second), mr_hash_text(sorted ? second : first));
    return outcome;
}

mr_status mr_hunt_claim(mr_hunting *hunt, const mr_run_outcome *outcome, uint64_t run,
                        mr_finding_line *line, bool *mine, mr_error *error)
{
    mr_hunt_state *state = &hunt->state;
    pthread_mutex_lock(&hunt->lock);
    mr_status status = mr_hunt_share(hunt, error);
    uint32_t *known = mr_map_at(&hunt->found, outcome->identity, 0);
    *mine = !status && known && !*known &&
            mr_claims_take(&hunt->claims, MR_CLAIM_IDENTITY, outcome->identity);
    if (!status && !known) {
        status = mr_error_memory(error, "noting a finding");
    } else if (*mine) {
        hunt->last_finding = (uint32_t)mr_claims_take_from(&hunt->claims, MR_CLAIM_FINDING,
                                                           hunt->last_finding + 1ull);
        *line = (mr_finding_line){
            .number = hunt->last_finding, .run = run, .identity = outcome->identity, .count = 1};
        snprintf(line->kind, sizeof line->kind, "%s", mr_run_kind_name(outcome->kind));
        snprintf(line->text, sizeof line->text, "%s", outcome->text);
        if (!mr_hunt_state_add(state, line))
            status = mr_error_memory(error, "noting a finding");
        *known = (uint32_t)state->finding_count;
    } else if (!status && *known) { /* else another process is about to save it */
        state->findings[*known - 1].count++;
    }
    mr_hunt_unshare(hunt);
    pthread_mutex_unlock(&hunt->lock);
    return status;
}

static mr_status report(mr_hunt_worker *worker, trial *t, const mr_run_outcome *outcome,
                        mr_error *error)
{
    bool mine = false;
    mr_finding_line line;
    if (outcome->kind == MR_RUN_GOOD)
        return MR_OK;
    mr_status status = mr_hunt_claim(worker->hunt, outcome, t->number, &line, &mine, error);
    if (status || !mine)
        return status;
    t->keeps_input = true;
    return mr_hunt_keep(worker, &t->request, &t->ran, outcome, &line, error);
}

/* Is it a new behaviour? It then has a number, and counts as known. */
static mr_status compare(mr_hunting *hunt, trial *t, mr_error *error)
{
    const mr_trace *trace = t->ran.trace;
    t->behaviour.input = hunt->source ? t->input + 1ull : 0;
    if (!mr_behaviour_make(&t->behaviour, trace))
        return mr_error_memory(error, "comparing runs");
    pthread_mutex_lock(&hunt->lock);
    /* A new input that covers nothing new is not explored, whatever values its reads see. Operations of an explored run are counted
     * otherwise, so its trace leads to no questions. */
    if ((t->tries_input && !t->input_is_new) || t->request.explores) {
        pthread_mutex_unlock(&hunt->lock);
        return MR_OK;
    }
    mr_status status = mr_hunt_share(hunt, error);
    uint32_t *known = mr_map_at(&hunt->signatures, t->behaviour.signature, 0);
    bool ok = known && mr_frontier_note(&hunt->tasks, trace, &t->behaviour) &&
              (is_its_own(&t->task) || mr_tasks_saw_pair(&hunt->tasks, t->task.pair));
    t->is_new = known && !*known &&
                mr_claims_take(&hunt->claims, MR_CLAIM_SIGNATURE, t->behaviour.signature);
    if (t->is_new) {
        t->line.behaviour = (uint32_t)mr_claims_take_from(&hunt->claims, MR_CLAIM_BEHAVIOUR,
                                                          hunt->state.behaviours);
        hunt->state.behaviours = t->line.behaviour + 1;
        *known = t->line.behaviour + 1;
        hunt->quiet = 0;
    }
    mr_hunt_unshare(hunt);
    pthread_mutex_unlock(&hunt->lock);
    return status || ok ? status : mr_error_memory(error, "comparing runs");
}

/* What a new behaviour leads to. */
static mr_status ask(mr_hunting *hunt, trial *t, mr_error *error)
{
    long_path path;
    mr_result result = {0};
    mr_near_pairs candidates = {.items = NULL};
    mr_status status = MR_OK;
    mr_store_behaviour_path(&hunt->store, t->line.behaviour, path);
    if (rename(t->trace, path) != 0)
        return mr_error_set(error, MR_ERR_IO, path, 0, "cannot write: %s", strerror(errno));
    memcpy(t->trace, path, sizeof t->trace);
    if (t->ran.trace->event_count)
        status = mr_predict(t->ran.trace, hunt->config, NULL, &result, error);
    if (!status)
        status = mr_near_find(&candidates, t->ran.trace, error);
    pthread_mutex_lock(&hunt->lock);
    if (!status && hunt->source) {
        status = mr_hunt_share(hunt, error);
        if (!status)
            status = mr_input_source_note(hunt->source, t->line.behaviour, t->input, error);
        mr_hunt_unshare(hunt);
    }
    if (!status && !mr_frontier_add(&hunt->tasks, t->line.behaviour, t->line.depth, t->ran.trace,
                                    &t->behaviour, &result, &candidates))
        status = mr_error_memory(error, "looking where to go on");
    pthread_mutex_unlock(&hunt->lock);
    mr_near_free(&candidates);
    mr_result_free(&result);
    return status;
}

static void take_reference(mr_hunting *hunt, trial *t)
{
    hunt->reference = t->ran.end;
    t->ran.end = (mr_run_end){
        .is_there = true,
        .exit_status = hunt->reference.exit_status,
        .signal = hunt->reference.signal,
        .deadlocked = hunt->reference.deadlocked,
        .timed_out = hunt->reference.timed_out,
        .output = hunt->reference.output
                      ? mr_strndup(hunt->reference.output, strlen(hunt->reference.output))
                      : NULL,
        .errors = hunt->reference.errors
                      ? mr_strndup(hunt->reference.errors, strlen(hunt->reference.errors))
                      : NULL};
    hunt->state.events = t->ran.trace->event_count;
    hunt->state.threads = t->ran.trace->threads.count;
    hunt->has_reference = true;
}

/* It is in the journal, so the others need not be told any more what is under way. */
static void drop_claims(const mr_hunting *hunt, const trial *t)
{
    mr_claims_drop(&hunt->claims, MR_CLAIM_RUN, t->number);
    if (!is_its_own(&t->task))
        mr_claims_drop(&hunt->claims, MR_CLAIM_TASK, t->task.key);
    if (t->is_new) {
        mr_claims_drop(&hunt->claims, MR_CLAIM_BEHAVIOUR, t->line.behaviour);
        mr_claims_drop(&hunt->claims, MR_CLAIM_SIGNATURE, t->line.signature);
    }
}

/* The run goes into the journal. */
static mr_status write_down(mr_hunting *hunt, trial *t, mr_error *error)
{
    mr_status status = mr_hunt_share(hunt, error);
    t->line.at = hunt->before + mr_seconds() - hunt->begin;
    if (!status && !hunt->has_reference)
        status = mr_store_first(&hunt->store, &t->ran.end, error);
    if (!status)
        status = mr_store_run(&hunt->store, &t->line, error);
    if (!status && t->ran.is_full)
        status = mr_store_cut(&hunt->store, t->number, error);
    drop_claims(hunt, t);
    mr_hunt_unshare(hunt);
    return status;
}

/* The run is over: it is counted, and told. */
static mr_status finish(mr_hunting *hunt, trial *t, mr_error *error)
{
    mr_hunt_state *state = &hunt->state;
    pthread_mutex_lock(&hunt->lock);
    mr_status status = write_down(hunt, t, error);
    state->runs++;
    state->again += !t->is_new;
    state->diverged += t->task.kind != MR_TASK_FREE && t->ran.replay.outcome != MR_REPLAY_GOAL;
    if (mr_run_kind_fails(t->outcome.kind) &&
        (!state->first_failure || t->number < state->first_failure))
        state->first_failure = t->number;
    if (!t->ran.end.timed_out && t->ran.log_bytes > hunt->longest_log)
        hunt->longest_log = t->ran.log_bytes;
    hunt->met = hunt->met || mr_run_kind_is_in(t->outcome.kind, hunt->options->until) ||
                (confirms(t) && mr_run_kind_is_in(MR_RUN_RACE, hunt->options->until));
    if (!hunt->has_reference)
        take_reference(hunt, t);
    state->left = hunt->tasks.count;
    state->seconds = t->line.at;
    hunt->busy--;
    hunt->asked = 0;
    if (hunt->options->tell)
        hunt->options->tell(hunt->options->context, state);
    pthread_cond_broadcast(&hunt->changed);
    pthread_mutex_unlock(&hunt->lock);
    return status;
}

static mr_status try(mr_hunt_worker *worker, trial *t, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_status status = decide(worker, t, error);
    if (!status && !t->possible) {
        mr_hunt_impossible(hunt, &t->task);
        return MR_OK;
    }
    if (!status)
        status = mr_hunt_begin(hunt, &t->task, &t->number, error);
    if (status || !t->number)
        return status;
    t->line = (mr_hunt_line){.number = t->number,
                             .parent = t->task.parent,
                             .behaviour = UINT32_MAX,
                             .depth = is_its_own(&t->task) ? 0 : t->task.depth + 1,
                             .key = t->task.key};
    status = prepare(worker, t, error);
    worker->runner.max_log_bytes = mr_hunt_log_bytes(hunt);
    if (!status)
        status = mr_runner_run(&worker->runner, &t->request, &t->ran, error);
    if (!status)
        status =
            mr_outcome_judge(&t->ran, worker->reference, hunt->options->oracle, &t->outcome, error);
    if (!status)
        status = tell_source(hunt, t, error);
    if (!status)
        status = compare(hunt, t, error);
    if (!status && t->is_new)
        status = ask(hunt, t, error);
    if (!status && confirms(t)) {
        mr_run_outcome race = race_of(t);
        status = report(worker, t, &race, error);
    }
    if (!status) /* the last, because it may put another run in the place of this one */
        status = report(worker, t, &t->outcome, error);
    if (status)
        return status;
    t->line.signature = t->behaviour.signature;
    snprintf(t->line.kind, sizeof t->line.kind, "%s", mr_task_kind_name(t->task.kind));
    snprintf(t->line.outcome, sizeof t->line.outcome, "%s", mr_run_kind_name(t->outcome.kind));
    return finish(hunt, t, error);
}

void *mr_hunt_work(void *context)
{
    mr_hunt_worker *worker = context;
    trial t = {.keeps_input = true};
    mr_error error = {0};
    mr_status status = MR_OK;
    while (!status && mr_hunt_next(worker->hunt, &t.task)) {
        status = try(worker, &t, &error);
        if (!status && !t.keeps_input && worker->hunt->source)
            mr_input_source_drop(worker->hunt->source, t.input);
        mr_input_place_free(&worker->place);
        mr_task_free(&t.task);
        mr_ran_free(&t.ran);
        mr_behaviour_free(&t.behaviour);
        t = (trial){.keeps_input = true};
        if (!status)
            status = mr_hunt_learn(worker, &error);
    }
    if (status)
        mr_hunt_fail(worker->hunt, status, &error);
    return NULL;
}
