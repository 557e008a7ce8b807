/*
 * lean: the trace in memory for proofs of an order's races, from the stream that the order has read. It
 * has the columns, but no value, and the links; its names are those of the stream's dictionary, on
 * loan. Witnesses in model rf need no more. It takes less than half of the memory of a trace that is read anew, and
 * the file is not checked a second time.
 */
#ifndef MR_SWEEP_LEAN_H
#define MR_SWEEP_LEAN_H

#include "job.h"

/* Will such a trace not do, whatever the file holds? */
bool mr_lean_wants_more(const mr_sweep_job *job);

/* Will such a trace do, where there is a stream? */
bool mr_lean_is_enough(const mr_sweep_job *job);

/* Can a trace of the events before `end` be had? Then the stream is at its first event again. */
bool mr_lean_begin(const mr_sweep_job *job, uint64_t end);

/* The events before `end`, and those of the block with the last of them, as `lean` and `trace` of the sweep. While shb goes on
 * beside (prefix.h), `end` is that of the trace, and what shb has found says where to stop. MR_ERR_MEMORY, MR_ERR_HALTED, and
 * MR_ERR_IO when the file has changed. */
mr_status mr_lean_load(const mr_sweep_job *job, uint64_t end);
void mr_lean_free(mr_trace *lean); /* NULL is fine */

#endif
