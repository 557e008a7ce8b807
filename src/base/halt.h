/*
 * halt: a word to a run under way that it is to come to its end, with what it has by then.
 *
 * Set once, by any thread or a signal handler; the run asks between one question and the next.
 */
#ifndef MR_BASE_HALT_H
#define MR_BASE_HALT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum mr_halt_reason {
    MR_HALT_NONE,
    MR_HALT_SIGNAL, /* somebody asked for it */
    MR_HALT_TIME,   /* the time for the run is used up */
} mr_halt_reason;

/* Zero-initialise. */
typedef struct mr_halt {
    atomic_int reason;
} mr_halt;

/* The first reason stays. Safe in a signal handler. */
static inline void mr_halt_ask(mr_halt *halt, mr_halt_reason reason)
{
    int none = MR_HALT_NONE;
    atomic_compare_exchange_strong(&halt->reason, &none, reason);
}

/* `halt` may be NULL. */
static inline mr_halt_reason mr_halt_asked(const mr_halt *halt)
{
    return halt ? (mr_halt_reason)atomic_load_explicit(&((mr_halt *)halt)->reason,
                                                       memory_order_relaxed)
                : MR_HALT_NONE;
}

#endif
