/*
 * mrt_values: the VALUES chunks of an .mrt file → the value tables and the value column of a trace
 * in memory. Every number is checked against the tables, and that a value stands in them once.
 */
#ifndef MR_TRACE_MRT_VALUES_H
#define MR_TRACE_MRT_VALUES_H

#include "keys.h"
#include "mrt_format.h"

/* Zero-initialise; free with mr_mrt_values_free. */
typedef struct mr_mrt_values_reader {
    mr_keys values; /* becomes trace->values */
} mr_mrt_values_reader;

/* Reads the values of the `count` events from `first` on, the first ones of their block, whose
 * other columns are in the trace. `chunk` NULL: the block has no values. MR_ERR_TRACE (a text
 * without place), MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_mrt_values_read(mr_mrt_values_reader *reader, mr_trace *trace, uint32_t first,
                             uint32_t count, const mr_mrt_chunk *chunk,
                             const unsigned char *payload, mr_error *error);

/* Hands the table of values over to the trace. */
void mr_mrt_values_finish(mr_mrt_values_reader *reader, mr_trace *trace);
void mr_mrt_values_free(mr_mrt_values_reader *reader);

#endif
