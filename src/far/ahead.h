/*
 * ahead: the states of each two threads of the far window (solver/together.h), searched by a thread of their own beside the windows.
 *
 * In a wide trace (predict/deferred.h) windows leave their questions until the search has been, and it takes longer than they
 * do. It needs the trace alone. So it goes on beside them, on a window of its own that is the same as the far window, and what it finds
 * is what mr_far_meet (states.h) would find. When memory is short its precedence may be raised less far, so that it finds less.
 */
#ifndef MR_FAR_AHEAD_H
#define MR_FAR_AHEAD_H

#include "predict/settings.h"
#include "solver/together.h"

typedef struct mr_far_ahead mr_far_ahead;

/* Starts the search, for one far window of the whole trace. NULL: far questions have no use
 * for it, there is too little memory for a second far window, or there is no thread. */
mr_far_ahead *mr_far_ahead_start(const mr_predict_settings *settings);

/* Waits for its end. False: there is no result, as the run is halted or memory was short; else as mr_together_search on the far window. */
bool mr_far_ahead_take(mr_far_ahead *ahead, mr_explored *result, uint64_t *spent,
                       mr_together **together);

/* Ends the search, wherever it is. NULL is fine. */
void mr_far_ahead_end(mr_far_ahead *ahead);

#endif
