/*
 * prefix: how much of an .mrt file the proofs of an order's races need in memory.
 *
 * A witness of hb, fhb or shb depends on no event after the second access, so the events up to the
 * last of these accesses are enough. For the other orders the blocks of the file go through shb, until that
 * has found all their static races; what is found is kept for the proofs (beside.h). When it does
 * not find them all, SyncP may be asked, which needs the whole trace; the rest is read then (mr_lean_whole).
 *
 * With a second processor a thread does so while the order goes over the blocks (mr_ahead), from its first race on; while it
 * has all races that the order has found so far, it waits.
 *
 * Of hb, the races are looked at one by one first (shown.h): shb does not run at all while they are its own.
 */
#ifndef MR_SWEEP_PREFIX_H
#define MR_SWEEP_PREFIX_H

#include "base/memory.h"
#include "job.h"

#include <pthread.h>

/* shb beside the order, on the blocks of the same stream. Zero-initialised: not started. */
typedef struct mr_ahead {
    const mr_sweep_job *job;
    pthread_t thread;
    bool threaded; /* it was not joined so far */
    size_t told;   /* races of the order */
    mr_race_list found;
    mr_status status;
    mr_error error;

    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    mr_u32s races; /* of the order: two locations each, as they were found */
    bool untold;   /* some are missing, for want of memory */
    bool ended;    /* no more will follow */
    bool unwanted; /* nobody will ask for what it finds */
    bool done;
} mr_ahead;

/* The races of the order that reads the stream, so far. With the first one shb starts, if it can be used. */
void mr_ahead_tell(const mr_sweep_job *job, const mr_race_list *list);

/* The order has ended, and its races will be proven. Is shb still at work? */
bool mr_ahead_goes_on(const mr_sweep_job *job);

/* Ends the thread. Before the stream is closed, or its job. */
void mr_ahead_drop(mr_ahead *ahead);

/* `*end`: the events before this one are enough. All, when that is not known. Waits for the thread. MR_ERR_MEMORY, MR_ERR_HALTED,
 * and MR_ERR_IO when the file has changed. */
mr_status mr_sweep_prefix(const mr_sweep_job *job, uint64_t *end);

#endif
