/*
 * report_read: a report of a prediction in JSON, read back, so that it can be written in another format
 * (docs/report-format.md).
 *
 *   mr_report_open → (read the trace that it names) → mr_report_result → mr_report_close
 *
 * The report has numbers of events, so its trace is needed. The result has what the report has: findings
 * that it suppressed are not there, nor the figures of the run.
 */
#ifndef MR_REPORT_REPORT_READ_H
#define MR_REPORT_REPORT_READ_H

#include "config/config.h"
#include "predict/result.h"

typedef struct mr_report mr_report;

/* Reads the file and sets the options that decided the result as they were. MR_ERR_CONFIG: it is no
 * report of one prediction; MR_ERR_MEMORY. */
mr_status mr_report_open(const char *file, mr_config *config, mr_report **report, mr_error *error);
/* The file of the trace, as it was given to `predict`; valid until the report is closed. */
const char *mr_report_trace(const mr_report *report);
/* The result, owned by the caller, also after an error. Every witness has been accepted by the checker:
 * MR_ERR_TRACE when one is not, or an event is not there. Then the trace is another one. The effects of
 * races stay the report's: close it after the result was used. MR_ERR_MEMORY. */
mr_status mr_report_result(const mr_report *report, const mr_trace *trace, const mr_config *config,
                           mr_result *result, mr_error *error);
void mr_report_close(mr_report *report); /* NULL is fine */

#endif
