/*
 * text_write: a trace as a text in the STD format (docs/trace-format.md), plain or packed: the
 * texts for people at the top, then one line an event. Read again it is the same trace; what was
 * between the lines (comments, empty lines, dropped lines) is not written, so its lines are
 * numbered anew.
 */
#ifndef MR_FORMATS_TEXT_WRITE_H
#define MR_FORMATS_TEXT_WRITE_H

#include "formats/pack/pack.h"
#include "trace/trace.h"

/* Writes to `file`, which stays the caller's. MR_ERR_IO (a text without place), MR_ERR_MEMORY. */
mr_status mr_text_write(FILE *file, mr_packing packing, const mr_trace *trace,
                        const struct mr_progress *progress, mr_error *error);

#endif
