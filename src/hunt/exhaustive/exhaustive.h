/*
 * exhaustive: explores all behaviours of a program that ends, with fixed inputs.
 *
 *     run → learn → search ─ questions → run by the ways to them → learn → search …
 *                          └ none: each behaviour that no run had is run once → done
 *
 * A behaviour is, for every thread, what its operations gave it, in their order: the values that its
 * reads of shared data saw, which tries succeeded, which waits ended by time; up to the end of the
 * thread, or of the process, or to where it waits for ever in a deadlock. Iterations of a loop that
 * lead nowhere new do not count (model.h). Accesses of data that one thread uses are a function of
 * these and are not told apart.
 *
 * The search is exact for the model (model_search.h), and the model is what runs have shown, so after
 * the last search there is no behaviour beside those that were found, provided that
 *
 *   - the program is a function of inputs and schedule: every run is compared with the model, and the
 *     first difference ends the exploration (MR_EXPLORE_DIFFERS);
 *   - what decides is recorded: what is not (signals, clocks, other processes …) is named by who runs
 *     the program (`unseen`), and then nothing is claimed to be complete;
 *   - memory is sequentially consistent (docs/semantics.md), and nobody wakes up for no reason.
 *
 * The program itself is run by a function of the caller, so this file needs no processes.
 */
#ifndef MR_HUNT_EXHAUSTIVE_H
#define MR_HUNT_EXHAUSTIVE_H

#include "hunt/model/model_search.h"

/* What a run is to do first: operation by operation. After that threads run by `seed`. */
typedef struct mr_explore_stop {
    uint32_t thread;   /* of the model */
    uint64_t position; /* it has done so many operations (records that count) */
    uint32_t woken;    /* a signal: it wakes this thread; MR_PMODEL_NONE */
    uint64_t wakes_at; /* … when it has done so many operations */
    bool exits;        /* it goes on until it has ended the process */
} mr_explore_stop;

typedef struct mr_explore_request {
    const mr_pmodel *model;
    const mr_explore_stop *stops;
    const mr_seek_step *steps; /* the same, as steps of the graph */
    size_t stop_count;
    uint32_t then;      /* then this thread does one more operation, if it can; MR_PMODEL_NONE */
    uint64_t then_from; /* … its position before it */
    uint64_t then_to;   /* … and behind it, or a little further */
    uint32_t second;    /* a race: this thread stands before its operation, too; MR_PMODEL_NONE */
    uint64_t second_from;
    const mr_seek_race *race; /* … which it is; NULL: none */
    const mr_seek_use
        *use; /* then `then` stands before its operation, which uses freed memory; NULL */
    uint64_t seed;
} mr_explore_request;

typedef enum mr_explore_verdict {
    MR_EXPLORE_ALL,  /* no behaviour is left */
    MR_EXPLORE_LEFT, /* a limit was reached */
    MR_EXPLORE_DIFFERS,
    MR_EXPLORE_UNSEEN, /* explored as far as it goes, but something decides that is not recorded */
    MR_EXPLORE_STUCK,  /* a run did not go the way that it was to go, so a question stays open */
} mr_explore_verdict;

/* How a run ended. */
typedef enum mr_explore_end {
    MR_EXPLORE_FINE,
    MR_EXPLORE_FAILED, /* crash, assertion, abort */
    MR_EXPLORE_DEADLOCK,
    MR_EXPLORE_TIMEOUT,
} mr_explore_end;

typedef struct mr_explore_ran {
    mr_explore_end end;
    int exit_status, signal;
    bool is_cut; /* the recording ended before the program did */
    bool
        reached_goal; /* of a race: both threads stood before their operations; of a use: one did, */
    bool uses_freed;  /* … and it did use freed memory */
    char unseen[160]; /* what decides and is not recorded; "": nothing */
} mr_explore_ran;

/* Runs the program once and learns what it did (mr_pmodel_see …) with `run`, which is fresh.
 * `run->problem` is not empty when it did not fit. Errors end the exploration. */
typedef mr_status mr_explore_runner(void *context, mr_pmodel *model,
                                    const mr_explore_request *request, mr_pmodel_run *run,
                                    mr_explore_ran *ran, mr_error *error);

typedef struct mr_explore_settings {
    mr_explore_runner *runner;
    void *context;
    uint64_t max_runs;    /* 0: no limit */
    uint64_t max_states;  /* of a search; 0: no limit */
    uint64_t max_bytes;   /* of a search; 0: no limit */
    const mr_halt *halt;  /* asks it to stop; NULL */
    bool no_reduction;    /* for tests */
    bool no_confirmation; /* behaviours that no run had are not run */
} mr_explore_settings;

/* Where the threads of a run were at its end: a node of the model, or MR_SEEK_NOT_CREATED. */
typedef struct mr_explore_had {
    uint32_t nodes[MR_PMODEL_THREADS_MAX];
    bool exited;
} mr_explore_had;

/* Zero-initialise; free with mr_explore_free. */
typedef struct mr_explore {
    mr_pmodel model;
    mr_graph graph; /* of the last search */
    mr_seek search; /* the last */
    mr_explore_verdict verdict;
    char unseen[160];
    char reason[400]; /* LEFT, DIFFERS, UNSEEN, STUCK: one sentence */
    uint64_t runs, searches;
    uint64_t confirmed; /* behaviours of the search that a run had */
    uint64_t deadlocks; /* of the behaviours */
    uint64_t failed_runs, deadlocked_runs, timed_out_runs;
    int failure_status; /* of the first failed run */
    uint64_t
        other_status_runs; /* runs that ended with another status than the first that ended well */
    int first_status, other_status;
    bool has_status;
    bool *
        shown; /* owned; by race of the search: in a run both threads stood before their operations */
    size_t shown_count;
    mr_seek_use *
        uses; /* owned; of freed memory, which runs have shown; their ways are of earlier searches */
    size_t use_count, use_capacity;
    mr_explore_had *had;
    size_t had_count, had_capacity;
} mr_explore;

/* Explores. What was found is in `self`, whatever the verdict. MR_ERR_MEMORY, and what the runner
 * returns. */
mr_status mr_explore_all(mr_explore *self, const mr_explore_settings *settings, mr_error *error);
void mr_explore_free(mr_explore *self);

/* The number of behaviours that were found. */
static inline uint64_t mr_explore_behaviours(const mr_explore *self)
{
    return self->search.final_count;
}

/* Runs the program by a way of the last search: to its end; with `then` this thread then does one
 * operation. `request` needs no more than these; NULL or what the settings' runner is to see. */
mr_status mr_explore_stops(const mr_explore *self, const mr_seek_way *way, mr_explore_stop **stops,
                           size_t *count, mr_error *error);

/* The request of a run by the way; then `then` (MR_PMODEL_NONE: nobody) does one operation, or stands before it with the second thread
 * of the race (NULL: there is none). `*stops` is to be freed. `*is_stale`: runs after the search have shown that there is no such
 * way. MR_ERR_MEMORY. */
mr_status mr_explore_plan(const mr_explore *self, const mr_seek_way *way, uint32_t then,
                          const mr_seek_race *race, mr_explore_request *request,
                          mr_explore_stop **stops, bool *is_stale, mr_error *error);

#endif
