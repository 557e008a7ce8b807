/*
 * blocks: the objects of the trace (docs/semantics.md 1): heap blocks, mappings and stacks that have
 * variables in it, with their alloc and free. Of a mapping that ends in parts, each part is one.
 */
#ifndef MR_RECORD_BLOCKS_H
#define MR_RECORD_BLOCKS_H

#include "event_state.h"

/* After the record GIVEN took effect, or the BEGIN of a thread, for its stack. */
mr_status mr_event_pass_given(mr_event_pass *pass, const uint64_t *record, mr_error *error);
mr_status mr_event_pass_stack(mr_event_pass *pass, const uint64_t *record, mr_error *error);
/* A record TAKEN or END, before its own event. */
mr_status mr_event_pass_taken(mr_event_pass *pass, const uint64_t *record, mr_error *error);

/* The variable belongs to the object of the byte at the address, if there is one. */
mr_status mr_event_pass_member(mr_event_pass *pass, uint32_t variable, const mr_life *life,
                               uint64_t address, mr_error *error);

#endif
