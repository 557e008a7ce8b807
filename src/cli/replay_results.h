/*
 * replay_results: a JSON report of predict, in place of a trace: the trace and the settings that it names.
 */
#ifndef MR_CLI_REPLAY_RESULTS_H
#define MR_CLI_REPLAY_RESULTS_H

#include "cli.h"

enum { MR_REPLAY_TRACE_BYTES = 8192 };

/* Does the file begin as JSON does? */
bool mr_replay_is_results(const char *path);

/* Sets what the search depends on as it was for the report, so that the same findings have the same numbers.
 * `trace`: the path of the trace, beside the report when it is not where the report says; `events`: how many it
 * had. MR_ERR_USAGE: a setting was given that is not the report's; MR_ERR_TRACE: this is no report of predict;
 * MR_ERR_IO, MR_ERR_CONFIG, MR_ERR_MEMORY. */
mr_status mr_replay_results(mr_cli *cli, const char *path, char trace[MR_REPLAY_TRACE_BYTES],
                            uint64_t *events, mr_error *error);

#endif
