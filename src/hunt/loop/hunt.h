/*
 * hunt: runs a program again and again by schedules that earlier runs suggest (Racageddon, PPoPP 2014,
 * Figure 1; maximal causality reduction, PLDI 2015).
 *
 *   run → trace → all findings → each in the order that was not seen → new traces → reads that can see
 *   what they have not seen → one run for each → …
 *
 * What can be tried next is in tasks.h, where it comes from in frontier.h, what two runs have in common
 * in behaviour.h, and what stays on disk in store.h. Several runs are made at a time, one in a thread.
 */
#ifndef MR_HUNT_HUNT_H
#define MR_HUNT_HUNT_H

#include "base/halt.h"
#include "config/config.h"
#include "hunt/inputs/input_source.h"
#include "hunt/program/outcome.h"
#include "replay/descriptors.h"
#include "store.h"

struct mr_hunt_state;

typedef struct mr_hunt_options {
    const char *const *arguments;      /* the program's name, its arguments, NULL */
    const char *folder;                /* of the hunt */
    const mr_descriptors *descriptors; /* that the program begins with, in a new hunt */
    bool resumes;                      /* the folder is of an earlier hunt of the same program */
    const char *symbol_folder;         /* NULL: none */
    const char *oracle;                /* NULL: none */
    const mr_input_options *inputs; /* NULL: each run has the arguments as they are, and no input */
    uint64_t seed, most_runs;       /* most_runs 0: no limit */
    unsigned jobs;                  /* 0: one for each core that the process may run on */
    unsigned timeout_ms;            /* for a run */
    /* "failure": the first one ends the hunt; kinds of outcome, joined by commas: the first run of such
     * a kind, or that confirms a race; NULL: none does */
    const char *until;
    bool sandbox;   /* each run begins with the same files (runner.h) */
    bool minimises; /* schedules of failures are made shorter */
    bool without_swaps, without_frontier, without_near,
        without_states;      /* such tasks are left out, for comparison */
    const mr_config *config; /* for predictions */
    const mr_halt *halt;     /* ends the hunt: a signal, or the time; may be NULL */
    /* Told before the first run of a hunt that goes on: what the program begins with. May be NULL. */
    void (*tell_descriptors)(void *context, const mr_descriptors *descriptors);
    /* Told after each run, under a lock; may be NULL. */
    void (*tell)(void *context, const struct mr_hunt_state *state);
    void *context;
} mr_hunt_options;

typedef enum mr_hunt_end {
    MR_HUNT_RUNS,    /* the budget of runs is used up */
    MR_HUNT_TIME,    /* the time is */
    MR_HUNT_ASKED,   /* a signal */
    MR_HUNT_FAILURE, /* `until` */
    MR_HUNT_QUIET,   /* no task is left, and free runs have shown nothing new for long */
} mr_hunt_end;

typedef struct mr_hunt_state {
    uint64_t runs, replays; /* replays: runs that repeat a finding to make its schedule shorter */
    uint64_t first_failure; /* number of the run; 0: none */
    uint32_t behaviours;
    uint64_t again;      /* runs that were no new behaviour */
    uint64_t impossible; /* tasks that no reordering can do */
    uint64_t diverged;   /* runs that did not come to where they were sent */
    size_t left;         /* tasks that were not tried */
    size_t dropped;      /* … and were not kept, because there were too many */
    uint32_t inputs_tried, inputs_kept;
    uint64_t events; /* of the first run */
    uint32_t threads;
    mr_finding_line *findings; /* owned */
    size_t finding_count, finding_capacity;
    double seconds; /* of all sessions */
    mr_hunt_end end;
} mr_hunt_state;

void mr_hunt_state_free(mr_hunt_state *state);

/* Hunts until one of the ends. MR_ERR_IO, MR_ERR_TRACE (the program was not built for it, or the folder
 * is damaged), MR_ERR_USAGE (the folder is of another program), MR_ERR_MEMORY. `state` is to be freed
 * also after an error. */
mr_status mr_hunt(const mr_hunt_options *options, mr_hunt_state *state, mr_error *error);

#endif
