/*
 * columns: the memory of a trace's arrays that are as long as the trace, or may be: one slot of its
 * spill (spill.h) for each. Only here they are made larger.
 */
#ifndef MR_TRACE_COLUMNS_H
#define MR_TRACE_COLUMNS_H

#include "trace.h"

/* Sets where the columns of a new trace may be, as the options say: in memory, or in files, too.
 * `options` NULL: in memory. False: no memory. */
bool mr_columns_limit(mr_trace *trace, const mr_read_options *options);

/* Room for so many events in the columns op, thread, operand, location and value, the last unless the trace lacks values;
 * and in the others, one by one. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_columns_reserve_events(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_links(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_stacks(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_orders(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_updates(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_reaches(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_lines(mr_trace *trace, size_t count, mr_error *error);

/* Columns and links of so many events, of which most are never touched: they are zeros, and take no memory before they are
 * written. The columns do not grow, and mr_columns_fit has nothing to do. False: no memory. */
bool mr_columns_sparse(mr_trace *trace, size_t count);

/* The same for events that are touched one after the other: in large pages. */
bool mr_columns_dense(mr_trace *trace, size_t count);

/* The value column of a trace that lacks values: zeros, which take no memory before they are written. False: no memory. */
bool mr_columns_zero_values(mr_trace *trace);

/* How many events the five columns have room for. */
size_t mr_columns_room(const mr_trace *trace);

/* Gives unused room back. To be called when the trace is complete. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_columns_fit(mr_trace *trace, mr_error *error);

/* An array of zeros with one element for each event, for what is derived from the trace. It is in a
 * file when the columns are. `spill` is overwritten; the caller frees it (mr_spill_free), also after
 * a failure. NULL: no memory, or no room for the file. */
void *mr_columns_derive(const mr_trace *trace, size_t element_bytes, mr_spill *spill);

/* Bytes that the store holds in memory. For a store in files: those that may be in memory. */
uint64_t mr_columns_memory_bytes(const mr_trace *trace);

#endif
