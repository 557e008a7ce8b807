/*
 * whole: phases that ask the far window itself. A unit is one pair of places that is not settled.
 *
 * mr_far_try_whole tries up to four close pairs of each, without formulas.
 *
 * mr_far_prove_whole asks one question about all accesses of two places, by the steps up to
 * elimination. Of most pairs of places that have no race this is the proof, so they ask for no windows
 * around pairs. It is for the model of the settings: in a stricter one a proof says nothing. With
 * `near_part` it looks for proofs near the accesses alone (mr_eliminate_near), with one of so many parts
 * of elimination's budget; 0: it looks for any.
 *
 * mr_far_decide_whole is the last word. One question is about all accesses of two places; when its
 * verdict is unknown, halves of the longer list are asked about, as in predict/group.c. In the
 * model of the settings a pair of places ends here: with a race, as no race, or unknown. In a
 * stricter model only races count.
 *
 * When the run is halted, some questions were not asked. MR_ERR_MEMORY.
 */
#ifndef MR_FAR_WHOLE_H
#define MR_FAR_WHOLE_H

#include "ask.h"

mr_status mr_far_try_whole(mr_far_asker *asker, mr_error *error);
mr_status mr_far_prove_whole(mr_far_asker *asker, uint32_t near_part, mr_error *error);
mr_status mr_far_decide_whole(mr_far_asker *asker, mr_error *error);

#endif
