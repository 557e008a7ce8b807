/*
 * output: a file that appears when it is complete. It is written beside its place and then renamed;
 * a signal that ends maxrace before that removes it (leftovers.h). A device or a pipe is written
 * directly; no path, or "-", is standard output.
 *
 *   mr_output_probe (early: can it be written at all?) … mr_output_open → write → mr_output_close
 */
#ifndef MR_CLI_OUTPUT_H
#define MR_CLI_OUTPUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct mr_output {
    FILE *stream;
    char *path;      /* owned; the file, symbolic links followed; NULL: standard output */
    char *temporary; /* owned; the file written to before the rename; NULL: written directly */
    int leftover;    /* its number in leftovers.h */
} mr_output;

/* Tests whether the file can be written, and creates nothing. MR_ERR_IO. */
mr_status mr_output_probe(const char *path, mr_error *error);

/* After an error there is nothing to close. */
mr_status mr_output_open(mr_output *output, const char *path, mr_error *error);

/* Completes the file when `good`, and removes it otherwise. MR_ERR_IO also reports writes that
 * failed before. Frees what `output` holds in every case. */
mr_status mr_output_close(mr_output *output, bool good, mr_error *error);

/* Writes the contents of the file to the stream. Fills the error when it fails. */
typedef mr_status mr_output_writer(FILE *stream, const void *context, mr_error *error);

/* Opens the file, calls `write`, and completes the file when `write` returns MR_OK. The first
 * failure is the error. */
mr_status mr_output_write(const char *path, mr_output_writer *write, const void *context,
                          mr_error *error);

#endif
