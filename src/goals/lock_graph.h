/*
 * lock_graph: which locks may take part in a deadlock at all.
 *
 * The lock-dependency graph has an edge from lock h to lock l when some thread acquired l while it
 * held h. Every deadlock is a circle of it, so only locks of one strongly connected component of two
 * or more locks matter. Programs that keep to one order of their locks have none.
 *
 * O(events × locks held) for the edges, each kept once; the components are Tarjan's (1972), without
 * recursion, O(locks + edges).
 */
#ifndef MR_GOALS_LOCK_GRAPH_H
#define MR_GOALS_LOCK_GRAPH_H

#include "trace/trace.h"

/* By lock: 0 for one that is in no circle, else the number of its component. Owned by the caller.
 * False: no memory. */
bool mr_lock_components(const mr_trace *trace, uint32_t **component);

#endif
