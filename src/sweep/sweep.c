#include "sweep.h"

#include "base/assert.h"
#include "base/ceiling.h"
#include "base/seconds.h"
#include "beside.h"
#include "lean.h"
#include "observe.h"

#include <stdlib.h>
#include <sys/resource.h>

/* One record a static race, all of them candidates. */
static mr_status make_records(const mr_sweep_job *job)
{
    mr_order_result *result = &job->sweep->result;
    result->races = mr_calloc(result->list.race_count + 1, sizeof *result->races);
    if (result->races == NULL) {
        mr_race_list_free(&result->list);
        job->sweep->names = NULL;
        return mr_error_memory(job->error, "recording the races");
    }
    for (size_t i = 0; i < result->list.race_count; i++)
        result->races[i].standing = MR_STANDING_CANDIDATE;
    return MR_OK;
}

static void finish(mr_order_result *result)
{
    struct rusage usage;
    for (size_t i = 0; result->races != NULL && i < result->list.race_count; i++) {
        MR_ASSERT(result->races[i].standing < MR_STANDING_COUNT);
        /* Only a race that the checker accepted, or a sound one, is proven. */
        MR_ASSERT((result->races[i].standing <= MR_STANDING_SOUND) ==
                  (result->races[i].proof != MR_PROOF_NONE));
        result->counts[result->races[i].standing]++;
    }
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        result->stats.peak_memory_bytes = (uint64_t)usage.ru_maxrss << 10;
}

/* From the file to the proofs. A halt is no error when there are names for a report. */
static mr_status find_and_prove(mr_sweep_job *job, mr_watch *watch)
{
    mr_sweep *sweep = job->sweep;
    mr_error *first = job->error;
    mr_status status = mr_sweep_find(job, watch);
    if (sweep->names == NULL)
        return status;
    sweep->result.complete = status == MR_OK;
    status = status == MR_ERR_HALTED ? MR_OK : status;
    if (status != MR_OK)
        job->error = &job->later; /* the first error is the one that is returned */
    mr_status proven = make_records(job);
    bool halted = mr_halt_asked(job->halt) != MR_HALT_NONE;
    if (proven == MR_OK && !halted)
        proven = mr_sweep_observe(job, watch);
    if (proven == MR_OK)
        proven = mr_sweep_prove(job);
    if (proven == MR_OK)
        proven = mr_lean_check(job);
    sweep->result.halted = mr_halt_asked(job->halt);
    if (sweep->result.halted != MR_HALT_NONE &&
        (proven == MR_ERR_HALTED || proven == MR_ERR_MEMORY) && sweep->names != NULL)
        proven = MR_OK;
    job->error = first;
    finish(&sweep->result);
    return status != MR_OK ? status : proven;
}

/* Runs the order on the trace `given`, or, when it is NULL, on the file at `path`. */
static mr_status run(mr_sweep *sweep, const mr_trace *given, const char *path,
                     const mr_config *config, const mr_progress *progress, mr_halt *halt,
                     mr_error *error)
{
    double begin = mr_seconds();
    mr_halt own = {0};
    mr_sweep_shared shared = {0};
    *sweep = (mr_sweep){.result.relation = (mr_relation)mr_config_choice(config, "relation")};
    mr_sweep_job job = {.sweep = sweep,
                        .path = path,
                        .given = given,
                        .config = config,
                        .progress = progress,
                        .relation = sweep->result.relation,
                        .halt = halt != NULL ? halt : &own,
                        .shared = &shared,
                        .check = mr_config_bool(config, "witness.check"),
                        .mark = mr_config_bool(config, "mark"),
                        .confirm = mr_config_bool(config, "confirm"),
                        .error = error};
    mr_watch watch = {0};
    mr_status status = mr_config_check(config, error);
    if (status != MR_OK)
        return status;
    mr_ceiling *ceiling = mr_ceiling_start(mr_config_memory_bytes(config), job.halt);
    status = find_and_prove(&job, &watch);
    mr_sweep_shared_free(&shared);
    mr_ceiling_stop(ceiling);
    mr_watch_free(&watch);
    sweep->result.stats.total_seconds = mr_seconds() - begin;
    return status;
}

mr_status mr_sweep_run(mr_sweep *sweep, const char *path, const mr_config *config,
                       const mr_progress *progress, mr_halt *halt, mr_error *error)
{
    return run(sweep, NULL, path, config, progress, halt, error);
}

mr_status mr_sweep_run_trace(mr_sweep *sweep, const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_halt *halt, mr_error *error)
{
    return run(sweep, trace, trace->path, config, progress, halt, error);
}

void mr_sweep_free(mr_sweep *sweep)
{
    mr_order_result_free(&sweep->result);
    mr_lean_free(sweep->lean);
    mr_stream_close(sweep->stream);
    mr_trace_free(sweep->loaded);
    mr_trace_free(sweep->valued);
    *sweep = (mr_sweep){0};
}
