/*
 * model: what runs have shown of a program, as one automaton for each thread.
 *
 * What a thread does next is a function of its local history: of what its operations gave it so far
 * (the values that its reads saw, whether a try succeeded, whether it was the last at a barrier). A
 * node stands for such a history, and has the operation that the thread does next; an edge of the
 * node is what the operation gave, and leads to the node of the longer history. Inputs are fixed, so
 * two runs that come to the same node find the same operation there; when they do not, the program
 * depends on something that the model does not see, and mr_pmodel_see says so.
 *
 * Folding (loops that wait). An event may carry a fingerprint of the thread's local state: the place
 * in the code, the registers that outlive a call, and its stack (runtime/local_state.h). When the
 * fingerprint, and the locks that the thread holds, are what they were at an earlier node of the same
 * history, and in between the thread has only
 *
 *   - read, failed to compare and exchange, or updated a variable to the value that it had,
 *   - written its own stack (which the fingerprint contains),
 *   - taken and released locks, tried to, or failed to take a unit of a semaphore,
 *
 * then it is at the same point of its program with the same local state: from there on, what it does
 * is the same function of what it sees. So the new history is that node again: the edge leads back
 * (mr_pmodel_node.is_head). Nothing is lost: any continuation of the longer history is one of the
 * shorter one, seen from the same memory. Histories that differ in such iterations only are one
 * behaviour. What changes in each iteration (a counter of tries, a back-off, the clock) is in the
 * fingerprint or is an effect, so such a loop is not folded, and its behaviours are told apart.
 *
 * A fingerprint also contains registers and stack that compiled code does not use any more. Where these
 * differ, an iteration is not folded although it could be: most often the first one, so that "waited"
 * and "did not wait" are two behaviours. That costs time, and misses nothing.
 *
 * Not in the fingerprint is the state of code that is not recorded (rand, errno): a thread whose loop
 * ends by such a thing is taken to be where it was. See docs/hunt-exhaustive.md.
 *
 * Merging. A model that merges goes further: all nodes of a thread with the same fingerprint, the same locks and the same place are
 * one, whatever the thread has written. What it does from there on is the same function of what it sees, when all memory but its own
 * stack is seen: so such a model is to be searched with memory that one thread alone uses, too (model_graph.h). Histories are
 * no longer told apart, so it does not count behaviours; it says how a state can be reached (hunt/guide).
 *
 * Cost: O(1) expected for each event, about 100 bytes a node.
 */
#ifndef MR_HUNT_MODEL_H
#define MR_HUNT_MODEL_H

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum { MR_PMODEL_THREADS_MAX = 64 };

typedef enum mr_pmodel_kind {
    MR_PMODEL_UNKNOWN, /* no run has shown it yet */
    MR_PMODEL_READ,
    MR_PMODEL_WRITE,
    MR_PMODEL_UPDATE, /* atomic: reads, and writes or not, by what it read */
    MR_PMODEL_FREE,   /* memory ends: a write of it that nobody sees */
    MR_PMODEL_LOCK,
    MR_PMODEL_LOCK_SHARED,
    MR_PMODEL_UNLOCK,
    MR_PMODEL_UNLOCK_SHARED,
    MR_PMODEL_TRY, /* outcome 1: taken; 0: it was held. A lock with a time limit, too */
    MR_PMODEL_TRY_SHARED,
    MR_PMODEL_POST, /* `other` units */
    MR_PMODEL_WAIT,
    MR_PMODEL_TRY_WAIT,  /* outcome 1: a unit was taken; also with a time limit */
    MR_PMODEL_SLEEP,     /* on a condition variable; releases the mutex `other` in the same step */
    MR_PMODEL_WAKE,      /* outcome 1: woken; 0: its time was over */
    MR_PMODEL_SIGNAL,    /* wakes one sleeper, any of them, if there is one */
    MR_PMODEL_BROADCAST, /* wakes all */
    MR_PMODEL_ARRIVE,    /* at a barrier of `other` threads; outcome 1: the last */
    MR_PMODEL_PASS,      /* the barrier, after others came */
    MR_PMODEL_RENEW,     /* a lock, semaphore … is made or ends; a write of it */
    MR_PMODEL_ORDER,     /* on an object whose operations do not commute */
    MR_PMODEL_FORK,      /* of the thread `object` */
    MR_PMODEL_JOIN,
    MR_PMODEL_END,
    MR_PMODEL_EXIT, /* of the process, however it comes */
    MR_PMODEL_KIND_COUNT
} mr_pmodel_kind;

/* "read", "lock" … */
const char *mr_pmodel_kind_name(mr_pmodel_kind kind);

typedef struct mr_pmodel_op {
    uint8_t kind;   /* mr_pmodel_kind */
    bool is_atomic; /* of accesses */
    bool is_timed;  /* WAKE: may end by itself */
    bool is_once;   /* UPDATE: waits while the value is 1 (pthread_once) */
    uint32_t bytes; /* of accesses and FREE */
    uint32_t object, other;
    uint64_t address;
    uint64_t code; /* for reports, and part of what the operation is */
} mr_pmodel_op;

enum { MR_PMODEL_NONE = UINT32_MAX };

typedef struct mr_pmodel_node {
    mr_pmodel_op op;
    uint32_t edges; /* the first, MR_PMODEL_NONE */
    uint64_t state; /* a model that merges: its key in `states`; 0: it has none */
    size_t words;   /* of its local state, in `words` of the model */
    uint32_t word_count;
    uint32_t parent, via; /* the node, and the outcome, after which it was first seen */
    uint32_t thread;      /* whose */
    bool is_head;         /* an edge leads back to it */
} mr_pmodel_node;

typedef struct mr_pmodel_edge {
    uint32_t outcome; /* of accesses that read: the bytes that were seen (mr_pmodel_bytes); else as
                         mr_pmodel_kind says, 0 where it says nothing */
    uint32_t written; /* … the bytes that were written, MR_PMODEL_NONE */
    uint32_t records; /* of the log, that a schedule counts */
    uint32_t lead;    /* … between it and the next operation: memory is allocated, … */
    uint32_t to, next;
} mr_pmodel_edge;

typedef struct mr_pmodel_blob {
    size_t at;
    uint32_t bytes;
} mr_pmodel_blob;

/* A thread: the one that its parent created as its n-th. */
typedef struct mr_pmodel_thread {
    uint32_t parent, nth, root;
    uint32_t lead; /* records before its first operation */
} mr_pmodel_thread;

typedef enum mr_pmodel_role {
    MR_PMODEL_NOTHING,
    MR_PMODEL_IS_LOCK,
    MR_PMODEL_IS_SEMAPHORE,
    MR_PMODEL_IS_CONDITION,
    MR_PMODEL_IS_BARRIER,
    MR_PMODEL_IS_ORDER,
} mr_pmodel_role;

typedef struct mr_pmodel_object {
    uint64_t address;
    uint8_t role;      /* mr_pmodel_role */
    bool is_recursive; /* a lock that its holder was seen to take again */
} mr_pmodel_object;

/* Memory as a run has it: 8 bytes and which of them are known. */
typedef struct mr_pmodel_word {
    uint64_t address, value;
    uint8_t known; /* a bit for each byte */
    uint8_t written;
} mr_pmodel_word;

typedef struct mr_pmodel_memory {
    mr_map places;
    mr_pmodel_word *words;
    size_t count, capacity;
} mr_pmodel_memory;

/* Zero-initialise; free with mr_pmodel_free. */
typedef struct mr_pmodel {
    mr_pmodel_node *nodes;
    mr_pmodel_edge *edges;
    mr_pmodel_blob *blobs;
    mr_pmodel_thread *threads;
    mr_pmodel_object *objects;
    uint8_t *pool; /* of blobs */
    uint32_t node_count, edge_count, blob_count, thread_count, object_count;
    size_t node_capacity, edge_capacity, blob_capacity, thread_capacity, object_capacity;
    size_t pool_count, pool_capacity;
    mr_table blob_table;
    mr_map object_map[8];     /* by role: address to number */
    mr_pmodel_memory initial; /* what reads saw that no write of their run came before */
    mr_pmodel_memory strange; /* bytes of which a read saw what no write had written */
    uint64_t version;         /* grows with everything that is learned */
    bool merges;              /* see above; set before the first run */
    mr_map states;            /* … fingerprint, locks, thread and place → node */
    uint64_t *words;          /* … of local states */
    size_t words_count, words_capacity;
} mr_pmodel;

void mr_pmodel_free(mr_pmodel *model);

/* The main thread (parent MR_PMODEL_NONE) or the nth-created of a parent, from 1 on; made when new.
 * MR_PMODEL_NONE: no memory, or more than MR_PMODEL_THREADS_MAX. */
uint32_t mr_pmodel_thread_of(mr_pmodel *model, uint32_t parent, uint32_t nth);
/* The object at the address; made when new. MR_PMODEL_NONE: no memory. */
uint32_t mr_pmodel_object_of(mr_pmodel *model, mr_pmodel_role role, uint64_t address);
/* The number of the bytes. MR_PMODEL_NONE: no memory. */
uint32_t mr_pmodel_bytes(mr_pmodel *model, const void *bytes, uint32_t count);

static inline const uint8_t *mr_pmodel_blob_at(const mr_pmodel *model, uint32_t blob)
{
    return model->pool + model->blobs[blob].at;
}

/* The word with the address (a multiple of 8), or NULL. */
const mr_pmodel_word *mr_pmodel_word_at(const mr_pmodel_memory *memory, uint64_t address);

/* ---- learning ---- */

/* An operation that a run did. */
typedef struct mr_pmodel_event {
    mr_pmodel_op op;
    uint32_t thread;
    bool has_state, on_own_stack;
    uint64_t state;        /* the fingerprint just before, when it has one */
    const uint64_t *words; /* of which it is made; none where they are not told */
    uint32_t word_count;
    uint32_t outcome; /* of operations that do not read */
    const void *seen; /* op.bytes bytes, of what reads */
    const void *written;
    uint32_t records; /* of the operation … */
    uint32_t lead;    /* … and of the thread before it, since its last operation */
} mr_pmodel_event;

typedef enum mr_pmodel_fit {
    MR_PMODEL_FITS,
    MR_PMODEL_DIFFERS, /* the thread was seen to do something else here: run->problem */
    MR_PMODEL_MEMORY,
} mr_pmodel_fit;

typedef struct mr_pmodel_visit {
    uint64_t state, held;
    uint32_t node;
} mr_pmodel_visit;

typedef struct mr_pmodel_place {
    uint32_t node;
    uint32_t last_edge; /* that led here, MR_PMODEL_NONE */
    uint64_t held;      /* which locks, as a sum */
    mr_pmodel_visit *visits;
    size_t visit_count, visit_capacity;
} mr_pmodel_place;

/* A run while it is learned. Zero-initialise, then mr_pmodel_run_begin; free with mr_pmodel_run_free. */
typedef struct mr_pmodel_run {
    mr_pmodel_place *places; /* by thread of the model */
    size_t place_count, place_capacity;
    mr_pmodel_memory memory;
    uint64_t events, known; /* operations, and those that an earlier run has shown */
    bool exited;
    uint64_t
        watched; /* code of an access, of which it is asked whether it uses freed memory; 0: none */
    bool uses_freed; /* … it did */
    char problem[256];
} mr_pmodel_run;

void mr_pmodel_run_free(mr_pmodel_run *run);

/* The next event of the run, in the order of the run. */
mr_pmodel_fit mr_pmodel_see(mr_pmodel *model, mr_pmodel_run *run, const mr_pmodel_event *event);
/* The thread stands before this operation, which did not happen in this run: it waits. */
mr_pmodel_fit mr_pmodel_see_waiting(mr_pmodel *model, mr_pmodel_run *run, uint32_t thread,
                                    const mr_pmodel_op *op);
/* Where the thread is now; its root when it did nothing. MR_PMODEL_NONE: no memory. */
uint32_t mr_pmodel_run_node(mr_pmodel *model, mr_pmodel_run *run, uint32_t thread);

/* The edge of the node with the outcome, or MR_PMODEL_NONE. */
uint32_t mr_pmodel_edge_of(const mr_pmodel *model, uint32_t node, uint32_t outcome);

static inline bool mr_pmodel_reads(uint8_t kind)
{
    return kind == MR_PMODEL_READ || kind == MR_PMODEL_UPDATE;
}

static inline bool mr_pmodel_is_access(uint8_t kind)
{
    return kind >= MR_PMODEL_READ && kind <= MR_PMODEL_FREE;
}

#endif
