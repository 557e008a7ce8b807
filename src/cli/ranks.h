/*
 * ranks: --mpi, for a command that predicts. Without it, all of this does nothing.
 *
 *   mr_ranks_start → (read the trace) → mr_ranks_meet → mr_predict → mr_ranks_part → (report) →
 *   mr_ranks_end
 *
 * MPI is in a library of its own (src/dispatch/mpi), which is loaded here. When a rank
 * dies, mpirun sends SIGTERM to the others. The signal halts their run, and the first living rank
 * prints the reason.
 */
#ifndef MR_CLI_RANKS_H
#define MR_CLI_RANKS_H

#include "cli.h"
#include "engine/predict.h"

typedef struct mr_ranks {
    bool active; /* with --mpi */
    bool leads;  /* this process reads, reports and writes; true without --mpi */
    mr_cluster cluster;
    mr_team team;
    mr_halt halt;
} mr_ranks;

/* `mpi`: with --mpi. `ranks` must stay in place. MR_ERR_USAGE: standard input, or maxrace was built
 * without MPI; MR_ERR_IO: MPI cannot be started. */
mr_status mr_ranks_start(mr_ranks *ranks, const mr_cli *cli, bool mpi, mr_error *error);

/* As mr_predict_meet. `*over`: this rank has nothing to do. */
mr_status mr_ranks_meet(mr_ranks *ranks, const mr_trace *trace, const mr_config *config,
                        mr_status status, bool *over, mr_error *error);

/* As mr_predict_part. */
void mr_ranks_part(mr_ranks *ranks, mr_status status, const mr_error *error, mr_run_figures *run);

/* Ends the command, whose result is `status`. Returns the status that main takes. May not return.
 */
mr_status mr_ranks_end(mr_ranks *ranks, mr_status status, int *exit_status, const mr_error *error);

/* Can MPI be loaded? */
bool mr_ranks_can(void);

#endif
