/*
 * behaviour: what a run was like, in numbers that can be compared from run to run.
 *
 * Two runs are the same behaviour when in each thread the same operations were done in the same places
 * and every read saw the same value. A thread is known by the way in which it was created, a place by
 * its text. A value that is not known is the write that was seen. A read that sees again what the same
 * thread saw in the same place just before leads nowhere new and does not count: a loop that waits is
 * one behaviour, however often it looks. Runs of different inputs are different behaviours: what a thread
 * does follows from what it reads and from the input.
 *
 * The history of a thread at an event is the hash of what counts of it up to there.
 */
#ifndef MR_HUNT_BEHAVIOUR_H
#define MR_HUNT_BEHAVIOUR_H

#include "trace/trace.h"

/* Zero-initialise; free with mr_behaviour_free. */
typedef struct mr_behaviour {
    uint64_t input; /* of the run, another number for another one; set before mr_behaviour_make */
    uint64_t signature; /* of the run */
    uint64_t *place;    /* by location */
    uint64_t *thread;   /* by thread */
    uint64_t *before;   /* by event: the history of its thread without it … */
    uint64_t *with;     /* … and with it */
} mr_behaviour;

/* False: no memory. O(events). */
bool mr_behaviour_make(mr_behaviour *behaviour, const mr_trace *trace);
void mr_behaviour_free(mr_behaviour *behaviour);

/* The history that the thread of the read has when it sees this write instead (MR_NONE: the initial
 * value). */
uint64_t mr_behaviour_seeing(const mr_behaviour *behaviour, const mr_trace *trace, uint32_t read,
                             uint32_t write);

/* What a read of the variable sees of the write (MR_NONE: the initial value): equal numbers for equal
 * values. */
uint64_t mr_behaviour_value(const mr_behaviour *behaviour, const mr_trace *trace, uint32_t variable,
                            uint32_t write);

uint64_t mr_hash_text(const char *text);
uint64_t mr_hash_join(uint64_t hash, uint64_t more);

#endif
