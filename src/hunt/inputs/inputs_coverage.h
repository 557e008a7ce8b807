/*
 * inputs_coverage: what a trace covers, as 64-bit keys that are the same for the same things in every
 * run. An input is worth keeping when a run of it covers something new.
 *
 *   (place, lock set)   an access, with the places where its thread took the locks that it holds
 *   (access, access)    the places of two that conflict and that no lock and no message keeps apart: a static
 *                       race of hybrid (order/hybrid.h), which only this input may bring about
 *   (write, read)       the places of a write and of a read that sees it, when they are of two threads
 *
 * Names of places count, not their numbers, and no names of locks or variables: these may be addresses.
 */
#ifndef MR_HUNT_INPUTS_COVERAGE_H
#define MR_HUNT_INPUTS_COVERAGE_H

#include "trace/trace.h"

typedef struct mr_coverage {
    uint64_t *keys; /* ascending, each once */
    size_t count;
} mr_coverage;

/* O(events), and what hybrid takes. MR_ERR_MEMORY. */
mr_status mr_coverage_of_trace(const mr_trace *trace, mr_coverage *coverage, mr_error *error);
void mr_coverage_free(mr_coverage *coverage);

#endif
