/* report: a report in JSON, written in another format. */
#include "cli.h"
#include "listing/listing.h"
#include "output.h"
#include "predicting.h"
#include "report/report_read.h"

#include <string.h>

typedef struct report {
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
} report;

static mr_status write_report(FILE *stream, const void *context, mr_error *error)
{
    const report *self = context;
    return mr_format_chosen(self->config)
        ->predict(stream, self->trace, self->config, self->result, error);
}

/* Without --format, the end of the output's name chooses. */
static mr_status choose_format(const mr_cli *cli, mr_error *error)
{
    static const struct {
        const char *end, *format;
    } ends[] = {{".html", "html"}, {".sarif", "sarif"}, {".xml", "junit"}, {".json", "json"},
                {".dot", "dot"},   {".gv", "dot"},      {".txt", "text"}};
    const char *output = mr_config_text(cli->config, "output"), *dot = strrchr(output, '.');
    for (size_t i = 0; dot && !cli->format_given && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i].end) == 0)
            return mr_config_set(cli->config, "format", ends[i].format, NULL, 0, error);
    return MR_OK;
}

static mr_status read_and_write(mr_cli *cli, const mr_report *read, int *exit_status,
                                mr_error *error)
{
    mr_trace *trace = NULL;
    mr_result result = {0};
    mr_cli_progress progress;
    const char *file = cli->own[0] ? cli->own[0] : mr_report_trace(read);
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = mr_cli_read_trace(file, cli->config, &progress, &trace, error);
    if (status == MR_OK)
        status = mr_cli_check_trace(trace, error);
    if (status == MR_OK)
        status = mr_report_result(read, trace, cli->config, &result, error);
    const report self = {trace, cli->config, &result};
    if (status == MR_OK)
        status = mr_output_write(mr_config_text(cli->config, "output"), write_report, &self, error);
    if (status == MR_OK)
        status = mr_predicting_exit(trace, cli->config, &result, exit_status, error);
    mr_result_free(&result);
    mr_trace_free(trace);
    return status;
}

mr_status mr_cli_report(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_report *read = NULL;
    mr_status status = choose_format(cli, error);
    if (status == MR_OK)
        status = mr_cli_probe(cli->config, error);
    if (status == MR_OK)
        status = mr_listing_check(cli->config, error);
    if (status == MR_OK)
        status = mr_report_open(cli->operands[0], cli->config, &read, error);
    if (status == MR_OK) /* the figures of the run are not those of this one */
        status = mr_config_set(cli->config, "report.run", "false", NULL, 0, error);
    if (status == MR_OK)
        status = read_and_write(cli, read, exit_status, error);
    mr_report_close(read);
    return status;
}
