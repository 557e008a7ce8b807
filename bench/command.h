/*
 * command: runs a program and measures it from outside, with what the system counts for it.
 */
#ifndef MR_BENCH_COMMAND_H
#define MR_BENCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mr_bench_run {
    int status;         /* exit status; -1: stopped after the limit; -2: a signal, or not started */
    double seconds;     /* from start to end */
    double cpu_seconds; /* of all its threads, in the program and in the system */
    /* resident memory, at most; pages of a file that the program maps count, too */
    uint64_t peak_bytes;
    char *output; /* standard output, terminated; freed by the caller; NULL: not wanted, or lost */
} mr_bench_run;

/* Runs `words` (at most 30, ends with NULL; the first is looked for as a shell does) and waits for
 * it. Its standard output is kept when wanted, else it goes nowhere. `limit_seconds` 0: no limit.
 */
mr_bench_run mr_bench_run_command(const char *const *words, unsigned limit_seconds,
                                  bool keep_output);

#endif
