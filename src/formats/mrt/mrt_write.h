/*
 * mrt_write: writes a trace in the binary format .mrt (mrt_format.h), in one pass and without going
 * back, so also to a pipe.
 *
 *   mr_mrt_writer_new → mr_mrt_writer_add(events)* → mr_mrt_writer_finish → mr_mrt_writer_free
 *
 * The trace that is handed in gives names, values and lines; it may still be growing: of the tables
 * only what the events so far use is looked at. Memory: a block, and the outlook of the trace. The
 * same blocks give the same bytes, whether the trace was still growing or not.
 */
#ifndef MR_FORMATS_MRT_WRITE_H
#define MR_FORMATS_MRT_WRITE_H

#include "trace/events.h"

#include <stdio.h>

typedef struct mr_mrt_writer mr_mrt_writer;

/* Writes to `file`, which stays the caller's. MR_ERR_IO, MR_ERR_MEMORY, MR_ERR_UNSUPPORTED. */
mr_status mr_mrt_writer_new(FILE *file, mr_mrt_writer **writer, mr_error *error);
void mr_mrt_writer_free(mr_mrt_writer *writer); /* NULL is fine */

/* The next block, at most MR_MRT_BLOCK_EVENTS events, with their value column (never NULL: zeros where none has a value), and their stack
 * column (NULL: none has a stack). Stacks are numbered in the order of first use, as names are. */
mr_status mr_mrt_writer_add(mr_mrt_writer *writer, const mr_trace *trace, const mr_events *events,
                            const uint32_t *value, const uint32_t *stack, mr_error *error);

/* Positions of the events of the last block (mrt_positions.h), and their codes: those that are new,
 * then for each event what is in `columns`. */
mr_status mr_mrt_writer_positions(mr_mrt_writer *writer, const mr_events *events,
                                  const uint64_t *codes, uint32_t code_count, const void *columns,
                                  size_t column_bytes, mr_error *error);

/* What is known of the run: lines; on loan up to mr_mrt_writer_finish. NULL: nothing. */
void mr_mrt_writer_run(mr_mrt_writer *writer, const char *lines);

/* What the program got from outside: the first bytes of a file, which is read by
 * mr_mrt_writer_finish. The path is on loan up to then. */
void mr_mrt_writer_inputs(mr_mrt_writer *writer, const char *path, uint64_t size_bytes);

/* What is left: texts for people, what repair dropped, the index and the end mark. */
mr_status mr_mrt_writer_finish(mr_mrt_writer *writer, const mr_trace *trace, mr_error *error);

/* All of it for a trace in memory. */
mr_status mr_mrt_write(FILE *file, const mr_trace *trace, const struct mr_progress *progress,
                       mr_error *error);

#endif
