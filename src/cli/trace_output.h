/*
 * trace_output: writes a trace to a file. The name of the file says the format: .mrt is binary, .gz
 * and .zst are packed text, every other name is text, and "-" is text to standard output.
 */
#ifndef MR_CLI_TRACE_OUTPUT_H
#define MR_CLI_TRACE_OUTPUT_H

#include "formats/text/text_write.h"
#include "output.h"

typedef struct mr_trace_format {
    bool binary;
    mr_packing packing; /* of a text */
} mr_trace_format;

/* Opens the output and chooses the format of its stream. After an error there is nothing to close.
 * MR_ERR_USAGE, MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_trace_output_open(mr_output *output, const char *path, mr_trace_format *format,
                               mr_error *error);

/* Writes a trace in memory to the stream. */
mr_status mr_trace_output_write(FILE *stream, mr_trace_format format, const mr_trace *trace,
                                const struct mr_progress *progress, mr_error *error);

/* Completes the file when `status` is MR_OK, and removes it otherwise. An error without a place
 * gets `path`. Returns `status`, or the status of completing the file. */
mr_status mr_trace_output_close(mr_output *output, const char *path, mr_status status,
                                mr_error *error);

#endif
