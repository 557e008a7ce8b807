/*
 * whole: what CP and SyncP have to know of a trace in memory before they go through its events:
 * from which events an edge leads to another thread, apart from locks, forks and joins (edges.h
 * lists these edges), and which single locks stand for a lock that is also held shared.
 *
 * Two sections of a lock exclude each other unless both are shared. To have that in terms of
 * mutexes, a lock becomes several *single* locks: one for its exclusive sections, with the number
 * of the lock, and one for each *reader*, a thread that has shared sections of it. A shared section
 * holds the single lock of its reader; an exclusive one holds the first and those of all readers
 * but its own thread. So two sections of different threads have a single lock in common exactly
 * when they exclude each other, and the sections of a single lock never overlap.
 */
#ifndef MR_ORDER_WHOLE_H
#define MR_ORDER_WHOLE_H

#include "base/map.h"
#include "opaque/barrier_pairs.h"

typedef struct mr_single_lock {
    uint32_t thread; /* the reader */
    uint32_t next;   /* number of the next reader of the lock, MR_NONE: last */
} mr_single_lock;

typedef struct mr_whole {
    const mr_trace *trace;         /* borrowed */
    const mr_barrier_edges *edges; /* borrowed, or `own` */
    mr_barrier_edges own;
    uint8_t *marks; /* a bit an event: does one of another thread follow it? */
    uint32_t single_count;
    uint32_t *first_reader;  /* by lock, MR_NONE: none */
    mr_single_lock *readers; /* of single lock l: readers[l - locks of the trace] */
    size_t reader_count, reader_capacity;
    mr_map reader_numbers; /* (lock, thread) → single lock */
} mr_whole;

/* `edges` may be NULL: they are then found, as `opaque` says. `with_reads`: are writes followed by
 * all that read from them (SyncP), or only atomic writes by atomic reads? O(events). MR_ERR_MEMORY.
 * Both must outlive it. mr_whole_free is fine in either case. */
mr_status mr_whole_init(mr_whole *whole, const mr_trace *trace, const mr_barrier_edges *edges,
                        mr_opaque opaque, bool with_reads, mr_error *error);
void mr_whole_free(mr_whole *whole);

static inline bool mr_whole_is_followed(const mr_whole *whole, uint32_t event)
{
    return whole->marks[event / 8] >> event % 8 & 1;
}

/* The single locks of the acquire or release: the first, or MR_NONE after the last. */
uint32_t mr_whole_first_lock(const mr_whole *whole, uint32_t event);
uint32_t mr_whole_next_lock(const mr_whole *whole, uint32_t event, uint32_t lock);

/* The post that the event waits for, if it is by another thread; else MR_NONE. */
static inline uint32_t mr_whole_post(const mr_whole *whole, uint32_t event)
{
    const mr_trace *trace = whole->trace;
    uint32_t post = mr_op_takes(trace->op[event]) ? trace->link[event] : MR_NONE;
    return post != MR_NONE && trace->thread[post] != trace->thread[event] ? post : MR_NONE;
}

/* The atomic write of another thread that the event, an atomic read, follows; else MR_NONE. */
static inline uint32_t mr_whole_atomic_source(const mr_whole *whole, uint32_t event)
{
    const mr_trace *trace = whole->trace;
    uint8_t op = trace->op[event];
    if (!mr_op_is_atomic(op) || !mr_op_reads(op) || trace->link[event] == MR_NONE)
        return MR_NONE;
    uint32_t write = trace->link[event];
    return mr_op_is_atomic(trace->op[write]) && trace->thread[write] != trace->thread[event]
               ? write
               : MR_NONE;
}

#endif
