/*
 * around: phases that decide pairs of accesses on windows around them.
 *
 * Everything before such a window happens as observed, so cones are small and witnesses short. Each
 * pair of places that is not settled asks for up to four windows of a size, each around a close
 * pair that is in none of its other windows. Windows of the same phase that lie side by side are
 * shared: the shared window has at most twice the size.
 *
 * There is a phase for each size: window.size, then four times as many events, and so on while the
 * far window is larger. A unit is a few requests of one shared window. A worker keeps the window
 * that it built last, so the questions of one window can be shared out, too.
 *
 * The effort of building a shared window is divided among the requests that the budget covers when
 * the merge comes to the first of them.
 */
#ifndef MR_FAR_AROUND_H
#define MR_FAR_AROUND_H

#include "ask.h"

typedef enum mr_far_way {
    MR_FAR_CHEAP, /* without formulas: mr_far_try_reorder */
    MR_FAR_MIXED, /* by formulas; reads of most variables must see the same write */
    MR_FAR_PLAIN, /* by formulas, in the model of the far window */
} mr_far_way;

/* Small windows are those of the first size, and those that have less than an eighth of the events of the far window. */
typedef enum mr_far_sizes { MR_FAR_ALL_SIZES, MR_FAR_SMALL_SIZES, MR_FAR_LARGE_SIZES } mr_far_sizes;

/* Runs the phases of these sizes, on all pairs of places that are not settled. When the run is halted, some
 * questions were not asked. MR_ERR_MEMORY. */
mr_status mr_far_try_around(mr_far_asker *asker, mr_far_way way, mr_far_sizes sizes,
                            mr_error *error);

#endif
