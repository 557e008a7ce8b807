/* containment: checks that the findings of a comparison contain each other as they must
 * (compare.h). */
#ifndef MR_COMPARE_CONTAINMENT_H
#define MR_COMPARE_CONTAINMENT_H

#include "base/memory.h"
#include "compare.h"

/* Adds the breaches to `comparison`, whose findings are complete. `racy_events` has the racy events
 * of each order that is done, ascending. `whole` says that the predictions may look at all races
 * that syncp reports. False: no memory. */
bool mr_containment_check(mr_comparison *comparison, const mr_u32s racy_events[MR_RELATION_COUNT],
                          bool whole);

/* "shb reports the static race 12 - 34 that syncp does not": one line for an error message. */
void mr_breach_line(const mr_comparison *comparison, const mr_breach *breach, char *buffer,
                    size_t size_bytes);

#endif
