/* record: runs a program and writes its trace. */
#include "cli.h"
#include "output.h"
#include "recording.h"
#include "trace_output.h"

#include <string.h>

enum { CONVERT = MR_FLAG_COMMON_COUNT };

/* Where the trace goes: "bank.mrt" for "./bank" and for "logs/bank". */
static const char *choose_path(const mr_cli *cli, const char *source, char *buffer,
                               size_t size_bytes)
{
    const char *path = mr_config_text(cli->config, "output");
    const char *slash = strrchr(source, '/');
    if (path[0] != '\0')
        return path;
    snprintf(buffer, size_bytes, "%s.mrt", slash ? slash + 1 : source);
    return buffer;
}

static mr_status check_operands(const mr_cli *cli, mr_error *error)
{
    const char *log = cli->own[CONVERT];
    if (log && cli->operand_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0, "--convert runs no program");
    if (!log && !cli->operand_count)
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "missing operand; usage: maxrace record [FLAGS] %s",
                            cli->command->operands);
    return MR_OK;
}

static mr_status record(mr_cli *cli, const mr_recording *recording, const char *path,
                        mr_output *output, int *exit_status, mr_error *error)
{
    const char *log = cli->own[CONVERT];
    *exit_status = 0;
    if (log)
        return mr_recording_convert(cli, log, path, output->stream, error);
    return mr_recording_run(cli, recording, path, path, false, output->stream, exit_status, error);
}

mr_status mr_cli_record(mr_cli *cli, int *exit_status, mr_error *error)
{
    char buffer[512];
    mr_recording recording;
    mr_output output;
    mr_trace_format format;
    mr_status status = check_operands(cli, error);
    if (status != MR_OK)
        return status;
    const char *source = cli->own[CONVERT] ? cli->own[CONVERT] : cli->operands[0];
    const char *path = choose_path(cli, source, buffer, sizeof buffer);
    status = mr_recording_flags(cli, &recording, error);
    recording.keeps_log = true;
    recording.follows_forks = cli->switch_on;
    if (status == MR_OK)
        status = mr_trace_output_open(&output, path, &format, error);
    if (status != MR_OK)
        return status;
    if (format.binary)
        status = record(cli, &recording, path, &output, exit_status, error);
    else
        status =
            mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                         "the trace is written as .mrt; name it so, and convert it if need be");
    return mr_trace_output_close(&output, path, status, error);
}
