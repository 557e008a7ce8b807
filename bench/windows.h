/*
 * windows: one trace over window sizes and solver timeouts, as Figure 7 of Kini, Mathur, Viswanathan
 * (PLDI 2017): a table of races, unknown candidates and seconds, and the same as plots.
 */
#ifndef MR_BENCH_WINDOWS_H
#define MR_BENCH_WINDOWS_H

#include "measure.h"

/* Measures a trace with settings; the last is NULL. */
typedef mr_bench_row mr_bench_measurer(const char *trace, const char *const *settings);

enum { MR_BENCH_MOST_CELLS = 32 };

/* Words of the table: "1000", "500". `count` at most MR_BENCH_MOST_CELLS. */
typedef struct mr_bench_axis {
    const char *items[MR_BENCH_MOST_CELLS];
    size_t count;
} mr_bench_axis;

/* Prints the table, and writes the page to the file `page` unless it is empty. False, with a line on
 * standard error: the page cannot be written. */
bool mr_bench_windows(const char *trace, const mr_bench_axis *sizes, const mr_bench_axis *timeouts,
                      mr_bench_measurer *measure, const char *page);

#endif
