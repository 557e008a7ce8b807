/* confirm: replays all that a prediction has found (run --confirm). */
#ifndef MR_CLI_CONFIRM_H
#define MR_CLI_CONFIRM_H

#include "cli.h"
#include "predict/result.h"

/* Sets `confirmed` and `effect` of each race and finding, and puts those with the worst effect first, findings by their kind.
 * With `sandbox`, what the replays write is removed (replay/sandbox.h). `path` is the file of the trace. `*stopped`: SIGINT or SIGTERM has ended
 * the replays, and the rest was not tried. */
mr_status mr_confirm(const mr_cli *cli, const char *path, const mr_trace *trace, mr_result *result,
                     bool sandbox, bool *stopped, mr_error *error);

#endif
