#include "sweep.h"

#include "base/assert.h"
#include "base/seconds.h"
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

/* Runs the order on the trace `given`, or, when it is NULL, on the file at `path`. */
static mr_status run(mr_sweep *sweep, const mr_trace *given, const char *path,
                     const mr_config *config, const mr_progress *progress, mr_error *error)
{
    double begin = mr_seconds();
    *sweep = (mr_sweep){.result.relation = (mr_relation)mr_config_choice(config, "relation")};
    mr_sweep_job job = {.sweep = sweep,
                        .path = path,
                        .given = given,
                        .config = config,
                        .progress = progress,
                        .relation = sweep->result.relation,
                        .check = mr_config_bool(config, "witness.check"),
                        .mark = mr_config_bool(config, "mark"),
                        .confirm = mr_config_bool(config, "confirm"),
                        .error = error};
    mr_error later;
    mr_watch watch = {0};
    mr_status status = mr_config_check(config, error);
    if (status == MR_OK)
        status = mr_sweep_find(&job, &watch);
    if (sweep->names == NULL) {
        mr_watch_free(&watch);
        return status;
    }
    sweep->result.complete = status == MR_OK;
    if (status != MR_OK)
        job.error = &later; /* the first error is the one that is returned */
    mr_status proven = make_records(&job);
    if (proven == MR_OK)
        proven = mr_sweep_observe(&job, &watch);
    if (proven == MR_OK)
        proven = mr_sweep_prove(&job);
    mr_watch_free(&watch);
    finish(&sweep->result);
    sweep->result.stats.total_seconds = mr_seconds() - begin;
    return status != MR_OK ? status : proven;
}

mr_status mr_sweep_run(mr_sweep *sweep, const char *path, const mr_config *config,
                       const mr_progress *progress, mr_error *error)
{
    return run(sweep, NULL, path, config, progress, error);
}

mr_status mr_sweep_run_trace(mr_sweep *sweep, const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_error *error)
{
    return run(sweep, trace, trace->path, config, progress, error);
}

void mr_sweep_free(mr_sweep *sweep)
{
    mr_order_result_free(&sweep->result);
    mr_stream_close(sweep->stream);
    mr_trace_free(sweep->loaded);
    *sweep = (mr_sweep){0};
}
