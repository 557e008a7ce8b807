/*
 * comparison: what the relations and models find on one or many traces, as a table for people
 * (text, Markdown), one row a finder for programs (CSV), or JSON (docs/report-format.md).
 *
 *   mr_comparison_begin → mr_comparison_write(trace)* → mr_comparison_end
 *
 * Each trace is written when it is done, so that a long run shows early what it has.
 */
#ifndef MR_REPORT_COMPARISON_H
#define MR_REPORT_COMPARISON_H

#include "compare/compare.h"

#include <stdio.h>

typedef struct mr_comparison_report {
    FILE *stream; /* on loan */
    mr_format format;
    unsigned finders; /* the columns of the tables */
    bool run;         /* report.run: times are told */
    size_t count;     /* traces so far */
} mr_comparison_report;

/* The head of the table. Errors stay in the stream. */
void mr_comparison_begin(mr_comparison_report *report, FILE *stream, mr_format format,
                         unsigned finders, bool run);
/* MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_comparison_write(mr_comparison_report *report, const mr_comparison *comparison,
                              mr_error *error);
void mr_comparison_end(mr_comparison_report *report);

/* comparison_json.c: one trace as a JSON object, without a newline; `run` as above. Errors as
 * above.
 */
mr_status mr_comparison_json(FILE *stream, const mr_comparison *comparison, bool run,
                             mr_error *error);

#endif
