#include "values.h"

#include "runtime/log.h"

#include <string.h>

/* The lowest `bytes` bytes, at most 8, as a signed number. */
static int64_t sign_extend(uint64_t value, uint64_t bytes)
{
    unsigned shift = (unsigned)(8 - bytes) * 8;
    return (int64_t)(value << shift) >> shift;
}

/* The value of the part at `offset` of an access. */
static int64_t part_of(uint64_t value, uint64_t offset, uint64_t bytes)
{
    return sign_extend(value >> 8 * offset, bytes);
}

/* Those of a range, which reads what it writes. */
static mr_values of_range(const unsigned char *content, uint64_t bytes)
{
    mr_values found = {.is_long = bytes > sizeof(uint64_t)};
    uint64_t word = 0;
    if (found.is_long) {
        found.digest = XXH3_128bits(content, (size_t)bytes);
        found.read = (int64_t)found.digest.low64;
    } else {
        memcpy(&word, content, (size_t)bytes);
        found.read = sign_extend(word, bytes);
    }
    found.written = found.read;
    return found;
}

mr_values mr_values_of(const uint64_t *record, uint64_t offset, uint64_t bytes)
{
    unsigned kind = mr_log_kind_of(record[0]);
    if (mr_log_is_range(kind))
        return of_range((const unsigned char *)(record + 3) + offset, bytes);
    bool updates = kind == MR_LOG_ATOMIC_UPDATE;
    uint64_t first = updates ? record[2] : (uint64_t)mr_log_value(record);
    uint64_t last = updates ? record[3] : first;
    return (mr_values){.read = part_of(first, offset, bytes),
                       .written = part_of(last, offset, bytes)};
}
