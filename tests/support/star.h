/*
 * star: a cluster (dispatch/cluster.h) whose ranks are processes of one test: children, each with a
 * pair of sockets to rank 0, which is the test itself. For what must hold of a team without an MPI
 * to carry it, under sanitizers, and with ranks that die.
 */
#ifndef MR_TESTS_SUPPORT_STAR_H
#define MR_TESTS_SUPPORT_STAR_H

#include "dispatch/cluster.h"

enum { MR_STAR_RANKS = 8 };

/* What a rank other than 0 does, in its own process, which ends when it returns. */
typedef void mr_star_rank(mr_cluster *cluster, void *context);

/* Starts `size` - 1 of them; `cluster` is that of rank 0. Ends the test when it fails. */
void mr_star_start(mr_cluster *cluster, unsigned size, mr_star_rank *run, void *context);
/* Kills a rank as SIGKILL does. */
void mr_star_kill(const mr_cluster *cluster, unsigned rank);
/* Ends the cluster of rank 0 and waits for the others. The number of those that have not ended by
 * themselves with status 0. */
unsigned mr_star_end(mr_cluster *cluster);

#endif
