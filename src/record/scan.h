/* scan: the first pass over a log. It finds where variables begin and end, and which threads use
 * them. */
#ifndef MR_RECORD_SCAN_H
#define MR_RECORD_SCAN_H

#include "assembly.h"
#include "beginning.h"
#include "benign.h"
#include "deaths.h"
#include "gaps.h"
#include "ignored.h"
#include "log_reader.h"
#include "objects.h"
#include "ordered.h"
#include "pieces.h"
#include "presence.h"
#include "uses.h"

#include <stdatomic.h>

struct mr_progress;

typedef struct mr_scan {
    bool keep_all; /* set by the caller: leave nothing out */
    mr_pieces pieces;
    mr_gaps gaps;
    mr_benign benign;
    mr_ignored ignored;
    mr_assembly assembly;
    mr_uses uses;
    mr_deaths deaths;
    mr_objects objects; /* the second pass finds the same objects with the same numbers */
    uint64_t accesses;
    uint64_t last_unit; /* the end of the part of the log that can be read */
    mr_presence presence;
    mr_beginning beginning;
    mr_ordered ordered;
    mr_log_pass pass;
    uint64_t part_end; /* of the part that is read */
} mr_scan;

/* `part_units` as in mr_record_options. */
void mr_scan_init(mr_scan *scan, bool keep_all, uint64_t part_units);
/* Leaves out what happens-before orders (ordered.h), unless the scan keeps all. Between mr_scan_init and
 * mr_scan_begin. */
void mr_scan_leave_ordered(mr_scan *scan);
/* Was it called? */
static inline bool mr_scan_is_for_shb(const mr_scan *scan)
{
    return scan->ordered.on && !scan->ordered.must;
}
/* Has that been done, as far as it is known by now? */
static inline bool mr_scan_leaves_ordered(const mr_scan *scan)
{
    return mr_scan_is_for_shb(scan) && !scan->ordered.given_up;
}
void mr_scan_begin(mr_scan *scan, const mr_log *log);
/* Reads on in a log that still grows, until it has come to the end or `stop` is set. False: no memory. */
bool mr_scan_go_on(mr_scan *scan, const atomic_bool *stop);
/* Reads the rest of the log, which has all its records now. MR_ERR_MEMORY. The caller calls
 * mr_scan_free in either case. */
mr_status mr_scan_finish(mr_scan *scan, const mr_log *log, const struct mr_progress *progress,
                         mr_error *error);
void mr_scan_free(mr_scan *scan);

/* An extent of more bytes counts as all memory. */
enum { MR_REACH_MAX_BYTES = 1 << 24 };

#endif
