/*
 * facts: what an exhaustive search (exhaustive.h) has to know of a trace before it starts: what
 * each read must see, which locks a thread holds after so many of its events, what must have
 * happened before an event. Each is taken from the raw columns of the trace (op, thread, operand,
 * value) at the word of docs/semantics.md, and shares no code with the library.
 */
#ifndef MR_TESTS_SUPPORT_FACTS_H
#define MR_TESTS_SUPPORT_FACTS_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

enum {
    MR_EXHAUSTIVE_THREADS = 16,
    MR_EXHAUSTIVE_VARIABLES = 16,
    MR_EXHAUSTIVE_LOCKS = 32,
    MR_EXHAUSTIVE_EVENTS = 250, /* of the whole trace */
};

/* What a read sees when the last write was of a thread that had diverged; no class of a read. */
enum { MR_UNKNOWN_CLASS = 255 };

/*
 * What a read sees is a class of writes, so that all models are "the class is the one that was
 * observed": rf: a class per write event; value: a class per value. Class 0 is the initial value
 * that is unknown, and in rf "no write yet".
 */
typedef struct mr_facts {
    const mr_trace *trace;
    uint32_t start, end; /* the window */

    uint8_t sees[MR_EXHAUSTIVE_EVENTS];  /* r ar au: the class that it must see */
    uint8_t gives[MR_EXHAUSTIVE_EVENTS]; /* w aw au: the class that later reads see */
    uint8_t carried[MR_EXHAUSTIVE_VARIABLES];

    uint32_t count[MR_EXHAUSTIVE_THREADS]; /* events of the window, by thread */
    uint32_t events[MR_EXHAUSTIVE_THREADS][MR_EXHAUSTIVE_EVENTS]; /* their numbers */
    uint32_t index[MR_EXHAUSTIVE_EVENTS]; /* an event's place in `events` of its thread */
    /* locks that the thread holds after so many of them, as bits */
    uint32_t exclusive[MR_EXHAUSTIVE_THREADS][MR_EXHAUSTIVE_EVENTS + 1];
    uint32_t shared[MR_EXHAUSTIVE_THREADS][MR_EXHAUSTIVE_EVENTS + 1];
    uint32_t fork[MR_EXHAUSTIVE_THREADS]; /* the event that forks it, or MR_NONE */
    uint32_t last[MR_EXHAUSTIVE_THREADS]; /* its last event in the whole trace, or MR_NONE */
    int32_t units[MR_EXHAUSTIVE_LOCKS];   /* of the semaphore at the start of the window */
    uint32_t post[MR_EXHAUSTIVE_EVENTS];  /* wait: the post whose unit it took */
    /* Of an access of a variable of an object: the object's alloc, and its free when that is later
     * in the trace; of a free the alloc; else MR_NONE. */
    uint32_t alloc[MR_EXHAUSTIVE_EVENTS], later_free[MR_EXHAUSTIVE_EVENTS];
    /* the last event of each thread that opaque calls put before an event, or MR_NONE */
    uint32_t need[MR_EXHAUSTIVE_EVENTS][MR_EXHAUSTIVE_THREADS];
} mr_facts;

/* False: the trace is beyond the limits above. */
bool mr_facts_init(mr_facts *facts, const mr_trace *trace, mr_model model, mr_opaque opaque,
                   uint32_t start, uint32_t end);

#endif
