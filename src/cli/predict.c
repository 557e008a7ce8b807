/* predict: reads a trace, predicts, reports. What was found before a failure is reported too. */
#include "predict/predict.h"
#include "base/seconds.h"
#include "cli.h"
#include "output.h"
#include "report/report.h"
#include "witness_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void mr_cli_tell_dropped(const mr_trace *trace)
{
    char line[1152];
    if (trace->dropped_count == 0)
        return;
    mr_error_line(&trace->first_dropped, line, sizeof line);
    fprintf(stderr, "maxrace: repair dropped %" PRIu64 " event%s or line%s; the first: %s\n",
            trace->dropped_count, trace->dropped_count == 1 ? "" : "s",
            trace->dropped_count == 1 ? "" : "s", line);
}

mr_status mr_cli_read_trace(const char *path, const mr_config *config, mr_trace **trace,
                            mr_error *error)
{
    mr_read_options options = {.repair = mr_config_bool(config, "repair")};
    mr_status status = mr_trace_read(path, &options, trace, error);
    if (status == MR_OK)
        mr_cli_tell_dropped(*trace);
    return status;
}

/* What can be known to fail is told before the work, not after it. */
static mr_status probe(const mr_config *config, mr_error *error)
{
    const char *dir = mr_config_text(config, "witness.dir");
    mr_status status = mr_output_probe(mr_config_text(config, "output"), error);
    if (status == MR_OK && dir[0] != '\0')
        status = mr_witness_dir_make(dir, error);
    return status;
}

static mr_status write_report(const mr_trace *trace, const mr_config *config,
                              const mr_result *result, mr_error *error)
{
    mr_output output;
    mr_status status = mr_output_open(&output, mr_config_text(config, "output"), error);
    if (status != MR_OK)
        return status;
    if (mr_config_choice(config, "format") == MR_FORMAT_JSON)
        status = mr_report_json(output.stream, trace, config, result, error);
    else if (!mr_report_text(output.stream, trace, config, result))
        status = errno == ENOMEM ? mr_error_memory(error, "writing the report")
                                 : mr_error_set(error, MR_ERR_IO, mr_config_text(config, "output"),
                                                0, "cannot write the report: %s", strerror(errno));
    mr_error close_error;
    mr_status closed = mr_output_close(&output, status == MR_OK, &close_error);
    if (status != MR_OK || closed == MR_OK)
        return status;
    *error = close_error;
    return closed;
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
static mr_status predict(const mr_trace *trace, const mr_config *config, double read_seconds,
                         int *exit_status, mr_error *error)
{
    mr_result result = {0};
    mr_error write_error;
    mr_status status = mr_predict(trace, config, &result, error);
    result.stats.read_seconds = read_seconds;
    result.stats.total_seconds += read_seconds;
    mr_status written = write_all(trace, config, &result, &write_error);
    *exit_status = result.race_count > 0 ? MR_EXIT_RACES : 0;
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

mr_status mr_cli_predict(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_trace *trace = NULL;
    double start_seconds = mr_seconds();
    mr_status status = probe(cli->config, error);
    if (status != MR_OK)
        return status;
    mr_config_resolve(cli->config);
    status = mr_cli_read_trace(cli->operands[0], cli->config, &trace, error);
    if (status != MR_OK)
        return status;
    double read_seconds = mr_seconds() - start_seconds;
    status = mr_trace_require_covered(trace, error);
    if (status == MR_OK)
        status = predict(trace, cli->config, read_seconds, exit_status, error);
    mr_trace_free(trace);
    return status;
}
