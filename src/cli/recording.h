/* recording: one run of a program, and the trace of it; what record and run share. */
#ifndef MR_CLI_RECORDING_H
#define MR_CLI_RECORDING_H

#include "cli.h"

#include <stdio.h>

typedef struct mr_recording {
    const char *schedule; /* "random", "pct", "os" */
    uint64_t seed, max_events;
} mr_recording;

/* The values of --schedule, --seed and --max-events, the first three own flags of the command.
 * MR_ERR_USAGE. */
mr_status mr_recording_flags(const mr_cli *cli, mr_recording *recording, mr_error *error);

/* A number among the command's own flags. MR_ERR_USAGE. */
mr_status mr_cli_number(const mr_cli *cli, int flag, uint64_t fallback, uint64_t least,
                        uint64_t *number, mr_error *error);

/*
 * Runs the program that the operands name, and writes its trace to `stream`. `path` is where that
 * leads: the log is made beside it for as long as it is needed. `name` stands for the trace in
 * messages. `exit_status` is the program's, as
 * a shell says it. Says on standard error what was recorded, unless quiet. MR_ERR_TRACE: nothing
 * was recorded; MR_ERR_IO, MR_ERR_MEMORY.
 */
mr_status mr_recording_run(const mr_cli *cli, const mr_recording *recording, const char *path,
                           const char *name, bool output_to_errors, FILE *stream, int *exit_status,
                           mr_error *error);

#endif
