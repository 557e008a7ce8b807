/* What other sessions of a hunt have done: earlier ones, and those of other processes that have its folder open now. */
#include "base/memory.h"
#include "engine/predict.h"
#include "predict/result.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines of the journal ---- */

static bool take_setting(void *context, const char *key, const char *value)
{
    mr_hunting *hunt = context;
    if (strcmp(key, "first") == 0 && !hunt->has_reference) {
        mr_store_read_first(&hunt->store, value, &hunt->reference);
        hunt->has_reference = true;
    }
    return true;
}

/* A failure ends this session, too, when `until` says so; one of an earlier session does not. */
static void note_outcome(mr_hunting *hunt, const mr_hunt_line *run)
{
    mr_hunt_state *state = &hunt->state;
    mr_run_kind kind = MR_RUN_GOOD;
    while (kind < MR_RUN_KINDS && strcmp(mr_run_kind_name(kind), run->outcome) != 0)
        kind++;
    if (kind == MR_RUN_KINDS)
        return;
    if (mr_run_kind_fails(kind) && (!state->first_failure || run->number < state->first_failure))
        state->first_failure = run->number;
    hunt->met = hunt->met || (hunt->has_begun && mr_run_kind_is_in(kind, hunt->options->until));
}

static bool take_run(void *context, const mr_hunt_line *run)
{
    mr_hunting *hunt = context;
    mr_hunt_state *state = &hunt->state;
    state->runs++;
    if (!hunt->has_begun)
        state->seconds = run->at;
    hunt->started = hunt->started < run->number ? run->number : hunt->started;
    note_outcome(hunt, run);
    if (run->key > 1 && !mr_tasks_note_elsewhere(&hunt->tasks, run->key))
        return false;
    if (run->behaviour == UINT32_MAX) {
        state->again++;
        return true;
    }
    if (state->behaviours <= run->behaviour)
        state->behaviours = run->behaviour + 1;
    hunt->quiet = 0;
    uint32_t *known = mr_map_at(&hunt->signatures, run->signature, 0);
    if (known)
        *known = run->behaviour + 1;
    return known && mr_u32s_push(&hunt->unread, run->behaviour) &&
           mr_u32s_push(&hunt->depths, run->depth);
}

static bool take_finding(void *context, const mr_finding_line *finding)
{
    mr_hunting *hunt = context;
    mr_finding_line line = *finding;
    uint32_t *known = mr_map_at(&hunt->found, line.identity, 0);
    line.count = 1;
    if (hunt->last_finding < line.number)
        hunt->last_finding = line.number;
    hunt->met =
        hunt->met || (hunt->has_begun && strcmp(line.kind, mr_run_kind_name(MR_RUN_RACE)) == 0 &&
                      mr_run_kind_is_in(MR_RUN_RACE, hunt->options->until));
    if (!known || !mr_hunt_state_add(&hunt->state, &line))
        return false;
    *known = (uint32_t)hunt->state.finding_count;
    return true;
}

mr_status mr_hunt_share(mr_hunting *hunt, mr_error *error)
{
    const mr_store_reader reader = {
        .context = hunt, .setting = take_setting, .run = take_run, .finding = take_finding};
    mr_status status = mr_store_lock(&hunt->store, error);
    return status ? status : mr_store_read_on(&hunt->store, &reader, error);
}

void mr_hunt_unshare(const mr_hunting *hunt)
{
    mr_store_unlock(&hunt->store);
}

/* ---- behaviours ---- */

/* The tasks of a behaviour that another session has seen; those that were tried are known. */
static mr_status ask_again(mr_hunt_worker *worker, uint32_t number, uint32_t depth, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_parent parent = {.trace = NULL};
    mr_behaviour behaviour = {.signature = 0};
    mr_result result = {0};
    mr_near_pairs candidates = {.items = NULL};
    mr_status status = mr_parent_read(worker, number, &parent, error);
    if (!status && parent.trace->event_count)
        status = mr_predict(parent.trace, hunt->config, NULL, &result, error);
    if (!status)
        status = mr_near_find(&candidates, parent.trace, error);
    pthread_mutex_lock(&hunt->lock);
    if (hunt->source)
        behaviour.input = mr_input_source_of(hunt->source, number) + 1ull;
    if (!status && !(mr_behaviour_make(&behaviour, parent.trace) &&
                     mr_frontier_note(&hunt->tasks, parent.trace, &behaviour) &&
                     mr_frontier_add(&hunt->tasks, number, depth, parent.trace, &behaviour, &result,
                                     &candidates)))
        status = mr_error_memory(error, "going on with the hunt");
    pthread_mutex_unlock(&hunt->lock);
    mr_behaviour_free(&behaviour);
    mr_near_free(&candidates);
    mr_result_free(&result);
    mr_parent_free(worker, &parent);
    return status;
}

/* The next behaviour that is not known here; false: there is none. Who has taken one is busy. */
static bool take_unread(mr_hunting *hunt, uint32_t *number, uint32_t *depth, mr_status *status,
                        mr_error *error)
{
    pthread_mutex_lock(&hunt->lock);
    bool is_there = hunt->next_unread < hunt->unread.count;
    if (is_there) {
        *number = hunt->unread.items[hunt->next_unread];
        *depth = hunt->depths.items[hunt->next_unread++];
        hunt->busy++;
        if (hunt->source)
            *status = mr_input_source_read_on(hunt->source, error);
    }
    pthread_mutex_unlock(&hunt->lock);
    return is_there;
}

mr_status mr_hunt_learn(mr_hunt_worker *worker, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_status status = MR_OK;
    uint32_t number, depth;
    while (!status && mr_halt_asked(hunt->options->halt) == MR_HALT_NONE &&
           take_unread(hunt, &number, &depth, &status, error)) {
        if (!status)
            status = ask_again(worker, number, depth, error);
        pthread_mutex_lock(&hunt->lock);
        hunt->busy--;
        pthread_cond_broadcast(&hunt->changed);
        pthread_mutex_unlock(&hunt->lock);
    }
    return status;
}

mr_status mr_hunt_take_up(mr_hunt_worker *worker, mr_error *error)
{
    mr_hunting *hunt = worker->hunt;
    mr_status status = mr_hunt_share(hunt, error);
    mr_hunt_unshare(hunt);
    hunt->before = hunt->state.seconds;
    hunt->quiet = 0;
    hunt->has_begun = true;
    return status ? status : mr_hunt_learn(worker, error);
}
