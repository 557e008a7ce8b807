/*
 * text_stream: the stream of a text trace (stream.h). A thread of its own fills a ring of blocks
 * from a text source (text_source.h); the caller empties them. Without a second thread (none is
 * wanted or could be made, or the input cannot be interrupted) the caller's thread fills one block at
 * a time.
 */
#ifndef MR_FORMATS_TEXT_STREAM_H
#define MR_FORMATS_TEXT_STREAM_H

#include "formats/pack/input.h"
#include "trace/stream.h"

typedef struct mr_text_stream_tuning {
    uint32_t block_events; /* 0: the default */
    bool in_caller;        /* make no thread */
    bool only_exact;       /* as in text_source.h */
    size_t
        ahead_bytes; /* read ahead from the first byte on, so many bytes at a time; 0: as usual */
} mr_text_stream_tuning;

/* Takes the input over, also on failure. `tuning` may be NULL. MR_ERR_MEMORY. */
mr_status mr_text_stream_open(mr_input *input, const char *path, const mr_read_options *options,
                              const mr_text_stream_tuning *tuning, mr_stream **stream,
                              mr_error *error);

#endif
