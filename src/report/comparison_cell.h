/* comparison_cell: the numbers of a comparison as text; for the files of src/report only. */
#ifndef MR_REPORT_COMPARISON_CELL_H
#define MR_REPORT_COMPARISON_CELL_H

#include "comparison.h"

/* A row of the table: one quantity of all finders. Only the seconds differ from run to run, and
 * they are the last. */
typedef enum mr_quantity {
    MR_QUANTITY_RACY_EVENTS,
    MR_QUANTITY_RACY_LOCATIONS,
    MR_QUANTITY_RACY_VARIABLES,
    MR_QUANTITY_STATIC_RACES,
    MR_QUANTITY_ONLY,
    MR_QUANTITY_UNKNOWN,
    MR_QUANTITY_USES_AFTER_FREE, /* from here on in the order of mr_witness_kind */
    MR_QUANTITY_DEADLOCKS,
    MR_QUANTITY_NULL,
    MR_QUANTITY_DANGLING,
    MR_QUANTITY_DOUBLE_FREES,
    MR_QUANTITY_BESIDE_UNKNOWN,
    MR_QUANTITY_SECONDS,
    MR_QUANTITY_COUNT
} mr_quantity;

enum { MR_CELL_BYTES = 32 };

/* "racy events" */
const char *mr_quantity_name(mr_quantity quantity);
/* How many quantities this report shows, from the first one on. */
int mr_quantity_shown(const mr_comparison_report *report);
/* Is it worth a row? What is beside races is, when some finder has it. */
bool mr_quantity_has_row(const mr_comparison *comparison, mr_quantity quantity);
/* The quantity of a finder; "-" where it has none. */
const char *mr_cell_text(const mr_finder_figures *finding, int finder, mr_quantity quantity,
                         char buffer[MR_CELL_BYTES]);

#endif
