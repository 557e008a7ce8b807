/*
 * mrt_stacks: the STACKS chunks of an .mrt file → the stack table and the stack column of a trace
 * in memory. Every number is checked; a caller has a smaller number than who it calls, so following
 * callers ends.
 */
#ifndef MR_FORMATS_MRT_STACKS_H
#define MR_FORMATS_MRT_STACKS_H

#include "mrt_format.h"

/* Zero-initialise. What it reads belongs to the trace. */
typedef struct mr_mrt_stacks_reader {
    size_t stack_capacity;
    uint32_t filled; /* rows of the column that say something, zeros included */
} mr_mrt_stacks_reader;

/* Reads the stacks of the block of `count` events from `first` on, the last ones of the trace so
 * far. MR_ERR_TRACE (a text without place), MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_mrt_stacks_read(mr_mrt_stacks_reader *reader, mr_trace *trace,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             mr_error *error);

/* Gives the column, when there is one, a row for each event of the trace. MR_ERR_MEMORY,
 * MR_ERR_IO. */
mr_status mr_mrt_stacks_finish(mr_mrt_stacks_reader *reader, mr_trace *trace, mr_error *error);

#endif
