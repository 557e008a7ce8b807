/*
 * shift: a phase under way, where it is led: for crew.c, lead.c and follow.c.
 *
 *   crew.c    one process: its threads take units and deliver outcomes
 *   lead.c    rank 0 of a team: so do the other ranks, by messages
 *   follow.c  another rank: its threads take from what rank 0 has sent
 */
#ifndef MR_DISPATCH_SHIFT_H
#define MR_DISPATCH_SHIFT_H

#include "base/pool.h"
#include "crew.h"

#include <pthread.h>

/* How often who is in a team looks for messages. */
enum { MR_TEAM_LOOK_MS = 2 };

typedef struct mr_shift {
    mr_crew *crew;
    const mr_phase *phase;
    pthread_mutex_t mutex; /* of `taken` */
    uint64_t taken;        /* how many units have been */
    uint64_t merged;       /* the next unit to be merged */
    uint64_t mine, done;   /* units of this shard, and how many of them have an outcome … */
    uint64_t missing;      /* … or have none, or a partial one */
    mr_outcome **waiting;  /* one a unit: decided and not merged */
    mr_saved_phase saved;  /* as which it is known to crew->saved */
    bool *saved_before; /* one a unit: an earlier run has decided it; fixed when units are taken */
} mr_shift;

/* The next unit; false: there is none, or the run is halted. By any thread. */
bool mr_shift_take(mr_shift *shift, uint64_t *unit);
/* About how many units of this shard nobody has taken. By any thread. */
uint64_t mr_shift_left(mr_shift *shift);
/* Takes over an outcome and merges what can be merged. By the calling thread. */
mr_status mr_shift_deliver(mr_shift *shift, mr_outcome *outcome, mr_error *error);

/* mr_pool.work, of a phase. */
mr_status mr_phase_work(const mr_phase *phase, unsigned worker, uint64_t unit, void **product,
                        mr_error *error);

/* lead.c: rank 0's pool, until all units are delivered. */
mr_status mr_lead_shift(mr_shift *shift, mr_error *error);
/* follow.c: the whole phase. */
mr_status mr_follow_phase(mr_crew *crew, const mr_phase *phase, mr_error *error);

#endif
