/*
 * validity: is a sequence of events a trace (docs/semantics.md 1, "A trace is valid when")? A state
 * machine that is fed one event after the other.
 *
 *   mr_validity_init → mr_validity_step* → mr_validity_free
 *
 * Rules, each judged when the event arrives:
 *   - acq: no other thread holds the lock, exclusively or shared; racq: no other thread holds it
 *     exclusively. A thread may hold a lock more than once, and both ways at the same time (rule 2
 * of docs/semantics.md 2 speaks of other threads only).
 *   - rel, rrel: the thread holds the lock in that way.
 *   - fork: not of itself, not twice, not of a thread that has events. join: not of itself.
 *   - no event of a thread after its end or after a join of it; begin is the first event.
 *   - wait: the semaphore is above zero.
 *   - mend: closes the innermost open mbegin of the thread, which has the same identifier.
 * Open locks, open calls and threads without end are valid; so is a join of a thread without
 * events.
 *
 * A refused event leaves the state as it was, so the sequence of the accepted events is always
 * valid. O(1) expected a step; memory O(threads + locks + pairs of a lock and a thread that shared
 * it + calls).
 */
#ifndef MR_TRACE_VALIDITY_H
#define MR_TRACE_VALIDITY_H

#include "base/error.h"
#include "base/keys.h"
#include "names.h"
#include "op.h"

typedef struct mr_step {
    mr_op op;
    uint32_t thread, operand; /* as in the columns of the trace */
    uint64_t line;            /* for messages about later events */
} mr_step;

typedef struct mr_thread_state mr_thread_state;
typedef struct mr_lock_state mr_lock_state;
typedef struct mr_open_call mr_open_call;

typedef struct mr_validity {
    const mr_names *thread_names, *call_names; /* borrowed; for messages */
    mr_thread_state *threads;
    size_t thread_count, thread_capacity;
    uint8_t *running; /* by thread: it has events and goes on: mr_validity_access_changes_nothing */
    size_t running_count, running_capacity;
    mr_lock_state *locks;
    size_t lock_count, lock_capacity;
    mr_keys shares; /* (lock, thread) → number in share_depths */
    uint32_t *share_depths;
    size_t share_capacity;
    mr_open_call *calls; /* stacks of the threads, linked; freed ones are linked at `free_call` */
    size_t call_count, call_capacity;
    uint32_t free_call; /* index + 1; 0: none */
} mr_validity;

void mr_validity_init(mr_validity *validity, const mr_names *thread_names,
                      const mr_names *call_names);
void mr_validity_free(mr_validity *validity);

/* MR_OK: accepted. MR_ERR_TRACE: refused; the error's text is the rule in words ("releases a lock
 * that T2 holds (acquired on line 3)"), without a place. MR_ERR_MEMORY. */
mr_status mr_validity_step(mr_validity *validity, const mr_step *step, mr_error *error);

/* True: an access or a branch of the thread is accepted by mr_validity_step and leaves the state as
 * it is, so that the step can be left out. */
static inline bool mr_validity_access_changes_nothing(const mr_validity *validity, uint32_t thread)
{
    return thread < validity->running_count && validity->running[thread];
}

#endif
