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

/* The head of the table. The format is one that `compare` has (mr_format_has). Errors stay in the
 * stream. */
void mr_comparison_begin(mr_comparison_report *report, FILE *stream, mr_format format,
                         unsigned finders, bool run);
/* MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_comparison_write(mr_comparison_report *report, const mr_comparison *comparison,
                              mr_error *error);
void mr_comparison_end(mr_comparison_report *report);

/* A cell of the table in formats.h: what stands before all traces, a trace, what stands after them.
 * Errors of the stream stay in it; other errors (MR_ERR_MEMORY) are returned. */
typedef struct mr_comparison_writer {
    void (*begin)(const mr_comparison_report *report); /* NULL: nothing, as for `end` */
    mr_status (*write)(const mr_comparison_report *report, const mr_comparison *comparison,
                       mr_error *error);
    void (*end)(const mr_comparison_report *report);
} mr_comparison_writer;

extern const mr_comparison_writer mr_comparison_text, mr_comparison_json, mr_comparison_csv,
    mr_comparison_markdown;

#endif
