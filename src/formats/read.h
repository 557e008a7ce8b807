/*
 * read: opens a trace file of any format. The first bytes of the file tell the format: .mrt
 * (mrt/mrt_format.h) or text (text/parse.h), the text plain, gzip or zstd (pack/input.h).
 *
 *   the whole trace, in memory:      mr_trace_read, mr_trace_read_text → mr_trace_free
 *   its events, with bounded memory: mr_stream_open → mr_stream_next* → mr_stream_close
 */
#ifndef MR_FORMATS_READ_H
#define MR_FORMATS_READ_H

#include "trace/stream.h"

/*
 * Reads a trace (docs/semantics.md 1) from a plain, gzip or zstd file, told apart by its first
 * bytes, or from standard input ("-"), in one pass. On success `*trace` is owned by the caller
 * (mr_trace_free). On failure `error` says `file:line: …`: MR_ERR_TRACE for what the file says,
 * MR_ERR_IO when it cannot be read, MR_ERR_MEMORY; `*trace` is NULL, or with keep_partial and
 * MR_ERR_TRACE the trace up to the place of the error.
 */
mr_status mr_trace_read(const char *path, const mr_read_options *options, mr_trace **trace,
                        mr_error *error);

/* The same from memory (plain text only); `name` stands for the file in messages. */
mr_status mr_trace_read_text(const char *name, const char *text, size_t length_bytes,
                             const mr_read_options *options, mr_trace **trace, mr_error *error);

/* Is the file a trace as text that is not packed, so that its length says how much there is to read?
 * False, too, when it cannot be opened. */
bool mr_trace_is_plain_text(const char *path);

/* Opens the stream of a trace file (trace/stream.h), which the caller closes. Errors as
 * mr_trace_read. `options` may be NULL. A text is parsed by a thread of the stream's own, some
 * blocks ahead of the caller. */
mr_status mr_stream_open(const char *path, const mr_read_options *options, mr_stream **stream,
                         mr_error *error);

#endif
