/* confirm: replays every race of a prediction (run --confirm). */
#ifndef MR_CLI_CONFIRM_H
#define MR_CLI_CONFIRM_H

#include "cli.h"
#include "predict/result.h"

/* With `sandbox`, what the replays write is removed (replay/sandbox.h). Sets `confirmed` and `effect` of each race, and puts those with the worst effect first. `path` is the
 * file of the trace. */
mr_status mr_confirm_races(const mr_cli *cli, const char *path, const mr_trace *trace,
                           mr_result *result, bool sandbox, mr_error *error);

#endif
