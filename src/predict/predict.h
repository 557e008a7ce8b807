/*
 * predict: the main job: windows → candidates → decision → witness → checker → result.
 */
#ifndef MR_PREDICT_PREDICT_H
#define MR_PREDICT_PREDICT_H

#include "base/halt.h"
#include "base/progress.h"
#include "checkpoint/saved.h"
#include "config/config.h"
#include "dispatch/team.h"
#include "result.h"
#include "solver/decide.h"

/* What comes with a run and does not change what is found. Zero-initialise. */
typedef struct mr_predict_run {
    const mr_progress *progress; /* is told of "windows" and then "far races"; may be NULL */
    const mr_halt *halt;         /* ends the run before its time; may be NULL */
    mr_saved *saved;             /* of earlier runs, and for later ones (saved.h); may be NULL */
    /* 1 … shards: decides this part of the windows and saves it, and that is all; the result has
     * nothing but what is missing, and `run`. 0: everything. */
    uint32_t shard, shards;
    mr_team *team; /* this is a rank of it, and has met the others; `halt` is the team's; may be
                      NULL */
} mr_predict_run;

/* The number of units of the first phase: the windows, and the search for sync-preserving races. */
uint64_t mr_predict_unit_count(const mr_trace *trace, const mr_config *config);

/*
 * Predicts the races of `trace` within the windows that `config` asks for, and beyond, with as many
 * threads as its `jobs`. `run` may be NULL. `result` is zero-initialised by the caller and freed
 * with mr_result_free; it is meaningful also when an error is returned or the run is halted: what
 * was found by then is in it, and stats.incomplete says what is not. MR_ERR_IO when outcomes could
 * not be saved, MR_ERR_CONFIG as mr_config_check, MR_ERR_UNSUPPORTED (a trace of 2^31
 * events or more, for far races), MR_ERR_MEMORY.
 */
mr_status mr_predict(const mr_trace *trace, const mr_config *config, const mr_predict_run *run,
                     mr_result *result, mr_error *error);

/* How many threads a prediction has; `cluster` may be NULL. */
unsigned mr_predict_jobs(const mr_config *config, const mr_cluster *cluster);

/* The limits of one decision, as `config` has them under solver. */
mr_decide_options mr_predict_limits(const mr_config *config);

#endif
