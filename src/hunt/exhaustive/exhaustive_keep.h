/*
 * exhaustive_keep: findings of an exploration, as folders that `maxrace replay` repeats.
 *
 *   DIR/report.txt             what the exploration said
 *   DIR/findings/N-KIND/       schedule, output, errors, and report.txt, whose first line is "KIND: what it is"
 *
 * A failure is saved when the first run shows it, and a race when both threads stood before their accesses in a run. The schedule counts
 * operations as an exploring run does (runtime/explore.h), so a replay explores, too; "found by: --exhaustive" says so.
 */
#ifndef MR_HUNT_EXHAUSTIVE_KEEP_H
#define MR_HUNT_EXHAUSTIVE_KEEP_H

#include "base/map.h"
#include "exhaustive_run.h"

/* Free with mr_explore_folder_free. */
typedef struct mr_explore_folder {
    const char *path; /* on loan */
    mr_map found;     /* identities */
    uint32_t count;
    bool has_status;
    mr_run_end first; /* with the exit status of the first run that ended well, and nothing else */
} mr_explore_folder;

/* Makes the folders. MR_ERR_IO: DIR is there already. */
mr_status mr_explore_folder_make(mr_explore_folder *folder, const char *path, mr_error *error);
void mr_explore_folder_free(mr_explore_folder *folder);

/* Saves what the run showed, when that is new, and runs its schedule again to see. MR_ERR_IO, MR_ERR_MEMORY and what a run can give. */
mr_status mr_explore_keep(mr_explore_folder *folder, mr_explore_program *program,
                          const mr_explore_request *request, const mr_ran *ran, mr_error *error);

#endif
