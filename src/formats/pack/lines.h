/*
 * lines: the lines of an input, in one pass, with bounded memory (a line may have up to
 * MR_LINE_MAX_BYTES). "\n" and "\r\n" end a line; the last line may lack its end. A byte order mark
 * at the start of the file is skipped.
 */
#ifndef MR_FORMATS_PACK_LINES_H
#define MR_FORMATS_PACK_LINES_H

#include "base/slice.h"
#include "input.h"

enum {
    MR_LINE_MAX_BYTES = 1 << 20,
    MR_LINES_BEYOND_BYTES = 128, /* that can be read after the end of the buffered bytes */
    /* What is read at a time: small enough to stay in the cache between filling and parsing. */
    MR_LINES_FILL_BYTES = 1 << 17,
};

typedef enum mr_line_kind {
    MR_LINE_TEXT,
    MR_LINE_TOO_LONG, /* the line is skipped by the next call */
    MR_LINE_NUL,      /* the line contains a NUL byte */
    MR_LINE_END,
    MR_LINE_FAILED, /* the input failed; the incomplete line before the failure is not given */
} mr_line_kind;

struct mr_lines;

/* Somebody else who reads the input (formats/text/text_ahead.h). */
typedef struct mr_lines_filler mr_lines_filler;
struct mr_lines_filler {
    /* Puts another buffer in, with the bytes [next, end) of the old one and `*got` more behind them;
     * 0 at the end, as mr_input_read. While lines->skipping, more bytes of that line may be in
     * front. */
    mr_status (*fill)(mr_lines_filler *filler, struct mr_lines *lines, size_t *got,
                      mr_error *error);
};

typedef struct mr_lines {
    mr_input *input;         /* borrowed */
    mr_lines_filler *filler; /* borrowed; NULL: the lines read by themselves */
    char *own;               /* owned: the buffer, unless a filler puts another in */
    const char *buffer;
    size_t next, end;    /* bytes of the buffer that were not given so far */
    uint64_t number;     /* 1-based number of the line given last */
    uint64_t read_bytes; /* from the input, without those of a filler */
    bool has_nul;        /* a NUL byte was seen: from now on look at every line */
    bool skipping;       /* within a line that is too long */
} mr_lines;

/* Who can do with the bytes themselves takes whole lines off the buffer between two calls of
 * mr_lines_next: [next, end) of `buffer`; `next` and `number` move on with each line. Only while
 * mr_lines_plain says that these bytes hold neither a NUL, nor a byte order mark, nor the rest of a
 * line that is too long. */
static inline bool mr_lines_plain(const mr_lines *lines)
{
    return lines->number && !lines->has_nul && !lines->skipping;
}

/* False: no memory. */
bool mr_lines_init(mr_lines *lines, mr_input *input);
void mr_lines_free(mr_lines *lines);

/* The next line, without its end; valid until the next call. `error` is filled for MR_LINE_FAILED;
 * `number` is then the line that was reached. */
mr_line_kind mr_lines_next(mr_lines *lines, mr_slice *line, mr_error *error);

#endif
