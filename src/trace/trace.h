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
 *   operand     4      number in `variables`, `locks`, `threads`, `calls` or `objects`
 *                      (mr_op_operand_kind); 0 for operations without operand
 *   location    4      number in `locations`
 *   value       4      r w ar aw: index of the value in `values`, 0 when the event has none;
 *                      au: index in `updates`, 0 when it has none; mbegin: index in `reaches`;
 *                      alloc: index in `updates` of address and size, 0 when it has none
 *   link        4      derived, see below
 *   stack       4      call stack, a number in `stacks`, 0 when it is not known; NULL: no event of
 *                      the trace has one (only .mrt files do, docs/recording.md)
 *
 *   memory_order 1     mr_memory_order; NULL: every event of the trace is sc
 *
 * 21 to 26 bytes an event. `link` is
 *   r w ar aw au
 *            the last write of the variable before it in the trace (w, aw or au), MR_NONE: none
 *   acq      its release; MR_NONE: never released; MR_NESTED: an inner acquire of a lock that its
 *            thread holds already (reentrant locks: only the outermost pair counts)
 *   rel      its acquire; MR_NESTED for an inner release
 *   racq     its rrel, and back; as acq and rel, per thread
 *   wait     the post whose unit it takes, the oldest unit first; post: the wait that takes its
 *            unit, MR_NONE: none does
 *   mbegin   its mend, and back; MR_NONE: the call does not return
 *   alloc    the free of its object, and back; MR_NONE: there is none
 *   others   MR_NONE
 */
#ifndef MR_TRACE_TRACE_H
#define MR_TRACE_TRACE_H

#include "base/error.h"
#include "base/memory.h"
#include "ending.h"
#include "memory_order.h"
#include "names.h"
#include "op.h"
#include "spill.h"
#include "value_types.h"

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
    uint64_t event;
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

/* A piece of memory that has a life (docs/semantics.md 1). */
typedef struct mr_object_info {
    uint32_t alloc, free; /* events, or MR_NONE */
    bool has_extent;      /* the alloc says where it is: [address, address + bytes) */
    uint64_t address, bytes;
    /* its variables: object_variables[first_variable … + variable_count), by number */
    uint32_t first_variable, variable_count;
} mr_object_info;

/* A variable belongs to an object. */
typedef struct mr_membership {
    uint32_t variable, object;
} mr_membership;

typedef struct mr_members {
    mr_membership *items; /* in the order in which the file says it, a variable once */
    uint32_t count;
    uint32_t *object; /* by variable, of the first `variable_count` ones: MR_NONE or its object */
    uint32_t variable_count;
    size_t item_capacity, variable_capacity;
} mr_members;

/* The events [first, end). */
typedef struct mr_event_run {
    uint32_t first, end;
} mr_event_run;

typedef struct mr_trace {
    char *path;               /* as given by the user; "-" is standard input */
    uint64_t event_count;     /* at most MR_NESTED, but for the dictionary of a stream */
    uint32_t by_source_count; /* variables with an access that are treated as in rf */
    uint8_t *op;
    uint32_t *thread, *operand, *location, *value, *link;
    uint8_t *memory_order; /* column, or NULL */

    mr_names threads, variables, locks, locations, calls, reach_names, objects;
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
    uint32_t *chain;                 /* one a thread: its chain (chains.h), 0 … chain_count - 1 */
    uint32_t chain_count;
    mr_object_info *object_info; /* one an object */
    uint32_t *object_variables;
    mr_members members;   /* which variable belongs to which object; ask mr_trace_object */
    mr_value_types types; /* of variables; for reports only */
    uint64_t op_counts[MR_OP_COUNT];

    /* The trace is a part (formats/mrt/mrt_part.h): only the events of these runs are there, with what stands for the
     * events before them. Owned; NULL: all events are there. */
    mr_event_run *runs;
    uint32_t run_count;
    uint32_t most_places; /* that access one contended variable; 0: not known, in no part */
    uint64_t fingerprint; /* of a part: of the whole trace (fingerprint.h) */

    struct mr_outlook *outlook; /* owned; NULL: the .mrt file read has none, or nobody asked */

    mr_spill spill; /* the memory of the arrays that are as long as the trace (columns.h) */

    mr_ending ending;  /* of the recording */
    bool replayable;   /* the file has what a replay needs: the command, the positions of events */
    bool lacks_values; /* of accesses (mr_read_options); then variable_info is zero */

    uint64_t dropped_count; /* events and lines dropped by --repair */
    mr_error first_dropped; /* the error of the first of them; status MR_OK when none was dropped */
} mr_trace;

typedef struct mr_read_options {
    bool repair;       /* drop and count invalid events and unreadable lines instead of failing */
    bool keep_partial; /* on MR_ERR_TRACE, hand over the events before the place of the error */
    const struct mr_progress *progress; /* base/progress.h; NULL: nothing is told */
    /* Of the process; columns that take more than two fifths of it are kept in files (spill.h); 0: no limit. */
    uint64_t memory_bytes;
    const char *spill_dir; /* the folder for them; NULL or "": TMPDIR, or /var/tmp */
    bool one_thread;       /* the caller's alone reads: no thread reads ahead of it */
    /* base/halt.h: ends the reading, with mr_halt_fail; its owner has a ceiling. NULL: memory_bytes
     * and the next alone end it (base/ceiling.h), where names have no room. */
    const struct mr_halt *halt;
    uint64_t least_events;   /* an .mrt file may be read as if it ended after so many; 0: all */
    bool with_outlook;       /* a text, too, gets `outlook` when there is a processor for that */
    bool without_values;     /* those of accesses in a text are checked and need not be kept */
    bool check_states;       /* an .mrt file that is read whole: are STATE and FACTS right? */
    double deadline_seconds; /* by mr_seconds, when there is no halt; 0: none */
} mr_read_options;

void mr_trace_free(mr_trace *trace); /* NULL is fine */

/* Passes over all events of a trace call this for each event, because the columns may be in files:
 * at every 65,536th event it looks at the memory of the process (mr_spill_look). */
static inline void mr_trace_pass(const mr_trace *trace, uint32_t event)
{
    if (event % (1u << 16) == 0)
        mr_spill_look(&trace->spill);
}

/* For passes over the events of a trace that may be a part: the first event from `event` on that is there;
 * event_count: none. O(runs). */
static inline uint32_t mr_trace_present(const mr_trace *trace, uint32_t event)
{
    if (!trace->runs)
        return event;
    for (uint32_t i = 0; i < trace->run_count; i++)
        if (event < trace->runs[i].end)
            return event > trace->runs[i].first ? event : trace->runs[i].first;
    return (uint32_t)trace->event_count;
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

/* The object that the variable belongs to, or MR_NONE. */
static inline uint32_t mr_trace_object(const mr_trace *trace, uint32_t variable)
{
    return variable < trace->members.variable_count ? trace->members.object[variable] : MR_NONE;
}

static inline mr_memory_order mr_trace_memory_order(const mr_trace *trace, uint32_t event)
{
    return trace->memory_order ? (mr_memory_order)trace->memory_order[event] : MR_ORDER_SC;
}

/* Is the event an access of a variable of the object that the other one frees? */
static inline bool mr_is_freed_by(const mr_trace *trace, uint32_t access, uint32_t other)
{
    return mr_op_ends_life(trace->op[other]) && mr_op_is_access(trace->op[access]) &&
           mr_trace_object(trace, trace->operand[access]) == trace->operand[other];
}

/* Are two events accesses that conflict, or an access and a free (docs/semantics.md 3)? */
static inline bool mr_events_conflict(const mr_trace *trace, uint32_t one, uint32_t two)
{
    if (trace->thread[one] == trace->thread[two])
        return false;
    if (mr_op_ends_life(trace->op[one]) || mr_op_ends_life(trace->op[two]))
        return mr_is_freed_by(trace, one, two) || mr_is_freed_by(trace, two, one);
    return mr_op_is_access(trace->op[one]) && mr_op_is_access(trace->op[two]) &&
           mr_ops_conflict(trace->op[one], trace->op[two]) &&
           trace->operand[one] == trace->operand[two];
}

/* The variable that a conflicting pair is about: that of the access, when the other one is a free. */
static inline uint32_t mr_pair_variable(const mr_trace *trace, uint32_t one, uint32_t two)
{
    return trace->operand[mr_op_ends_life(trace->op[one]) ? two : one];
}

/* 1-based line of the file on which the event stands. O(log of the number of skipped lines). */
uint64_t mr_trace_line(const mr_trace *trace, uint64_t event);

/* The names that the operand of such an operation is a number in; NULL: it has no operand. */
const mr_names *mr_trace_operand_names(const mr_trace *trace, mr_op op);

/* A value of the variable as people read it: by the type of the variable (mr_typed_value_text) when it
 * has one, else as mr_value_text. */
const char *mr_trace_value_text(const mr_trace *trace, uint32_t variable, int64_t value,
                                char text[MR_TYPED_VALUE_BYTES]);

/* Writes "op(operand)" of the event as in the file, e.g. "w(x=3)", to `buffer`; always terminated.
 * With `for_people`, names are replaced by their #@ texts, and values are those of mr_trace_value_text. Returns the length it needed. */
size_t mr_trace_print_op(const mr_trace *trace, uint32_t event, bool for_people, char *buffer,
                         size_t size_bytes);

#endif
