/*
 * contexts: call stacks while a log is read, as the stacks of the trace (trace/stacks.h), and the
 * locations that follow from them.
 *
 * The location of an event is its innermost line, "bank.c:21:5"; where that is in a file below /usr
 * or in a module without debug information, the first line of the program's own that called it is
 * added: "stl_vector.h:1043:34 < bank.cpp:30:7". So each use of a container is a location of its
 * own.
 *
 * Frames of the runtime library, and of what is below the first function of a thread, are left out.
 */
#ifndef MR_RECORD_CONTEXTS_H
#define MR_RECORD_CONTEXTS_H

#include "pairs.h"
#include "symbols/symbols.h"
#include "trace/trace.h"

typedef struct mr_call {
    uint64_t address; /* where the function was called */
    mr_frame_place frame;
    uint64_t number;      /* 1, 2, … in the order of the log */
    uint64_t frame_bytes; /* for the caller: how long the frame is, from the stack pointer on */
    uint32_t frame_kind;  /* for the caller; 0 at first */
    uint32_t stack;       /* of the call; MR_PAIRS_NONE: not asked for so far */
} mr_call;

/* The calls of one thread of the log. */
typedef struct mr_call_stack {
    mr_call *calls;
    size_t count, capacity;
    uint64_t at; /* where the innermost function was last seen (a return address), 0: not yet */
} mr_call_stack;

/* Which stack a code address had last. */
typedef struct mr_recent_stack {
    uint64_t address;
    uint32_t caller, stack;
} mr_recent_stack;

enum { MR_CONTEXTS_RECENT = 256 };

typedef struct mr_contexts {
    mr_symbols *symbols; /* borrowed */
    mr_trace *trace;     /* borrowed; frames, stacks and locations are added to it */
    size_t stack_capacity;
    mr_call_stack *threads; /* by thread of the log */
    size_t thread_count, thread_capacity;
    uint64_t call_count;
    mr_pairs known; /* (stack of the caller, code address) → number in `stack_of` */
    uint32_t *stack_of;
    size_t known_capacity;
    mr_recent_stack recent[MR_CONTEXTS_RECENT]; /* by address; of what is in `known` */
    mr_pairs frames;                            /* (caller, frame) → stack - 1 */
    uint32_t *location;                         /* by stack: number + 1; 0: not asked for so far */
    size_t location_capacity;
    uint8_t *own; /* by frame: is it the program's own? */
    size_t own_capacity;
} mr_contexts;

/* Zero-initialise, with symbols and trace; the trace's names and stacks stay its own. */
void mr_contexts_free(mr_contexts *contexts);

/* Each false: no memory. `address`: where the function was called. */
bool mr_contexts_enter(mr_contexts *contexts, uint32_t thread, uint64_t address,
                       const mr_frame_place *frame);
bool mr_contexts_leave(mr_contexts *contexts, uint32_t thread, uint64_t count);
/* The thread is at the code address, in its innermost function. */
void mr_contexts_reach(mr_contexts *contexts, uint32_t thread, uint64_t address);

/* The calls that the thread is in, or NULL. */
mr_call_stack *mr_contexts_calls(mr_contexts *contexts, uint32_t thread);

/* The stack of the code address (a return address) in the thread, 0 when nothing is known of it.
 * False: no memory. */
bool mr_contexts_stack(mr_contexts *contexts, uint32_t thread, uint64_t address, uint32_t *stack);

/* The location of a stack, a number of the trace. False: no memory. */
bool mr_contexts_location(mr_contexts *contexts, uint32_t stack, uint32_t *location);

/* What is known of code is over: another module may be there. */
void mr_contexts_forget(mr_contexts *contexts);

#endif
