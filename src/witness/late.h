/*
 * late: shortens witnesses that the checker has accepted as they were found.
 *
 * A crowded trace has hundreds of thousands of races, and to shorten a witness costs more than to check it. So those of close
 * races are kept long (packed, pack.h), and only what is shown or saved is shortened in the end. The shorter witness is checked
 * again. When it is not accepted, the long one stays, which was.
 */
#ifndef MR_WITNESS_LATE_H
#define MR_WITNESS_LATE_H

#include "checker.h"
#include "opaque/barrier_pairs.h"

/* Shortens a witness (mr_witness_minimise). A packed one is packed again. `*refused`: the checker did not accept the shorter
 * one, which is an own bug, and the long one stays. MR_ERR_MEMORY: it is as it was. */
mr_status mr_witness_shorten_late(const mr_trace *trace, const mr_barrier_edges *opaque,
                                  mr_checker *checker, mr_witness *witness, bool *refused,
                                  mr_error *error);

/* mr_witness_open of a long witness: `*room` has the shorter one. `calls` are ordered as in the checker. For few witnesses, since it
 * takes O(events of the trace). */
const mr_witness *mr_witness_open_long(const mr_trace *trace, mr_opaque calls,
                                       const mr_witness *witness, mr_witness *room);

#endif
