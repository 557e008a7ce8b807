#include "crew.h"

#include "base/memory.h"
#include "shift.h"

#include <stdlib.h>

/* Is the unit one of this shard? */
static bool is_mine(const mr_shift *self, uint64_t unit)
{
    const mr_crew *crew = self->crew;
    return !crew->shards || unit % crew->shards == crew->shard - 1;
}

bool mr_shift_take(mr_shift *self, uint64_t *unit)
{
    const mr_phase *phase = self->phase;
    bool found = false;
    if (mr_halt_asked(self->crew->halt) != MR_HALT_NONE)
        return false;
    pthread_mutex_lock(&self->mutex);
    while (!found && self->taken < phase->count) {
        *unit = self->taken++;
        if (phase->last_first)
            *unit = *unit ? *unit - 1 : phase->count - 1;
        found = !self->saved_before[*unit] && is_mine(self, *unit);
    }
    pthread_mutex_unlock(&self->mutex);
    return found;
}

uint64_t mr_shift_left(mr_shift *self)
{
    pthread_mutex_lock(&self->mutex);
    uint64_t left = self->phase->count - self->taken;
    pthread_mutex_unlock(&self->mutex);
    return self->crew->shards ? left / self->crew->shards : left;
}

/* ---- what becomes of an outcome ---- */

/* All ranks merge what rank 0 merges. */
static mr_status tell_merged(const mr_shift *self, const mr_outcome *outcome, mr_error *error)
{
    mr_team *team = self->crew->team;
    mr_bytes bytes = {0};
    if (!team || team->cluster->size == 1)
        return MR_OK;
    mr_team_write(&bytes, MR_WORD_MERGED);
    mr_bytes_number(&bytes, team->phase);
    bytes.failed |= !mr_outcome_write(self->crew->trace, outcome, &bytes);
    return mr_team_send_all(team, &bytes, error);
}

static mr_status save(mr_shift *self, const mr_outcome *outcome, mr_error *error)
{
    mr_saved *saved = self->crew->saved;
    bool whole = !outcome->partly && !outcome->no_room;
    return saved && whole ? mr_saved_put(saved, &self->saved, outcome, error) : MR_OK;
}

static mr_status complete(mr_shift *self, mr_outcome **outcome, mr_error *error)
{
    const mr_phase *phase = self->phase;
    const mr_outcome *before = *outcome;
    mr_status status = phase->complete ? phase->complete(phase->context, outcome, error) : MR_OK;
    return status == MR_OK && *outcome != before ? save(self, *outcome, error) : status;
}

/* What later phases are depends on it. */
static mr_status digest(mr_crew *crew, const mr_outcome *outcome, mr_error *error)
{
    return crew->saved ? mr_saved_digest(crew->saved, outcome, &crew->digest, error) : MR_OK;
}

static mr_status merge(mr_shift *self, uint64_t unit, bool tell, mr_error *error)
{
    mr_error merge_error;
    mr_outcome *outcome = self->waiting[unit];
    self->waiting[unit] = NULL;
    mr_status status = complete(self, &outcome, error);
    if (status == MR_OK)
        status = digest(self->crew, outcome, error);
    if (status == MR_OK && tell)
        status = tell_merged(self, outcome, error);
    /* What was found is merged whatever has failed. */
    mr_status merged = self->phase->merge(self->phase->context, outcome, &merge_error);
    mr_outcome_free(outcome);
    if (status != MR_OK || merged == MR_OK)
        return status;
    *error = merge_error;
    return merged;
}

/* Merges it and what has waited for it; a shard leaves that to others. */
static mr_status accept(mr_shift *self, mr_outcome *outcome, mr_error *error)
{
    mr_status status = MR_OK;
    self->done++;
    if (self->crew->shards) {
        mr_outcome_free(outcome);
    } else {
        self->waiting[outcome->unit] = outcome;
        while (status == MR_OK && self->merged < self->phase->count && self->waiting[self->merged])
            status = merge(self, self->merged++, true, error);
    }
    mr_progress_tell(self->crew->progress, self->phase->stage, self->done, self->mine);
    return status;
}

mr_status mr_shift_deliver(mr_shift *self, mr_outcome *outcome, mr_error *error)
{
    mr_crew *crew = self->crew;
    mr_error save_error;
    if (!mr_run_count_unit(crew->run, outcome->rank, outcome->worker, outcome->seconds)) {
        mr_outcome_free(outcome);
        return mr_error_memory(error, "counting the work");
    }
    self->missing -= !outcome->partly;
    crew->units_decided += !outcome->partly;
    mr_status saved = save(self, outcome, &save_error);
    mr_status status = accept(self, outcome, error);
    if (status != MR_OK || saved == MR_OK)
        return status;
    *error = save_error;
    return saved;
}

/* The saved outcome of a unit; NULL: it is of no use. */
static mr_status get_saved(mr_shift *self, uint64_t unit, mr_outcome **outcome, mr_error *error)
{
    const mr_phase *phase = self->phase;
    mr_saved *saved = self->crew->saved;
    mr_status status = mr_saved_get(saved, &self->saved, unit, outcome, error);
    if (*outcome && phase->fits && !phase->fits(phase->context, *outcome)) {
        mr_saved_refuse(saved, &self->saved, unit, "it is about something else");
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

/* Takes what was saved. A shard need not look at it. */
static mr_status take_saved(mr_shift *self, mr_error *error)
{
    mr_crew *crew = self->crew;
    const uint64_t count = self->phase->count;
    mr_status status = MR_OK;
    for (uint64_t unit = 0; crew->saved && unit < count && status == MR_OK; unit++) {
        mr_outcome *outcome = NULL;
        if (!is_mine(self, unit) || !mr_saved_has(crew->saved, &self->saved, unit))
            continue;
        status = get_saved(self, unit, &outcome, error);
        if (!outcome)
            continue;
        self->saved_before[unit] = true;
        self->missing--;
        crew->units_saved++;
        status = accept(self, outcome, error);
    }
    return status;
}

/* Merges what stands behind a gap. */
static mr_status merge_rest(mr_shift *self, mr_error *error)
{
    mr_status status = MR_OK;
    for (; self->merged < self->phase->count && status == MR_OK; self->merged++)
        if (self->waiting[self->merged])
            status = merge(self, self->merged, false, error);
    for (; self->merged < self->phase->count; self->merged++)
        mr_outcome_free(self->waiting[self->merged]);
    return status;
}

mr_status mr_phase_work(const mr_phase *phase, unsigned worker, uint64_t unit, void **product,
                        mr_error *error)
{
    mr_outcome *outcome = NULL;
    mr_status status = phase->decide(phase->context, worker, unit, &outcome, error);
    if (outcome)
        outcome->partly = status != MR_OK;
    *product = outcome;
    return status;
}

/* ---- one process ---- */

static mr_taken take(void *context, uint64_t *unit)
{
    return mr_shift_take(context, unit) ? MR_TAKEN : MR_TAKEN_NONE;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const mr_shift *self = context;
    return mr_phase_work(self->phase, worker, unit, product, error);
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    (void)unit;
    return mr_shift_deliver(context, product, error);
}

static mr_status run_alone(mr_shift *self, mr_error *error)
{
    unsigned jobs = self->missing < self->crew->jobs ? (unsigned)self->missing : self->crew->jobs;
    const mr_pool pool = {.context = self,
                          .workers = jobs ? jobs : 1,
                          .take = take,
                          .work = work,
                          .deliver = deliver};
    return mr_pool_run(&pool, error);
}

/* ---- all ---- */

static mr_status run(mr_shift *self, mr_error *error)
{
    mr_crew *crew = self->crew;
    mr_error rest_error;
    for (uint64_t unit = 0; unit < self->phase->count; unit++)
        self->mine += is_mine(self, unit);
    self->missing = self->mine;
    mr_progress_tell(crew->progress, self->phase->stage, 0, self->mine);
    mr_status status = take_saved(self, error);
    if (status == MR_OK)
        status = crew->team ? mr_lead_shift(self, error) : run_alone(self, error);
    mr_status rest = merge_rest(self, status == MR_OK ? error : &rest_error);
    crew->units_missing = self->missing;
    return status != MR_OK ? status : rest;
}

mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error)
{
    mr_shift self = {
        .crew = crew,
        .phase = phase,
        .saved = {.number = crew->phase_count++, .units = phase->count, .before = crew->digest}};
    if (crew->team)
        crew->team->phase++;
    if (crew->team && crew->team->cluster->rank > 0)
        return mr_follow_phase(crew, phase, error);
    self.waiting = mr_calloc(phase->count, sizeof(mr_outcome *));
    self.saved_before = mr_calloc(phase->count, sizeof(bool));
    pthread_mutex_init(&self.mutex, NULL);
    mr_status status = self.waiting && self.saved_before
                           ? run(&self, error)
                           : mr_error_memory(error, "sharing out the work");
    pthread_mutex_destroy(&self.mutex);
    free(self.waiting);
    free(self.saved_before);
    return status;
}
