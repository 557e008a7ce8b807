/* explain: why accesses at two places race, do not race, or stay unknown. */
#include "explain/explain.h"
#include "cli.h"
#include "output.h"

typedef struct question {
    const mr_trace *trace;
    const mr_config *config;
    const mr_progress *progress;
    const char *one, *two; /* places; `two` may be NULL */
    bool events;           /* not places, but: */
    uint32_t first, second;
} question;

static mr_status print_explanation(FILE *stream, const void *context, mr_error *error)
{
    const question *self = context;
    return self->events ? mr_explain_events(stream, self->trace, self->config, self->first,
                                            self->second, error)
                        : mr_explain_places(stream, self->trace, self->config, self->one, self->two,
                                            self->progress, error);
}

static mr_status read_question(const mr_cli *cli, question *self, mr_error *error)
{
    self->events = cli->own[0] != NULL;
    if (self->events == (cli->operand_count > 1))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "explain needs one or two places (maxrace explain trace.std bank.c:21 "
                            "bank.c:34), or --pair A B alone");
    if (self->events)
        return mr_cli_read_pair(cli, &self->first, &self->second, error);
    self->one = cli->operands[1];
    self->two = cli->operand_count > 2 ? cli->operands[2] : NULL;
    return MR_OK;
}

mr_status mr_cli_explain(mr_cli *cli, int *exit_status, mr_error *error)
{
    question self = {.config = cli->config};
    mr_trace *trace = NULL;
    mr_cli_progress progress;
    *exit_status = 0;
    mr_status status = read_question(cli, &self, error);
    if (status == MR_OK)
        status = mr_cli_probe(cli->config, error);
    if (status != MR_OK)
        return status;
    mr_config_resolve(cli->config);
    mr_cli_progress_start(&progress, cli->config);
    status = mr_cli_read_trace(cli->operands[0], cli->config, &progress, &trace, error);
    self.trace = trace;
    self.progress = &progress.progress;
    if (status == MR_OK)
        status = mr_cli_check_trace(trace, error);
    if (status == MR_OK)
        status =
            mr_output_write(mr_config_text(cli->config, "output"), print_explanation, &self, error);
    mr_cli_progress_end(&progress);
    mr_trace_free(trace);
    return status;
}
