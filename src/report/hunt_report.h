/*
 * hunt_report: what a hunt for failures has found, and how its behaviours grew. These are cells of the
 * table in formats.h.
 */
#ifndef MR_REPORT_HUNT_REPORT_H
#define MR_REPORT_HUNT_REPORT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A finding, as the hunt's folder has it. */
typedef struct mr_hunted {
    uint32_t number;
    uint64_t run; /* that showed it first */
    const char *kind, *text;
} mr_hunted;

/* Borrows all that it points to. */
typedef struct mr_hunt_figures {
    const char *folder;
    uint64_t runs, first_failure;       /* first_failure: number of a run; 0: none */
    uint64_t cut_runs;                  /* whose log was stopped, because it was full */
    uint32_t inputs_tried, inputs_kept; /* inputs_tried 0: none were searched */
    double seconds;                     /* of all sessions */
    const double *ended, *at, *behaviours,
        *findings; /* when a run ended: how many had, its time (s),
                                                         and how many of these were known then */
    size_t point_count;
    const mr_hunted *hunted;
    size_t hunted_count;
} mr_hunt_figures;

/* Each writes the whole report. MR_ERR_IO, MR_ERR_MEMORY. */
typedef mr_status mr_hunt_writer(FILE *stream, const mr_hunt_figures *figures, mr_error *error);

mr_hunt_writer mr_hunt_report_text, mr_hunt_report_json, mr_hunt_report_html;

#endif
