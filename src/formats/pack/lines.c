#include "lines.h"

#include "base/assert.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Room for a line of the greatest length, its end, and one more filling. */
static const size_t buffer_bytes =
    (size_t)MR_LINE_MAX_BYTES + 2 + MR_LINES_FILL_BYTES + MR_LINES_BEYOND_BYTES;

bool mr_lines_init(mr_lines *lines, mr_input *input)
{
    *lines = (mr_lines){.input = input, .own = mr_malloc(buffer_bytes, 0)};
    lines->buffer = lines->own;
    return lines->own != NULL;
}

void mr_lines_free(mr_lines *lines)
{
    free(lines->own);
    *lines = (mr_lines){0};
}

/* Moves the incomplete line to the front and reads on. `*got` is 0 at the end of the input. */
static mr_status fill(mr_lines *lines, size_t *got, mr_error *error)
{
    size_t rest = lines->end - lines->next;
    if (lines->filler)
        return lines->filler->fill(lines->filler, lines, got, error);
    char *buffer = lines->own;
    if (lines->next)
        memmove(buffer, buffer + lines->next, rest);
    lines->next = 0;
    lines->end = rest;
    MR_ASSERT(rest + MR_LINES_FILL_BYTES + MR_LINES_BEYOND_BYTES <= buffer_bytes);
    mr_status status = mr_input_read(lines->input, buffer + rest, MR_LINES_FILL_BYTES, got, error);
    if (status)
        return status;
    if (memchr(buffer + lines->end, 0, *got))
        lines->has_nul = true;
    lines->end += *got;
    lines->read_bytes += *got;
    memset(buffer + lines->end, 0, MR_LINES_BEYOND_BYTES);
    return MR_OK;
}

static mr_line_kind give(mr_lines *lines, size_t length, mr_slice *line)
{
    const char *text = lines->buffer + lines->next;
    MR_ASSERT(length <= lines->end - lines->next);
    if (lines->number++ == 0 && length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
        text += 3;
        length -= 3;
    }
    if (length && text[length - 1] == '\r')
        length--;
    *line = (mr_slice){text, (uint32_t)length};
    if (length > MR_LINE_MAX_BYTES)
        return MR_LINE_TOO_LONG;
    return lines->has_nul && memchr(text, 0, length) ? MR_LINE_NUL : MR_LINE_TEXT;
}

/* The buffer holds no line end, and the input gave nothing more. */
static mr_line_kind give_last(mr_lines *lines, mr_slice *line)
{
    size_t length = lines->end - lines->next;
    bool skipped = lines->skipping;
    lines->skipping = false;
    if (!length || skipped) {
        lines->next = lines->end;
        return MR_LINE_END;
    }
    mr_line_kind kind = give(lines, length, line);
    lines->next = lines->end;
    return kind;
}

mr_line_kind mr_lines_next(mr_lines *lines, mr_slice *line, mr_error *error)
{
    size_t scanned = 0; /* bytes after `next` known to hold no line end */
    for (;;) {
        const char *from = lines->buffer + lines->next;
        size_t length = lines->end - lines->next;
        const char *stop = length > scanned ? memchr(from + scanned, '\n', length - scanned) : NULL;
        if (stop && !lines->skipping) {
            mr_line_kind kind = give(lines, (size_t)(stop - from), line);
            lines->next += (size_t)(stop - from) + 1;
            return kind;
        }
        if (stop) { /* the end of a line that was too long */
            lines->skipping = false;
            lines->next += (size_t)(stop - from) + 1;
            continue;
        }
        scanned = length;
        if (lines->skipping) {
            lines->next = lines->end;
            scanned = 0;
        } else if (length > MR_LINE_MAX_BYTES + 1) {
            lines->skipping = true;
            return give(lines, length, line);
        }
        size_t got = 0;
        if (fill(lines, &got, error)) {
            lines->number++;
            lines->next = lines->end;
            return MR_LINE_FAILED;
        }
        if (!got)
            return give_last(lines, line);
    }
}
