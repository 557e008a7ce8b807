/* merge: the report of a trace whose windows were decided by the runs of a job array. */
#include "predict/predict.h"
#include "predicting.h"

#include <inttypes.h>

/* Units of work that no file has. */
static mr_status check_missing(const mr_predicting *self, mr_error *error)
{
    uint64_t count = mr_predict_unit_count(self->trace, self->cli->config), missing = 0, first = 0;
    for (uint64_t unit = count; unit-- > 0;)
        if (!mr_saved_has(self->saved, 0, unit, count)) {
            missing++;
            first = unit;
        }
    if (!missing || self->cli->switch_on)
        return MR_OK;
    uint64_t parts = self->part_count;
    return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                        "%" PRIu64 " of %" PRIu64 " units of work are in none of the files, of "
                        "%" PRIu64 " shards probably one of shard %" PRIu64 "/%" PRIu64
                        "; finish that shard by --resume, name its file, or decide them here by "
                        "--decide-missing",
                        missing, count, parts, first % parts + 1, parts);
}

mr_status mr_cli_merge(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_predicting self = {
        .cli = cli, .parts = cli->operands + 1, .part_count = cli->operand_count - 1};
    mr_status status = mr_saved_settings(self.parts[0], cli->config, error);
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
