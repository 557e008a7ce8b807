/*
 * runs_report: what `maxrace run` finds, in one recorded run of the program or several. A single run
 * has the report of a prediction, or with --quick that of an order; several have one report each,
 * with a head, and an end.
 *
 *   mr_runs_report_begin → (mr_runs_report_write | mr_runs_report_write_order)(run)* →
 *     mr_runs_report_end
 */
#ifndef MR_REPORT_RUNS_REPORT_H
#define MR_REPORT_RUNS_REPORT_H

#include "config/config.h"
#include "predict/result.h"
#include "sweep/order_result.h"

typedef struct mr_runs_report {
    FILE *stream; /* on loan */
    const mr_config *config;
    uint64_t count;  /* of runs */
    uint64_t run;    /* that is written: 1, 2, … count */
    uint64_t number; /* of the report that is written, from 1: a run has several with children */
    bool several;    /* heads and an end, as several runs have them */
    uint64_t with_others; /* reports so far with findings beside races */
    uint64_t ended_badly; /* runs so far that crashed or ended in a deadlock */
} mr_runs_report;

/* One run of the program. */
typedef struct mr_one_run {
    uint64_t seed;
    const char
        *child; /* "1", "1.2": of the child of the run before (record --follow-forks); NULL: of the
                           program itself */
    int exit_status;    /* of the program, or of the child */
    size_t known_races; /* races left out of the result, because an earlier run had them */
} mr_one_run;

/* The format is one that `run` has (mr_format_has). `has_children`: a run may have the reports of
 * children. */
void mr_runs_report_begin(mr_runs_report *report, FILE *stream, const mr_config *config,
                          uint64_t count, bool has_children);
/* The next run, or the next child of the last one. MR_ERR_IO, MR_ERR_MEMORY. */
mr_status mr_runs_report_write(mr_runs_report *report, const mr_one_run *run, const mr_trace *trace,
                               const mr_result *result, mr_error *error);
/* The same for a run of which only the recorded order was looked at. */
mr_status mr_runs_report_write_order(mr_runs_report *report, const mr_one_run *run,
                                     const mr_trace *trace, const mr_order_result *result,
                                     mr_error *error);
/* After the last run: the races of all of them. Errors stay in the stream. */
void mr_runs_report_end(mr_runs_report *report, size_t races);

/* Writes the report of one result, or a part of the report of several. MR_ERR_IO, MR_ERR_MEMORY,
 * MR_ERR_CONFIG for a file of suppressions or a baseline that cannot be read. */
typedef mr_status mr_predict_writer(FILE *stream, const mr_trace *trace, const mr_config *config,
                                    const mr_result *result, mr_error *error);

/* A cell of the table in formats.h: functions for the lines before and after the report of a run
 * when there are several runs, and for the end. Errors stay in the stream. */
typedef struct mr_runs_writer {
    void (*before)(const mr_runs_report *report, const mr_one_run *run);
    void (*after)(const mr_runs_report *report, const mr_one_run *run); /* NULL: no lines */
    void (*end)(const mr_runs_report *report, size_t races);
    mr_predict_writer *part; /* of the run; NULL: the report of a prediction as it is */
} mr_runs_writer;

extern const mr_runs_writer mr_runs_text, mr_runs_json, mr_runs_sarif, mr_runs_junit;

#endif
