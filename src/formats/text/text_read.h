/* text_read: a text trace as a whole, in memory: all rows of a text source (text_source.h). */
#ifndef MR_FORMATS_TEXT_READ_H
#define MR_FORMATS_TEXT_READ_H

#include "formats/pack/input.h"
#include "trace/trace.h"

/* Reads the trace at `path`, called `place` in messages. Takes the input over, also on failure.
 * Errors and `result` as mr_trace_read (formats/read.h). */
mr_status mr_text_read(mr_input *input, const char *path, const char *place,
                       const mr_read_options *options, mr_trace **result, mr_error *error);

#endif
