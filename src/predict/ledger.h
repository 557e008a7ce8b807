/*
 * ledger: what is known so far of each static race (pair of locations) or, with candidates.report:
 * event, of each pair of events. A race settles its entry for good; an unknown stays until a race
 * replaces it.
 */
#ifndef MR_PREDICT_LEDGER_H
#define MR_PREDICT_LEDGER_H

#include "result.h"

typedef struct mr_ledger_entry {
    uint32_t key_1, key_2;
    bool used, race, unknown;
    uint64_t unanswered;    /* questions that ended without a verdict, over all windows */
    uint64_t window;        /* the lowest that proves the race, when `race` */
    uint32_t unknown_index; /* in the result's unknowns, when `unknown` */
} mr_ledger_entry;

typedef struct mr_ledger {
    mr_ledger_entry *slots;
    size_t slot_count, count;
} mr_ledger;

void mr_ledger_free(mr_ledger *ledger);

/* The entry of a pair, NULL when there is none. O(1) expected. */
const mr_ledger_entry *mr_ledger_find(const mr_ledger *ledger, uint32_t key_1, uint32_t key_2);
/* The entry of a pair, made when there is none; NULL: no memory. Valid until the next
 * mr_ledger_get. */
mr_ledger_entry *mr_ledger_get(mr_ledger *ledger, uint32_t key_1, uint32_t key_2);

/* The same by the pair of locations of two events of the trace, in either order. */
const mr_ledger_entry *mr_ledger_find_static(const mr_ledger *ledger, const mr_trace *trace,
                                             uint32_t first, uint32_t second);
mr_ledger_entry *mr_ledger_get_static(mr_ledger *ledger, const mr_trace *trace, uint32_t first,
                                      uint32_t second);

#endif
