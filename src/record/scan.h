/* scan: the first pass over a log: where the variables begin and end, and who uses them. */
#ifndef MR_RECORD_SCAN_H
#define MR_RECORD_SCAN_H

#include "log_reader.h"
#include "objects.h"
#include "pieces.h"

struct mr_progress;

typedef struct mr_scan {
    bool keep_all; /* set by the caller */
    mr_pieces pieces;
    mr_objects objects; /* in the order in which the second pass meets them, too */
    uint64_t last_unit; /* where the log ends, or stops to make sense */
} mr_scan;

/* Zero-initialise. MR_ERR_MEMORY; free in either case. */
mr_status mr_scan_run(mr_scan *scan, const mr_log *log, const struct mr_progress *progress,
                      mr_error *error);
void mr_scan_free(mr_scan *scan);

/* What more than so many bytes can be reached is as good as everything. */
enum { MR_REACH_MAX_BYTES = 1 << 24 };

#endif
