/*
 * outcome: how a run ended, in one word and one line, so that equal failures of different runs are
 * one finding.
 */
#ifndef MR_HUNT_OUTCOME_H
#define MR_HUNT_OUTCOME_H

#include "runner.h"

typedef enum mr_outcome_kind_of_run {
    MR_RUN_GOOD,
    MR_RUN_OUTPUT,   /* it ended as the first run did, and wrote something else */
    MR_RUN_RACE,     /* a race, confirmed by a replay; never the outcome of a run by itself */
    MR_RUN_MEMORY,   /* used freed memory or misused a lock, as the recorder saw */
    MR_RUN_EXIT,     /* another exit status than the first run */
    MR_RUN_ORACLE,   /* the oracle says that it is wrong */
    MR_RUN_LIVELOCK, /* did not end in its time */
    MR_RUN_DEADLOCK,
    MR_RUN_SANITIZER, /* a sanitizer of the compiler wrote a message */
    MR_RUN_ASSERTION,
    MR_RUN_ABORT,
    MR_RUN_CRASH,
    MR_RUN_KINDS
} mr_run_kind;

const char *mr_run_kind_name(mr_run_kind kind); /* "crash" … */

/* Is it a failure of the program, not only something to know? */
bool mr_run_kind_fails(mr_run_kind kind);

/* Is it one of the kinds of the list, which are joined by commas, or with "failure" a failure? */
bool mr_run_kind_is_in(mr_run_kind kind, const char *list);
/* Does the list name nothing else? */
bool mr_run_kinds_are_good(const char *list);

typedef struct mr_run_outcome {
    mr_run_kind kind;
    char text[300];    /* one line: "Assertion `x == 1' failed", "signal 11 at bank.c:9:13" */
    uint64_t identity; /* equal for what is one finding */
} mr_run_outcome;

/* `reference`: the end of the first run; NULL: this is it. */
mr_run_outcome mr_outcome_of(const mr_ran *ran, const mr_run_end *reference);

/* Asks the oracle, a command of the shell, whether the run is right: it gets the standard output of the
 * run on its standard input, and in its environment HUNT_STATUS (the exit status). `*wrong`: it ended
 * with another status than 0. MR_ERR_IO: the command is too long, or could not be run, which is what status 126 or 127 says. */
mr_status mr_oracle_ask(const char *command, const mr_run_end *end, bool *wrong, mr_error *error);

/* The outcome of a run. A run that fails by itself (MR_RUN_LIVELOCK and above) has that outcome. About others the oracle is asked, and they are
 * MR_RUN_ORACLE or MR_RUN_GOOD. `oracle` NULL: there is none, and the outcome is that of mr_outcome_of. MR_ERR_IO: it could not be asked. */
mr_status mr_outcome_judge(const mr_ran *ran, const mr_run_end *reference, const char *oracle,
                           mr_run_outcome *outcome, mr_error *error);

#endif
