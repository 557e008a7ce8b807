/*
 * units: what a query of Z3 spends, in the units of Z3's resource counter ("rlimit").
 *
 * Each step of Z3 costs some of them, whatever the machine and its load. The counter belongs to a
 * context and counts from its beginning: the query is to have one of its own. A limit for one check
 * is given to the solver as its parameter "rlimit". Z3 then ends the check with the counter at the
 * limit or just past it.
 *
 *   {.limit} → (mr_units_count → check with at most mr_units_left → mr_units_count)*
 */
#ifndef MR_SOLVER_UNITS_H
#define MR_SOLVER_UNITS_H

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

typedef struct mr_units {
    uint32_t limit;   /* 0: none */
    uint32_t counter; /* Z3's when last looked at, modulo 2^32; 0 at first */
    uint64_t used;    /* since the context began */
} mr_units;

/* Adds what was spent since the last look. */
void mr_units_count(mr_units *units, Z3_context context, Z3_solver solver);

bool mr_units_used_up(const mr_units *units);

/* For the next check, when there is a limit that is not used up; 0: no limit. */
uint32_t mr_units_left(const mr_units *units);

#endif
