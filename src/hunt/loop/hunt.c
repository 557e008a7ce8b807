/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "hunt.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "predict/result.h"
#include "settings.h"
#include "shared.h"

#include "engine/predict.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOG_BYTES = 64 << 20,       /* of a run: a thread that spins fills more in a second */
    FREE_EVERY = 8,             /* so often a run is free though there are tasks */
    FREE_EVERY_WITH_INPUTS = 2, /* … because new inputs are tried by free runs */
    /* Of the engine, that are answered by no; then a run is free. qsort_mt of SCTBench fails after 6.7 runs (mean of ten seeds) without
     * a bound, 6.9 with this one, 11.8 (twenty seeds) with 64: the question that helps comes late. */
    QUESTIONS_AT_ONCE = 256,
    HALVINGS = 4,     /* of that, one each time that all had no for an answer */
    QUIET_RUNS = 100, /* free runs without anything new, after which the hunt ends */
    QUIET_RUNS_WITH_INPUTS = 500
};

void mr_hunt_state_free(mr_hunt_state *state)
{
    free(state->findings);
    *state = (mr_hunt_state){.findings = NULL};
}

void mr_hunt_fail(mr_hunting *hunt, mr_status status, const mr_error *error)
{
    pthread_mutex_lock(&hunt->lock);
    if (!hunt->status) {
        hunt->status = status;
        hunt->error = *error;
    }
    hunt->over = true;
    pthread_cond_broadcast(&hunt->changed);
    pthread_mutex_unlock(&hunt->lock);
}

/* ---- what is next ---- */

static uint64_t quiet_runs(const mr_hunting *hunt)
{
    return hunt->source ? QUIET_RUNS_WITH_INPUTS : QUIET_RUNS;
}

static bool ends(mr_hunting *hunt)
{
    const mr_hunt_options *options = hunt->options;
    mr_halt_reason asked = mr_halt_asked(options->halt);
    if (hunt->over)
        return true;
    hunt->over = true;
    if (asked != MR_HALT_NONE)
        hunt->state.end = asked == MR_HALT_TIME ? MR_HUNT_TIME : MR_HUNT_ASKED;
    else if (hunt->met)
        hunt->state.end = MR_HUNT_FAILURE;
    else if (options->most_runs && hunt->started >= options->most_runs)
        hunt->state.end = MR_HUNT_RUNS;
    else if (!hunt->tasks.count && !hunt->busy && hunt->quiet >= quiet_runs(hunt))
        hunt->state.end = MR_HUNT_QUIET;
    else
        hunt->over = false;
    return hunt->over;
}

static bool is_left_out(const mr_hunt_options *options, mr_task_kind kind)
{
    bool is_swap = kind == MR_TASK_SWAP || kind == MR_TASK_FINDING;
    bool is_frontier = kind == MR_TASK_SEES || kind == MR_TASK_TURN;
    return (is_swap && options->without_swaps) || (is_frontier && options->without_frontier) ||
           (kind == MR_TASK_NEAR && options->without_near);
}

/* The best task that is not left out. */
static bool take_task(mr_hunting *hunt, mr_task *task)
{
    while (mr_tasks_take(&hunt->tasks, task)) {
        if (!is_left_out(hunt->options, task->kind))
            return true;
        mr_task_free(task);
    }
    return false;
}

/* Where the engine has said no for many questions in a row, it will to the next: it is asked less. */
static uint32_t questions_at_once(const mr_hunting *hunt)
{
    return (uint32_t)QUESTIONS_AT_ONCE >> hunt->halvings;
}

bool mr_hunt_next(mr_hunting *hunt, mr_task *task, uint64_t *number)
{
    bool taken = false;
    pthread_mutex_lock(&hunt->lock);
    /* Others wait for the first run, which says what is usual. */
    while (!ends(hunt) && !taken) {
        taken = true;
        unsigned free_every = hunt->source ? FREE_EVERY_WITH_INPUTS : FREE_EVERY;
        bool first = !hunt->has_reference && !hunt->busy; /* of this session */
        bool free_turn =
            hunt->started % free_every == free_every - 1 || hunt->asked >= questions_at_once(hunt);
        if (first || (hunt->has_reference && (free_turn || !take_task(hunt, task)))) {
            if (!first && !hunt->tasks.count && hunt->busy && hunt->quiet >= quiet_runs(hunt))
                taken = false; /* who is busy may find tasks */
            *task = (mr_task){.kind = MR_TASK_FREE, .parent = UINT32_MAX, .key = 1};
        } else if (!hunt->has_reference) {
            taken = false;
        }
        if (!taken)
            pthread_cond_wait(&hunt->changed, &hunt->lock);
    }
    if (taken) {
        hunt->busy++;
        *number = ++hunt->started;
        if (task->kind == MR_TASK_FREE) {
            hunt->quiet++;
            if (hunt->asked >= questions_at_once(hunt) && hunt->halvings < HALVINGS)
                hunt->halvings++;
            hunt->asked = 0;
        }
    }
    pthread_mutex_unlock(&hunt->lock);
    return taken;
}

void mr_hunt_possible(mr_hunting *hunt, const mr_task *task)
{
    pthread_mutex_lock(&hunt->lock);
    if (task->was_asked)
        hunt->halvings = 0;
    pthread_mutex_unlock(&hunt->lock);
}

void mr_hunt_impossible(mr_hunting *hunt, const mr_task *task)
{
    pthread_mutex_lock(&hunt->lock);
    hunt->state.impossible++;
    hunt->asked += task->was_asked;
    hunt->started--;
    hunt->busy--;
    pthread_cond_broadcast(&hunt->changed);
    pthread_mutex_unlock(&hunt->lock);
}

/* ---- an earlier session ---- */

typedef struct resuming {
    mr_hunting *hunt;
    uint32_t *depth; /* by behaviour; owned */
    size_t depth_capacity;
} resuming;

static bool take_setting(void *context, const char *key, const char *value)
{
    resuming *self = context;
    if (strcmp(key, "first") == 0) {
        mr_run_end_free(&self->hunt->reference);
        mr_store_read_first(&self->hunt->store, value, &self->hunt->reference);
        self->hunt->has_reference = true;
    }
    return true;
}

static bool take_run(void *context, const mr_hunt_line *run)
{
    resuming *self = context;
    mr_hunt_state *state = &self->hunt->state;
    state->runs++;
    state->seconds = run->at;
    self->hunt->started = self->hunt->started < run->number ? run->number : self->hunt->started;
    mr_run_kind kind = MR_RUN_GOOD;
    while (kind < MR_RUN_KINDS && strcmp(mr_run_kind_name(kind), run->outcome) != 0)
        kind++;
    if (mr_run_kind_fails(kind) && kind < MR_RUN_KINDS && !state->first_failure)
        state->first_failure = run->number;
    if (run->key > 1 && !mr_tasks_forget(&self->hunt->tasks, run->key))
        return false;
    if (run->behaviour == UINT32_MAX) {
        state->again++;
        return true;
    }
    void *depth = self->depth;
    if (!mr_grow(&depth, &self->depth_capacity, run->behaviour + 1ull, sizeof *self->depth))
        return false;
    self->depth = depth;
    self->depth[run->behaviour] = run->depth;
    if (state->behaviours <= run->behaviour)
        state->behaviours = run->behaviour + 1;
    return mr_map_at(&self->hunt->signatures, run->signature, run->behaviour + 1) != NULL;
}

bool mr_hunt_state_add(mr_hunt_state *state, const mr_finding_line *line)
{
    void *findings = state->findings;
    if (!mr_grow(&findings, &state->finding_capacity, state->finding_count + 1,
                 sizeof *state->findings))
        return false;
    state->findings = findings;
    state->findings[state->finding_count++] = *line;
    return true;
}

static bool take_finding(void *context, const mr_finding_line *finding)
{
    resuming *self = context;
    mr_finding_line line = *finding;
    line.count = 1;
    return mr_map_at(&self->hunt->found, line.identity,
                     (uint32_t)self->hunt->state.finding_count + 1) &&
           mr_hunt_state_add(&self->hunt->state, &line);
}

/* The tasks of a behaviour that an earlier session has seen; those that were tried are known. */
static mr_status ask_again(mr_hunt_worker *worker, uint32_t number, uint32_t depth, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_parent parent = {.trace = NULL};
    mr_behaviour behaviour = {.signature = 0};
    mr_result result = {0};
    mr_near_pairs candidates = {.items = NULL};
    mr_status status = mr_parent_read(worker, number, &parent, error);
    if (hunt->source)
        behaviour.input = mr_input_source_of(hunt->source, number) + 1ull;
    if (!status && parent.trace->event_count)
        status = mr_predict(parent.trace, hunt->config, NULL, &result, error);
    if (!status)
        status = mr_near_find(&candidates, parent.trace, error);
    if (!status && !(mr_behaviour_make(&behaviour, parent.trace) &&
                     mr_frontier_note(&hunt->tasks, parent.trace, &behaviour) &&
                     mr_frontier_add(&hunt->tasks, number, depth, parent.trace, &behaviour, &result,
                                     &candidates)))
        status = mr_error_memory(error, "going on with the hunt");
    mr_behaviour_free(&behaviour);
    mr_near_free(&candidates);
    mr_result_free(&result);
    mr_parent_free(worker, &parent);
    return status;
}

static mr_status resume(mr_hunting *hunt, mr_hunt_worker *worker, mr_error *error)
{
    resuming self = {.hunt = hunt};
    const mr_store_reader reader = {
        .context = &self, .setting = take_setting, .run = take_run, .finding = take_finding};
    mr_status status = mr_store_read(&hunt->store, &reader, error);
    hunt->before = hunt->state.seconds;
    for (uint32_t i = 0; !status && i < hunt->state.behaviours; i++)
        status = ask_again(worker, i, self.depth ? self.depth[i] : 0, error);
    free(self.depth);
    return status;
}

/* ---- all of it ---- */

static mr_status begin(mr_hunting *hunt, mr_error *error)
{
    const mr_hunt_options *options = hunt->options;
    if (options->resumes) {
        mr_status found = mr_store_reopen(&hunt->store, options->folder, error);
        return found ? found : mr_settings_check(&hunt->store, options, error);
    }
    mr_status status = mr_store_make(&hunt->store, options->folder, error);
    return status ? status : mr_settings_write(&hunt->store, options, error);
}

static mr_status set_up(mr_hunting *hunt, mr_error *error)
{
    pthread_mutex_init(&hunt->lock, NULL);
    pthread_cond_init(&hunt->changed, NULL);
    hunt->begin = mr_seconds();
    hunt->tasks.random = hunt->options->seed * 0x9e3779b9u + 17;
    hunt->config = mr_config_clone(hunt->options->config);
    if (!hunt->config)
        return mr_error_memory(error, "starting the hunt");
    mr_status status = mr_config_set(hunt->config, "jobs", "1", NULL, 0, error);
    return status ? status : mr_config_set(hunt->config, "time_limit", "0", NULL, 0, error);
}

static void tear_down(mr_hunting *hunt)
{
    mr_input_source_close(hunt->source);
    mr_store_close(&hunt->store);
    mr_config_free(hunt->config);
    mr_tasks_free(&hunt->tasks);
    mr_map_free(&hunt->signatures);
    mr_map_free(&hunt->found);
    mr_map_free(&hunt->shape);
    mr_run_end_free(&hunt->reference);
    pthread_mutex_destroy(&hunt->lock);
    pthread_cond_destroy(&hunt->changed);
}

static mr_status open_source(mr_hunting *hunt, mr_error *error)
{
    char place[4096];
    if (!realpath(hunt->options->folder, place))
        return mr_error_set(error, MR_ERR_IO, hunt->options->folder, 0, "cannot find: %s",
                            strerror(errno));
    return mr_input_source_open(hunt->options->inputs, place, hunt->options->arguments,
                                hunt->options->seed, &hunt->source, error);
}

static mr_status open_worker(mr_hunting *hunt, mr_hunt_worker *worker, mr_error *error)
{
    char place[4096];
    worker->hunt = hunt;
    /* In the folder of the hunt, so that traces are only renamed; absolute, for the program. */
    if (!realpath(hunt->options->folder, place))
        return mr_error_set(error, MR_ERR_IO, hunt->options->folder, 0, "cannot find: %s",
                            strerror(errno));
    mr_status status =
        mr_runner_open_in(&worker->runner, place, hunt->options->symbol_folder, error);
    worker->runner.max_log_bytes = LOG_BYTES;
    return status;
}

/* What workers leave in their folders beside the files of a run. */
static void remove_scratch(const char *folder)
{
    char path[MR_RUNNER_PATH_BYTES + 300];
    DIR *files = folder[0] ? opendir(folder) : NULL;
    struct dirent *entry;
    while (files && (entry = readdir(files)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); /* folders stay */
    }
    if (files)
        closedir(files);
}

/* The folders of the workers of a session that was killed. */
static void remove_old_scratch(const char *hunt)
{
    char path[MR_STORE_PATH_BYTES + 300];
    DIR *files = opendir(hunt);
    struct dirent *entry;
    while (files && (entry = readdir(files)) != NULL) {
        if (strncmp(entry->d_name, "maxrace-hunt-", strlen("maxrace-hunt-")) != 0)
            continue;
        snprintf(path, sizeof path, "%.3400s/%s", hunt, entry->d_name);
        remove_scratch(path);
        rmdir(path);
    }
    if (files)
        closedir(files);
}

static void close_worker(mr_hunt_worker *worker)
{
    for (int i = 0; i < MR_PARENTS; i++)
        mr_parent_free(worker, &worker->parents[i]);
    remove_scratch(worker->runner.folder);
    mr_runner_close(&worker->runner);
}

static mr_status run_workers(mr_hunting *hunt, mr_hunt_worker *workers, unsigned jobs,
                             mr_error *error)
{
    mr_status status = MR_OK;
    for (unsigned i = 1; i < jobs && !status; i++) {
        status = open_worker(hunt, &workers[i], error);
        workers[i].started =
            !status && pthread_create(&workers[i].thread, NULL, mr_hunt_work, &workers[i]) == 0;
    }
    if (status)
        mr_hunt_fail(hunt, status, error);
    mr_hunt_work(&workers[0]);
    for (unsigned i = 1; i < jobs; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    if (hunt->status)
        *error = hunt->error;
    return hunt->status;
}

mr_status mr_hunt(const mr_hunt_options *options, mr_hunt_state *state, mr_error *error)
{
    mr_hunting hunt = {.options = options, .store = {.journal = -1}};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = options->jobs ? options->jobs : cores > 0 ? (unsigned)cores : 1;
    mr_hunt_worker *workers = mr_calloc(jobs, sizeof *workers);
    if (!workers)
        return mr_error_memory(error, "starting the hunt");
    mr_status status = set_up(&hunt, error);
    if (!status)
        status = begin(&hunt, error);
    if (!status && options->resumes)
        remove_old_scratch(options->folder);
    if (!status)
        status = open_worker(&hunt, &workers[0], error);
    if (!status && options->inputs)
        status = open_source(&hunt, error);
    if (!status && options->resumes)
        status = resume(&hunt, &workers[0], error);
    if (!status)
        status = run_workers(&hunt, workers, jobs, error);
    for (unsigned i = 0; i < jobs; i++)
        close_worker(&workers[i]);
    free(workers);
    hunt.state.left = hunt.tasks.count;
    hunt.state.dropped = hunt.tasks.dropped;
    hunt.state.seconds = hunt.before + mr_seconds() - hunt.begin;
    *state = hunt.state;
    tear_down(&hunt);
    return status;
}
