/*
 * predict_report: the result of a prediction, as text for people or as JSON for programs
 * (docs/report-format.md). These are cells of the table in formats.h.
 */
#ifndef MR_REPORT_PREDICT_REPORT_H
#define MR_REPORT_PREDICT_REPORT_H

#include "config/config.h"
#include "predict/result.h"

/*
 * Text: each race with its two accesses and its schedule, then the unknowns and a summary. A
 * schedule has one line for each event; it shows thread switches, the two accesses, and the write
 * that each read sees. The last line says the number of races, and of unknowns when there are any.
 * Long schedules are shortened, unless report.schedule is full. With report.run, a section of
 * its own has the lines that differ from run to run. MR_ERR_IO, which names the file of `output`;
 * MR_ERR_MEMORY. errno says the same.
 */
mr_status mr_predict_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error);

/* One JSON object: tool, trace, config, races, unknown, stats; with report.run, run. MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_predict_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error);

/* The other formats: SARIF 2.1.0, JUnit XML, trace events for Perfetto, Graphviz. The files that define
 * them say what they have. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_predict_report_sarif(FILE *stream, const mr_trace *trace, const mr_config *config,
                                  const mr_result *result, mr_error *error);
mr_status mr_predict_report_junit(FILE *stream, const mr_trace *trace, const mr_config *config,
                                  const mr_result *result, mr_error *error);
mr_status mr_predict_report_perfetto(FILE *stream, const mr_trace *trace, const mr_config *config,
                                     const mr_result *result, mr_error *error);
mr_status mr_predict_report_dot(FILE *stream, const mr_trace *trace, const mr_config *config,
                                const mr_result *result, mr_error *error);

#endif
