/* input_files: inputs as files: reading, writing, a folder of them, and what a command writes. */
#ifndef MR_HUNT_INPUT_FILES_H
#define MR_HUNT_INPUT_FILES_H

#include "inputs.h"

#include <stdio.h>

/* What a file has, at most `most` bytes; owned by the caller. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_input_file_read(const char *path, size_t most, uint8_t **bytes, size_t *size,
                             mr_error *error);
mr_status mr_input_file_write(const char *path, const uint8_t *bytes, size_t size, mr_error *error);

/* Adds the regular files of a folder, in the order of their names; names that begin with a dot, and
 * folders, are passed over. MR_ERR_IO: there is no such folder, or no file in it. */
mr_status mr_inputs_add_folder(mr_inputs *inputs, const char *folder, size_t most, mr_error *error);

/* Adds what the command writes, run `count` times with MAXRACE_SEED 1, 2, … MR_ERR_IO: it cannot be
 * run, or ends with another status than 0. */
mr_status mr_inputs_add_generated(mr_inputs *inputs, const char *command, uint32_t count,
                                  size_t most, mr_error *error);

#endif
