/*
 * mrt_fill: blocks of an .mrt file that were found right → rows of the columns of a trace, and
 * their index (index.h).
 *
 *   mr_mrt_fill_new → (mr_mrt_fill_put | mr_mrt_fill_wait)* → mr_mrt_fill_end → mr_mrt_fill_free
 *
 * Apart, a thread of its own does that some blocks behind who reads and checks them, which takes
 * about as long; when it is too far behind, the reader fills the rows of a block, and leaves it the
 * index. What is wrong with a file is found by the reader alone, so it makes no difference
 * to what is read, nor to errors, whether there is such a thread.
 */
#ifndef MR_FORMATS_MRT_FILL_H
#define MR_FORMATS_MRT_FILL_H

#include "trace/events.h"

typedef struct mr_mrt_fill mr_mrt_fill;

/* Without `apart`, or when there is no thread to be had, the caller's thread does it. NULL: no
 * memory. */
mr_mrt_fill *mr_mrt_fill_new(bool apart);
void mr_mrt_fill_free(mr_mrt_fill *fill); /* waits; NULL is fine */

/*
 * The next events, with their value column (NULL: they have no values); the columns of the trace
 * have room for them and for their links. Apart, the events must stay where they are until the end,
 * and the trace's columns and `updates` until mr_mrt_fill_wait. Events that stand in the trace
 * already are not copied. False: no memory, for these or earlier ones.
 */
bool mr_mrt_fill_put(mr_mrt_fill *fill, const mr_trace *trace, const mr_events *events,
                     const uint32_t *values);

/* Until all that was put is there. */
void mr_mrt_fill_wait(mr_mrt_fill *fill);

/* When all events of the trace were put: waits, and puts what is derived into it. False: no
 * memory. */
bool mr_mrt_fill_end(mr_mrt_fill *fill, mr_trace *trace);

#endif
