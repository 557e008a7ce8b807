/*
 * predicting: what predict and merge have in common: a prediction that signals and time_limit can
 * end, that takes and saves outcomes, and its report.
 *
 *   mr_predicting_start → (read the trace) → mr_predicting_open → mr_predicting_finish
 */
#ifndef MR_CLI_PREDICTING_H
#define MR_CLI_PREDICTING_H

#include "checkpoint/checkpoint.h"
#include "cli.h"
#include "ranks.h"

typedef struct mr_predicting {
    mr_cli *cli;
    bool mpi; /* this is a rank of an MPI run */
    mr_ranks ranks;
    mr_cli_progress progress;
    double start_seconds;
    uint32_t shard, shards;   /* of --shard; 0: all */
    const char *const *parts; /* files of shards */
    size_t part_count;
    mr_trace *trace; /* owned */
    double read_seconds;
    mr_checkpoint *checkpoint; /* owned; NULL: none is asked for */
} mr_predicting;

/* Zero-initialise, then set cli, mpi, shard and parts; it must stay in place. What can be known to
 * fail is told here. To be ended by mr_predicting_finish in every case. */
mr_status mr_predicting_start(mr_predicting *self, mr_error *error);

/* Reads the trace, and opens the checkpoint and the parts; the latter two on rank 0 only. */
mr_status mr_predicting_open(mr_predicting *self, const char *path, mr_error *error);

/* With MR_OK so far, on all ranks: predicts and reports; errors of both are told, the first
 * decides. Then, in every case, closes everything. With MPI it may not return. */
mr_status mr_predicting_finish(mr_predicting *self, mr_status so_far, int *exit_status,
                               mr_error *error);

#endif
