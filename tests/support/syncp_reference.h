/*
 * syncp_reference: sync-preserving races by the closure of each pair, event by event.
 *
 * The closure is the smallest set that contains what comes before the two accesses in their threads
 * (and the forks of these) and, for each event in it, the event before it in its thread, the fork
 * of its thread, the write that it reads from, all events of the thread that it joins; and for each
 * two outermost acquires of one lock, the release of the earlier one. Of an access of an object's
 * variable, and of its free, also of the two themselves, it contains the alloc. A pair races when
 * neither is in the closure, nor the free of the object of one of them that comes after this one in
 * the trace. It reads only the raw columns of the trace (op, thread, operand, members) and shares no
 * code with the library. Not for shared locks, semaphores and calls. O(events) a question.
 */
#ifndef MR_TESTS_SUPPORT_SYNCP_REFERENCE_H
#define MR_TESTS_SUPPORT_SYNCP_REFERENCE_H

#include "trace/trace.h"

typedef struct mr_syncp_reference {
    const mr_trace *trace;
    uint32_t *previous; /* by event: the one before it in its thread, MR_NONE: first */
    uint32_t *source;   /* by event: of a read, its write; of a join, the last event of the thread;
                           MR_NONE: none */
    uint32_t *release;  /* by event: of an outermost acquire; MR_NONE: none */
    uint32_t *fork;     /* by thread, MR_NONE: none */
    uint32_t *alloc, *freed; /* by object, MR_NONE: none */
    bool *outermost;         /* by event: such an acquire? */
    uint32_t *latest;        /* by lock: the latest acquire in the closure, MR_NONE: none */
    bool *included;          /* by event: the last closure */
    uint32_t *stack;
    uint32_t stack_count;
} mr_syncp_reference;

/* False: no memory. */
bool mr_syncp_reference_init(mr_syncp_reference *reference, const mr_trace *trace);
void mr_syncp_reference_free(mr_syncp_reference *reference);

/* Do they race: is neither of the two in the closure of them and of all events before `start`, …? The closure
 * is in `included` then, but for what comes before `start`, which is there too. */
bool mr_syncp_reference_race(mr_syncp_reference *reference, uint32_t first, uint32_t second,
                             uint32_t start);

#endif
