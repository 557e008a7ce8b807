/*
 * exhaustive_run: the real runs of an exploration (exhaustive.h): the program runs by a schedule file,
 * and its log is learned.
 */
#ifndef MR_HUNT_EXHAUSTIVE_RUN_H
#define MR_HUNT_EXHAUSTIVE_RUN_H

#include "base/bytes.h"
#include "exhaustive.h"
#include "hunt/program/runner.h"
#include "symbols/symbols.h"

typedef struct mr_explore_program {
    mr_runner runner;
    const char *const *arguments;
    const char *input; /* file for its standard input; NULL: an empty one */
    unsigned timeout_ms;
    char *output; /* owned; of the last run */
    struct mr_explore_folder
        *folder;         /* findings are saved there (exhaustive_keep.h); NULL: nowhere */
    mr_symbols *symbols; /* owned; names for addresses, from the first run on; NULL: none yet */
    /* of the run under way */
    mr_pmodel *model;
    mr_pmodel_run *run;
    mr_explore_ran *ran;
} mr_explore_program;

void mr_explore_program_free(mr_explore_program *program);

/* An mr_explore_runner; `context` is an mr_explore_program. */
mr_status mr_explore_run_program(void *context, mr_pmodel *model, const mr_explore_request *request,
                                 mr_pmodel_run *run, mr_explore_ran *ran, mr_error *error);

/* The schedule of the request, in the format of docs/replay.md. `run`: lines that say how the program is run, for those who
 * repeat it; NULL: none. */
mr_status mr_explore_schedule(const mr_explore_request *request, const mr_bytes *run,
                              const char *path, mr_error *error);

#endif
