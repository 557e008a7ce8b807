/* record: runs a program and writes its trace. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli.h"
#include "launch.h"
#include "output.h"
#include "recording.h"
#include "trace_output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONVERT = MR_FLAG_COMMON_COUNT, REPLAY };

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
    if (cli->own[REPLAY] && (log || cli->operand_count))
        return mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                            "--replay runs the program that the schedule names");
    if (!log && !cli->own[REPLAY] && !cli->operand_count)
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
        return mr_recording_convert(cli, log, path, path, output->stream, error);
    return mr_recording_run(cli, recording, path, path, false, output->stream, exit_status, error);
}

/* The inputs that 'replay --script' has written beside the schedule; NULL: none. */
static const char *find_inputs(const char *schedule, char *path)
{
    const char *end = ".schedule";
    size_t length = strlen(schedule), tail = strlen(end);
    if (length < tail || strcmp(schedule + length - tail, end) != 0)
        return NULL;
    snprintf(path, PATH_MAX, "%.*s.inputs", (int)(length - tail), schedule);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* The schedule and how the program is run by it. The paths have room for PATH_MAX bytes. */
static mr_status read_schedule(const mr_cli *cli, mr_recording *recording, mr_run_info *run,
                               char *path, char *inputs, mr_error *error)
{
    if (!cli->own[REPLAY])
        return MR_OK;
    if (!realpath(cli->own[REPLAY], path))
        return mr_error_set(error, MR_ERR_IO, cli->own[REPLAY], 0, "cannot read: %s",
                            strerror(errno));
    mr_status status = mr_run_info_of_schedule(run, path, error);
    if (!status && !run->arguments.count)
        status = mr_error_set(error, MR_ERR_TRACE, path, 0, "the schedule names no program");
    if (!status)
        mr_launch_tell_missing(&run->descriptors, &cli->descriptors);
    recording->replay = path;
    recording->inputs = find_inputs(path, inputs);
    recording->run = run;
    recording->waits_in_deadlock = run->waits_in_deadlock;
    if (!cli->own[MR_FLAG_SEED])
        recording->seed = run->seed;
    if (!cli->own[MR_FLAG_SCHEDULE] && run->schedule)
        recording->schedule = run->schedule;
    return status;
}

mr_status mr_cli_record(mr_cli *cli, int *exit_status, mr_error *error)
{
    char buffer[512], schedule[PATH_MAX], inputs[PATH_MAX];
    mr_recording recording;
    mr_run_info run = {.folder = NULL};
    mr_output output;
    mr_trace_format format;
    mr_status status = check_operands(cli, error);
    if (status != MR_OK)
        return status;
    status = mr_recording_flags(cli, &recording, error);
    if (status == MR_OK)
        status = read_schedule(cli, &recording, &run, schedule, inputs, error);
    const char *source = cli->own[CONVERT]          ? cli->own[CONVERT]
                         : run.arguments.count != 0 ? run.arguments.items[0]
                                                    : cli->operands[0];
    const char *path = status == MR_OK ? choose_path(cli, source, buffer, sizeof buffer) : "";
    recording.keeps_log = true;
    recording.follows_forks = cli->switch_on;
    if (status == MR_OK)
        status = mr_trace_output_open(&output, path, &format, error);
    if (status != MR_OK) {
        mr_run_info_free(&run);
        return status;
    }
    if (format.binary)
        status = record(cli, &recording, path, &output, exit_status, error);
    else
        status =
            mr_error_set(error, MR_ERR_USAGE, NULL, 0,
                         "the trace is written as .mrt; name it so, and convert it if need be");
    mr_run_info_free(&run);
    return mr_trace_output_close(&output, path, status, error);
}
