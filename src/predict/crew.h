/*
 * crew: the units of a phase, shared out among those who decide them; their outcomes, in order.
 *
 * A phase is a number of units, each of which can be decided alone (outcome.h). Those who decide
 * are the threads of this process and, when there is a team, those of its other ranks. What they
 * find is merged in the order of the units by the calling thread; in a team, by that of each rank.
 */
#ifndef MR_PREDICT_CREW_H
#define MR_PREDICT_CREW_H

#include "base/halt.h"
#include "base/progress.h"
#include "outcome.h"
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
    /* Puts another outcome in the place of one that is not enough to be merged next; NULL: each is.
     * By the calling thread, before `merge`; in a team, on rank 0 only. */
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
} mr_crew;

/*
 * Runs a phase to its end, to a failure, or until the run is halted; in each case all outcomes that
 * are there have been merged. In a team every rank calls it; on ranks other than 0, MR_OK without
 * all outcomes means that rank 0 has ended the run, and team->halt is set.
 */
mr_status mr_crew_run(mr_crew *crew, const mr_phase *phase, mr_error *error);

#endif
