/*
 * report: a result as text for people or as JSON for programs (docs/report-format.md).
 */
#ifndef MR_REPORT_REPORT_H
#define MR_REPORT_REPORT_H

#include "config/config.h"
#include "predict/result.h"

/*
 * Text: each race with its two accesses, then its schedule: one line an event, thread switches
 * visible, the two accesses marked, what each read sees; then the unknown candidates and a summary.
 * The last line says the number of races, and of unknown candidates when there are any. Long
 * schedules are shortened, unless witness.full_schedule is set. With report.run, what differs from
 * run to run has a section of its own. False, with errno: the stream failed, or ENOMEM.
 */
bool mr_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                    const mr_result *result);

/* One JSON object: tool, trace, config, races, unknown, stats; with report.run, run. MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                         const mr_result *result, mr_error *error);

/* The whole schedule of one witness, as in the text report. False as there. */
bool mr_report_schedule(FILE *stream, const mr_trace *trace, const mr_witness *witness);

#endif
