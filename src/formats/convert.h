/* mrt_convert: any trace → .mrt, with bounded memory when it is a text: names, values, lines, and a
 * block of events at a time. */
#ifndef MR_FORMATS_CONVERT_H
#define MR_FORMATS_CONVERT_H

#include "trace/trace.h"

#include <stdio.h>

/*
 * Reads the trace at `path` as mr_trace_read does, and writes it to `file`. Errors of reading have
 * their place, those of writing none. On success `*dictionary` is owned by the caller
 * (mr_trace_free): names, counts and what repair dropped; of a text it has no columns.
 */
mr_status mr_mrt_convert(const char *path, const mr_read_options *options, FILE *file,
                         mr_trace **dictionary, mr_error *error);

#endif
