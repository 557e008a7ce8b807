/*
 * definition: docs/semantics.md 2, 3 and 4 word by word, as a judge of the judges. Every rule looks
 * at the whole sequence again; nothing is kept from one event to the next. O(n⁴) for a sequence of
 * n events, and in the model branch exponential in the reads whose writers have read, and so on.
 */
#ifndef MR_TESTS_SUPPORT_DEFINITION_H
#define MR_TESTS_SUPPORT_DEFINITION_H

#include "opaque/barrier_pairs.h"
#include "witness/witness.h"

/* Is e0 … e(window_start-1), then the listed events, a reordering that stays in the window? */
bool mr_definition_reordering(const mr_trace *trace, const mr_witness *witness, mr_opaque opaque);

/* Is the witness one of a race? */
bool mr_definition_accepts(const mr_trace *trace, const mr_witness *witness, mr_opaque opaque);

/* A state of docs/semantics.md 7 that a reordering may end in. */
typedef enum mr_claim_kind {
    MR_CLAIM_USE_AFTER_FREE, /* events: free, access */
    MR_CLAIM_NULL,           /* read */
    MR_CLAIM_DANGLING,       /* read */
    MR_CLAIM_DOUBLE_FREE,    /* read */
    MR_CLAIM_SEES,           /* read, write */
    MR_CLAIM_DEADLOCK,       /* the acquires */
} mr_claim_kind;

typedef struct mr_claim {
    mr_claim_kind kind;
    uint32_t events[8], count;
} mr_claim;

/* Does the sequence, which is a reordering (mr_definition_reordering), end in that state? */
bool mr_definition_ends_in(const mr_trace *trace, const mr_witness *witness, const mr_claim *claim,
                           mr_opaque opaque);

#endif
