/*
 * prefix: how much of an .mrt file the proofs of an order's races need in memory.
 *
 * A witness of hb, fhb or shb depends on no event after the second access, so the events up to the
 * last of these accesses are enough. For hb the file is streamed once more, through shb, until that
 * has found all static races of hb; what is found is kept for the proofs (beside.h). When it does
 * not find them all, SyncP will be asked, which needs the whole trace.
 */
#ifndef MR_SWEEP_PREFIX_H
#define MR_SWEEP_PREFIX_H

#include "job.h"

/* `*end`: the events before this one are enough. All, when that is not known, or when it would save
 * less than a quarter of them. The file is read only when it may save more. What goes wrong
 * with that is told by who reads it whole afterwards. MR_ERR_HALTED. */
mr_status mr_sweep_prefix(const mr_sweep_job *job, uint64_t *end);

#endif
