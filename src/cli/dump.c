/* dump: shows how maxrace decides one pair of a trace, to find a bug of maxrace. */
#include "dump/dump.h"
#include "cli.h"
#include "output.h"

typedef struct pair {
    const mr_trace *trace;
    const mr_config *config;
    uint32_t one, other;
} pair;

static mr_status print_dump(FILE *stream, const void *context, mr_error *error)
{
    const pair *self = context;
    return mr_dump_pair(stream, self->trace, self->config, self->one, self->other, error);
}

mr_status mr_cli_dump(mr_cli *cli, int *exit_status, mr_error *error)
{
    pair self = {.config = cli->config};
    mr_trace *trace = NULL;
    mr_cli_progress progress;
    *exit_status = 0;
    if (!cli->own[0])
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "missing --pair A B: the numbers of two conflicting events");
    mr_status status = mr_cli_read_pair(cli, &self.one, &self.other, error);
    if (status != MR_OK)
        return status;
    mr_cli_progress_start(&progress, cli->config);
    status = mr_cli_read_trace(cli->operands[0], cli->config, &progress, &trace, error);
    mr_cli_progress_end(&progress);
    self.trace = trace;
    if (status == MR_OK)
        status = mr_output_write(mr_config_text(cli->config, "output"), print_dump, &self, error);
    mr_trace_free(trace);
    return status;
}
