/*
 * merge: the outcomes of windows, taken in the order of the windows, become one result.
 *
 * The result is that of one worker which goes through the windows one by one and follows four
 * rules:
 *
 *   - a pair that a window has proven to race is passed over in later windows;
 *   - a pair that the search for sync-preserving races has proven is only looked for in trace order;
 *   - a pair that has had candidates.max_unanswered questions without an answer is asked about no
 *     more;
 *   - a window that has spent candidates.max_window_steps asks nothing more.
 *
 * A worker that decides a window alone knows less of the windows before. So the merge drops some
 * verdicts of an outcome, and of others keeps only what trace order says. Everything else in an
 * outcome depends on the window alone: the result is the same whoever has decided which window.
 *
 * A worker may have stopped asking too early, because it spent steps on verdicts that the merge
 * drops. Then the outcome is not complete: the calling thread, which knows the races of all windows
 * before, decides the window again.
 */
#ifndef MR_PREDICT_MERGE_H
#define MR_PREDICT_MERGE_H

#include "deferred.h"
#include "known_races.h"
#include "ledger.h"
#include "outcome.h"
#include "settings.h"

/* So many witnesses of a result are kept as they are; further ones are packed. */
enum { MR_WITNESSES_OPEN = 256 };

/* Zero-initialise, then set what is not owned. */
typedef struct mr_merge {
    const mr_predict_settings *settings;
    mr_result *result;
    mr_known_races *known; /* races are entered here; NULL: nowhere */
    mr_ledger ledger;      /* owned: mr_ledger_free */
    mr_deferred deferred;  /* owned: mr_deferred_free */
} mr_merge;

/* Does the outcome of the next window have all that the result needs? */
bool mr_merge_is_complete(const mr_merge *merge, const mr_outcome *outcome);

/* Drops the verdicts, and parts of verdicts, of the next window that the result does not need. The
 * rest is the same whoever has decided the window, so its digest identifies later phases. */
void mr_merge_trim(const mr_merge *merge, mr_outcome *outcome);

/* Adds the outcome of the next window, and takes over its races. In an outcome that is not
 * complete, pairs that were not asked about are unknown. MR_ERR_MEMORY. */
mr_status mr_merge_window(mr_merge *merge, mr_outcome *outcome, mr_error *error);

/* The same for the answers to questions that were left (deferred.h): the window has been merged. */
mr_status mr_merge_deferred(mr_merge *merge, mr_outcome *outcome, mr_error *error);

/* Adds the races of an outcome from before the windows (crowded.h), but those that are there already. They
 * are taken over. MR_ERR_MEMORY. */
mr_status mr_merge_races(mr_merge *merge, mr_outcome *outcome, mr_error *error);

/* Only notes in merge->known that they are proven. */
mr_status mr_merge_note(mr_merge *merge, const mr_outcome *outcome, mr_error *error);

/* Adds the race and the unknown of a verdict, but not its counts. `window`: the window that the
 * race is counted for. The race is taken over, also after MR_ERR_MEMORY. */
mr_status mr_merge_verdict(mr_merge *merge, mr_pair_verdict *verdict, uint64_t window,
                           mr_error *error);

/* Drops the unknowns of pairs that race, sorts the result, and counts the static races. To be
 * called once, at the end, also after a failure. MR_ERR_MEMORY: the static races are not
 * counted. */
mr_status mr_merge_finish(mr_merge *merge, mr_error *error);

#endif
