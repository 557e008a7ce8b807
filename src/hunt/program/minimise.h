/*
 * minimise: a schedule that makes a program fail, with as few context switches as is found.
 *
 * A switch away from a thread that goes on later is taken out by letting that thread do its next piece
 * at once. The program is run by the new order; when it fails in the same way and its trace has fewer
 * switches, that run is the new one to improve. All of it is judged by running the program.
 */
#ifndef MR_HUNT_MINIMISE_H
#define MR_HUNT_MINIMISE_H

#include "outcome.h"

/* The number of context switches between the events of a trace. */
uint32_t mr_switch_count(const mr_trace *trace);

/* How a failing run is repeated. Paths and texts of the request are on loan; its schedule is not used. */
typedef struct mr_minimise {
    mr_runner *runner;
    mr_run_request request;
    const mr_run_end *reference; /* of the first run; NULL: there is none */
    const char *oracle;          /* judges runs that end well; NULL: there is none */
    uint64_t identity;           /* of the failure (outcome.h) */
    unsigned most_runs;
    const char *trace; /* the trace file of the run by the schedule that is written */
    /* what came of it */
    unsigned runs;
    bool repeats; /* the schedule that was written fails in the same way */
} mr_minimise;

/* Writes to `schedule` the best schedule that was found, and puts its run into `best`, which has a
 * failing run on entry. The errors of mr_runner_run. */
mr_status mr_minimise_run(mr_minimise *self, mr_ran *best, const char *schedule, mr_error *error);

#endif
