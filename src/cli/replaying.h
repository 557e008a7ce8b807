/*
 * replaying: runs the recorded program by a witness, and sees what comes of it.
 *
 *   mr_replaying_open → mr_replaying_race* → mr_replaying_close
 *
 * When `halt` is asked for, the program is killed, `stopped` is set, and no run begins any more; no
 * error.
 */
#ifndef MR_CLI_REPLAYING_H
#define MR_CLI_REPLAYING_H

#include "cli.h"
#include "replay/judge.h"
#include "replay/plan.h"
#include "replay/result.h"
#include "replay/sandbox.h"

enum { MR_REPLAY_PATH_BYTES = 4096 };

typedef struct mr_replaying {
    const mr_cli *cli;
    const mr_trace *trace;
    const char *path; /* of the trace; on loan */
    mr_positions positions;
    mr_run_info run;
    char folder[MR_REPLAY_PATH_BYTES]; /* temporary, for schedules and results */
    int leftover;
    bool has_inputs; /* the trace has what the program got from outside */
    unsigned timeout_seconds;
    mr_halt *halt;       /* ends the replays before their time; may be NULL */
    bool stopped;        /* so it did: what was replayed last says nothing */
    mr_run_end recorded; /* the run by the recorded seed, without a schedule */
    bool has_sandbox;
    mr_sandbox sandbox;
    int sandbox_leftover;
    char finding[40]; /* "race-2": what is replayed now, for the names of runs in the sandbox */
} mr_replaying;

/* Reads what the trace knows of its run. MR_ERR_TRACE: it lacks something, and which. `path` is the
 * file of the trace. In every case the caller calls mr_replaying_close. */
mr_status mr_replaying_open(mr_replaying *self, const mr_cli *cli, const char *path,
                            const mr_trace *trace, mr_error *error);
void mr_replaying_close(mr_replaying *self);

/* From now on the program runs in a sandbox. `kept`: a folder for what it writes, or NULL. The errors of
 * mr_sandbox_open. */
mr_status mr_replaying_use_sandbox(mr_replaying *self, const char *kept, mr_error *error);
/* What is replayed next, from 1 on; it names what the sandbox keeps. */
void mr_replaying_name(mr_replaying *self, bool is_race, size_t number);

/* Of a race. Zero-initialise; free with mr_replayed_free. */
typedef struct mr_replayed {
    mr_plan plan;
    mr_replay_result goal;    /* how the replay went that lets the first access go first */
    unsigned attempts;        /* replays until then */
    mr_run_end first, second; /* the run after the goal with this access first */
    mr_replay_result other;   /* of the run with the second access first */
    mr_effect effect;
    char evidence[MR_EVIDENCE_BYTES];
} mr_replayed;

void mr_replayed_free(mr_replayed *replayed);

/* Runs until the goal, with the first access first: sets plan, goal, attempts and first. */
mr_status mr_replaying_find(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                            mr_replayed *replayed, mr_error *error);

/* Runs the program by the schedule in the folder, with our standard streams, to its end. */
mr_status mr_replaying_start(mr_replaying *self, mr_error *error);

/* Replays the witness, which is open (witness/pack.h), in both orders. With stop_at only up to this
 * event of the witness; UINT32_MAX: none. */
mr_status mr_replaying_race(mr_replaying *self, const mr_witness *witness, uint32_t stop_at,
                            mr_replayed *replayed, mr_error *error);

/* Writes what the recorded program got from outside to a file. */
mr_status mr_replaying_inputs(const mr_replaying *self, const char *path, mr_error *error);

/* Writes the schedule of the plan to a file of the folder (`name`), or of the given path. */
mr_status mr_replaying_schedule(const mr_replaying *self, const mr_plan *plan, mr_plan_then then,
                                const char *path, mr_error *error);

#endif
