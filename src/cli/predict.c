/* predict: reads a trace, predicts, reports. What was found before a failure is reported too. */
#include "predict/predict.h"
#include "base/seconds.h"
#include "cli.h"
#include "output.h"
#include "ranks.h"
#include "report/report.h"
#include "witness_dir.h"

#include <errno.h>
#include <string.h>

typedef struct report {
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
} report;

static mr_status print_report(FILE *stream, const void *context, mr_error *error)
{
    const report *self = context;
    if (mr_config_choice(self->config, "format") == MR_FORMAT_JSON)
        return mr_report_json(stream, self->trace, self->config, self->result, error);
    if (mr_report_text(stream, self->trace, self->config, self->result))
        return MR_OK;
    return errno == ENOMEM ? mr_error_memory(error, "writing the report")
                           : mr_error_set(error, MR_ERR_IO, mr_config_text(self->config, "output"),
                                          0, "cannot write the report: %s", strerror(errno));
}

static mr_status write_report(const mr_trace *trace, const mr_config *config,
                              const mr_result *result, mr_error *error)
{
    report self = {trace, config, result};
    return mr_output_write(mr_config_text(config, "output"), print_report, &self, error);
}

/* Report and witness files; a failure of one does not keep the other from being written. */
static mr_status write_all(const mr_trace *trace, const mr_config *config, const mr_result *result,
                           mr_error *error)
{
    const char *dir = mr_config_text(config, "witness.dir");
    mr_error dir_error;
    mr_status status = write_report(trace, config, result, error);
    if (dir[0] == '\0')
        return status;
    mr_status dir_status = mr_witness_dir_write(dir, trace, result, &dir_error);
    if (dir_status != MR_OK && status != MR_OK)
        mr_cli_complain(&dir_error);
    if (dir_status == MR_OK || status != MR_OK)
        return status;
    *error = dir_error;
    return dir_status;
}

/* Predicts and writes; errors of both are told, the first decides. */
static mr_status predict(const mr_trace *trace, const mr_config *config, mr_ranks *ranks,
                         double read_seconds, mr_cli_progress *progress, int *exit_status,
                         mr_error *error)
{
    const mr_predict_run run = {.progress = ranks->leads ? &progress->progress : NULL,
                                .halt = &ranks->halt,
                                .team = ranks->active ? &ranks->team : NULL};
    mr_result result = {0};
    mr_error write_error;
    mr_status status = mr_predict(trace, config, &run, &result, error), written = MR_OK;
    mr_ranks_part(ranks, status, error, &result.run);
    mr_cli_progress_end(progress);
    result.run.read_seconds = read_seconds;
    result.run.total_seconds += read_seconds;
    if (ranks->leads) {
        written = write_all(trace, config, &result, &write_error);
        *exit_status = result.race_count > 0 ? MR_EXIT_RACES : 0;
    }
    mr_result_free(&result);
    if (written == MR_OK)
        return status;
    if (status == MR_OK) {
        *error = write_error;
        return written;
    }
    mr_cli_complain(&write_error);
    return status;
}

static mr_status prepare(const mr_cli *cli, const mr_ranks *ranks, mr_cli_progress *progress,
                         mr_trace **trace, mr_error *error)
{
    mr_status status = ranks->leads ? mr_cli_probe(cli->config, error) : MR_OK;
    if (status != MR_OK)
        return status;
    mr_config_resolve(cli->config);
    if (ranks->leads)
        return mr_cli_read_trace(cli->operands[0], cli->config, progress, trace, error);
    const mr_read_options options = {.repair = mr_config_bool(cli->config, "repair")};
    return mr_trace_read(cli->operands[0], &options, trace, error);
}

mr_status mr_cli_predict(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_trace *trace = NULL;
    mr_ranks ranks;
    double start_seconds = mr_seconds();
    mr_cli_progress progress;
    bool over;
    mr_status status = mr_ranks_start(&ranks, cli, error);
    if (status != MR_OK)
        return status;
    mr_cli_progress_start(&progress, cli->config);
    status = prepare(cli, &ranks, &progress, &trace, error);
    double read_seconds = mr_seconds() - start_seconds;
    status = mr_ranks_meet(&ranks, trace, cli->config, status, &over, error);
    if (!over)
        status = predict(trace, cli->config, &ranks, read_seconds, &progress, exit_status, error);
    mr_trace_free(trace);
    return mr_ranks_end(&ranks, status, exit_status, error);
}
