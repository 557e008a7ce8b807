/*
 * addresses: how often the memory of a block was used before, for its address in the trace
 * (trace/address_name.h).
 *
 * A variable keeps the address that was written to it: when its memory is given out again, the pointer in
 * it is still the old one. Only values of 8 bytes that lie in a heap block, a mapping or a stack are
 * addresses; in copies by memcpy, too, where they are variables of their own.
 *
 * Limits: a block that begins inside an earlier one does not count it. Above MR_ADDRESS_USES_MAX the
 * count begins anew, so two blocks have one address when so many others were there between them.
 *
 * Memory: 34 bytes for each start of a block, and 2 for each variable.
 */
#ifndef MR_RECORD_ADDRESSES_H
#define MR_RECORD_ADDRESSES_H

#include "emitter.h"
#include "lifetimes.h"
#include "pairs.h"

/* Zero-initialise. */
typedef struct mr_addresses {
    mr_pairs starts;
    uint16_t *uses; /* by number of the start: those before the last block there; owned */
    size_t use_count, use_capacity;
    uint16_t *held; /* by variable: the count of its address, plus 1, or 0; with UNSEEN; owned */
    size_t held_count, held_capacity;
} mr_addresses;

void mr_addresses_free(mr_addresses *addresses);

/* A life begins: sets `life->uses`. False: no memory. O(1) expected. */
bool mr_addresses_begin(mr_addresses *addresses, mr_life *life);

/* Puts the counts into the values of an access of a variable of 8 bytes. `as_left`: it reads the value of the
 * last event of the variable. False: no memory. */
bool mr_addresses_name(mr_addresses *addresses, mr_lifetimes *lives, mr_emitted *event,
                       bool as_left);

/* Has each address in the variable been written by an event, as far as reads have shown? Code that nobody recorded may write one
 * address twice, for two blocks. */
bool mr_addresses_are_seen(const mr_addresses *addresses, uint32_t variable);

#endif
