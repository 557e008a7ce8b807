/*
 * cp_walk: goes through the events of a trace whose CP graph is solved, and tells what is
 * CP-before each.
 *
 * After a step with event b of thread t, *b's clock* is mr_cp_walk_known(t), and *local time* of b
 * is what local[t] was before the step, both asked before it is left. a is CP-before b exactly when
 * they are of one thread, or local time of a <= entry thread(a) of the clock of b. Clocks of a
 * thread only grow.
 */
#ifndef MR_ORDER_CP_WALK_H
#define MR_ORDER_CP_WALK_H

#include "cp_graph.h"

typedef struct mr_cp_walk {
    mr_cp_graph *graph; /* borrowed */
    uint32_t *local;    /* by thread: local time of its next event */
    uint32_t *segment;  /* by thread: the segment of its last event, MR_NONE: none */
    mr_clock **hard;    /* K, by thread: what is TO-before its last event */
    mr_clock **known;   /* by thread: P and K together, unless `stale` */
    bool *stale;
    mr_clock **source_hard; /* by source so far: its K */
    size_t source_count, next_edge;
    uint32_t segment_count; /* that have begun */
} mr_cp_walk;

/* False: no memory (mr_cp_walk_free is still fine), here and below. */
bool mr_cp_walk_init(mr_cp_walk *walk, mr_cp_graph *graph);
void mr_cp_walk_free(mr_cp_walk *walk);

/* O(1), but O(threads) at forks, joins and other hard edges. Events come in their order. What an
 * atomic read follows counts for the events after it, so each event is left after it was asked
 * about. */
bool mr_cp_walk_step(mr_cp_walk *walk, uint32_t event);
bool mr_cp_walk_leave(mr_cp_walk *walk, uint32_t event);

/* On loan until the next step. O(threads) for the first event of a segment. */
bool mr_cp_walk_known(mr_cp_walk *walk, uint32_t thread, const mr_clock **known);

#endif
