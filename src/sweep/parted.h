/*
 * parted: pairs of locations that have no sync-preserving race, told by one pass over the events that takes a fraction of what
 * SyncP takes. Mostly that is so for all candidates that shb leaves: what the first access wrote was read on the way to the
 * second one, so every reordering keeps their order.
 *
 * An access a of a thread comes in every sync-preserving reordering before a later access b of another one
 *
 *   - when a path of program order, forks, joins and reads leads from a to what comes before b in its thread: shb without its
 *     locks; or
 *   - when a is in a section of a lock that the thread of b has acquired between a and b: both acquires are in the reordering
 *     (order/syncp/syncp.h), in the order of the trace, and so is the release between them.
 *
 * A pair of locations is parted when one of these holds for each pair of conflicting accesses there. Other edges (units, calls,
 * lives, shared locks) are passed over: fewer pairs are parted then. It gives up, and no pair is parted, when there are too many accesses
 * to compare.
 */
#ifndef MR_SWEEP_PARTED_H
#define MR_SWEEP_PARTED_H

#include "order/wanted.h"
#include "trace/events.h"
#include "trace/outlook.h"

typedef struct mr_parted mr_parted;

/* About the pairs that are wanted, which are not `all_but` some. Both are on loan; `outlook` may be NULL. NULL: no memory. */
mr_parted *mr_parted_new(const mr_wanted *wanted, const mr_outlook *outlook);
void mr_parted_free(mr_parted *parted); /* NULL is fine */

/* The next events. False: no memory, or it has given up. */
bool mr_parted_feed(mr_parted *parted, const mr_events *events);

/* No pair can be parted any more. */
bool mr_parted_is_over(const mr_parted *parted);

/* After all events: has the wanted pair no sync-preserving race? False: that is not known. */
bool mr_parted_has(const mr_parted *parted, uint32_t location, uint32_t other);

/* Are there two accesses of the pair's locations that nothing orders so far? Those with the earliest second one, and among them the latest first. */
bool mr_parted_met(const mr_parted *parted, uint32_t location, uint32_t other, uint32_t *first,
                   uint32_t *second);

#endif
