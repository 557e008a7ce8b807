/*
 * big_trace: realistic traces of any length, as text in the STD format, made while they are
 * written: memory does not depend on their length.
 *
 * A made-up program (big_program.h) really runs, one event at a time, on a memory and on locks, so
 * the trace is valid and sequentially consistent. What it is like:
 *
 *   threads     half of them work from the start to the end; the others are pools of up to four,
 *               forked and later joined by a worker, which holds a lock meanwhile (so there are
 *               critical sections as long as a tenth of the trace or more, as in real ones). The
 *               scheduler lets a thread run for a geometrically distributed number of events.
 *   own data    nearly all accesses: loops over the fields of the thread's objects, and over its
 *               arrays. Objects and arrays are replaced by new ones now and then, at a rate of
 *               about one new variable every 60 events; the old ones are never touched again.
 *   shared      configuration tables, written before the first fork and then read; variables
 *               guarded by locks, with some nested sections and some own work inside; queues, by
 *               which objects wander from thread to thread (no race, and no lock of their own).
 *   races       a few counters and flags that no lock guards, at a few locations: the only races.
 *
 * The same shape gives the same trace, always. About 25 bytes an event, as in real traces.
 */
#ifndef MR_BENCH_BIG_TRACE_H
#define MR_BENCH_BIG_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_big_shape {
    uint64_t events;  /* exactly; at least mr_big_least_events */
    uint32_t threads; /* in the whole trace, with the main thread; 1 … MR_BIG_MOST_THREADS. A trace
                         of few events for that many threads may do without some pools. */
    uint32_t locks;   /* 1 … MR_BIG_MOST_LOCKS, and one more for each pool */
    uint32_t run;     /* mean events of a thread before another is scheduled; at least 1 */
    uint32_t racy;    /* visits of counters without a lock, a million pieces of work; 0: no races */
    bool values;      /* accesses have values */
    bool queues; /* objects wander by queues. What keeps them from races is that a queue is read
                    before it is written; a read that may see another write of the same value
                    may undo that, so without queues no model has a race but the racy ones */
    uint64_t seed;
} mr_big_shape;

enum { MR_BIG_MOST_THREADS = 1000, MR_BIG_MOST_LOCKS = 100000 };

/* 16 threads, 400 locks, runs of 30, some races, values, queues. */
mr_big_shape mr_big_shape_default(void);

/* What a trace needs to start and end all threads and fill its tables a little. */
uint64_t mr_big_least_events(const mr_big_shape *shape);

/* Takes the next bytes of the trace. False: it could not; nothing more is wanted. */
typedef bool mr_big_sink(void *context, const char *bytes, size_t count);

/* Writes the trace. False: no memory, or the sink said so. The shape must be within its limits. */
bool mr_big_trace_write(const mr_big_shape *shape, mr_big_sink *sink, void *context);

#endif
