/*
 * benign: memory whose races are meant, as the program says by AnnotateBenignRace. In the trace its
 * accesses are atomic: no two of them race, and reads see what they saw.
 */
#ifndef MR_RECORD_BENIGN_H
#define MR_RECORD_BENIGN_H

#include "pieces.h"

typedef struct mr_benign_extent {
    uint32_t life;
    uint64_t start, end; /* addresses */
} mr_benign_extent;

/* Zero-initialise. */
typedef struct mr_benign {
    mr_benign_extent *items; /* owned */
    size_t count, capacity;
} mr_benign;

void mr_benign_free(mr_benign *benign);

/* False: no memory. */
bool mr_benign_note(mr_benign *benign, mr_extent extent);

/* Does some noted extent share a byte with this one, in the same life? O(count of extents). */
bool mr_benign_has(const mr_benign *benign, mr_extent extent);

#endif
