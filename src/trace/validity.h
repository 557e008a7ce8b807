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
 *   - alloc: the object has no alloc, no free and no access of a variable of it before; free: it has
 *     no free before. Accesses after the free are accepted.
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
#include "trace.h"

typedef struct mr_step {
    mr_op op;
    uint32_t thread, operand; /* as in the columns of the trace */
    uint64_t line;            /* for messages about later events */
} mr_step;

typedef struct mr_thread_state mr_thread_state;

typedef struct mr_lock_state {
    uint64_t line;         /* of the outermost exclusive acquire */
    uint64_t units;        /* as a semaphore */
    uint32_t owner, depth; /* `owner` holds it exclusively when depth > 0 */
    uint32_t sharers;      /* threads that hold it shared */
} mr_lock_state;

typedef struct mr_open_call mr_open_call;

/* The life of an object so far. */
typedef struct mr_object_life {
    uint64_t alloc_line, free_line; /* 0: not so far */
    uint32_t accessed;              /* a variable of it that was accessed, + 1; 0: none was */
    uint32_t known_variables;       /* how many variables there were at the alloc */
} mr_object_life;

typedef struct mr_validity {
    const mr_trace *trace; /* borrowed: the names, and which variable belongs to which object */
    mr_object_life *lives; /* by object */
    size_t life_count, life_capacity;
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

void mr_validity_init(mr_validity *validity, const mr_trace *trace);
void mr_validity_free(mr_validity *validity);

/* MR_OK: accepted. MR_ERR_TRACE: refused; the error's text is the rule in words ("releases a lock
 * that T2 holds (acquired on line 3)"), without a place. MR_ERR_MEMORY. */
mr_status mr_validity_step(mr_validity *validity, const mr_step *step, mr_error *error);

/* A line says that the variable belongs to the object. To be asked before mr_members_put; numbers
 * of variables are in the order of their first use, and `used`: the variable was used before this
 * line. As mr_validity_step. */
mr_status mr_validity_member(mr_validity *validity, uint32_t variable, uint32_t object, bool used,
                             mr_error *error);

/* For accesses that are not given to mr_validity_step. */
static inline void mr_validity_note_access(mr_validity *validity, uint32_t variable)
{
    const mr_members *members = &validity->trace->members;
    if (variable >= members->variable_count || members->object[variable] == MR_NONE)
        return;
    mr_object_life *life = &validity->lives[members->object[variable]];
    life->accessed = life->accessed ? life->accessed : variable + 1;
}

/* True: an access or a branch of the thread is accepted by mr_validity_step and leaves the state as
 * it is, so that the step can be left out; of an access mr_validity_note_access must know. */
static inline bool mr_validity_access_changes_nothing(const mr_validity *validity, uint32_t thread)
{
    return thread < validity->running_count && validity->running[thread];
}

/* An acquire, by such a thread, of a lock that no other thread holds and none shares, as most are. False: nothing has been done;
 * mr_validity_step says whether the trace may have it. */
static inline bool mr_validity_acquires(mr_validity *validity, const mr_step *step)
{
    if (step->operand >= validity->lock_count)
        return false;
    mr_lock_state *lock = &validity->locks[step->operand];
    if (lock->sharers || lock->depth == UINT32_MAX || (lock->depth && lock->owner != step->thread))
        return false;
    if (!lock->depth++) {
        lock->owner = step->thread;
        lock->line = step->line;
    }
    return true;
}

/* Likewise a release of a lock that the thread holds. */
static inline bool mr_validity_releases(mr_validity *validity, const mr_step *step)
{
    if (step->operand >= validity->lock_count)
        return false;
    mr_lock_state *lock = &validity->locks[step->operand];
    if (!lock->depth || lock->owner != step->thread)
        return false;
    lock->depth--;
    return true;
}

#endif
