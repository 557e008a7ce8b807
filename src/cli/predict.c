/* predict: reads a trace, predicts, reports. After a failure, the races found before it are
 * reported. */
#include "config/suggest.h"
#include "predicting.h"

#include <stdlib.h>
#include <string.h>

/* The number that `text` begins with; 0: none, or too large. */
static uint32_t read_number(const char **text)
{
    const char *from = *text;
    size_t digits = strspn(from, "0123456789");
    *text += digits;
    return digits > 0 && digits <= 9 ? (uint32_t)strtoul(from, NULL, 10) : 0;
}

/* "2/5" */
static mr_status read_shard(mr_predicting *self, const char *text, mr_error *error)
{
    char quoted[MR_QUOTED_BYTES];
    const char *at = text;
    self->shard = read_number(&at);
    if (*at == '/') {
        at++;
        self->shards = read_number(&at);
    }
    if (*at != '\0' || self->shard < 1 || self->shard > self->shards)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--shard %s: expected K/N, the part and the number of parts, such as "
                            "2/5",
                            mr_quote(text, quoted));
    if (mr_config_text(self->cli->config, "checkpoint")[0] == '\0')
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--shard needs --checkpoint FILE, for 'maxrace merge'");
    return MR_OK;
}

mr_status mr_cli_predict(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_predicting self = {.cli = cli, .mpi = cli->switch_on};
    bool over = false;
    mr_status status = cli->own[0] ? read_shard(&self, cli->own[0], error) : MR_OK;
    if (status != MR_OK)
        return status;
    status = mr_predicting_start(&self, error);
    if (status == MR_OK && self.shards)
        mr_predicting_part(&self, cli->operands[0], &over, exit_status);
    if (over)
        return mr_ranks_end(&self.ranks, MR_OK, exit_status, error);
    if (status == MR_OK)
        status = mr_predicting_open(&self, cli->operands[0], error);
    return mr_predicting_finish(&self, status, exit_status, error);
}
