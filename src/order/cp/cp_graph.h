/*
 * cp_graph: a trace as CP needs it: segments of threads, HB edges between them, and the critical
 * sections that begin with them; and the fixpoint on it. See cp.h for what a segment is and for the
 * rules.
 *
 *   mr_cp_graph_init → mr_cp_graph_build → mr_cp_graph_solve → cp_walk.h → mr_cp_graph_free
 *
 * Segments and sections are numbered in the order in which they begin, which every HB edge follows.
 */
#ifndef MR_ORDER_CP_GRAPH_H
#define MR_ORDER_CP_GRAPH_H

#include "base/halt.h"
#include "base/map.h"
#include "base/progress.h"
#include "order/clock.h"
#include "order/whole.h"
#include "trace/outlook.h"

/* Events between two signs of life. */
enum { MR_CP_PROGRESS_EVENTS = 1 << 16, MR_CP_LOOK_EVENTS = 1 << 8 };

typedef struct mr_cp_segment {
    mr_clock *before; /* P */
    uint32_t thread;
    uint32_t previous, next; /* of the thread; MR_NONE: none */
    uint32_t from;           /* the segment of another thread with the release, fork or other event
                                that its begin comes after; MR_NONE: none, or an HB edge that others
                                imply */
    uint32_t first_out;      /* the segments with `from` this one, as a list */
    uint32_t next_out;       /* in the list of `from` */
    uint32_t section;        /* that begins with it; MR_NONE: its first event is no acquire */
    uint32_t last_ended;     /* the sections that end in it, as a list */
} mr_cp_segment;

typedef struct mr_cp_section {
    mr_clock *happened; /* H of the release, once there is one */
    uint32_t lock;      /* a single lock (whole.h) */
    uint32_t thread;
    uint32_t segment, end;       /* where it begins; where it is released, MR_NONE: never */
    uint32_t acquired, released; /* local times */
    uint32_t previous, next;     /* of the lock; MR_NONE: none */
    uint32_t later_other;        /* of the lock, the first one after it by another thread */
    uint32_t passed;     /* 1 + the last section of the lock that it is known to conflict with, or
                            whose acquire is known to be ≺-before its end; 0: none */
    uint32_t next_ended; /* in the list of the segment where it ends */
} mr_cp_section;

/* An event with a hard edge from it to events of other threads (edges.h). */
typedef struct mr_cp_source {
    mr_time time;
    uint32_t segment;
} mr_cp_source;

typedef struct mr_cp_graph {
    const mr_trace *trace;     /* borrowed */
    const mr_whole *whole;     /* borrowed */
    const mr_outlook *outlook; /* borrowed */
    mr_clock_pool pool;
    mr_cp_segment *segments;
    size_t segment_count, segment_capacity;
    mr_cp_section *sections;
    size_t section_count, section_capacity;
    mr_cp_source *sources; /* in the order of their events */
    size_t source_count, source_capacity;
    mr_map source_numbers;    /* event → number in `sources` */
    uint32_t *first_of_lock;  /* by single lock: its first section, MR_NONE: none */
    uint32_t *last_of_thread; /* by thread: its last segment, MR_NONE: none */
    uint64_t visits;          /* of segments by the fixpoint; each is visited at least once */
} mr_cp_graph;

/* False: no memory (mr_cp_graph_free is still fine), here and below. */
bool mr_cp_graph_init(mr_cp_graph *graph, const mr_whole *whole, const mr_outlook *outlook);
void mr_cp_graph_free(mr_cp_graph *graph);
/* O(events), and O(threads) for each acquire, fork and join that brings news. Tells `progress`
 * (NULL is fine) of the first of two passes over the events. False, here and below: no memory, or
 * the run was asked to end (`halt`; NULL: nobody asks). */
bool mr_cp_graph_build(mr_cp_graph *graph, const mr_progress *progress, const mr_halt *halt);
/* Computes P of all segments. */
bool mr_cp_graph_solve(mr_cp_graph *graph, const mr_halt *halt);

/* What is to be done for each edge into an event; `from` is where it comes from. */
typedef bool mr_cp_edge_step(void *context, uint32_t event, uint32_t from);

/* The hard edges that end at the event itself, each once, of events in their order; `*next_edge` is
 * 0 at first. False: a step was. */
bool mr_cp_edges_into(const mr_cp_graph *graph, size_t *next_edge, uint32_t event,
                      mr_cp_edge_step *step, void *context);

/* Is the event an acquire or a release that synchronises: outermost, of a lock of several threads?
 */
static inline bool mr_cp_synchronises(const mr_cp_graph *graph, uint32_t event)
{
    const mr_trace *trace = graph->trace;
    return trace->link[event] != MR_NESTED && graph->outlook->lock_shared[trace->operand[event]];
}

#endif
