#include "crew.h"

#include "base/memory.h"
#include "base/pool.h"

#include <stdlib.h>

/* A phase under way. */
typedef struct shift {
    mr_crew *crew;
    const mr_phase *phase;
    uint64_t taken;       /* how many units have been */
    uint64_t merged;      /* the next unit to be merged */
    uint64_t done;        /* units */
    mr_outcome **waiting; /* one a unit: decided and not merged */
} shift;

static mr_taken take(void *context, uint64_t *unit)
{
    shift *self = context;
    const mr_phase *phase = self->phase;
    if (self->taken == phase->count || mr_halt_asked(self->crew->halt) != MR_HALT_NONE)
        return MR_TAKEN_NONE;
    *unit = self->taken++;
    if (phase->last_first)
        *unit = *unit ? *unit - 1 : phase->count - 1;
    return MR_TAKEN;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const shift *self = context;
    mr_outcome *outcome = NULL;
    mr_status status = self->phase->decide(self->phase->context, worker, unit, &outcome, error);
    *product = outcome;
    return status;
}

static mr_status merge(shift *self, uint64_t unit, mr_error *error)
{
    mr_outcome *outcome = self->waiting[unit];
    self->waiting[unit] = NULL;
    mr_status status = self->phase->merge(self->phase->context, outcome, error);
    mr_outcome_free(outcome);
    return status;
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    shift *self = context;
    mr_status status = MR_OK;
    self->waiting[unit] = product;
    self->done++;
    while (status == MR_OK && self->merged < self->phase->count && self->waiting[self->merged])
        status = merge(self, self->merged++, error);
    mr_progress_tell(self->crew->progress, self->phase->stage, self->done, self->phase->count);
    return status;
}

/* Merges what stands behind a gap. */
static mr_status merge_rest(shift *self, mr_error *error)
{
    mr_status status = MR_OK;
    for (; self->merged < self->phase->count && status == MR_OK; self->merged++)
        if (self->waiting[self->merged])
            status = merge(self, self->merged, error);
    for (; self->merged < self->phase->count; self->merged++)
        mr_outcome_free(self->waiting[self->merged]);
    return status;
}

mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error)
{
    shift self = {.crew = crew, .phase = phase};
    mr_error rest_error;
    self.waiting = mr_calloc(phase->count, sizeof(mr_outcome *));
    if (!self.waiting)
        return mr_error_memory(error, "sharing out the work");
    unsigned jobs = phase->count < crew->jobs ? (unsigned)phase->count : crew->jobs;
    const mr_pool pool = {.context = &self,
                          .workers = jobs ? jobs : 1,
                          .take = take,
                          .work = work,
                          .deliver = deliver};
    mr_progress_tell(crew->progress, phase->stage, 0, phase->count);
    mr_status status = mr_pool_run(&pool, error);
    mr_status rest = merge_rest(&self, status == MR_OK ? error : &rest_error);
    free(self.waiting);
    return status != MR_OK ? status : rest;
}
