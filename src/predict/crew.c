#include "crew.h"

#include "base/memory.h"
#include "shift.h"

#include <stdlib.h>

bool mr_shift_take(mr_shift *self, uint64_t *unit)
{
    const mr_phase *phase = self->phase;
    pthread_mutex_lock(&self->mutex);
    bool taken = self->taken < phase->count && mr_halt_asked(self->crew->halt) == MR_HALT_NONE;
    if (taken)
        *unit = self->taken++;
    pthread_mutex_unlock(&self->mutex);
    if (taken && phase->last_first)
        *unit = *unit ? *unit - 1 : phase->count - 1;
    return taken;
}

uint64_t mr_shift_left(mr_shift *self)
{
    pthread_mutex_lock(&self->mutex);
    uint64_t left = self->phase->count - self->taken;
    pthread_mutex_unlock(&self->mutex);
    return left;
}

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

static mr_status merge(mr_shift *self, uint64_t unit, bool tell, mr_error *error)
{
    const mr_phase *phase = self->phase;
    mr_outcome *outcome = self->waiting[unit];
    mr_status status = MR_OK;
    self->waiting[unit] = NULL;
    if (phase->complete)
        status = phase->complete(phase->context, &outcome, error);
    if (status == MR_OK && tell)
        status = tell_merged(self, outcome, error);
    if (status == MR_OK)
        status = phase->merge(phase->context, outcome, error);
    mr_outcome_free(outcome);
    return status;
}

mr_status mr_shift_deliver(mr_shift *self, mr_outcome *outcome, mr_error *error)
{
    const mr_crew *crew = self->crew;
    mr_status status = MR_OK;
    self->waiting[outcome->unit] = outcome;
    self->done++;
    if (!mr_run_count_unit(crew->run, outcome->rank, outcome->worker, outcome->seconds))
        status = mr_error_memory(error, "counting the work");
    while (status == MR_OK && self->merged < self->phase->count && self->waiting[self->merged])
        status = merge(self, self->merged++, true, error);
    mr_progress_tell(crew->progress, self->phase->stage, self->done, self->phase->count);
    return status;
}

/* Merges what stands behind a gap, which is the end of the run. */
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
    unsigned jobs = self->crew->jobs;
    if (self->phase->count < jobs)
        jobs = (unsigned)self->phase->count;
    const mr_pool pool = {.context = self,
                          .workers = jobs ? jobs : 1,
                          .take = take,
                          .work = work,
                          .deliver = deliver};
    return mr_pool_run(&pool, error);
}

/* ---- all ---- */

mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error)
{
    mr_shift self = {.crew = crew, .phase = phase};
    mr_error rest_error;
    if (crew->team && crew->team->cluster->rank > 0)
        return mr_follow_phase(crew, phase, error);
    self.waiting = mr_calloc(phase->count, sizeof(mr_outcome *));
    if (!self.waiting)
        return mr_error_memory(error, "sharing out the work");
    pthread_mutex_init(&self.mutex, NULL);
    mr_progress_tell(crew->progress, phase->stage, 0, phase->count);
    mr_status status = crew->team ? mr_lead_shift(&self, error) : run_alone(&self, error);
    mr_status rest = merge_rest(&self, status == MR_OK ? error : &rest_error);
    pthread_mutex_destroy(&self.mutex);
    free(self.waiting);
    return status != MR_OK ? status : rest;
}
