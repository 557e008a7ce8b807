/*
 * measure: one prediction in a process of its own, so that its memory is its own and a crash or a
 * hang is one bad row.
 */
#ifndef MR_BENCH_MEASURE_H
#define MR_BENCH_MEASURE_H

#include "predict/result.h"

/* What to run: a trace file, or the name of a generated trace (generate.h). */
typedef struct mr_bench_task {
    const char *input;
    const char *const *settings; /* "key=value" each, ends with NULL */
    unsigned limit_seconds;      /* then it is stopped; 0: never */
} mr_bench_task;

typedef struct mr_bench_row {
    bool finished;
    char problem[160]; /* why not, when it is not finished */
    uint32_t events;
    uint64_t races, unknown;
    mr_stats stats;
    mr_run_figures run;
    uint64_t peak_bytes; /* of the process */
} mr_bench_row;

void mr_bench_measure(const mr_bench_task *task, mr_bench_row *row);

#endif
