/*
 * text_source: the events of a text trace (plain, gzip, zstd, standard input, memory), some rows at
 * a time: lines → parse → validity → rows, with repair. The only way from text to events: a stream
 * (stream.h) and the reader (trace.h) differ in where the rows go.
 *
 *   mr_text_source_init → mr_text_source_fill* → mr_text_source_free
 *
 * Ordinary lines go through text_fast.h; every other line, and whatever is wrong, through parse.h
 * line by line. Both give the same rows and names. In a long text a thread of its own reads ahead
 * (text_ahead.h), unless the options or the machine have one thread only; rows, names and errors do not
 * depend on that.
 */
#ifndef MR_FORMATS_TEXT_SOURCE_H
#define MR_FORMATS_TEXT_SOURCE_H

#include "formats/pack/input.h"
#include "formats/pack/lines.h"
#include "text_fast.h"
#include "trace/builder.h"
#include "trace/validity.h"

typedef struct mr_text_source {
    const char *place; /* the file's name in messages; on loan */
    bool repair;
    bool ended;      /* there are no more events */
    bool only_exact; /* for tests: leave text_fast out */
    mr_input *input; /* owned */
    mr_lines lines;
    mr_builder builder; /* the names, and what else the lines say; its trace is owned */
    mr_validity validity;
    mr_text_fast fast;
    mr_text_ahead *ahead; /* owned; NULL: this thread reads by itself */
    /* A thread reads ahead from so many bytes of text on; never: UINT64_MAX. Chunk: text_ahead.h. */
    uint64_t ahead_from_bytes;
    size_t ahead_chunk_bytes;
} mr_text_source;

/* Takes the input over, also on failure. `path` is that of the trace, "-" is standard input.
 * MR_ERR_MEMORY. After a failure mr_text_source_free is still due. */
mr_status mr_text_source_init(mr_text_source *source, mr_input *input, const char *path,
                              const char *place, const mr_read_options *options, mr_error *error);
void mr_text_source_free(mr_text_source *source);

/*
 * Adds rows until there is no room, the text ends (`ended`), or something is wrong. On an error the
 * rows of all events before its place are there, and no more can be asked for. MR_ERR_TRACE,
 * MR_ERR_IO, MR_ERR_MEMORY, each with its place.
 */
mr_status mr_text_source_fill(mr_text_source *source, mr_rows *rows, mr_error *error);

/* Bytes of the file that have been taken. */
uint64_t mr_text_source_done_bytes(const mr_text_source *source);

/* The name for messages of what is at `path`. */
const char *mr_text_source_place(const char *path);

/* Says where the error is; its status and text stay. */
void mr_text_source_set_place(mr_error *error, const char *place, uint64_t line);

#endif
