/* A shard that begins with the part of the trace that has its windows, and a rank that has such a part. */
#include "engine/identity.h"
#include "engine/part.h"
#include "formats/mrt/mrt_part.h"
#include "formats/read.h"
#include "interrupt.h"
#include "predicting.h"

#include <string.h>

/* A new shard by a process of its own, of a file. */
static bool is_new(const mr_predicting *self, const char *path)
{
    mr_error unused;
    return !self->ranks.active && strcmp(path, "-") != 0 &&
           !mr_config_bool(self->cli->config, "repair") &&
           mr_checkpoint_probe(mr_config_text(self->cli->config, "checkpoint"), &unused) == MR_OK;
}

/* Decides the windows. False: something failed. */
static bool decide(mr_predicting *self, const mr_trace *part, mr_result *result)
{
    const mr_config *config = self->cli->config;
    const mr_checkpoint_request request = {
        .file = mr_config_text(config, "checkpoint"), .shard = self->shard, .shards = self->shards};
    mr_halt *halt = &self->ranks.halt;
    mr_predict_run run = {.progress = &self->progress.progress,
                          .debug = &self->cli->debug,
                          .halt = halt,
                          .shard = self->shard,
                          .shards = self->shards};
    int64_t limit = mr_config_int(config, "time_limit");
    mr_error unused;
    mr_status status = mr_predict_open_checkpoint(&request, part, config, &run.checkpoint, &unused);
    if (status != MR_OK)
        return false;
    self->has_begun = true;
    if (limit)
        halt->deadline_seconds = self->start_seconds + (double)limit;
    mr_interrupt_start(halt);
    status = mr_predict(part, config, &run, result, &unused);
    mr_interrupt_end();
    mr_cli_progress_end(&self->progress);
    mr_status closed = mr_checkpoint_close(run.checkpoint, &unused);
    return status == MR_OK && closed == MR_OK;
}

mr_status mr_predicting_read_on_rank(mr_predicting *self, const char *path, mr_error *error)
{
    const mr_config *config = self->cli->config;
    const mr_read_options options = {.repair = mr_config_bool(config, "repair")};
    const mr_cluster *cluster = &self->ranks.cluster;
    mr_predict_shard share;
    const mr_part_wish wish = {.context = &share, .wants = mr_predict_part_wants};
    /* With a checkpoint of an earlier run rank 0 has units that this rank would begin with. */
    if (mr_predict_part_of_rank(&share, config, cluster->rank, cluster->size) && !options.repair &&
        !self->shards && !self->part_count && !mr_config_bool(config, "resume"))
        self->part = mr_mrt_part_open(path, &options, &wish);
    if (self->part && mr_predict_part_fits(&share, mr_mrt_part_trace(self->part)))
        return MR_OK;
    mr_mrt_part_close(self->part);
    self->part = NULL;
    return mr_trace_read(path, &options, &self->trace, error);
}

void mr_predicting_part(mr_predicting *self, const char *path, bool *over, int *exit_status)
{
    mr_predict_shard shard = {self->cli->config, self->shard, self->shards, false};
    const mr_part_wish wish = {.context = &shard, .wants = mr_predict_part_wants};
    mr_read_options options = mr_cli_read_options(self->cli->config, &self->progress);
    mr_result result = {0};
    *over = false;
    mr_config_resolve(self->cli->config);
    if (!is_new(self, path) || !mr_predict_part_allows(&shard))
        return;
    mr_mrt_part *part = mr_mrt_part_open(path, &options, &wish);
    if (part && mr_predict_part_fits(&shard, mr_mrt_part_trace(part)) &&
        decide(self, mr_mrt_part_trace(part), &result))
        *over = !result.stats.windows_missing || result.stats.halted != MR_HALT_NONE;
    if (*over) {
        mr_predicting_print_shard(self, &result);
        *exit_status = result.stats.incomplete ? MR_EXIT_INCOMPLETE : 0;
    } else {
        self->units_of_part = result.run.units_decided;
    }
    mr_result_free(&result);
    mr_mrt_part_close(part);
}
