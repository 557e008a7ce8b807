/*
 * steps: a witness as steps with the links that minimisation asks for; internal to src/witness.
 */
#ifndef MR_WITNESS_STEPS_H
#define MR_WITNESS_STEPS_H

#include "base/arena.h"
#include "opaque/barrier_pairs.h"
#include "witness.h"

/* An event of the witness; steps are numbered in the order of the witness. MR_NONE: there is no
 * such step. */
typedef struct mr_witness_step {
    uint32_t event;
    uint32_t previous; /* step before it in its thread */
    uint32_t fork;     /* first step of its thread: the fork of the thread */
    uint32_t joined;   /* join: last step of the joined thread */
    uint32_t source;   /* r ar au: the last write of its variable before it */
    uint32_t opens;    /* outermost rel, rrel: its acquire */
    uint32_t post;     /* wait: the post whose unit it takes, if units of the witness are taken
                          first, the oldest first, and those from before the window last */
    bool needed;
} mr_witness_step;

/* A step by the object that it is about, so that equal objects stand together in witness order. */
typedef struct mr_object_step {
    uint64_t object; /* lock or variable, or (for the search of threads) thread */
    uint32_t step;
} mr_object_step;

typedef struct mr_witness_steps {
    const mr_trace *trace;
    mr_witness_step *items;
    uint32_t count;
    mr_object_step
        *objects; /* accesses, outermost acquires and releases, posts, waits, by object */
    uint32_t object_count;
    mr_object_step *by_thread;      /* all steps, by thread */
    const mr_barrier_edges *opaque; /* NULL: none */
    size_t opaque_count;            /* edges into steps */
} mr_witness_steps;

/* All memory of `arena`. False: none. `opaque` may be NULL. */
bool mr_witness_steps_build(mr_witness_steps *steps, const mr_trace *trace,
                            const mr_barrier_edges *opaque, const mr_witness *witness,
                            mr_arena *arena);

/* The last step of a thread, MR_NONE: it has none. O(log steps). */
uint32_t mr_witness_steps_last(const mr_witness_steps *steps, uint32_t thread);

/* The step of an event, MR_NONE: it is none. O(log steps). */
uint32_t mr_witness_steps_find(const mr_witness_steps *steps, uint32_t event);

/* The first opaque edge into the event or a later one. O(log edges). */
size_t mr_witness_steps_edge(const mr_witness_steps *steps, uint32_t event);

#endif
