/*
 * far_bytes: an estimate, before far races are decided (far_decide.c), of the memory that will
 * take.
 *
 * With N events, of which K are kept (reduce.h), in far windows of n ≤ K events, and T threads:
 *
 *   the reduction   5 N + 25 K     while it is made; 25 K stay
 *   a far window    (170 + T) n    with its precedences, and 12 bytes a variable
 *
 * Questions take more; they are charged to the share of the arena (base/arena.h), and unknown when
 * they do not fit. The figures were measured on generated and recorded traces of 4 to 64 threads;
 * tests/test_far_bytes.c compares them.
 */
#ifndef MR_FAR_BYTES_H
#define MR_FAR_BYTES_H

#include "witness/witness.h"

typedef struct mr_far_bytes {
    uint32_t kept; /* K without the marks, of which there are few */
    uint64_t reduction_bytes, reduced_bytes, window_bytes;
} mr_far_bytes;

/* `size`: events of a far window, 0: all of them. One pass, O(events), memory as mr_relevant_find.
 * False: no memory. */
bool mr_far_bytes_find(mr_far_bytes *bytes, const mr_trace *trace, mr_model model, uint32_t size);

/* The most that is held at a time. */
uint64_t mr_far_bytes_peak(const mr_far_bytes *bytes);

#endif
