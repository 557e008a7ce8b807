/*
 * life_edges: from the alloc of an object to what needs it (docs/semantics.md 2, rule 7): the
 * accesses of the object's variables, and its free. Of each thread other than that of the alloc
 * the first of these events has an edge; the later ones follow by program order.
 */
#ifndef MR_OPAQUE_LIFE_EDGES_H
#define MR_OPAQUE_LIFE_EDGES_H

#include "barrier_pairs.h"

/* Adds them, at their places. O(events) when the trace has allocs, else O(1). Memory: 16 bytes for
 * each pair of an object and a thread, other than that of the alloc, that uses it. False: no memory.
 */
bool mr_life_edges_add(const mr_trace *trace, mr_barrier_edges *edges);

#endif
