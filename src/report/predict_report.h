/*
 * predict_report: the result of a prediction, as text for people or as JSON for programs
 * (docs/report-format.md). These are cells of the table in formats.h.
 */
#ifndef MR_REPORT_PREDICT_REPORT_H
#define MR_REPORT_PREDICT_REPORT_H

#include "config/config.h"
#include "predict/result.h"

/*
 * Text: each race with its two accesses, then its schedule: one line an event, thread switches
 * visible, the two accesses marked, what each read sees; then the unknown candidates and a summary.
 * The last line says the number of races, and of unknown candidates when there are any. Long
 * schedules are shortened, unless witness.full_schedule is set. With report.run, what differs from
 * run to run has a section of its own. MR_ERR_IO, which names the file of `output`; MR_ERR_MEMORY.
 * errno says the same.
 */
mr_status mr_predict_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error);

/* One JSON object: tool, trace, config, races, unknown, stats; with report.run, run. MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_predict_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error);

#endif
