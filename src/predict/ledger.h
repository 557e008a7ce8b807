/*
 * ledger: what is known so far of each pair of places or, with candidates.report: event, of each
 * pair of events. An entry with a race is final. An unknown stays until a race replaces it.
 */
#ifndef MR_PREDICT_LEDGER_H
#define MR_PREDICT_LEDGER_H

#include "base/table.h"
#include "order/wanted.h"
#include "result.h"

typedef struct mr_ledger_entry {
    uint32_t key_1, key_2;
    bool race, unknown;
    uint64_t unanswered;    /* questions whose verdict is unknown, over all windows */
    uint64_t window;        /* the lowest window that proves the race, when `race` */
    uint32_t unknown_index; /* in the result's unknowns, when `unknown` */
} mr_ledger_entry;

typedef struct mr_ledger {
    mr_ledger_entry *entries; /* in the order in which they were made */
    uint32_t count;
    size_t capacity;
    mr_table table;
} mr_ledger;

void mr_ledger_free(mr_ledger *ledger);

/* The entry of a pair; NULL: the pair has none. O(1) expected. */
const mr_ledger_entry *mr_ledger_find(const mr_ledger *ledger, uint32_t key_1, uint32_t key_2);
/* The entry of a pair, which is made when the pair has none; NULL: no memory. Valid until the next
 * mr_ledger_get. */
mr_ledger_entry *mr_ledger_get(mr_ledger *ledger, uint32_t key_1, uint32_t key_2);

/* The same two functions for the places of two events of the trace, in either order. */
const mr_ledger_entry *mr_ledger_find_static(const mr_ledger *ledger, const mr_trace *trace,
                                             uint32_t first, uint32_t second);
mr_ledger_entry *mr_ledger_get_static(mr_ledger *ledger, const mr_trace *trace, uint32_t first,
                                      uint32_t second);

/* Adds the pairs of places with a race to `open`, which then wants all others. Not with candidates.report: event.
 * False: no memory. */
bool mr_ledger_list_open(const mr_ledger *ledger, const mr_trace *trace, mr_wanted *open);

#endif
