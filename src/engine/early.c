#include "early.h"

#include "predict/crowded.h"

typedef struct early {
    const mr_far_context *context;
    mr_known_races *known; /* of the round; owned */
    uint32_t round;
} early;

static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    early *e = context;
    mr_worker *worker;
    mr_status status = e->context->worker_of(e->context->context, number, &worker, error);
    if (status != MR_OK)
        return status;
    *outcome = mr_outcome_new(unit);
    if (!*outcome)
        return mr_error_memory(error, "starting a window");
    status = mr_crowded_search(worker, e->round, e->known, *outcome, error);
    if (status == MR_OK && worker->halted && !(*outcome)->cut) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const early *e = context;
    return e->context->dispatch->shards ? mr_merge_note(e->context->merge, outcome, error)
                                        : mr_merge_races(e->context->merge, outcome, error);
}

mr_status mr_early_find(const mr_far_context *context, mr_error *error)
{
    const mr_predict_settings *settings = context->settings;
    mr_status status = MR_OK;
    if (!mr_crowded_is(settings))
        return MR_OK;
    mr_dispatch alone = *context->dispatch; /* no store, no team, no shard */
    alone.store = NULL;
    alone.team = NULL;
    alone.shard = alone.shards = 0;
    early e = {.context = context};
    for (; status == MR_OK && e.round < mr_crowded_rounds(settings) &&
           mr_halt_asked(settings->halt) == MR_HALT_NONE;
         e.round++) {
        const mr_phase phase = {.context = &e,
                                .stage = "close races",
                                .count = mr_crowded_units(settings->trace),
                                .decide = decide,
                                .merge = merge};
        e.known = mr_known_races_new();
        status = e.known ? mr_dispatch_run(&alone, &phase, error)
                         : mr_error_memory(error, "starting the prediction");
        mr_known_races_free(e.known);
    }
    return status;
}
