/*
 * stacks: call stacks of a trace, for those who show or write them.
 *
 * A frame is a name of the form
 *
 *   function TAB place [TAB inlined]
 *
 * where place is "file:line:column", or "module+offset" without debug information; either of
 * function and place may be empty, not both. The place of the innermost frame is that of the event,
 * those of the others are of the calls. "inlined": the function's code stands in that of the next
 * frame.
 */
#ifndef MR_TRACE_STACKS_H
#define MR_TRACE_STACKS_H

#include "trace.h"

typedef struct mr_frame {
    const char *function, *place; /* not terminated */
    uint32_t function_length, place_length;
    bool inlined;
} mr_frame;

/* Takes the name of a frame apart. */
mr_frame mr_frame_of(const mr_name *name);

/* Is it code of the program itself: with a line, in a file that is not below /usr? */
bool mr_frame_is_own(const mr_frame *frame);
/* The frame of the program itself that is nearest to the innermost one; the innermost one when no frame is
 * the program's. `stack` is not 0. */
mr_frame mr_stack_own_frame(const mr_trace *trace, uint32_t stack);

/* A location may name two places: "stl_vector.h:1043:34 < bank.cpp:30:7" is a line of a library, and the line
 * of the program that it was reached from. This is where the text of the latter begins; 0 when there is one
 * place. */
size_t mr_location_own_at(const char *text, size_t length);

/* The stack of an event, 0: not known. */
static inline uint32_t mr_trace_stack(const mr_trace *trace, uint32_t event)
{
    return trace->stack ? trace->stack[event] : 0;
}

#endif
