/*
 * launch: runs a program so that its runtime library writes a log (runtime/log.h).
 *
 * Addresses are not randomised, and the name of the log always has the same length, so that the
 * same program, input and seed give the same log. While the program runs, it gets the interrupts of
 * the terminal, and maxrace passes SIGTERM and SIGHUP on to it, unless there is somebody to ask (`halt`)
 * that the run ends. The log is a leftover (leftovers.h)
 * from the start until mr_launch_clean or mr_launch_keep.
 */
#ifndef MR_CLI_LAUNCH_H
#define MR_CLI_LAUNCH_H

#include "replay/spawn.h"

/* The result of a program that has ended. */
typedef struct mr_launched {
    char log[4096];    /* the log; the caller removes it (mr_launch_clean) */
    int leftover;      /* its number in leftovers.h */
    bool has_children; /* logs of children may be there, too */
    int child;         /* process that a fork made, which goes on unrecorded; 0: none is known */
    int process;       /* that the program had */
    bool timed_out;    /* it was killed after timeout_seconds */
    bool stopped;      /* it was killed because `halt` was asked for */
    int exit_status;   /* as in a shell: 128 + signal when a signal ended it */
    int signal;        /* the signal that ended it; 0: none did */
} mr_launched;

/* Runs the program to its end. The log is in the folder of `beside`. MR_ERR_IO: the program cannot
 * be started. */
mr_status mr_launch_run(const mr_launch *launch, const char *beside, mr_launched *launched,
                        mr_error *error);
/* Did SIGTERM or SIGHUP come while a program ran? It was passed on, and no further program should be run. */
bool mr_launch_told_to_end(void);
/* Says in a line on standard error which descriptors of the earlier run cannot be given to the program again. `ours`: what maxrace
 * began with, which the program gets when those of the earlier run are not known. */
void mr_launch_tell_missing(const mr_descriptors *wanted, const mr_descriptors *ours);

/* The file of inputs beside a log. */
void mr_launch_inputs_path(const char *log, char path[4352]);
/* Removes the log and the inputs, those of children, too. */
void mr_launch_clean(mr_launched *launched);
/* The log is the user's from now on. */
void mr_launch_keep(mr_launched *launched);

#endif
