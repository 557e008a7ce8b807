/* merge: the report of a trace whose windows were decided by the runs of a job array. */
#include "dispatch/dispatch.h"
#include "engine/identity.h"
#include "engine/predict.h"
#include "predicting.h"

#include <inttypes.h>
#include <stdio.h>

/* The text about the shard of a unit that is missing. */
static void name_shard(const mr_checkpoint *checkpoint, uint64_t unit, uint64_t units, char *buffer,
                       size_t size_bytes)
{
    uint32_t shards = mr_checkpoint_shards(checkpoint),
             shard = shards ? mr_shard_of(unit, units, shards) : 0;
    const char *path = shards ? mr_checkpoint_part(checkpoint, shard, shards) : NULL;
    if (path)
        snprintf(buffer, size_bytes, "shard %" PRIu32 "/%" PRIu32 " (%.200s) is not finished",
                 shard, shards, path);
    else if (shards)
        snprintf(buffer, size_bytes, "there is no file of shard %" PRIu32 "/%" PRIu32, shard,
                 shards);
    else
        snprintf(buffer, size_bytes, "the run that has made them is not finished");
}

/* The error for units that no file has. */
static mr_status check_missing(const mr_predicting *self, mr_error *error)
{
    const mr_store_phase phase = {.units = mr_predict_unit_count(self->trace, self->cli->config)};
    uint64_t missing = 0, first = 0;
    char whose[320];
    for (uint64_t unit = phase.units; unit-- > 0;)
        if (!mr_checkpoint_has(self->checkpoint, &phase, unit)) {
            missing++;
            first = unit;
        }
    if (!missing || self->cli->switch_on)
        return MR_OK;
    name_shard(self->checkpoint, first, phase.units, whose, sizeof whose);
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "%" PRIu64 " of %" PRIu64 " units are missing: %s; let it run to "
                        "its end by predict --resume, or decide them here by --decide-missing",
                        missing, phase.units, whose);
}

mr_status mr_cli_merge(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_predicting self = {
        .cli = cli, .parts = cli->operands + 1, .part_count = cli->operand_count - 1};
    mr_status status = mr_predict_settings_of_checkpoint(self.parts[0], cli->config, error);
    if (status == MR_OK)
        status = mr_config_check(cli->config, error);
    if (status == MR_OK)
        status = mr_predicting_start(&self, error);
    if (status == MR_OK)
        status = mr_predicting_open(&self, cli->operands[0], error);
    if (status == MR_OK)
        status = check_missing(&self, error);
    return mr_predicting_finish(&self, status, exit_status, error);
}
