/*
 * input: the bytes of a trace file, unpacked: plain, gzip or zstd, told apart by the first bytes;
 * or standard input; or memory.
 *
 *   mr_input_open | mr_input_open_memory → mr_input_read* → mr_input_close
 *
 * Concatenated gzip members and zstd frames are read as one. zstd windows may have up to
 * 2^MR_INPUT_WINDOW_LOG bytes (`zstd --long=27`, 128 MiB): that is the memory a file can make
 * the reader take; a larger window is an error that says how to pack the file again.
 */
#ifndef MR_FORMATS_PACK_INPUT_H
#define MR_FORMATS_PACK_INPUT_H

#include "base/halt.h"

#include <stdbool.h>

/* How many of the first bytes of the file, as stored, tell its kind. */
enum { MR_INPUT_FIRST_BYTES = 8 };
enum { MR_INPUT_WINDOW_LOG = 27 };

typedef struct mr_input mr_input;

/* Opens a file; "-" is standard input. MR_ERR_IO, MR_ERR_MEMORY, MR_ERR_UNSUPPORTED never: an
 * unknown kind of packing is MR_ERR_TRACE. Errors of this module name no place; the caller knows
 * it. */
mr_status mr_input_open(const char *path, mr_input **input, mr_error *error);
/* Plain text in memory, which must outlive the input. */
mr_status mr_input_open_memory(const char *text, size_t length_bytes, mr_input **input,
                               mr_error *error);
void mr_input_close(mr_input *input); /* NULL is fine */

/* The first bytes of the file, before anything was read: up to MR_INPUT_FIRST_BYTES, fewer when the
 * file is shorter. On loan. */
const unsigned char *mr_input_first(const mr_input *input, size_t *count);

/* Bytes of the file taken so far, and its size (0: not known, as of a pipe). */
uint64_t mr_input_done_bytes(const mr_input *input);
uint64_t mr_input_total_bytes(const mr_input *input);

/*
 * For a reader in a thread of its own, which may wait for a pipe whose other end is silent: after
 * mr_input_interrupt (from any thread) such a wait ends with MR_ERR_IO. False: no descriptors left,
 * waits cannot be ended.
 */
bool mr_input_allow_interrupt(mr_input *input);
void mr_input_interrupt(mr_input *input);

/* From now on waits end when the run is asked to end (base/halt.h), with mr_halt_fail. NULL: not. */
void mr_input_obey(mr_input *input, const mr_halt *halt);

/*
 * Gives up to `size_bytes` (> 0) bytes; `*got` is 0 at the end. MR_ERR_TRACE: the packed data is
 * damaged or ends too early; all bytes before the damage have been given. MR_ERR_IO, MR_ERR_MEMORY.
 * After an error every call gives the same error.
 */
mr_status mr_input_read(mr_input *input, char *buffer, size_t size_bytes, size_t *got,
                        mr_error *error);

#endif
