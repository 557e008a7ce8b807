/*
 * bytes: numbers and texts as bytes, and back.
 *
 * Numbers take seven bits a byte, the low ones first, the last byte without the high bit. What is
 * read may be damaged: a reader never goes past the end, and says at the end whether all was well.
 */
#ifndef MR_BASE_BYTES_H
#define MR_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; free with mr_bytes_free. After a failed allocation `failed` stays set, and
 * further calls do nothing. */
typedef struct mr_bytes {
    uint8_t *items;
    size_t count, capacity;
    bool failed;
} mr_bytes;

void mr_bytes_free(mr_bytes *bytes);
void mr_bytes_number(mr_bytes *bytes, uint64_t number);
/* `count` bytes as they are, without their number. */
void mr_bytes_raw(mr_bytes *bytes, const void *items, size_t count);

typedef struct mr_bytes_reader {
    const uint8_t *next, *end;
    bool damaged; /* something was missing or out of range; numbers then are 0 */
} mr_bytes_reader;

uint64_t mr_bytes_get(mr_bytes_reader *reader);
/* A number of at most `most`. */
uint32_t mr_bytes_get_u32(mr_bytes_reader *reader, uint32_t most);
/* `count` bytes, as a loan; NULL: there are not so many. */
const uint8_t *mr_bytes_get_raw(mr_bytes_reader *reader, uint64_t count);

#endif
