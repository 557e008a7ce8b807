/*
 * mpi: carries the messages of a cluster (dispatch/cluster.h) by MPI. This file is a library of its
 * own, maxrace-mpi.so, which the program loads for --mpi only: without --mpi maxrace neither needs
 * MPI nor waits for it. The library uses nothing of maxrace but the struct that it fills.
 *
 * Sending does not wait; a message is kept until it has gone. All MPI calls are made by one thread.
 * A rank on the same host is lost when its process is gone. When a rank on another host is lost,
 * mpirun or srun -K ends all others.
 */
#define _GNU_SOURCE /* CPU_COUNT */
#include "dispatch/cluster.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double LOOK_SECONDS = 0.2;

enum { TAG = 1, EXIT_LOST = 4 };

/* A message on its way. */
typedef struct parcel {
    struct parcel *next;
    MPI_Request request;
    uint8_t bytes[];
} parcel;

/* What every rank knows of another one. */
typedef struct peer {
    char host[64];
    int64_t process;
} peer;

typedef struct carrier {
    int rank, size;
    peer *peers;
    char (*names)[128];
    bool *near;  /* by rank: its process can be seen from here */
    bool *told;  /* by rank: it was reported as lost */
    parcel *out; /* oldest first */
    parcel **last;
    double looked; /* when processes were looked at, in seconds */
} carrier;

static const char *name_of(void *context, unsigned rank)
{
    const carrier *self = context;
    return self->names[rank];
}

/* Frees the messages that have gone. False: a message cannot be sent. */
static bool move_on(carrier *self)
{
    bool well = true;
    while (self->out) {
        parcel *first = self->out;
        int gone = 0;
        if (MPI_Test(&first->request, &gone, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            well = false;
        else if (!gone)
            break;
        self->out = first->next;
        if (!self->out)
            self->last = &self->out;
        free(first);
    }
    return well;
}

/* move_on and end wait for what is sent here, which the MPI checker does not see. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
static bool send_to(void *context, unsigned to, const uint8_t *bytes, size_t count)
{
    carrier *self = context;
    if (count > INT_MAX)
        return false;
    parcel *made = malloc(sizeof *made + count);
    if (!made)
        return false;
    made->next = NULL;
    memcpy(made->bytes, bytes, count);
    if (MPI_Isend(made->bytes, (int)count, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD,
                  &made->request) != MPI_SUCCESS) {
        free(made);
        return false;
    }
    *self->last = made;
    self->last = &made->next;
    return move_on(self);
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static bool is_dead(void *context, unsigned rank)
{
    const carrier *self = context;
    return self->near[rank] && kill((pid_t)self->peers[rank].process, 0) != 0 && errno == ESRCH;
}

/* Finds a rank that is lost and was not reported before. */
static bool find_lost(carrier *self, unsigned *lost)
{
    double now = MPI_Wtime();
    if (now < self->looked + LOOK_SECONDS)
        return false;
    self->looked = now;
    for (unsigned rank = 0; rank < (unsigned)self->size; rank++) {
        if (self->told[rank] || !is_dead(self, rank))
            continue;
        self->told[rank] = true;
        *lost = rank;
        return true;
    }
    return false;
}

static mr_arrival receive(void *context, unsigned *from, uint8_t **bytes, size_t *count)
{
    carrier *self = context;
    MPI_Status status;
    int there = 0, length = 0;
    move_on(self);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
        return find_lost(self, from) ? MR_ARRIVAL_LOST : MR_ARRIVAL_NONE;
    *from = (unsigned)status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_BYTE, &length);
    *bytes = malloc((size_t)length + 1);
    if (!*bytes || MPI_Recv(*bytes, length, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        free(*bytes);
        *bytes = NULL;
        self->told[*from] = true;
        return MR_ARRIVAL_LOST;
    }
    *count = (size_t)length;
    return MR_ARRIVAL_MESSAGE;
}

static void carrier_free(carrier *self)
{
    free(self->peers);
    free(self->names);
    free(self->near);
    free(self->told);
    free(self);
}

static void end(void *context, bool clean)
{
    carrier *self = context;
    const struct timespec nap = {0, 1000000};
    while (clean && self->out && move_on(self))
        nanosleep(&nap, NULL);
    if (!clean)
        MPI_Abort(MPI_COMM_WORLD, EXIT_LOST);
    MPI_Finalize();
    carrier_free(self);
}

/* Learns the host and the process of every rank. */
static bool meet(carrier *self)
{
    peer own = {.process = (int64_t)getpid()};
    gethostname(own.host, sizeof own.host - 1);
    size_t size = (size_t)self->size;
    self->peers = calloc(size, sizeof *self->peers);
    self->names = calloc(size, sizeof *self->names);
    self->near = calloc(size, sizeof *self->near);
    self->told = calloc(size, sizeof *self->told);
    if (!self->peers || !self->names || !self->near || !self->told ||
        MPI_Allgather(&own, sizeof own, MPI_BYTE, self->peers, sizeof own, MPI_BYTE,
                      MPI_COMM_WORLD) != MPI_SUCCESS)
        return false;
    for (size_t rank = 0; rank < size; rank++) {
        const peer *its = &self->peers[rank];
        snprintf(self->names[rank], sizeof self->names[rank], "rank %zu on %s (process %lld)", rank,
                 its->host, (long long)its->process);
        self->near[rank] = strcmp(its->host, own.host) == 0 &&
                           (kill((pid_t)its->process, 0) == 0 || errno == EPERM);
    }
    return true;
}

/* The cores that the rank may use: those that it was given, or its share of the host's. */
static unsigned cores_of_rank(void)
{
    cpu_set_t given;
    MPI_Comm host;
    int ranks = 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&given);
    if (sched_getaffinity(0, sizeof given, &given) == 0 && CPU_COUNT(&given) < cores)
        return (unsigned)CPU_COUNT(&given);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) ==
        MPI_SUCCESS) {
        MPI_Comm_size(host, &ranks);
        MPI_Comm_free(&host);
    }
    return cores > ranks ? (unsigned)(cores / ranks) : 1;
}

/* Starts MPI and fills the cluster. NULL, or what is wrong. `version` is that of the program. */
__attribute__((visibility("default"))) const char *mr_mpi_start(mr_cluster *cluster,
                                                                const char *version);

const char *mr_mpi_start(mr_cluster *cluster, const char *version)
{
    int provided = 0;
    if (strcmp(version, MR_VERSION) != 0)
        return "maxrace-mpi.so is of another version than maxrace; install both again";
    carrier *self = calloc(1, sizeof *self);
    if (!self)
        return "out of memory";
    /* Memory of another process is not read: it may be dead, or out of reach in a container, and
     * Open MPI says so on standard error, again and again. */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_FUNNELED) {
        free(self);
        return "MPI cannot be started with threads";
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &self->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self->size);
    self->last = &self->out;
    if (!meet(self)) {
        carrier_free(self);
        return "the ranks cannot reach each other by MPI";
    }
    *cluster = (mr_cluster){.context = self,
                            .rank = (unsigned)self->rank,
                            .size = (unsigned)self->size,
                            .cores = cores_of_rank(),
                            .name = name_of,
                            .send = send_to,
                            .receive = receive,
                            .is_dead = is_dead,
                            .end = end};
    return NULL;
}
