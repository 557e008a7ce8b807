/*
 * early: the first pass over a log (scan.h) beside the program that still writes it.
 *
 *   mr_early_start → (the program runs and ends) → mr_early_end → mr_record_convert takes the rest → mr_early_free
 *
 * A thread follows the log: it reads what the header says to be in the file. That part of a log is
 * complete and does not change. The pass is the same as over the whole log; it only begins earlier. The
 * other passes need its end: which pieces of memory are variables depends on all accesses.
 */
#ifndef MR_RECORD_EARLY_H
#define MR_RECORD_EARLY_H

#include "convert.h"
#include "scan.h"

typedef struct mr_early mr_early;

/* Follows the log that will be at the path. Of the options it takes `keep_local`, `leave_ordered` and
 * `part_units`. NULL: there is one processor only, no memory, or no thread; the pass is then made when the
 * program has ended. */
mr_early *mr_early_start(const char *log_path, const mr_record_options *options);

/* Nobody writes the log any more. The pass as far as it has come, on loan; NULL: it has not begun, or had
 * no memory. */
mr_scan *mr_early_end(mr_early *early);

void mr_early_free(mr_early *early); /* NULL is fine */

#endif
