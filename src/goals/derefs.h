/*
 * derefs: the reads of a trace whose value their thread uses as an address: of each `deref` the last
 * read of its variable in its thread.
 */
#ifndef MR_GOALS_DEREFS_H
#define MR_GOALS_DEREFS_H

#include "trace/trace.h"

typedef enum mr_deref_use {
    MR_DEREF_ACCESS = 1, /* a deref that an access, or anything but a free, follows in its thread */
    MR_DEREF_FREE = 2,
} mr_deref_use;

/* Reads that stand for each other: of one thread, variable and place, with the same uses. */
typedef struct mr_deref_reads {
    uint32_t variable, place;
    uint8_t uses;          /* of mr_deref_use */
    uint32_t first, count; /* in `events` */
} mr_deref_reads;

typedef struct mr_derefs {
    mr_deref_reads *items; /* in the order of their first reads */
    size_t count, capacity;
    uint32_t *events;
} mr_derefs;

/* Variables that are treated as in rf, for want of values, are left out. O(events) expected. False: no
 * memory. Free with mr_derefs_free in any case. */
bool mr_derefs_find(mr_derefs *derefs, const mr_trace *trace);
void mr_derefs_free(mr_derefs *derefs);

#endif
