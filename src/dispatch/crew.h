/*
 * crew: the units of a phase, shared out among those who decide them; their outcomes, in order.
 *
 * A phase is a number of units, each of which can be decided alone (outcome.h). Those who decide
 * are the threads of this process, when there is a team those of its other ranks, and earlier runs
 * that have saved outcomes (saved.h). What they find is merged in the order of the units by the
 * calling thread; in a team, by that of each rank.
 *
 * One run may also be a shard of a job array: it decides every so-and-so-many-th unit of the first
 * phase, saves them and merges nothing. A run that has the files of all shards does the rest.
 */
#ifndef MR_DISPATCH_CREW_H
#define MR_DISPATCH_CREW_H

#include "base/halt.h"
#include "base/progress.h"
#include "checkpoint/saved.h"
#include "team.h"

typedef struct mr_phase {
    void *context;
    const char *stage; /* for the progress */
    uint64_t count;    /* units: 0 … count - 1; the same on all ranks */
    bool last_first;   /* the last unit takes longest and is decided first; it is merged last */
    /* Decides a unit. By worker number 0 … jobs - 1, one unit at a time each. `*outcome` stays NULL
     * when the run is halted meanwhile. */
    mr_status (*decide)(void *context, unsigned worker, uint64_t unit, mr_outcome **outcome,
                        mr_error *error);
    /* Could this be the outcome of its unit (fits.h)? Of one that comes from a file, before
     * anything of it is used; NULL: any could. By the calling thread; in a team, on rank 0 only. */
    bool (*fits)(void *context, const mr_outcome *outcome);
    /* Makes of the outcome that is to be merged next what depends on the unit only, or puts another
     * in its place when it is not enough; NULL: each is as it should be. By the calling thread,
     * before `merge`; in a team, on rank 0 only. */
    mr_status (*complete)(void *context, mr_outcome **outcome, mr_error *error);
    /* Merges an outcome, which stays the caller's. In ascending order of the units, by the calling
     * thread; after a failure, or when the run is halted, some units are missing. */
    mr_status (*merge)(void *context, mr_outcome *outcome, mr_error *error);
} mr_phase;

typedef struct mr_crew {
    unsigned jobs;               /* threads, at least 1 */
    const mr_trace *trace;       /* for outcomes as bytes */
    const mr_halt *halt;         /* NULL: nobody stops the run */
    const mr_progress *progress; /* NULL: nobody wants to know */
    mr_team *team;               /* NULL: this process is alone */
    mr_run *run;                 /* is told who has decided what */
    mr_saved *saved;             /* outcomes are taken from it and put into it; NULL: none. In a
                                    team, of rank 0 */
    uint32_t shard, shards; /* 1 … shards: only units k with k % shards = shard - 1; 0: all */
    /* What the phases run so far have had: */
    uint32_t phase_count;
    uint64_t digest; /* of the outcomes merged so far, with `saved` */
    uint64_t units_saved, units_decided, units_missing; /* in the last phase: without an outcome */
} mr_crew;

/*
 * Runs a phase to its end, to a failure, or until the run is halted; in each case all outcomes that
 * are there have been merged, but for those of a shard. What a phase is may depend on what was
 * merged before it, and on nothing else: saved outcomes are found by the number of the phase and a
 * digest of that. In a team every rank calls it; on ranks other than 0, MR_OK without all outcomes
 * means that rank 0 has ended the run, and team->halt is set.
 */
mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error);

#endif
