/* recording: runs a program once and makes its trace. Shared by record and run. */
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
 * Runs the program that the operands name, and writes its trace to `stream`. `path` is the file of
 * the stream; the log is made beside it and removed at the end. Messages name the trace `name`.
 * `exit_status` is that of the program, as in a shell. Prints on standard error what was recorded,
 * unless quiet. MR_ERR_TRACE: nothing was recorded; MR_ERR_IO, MR_ERR_MEMORY.
 */
mr_status mr_recording_run(const mr_cli *cli, const mr_recording *recording, const char *path,
                           const char *name, bool output_to_errors, FILE *stream, int *exit_status,
                           mr_error *error);

#endif
