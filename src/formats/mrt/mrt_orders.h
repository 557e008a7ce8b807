/*
 * mrt_orders: the ORDERS chunks of an .mrt file → the memory_order column of a trace in memory.
 */
#ifndef MR_FORMATS_MRT_ORDERS_H
#define MR_FORMATS_MRT_ORDERS_H

#include "mrt_format.h"

/* Zero-initialise. What it reads belongs to the trace. */
typedef struct mr_mrt_orders_reader {
    uint32_t filled; /* rows of the column that say something */
} mr_mrt_orders_reader;

/* Reads the column of the block of `count` events from `first` on, the last ones of the trace so
 * far, whose operations are in the trace. MR_ERR_TRACE (a text without place), MR_ERR_MEMORY,
 * MR_ERR_IO (spill.h). */
mr_status mr_mrt_orders_read(mr_mrt_orders_reader *reader, mr_trace *trace,
                             const mr_mrt_chunk *chunk, const unsigned char *payload,
                             mr_error *error);

/* Gives the column, when there is one, a row for each event of the trace. MR_ERR_MEMORY,
 * MR_ERR_IO. */
mr_status mr_mrt_orders_finish(mr_mrt_orders_reader *reader, mr_trace *trace, mr_error *error);

#endif
