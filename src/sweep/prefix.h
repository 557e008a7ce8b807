/*
 * prefix: how much of an .mrt file the proofs of an order's races need in memory.
 *
 * A witness of hb, fhb or shb depends on no event after the second access, so the events up to the
 * last of these accesses are enough. For the other orders the blocks of the file go through shb, until that
 * has found all their static races; what is found is kept for the proofs (beside.h). When it does
 * not find them all, SyncP will be asked, which needs the whole trace.
 */
#ifndef MR_SWEEP_PREFIX_H
#define MR_SWEEP_PREFIX_H

#include "job.h"

/* `*end`: the events before this one are enough. All, when that is not known. MR_ERR_MEMORY, MR_ERR_HALTED. */
mr_status mr_sweep_prefix(const mr_sweep_job *job, uint64_t *end);

#endif
