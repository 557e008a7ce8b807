/*
 * assembly: memory that inline assembly accesses atomically. Programs that make their atomics so read and write the same
 * memory as volatile, too, as the release of a lock in PostgreSQL's spin locks or CMM_LOAD_SHARED of liburcu. In the
 * trace these accesses are atomic: a read acquires and a write releases, as processors with such assembly have it. Other
 * volatile accesses are plain.
 */
#ifndef MR_RECORD_ASSEMBLY_H
#define MR_RECORD_ASSEMBLY_H

#include "pieces.h"

/* Zero-initialise. */
typedef struct mr_assembly {
    mr_pairs bytes; /* (life, address) */
} mr_assembly;

void mr_assembly_free(mr_assembly *assembly);

/* Notes the bytes of an access, if assembly does it. False: no memory. */
bool mr_assembly_note(mr_assembly *assembly, mr_lifetimes *lives, const uint64_t *record);

/* Is the record a volatile access of bytes that all were noted? O(bytes). */
bool mr_assembly_joins(const mr_assembly *assembly, const uint64_t *record, mr_extent extent);

#endif
