/*
 * cluster: messages between the processes of one run. Knows nothing of windows.
 *
 * The processes are ranks 0 … size - 1, on one host or on many. Rank 0 talks with every other, and
 * the others with rank 0 only. Messages between two ranks arrive in the order in which they were
 * sent, whole, and once. Who carries them (src/dispatch/mpi, tests/support/star.h) fills this struct.
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

/* All is called by one thread of each rank, but for `is_dead`. */
typedef struct mr_cluster {
    void *context;
    unsigned rank, size;
    unsigned cores; /* for the threads of this rank: its share of those of its host */
    /* Who a rank is, for people: "rank 1 on node7 (process 4711)". */
    const char *(*name)(void *context, unsigned rank);
    /* Sends a copy of a message, without waiting for anybody. False: no memory, or out of reach. */
    bool (*send)(void *context, unsigned to, const uint8_t *bytes, size_t count);
    /* The next message that has come, which is the caller's to free; or a rank that is lost, which
     * is told once, after all its messages. */
    mr_arrival (*receive)(void *context, unsigned *from, uint8_t **bytes, size_t *count);
    /* Is it certain that a rank is dead? Safe in a signal handler. */
    bool (*is_dead)(void *context, unsigned rank);
    /* Ends it: after all messages have gone when `clean`; else at once, and for all ranks, perhaps
     * without returning. Frees the context. */
    void (*end)(void *context, bool clean);
} mr_cluster;

#endif
