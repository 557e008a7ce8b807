/* confirm: replays every race of a prediction (run --confirm). */
#ifndef MR_CLI_CONFIRM_H
#define MR_CLI_CONFIRM_H

#include "cli.h"
#include "predict/result.h"

/* Sets `confirmed` and `effect` of each race, and puts those with the worst effect first. `path` is the
 * file of the trace. */
mr_status mr_confirm_races(const mr_cli *cli, const char *path, const mr_trace *trace,
                           mr_result *result, mr_error *error);

#endif
