/* A phase of mr_far_decide: units of far questions, on workers of the reduced trace. */
#include "far_decider.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct round {
    mr_decider *d;
    const mr_far_units *units;
} round_of_units;

bool mr_decider_is_halted(const mr_decider *d)
{
    return mr_halt_asked(d->context->settings->halt) != MR_HALT_NONE;
}

static mr_status expand(const void *context, mr_witness *witness, mr_error *error)
{
    return mr_reduction_expand(context, witness, error);
}

static mr_status start_worker(mr_decider *d, unsigned number, mr_far_worker *made, mr_error *error)
{
    mr_worker *base = NULL;
    mr_status status = d->context->worker_of(d->context->context, number, &base, error);
    if (status == MR_OK && !mr_worker_checker(base))
        status = mr_error_memory(error, "deciding far races");
    if (status != MR_OK)
        return status;
    made->worker = (mr_worker){.settings = d->context->settings,
                               .trace = &d->reduction.trace,
                               .session = base->session,
                               .checker = base->checker,
                               .decide = d->decide,
                               .expand = expand,
                               .expand_context = &d->reduction,
                               .opaque = &d->reduction.opaque};
    mr_arena_init(&made->worker.arena);
    status = mr_carried_init(&made->worker.carried, made->worker.trace, error);
    made->worker.carried.barrier_edges = &d->reduction.opaque;
    return status;
}

static mr_status worker_of(mr_decider *d, unsigned number, mr_far_worker **worker, mr_error *error)
{
    mr_status status = MR_OK;
    if (!d->workers[number]) {
        d->workers[number] = mr_calloc(1, sizeof **worker);
        if (!d->workers[number]) {
            mr_error_memory(error, "deciding far races");
            return MR_ERR_MEMORY;
        }
        status = start_worker(d, number, d->workers[number], error);
    }
    *worker = d->workers[number];
    return status;
}

void mr_decider_free_workers(mr_decider *d)
{
    for (unsigned i = 0; d->workers && i < d->context->dispatch->jobs; i++) {
        if (!d->workers[i])
            continue;
        mr_worker_leave(&d->workers[i]->worker);
        mr_carried_free(&d->workers[i]->worker.carried);
        free(d->workers[i]);
    }
    free(d->workers);
}

static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    const round_of_units *self = context;
    mr_far_worker *worker = NULL;
    mr_status status = worker_of(self->d, number, &worker, error);
    if (status != MR_OK)
        return status;
    *outcome = mr_outcome_new(unit);
    if (!*outcome)
        return mr_error_memory(error, "deciding far races");
    worker->worker.error = error;
    worker->worker.halted = mr_decider_is_halted(self->d);
    mr_worker_begin(&worker->worker, MR_ROOM_FAR);
    if (!worker->worker.halted)
        status = self->units->decide(self->units->context, worker, *outcome);
    mr_worker_end(&worker->worker);
    if (status == MR_OK && worker->worker.halted) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const round_of_units *self = context;
    pthread_mutex_lock(&self->d->lock);
    mr_status status = self->units->merge(self->units->context, outcome, error);
    pthread_mutex_unlock(&self->d->lock);
    return status;
}

mr_status mr_decider_run(mr_decider *d, const mr_far_units *units)
{
    round_of_units self = {.d = d, .units = units};
    const mr_phase phase = {.context = &self,
                            .stage = "far races",
                            .count = units->count,
                            .decide = decide,
                            .merge = merge};
    return units->count ? mr_dispatch_run(d->context->dispatch, &phase, d->error) : MR_OK;
}
