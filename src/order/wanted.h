/*
 * wanted: the pairs of locations that somebody asks about. A search for races that is given them may
 * leave out all other pairs, so it need not look at accesses that stand in no pair. Where nearly all pairs
 * are asked about, those are listed that are not.
 *
 *   mr_wanted_add* → use → mr_wanted_free        (zero-initialise)
 *
 * Memory: a byte a location, 24 to 32 bytes a pair.
 */
#ifndef MR_ORDER_WANTED_H
#define MR_ORDER_WANTED_H

#include "base/map.h"

typedef struct mr_wanted {
    uint8_t *locations; /* by location: is it in a pair? */
    size_t location_count;
    mr_map pairs; /* (low, high) */
    bool all_but; /* set by the owner: nobody asks about these pairs, but about all others */
} mr_wanted;

void mr_wanted_free(mr_wanted *wanted);

/* The trace has so many locations. False: no memory. */
bool mr_wanted_add(mr_wanted *wanted, uint32_t location_count, uint32_t location, uint32_t other);

/* May somebody ask about a pair with the location? `wanted` NULL: in this and the next, all are asked about. */
static inline bool mr_wanted_location(const mr_wanted *wanted, uint32_t location)
{
    return !wanted || wanted->all_but ||
           (location < wanted->location_count && wanted->locations[location]);
}

bool mr_wanted_pair(const mr_wanted *wanted, uint32_t location, uint32_t other);

#endif
