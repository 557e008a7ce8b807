/* schedule_table: the schedule of a witness for people. */
#ifndef MR_REPORT_SCHEDULE_TABLE_H
#define MR_REPORT_SCHEDULE_TABLE_H

#include "sees.h"
#include "source.h"
#include "style.h"
#include "witness/witness.h"

#include <stdio.h>

/* The whole schedule of one witness, as the text report shows it. False: the stream failed, or
 * there is no memory; errno says which. */
bool mr_report_schedule(FILE *stream, const mr_trace *trace, const mr_witness *witness);

/* How a schedule is shown. */
typedef struct mr_schedule_view {
    mr_show_schedule show; /* not NONE */
    mr_style style;
    mr_source *source; /* NULL: without lines of the source */
} mr_schedule_view;

/* For the files of src/report only: prints the schedule. `sees` finds the write that each read sees.
 * False: no memory (errors of the stream stay in it). */
bool mr_schedule_print(FILE *stream, const mr_witness *witness, mr_sees *sees,
                       const mr_schedule_view *view);

#endif
