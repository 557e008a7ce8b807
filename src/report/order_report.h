/*
 * order_report: the report of `maxrace order`, as text for people or as JSON for programs
 * (docs/report-format.md). These are cells of the table in formats.h.
 *
 * `trace` needs no columns: names, counts and lines are enough (mr_stream_dictionary).
 */
#ifndef MR_REPORT_ORDER_REPORT_H
#define MR_REPORT_ORDER_REPORT_H

#include "config/config.h"
#include "sweep/order_result.h"

/* Text: the counts, a list of the findings, each static race with its examples and its proof, a summary and, with
 * report.run, the section on the run. The last line says how many static races there are, and how
 * many of them are proven. With `brief` the list alone. MR_ERR_IO, which names the file of `output`; errno says the same. */
mr_status mr_order_report_text(FILE *stream, const mr_trace *trace, const mr_config *config,
                               const mr_order_result *result, mr_error *error);

/* One JSON object: tool, trace, config, order, races, stats; with report.run, run. MR_ERR_IO,
 * MR_ERR_MEMORY. */
mr_status mr_order_report_json(FILE *stream, const mr_trace *trace, const mr_config *config,
                               const mr_order_result *result, mr_error *error);

#endif
