/*
 * exhaustive: all races of a window by trying every reordering (docs/semantics.md 2 and 3), the
 * yardstick of the tests. Nothing clever: it visits every reachable state once and looks at the
 * next events.
 *
 * A state is how many events each thread has done, what a read of each variable would see, and
 * which threads are diverged (model branch). Which locks are held, how many units a semaphore has
 * and what opaque calls wait for follow from the first, since a thread's events are done in order.
 * It reads only the raw columns of the trace (facts.h) and shares no code with the library.
 *
 * Cost: O(states × threads²); the number of states is exponential in the number of threads, some
 * thousands for 16 events.
 */
#ifndef MR_TESTS_SUPPORT_EXHAUSTIVE_H
#define MR_TESTS_SUPPORT_EXHAUSTIVE_H

#include "facts.h"

enum { MR_EXHAUSTIVE_STATES = 4000000 }; /* the other limits: facts.h */

typedef struct mr_pair {
    uint32_t first, second; /* events, first < second */
} mr_pair;

typedef struct mr_exhaustive_state mr_exhaustive_state;

/* From one state to the next, by one event. */
typedef struct mr_exhaustive_step {
    uint32_t from, to; /* states, from < to */
} mr_exhaustive_step;

/* A race, in one of the states in which both accesses are next. */
typedef struct mr_exhaustive_hit {
    mr_pair race;
    uint32_t state;
} mr_exhaustive_hit;

/* All races of one window. Zero-initialise, free with mr_exhaustive_free. */
typedef struct mr_exhaustive {
    mr_pair *races;        /* in the order of (first, second) */
    uint32_t *race_states; /* for each race, a state in which both accesses are next */
    size_t race_count;
    mr_exhaustive_state *states;
    size_t state_count;
    /* With the option `whole`: all steps, in the order of `from`, and all hits. */
    mr_exhaustive_step *steps;
    size_t step_count;
    mr_exhaustive_hit *hits;
    size_t hit_count;
    uint32_t start, end;
    mr_model model;
} mr_exhaustive;

/* Which reorderings count. */
typedef struct mr_exhaustive_options {
    mr_model model;
    mr_opaque opaque; /* which calls keep their order: zero is what docs/semantics.md 2.5 says */
    /* Only reorderings that keep the trace's order of the critical sections of a lock that exclude
     * each other, and in which a wait comes after the post whose unit it took, the oldest first. */
    bool sync_preserving;
    bool last_writes; /* states with other last writes are other states */
    bool whole;       /* keep what it takes to look at every witness of every race */
} mr_exhaustive_options;

/* Finds the races of [start, end); the events before `start` happen as observed. False: no memory,
 * or the trace is beyond the limits above. */
bool mr_exhaustive_find_with(const mr_trace *trace, const mr_exhaustive_options *options,
                             uint32_t start, uint32_t end, mr_exhaustive *search);
void mr_exhaustive_free(mr_exhaustive *search);

/* The same with no other option than the model. */
bool mr_exhaustive_find(const mr_trace *trace, mr_model model, uint32_t start, uint32_t end,
                        mr_exhaustive *search);

/* The same for the sync-preserving races in the model rf (docs/semantics.md 6). */
bool mr_exhaustive_find_sync_preserving(const mr_trace *trace, uint32_t start, uint32_t end,
                                        mr_exhaustive *search);

bool mr_exhaustive_has(const mr_exhaustive *search, uint32_t first, uint32_t second);

/* A witness of the race number `race`, as short as any; `events` is owned by the caller
 * (mr_witness_free). False: no memory. */
bool mr_exhaustive_witness(const mr_exhaustive *search, size_t race, mr_witness *witness);

/* How many events of the window the thread has done in a state (0 … state_count-1; 0: none). */
uint32_t mr_exhaustive_done(const mr_exhaustive *search, size_t state, uint32_t thread);

/* With the option `last_writes`: the last write of the variable in a state, or MR_NONE. `known` is
 * false when its thread had diverged, so that what it wrote is unknown. */
uint32_t mr_exhaustive_last_write(const mr_exhaustive *search, size_t state, uint32_t variable,
                                  bool *known);

/* A reordering that ends in the state; as mr_exhaustive_witness, for any `first` and `second`. */
bool mr_exhaustive_path(const mr_exhaustive *search, size_t state, uint32_t first, uint32_t second,
                        mr_witness *witness);

/* Do the two events conflict (docs/semantics.md 3)? */
bool mr_exhaustive_conflict(const mr_trace *trace, uint32_t a, uint32_t b);

#endif
