/*
 * merge: outcomes of windows, in the order of the windows, become one result.
 *
 * The result is what one worker would have found that goes through the windows one by one: a pair
 * that a window proves to race is not looked at in later windows; one that has had
 * candidates.max_unanswered questions without an answer is asked about no more; a window that has
 * spent candidates.max_window_steps is asked nothing more. So of an outcome some verdicts are
 * dropped, and of others only the part in trace order counts. Because all else in an outcome
 * depends on nothing but the window, the result is the same whoever has decided the windows.
 *
 * A worker may have stopped asking before its time, because it spent steps on verdicts that are
 * dropped now. Then the outcome is not enough and the window has to be decided again, by someone
 * who knows all races of the windows before: whoever merges does.
 */
#ifndef MR_PREDICT_MERGE_H
#define MR_PREDICT_MERGE_H

#include "known_races.h"
#include "ledger.h"
#include "outcome.h"
#include "settings.h"

/* Witnesses of a result that are kept as they are; further ones are packed. */
enum { MR_WITNESSES_OPEN = 256 };

/* Zero-initialise, then set what is not owned. */
typedef struct mr_merge {
    const mr_predict_settings *settings;
    mr_result *result;
    mr_known_races *known; /* is told of the races; NULL: nobody is */
    mr_ledger ledger;      /* owned: mr_ledger_free */
} mr_merge;

/* Is all there that the result needs of this outcome, the next one in the order of the windows? */
bool mr_merge_is_complete(const mr_merge *merge, const mr_outcome *outcome);

/* Takes out of the outcome of the next window what the result does not need of it: what is left is
 * the same whoever has decided the window, so that later work can be known again by it. */
void mr_merge_trim(const mr_merge *merge, mr_outcome *outcome);

/* Adds the outcome of the next window, whose races are taken over. Of an outcome that is not
 * complete, what was not asked is unknown. MR_ERR_MEMORY. */
mr_status mr_merge_window(mr_merge *merge, mr_outcome *outcome, mr_error *error);

/* Adds the race and the unknown of a verdict of far races, which stands for itself; its counts are
 * left to the caller. `window`: as whose the race counts. The verdict has no race any more then,
 * also after MR_ERR_MEMORY. */
mr_status mr_merge_verdict(mr_merge *merge, mr_pair_verdict *verdict, uint64_t window,
                           mr_error *error);

/* Drops the unknowns that something else has settled, sorts, counts the static races. To be called
 * once, at the end, also after a failure. MR_ERR_MEMORY: they are not counted. */
mr_status mr_merge_finish(mr_merge *merge, mr_error *error);

#endif
