/*
 * mrt_values: the VALUES chunks of an .mrt file → the value tables of a trace in memory. Every
 * number, in the value column, too, is checked against the tables, and that a value stands in them
 * once.
 */
#ifndef MR_FORMATS_MRT_VALUES_H
#define MR_FORMATS_MRT_VALUES_H

#include "base/keys.h"
#include "mrt_format.h"
#include "trace/events.h"

/* Zero-initialise; free with mr_mrt_values_free. */
typedef struct mr_mrt_values_reader {
    mr_keys values; /* becomes trace->values */
} mr_mrt_values_reader;

/* Reads the values of the events, the first ones of their block, into the tables. `*column` is
 * their value column in the payload, NULL when the block has no values: `chunk` is NULL.
 * MR_ERR_TRACE (a text without place), MR_ERR_MEMORY, MR_ERR_IO (spill.h). */
mr_status mr_mrt_values_read(mr_mrt_values_reader *reader, mr_trace *trace, const mr_events *events,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             const uint32_t **column, mr_error *error);

/* The same for a block whose events are not there: reads its tables. The next checks `column`
 * (NULL: no values) when the events are there after all. */
mr_status mr_mrt_values_tables(mr_mrt_values_reader *reader, mr_trace *trace,
                               const mr_mrt_chunk *chunk, const unsigned char *payload,
                               const uint32_t **column, mr_error *error);

mr_status mr_mrt_values_check(const mr_mrt_values_reader *reader, const mr_trace *trace,
                              const mr_events *events, const uint32_t *column, mr_error *error);

/* Hands the table of values over to the trace. */
void mr_mrt_values_finish(mr_mrt_values_reader *reader, mr_trace *trace);
void mr_mrt_values_free(mr_mrt_values_reader *reader);

#endif
