/*
 * after: what comes after one event by happens-before of C17 (docs/semantics.md 8); internal to
 * src/witness, for the checker of memory-order races. It shares nothing with src/order: no clocks,
 * only marks of what the event has reached.
 *
 * Marked is: a thread, when what it does next comes after the event; a lock, when a release of it
 * was; a unit of a semaphore; of a variable the last write, and the threads that head a release
 * sequence which has not ended, when the head, or a release fence before it, was; of a thread, that
 * it has read such a sequence without acquiring it, and that a release fence of it was.
 *
 *   mr_after_init → mr_after_do (each event of the sequence in its order) → mr_after_is_before →
 * mr_after_free
 */
#ifndef MR_WITNESS_AFTER_H
#define MR_WITNESS_AFTER_H

#include "barrier_check.h"
#include "base/map.h"

typedef struct mr_after_thread {
    bool marked;
    bool unacquired; /* an acquire fence marks it */
    bool fence;      /* what it writes is a marked head */
} mr_after_thread;

typedef struct mr_after_lock {
    bool released, shared_released;
    uint64_t unmarked; /* units given before `units` */
    mr_u32s units;     /* later ones, marked or not */
    size_t taken;      /* of `units` */
} mr_after_lock;

typedef struct mr_after_variable {
    bool marked;         /* its last write is */
    bool is_plain;       /* so is its last write; or there is none */
    uint32_t generation; /* of heads: more with each write that ends release sequences */
    uint32_t heads;      /* marked threads of this generation */
} mr_after_variable;

typedef struct mr_after {
    const mr_trace *trace;
    const mr_witness_calls *calls;
    const mr_replay *replay;
    uint32_t event; /* the one whose successors are marked */
    mr_after_thread *threads;
    mr_after_lock *locks;
    mr_after_variable *variables;
    bool *allocs;    /* by object: its alloc is marked */
    mr_map heads;    /* (variable, thread) → the generation in which it is a marked head */
    mr_u32s reached; /* with calls: the event, and the marked events after it */
} mr_after;

/* The events before the sequence are those that `replay` has done. False: no memory; to be freed
 * nevertheless. O(names). */
bool mr_after_init(mr_after *after, const mr_trace *trace, const mr_witness_calls *calls,
                   const mr_replay *replay, uint32_t event);
void mr_after_free(mr_after *after);

/* Does the next event of the sequence. False: no memory. O(1) expected; with calls O(marked events).
 */
bool mr_after_do(mr_after *after, uint32_t event);

/* Does the event come before `next`, an access that would be done now? What `next` sees counts only
 * when it synchronises with it. */
bool mr_after_is_before(const mr_after *after, uint32_t next);

#endif
