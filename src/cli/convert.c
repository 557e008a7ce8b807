/* convert: a trace from one format into another. */
#include "formats/convert.h"
#include "cli.h"
#include "formats/read.h"
#include "trace_output.h"

static mr_status write_trace(const mr_cli *cli, mr_trace_format format, FILE *stream,
                             mr_error *error)
{
    mr_trace *trace = NULL;
    mr_cli_progress progress;
    mr_read_options options = mr_cli_read_options(cli->config, &progress);
    const char *path = cli->operands[0];
    mr_cli_progress_start(&progress, cli->config);
    mr_status status = format.binary ? mr_mrt_convert(path, &options, stream, &trace, error)
                                     : mr_trace_read(path, &options, &trace, error);
    if (status == MR_OK && !format.binary)
        status = mr_trace_output_write(stream, format, trace, &progress.progress, error);
    mr_cli_progress_end(&progress);
    if (status == MR_OK)
        mr_cli_tell_dropped(trace);
    mr_trace_free(trace);
    return status;
}

mr_status mr_cli_convert(mr_cli *cli, int *exit_status, mr_error *error)
{
    mr_output output;
    mr_trace_format format;
    const char *path = cli->operands[1];
    *exit_status = 0;
    mr_status status = mr_trace_output_open(&output, path, &format, error);
    if (status != MR_OK)
        return status;
    status = write_trace(cli, format, output.stream, error);
    return mr_trace_output_close(&output, path, status, error);
}
