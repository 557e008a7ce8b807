/*
 * whole: phases that ask the far window itself. A unit is one pair of places that is not settled.
 *
 * mr_far_try_whole tries up to four close pairs of each, without formulas.
 *
 * mr_far_decide_soon asks one short question about all accesses of two places, but for site pairs that are proven
 * (bundles.h), as long as half of the budget is left. It is for races that need more than the windows around pairs:
 * looks for a proof that there is none would be in vain, and take longer.
 *
 * mr_far_decide_whole is the last word. One question is about all accesses of two places, but for site
 * pairs that are proven (bundles.h); when its
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
mr_status mr_far_decide_soon(mr_far_asker *asker, mr_error *error);
mr_status mr_far_decide_whole(mr_far_asker *asker, mr_error *error);

#endif
