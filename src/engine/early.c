#include "early.h"

#include "base/memory.h"
#include "predict/crowded.h"

#include <stdlib.h>

typedef struct early {
    const mr_far_context *context;
    mr_crowded_known known; /* owned */
    uint64_t *races;        /* owned; one a round: how many were new */
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
    status = mr_crowded_search(worker, e->round, &e->known, *outcome, error);
    if (status == MR_OK && worker->halted && !(*outcome)->cut) {
        mr_outcome_free(*outcome);
        *outcome = NULL;
    }
    return status;
}

static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const early *e = context;
    for (size_t i = 0; i < outcome->count; i++) {
        uint32_t key_1 = outcome->verdicts[i].key_1, key_2 = outcome->verdicts[i].key_2;
        e->races[e->round] +=
            !mr_known_races_below(e->known.earlier, key_1, key_2, (uint64_t)e->round + 1);
        if (!mr_known_races_add(e->known.earlier, key_1, key_2, e->round))
            return mr_error_memory(error, "recording a race");
    }
    return e->context->dispatch->shards ? mr_merge_note(e->context->merge, outcome, error)
                                        : mr_merge_races(e->context->merge, outcome, error);
}

static mr_status do_round(early *e, mr_dispatch *dispatch, mr_error *error)
{
    const mr_phase phase = {.context = e,
                            .stage = "close races",
                            .count = mr_crowded_units(e->context->settings->trace, e->round),
                            .decide = decide,
                            .merge = merge};
    e->known.round = mr_known_races_new();
    mr_status status = e->known.round ? mr_dispatch_run(dispatch, &phase, error)
                                      : mr_error_memory(error, "starting the prediction");
    mr_known_races_free(e->known.round);
    return status;
}

/* `*walked`: walks with leads have gone through the trace. */
static mr_status do_rounds(early *e, bool *walked, mr_error *error)
{
    const mr_predict_settings *settings = e->context->settings;
    mr_status status = MR_OK;
    mr_dispatch alone = *e->context->dispatch; /* no store, no team, no shard */
    alone.store = NULL;
    alone.team = NULL;
    alone.shard = alone.shards = 0;
    for (; status == MR_OK && e->round < mr_crowded_rounds() &&
           mr_halt_asked(settings->halt) == MR_HALT_NONE;
         e->round++)
        if (mr_crowded_needs(settings, e->round, e->races)) {
            status = do_round(e, &alone, error);
            *walked |= mr_crowded_is_walk(e->round);
        }
    return status;
}

mr_status mr_early_find(const mr_far_context *context, bool *walked, mr_error *error)
{
    *walked = false;
    if (!context->settings->is_crowded)
        return MR_OK;
    early e = {.context = context,
               .known.earlier = mr_known_races_new(),
               .races = mr_calloc(mr_crowded_rounds(), sizeof *e.races)};
    mr_status status = e.known.earlier && e.races
                           ? do_rounds(&e, walked, error)
                           : mr_error_memory(error, "starting the prediction");
    mr_known_races_free(e.known.earlier);
    free(e.races);
    return status;
}
