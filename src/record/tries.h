/*
 * tries: a try of a lock, or a wait for it with a limit, that failed says that the lock was held; one of a semaphore,
 * that it had no unit. What the thread then does is possible in such states alone. So for locks and semaphores of which a
 * try failed, and for these alone, a variable says in which state they are:
 *
 *   lock.held         0: free; 1: held exclusively; 2 n: by n readers
 *   semaphore.units   its units
 *
 *   acquire           acq lock, aw.rlx(held=1)        release   aw.rlx(held=0), rel lock
 *   shared acquire    racq lock, au.rlx(held=0>2)     release   au.rlx(held=2>0), rel lock
 *   wait              wait s, au.rlx(units=n>n-1)     post      au.rlx(units=n>n+1), post s
 *   a try that fails  ar.rlx(held=1), ar.rlx(units=0)
 *   sem_getvalue      ar.acq(units=n)
 *
 * The lock is held wherever the variable says so, and there is no unit where it says 0: then no reordering has a
 * failed try where it would succeed. All are relaxed, as in C and C++ a failed try synchronises with nothing; but a post
 * releases, so that who learns of it by sem_getvalue comes after it. Exclusive sections
 * only write, as the lock keeps them apart, so they have no order by the variable. Who counts
 * sees the value that it saw, so readers of a lock, and posts of a semaphore, keep more of their order than they need.
 *
 * A try in a loop that fails again has no event when the last event of its thread is that failure (repeats.h). Nor has one that
 * fails although no recorded thread holds the lock: another process, or code that is not recorded, does. A trace for
 * the order shb alone (`run --quick`) needs none of this.
 *
 * Robust mutexes of which an owner died have another variable, lock.owner: 0; 1: it has died; 2: nobody can take it any more.
 * What a thread does for EOWNERDEAD it does only when it is the first after the death, and the others only when not.
 *
 *   release by death  aw.rlx(owner=1), rel lock       acquire   acq lock, ar.rlx(owner=n)
 *   consistent        aw.rlx(owner=0)                 release without it    aw.rel(owner=2), rel lock
 *   ENOTRECOVERABLE   ar.acq(owner=2)
 *
 * Part of the event pass (event_state.h).
 */
#ifndef MR_RECORD_TRIES_H
#define MR_RECORD_TRIES_H

#include "event_state.h"

/* Is it the record of a use that tells a state? */
static inline bool mr_tries_is_told(const uint64_t *record)
{
    return mr_log_kind_of(record[0]) == MR_LOG_USED &&
           mr_log_count(record[1]) >= MR_LOG_USED_BUSY &&
           mr_log_count(record[1]) <= MR_LOG_USED_LOST &&
           mr_log_detail(record[0]) != MR_LOG_ROLE_WRONG;
}

/* Is that the state of who owned a robust mutex? */
static inline bool mr_tries_is_of_owner(const uint64_t *record)
{
    return mr_log_count(record[1]) >= MR_LOG_USED_CONSISTENT;
}

/* The value for a lock that is used so. */
static inline int64_t mr_tries_held(const mr_user_state *state)
{
    return !state ? 0 : state->holder ? 1 : 2 * (int64_t)state->readers;
}

/* The event for the new state of the object, which is one of pass->objects, or NULL. None when it is what it was, or nobody
 * asks. */
mr_status mr_event_pass_state(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              int64_t held, mr_error *error);

/* The event of a use that tells a state; `state` is that of the lock. */
mr_status mr_event_pass_told(mr_event_pass *pass, const uint64_t *record,
                             const mr_user_state *state, mr_error *error);

/* The event of the owner of a lock: after its acquire, before its release. */
mr_status mr_event_pass_owner(mr_event_pass *pass, const uint64_t *record, mr_object *object,
                              const mr_user_state *state, mr_error *error);

#endif
