/*
 * formats: the table of all reports. A row is a format and a column is a subject. A cell holds the
 * functions that write the subject in the format; when it is empty, the subject does not have the
 * format. The command line chooses its reports from this table only.
 *
 * A new format: its word in MR_FORMAT_MAP (config.h), a row here, and a file with its functions. A
 * new subject: a column.
 */
#ifndef MR_REPORT_FORMATS_H
#define MR_REPORT_FORMATS_H

#include "comparison.h"
#include "config/config.h"
#include "hunt_report.h"
#include "order_report.h"
#include "predict_report.h"
#include "runs_report.h"

/* The subject of a report. */
typedef enum mr_subject {
    MR_SUBJECT_NONE,    /* no report */
    MR_SUBJECT_PREDICT, /* the result of a prediction: `predict`, `merge` */
    MR_SUBJECT_ORDER,   /* the races of an order: `order` */
    MR_SUBJECT_COMPARE, /* the findings of several relations: `compare` */
    MR_SUBJECT_RUNS,    /* one prediction or several, one a recorded run: `run` */
    MR_SUBJECT_HUNT,    /* what a hunt has found: `hunt` */
    MR_SUBJECT_COUNT
} mr_subject;

/* Each writes the whole report of one result. MR_ERR_IO, MR_ERR_MEMORY. */
typedef mr_status mr_order_writer(FILE *stream, const mr_trace *trace, const mr_config *config,
                                  const mr_order_result *result, mr_error *error);

typedef struct mr_format_row {
    mr_predict_writer *predict;
    mr_order_writer *order;
    const mr_comparison_writer *compare;
    const mr_runs_writer *runs;
    mr_hunt_writer *hunt;
} mr_format_row;

/* By mr_format. */
extern const mr_format_row mr_formats[MR_FORMAT_COUNT];

/* The row of `format` as configured. */
const mr_format_row *mr_format_chosen(const mr_config *config);

/* Is the cell of the table filled? */
bool mr_format_has(mr_format format, mr_subject subject);

/* Does the subject have the configured format? If not, MR_ERR_CONFIG with one line that names the
 * formats of `command` and the commands that have the format. Without a subject every format is
 * right. */
mr_status mr_format_check(const mr_config *config, mr_subject subject, const char *command,
                          mr_error *error);

#endif
