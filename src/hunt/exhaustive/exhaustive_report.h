/* exhaustive_report: what an exploration (exhaustive.h) found, as text. */
#ifndef MR_HUNT_EXHAUSTIVE_REPORT_H
#define MR_HUNT_EXHAUSTIVE_REPORT_H

#include "exhaustive.h"
#include "symbols/symbols.h"

#include <stdio.h>

/* The first line says whether all behaviours were explored, and what was found:
 *
 *     all 318 behaviours of this input explored: no race, no failure
 *     318 behaviours found, not all of this input: stopped after 1000 runs; 12 questions, 40 steps left
 *
 * `symbols` names places and variables; NULL: they are addresses. */
void mr_explore_print(const mr_explore *self, mr_symbols *symbols, FILE *file);

/* 1: a race, a failure, a deadlock, or a wait without end; 0: none of these. */
int mr_explore_exit_status(const mr_explore *self);

/* "read of x in f at a.c:3:5 by thread 1; write of x in g at a.c:9:1 by thread 2" */
void mr_explore_print_race(const mr_pmodel *model, mr_symbols *symbols, const mr_seek_race *race,
                           FILE *file);

/* "read of x in f at a.c:9:1 by thread 1, after free of x in g at a.c:12:3 by thread 2" */
void mr_explore_print_use(const mr_pmodel *model, mr_symbols *symbols, const mr_seek_use *use,
                          FILE *file);

#endif
