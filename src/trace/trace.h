/*
 * trace: the event store. One recorded execution as columns, with its names and derived indexes.
 *
 * An event is a number 0 … event_count-1 in the order of the file ("event number" in reports); row
 * i of every column belongs to event i. A trace is read-only after mr_trace_read, so many analyses
 * may share it. Columns that are too large for memory are mapped from files (spill.h).
 *
 *   column      bytes  meaning
 *   op          1      mr_op
 *   thread      4      number in `threads`
 *   operand     4      number in `variables`, `locks`, `threads` or `calls` (mr_op_operand_kind);
 *                      0 for operations without operand
 *   location    4      number in `locations`
 *   value       4      r w ar aw: index of the value in `values`, 0 when the event has none;
 *                      au: index in `updates`, 0 when it has none; mbegin: index in `reaches`
 *   link        4      derived, see below
 *   stack       4      call stack, a number in `stacks`, 0 when it is not known; NULL: no event of
 *                      the trace has one (only .mrt files do, docs/recording.md)
 *
 * 21 or 25 bytes an event. `link` is
 *   r w ar aw au
 *            the last write of the variable before it in the trace (w, aw or au), MR_NONE: none
 *   acq      its release; MR_NONE: never released; MR_NESTED: an inner acquire of a lock that its
 *            thread holds already (reentrant locks: only the outermost pair counts)
 *   rel      its acquire; MR_NESTED for an inner release
 *   racq     its rrel, and back; as acq and rel, per thread
 *   wait     the post whose unit it takes, the oldest unit first; post: the wait that takes its
 *            unit, MR_NONE: none does
 *   mbegin   its mend, and back; MR_NONE: the call does not return
 *   others   MR_NONE
 */
#ifndef MR_TRACE_TRACE_H
#define MR_TRACE_TRACE_H

#include "base/error.h"
#include "base/memory.h"
#include "ending.h"
#include "names.h"
#include "op.h"
#include "spill.h"

#define MR_NONE   UINT32_MAX
#define MR_NESTED (UINT32_MAX - 1)

/* A call stack, from its innermost frame: that frame, and the stack of who called it. */
typedef struct mr_stack {
    uint32_t caller; /* a stack with a smaller number; 0: nobody */
    uint32_t frame;  /* number in `frames` */
} mr_stack;

typedef struct mr_update {
    uint32_t read_value, written_value; /* indexes in `values` */
} mr_update;

/* The names that an mbegin lists, as written: numbers in `reach_names`, [first, first + count). */
typedef struct mr_reach {
    uint32_t first, count;
} mr_reach;

/* Where the file's line number runs ahead of the event number: from event `event` on,
 * line = event + offset. */
typedef struct mr_line_step {
    uint32_t event;
    uint64_t offset;
} mr_line_step;

typedef struct mr_variable_info {
    /* index in `values`; 0: unknown, equals nothing (docs/semantics.md 2.6) */
    uint32_t initial_value;
    bool by_source; /* reads-from even in the value model: an access without a value, or a
                       read whose value differs from what the last write wrote */
} mr_variable_info;

typedef struct mr_thread_info {
    uint32_t fork;  /* event that forks it, or MR_NONE */
    uint32_t first; /* its first and last event, MR_NONE when it has none */
    uint32_t last;
    uint32_t event_count;
} mr_thread_info;

typedef struct mr_trace {
    char *path; /* as given by the user; "-" is standard input */
    uint32_t event_count;
    uint8_t *op;
    uint32_t *thread, *operand, *location, *value, *link;

    mr_names threads, variables, locks, locations, calls, reach_names;
    int64_t *values; /* distinct values, values[0] unused */
    uint32_t value_count;
    mr_update *updates; /* updates[0] unused */
    uint32_t update_count;
    mr_reach *reaches; /* reaches[0] unused */
    uint32_t reach_count;
    mr_u32s reach_items; /* numbers in reach_names */
    uint32_t *stack;     /* column, or NULL */
    mr_names frames;     /* "function TAB place", see stacks.h */
    mr_stack *stacks;    /* stacks[0] unused */
    uint32_t stack_count;
    mr_line_step *line_steps;
    size_t line_step_count;

    mr_variable_info *variable_info; /* one a variable */
    mr_thread_info *thread_info;     /* one a thread */
    uint64_t op_counts[MR_OP_COUNT];
    uint32_t by_source_count; /* variables with an access that are treated as in rf */

    mr_spill spill; /* the memory of the arrays that are as long as the trace (columns.h) */

    mr_ending ending; /* of the recording */

    uint64_t dropped_count; /* events and lines dropped by --repair */
    mr_error first_dropped; /* the error of the first of them; status MR_OK when none was dropped */
} mr_trace;

typedef struct mr_read_options {
    bool repair;       /* drop and count invalid events and unreadable lines instead of failing */
    bool keep_partial; /* on MR_ERR_TRACE, hand over the events before the place of the error */
    const struct mr_progress *progress; /* base/progress.h; NULL: nothing is told */
    uint64_t memory_bytes; /* of the process; columns that take more than half of it are kept in
                              files (spill.h); 0: no limit */
    const char *spill_dir; /* the folder for them; NULL or "": TMPDIR, or /var/tmp */
} mr_read_options;

void mr_trace_free(mr_trace *trace); /* NULL is fine */

/* Passes over all events of a trace call this for each event, because the columns may be in files:
 * at every 65,536th event it looks at the memory of the process (mr_spill_look). */
static inline void mr_trace_pass(const mr_trace *trace, uint32_t event)
{
    if (event % (1u << 16) == 0)
        mr_spill_look(&trace->spill);
}

/* The value that a read (r, ar, au) saw, that a write (w, aw, au) wrote: an index in `values`, 0:
 * unknown. */
static inline uint32_t mr_trace_read_value(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    return mr_op_updates(trace->op[event]) && value ? trace->updates[value].read_value : value;
}

static inline uint32_t mr_trace_written_value(const mr_trace *trace, uint32_t event)
{
    uint32_t value = trace->value[event];
    return mr_op_updates(trace->op[event]) && value ? trace->updates[value].written_value : value;
}

/* Are two events accesses that conflict (docs/semantics.md 3)? */
static inline bool mr_events_conflict(const mr_trace *trace, uint32_t one, uint32_t two)
{
    return mr_op_is_access(trace->op[one]) && mr_op_is_access(trace->op[two]) &&
           mr_ops_conflict(trace->op[one], trace->op[two]) &&
           trace->operand[one] == trace->operand[two] && trace->thread[one] != trace->thread[two];
}

/* 1-based line of the file on which the event stands. O(log of the number of skipped lines). */
uint64_t mr_trace_line(const mr_trace *trace, uint32_t event);

/* The names that the operand of such an operation is a number in; NULL: it has no operand. */
const mr_names *mr_trace_operand_names(const mr_trace *trace, mr_op op);

/* Writes "op(operand)" of the event as in the file, e.g. "w(x=3)", to `buffer`; always terminated.
 * With `for_people`, names are replaced by their #@ texts. Returns the length it needed. */
size_t mr_trace_print_op(const mr_trace *trace, uint32_t event, bool for_people, char *buffer,
                         size_t size_bytes);

#endif
