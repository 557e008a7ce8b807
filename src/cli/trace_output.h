/*
 * trace_output: a trace written where the user says: the name says which format is meant (.mrt is
 * binary, .gz and .zst are packed text, all else is text, "-" is text to standard output).
 */
#ifndef MR_CLI_TRACE_OUTPUT_H
#define MR_CLI_TRACE_OUTPUT_H

#include "formats/text/text_write.h"
#include "output.h"

typedef struct mr_trace_format {
    bool binary;
    mr_packing packing; /* of a text */
} mr_trace_format;

/* Opens the output, and says in which format to write to its stream. After an error nothing need
 * be closed. MR_ERR_USAGE, MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_trace_output_open(mr_output *output, const char *path, mr_trace_format *format,
                               mr_error *error);

/* Writes a trace in memory to the stream. */
mr_status mr_trace_output_write(FILE *stream, mr_trace_format format, const mr_trace *trace,
                                const struct mr_progress *progress, mr_error *error);

/* Completes the file when `status` is MR_OK, else removes it and gives an error of the output its
 * place. Returns the status of all. */
mr_status mr_trace_output_close(mr_output *output, const char *path, mr_status status,
                                mr_error *error);

#endif
