/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath, nftw */

#include "hunt.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "base/thread.h"
#include "predict/result.h"
#include "settings.h"
#include "shared.h"

#include "engine/predict.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LOG_BYTES = 64 << 20, /* the most of a run: a thread that spins fills more in a second */
    LOG_TIMES = 16, /* … or so many times the longest log of a run that ended by itself … */
    LOG_BYTES_LEAST = 2 << 20,  /* … but never less than this */
    FREE_EVERY = 8,             /* so often a run is free though there are tasks */
    FREE_EVERY_WITH_INPUTS = 2, /* … because new inputs are tried by free runs */
    /* Of the engine, that are answered by no; then a run is free. qsort_mt of SCTBench fails after 6.7 runs (mean of ten seeds) without
     * a bound, 6.9 with this one, 11.8 (twenty seeds) with 64: the question that helps comes late. */
    QUESTIONS_AT_ONCE = 256,
    HALVINGS = 4,     /* of that, one each time that all had no for an answer */
    QUIET_RUNS = 100, /* free runs without anything new, after which the hunt ends */
    QUIET_RUNS_WITH_INPUTS = 500,
    GUIDED_FROM = 16,  /* runs, before the guide is asked */
    GUIDED_EVERY = 2,  /* then it has every second one … */
    GUIDED_LEAVES = 4, /* … or, where it knows most of what runs do, all but every fourth one */
    /* Of the first run, at most. With 5000 StateWorkStealQueue of PERIOD (2,000 events) failed in 16 of 20 hunts of 100 runs, and in 20 without. */
    GUIDED_EVENTS = 500
};

void mr_hunt_state_free(mr_hunt_state *state)
{
    free(state->findings);
    *state = (mr_hunt_state){.findings = NULL};
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

static void note_failure(mr_hunting *hunt, mr_status status, const mr_error *error)
{
    if (!hunt->status) {
        hunt->status = status;
        hunt->error = *error;
    }
    hunt->over = true;
    pthread_cond_broadcast(&hunt->changed);
}

void mr_hunt_fail(mr_hunting *hunt, mr_status status, const mr_error *error)
{
    pthread_mutex_lock(&hunt->lock);
    note_failure(hunt, status, error);
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

/* The best task that is not left out, and that no other process has run or runs. */
static bool take_task(mr_hunting *hunt, mr_task *task)
{
    while (mr_tasks_take(&hunt->tasks, task)) {
        if (!is_left_out(hunt->options, task->kind) &&
            !mr_tasks_ran_elsewhere(&hunt->tasks, task) &&
            mr_claims_take(&hunt->claims, MR_CLAIM_TASK, task->key))
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

static bool is_turn_of_guide(const mr_hunting *hunt)
{
    return mr_guide_knows_most(hunt->guide) ? hunt->started % GUIDED_LEAVES != GUIDED_LEAVES - 1
                                            : hunt->started % GUIDED_EVERY == 0;
}

/* Many runs, when the first ones have not met what ends the hunt, and the program is so small that its states can be searched. */
static bool is_guided(const mr_hunting *hunt)
{
    return hunt->guide && hunt->has_reference && hunt->started >= GUIDED_FROM &&
           hunt->state.events <= GUIDED_EVENTS && !mr_guide_is_over(hunt->guide) &&
           is_turn_of_guide(hunt);
}

/* What to try now; false: what is under way decides that. */
static bool choose(mr_hunting *hunt, mr_task *task)
{
    const mr_hunt_options *options = hunt->options;
    unsigned free_every = hunt->source ? FREE_EVERY_WITH_INPUTS : FREE_EVERY;
    bool free_turn =
        hunt->started % free_every == free_every - 1 || hunt->asked >= questions_at_once(hunt);
    if (options->most_runs && hunt->started + hunt->undecided >= options->most_runs)
        return false;
    /* Others wait for the first run, which says what is usual. */
    if (!hunt->has_reference && hunt->busy)
        return false;
    if (is_guided(hunt)) {
        *task = (mr_task){.kind = MR_TASK_STATE, .parent = UINT32_MAX, .key = 1};
        return true;
    }
    if (hunt->has_reference && !free_turn && take_task(hunt, task))
        return true;
    if (hunt->has_reference && !hunt->tasks.count && hunt->busy && hunt->quiet >= quiet_runs(hunt))
        return false; /* who is busy may find tasks */
    *task = (mr_task){.kind = MR_TASK_FREE, .parent = UINT32_MAX, .key = 1};
    hunt->quiet++;
    if (hunt->asked >= questions_at_once(hunt) && hunt->halvings < HALVINGS)
        hunt->halvings++;
    hunt->asked = 0;
    return true;
}

bool mr_hunt_next(mr_hunting *hunt, mr_task *task)
{
    bool taken = false;
    mr_error error;
    pthread_mutex_lock(&hunt->lock);
    for (;;) {
        mr_status status = mr_hunt_share(hunt, &error);
        if (status)
            note_failure(hunt, status, &error);
        bool over = ends(hunt);
        taken = !over && choose(hunt, task);
        mr_hunt_unshare(hunt);
        if (over || taken)
            break;
        pthread_cond_wait(&hunt->changed, &hunt->lock);
    }
    if (taken) {
        hunt->busy++;
        hunt->undecided++;
    }
    pthread_mutex_unlock(&hunt->lock);
    return taken;
}

mr_status mr_hunt_begin(mr_hunting *hunt, const mr_task *task, uint64_t *number, mr_error *error)
{
    pthread_mutex_lock(&hunt->lock);
    mr_status status = mr_hunt_share(hunt, error);
    hunt->undecided--;
    *number = hunt->started = mr_claims_take_from(&hunt->claims, MR_CLAIM_RUN, hunt->started + 1);
    if (task->was_asked)
        hunt->halvings = 0;
    if (hunt->options->most_runs && *number > hunt->options->most_runs) {
        mr_claims_drop(&hunt->claims, MR_CLAIM_RUN, *number);
        mr_claims_drop(&hunt->claims, MR_CLAIM_TASK, task->key);
        *number = 0;
        hunt->busy--;
        pthread_cond_broadcast(&hunt->changed);
    }
    mr_hunt_unshare(hunt);
    pthread_mutex_unlock(&hunt->lock);
    return status;
}

/* A thread that spins for ever logs the same again and again; to read LOG_BYTES of that takes longer than the run. */
uint64_t mr_hunt_log_bytes(mr_hunting *hunt)
{
    pthread_mutex_lock(&hunt->lock);
    uint64_t longest = hunt->longest_log;
    pthread_mutex_unlock(&hunt->lock);
    if (!longest || longest > LOG_BYTES / LOG_TIMES)
        return LOG_BYTES;
    return longest * LOG_TIMES < LOG_BYTES_LEAST ? LOG_BYTES_LEAST : longest * LOG_TIMES;
}

void mr_hunt_impossible(mr_hunting *hunt, const mr_task *task)
{
    pthread_mutex_lock(&hunt->lock);
    hunt->state.impossible++;
    hunt->asked += task->was_asked;
    hunt->undecided--;
    hunt->busy--;
    mr_claims_drop(&hunt->claims, MR_CLAIM_TASK, task->key);
    pthread_cond_broadcast(&hunt->changed);
    pthread_mutex_unlock(&hunt->lock);
}

/* ---- all of it ---- */

static mr_status begin(mr_hunting *hunt, mr_error *error)
{
    const mr_hunt_options *options = hunt->options;
    mr_status status = MR_OK;
    if (options->resumes)
        status = mr_store_reopen(&hunt->store, options->folder, error);
    else
        status = mr_store_make(&hunt->store, options->folder, error);
    if (!status && options->resumes && !hunt->store.has_begun)
        status = mr_store_begin_again(&hunt->store, error);
    if (!status && !hunt->store.has_begun)
        status = mr_settings_write(&hunt->store, options, error);
    if (!status && options->resumes)
        status = mr_settings_check(&hunt->store, options, &hunt->descriptors, error);
    mr_store_unlock(&hunt->store);
    return status ? status : mr_claims_open(&hunt->claims, options->folder, error);
}

static mr_status set_up(mr_hunting *hunt, mr_error *error)
{
    pthread_mutex_init(&hunt->lock, NULL);
    pthread_cond_init(&hunt->changed, NULL);
    hunt->begin = mr_seconds();
    hunt->config = mr_config_clone(hunt->options->config);
    if (!hunt->config)
        return mr_error_memory(error, "starting the hunt");
    if (!hunt->options->inputs && !hunt->options->without_states) {
        hunt->guide = mr_guide_new(hunt->options->halt);
        if (!hunt->guide)
            return mr_error_memory(error, "starting the hunt");
    }
    mr_status status = mr_config_set(hunt->config, "jobs", "1", NULL, 0, error);
    return status ? status : mr_config_set(hunt->config, "time_limit", "0", NULL, 0, error);
}

static void tear_down(mr_hunting *hunt)
{
    mr_input_source_close(hunt->source);
    mr_guide_free(hunt->guide);
    mr_store_close(&hunt->store);
    mr_descriptors_free(&hunt->descriptors);
    mr_claims_close(&hunt->claims);
    mr_u32s_free(&hunt->unread);
    mr_u32s_free(&hunt->depths);
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
    return mr_input_source_open(hunt->options->inputs, place, hunt->options->arguments, hunt->seed,
                                &hunt->source, error);
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
    if (!status && hunt->options->sandbox)
        status = mr_runner_use_sandbox(&worker->runner, NULL, error);
    worker->runner.descriptors =
        hunt->options->resumes ? &hunt->descriptors : hunt->options->descriptors;
    return status;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

/* The folder of a worker: beside the files of a run it may have the folder of a finding that was not finished. */
static void remove_scratch(const char *folder)
{
    enum { OPEN_FOLDERS = 4 };
    if (folder[0])
        nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* The folders of the workers of a session that was killed; of all others, when no other process is there. */
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
    }
    if (files)
        closedir(files);
}

/* This process gets its number; the first one that is there is 0. Each has a seed of its own, so that they do not all want the same. */
static mr_status join(mr_hunting *hunt, mr_error *error)
{
    mr_status status = mr_store_lock(&hunt->store, error);
    if (status)
        return status;
    uint64_t number = mr_claims_take_from(&hunt->claims, MR_CLAIM_MEMBER, 0);
    if (mr_claims_are_ours(&hunt->claims, MR_CLAIM_MEMBER))
        remove_old_scratch(hunt->options->folder);
    mr_store_unlock(&hunt->store);
    hunt->seed = hunt->options->seed + number * UINT64_C(0x9e3779b97f4a7c15);
    hunt->tasks.random = hunt->seed * 0x9e3779b9u + 17;
    return MR_OK;
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
    mr_hunting hunt = {.options = options, .store = {.journal = -1}, .claims = {.file = -1}};
    unsigned jobs = options->jobs ? options->jobs : mr_thread_cores();
    mr_hunt_worker *workers = mr_calloc(jobs, sizeof *workers);
    if (!workers)
        return mr_error_memory(error, "starting the hunt");
    mr_status status = set_up(&hunt, error);
    if (!status)
        status = begin(&hunt, error);
    if (!status && options->resumes && options->tell_descriptors)
        options->tell_descriptors(options->context, &hunt.descriptors);
    if (!status)
        status = join(&hunt, error);
    if (!status)
        status = open_worker(&hunt, &workers[0], error);
    if (!status && options->inputs)
        status = open_source(&hunt, error);
    if (!status && options->resumes)
        status = mr_hunt_take_up(&workers[0], error);
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
