/* schedule_table: the schedule of a witness for people; for the files of src/report only. */
#ifndef MR_REPORT_SCHEDULE_TABLE_H
#define MR_REPORT_SCHEDULE_TABLE_H

#include "sees.h"
#include "witness/witness.h"

#include <stdio.h>

/* Prints the schedule; with `full`, every event of it. `sees` is used for what the reads see.
 * False: no memory (the stream's own errors stay in it). */
bool mr_schedule_print(FILE *stream, const mr_witness *witness, mr_sees *sees, bool full);

#endif
