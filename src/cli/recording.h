/* recording: runs a program once and makes its trace. Shared by record and run. */
#ifndef MR_CLI_RECORDING_H
#define MR_CLI_RECORDING_H

#include "cli.h"
#include "launch.h"
#include "replay/run_info.h"

#include <stdio.h>

typedef struct mr_recording {
    const char *schedule; /* "random", "pct", "os" */
    uint64_t seed, max_events;
    uint64_t max_log_bytes;   /* 0: no limit */
    uint64_t max_input_bytes; /* 0: no limit */
    bool no_inputs;           /* what the program gets from outside is not logged */
    uint64_t timeout_seconds; /* 0: none */
    bool waits_in_deadlock;   /* the program is not ended */
    bool follows_forks;       /* children have traces of their own */
    bool leaves_ordered;      /* the trace is for the order shb alone (record/ordered.h) */
    bool keeps_log;           /* when the log cannot be converted */
    mr_launched *logs;        /* not NULL: the logs go there when all went well, and stay until the
                                 caller calls mr_launch_clean; those of children are not converted */
    const char *inputs;       /* that are fed to it; NULL: none */
    const char *replay;       /* a schedule that the program runs by; NULL: none */
    const mr_run_info *run;   /* … and how; its arguments are the operands */
} mr_recording;

/* The own flags that record and run have first, in this order. */
enum {
    MR_FLAG_SCHEDULE,
    MR_FLAG_SEED,
    MR_FLAG_MAX_EVENTS,
    MR_FLAG_MAX_LOG,
    MR_FLAG_TIMEOUT,
    MR_FLAG_ON_DEADLOCK,
    MR_FLAG_RECORD_INPUTS,
    MR_FLAG_MAX_INPUTS,
    MR_FLAG_COMMON_COUNT
};

/* The values of these flags. MR_ERR_USAGE. */
mr_status mr_recording_flags(const mr_cli *cli, mr_recording *recording, mr_error *error);

/* A number among the command's own flags. MR_ERR_USAGE. */
mr_status mr_cli_number(const mr_cli *cli, int flag, uint64_t fallback, uint64_t least,
                        uint64_t *number, mr_error *error);

/* Where names are kept from run to run: the folder that MAXRACE_SYMBOL_CACHE names, or one in the
 * user's cache folder. NULL: nowhere, because that variable is empty or no folder is known. */
const char *mr_symbol_folder(char *path, size_t path_bytes);

/*
 * Runs the program that the operands name, and writes its trace to `stream`; with `follows_forks`
 * those of its children beside it, as "NAME.1.mrt" for "NAME.mrt". `path` is the file of
 * the stream; the log is made beside it and removed at the end. When the trace cannot be written
 * and `keeps_log` is set, the log stays, and standard error says where. Messages name the trace
 * `name`. `exit_status` is that of the program, as in a shell. Prints on standard error what was
 * recorded, unless quiet. MR_ERR_TRACE: nothing was recorded; MR_ERR_IO, MR_ERR_MEMORY.
 */
mr_status mr_recording_run(const mr_cli *cli, const mr_recording *recording, const char *path,
                           const char *name, bool output_to_errors, FILE *stream, int *exit_status,
                           mr_error *error);

/*
 * Writes the trace of a log that an earlier `record` left to `stream`. The log stays. The rest is
 * as for mr_recording_run.
 */
mr_status mr_recording_convert(const mr_cli *cli, const char *log, const char *path,
                               const char *name, FILE *stream, mr_error *error);

#endif
