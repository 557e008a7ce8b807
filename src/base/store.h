/*
 * store: where outcomes of units are kept as bytes, from one run to the next.
 *
 * A store is a table of functions: who shares out units (src/dispatch) calls them, who keeps files
 * (src/checkpoint) fills them in, and neither knows the other. All are called by one thread.
 */
#ifndef MR_BASE_STORE_H
#define MR_BASE_STORE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A phase of units. An outcome is found again only in a phase in which all three are the same. */
typedef struct mr_store_phase {
    uint32_t number; /* 0, 1, … in a run */
    uint64_t units;
    uint64_t before; /* digest of all outcomes that were merged before the phase; 0: none were */
} mr_store_phase;

typedef struct mr_store {
    void *context;
    /* Has the store an outcome of the unit? */
    bool (*has)(void *context, const mr_store_phase *phase, uint64_t unit);
    /* The bytes of that outcome, on loan until the store is closed; NULL: it has none. */
    const uint8_t *(*get)(void *context, const mr_store_phase *phase, uint64_t unit, size_t *count);
    /* The bytes are of no use, for the reason `why`: the store forgets them. */
    void (*refuse)(void *context, const mr_store_phase *phase, uint64_t unit, const char *why);
    /* Keeps an outcome for later runs; `has` and `get` of this run do not see it. */
    mr_status (*put)(void *context, const mr_store_phase *phase, uint64_t unit,
                     const uint8_t *bytes, size_t count, mr_error *error);
} mr_store;

#endif
