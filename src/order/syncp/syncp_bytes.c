/* How much memory the search for sync-preserving races will take. Steps, rows and classes, of chains
 * of threads, are counted as syncp_ideal.h and syncp_access.h make them, without the effect of the
 * closure. */
#include "base/memory.h"
#include "syncp.h"
#include "syncp_pass.h"

#include <stdlib.h>

/* Bytes, measured on generated and recorded traces of 4 to 15,000 threads: for a step with its row,
 * and more for each thread, up to so many threads; for a class of accesses during the search; for a variable. */
enum { STEP_BYTES = 32, STEP_THREAD_BYTES = 2, STEP_THREADS = 128 };
enum { CLASS_BYTES = 100, VARIABLE_BYTES = 56 };

/* For an entry that is unpacked. */
enum { ENTRY_BYTES = 4 };

/* With more threads, what they know of each other is not kept: each read counts as news. */
enum { THREADS_MOST = 2048 };

/* The last access of a variable. */
typedef struct access {
    uint32_t step, location; /* of its thread, 1 …; 0: none so far */
    uint32_t thread;         /* number + 1 */
    bool is_write;
    /* By the first pass: several threads access the variable, and it is written. */
    bool is_shared, is_written;
} access;

typedef struct counter {
    const mr_trace *trace;
    access *last;   /* by variable */
    uint32_t *seen; /* [t * threads + u]: t knows the events of u before this one; NULL: nobody */
    uint32_t *step; /* by thread */
    uint64_t steps, classes;
} counter;

static void end_step(counter *c, uint32_t thread)
{
    c->step[thread]++;
    c->steps++;
}

/* A read of what another thread wrote, when it is news, ends a step in both threads. */
static void count_source(counter *c, uint32_t event)
{
    const mr_trace *trace = c->trace;
    uint32_t write = trace->link[event], thread = mr_syncp_thread_of(trace, event);
    if (write >= MR_NESTED || mr_syncp_thread_of(trace, write) == thread)
        return;
    uint32_t *seen =
        c->seen ? &c->seen[(size_t)thread * trace->chain_count + mr_syncp_thread_of(trace, write)]
                : NULL;
    if (seen && *seen > write)
        return;
    if (seen)
        *seen = write + 1;
    end_step(c, thread);
    end_step(c, mr_syncp_thread_of(trace, write));
}

/* The accesses of a variable by a thread at one place in one step are one class. */
static void count_access(counter *c, uint32_t event)
{
    const mr_trace *trace = c->trace;
    uint32_t thread = mr_syncp_thread_of(trace, event);
    bool is_write = mr_op_writes(trace->op[event]);
    if (mr_op_reads(trace->op[event]))
        count_source(c, event);
    uint32_t step = c->step[thread], location = trace->location[event];
    access *last = &c->last[trace->operand[event]];
    if (!last->is_shared || !last->is_written)
        return;
    c->classes += last->step != step || last->thread != thread + 1 || last->location != location ||
                  last->is_write != is_write;
    last->step = step;
    last->thread = thread + 1;
    last->location = location;
    last->is_write = is_write;
}

/* Which variables are contended? */
static void find_contended(counter *c)
{
    const mr_trace *trace = c->trace;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (!mr_op_is_access(trace->op[event]))
            continue;
        access *last = &c->last[trace->operand[event]];
        last->is_shared |= last->thread && last->thread != mr_syncp_thread_of(trace, event) + 1;
        last->is_written |= mr_op_writes(trace->op[event]);
        last->thread = mr_syncp_thread_of(trace, event) + 1;
    }
}

static void count(counter *c)
{
    const mr_trace *trace = c->trace;
    find_contended(c);
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_trace_pass(trace, event);
        if (mr_op_is_access(trace->op[event]))
            count_access(c, event);
        else if (trace->link[event] != MR_NESTED)
            end_step(c, mr_syncp_thread_of(trace, event));
    }
}

bool mr_syncp_bytes(const mr_trace *trace, uint64_t *bytes)
{
    uint64_t threads = trace->chain_count;
    counter c = {.trace = trace};
    c.last = mr_calloc(trace->variables.count, sizeof *c.last);
    c.step = mr_calloc(threads, sizeof *c.step);
    bool keeps = threads <= THREADS_MOST;
    c.seen = keeps ? mr_calloc(threads * threads, sizeof *c.seen) : NULL;
    bool complete = c.last && c.step && (c.seen || !keeps);
    for (uint32_t thread = 0; complete && thread < threads; thread++)
        c.step[thread] = 1;
    if (complete)
        count(&c);
    uint64_t in_row = threads < STEP_THREADS ? threads : STEP_THREADS;
    uint64_t unpacked = threads * threads;
    if (unpacked > MR_SYNCP_MOST_UNPACKED)
        unpacked = MR_SYNCP_MOST_UNPACKED;
    *bytes = c.steps * (STEP_BYTES + STEP_THREAD_BYTES * in_row) + unpacked * ENTRY_BYTES +
             c.classes * CLASS_BYTES + (uint64_t)trace->variables.count * VARIABLE_BYTES;
    free(c.last);
    free(c.step);
    free(c.seen);
    return complete;
}
