/* predict_summary: the end of the text of a prediction; for the files of src/report only. */
#ifndef MR_REPORT_PREDICT_SUMMARY_H
#define MR_REPORT_PREDICT_SUMMARY_H

#include "listing/listing.h"

typedef struct mr_predict_summary {
    FILE *stream;
    const mr_trace *trace;
    const mr_config *config;
    const mr_result *result;
    const mr_listing *findings;
    bool groups_hidden; /* some finding is not shown in full */
} mr_predict_summary;

/* The counts; the lines that differ from run to run; the line that counts findings; unused
 * suppressions, and the line that says what to do next. */
void mr_predict_print_summary(const mr_predict_summary *self);
void mr_predict_print_run(FILE *stream, const mr_run_figures *run);
void mr_predict_print_last(const mr_predict_summary *self);
bool mr_predict_print_next(const mr_predict_summary *self); /* false: no memory */

#endif
