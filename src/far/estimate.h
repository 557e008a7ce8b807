/*
 * estimate: how much memory mr_far_decide will take, estimated beforehand.
 *
 * N is the number of events. K of them are kept (reduce.h). A far window has n ≤ K events. There
 * are T chains of threads (trace/chains.h). Bytes:
 *
 *   the reduction   5 N + 25 K     while it is made; 25 K stay
 *   a far window    (240 + T) n    with its precedences and rows, and 12 bytes a variable
 *
 * Questions take more memory. It is charged to the share of the worker's arena (base/arena.h), and
 * a question that does not fit is unknown. The figures were measured on generated and recorded
 * traces of 4 to 64 threads; tests/test_far_bytes.c compares them.
 */
#ifndef MR_FAR_ESTIMATE_H
#define MR_FAR_ESTIMATE_H

#include "witness/witness.h"

typedef struct mr_far_bytes {
    uint32_t kept; /* K without the marks of reduce.h, of which there are few */
    uint64_t reduction_bytes, reduced_bytes, window_bytes;
} mr_far_bytes;

/* `size`: events of a far window; 0: all of them. One pass, O(events); memory as mr_relevant_find.
 * False: no memory. */
bool mr_far_bytes_find(mr_far_bytes *bytes, const mr_trace *trace, mr_model model, uint32_t size);

/* The most memory that is held at a time. */
uint64_t mr_far_bytes_peak(const mr_far_bytes *bytes);

#endif
