/*
 * bundles: proofs that pairs of places have no race in the far window, many of them by one question.
 *
 * Places of one function are often reached together: the same two threads come to them within a few
 * events, again and again. The questions about them need nearly the same events, and have nearly the
 * same proof. So all accesses of such places are put into two lists, one a thread, and one question
 * is asked about any stop of the one list with any stop of the other. Where that is impossible, none of
 * the pairs of places has a race between these threads. Where it is not, nothing is known: the two stops
 * that are possible may be accesses of two variables.
 *
 * A *member* is two lists of accesses (windows/access_groups.h), one of each site of a site pair
 * (windows/candidates.h), that hold no lock in common; where the sites have many lists, it is all
 * accesses of the two sites. A *bundle* is members of the same two threads: in each thread their
 * accesses begin within one stretch of the window, end within one, and have the same end of life
 * (encoder/goal.h). A site pair is proven when all its members are, and a pair of places has no race
 * when all its site pairs are proven.
 *
 * A unit is a bundle. Its effort (ask.h) is shared by its members. A bundle is not asked about when each
 * of its pairs of places is in one that was asked about in vain in the same phase: such a pair of places
 * is for later steps anyway. When the run is halted, some questions were not asked.
 */
#ifndef MR_FAR_BUNDLES_H
#define MR_FAR_BUNDLES_H

#include "ask.h"

/*
 * Asks about each bundle of what is not settled, and looks for proofs near the accesses alone
 * (mr_eliminate_near), with one of so many parts of elimination's budget; 0: in the whole cone. These functions are for the
 * model of the settings: in a stricter one a proof says nothing. MR_ERR_MEMORY.
 */
mr_status mr_far_look_at_bundles(mr_far_asker *asker, uint32_t near_part, mr_error *error);

/* The same spot by spot (spots.h): first in bundles of long stretches, then in those of short ones. Each takes at most
 * one of so many parts of what it may take (1: all of it). */
mr_status mr_far_prove_bundles(mr_far_asker *asker, uint32_t part, mr_error *error);

/* The same with the steps up to saturation for each spot. */
mr_status mr_far_search_bundles(mr_far_asker *asker, mr_error *error);

#endif
