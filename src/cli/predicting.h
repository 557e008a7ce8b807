/*
 * predicting: the part that predict and merge share. It runs a prediction that signals and
 * time_limit can end and that loads and saves outcomes, and writes the report.
 *
 *   mr_predicting_start → (read the trace) → mr_predicting_open → mr_predicting_finish
 */
#ifndef MR_CLI_PREDICTING_H
#define MR_CLI_PREDICTING_H

#include "checkpoint/checkpoint.h"
#include "cli.h"
#include "formats/mrt/mrt_part.h"
#include "ranks.h"

typedef struct mr_predicting {
    mr_cli *cli;
    bool mpi; /* this is a rank of an MPI run */
    mr_ranks ranks;
    mr_cli_progress progress;
    double start_seconds;
    uint32_t shard, shards;   /* of --shard K/N; 0: no shards */
    const char *const *parts; /* files of shards */
    size_t part_count;
    mr_trace *trace;   /* owned; NULL: */
    mr_mrt_part *part; /*   owned; this rank has read a part of it */
    double read_seconds;
    bool has_begun; /* a part has written to the checkpoint: so many units */
    uint64_t units_of_part;
    mr_checkpoint *checkpoint; /* owned; NULL: no checkpoint and no parts */
} mr_predicting;

/* Zero-initialise, then set cli, mpi, shard and parts; `self` must stay in place. Tests here what
 * would make the command fail later. The caller calls mr_predicting_finish in every case. */
mr_status mr_predicting_start(mr_predicting *self, mr_error *error);

/* For a shard, before the trace is read: decides what a part of the trace is enough for. `*over`: that was all, or the run was
 * halted; then the exit status is set, and mr_predicting_finish is not called. What fails here is done again, and
 * reported, with the whole trace. */
void mr_predicting_part(mr_predicting *self, const char *path, bool *over, int *exit_status);

/* The line of one run of a job array. Such a run has no report. */
void mr_predicting_print_shard(const mr_predicting *self, const mr_result *result);

/* predicting_part.c: reads what a rank other than 0 needs of the trace. */
mr_status mr_predicting_read_on_rank(mr_predicting *self, const char *path, mr_error *error);

/* Reads the trace, and opens the checkpoint and the parts; the latter two on rank 0 only. */
mr_status mr_predicting_open(mr_predicting *self, const char *path, mr_error *error);

/* Predicts and reports when the status so far is MR_OK on all ranks. It prints the errors of both,
 * and the first decides the exit status. Then it closes everything, in every case. With MPI it may
 * not return. */
mr_status mr_predicting_finish(mr_predicting *self, mr_status so_far, int *exit_status,
                               mr_error *error);

/* The exit status for a result whose report is written, by fail_on. MR_ERR_CONFIG, MR_ERR_MEMORY. */
mr_status mr_predicting_exit(const mr_trace *trace, const mr_config *config,
                             const mr_result *result, int *exit_status, mr_error *error);

#endif
