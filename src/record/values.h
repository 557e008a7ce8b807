/* values: what an access that was recorded read and wrote of a piece (pieces.h). */
#ifndef MR_RECORD_VALUES_H
#define MR_RECORD_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

/* The value of a piece of more than 8 bytes is a number that stands for its content, and `digest` tells contents
 * apart. */
typedef struct mr_values {
    int64_t read, written;
    XXH128_hash_t digest;
    bool is_long;
    bool as_left; /* for the caller: the value read is that of the last event */
} mr_values;

/* Of the `bytes` bytes at `offset` of the record's access. */
mr_values mr_values_of(const uint64_t *record, uint64_t offset, uint64_t bytes);

#endif
