#include "guide.h"

#include "base/memory.h"
#include "fold.h"
#include "guide_search.h"
#include "hunt/exhaustive/exhaustive.h"
#include "hunt/exhaustive/exhaustive_run.h"
#include "hunt/model/model_log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    QUESTIONS_AT_ONCE = 32, /* of a search … */
    STATES_A_QUESTION =
        8192, /* … and one more for so many states of the one before: a run takes as long as they do */
    STATES_FIRST = 50000,  /* of a search; more, when these have no question … */
    STATES_MOST = 3000000, /* … up to so many */
    STATES_GROW = 4,
    NODES_MOST = 200000,
    KNOWN_PARTS = 4, /* all but one of so many operations of a run are known */
    ODD_MOST = 16,   /* runs that did something else than the model says */
};

static const uint64_t BYTES_MOST = UINT64_C(1) << 30;

struct mr_guide {
    pthread_mutex_t lock;
    mr_explore explored; /* the model of all runs; graph and search are of its fold */
    mr_pmodel folded;
    mr_map tried;                     /* questions, by key: how often */
    size_t next;                      /* question of the search */
    uint64_t states[MR_FOLD_DEGREES]; /* of a search */
    uint64_t events, known; /* of the last runs, the later the more; what earlier ones had shown */
    unsigned odd;
    const mr_halt *halt;
    bool is_over;
};

mr_guide *mr_guide_new(const mr_halt *halt)
{
    mr_guide *guide = mr_calloc(1, sizeof *guide);
    if (!guide)
        return NULL;
    pthread_mutex_init(&guide->lock, NULL);
    guide->explored.model.merges = true;
    for (int degree = 0; degree < MR_FOLD_DEGREES; degree++)
        guide->states[degree] = STATES_FIRST;
    guide->halt = halt;
    return guide;
}

void mr_guide_free(mr_guide *guide)
{
    if (!guide)
        return;
    mr_explore_free(&guide->explored);
    mr_fold_free(&guide->folded);
    mr_map_free(&guide->tried);
    pthread_mutex_destroy(&guide->lock);
    free(guide);
}

bool mr_guide_is_over(mr_guide *guide)
{
    pthread_mutex_lock(&guide->lock);
    bool is_over = guide->is_over;
    pthread_mutex_unlock(&guide->lock);
    return is_over;
}

bool mr_guide_knows_most(mr_guide *guide)
{
    pthread_mutex_lock(&guide->lock);
    bool knows = guide->events && guide->known >= guide->events / KNOWN_PARTS * (KNOWN_PARTS - 1);
    pthread_mutex_unlock(&guide->lock);
    return knows;
}

static mr_status search(mr_guide *self, mr_fold_degree degree, mr_error *error)
{
    mr_explore *its = &self->explored;
    const mr_seek_limits limits = {.states = self->states[degree],
                                   .bytes = BYTES_MOST,
                                   .questions = QUESTIONS_AT_ONCE +
                                                (uint32_t)(its->search.states / STATES_A_QUESTION),
                                   .halt = self->halt};
    mr_graph_free(&its->graph);
    mr_seek_free(&its->search);
    mr_fold_free(&self->folded);
    self->next = 0;
    mr_status status = mr_fold_make(&self->folded, &its->model, degree, error);
    if (!status)
        status = mr_graph_make(&its->graph, &self->folded, error);
    return status ? status : mr_guide_seek(&its->search, &its->graph, &self->tried, &limits, error);
}

/* Searches, with more states each time, until there is a question, or nothing is left. */
static mr_status search_more(mr_guide *self, mr_fold_degree degree, mr_error *error)
{
    const mr_seek *found = &self->explored.search;
    uint64_t *states = &self->states[degree];
    mr_status status = search(self, degree, error);
    while (!status && !found->question_count && found->stop == MR_SEEK_STATES &&
           *states < STATES_MOST) {
        *states *= STATES_GROW;
        status = search(self, degree, error);
    }
    return status;
}

/* The next step (guide.h) that has a question; when none has, the guide is over. */
static mr_status find_questions(mr_guide *self, mr_error *error)
{
    const mr_seek *found = &self->explored.search;
    mr_status status = MR_OK;
    for (int degree = 0; !status && degree < MR_FOLD_DEGREES; degree++) {
        status = search_more(self, (mr_fold_degree)degree, error);
        if (found->question_count)
            break;
    }
    self->is_over = self->is_over || (!status && !found->question_count);
    return status;
}

static mr_status write_schedule(mr_explore_request *request, const char *const *arguments,
                                const char *strategy, uint64_t seed, const char *path,
                                mr_error *error)
{
    mr_bytes lines = {.items = NULL};
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, seed);
    request->seed = seed;
    mr_run_info_of_command(&lines, arguments, NULL, NULL, NULL);
    mr_run_line(&lines, "seed", number);
    mr_run_line(&lines, "schedule", strategy);
    mr_status status = lines.failed ? mr_error_memory(error, "asking for a local state")
                                    : mr_explore_schedule(request, &lines, path, error);
    mr_bytes_free(&lines);
    return status;
}

static bool note_try(mr_guide *self, uint64_t key)
{
    uint32_t *tries = mr_map_at(&self->tried, key, 0);
    if (tries)
        ++*tries;
    return tries != NULL;
}

mr_status mr_guide_ask(mr_guide *self, const char *const *arguments, const char *strategy,
                       uint64_t seed, const char *path, bool *asks, mr_error *error)
{
    mr_status status = MR_OK;
    *asks = false;
    pthread_mutex_lock(&self->lock);
    const mr_seek *found = &self->explored.search;
    while (!status && !*asks && !self->is_over && self->explored.model.node_count) {
        if (self->next == found->question_count)
            status = find_questions(self, error);
        if (status || self->is_over)
            break;
        const mr_seek_question *question = &found->questions[self->next++];
        mr_explore_request request;
        mr_explore_stop *stops = NULL;
        bool is_stale = false;
        bool noted = note_try(self, question->key) && note_try(self, question->way_key);
        status = noted ? mr_explore_plan(&self->explored, &question->way, question->thread, NULL,
                                         &request, &stops, &is_stale, error)
                       : mr_error_memory(error, "asking for a local state");
        *asks = !status && !is_stale;
        if (*asks)
            status = write_schedule(&request, arguments, strategy, seed, path, error);
        free(stops);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

mr_status mr_guide_learn(void *guide, const char *log, const mr_run_end *end, mr_error *error)
{
    mr_guide *self = guide;
    mr_pmodel_run run = {.places = NULL};
    mr_model_log_end how = MR_MODEL_LOG_CUT;
    char unseen[160];
    pthread_mutex_lock(&self->lock);
    mr_status status = mr_model_log_learn(log, end->signal && !end->timed_out,
                                          &self->explored.model, &run, &how, unseen, error);
    self->events = self->events / 2 + run.events;
    self->known = self->known / 2 + run.known;
    self->odd += run.problem[0] != '\0';
    self->is_over =
        self->is_over || self->odd > ODD_MOST || self->explored.model.node_count > NODES_MOST;
    pthread_mutex_unlock(&self->lock);
    mr_pmodel_run_free(&run);
    return status;
}
