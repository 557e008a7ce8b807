/*
 * columns: the memory of a trace's arrays that are as long as the trace, or may be: one slot of its
 * spill (spill.h) for each. Only here they are made larger.
 */
#ifndef MR_TRACE_COLUMNS_H
#define MR_TRACE_COLUMNS_H

#include "trace.h"

/* Where the columns of a trace, which has none so far, may be, as the options say; NULL: in memory.
 * False: no memory. */
bool mr_columns_limit(mr_trace *trace, const mr_read_options *options);

/* Room for so many events in the columns op, thread, operand, location and value; and in the
 * others, one by one. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_columns_reserve_events(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_links(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_stacks(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_updates(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_reaches(mr_trace *trace, size_t count, mr_error *error);
mr_status mr_columns_reserve_lines(mr_trace *trace, size_t count, mr_error *error);

/* How many events the five columns have room for. */
size_t mr_columns_room(const mr_trace *trace);

/* Gives back what is not used: when the trace is complete. MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_columns_fit(mr_trace *trace, mr_error *error);

/* A zeroed array with an element for each event, for who derives something from the trace: in a
 * file when the columns are. `spill` is overwritten; the owner frees it (mr_spill_free), whatever
 * happens. NULL: no memory, or no room for the file. */
void *mr_columns_derive(const mr_trace *trace, size_t element_bytes, mr_spill *spill);

/* Bytes that the store holds in memory; of a store in files, what of it may be in memory. */
uint64_t mr_columns_memory_bytes(const mr_trace *trace);

#endif
