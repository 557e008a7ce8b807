/*
 * comparison: the report of `maxrace compare` on one or many traces: a table for people (text,
 * Markdown), one row for each finder for programs (CSV), or JSON (docs/report-format.md).
 *
 *   mr_comparison_begin → mr_comparison_write(trace)* → mr_comparison_end
 *
 * The part of a trace is written when its comparison is done, so that a long run shows it early.
 */
#ifndef MR_REPORT_COMPARISON_H
#define MR_REPORT_COMPARISON_H

#include "compare/compare.h"

#include <stdio.h>

typedef struct mr_comparison_report {
    FILE *stream; /* on loan */
    mr_format format;
    unsigned finders; /* the columns of the tables */
    bool run;         /* report.run: write times, too */
    size_t count;     /* traces so far */
} mr_comparison_report;

/* Writes the head of the report. The format is one that `compare` has (mr_format_has). Errors stay
 * in the stream. */
void mr_comparison_begin(mr_comparison_report *report, FILE *stream, mr_format format,
                         unsigned finders, bool run);
/* Writes the part of a trace. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_comparison_write(mr_comparison_report *report, const mr_comparison *comparison,
                              mr_error *error);
void mr_comparison_end(mr_comparison_report *report);

/* A cell of the table in formats.h: functions for the head, the part of a trace, and the end.
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
