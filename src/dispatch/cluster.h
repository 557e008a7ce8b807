/*
 * cluster: messages between the processes of one run.
 *
 * The processes are ranks 0 … size - 1, on one host or on many. Rank 0 exchanges messages with
 * every other rank; other ranks exchange none with each other. Messages between two ranks arrive in
 * the order in which they were sent, whole, and once. A carrier fills this struct:
 * src/dispatch/mpi, and tests/support/star.h.
 */
#ifndef MR_DISPATCH_CLUSTER_H
#define MR_DISPATCH_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr_arrival {
    MR_ARRIVAL_NONE, /* nothing has come */
    MR_ARRIVAL_MESSAGE,
    MR_ARRIVAL_LOST, /* a rank is dead or out of reach, and nothing more comes from it */
} mr_arrival;

/* Each rank calls these functions from one thread, but for `is_dead`. */
typedef struct mr_cluster {
    void *context;
    unsigned rank, size;
    unsigned cores; /* for the threads of this rank: its share of those of its host */
    /* The name of a rank, for people: "rank 1 on node7 (process 4711)". */
    const char *(*name)(void *context, unsigned rank);
    /* Sends a copy of a message, without waiting for anybody. False: no memory, or out of reach. */
    bool (*send)(void *context, unsigned to, const uint8_t *bytes, size_t count);
    /* The next message that has come, which the caller frees; or a rank that is lost, once, after
     * all its messages. */
    mr_arrival (*receive)(void *context, unsigned *from, uint8_t **bytes, size_t *count);
    /* Is it certain that a rank is dead? Safe in a signal handler. */
    bool (*is_dead)(void *context, unsigned rank);
    /* Ends the cluster. When `clean`, all messages are sent before; else all ranks end at once, and
     * the function may not return. Frees the context. */
    void (*end)(void *context, bool clean);
} mr_cluster;

#endif
