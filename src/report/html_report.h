/*
 * html: reports as one HTML file that needs nothing beside it and no network. These are cells of the table in
 * formats.h.
 *
 * The page shows a JSON object that stands in it: {"reports":[…]}, one for each run, each with the findings in groups
 * and the steps of the worst finding of each group, {"compare":[…]}, or the plots of plots.h. MR_ERR_IO, MR_ERR_MEMORY.
 */
#ifndef MR_REPORT_HTML_REPORT_H
#define MR_REPORT_HTML_REPORT_H

#include "comparison.h"
#include "runs_report.h"

mr_status mr_predict_report_html(FILE *stream, const mr_trace *trace, const mr_config *config,
                                 const mr_result *result, mr_error *error);

extern const mr_runs_writer mr_runs_html;
extern const mr_comparison_writer mr_comparison_html;

#endif
