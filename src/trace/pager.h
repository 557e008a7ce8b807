/*
 * pager: keeps the process within its limit while an event store is mapped from files (spill.h).
 *
 * Mapped pages count as the memory of the process (RSS) until somebody else needs the room. The
 * pager is a thread that looks every few milliseconds, and when the process holds nearly as much as
 * the limit, takes the mapped pages out of it. Who goes through a store from one end to the other
 * may look by itself now and then, so that it does not matter when the thread has its turn. Nothing
 * is lost: what was read or written is in the file, mostly still in the memory of the system, and
 * comes back when it is touched. Mapped pages up to an eighth of the limit stay in any case, so
 * that it does not take out what is in use over and over when the limit is passed by other memory.
 */
#ifndef MR_TRACE_PAGER_H
#define MR_TRACE_PAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_pager mr_pager;

/* `slots`: how many ranges there are at most. NULL: no memory or no thread to be had. */
mr_pager *mr_pager_start(uint64_t limit_bytes, size_t slots);
void mr_pager_stop(mr_pager *pager); /* NULL is fine */

/* Looks now. Any thread. */
void mr_pager_look(mr_pager *pager);

/* The mapped range of a slot; 0 bytes: none. After it returns, the old range is not touched. */
void mr_pager_set(mr_pager *pager, size_t slot, void *at, size_t bytes);

/* What stays mapped in any case. */
uint64_t mr_pager_window_bytes(uint64_t limit_bytes);

#endif
