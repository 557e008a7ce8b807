/*
 * syncp_pass: one pass over a trace that builds its ideals (syncp_ideal.h) and shows each access of
 * a contended variable on the way, when the ideals are those of its thread before the access. A free
 * is an access of the variables of its object here.
 */
#ifndef MR_ORDER_SYNCP_PASS_H
#define MR_ORDER_SYNCP_PASS_H

#include "base/halt.h"
#include "base/progress.h"
#include "order/wanted.h"
#include "order/whole.h"
#include "syncp_ideal.h"
#include "trace/outlook.h"

typedef struct mr_syncp_pass {
    const mr_trace *trace;
    const mr_outlook *outlook;     /* NULL: is found out */
    mr_opaque opaque;              /* what calls that were not recorded mean, and … */
    const mr_barrier_edges *edges; /* … their edges; NULL: are found out */
    const mr_progress *progress;   /* NULL: nobody wants to know */
    const mr_halt *halt;           /* NULL: nobody stops the pass (MR_ERR_HALTED) */
    uint64_t *seen;                /* gets how many events were passed; NULL: nobody asks */
    /* NULL: none. An access of the variable, or its free, which comes once for each variable of its
     * object. The row of the event's thread is stored. False: stop, no memory. */
    bool (*access)(void *context, uint32_t event, uint32_t variable);
    void *context;
    const mr_wanted *wanted; /* only accesses at its locations are shown, and frees; NULL: all */
} mr_syncp_pass;

/* The thread of the event, as syncp_ideal.h says. */
static inline uint32_t mr_syncp_thread_of(const mr_trace *trace, uint32_t event)
{
    return trace->chain[trace->thread[event]];
}

/* `ideals` has just been initialised. MR_ERR_MEMORY; MR_ERR_HALTED; MR_ERR_UNSUPPORTED for a trace of more than
 * 2^31 - 2 events (an entry could overflow). O(events + rows × threads) and the accesses. */
mr_status mr_syncp_run(const mr_syncp_pass *pass, mr_syncp_ideals *ideals, mr_error *error);

#endif
