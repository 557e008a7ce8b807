/*
 * phase_run: a phase under way, on the rank that shares out its units. For the files of dispatch.
 *
 *   dispatch.c    one process, and what it has in common with rank 0: units are taken and decided,
 *                 outcomes saved and merged
 *   rank_zero.c   what rank 0 of a team does beside that: it hands units to the other ranks, and
 *                 takes in their outcomes
 *   rank_other.c  the whole phase on another rank
 */
#ifndef MR_DISPATCH_PHASE_RUN_H
#define MR_DISPATCH_PHASE_RUN_H

#include "base/pool.h"
#include "dispatch.h"

#include <pthread.h>

/* How often a rank looks for messages, in milliseconds. */
enum { MR_TEAM_LOOK_MS = 2 };

/* An outcome, and who has decided its unit. */
typedef struct mr_decided {
    mr_outcome *outcome; /* owned */
    uint32_t rank, worker;
    double seconds;
    bool partly; /* the unit failed: this is what was found before */
} mr_decided;

typedef struct mr_phase_run {
    mr_dispatch *dispatch;
    const mr_phase *phase;
    mr_store_phase key;   /* of the phase, for the store */
    bool *gone;           /* by unit: the store has its outcome, or somebody has taken it */
    mr_outcome **waiting; /* by unit: an outcome that is not merged yet; owned */
    bool *of_part;        /* by unit: a rank with a part of the input has sent its outcome */
    uint64_t merged;      /* how many are merged, or will not be */
    uint64_t mine;        /* units of this shard; of these … */
    uint64_t done;        /* … with an outcome, also a partial one */
    uint64_t missing;     /* … without a whole outcome */

    pthread_mutex_t mutex; /* guards `gone`, and the next three */
    uint64_t next;         /* where the next unit is looked for by who may decide all */
    uint64_t left;         /* units that nobody has taken */
    uint64_t away;         /* units that other ranks have */

    /* Of rank 0: */
    unsigned jobs;          /* of all ranks together */
    double decided_units;   /* units, and the seconds that they took; */
    double decided_seconds; /*   the latest units count most */
    bool told_halt;
} mr_phase_run;

/* The order in which the units of a phase are taken and merged: the unit at a place, and the place of a unit. */
static inline uint64_t mr_phase_unit(const mr_phase *phase, uint64_t place)
{
    if (!phase->last_first)
        return place;
    return place ? place - 1 : phase->count - 1;
}

static inline uint64_t mr_phase_place(const mr_phase *phase, uint64_t unit)
{
    return phase->last_first ? (unit + 1) % phase->count : unit;
}

/* The next unit that nobody has taken, for rank `rank`; false: there is none, or the run is halted. By any
 * thread. */
bool mr_phase_run_take(mr_phase_run *run, unsigned rank, uint64_t *unit);
/* How many units nobody has taken. By any thread. */
uint64_t mr_phase_run_left(mr_phase_run *run);
/* Takes over the outcome of a unit, and merges what can be merged. By the calling thread. */
mr_status mr_phase_run_deliver(mr_phase_run *run, uint64_t unit, mr_decided decided,
                               mr_error *error);

/* Decides a unit on this rank (mr_pool.work). `*product` is an mr_decided to be freed, or NULL when
 * the run was halted. */
mr_status mr_phase_decide(const mr_phase *phase, unsigned worker, uint64_t unit, void **product,
                          mr_error *error);

/* rank_zero.c: before the phase; then mr_pool.look, with a mr_phase_run. */
void mr_rank_zero_begin(mr_phase_run *run);
mr_status mr_rank_zero_look(void *run, mr_error *error);

/* rank_other.c: the whole phase. */
mr_status mr_rank_other_run(mr_dispatch *dispatch, const mr_phase *phase, mr_error *error);

#endif
