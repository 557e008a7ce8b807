/*
 * spots: a proof that no stop of one list goes with a stop of another, spot by spot.
 *
 * Two threads come to the same places again and again, from the beginning of the trace to its end. A
 * question about all of these visits requires little (what comes before the first one) and allows
 * nearly everything, so elimination finds nothing. But most visits of the one thread are ordered with
 * most of the other one, and a question about two visits requires all that comes before them. Its proof
 * is near the stops.
 *
 * So the lists are asked about as a whole, by a short look near the accesses (mr_eliminate_near). Where
 * that proves nothing, the list that is longer in its thread is divided in halves. Lists that are no longer
 * long are first asked about by formulas about ever larger regions (solver/region.h), then by a look. In the
 * end both lists lie within a short stretch of their threads: a *spot*. A spot has regions with a larger
 * budget, a short look at each two of its stops, a still larger region (a longer look where there are no regions), and then,
 * in a search, the steps up to saturation. When a spot has a proof by a region that is too large for lists, what comes after it
 * is asked about with the same region, before it is divided. One spot without a proof ends it: the lists stay open.
 *
 * Exact: the spots are all pairs of stops but those that a proof is about.
 */
#ifndef MR_FAR_SPOTS_H
#define MR_FAR_SPOTS_H

#include "ask.h"

/* The stretch of spots, and of short bundles (bundles.h). */
enum { MR_FAR_STRETCH = 64 };

/* The caller sets the first six; the others begin as zero. */
typedef struct mr_far_spots {
    mr_worker *worker;
    const mr_problem *problem;
    /* With the step saturate it is a search. saturate_steps is also the budget of regions; 0: none. */
    mr_decide_options options;
    uint32_t stretch; /* a spot: both lists span fewer events of their threads */
    uint64_t most;    /* effort after which it gives up; 0: never */
    bool looked;      /* the lists have had a look as a whole, or in parts */
    uint64_t effort;  /* so far, as ask.h counts it */
    mr_step step;     /* that settled the last spot */
    uint32_t region;  /* its events, when the last proof was by a region; else 0 */
} mr_far_spots;

/* `*proven`: there is no race of the two lists. Without the step eliminate there are no looks and no
 * regions, so that only a search proves something. MR_ERR_MEMORY. */
mr_status mr_far_spots_prove(mr_far_spots *spots, mr_stops one, mr_stops two, bool *proven);

#endif
