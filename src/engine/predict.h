/*
 * predict: the races of a trace: windows → candidates → decision → witness → checker → result, then
 * the races beyond the windows, then labels. Puts together what predict, far, dispatch and
 * checkpoint can do.
 *
 * In a cluster every rank calls mr_predict between mr_predict_meet and mr_predict_part.
 */
#ifndef MR_ENGINE_PREDICT_H
#define MR_ENGINE_PREDICT_H

#include "base/debug.h"
#include "base/halt.h"
#include "base/progress.h"
#include "checkpoint/checkpoint.h"
#include "config/config.h"
#include "dispatch/team.h"
#include "predict/result.h"
#include "trace/trace.h"

/* What comes with a run and does not change what is found. Zero-initialise. */
typedef struct mr_predict_run {
    const mr_progress *progress; /* is told of "windows" and then "far races"; may be NULL */
    const mr_debug *debug;       /* is told what modules decide; may be NULL */
    mr_halt *halt;               /* ends the run before its time; may be NULL */
    mr_checkpoint *checkpoint;   /* of earlier runs, and for later ones; may be NULL */
    /* 1 … shards: the run decides this part of the windows, saves it, and does nothing else. Its
     * result says only how many units are missing, and `run`. 0: the run does everything. Of a part of a trace (part.h)
     * units are missing when they need the whole trace. */
    uint32_t shard, shards;
    /* Few races are shown: those that are `is_long` stay so, and who shows one opens it by mr_witness_open_long. False: all
     * are shortened when all are found. */
    bool shows_few;
    mr_team *team; /* this process is a rank of the team, which has met; `halt` is that of the team.
                      May be NULL */
} mr_predict_run;

/* The number of units of the first phase: the windows, and the search for sync-preserving races. */
uint64_t mr_predict_unit_count(const mr_trace *trace, const mr_config *config);

/*
 * Predicts the races of `trace` within the windows that `config` asks for, and beyond them, with as
 * many threads as its `jobs`. `run` may be NULL. `result` is zero-initialised by the caller and
 * freed with mr_result_free. It is meaningful also when an error is returned or the run is halted:
 * it has what was found by then, and stats.incomplete says that something is missing. MR_ERR_IO
 * when outcomes could not be saved, MR_ERR_CONFIG as mr_config_check, MR_ERR_UNSUPPORTED (a trace
 * of 2^31 events or more, for far races), MR_ERR_MEMORY.
 */
mr_status mr_predict(const mr_trace *trace, const mr_config *config, const mr_predict_run *run,
                     mr_result *result, mr_error *error);

/* The number of threads of a prediction; `cluster` may be NULL. */
unsigned mr_predict_jobs(const mr_config *config, const mr_cluster *cluster);

/* together.c: mr_team_meet for a prediction. The ranks agree on the contents of the trace and on
 * the settings that decide what is found. `trace` is not read when `status` is not MR_OK. Of a rank other than 0 it may be a part (part.h):
 * such a rank does not wait for the others here. */
mr_status mr_predict_meet(mr_team *team, const mr_cluster *cluster, mr_halt *halt,
                          const mr_trace *trace, const mr_config *config, mr_status status,
                          mr_error *error);

/* together.c: mr_team_part for a prediction. Rank 0 adds the times of all other ranks to `run`. */
bool mr_predict_part(mr_team *team, mr_status status, const mr_error *error, mr_run_figures *run);

#endif
