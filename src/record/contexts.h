/*
 * contexts: the call stack of each thread while a pass reads the log. Stacks become stacks of the
 * trace (trace/stacks.h), and each stack has a location.
 *
 * The location of an event is the line of its innermost frame, "bank.c:21:5". When this line is in
 * a file below /usr or in a module without debug information, the location also names the nearest
 * calling line of the program itself: "stl_vector.h:1043:34 < bank.cpp:30:7". So each use of a
 * container has a location of its own.
 *
 * Two kinds of frames are left out: frames of the runtime library, and frames of the C library that
 * call the first function of a thread.
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
    uint64_t frame_bytes; /* set by locals.h: size of the frame, from the stack pointer on */
    uint32_t frame_kind;  /* set by locals.h; 0: not known yet */
    uint32_t stack;       /* of the call; MR_PAIRS_NONE: not computed yet */
} mr_call;

/* The calls of one thread of the log. */
typedef struct mr_call_stack {
    mr_call *calls;
    size_t count, capacity;
    uint64_t at; /* the last return address seen in the innermost function; 0: none yet */
} mr_call_stack;

/* The last stack that was computed for a code address. */
typedef struct mr_recent_stack {
    uint64_t address;
    uint32_t caller, stack;
} mr_recent_stack;

enum { MR_CONTEXTS_RECENT = 256 };

typedef struct mr_contexts {
    mr_symbols *symbols; /* borrowed */
    mr_trace *trace;     /* borrowed; frames, stacks and locations are added to it */
    const char *strip;   /* borrowed; a place loses its text up to the end of this; NULL: nothing */
    size_t stack_capacity;
    mr_call_stack *threads; /* by thread of the log */
    size_t thread_count, thread_capacity;
    uint64_t call_count;
    mr_pairs known; /* (stack of the caller, code address) → number in `stack_of` */
    uint32_t *stack_of;
    size_t known_capacity;
    mr_recent_stack recent[MR_CONTEXTS_RECENT]; /* by hash of the address; a cache of `known` */
    mr_pairs frames;                            /* (caller, frame) → stack - 1 */
    uint32_t *location;                         /* by stack: number + 1; 0: not computed yet */
    size_t location_capacity;
    uint8_t *own; /* by frame: is it code of the program itself? */
    size_t own_capacity;
} mr_contexts;

/* Zero-initialise, then set `symbols` and `trace`. The names and stacks added stay with the trace.
 */
void mr_contexts_free(mr_contexts *contexts);

/* The thread enters a function, or leaves `count` functions. `address` is where the function was
 * called. Each returns false when there is no memory. */
bool mr_contexts_enter(mr_contexts *contexts, uint32_t thread, uint64_t address,
                       const mr_frame_place *frame);
bool mr_contexts_leave(mr_contexts *contexts, uint32_t thread, uint64_t count);
/* Notes that the innermost function of the thread is at the code address. */
void mr_contexts_reach(mr_contexts *contexts, uint32_t thread, uint64_t address);

/* The open calls of the thread, or NULL when it has made none. */
mr_call_stack *mr_contexts_calls(mr_contexts *contexts, uint32_t thread);

/* The stack of the calls that are open in the thread; 0: not known. False: no memory. */
bool mr_contexts_caller(mr_contexts *contexts, uint32_t thread, uint32_t *stack);
/* The stack of a code address (a return address) that these calls have reached. False: no memory. */
bool mr_contexts_above(mr_contexts *contexts, uint32_t caller, uint64_t address, uint32_t *stack);

/* The location of a stack, a number of the trace. False: no memory. */
bool mr_contexts_location(mr_contexts *contexts, uint32_t stack, uint32_t *location);

/* Forgets all answers about code addresses, because another module may be mapped there now. */
void mr_contexts_forget(mr_contexts *contexts);

#endif
