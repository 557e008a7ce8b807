/* record: runs a program and writes its trace. */
#include "cli.h"
#include "output.h"
#include "recording.h"
#include "trace_output.h"

#include <string.h>

/* Where the trace goes: "bank.mrt" for "./bank". */
static const char *choose_path(const mr_cli *cli, char *buffer, size_t size_bytes)
{
    const char *path = mr_config_text(cli->config, "output");
    const char *slash = strrchr(cli->operands[0], '/');
    if (path[0] != '\0')
        return path;
    snprintf(buffer, size_bytes, "%s.mrt", slash ? slash + 1 : cli->operands[0]);
    return buffer;
}

mr_status mr_cli_record(mr_cli *cli, int *exit_status, mr_error *error)
{
    char buffer[512];
    mr_recording recording;
    mr_output output;
    mr_trace_format format;
    const char *path = choose_path(cli, buffer, sizeof buffer);
    mr_status status = mr_recording_flags(cli, &recording, error);
    if (status == MR_OK)
        status = mr_trace_output_open(&output, path, &format, error);
    if (status != MR_OK)
        return status;
    if (!format.binary) {
        status =
            mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                         "the trace is written as .mrt; name it so, and convert it if need be");
        return mr_trace_output_close(&output, path, status, error);
    }
    status =
        mr_recording_run(cli, &recording, path, path, false, output.stream, exit_status, error);
    return mr_trace_output_close(&output, path, status, error);
}
