/* scan: the first pass over a log. It finds where variables begin and end, and which threads use
 * them. */
#ifndef MR_RECORD_SCAN_H
#define MR_RECORD_SCAN_H

#include "benign.h"
#include "deaths.h"
#include "gaps.h"
#include "log_reader.h"
#include "objects.h"
#include "pieces.h"
#include "uses.h"

struct mr_progress;

typedef struct mr_scan {
    bool keep_all; /* set by the caller: leave nothing out */
    mr_pieces pieces;
    mr_gaps gaps;
    mr_benign benign;
    mr_uses uses;
    mr_deaths deaths;
    mr_objects objects; /* the second pass finds the same objects with the same numbers */
    uint64_t accesses;
    uint64_t last_unit; /* the end of the part of the log that can be read */
    mr_pairs started;   /* threads that were started, the first one, and those that were joined */
    uint32_t forks, joins;
} mr_scan;

/* Zero-initialise. MR_ERR_MEMORY. The caller calls mr_scan_free in either case. */
mr_status mr_scan_run(mr_scan *scan, const mr_log *log, const struct mr_progress *progress,
                      mr_error *error);
void mr_scan_free(mr_scan *scan);

/* An extent of more bytes counts as all memory. */
enum { MR_REACH_MAX_BYTES = 1 << 24 };

#endif
