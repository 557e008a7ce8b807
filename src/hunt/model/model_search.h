/*
 * model_search: all behaviours of a model, by a search over its states in memory. No program runs.
 *
 * State: for each thread the node where it stands, or that it is not created, asleep, woken, at a
 * barrier, or has ended; the values of tracked memory; who holds which lock, how many units a
 * semaphore has, how many threads are at a barrier. Operations are possible by rules 1 to 5 of
 * docs/semantics.md. A state that was seen is not visited again. A state in which nobody can go on,
 * or the process has ended, is *final*: the nodes of its threads are a behaviour.
 *
 * Branching points, beside who goes next: which sleeper a signal wakes, and whether a wait with a
 * limit ends by its time (any time before it is woken). Wake-ups for no reason are not tried.
 *
 * Reduction. In a state only the operations of a set T of threads are tried, when that is enough
 * (persistent sets: Godefroid, LNCS 1032, 1996, chapter 4; here by threads):
 *
 *   - T has a thread that can go on;
 *   - t in T can go on, and u may at any time from here on do an operation that does not commute with
 *     the next one of t (futures and conflicts of model_graph.h): u is in T;
 *   - t in T cannot go on: all threads that can change that are in T (the holder of a lock, who may
 *     still post, signal, arrive, end);
 *   - t in T is before the EXIT, or some u may come to an EXIT without having joined t: u is in T.
 *
 * So whatever the others do first, it commutes with all operations of T, and every final state is
 * found. Conflicting accesses never count as commuting, whatever they write: so for each race a state
 * is visited in which both threads stand before their accesses. (Let a and b be next in some state
 * that is reached from s by w. If an operation of w is in T, the first of those can come first, and w
 * gets shorter. If none is, and a's thread is in T, then b's is too, by the second rule, b is next in
 * s already, and s is that state. If neither is, an operation of T commutes with w, and both are still
 * next after it.) Where threads can come back to where they were (loops that wait), a state whose
 * operations in T lead back to a state on the way is expanded fully, so nobody is left out for ever.
 *
 * Futures are those that the model knows. That is enough when the search ends without a question: were
 * there an operation that the model does not know and that does not commute with one of T, the first
 * on some way from s, then the way up to it commutes with T, so the search continues it after an
 * operation of T; the ways from there are shorter, so by induction the search has come to the node of
 * the unknown operation, and asked.
 *
 * A question is a node, with an outcome, that no run has shown. The way to it is given: a run that
 * goes that way and then lets the thread do one operation shows it.
 */
#ifndef MR_HUNT_MODEL_SEARCH_H
#define MR_HUNT_MODEL_SEARCH_H

#include "base/halt.h"
#include "model_graph.h"

/* The node of a thread that was not created yet. */
#define MR_SEEK_NOT_CREATED 0x1fffffffu

typedef struct mr_seek_step {
    uint32_t thread;
    uint32_t edge;  /* of the graph; MR_PMODEL_NONE: it is not known what it leads to */
    uint32_t woken; /* SIGNAL: this thread; MR_PMODEL_NONE */
} mr_seek_step;

/* Steps in the order in which they are done. */
typedef struct mr_seek_way {
    size_t first;
    uint32_t count;
} mr_seek_way;

typedef enum mr_seek_end {
    MR_SEEK_ENDED,    /* all threads, or the process */
    MR_SEEK_DEADLOCK, /* some wait, and nobody can go on */
} mr_seek_end;

typedef struct mr_seek_final {
    mr_seek_way way;
    size_t nodes; /* in `final_nodes`: one for each thread (a node of the graph; of one that has
                     ended, that behind its END), and 1 when the process has exited */
    mr_seek_end end;
} mr_seek_final;

/* The thread `thread` is to do its next operation after the way. */
typedef struct mr_seek_question {
    mr_seek_way way;
    uint32_t thread, node; /* of the model */
    uint64_t key, way_key; /* of guide_search.h: what it is, in other models, too; by this way */
} mr_seek_question;

/* Two threads stand before conflicting operations. */
typedef struct mr_seek_race {
    mr_seek_way way;
    uint32_t first, second;           /* threads */
    uint32_t first_node, second_node; /* of the model */
} mr_seek_race;

/* Not a state of its own: memory that `second` (which may be `first`) has freed at `second_node` is what `first` accesses next. A
 * run says whether it was given to somebody again in between. */
typedef mr_seek_race mr_seek_use;

typedef struct mr_seek_limits {
    uint64_t states;     /* 0: none */
    uint64_t bytes;      /* of memory, 0: none */
    uint32_t questions;  /* it stops when it has so many, 0: none */
    bool no_reduction;   /* every thread is tried in every state; for tests */
    const mr_halt *halt; /* asks it to stop; NULL */
} mr_seek_limits;

typedef enum mr_seek_stop {
    MR_SEEK_COMPLETE,
    MR_SEEK_STATES,
    MR_SEEK_BYTES,
    MR_SEEK_QUESTIONS,
    MR_SEEK_STOPPED,
} mr_seek_stop;

/* Zero-initialise; free with mr_seek_free. */
typedef struct mr_seek {
    mr_seek_step *steps;
    mr_seek_final *finals; /* each behaviour once */
    uint32_t *final_nodes;
    mr_seek_question *questions; /* each node and outcome once */
    mr_seek_race *races;         /* each pair of places once */
    mr_seek_use *uses;           /* the same */
    size_t step_count, step_capacity, final_count, final_capacity, final_node_count,
        final_node_capacity, question_count, question_capacity, race_count, race_capacity,
        use_count, use_capacity;
    uint64_t states, transitions;
    uint64_t untried;        /* transitions that were left when it stopped early */
    uint64_t endless;        /* states from which no final state can be reached */
    mr_seek_way endless_way; /* to one of them */
    mr_seek_stop stop;
} mr_seek;

/* MR_ERR_MEMORY. */
mr_status mr_seek_run(mr_seek *search, const mr_graph *graph, const mr_seek_limits *limits,
                      mr_error *error);
void mr_seek_free(mr_seek *search);

#endif
