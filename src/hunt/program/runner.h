/*
 * runner: runs the program of a hunt once and gives back what happened: how it ended, what it wrote,
 * and its trace with the positions of its events. A run is by a strategy and a seed, or by a schedule
 * (docs/replay.md) first and by them after that.
 *
 *   mr_runner_open → (mr_runner_run → mr_ran_free)* → mr_runner_close
 *
 * A runner has a folder of its own for the files of the run under way, so several runners may run at
 * the same time, one in a thread. A run of a small program takes some milliseconds.
 */
#ifndef MR_HUNT_RUNNER_H
#define MR_HUNT_RUNNER_H

#include "formats/mrt/mrt_positions.h"
#include "hunt/inputs/operands.h"
#include "replay/judge.h"
#include "replay/plan.h"
#include "replay/result.h"
#include "replay/run_info.h"
#include "replay/sandbox.h"
#include "trace/trace.h"

enum { MR_RUNNER_PATH_BYTES = 3000 };

typedef struct mr_runner {
    char folder[MR_RUNNER_PATH_BYTES]; /* for the files of a run */
    const char *symbol_folder;         /* keeps names from run to run; NULL: nowhere; on loan */
    uint64_t max_log_bytes;            /* 0: no limit */
    const mr_descriptors *descriptors; /* that the program begins with; NULL: ours; on loan */
    uint64_t runs;                     /* so far */
    mr_sandbox sandbox;                /* in which the program runs, … */
    bool has_sandbox;                  /* … when it does */
} mr_runner;

/* What is run, and how. Texts are on loan during the run. */
typedef struct mr_run_request {
    const char *const *arguments;   /* the program's name, its arguments, NULL */
    const char *const *environment; /* NULL: ours */
    const char *directory;          /* that it runs in; NULL: ours */
    const char *input;              /* file for its standard input; NULL: an empty one */
    const char *feed; /* file of what an earlier run got from outside (mr_mrt_inputs), which it gets
                             again; NULL: none. With a schedule of that run */
    const char *strategy; /* "random", "pct"; NULL: random */
    uint64_t seed;
    const char *schedule;   /* file that mr_prefix_write or others have written; NULL: none */
    unsigned timeout_ms;    /* then it is killed; 0: never */
    bool keeps_inputs;      /* what it gets from outside is kept in the trace file */
    const char *trace_path; /* the trace file is put here; NULL: it is not kept */
    bool compares;          /* what it compares is read */
    bool needs_no_trace;    /* only the end is of interest */
    bool
        explores; /* the log has what runtime/explore.h says; operations are counted otherwise then */
    bool tells_states; /* … with the words of local states */
    mr_status (*read_log)(void *context, const char *log, const mr_run_end *end,
                          mr_error *error); /* is shown the log; NULL */
    void *context;                          /* … for it */
} mr_run_request;

/* What happened. Zero-initialise; free with mr_ran_free. */
typedef struct mr_ran {
    mr_run_end end;          /* status, signal, deadlock, time-out, what it wrote */
    mr_trace *trace;         /* NULL: nothing was recorded; it may be without events */
    mr_positions positions;  /* of `trace` */
    mr_run_info info;        /* of `trace` */
    mr_replay_result replay; /* how far the schedule was followed; with a schedule */
    mr_operands operands; /* what it compared, at most MR_INPUTS_COMPARISONS; when that was asked */
    bool is_cut;          /* the recording ended before the program (limits, a full disk, exec) */
    bool is_full;         /* … because the log reached its limit */
    uint64_t log_bytes;   /* of its records */
    double seconds;       /* of the program */
} mr_ran;

/* Makes the folder, in TMPDIR or /tmp. MR_ERR_IO. */
mr_status mr_runner_open(mr_runner *runner, const char *symbol_folder, mr_error *error);
/* The same in a folder of the caller's. */
mr_status mr_runner_open_in(mr_runner *runner, const char *place, const char *symbol_folder,
                            mr_error *error);
/* From now on each run begins with the files that are there now, and what it writes is dropped (replay/sandbox.h). `works_in`: where
 * the program runs; NULL: where we do. MR_ERR_IO: there can be no sandbox, and why. */
mr_status mr_runner_use_sandbox(mr_runner *runner, const char *works_in, mr_error *error);
void mr_runner_close(mr_runner *runner);

/* Runs the program once. MR_ERR_IO: it cannot be started, or files cannot be written; MR_ERR_TRACE: it
 * was not built by 'maxrace cc'; MR_ERR_MEMORY. `ran` is to be freed also after an error. */
mr_status mr_runner_run(mr_runner *runner, const mr_run_request *request, mr_ran *ran,
                        mr_error *error);
void mr_ran_free(mr_ran *ran);

/*
 * The beginning of a run, as a schedule: events of an earlier run in a new order, a part of it that has
 * with each event those before it in its thread. After that:
 *
 *   stops     threads stop before these events, one of each thread; when all of them are there the goal
 *             is reached (MR_REPLAY_GOAL)
 *   first     … then they do them in this order, beginning with the stop of this number
 *   go_on     … then the thread of the last one goes on alone for so many operations, unless it waits
 *
 * and then threads run by strategy and seed. Where the program does something else than the earlier
 * run did, too.
 */
typedef struct mr_prefix {
    const mr_trace *trace; /* of the earlier run */
    const mr_positions *positions;
    const mr_run_info *info;
    const uint32_t *events;
    uint32_t event_count;
    uint32_t stops[MR_PLAN_STOPS], stop_count;
    uint32_t first;
    uint64_t go_on;
    const char
        *strategy; /* of the run that is to come, for those who repeat it; NULL: both are those of
                             the earlier run */
    uint64_t seed;
} mr_prefix;

/* Writes the schedule. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_prefix_write(const mr_prefix *prefix, const char *path, mr_error *error);

#endif
