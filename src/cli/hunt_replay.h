/* hunt_replay: a finding that a hunt has saved as a folder, once more ('maxrace replay FOLDER'). */
#ifndef MR_CLI_HUNT_REPLAY_H
#define MR_CLI_HUNT_REPLAY_H

#include "cli.h"

/* Runs the program by the schedule of the folder, in a sandbox when that is wanted or the hunt had one, and prints
 * whether the finding was repeated; then the exit status is 1, else 0. The errors of mr_runner_run; MR_ERR_IO: the folder is no finding. */
mr_status mr_hunt_replay(const mr_cli *cli, const char *folder, unsigned timeout_ms, bool sandbox,
                         int *exit_status, mr_error *error);

#endif
