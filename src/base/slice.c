#include "slice.h"

#include "assert.h"

#include <string.h>

const char *mr_slice_quote(mr_slice slice, char buffer[MR_QUOTE_SIZE])
{
    enum { ROOM = MR_QUOTE_SIZE - sizeof "..." };
    uint32_t length = slice.length <= ROOM ? slice.length : ROOM;
    /* Do not cut within a UTF-8 character. */
    while (length < slice.length && length && ((unsigned char)slice.text[length] & 0xC0) == 0x80)
        length--;
    for (uint32_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)slice.text[i];
        buffer[i] = slice.text[i];
        if (byte < 0x20 || byte == 0x7F)
            buffer[i] = '?';
    }
    const char *tail = length < slice.length ? "..." : "";
    memcpy(buffer + length, tail, strlen(tail) + 1);
    return buffer;
}

bool mr_slice_next(mr_slice *list, mr_slice *item)
{
    if (!list->length)
        return false;
    const char *comma = memchr(list->text, ',', list->length);
    uint32_t length = comma ? (uint32_t)(comma - list->text) : list->length;
    uint32_t taken = comma ? length + 1 : length;
    MR_ASSERT(taken <= list->length);
    *item = (mr_slice){list->text, length};
    *list = (mr_slice){list->text + taken, list->length - taken};
    return true;
}
