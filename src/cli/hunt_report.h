/* hunt_report: the report of a hunt, from the journal in its folder. */
#ifndef MR_CLI_HUNT_REPORT_H
#define MR_CLI_HUNT_REPORT_H

#include "cli.h"
#include "hunt/loop/hunt.h"

/* Writes the report as `format` and `output` say. `state` is of the hunt that has just ended; NULL: of
 * an earlier one. `*exit_status`: 1 with findings other than MR_RUN_OUTPUT, else 0. MR_ERR_IO: there is no hunt in the folder;
 * MR_ERR_TRACE: its journal is damaged; MR_ERR_MEMORY. */
mr_status mr_hunt_report(const mr_cli *cli, const char *folder, const mr_hunt_state *state,
                         int *exit_status, mr_error *error);

#endif
