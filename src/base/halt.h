/*
 * halt: asks a run to end early, with the results that it has by then.
 *
 * Any thread or a signal handler may ask, and so does a deadline that was set before the run. The
 * run looks whether it was asked between one question and the next.
 */
#ifndef MR_BASE_HALT_H
#define MR_BASE_HALT_H

#include "error.h"
#include "seconds.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum mr_halt_reason {
    MR_HALT_NONE,
    MR_HALT_SIGNAL, /* somebody asked for it */
    MR_HALT_TIME,   /* the time for the run is used up */
    MR_HALT_MEMORY, /* memory.limit_mb is used up (ceiling.h), or a part of the run had no room and
                       the rest was done */
} mr_halt_reason;

/* Zero-initialise. */
typedef struct mr_halt {
    atomic_int reason;
    double deadline_seconds; /* by mr_seconds; 0: none. To be set before the run. */
} mr_halt;

/* The first reason stays. Safe in a signal handler. */
static inline void mr_halt_ask(mr_halt *halt, mr_halt_reason reason)
{
    int before = MR_HALT_NONE;
    atomic_compare_exchange_strong(&halt->reason, &before, reason);
}

/* `halt` may be NULL. Costs a look at the clock when there is a deadline. */
static inline mr_halt_reason mr_halt_asked(const mr_halt *halt)
{
    if (!halt)
        return MR_HALT_NONE;
    atomic_int *reason = &((mr_halt *)halt)->reason;
    int answer = atomic_load_explicit(reason, memory_order_relaxed);
    if (answer == MR_HALT_NONE && halt->deadline_seconds != 0 &&
        mr_seconds() >= halt->deadline_seconds) {
        mr_halt_ask((mr_halt *)halt, MR_HALT_TIME);
        answer = atomic_load_explicit(reason, memory_order_relaxed);
    }
    return (mr_halt_reason)answer;
}

/* Did work end with this status because the run was asked to end? A part of a run may then be refused its memory. */
static inline bool mr_halt_explains(const mr_halt *halt, mr_status status)
{
    return (status == MR_ERR_MEMORY || status == MR_ERR_HALTED) &&
           mr_halt_asked(halt) != MR_HALT_NONE;
}

/* "signal", "time_limit", "memory.limit_mb"; MR_HALT_NONE: "failure". */
const char *mr_halt_reason_name(mr_halt_reason reason);

/* The error of work that gives up because it was asked to: "… while WHAT". MR_ERR_MEMORY when the
 * reason is memory, else MR_ERR_HALTED. `place` may be NULL. */
mr_status mr_halt_fail(const mr_halt *halt, const char *place, const char *what, mr_error *error);

#endif
