#include "bytes.h"

#include "assert.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBER_BYTES = 10 };

void mr_bytes_free(mr_bytes *bytes)
{
    free(bytes->items);
    *bytes = (mr_bytes){0};
}

void mr_bytes_raw(mr_bytes *bytes, const void *items, size_t count)
{
    void *room = bytes->items;
    if (bytes->failed || !count)
        return;
    bytes->failed = !mr_grow(&room, &bytes->capacity, bytes->count + count, 1);
    if (bytes->failed)
        return;
    MR_ASSERT(bytes->count + count <= bytes->capacity);
    bytes->items = room;
    memcpy(bytes->items + bytes->count, items, count);
    bytes->count += count;
}

void mr_bytes_number(mr_bytes *bytes, uint64_t number)
{
    uint8_t text[MOST_NUMBER_BYTES];
    size_t length = 0;
    if (number < 0x80 && !bytes->failed && bytes->count < bytes->capacity) { /* most are so small */
        bytes->items[bytes->count++] = (uint8_t)number;
        return;
    }
    for (; number >= 0x80; number >>= 7)
        text[length++] = (uint8_t)(number | 0x80);
    text[length++] = (uint8_t)number;
    mr_bytes_raw(bytes, text, length);
}

uint64_t mr_bytes_get(mr_bytes_reader *reader)
{
    uint64_t number = 0;
    MR_REQUIRE(reader->next <= reader->end);
    for (unsigned shift = 0; shift < 64 && reader->next < reader->end; shift += 7) {
        uint8_t byte = *reader->next++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    reader->damaged = true;
    reader->next = reader->end;
    return 0;
}

uint32_t mr_bytes_get_u32(mr_bytes_reader *reader, uint32_t most)
{
    uint64_t number = mr_bytes_get(reader);
    if (number <= most)
        return (uint32_t)number;
    reader->damaged = true;
    return 0;
}

const uint8_t *mr_bytes_get_raw(mr_bytes_reader *reader, uint64_t count)
{
    MR_REQUIRE(reader->next <= reader->end);
    if (count > (uint64_t)(reader->end - reader->next)) {
        reader->damaged = true;
        reader->next = reader->end;
        return NULL;
    }
    const uint8_t *items = reader->next;
    reader->next += count;
    return items;
}
