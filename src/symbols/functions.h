/*
 * functions: which function of a unit has the code at an address. The unit is read once, when it is first asked about:
 * reading all of it for each address would take seconds where a unit is large.
 */
#ifndef MR_SYMBOLS_FUNCTIONS_H
#define MR_SYMBOLS_FUNCTIONS_H

#include "debug.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of code of a function. */
typedef struct mr_function_range {
    uint64_t start, end;
    uint64_t reach;    /* the largest end so far */
    uint64_t function; /* number of its entry */
} mr_function_range;

/* Zero-initialise. */
typedef struct mr_functions {
    mr_function_range *items; /* owned; by their start */
    size_t count, capacity;
} mr_functions;

/* Lists the functions of the unit. False: no memory. The caller calls mr_functions_free in either case. */
bool mr_functions_read(mr_functions *functions, const mr_debug *debug, Dwarf_Die *unit);
void mr_functions_free(mr_functions *functions);

/* The function with the code; of several the first one of the unit. False: there is none. */
bool mr_functions_find(const mr_functions *functions, uint64_t address, uint64_t *function);

enum { MR_SCOPES = 64 };

/* The function with the functions and blocks in it around the code, the outermost first. Returns their
 * number, at most MR_SCOPES. */
int mr_functions_scopes(const Dwarf_Die *function, uint64_t address, Dwarf_Die scopes[MR_SCOPES]);

#endif
