/*
 * mrt_part: some blocks of an .mrt file as a trace in which all events have their numbers, for who decides windows within
 * these blocks. The rest of the file is not read: only names, values and memberships, and the STATE of each run of
 * blocks.
 *
 * In front of a run (mr_trace.runs) stand events that bring about what the events before it left behind: releases and
 * acquires of sections, and for each variable that the run accesses a write of the value that it has then. So a window
 * finds the open sections and the last values where it always does. Of an event before the run only these things are
 * right; thread_info, and lives and chains that begin before, are those of the events that are there. What the trace says
 * of variables is that of the whole trace (FACTS).
 *
 * It trusts STATE and FACTS. Who uses what was decided by a part reads the file once with check_states
 * (trace.h), as merge does.
 */
#ifndef MR_FORMATS_MRT_PART_H
#define MR_FORMATS_MRT_PART_H

#include "trace/trace.h"

typedef struct mr_mrt_part mr_mrt_part;

typedef struct mr_part_wish {
    void *context;
    /* Is some event of [first, end) of a trace with so many events wanted? */
    bool (*wants)(void *context, uint32_t event_count, uint32_t first, uint32_t end);
    bool always; /* also where it does not pay */
} mr_part_wish;

/*
 * NULL: the file cannot be read in part, or that would not pay; reading all of it says what may be wrong with it. It cannot
 * when it is no regular file, has no STATE, no outlook, dropped lines, BarrierPairs, or semaphores, or when the time or
 * the memory of `options` is used up.
 */
mr_mrt_part *mr_mrt_part_open(const char *path, const mr_read_options *options,
                              const mr_part_wish *wish);
const mr_trace *mr_mrt_part_trace(const mr_mrt_part *part);
void mr_mrt_part_close(mr_mrt_part *part); /* NULL is fine */

#endif
