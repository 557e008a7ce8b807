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
    uint64_t done, mine;  /* units */
    mr_saved_phase saved; /* as which it is known to crew->saved */
    mr_outcome **waiting; /* one a unit: decided and not merged */
    bool *settled;        /* one a unit: there is an outcome */
} shift;

/* Is the unit one of this shard? */
static bool is_mine(const shift *self, uint64_t unit)
{
    const mr_crew *crew = self->crew;
    return !crew->shards || unit % crew->shards == crew->shard - 1;
}

static mr_taken take(void *context, uint64_t *unit)
{
    shift *self = context;
    const mr_phase *phase = self->phase;
    if (mr_halt_asked(self->crew->halt) != MR_HALT_NONE)
        return MR_TAKEN_NONE;
    while (self->taken < phase->count) {
        *unit = self->taken++;
        if (phase->last_first)
            *unit = *unit ? *unit - 1 : phase->count - 1;
        if (!self->settled[*unit] && is_mine(self, *unit))
            return MR_TAKEN;
    }
    return MR_TAKEN_NONE;
}

static mr_status work(void *context, unsigned worker, uint64_t unit, void **product,
                      mr_error *error)
{
    const shift *self = context;
    mr_outcome *outcome = NULL;
    mr_status status = self->phase->decide(self->phase->context, worker, unit, &outcome, error);
    if (outcome)
        outcome->partly = status != MR_OK;
    *product = outcome;
    return status;
}

static mr_status save(shift *self, const mr_outcome *outcome, mr_error *error)
{
    mr_saved *saved = self->crew->saved;
    return saved && !outcome->partly ? mr_saved_put(saved, &self->saved, outcome, error) : MR_OK;
}

static mr_status complete(shift *self, mr_outcome **outcome, mr_error *error)
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

static mr_status merge(shift *self, uint64_t unit, mr_error *error)
{
    mr_error merge_error;
    mr_outcome *outcome = self->waiting[unit];
    self->waiting[unit] = NULL;
    mr_status status = complete(self, &outcome, error);
    if (status == MR_OK)
        status = digest(self->crew, outcome, error);
    /* What was found is merged whatever has failed. */
    mr_status merged = self->phase->merge(self->phase->context, outcome, &merge_error);
    mr_outcome_free(outcome);
    if (status != MR_OK || merged == MR_OK)
        return status;
    *error = merge_error;
    return merged;
}

/* Merges it and what has waited for it; a shard leaves that to others. */
static mr_status accept(shift *self, mr_outcome *outcome, mr_error *error)
{
    mr_status status = MR_OK;
    self->done++;
    if (self->crew->shards) {
        mr_outcome_free(outcome);
    } else {
        self->waiting[outcome->unit] = outcome;
        while (status == MR_OK && self->merged < self->phase->count && self->waiting[self->merged])
            status = merge(self, self->merged++, error);
    }
    mr_progress_tell(self->crew->progress, self->phase->stage, self->done, self->mine);
    return status;
}

static mr_status deliver(void *context, uint64_t unit, void *product, mr_error *error)
{
    shift *self = context;
    mr_outcome *outcome = product;
    mr_error save_error;
    self->settled[unit] = !outcome->partly;
    self->crew->units_decided += self->settled[unit];
    mr_status saved = save(self, outcome, &save_error);
    mr_status status = accept(self, outcome, error);
    if (status != MR_OK || saved == MR_OK)
        return status;
    *error = save_error;
    return saved;
}

/* Takes what was saved. A shard need not look at it. */
static mr_status take_saved(shift *self, mr_error *error)
{
    mr_crew *crew = self->crew;
    const uint64_t count = self->phase->count;
    mr_status status = MR_OK;
    for (uint64_t unit = 0; crew->saved && unit < count && status == MR_OK; unit++) {
        mr_outcome *outcome = NULL;
        if (!is_mine(self, unit) || !mr_saved_has(crew->saved, &self->saved, unit))
            continue;
        status = mr_saved_get(crew->saved, &self->saved, unit, &outcome, error);
        if (!outcome)
            continue;
        self->settled[unit] = true;
        crew->units_saved++;
        status = accept(self, outcome, error);
    }
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

static mr_status run(shift *self, mr_error *error)
{
    mr_crew *crew = self->crew;
    mr_error rest_error;
    for (uint64_t unit = 0; unit < self->phase->count; unit++)
        self->mine += is_mine(self, unit);
    unsigned jobs = self->mine < crew->jobs ? (unsigned)self->mine : crew->jobs;
    const mr_pool pool = {.context = self,
                          .workers = jobs ? jobs : 1,
                          .take = take,
                          .work = work,
                          .deliver = deliver};
    mr_progress_tell(crew->progress, self->phase->stage, 0, self->mine);
    mr_status status = take_saved(self, error);
    if (status == MR_OK)
        status = mr_pool_run(&pool, error);
    mr_status rest = merge_rest(self, status == MR_OK ? error : &rest_error);
    crew->units_missing = 0;
    for (uint64_t unit = 0; unit < self->phase->count; unit++)
        crew->units_missing += is_mine(self, unit) && !self->settled[unit];
    return status != MR_OK ? status : rest;
}

mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error)
{
    shift self = {
        .crew = crew,
        .phase = phase,
        .saved = {.number = crew->phase_count++, .units = phase->count, .before = crew->digest}};
    self.waiting = mr_calloc(phase->count, sizeof(mr_outcome *));
    self.settled = mr_calloc(phase->count, sizeof(bool));
    mr_status status = self.waiting && self.settled
                           ? run(&self, error)
                           : mr_error_memory(error, "sharing out the work");
    free(self.waiting);
    free(self.settled);
    return status;
}
