/*
 * ceiling: asks a run to end (halt.h, MR_HALT_MEMORY) when the process holds more than
 * memory.limit_mb. It is for work that takes memory without asking a room (room.h): reading a
 * trace, the whole-trace orders and their proofs.
 *
 *   mr_ceiling_start → (work that looks at the halt) → mr_ceiling_stop
 *
 * A thread measures every few milliseconds, more often near the limit, and up to 50 ms apart far from it. What counts is the anonymous memory of the process, and
 * of mapped pages the code and as much as a pager leaves in any case (trace/pager.h). Freed memory is given
 * back to the system before the run is asked to end. A limit below what the program takes
 * anyway cannot be kept, so the process must also have grown by 16 MiB since the start.
 */
#ifndef MR_BASE_CEILING_H
#define MR_BASE_CEILING_H

#include "halt.h"

#include <stdint.h>

typedef struct mr_ceiling mr_ceiling;

/* `halt` must live until mr_ceiling_stop. NULL: no limit (0), or no thread is to be had, and nobody
 * watches. */
mr_ceiling *mr_ceiling_start(uint64_t limit_bytes, mr_halt *halt);
void mr_ceiling_stop(mr_ceiling *ceiling); /* NULL is fine */

#endif
