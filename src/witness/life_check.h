/*
 * life_check: does the object live that an event accesses or frees (docs/semantics.md 2, rule 7)?
 * Internal to src/witness, for the checker. Found from the raw columns, by itself.
 *
 * An access of a variable of object o, and free(o), come after alloc(o), where the trace has it. No
 * access of a variable of o that is before free(o) in the trace comes after it in the witness.
 */
#ifndef MR_WITNESS_LIFE_CHECK_H
#define MR_WITNESS_LIFE_CHECK_H

#include "replay.h"

typedef struct mr_witness_lives {
    const mr_trace *trace;
    uint32_t *alloc, *free; /* by object: the event, or MR_NONE */
} mr_witness_lives;

/* O(events) when the trace has objects. False: no memory; to be freed nevertheless. */
bool mr_witness_lives_init(mr_witness_lives *lives, const mr_trace *trace);
void mr_witness_lives_free(mr_witness_lives *lives);

/* Is it an access of a variable of the object that `other` frees? */
bool mr_witness_lives_freed_by(const mr_witness_lives *lives, uint32_t access, uint32_t other);

/* The alloc that must have happened before `event` and has not; MR_NONE: there is none. */
uint32_t mr_witness_lives_unborn(const mr_witness_lives *lives, const mr_replay *replay,
                                 uint32_t event);

/* The free that has happened and comes after `event` in the trace; MR_NONE: there is none. */
uint32_t mr_witness_lives_over(const mr_witness_lives *lives, const mr_replay *replay,
                               uint32_t event);

#endif
