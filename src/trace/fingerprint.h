/*
 * fingerprint: a number that tells traces apart: a hash of the events, their values and the names, in the numbers that
 * the trace gives them. It does not depend on the file format, nor on how many events come at once.
 *
 *   mr_fingerprint_init → mr_fingerprint_add* → mr_fingerprint_finish → mr_fingerprint_free
 */
#ifndef MR_TRACE_FINGERPRINT_H
#define MR_TRACE_FINGERPRINT_H

#include "events.h"

enum { MR_FINGERPRINT_COLUMNS = 9 };

typedef struct mr_fingerprint {
    struct XXH3_state_s *columns[MR_FINGERPRINT_COLUMNS]; /* owned */
    uint64_t event_count;
    uint32_t values, updates, reaches; /* how many are hashed, without the unused first ones */
    size_t items;
} mr_fingerprint;

/* False: no memory; free in either case. */
bool mr_fingerprint_init(mr_fingerprint *print);
void mr_fingerprint_free(mr_fingerprint *print);

/* How much of the value tables of a trace is in use. */
typedef struct mr_value_counts {
    uint32_t values, updates, reaches; /* without the unused first ones */
    size_t items;
} mr_value_counts;

mr_value_counts mr_value_counts_of(const mr_trace *trace);

/* The next events, with their value column. `counts`: what of the value tables of the trace is in use so far. */
void mr_fingerprint_add(mr_fingerprint *print, const mr_events *events, const uint32_t *value,
                        const mr_trace *trace, const mr_value_counts *counts);

/* After the last event; the names are those of the trace. */
uint64_t mr_fingerprint_finish(const mr_fingerprint *print, const mr_trace *trace);

#endif
