/*
 * deferred: the questions that the windows of a long trace leave for later (candidates.defer).
 *
 * Nearly all pairs of places have no race. A window proves that of its own accesses, and the next one of its own; then the
 * search for far races proves it of the whole trace, which the windows need not have done. So a window looks for witnesses in
 * trace order, and with sections held back (solver/reorder.h), for all of its pairs of places. It asks questions, by the steps that cost
 * little, until it has spent as much effort as it has events. About a pair of places that the search for far races has neither proven nor
 * refuted, its windows ask after that, as they do at once in a shorter trace. So no race of a window is lost: what the whole trace cannot
 * have, no window has.
 *
 * In a shorter trace where more than MR_MANY_CHAINS threads are there at a time, a window leaves all of its questions: each takes
 * long, and the states of each two threads of the whole trace (solver/together.h), which may be searched beside the windows
 * (far/ahead.h), settle nearly all that are no race. The others are asked right after that.
 *
 * A question that was left counts only when it is asked. When the run is ended before that, its window counts as not looked at. Not with far windows that do not see the whole trace, nor with
 * candidates.report: event.
 */
#ifndef MR_PREDICT_DEFERRED_H
#define MR_PREDICT_DEFERRED_H

#include "base/memory.h"
#include "ledger.h"

typedef struct mr_deferred_group {
    uint32_t key_1, key_2;
    uint64_t window;
    bool asked; /* mr_deferred_count_asked */
} mr_deferred_group;

/* Zero-initialise. */
typedef struct mr_deferred {
    mr_deferred_group *groups; /* in the order of the windows */
    size_t count, capacity;
    mr_u32s stopped; /* windows that max_window_steps ended when they were merged first */
    /* After mr_deferred_list: */
    size_t *windows; /* the number of the first group of each window that has some */
    size_t window_count;
} mr_deferred;

typedef bool mr_deferred_test(const void *context, uint32_t key_1, uint32_t key_2);

void mr_deferred_free(mr_deferred *deferred);

/* False: no memory. */
bool mr_deferred_add(mr_deferred *deferred, uint32_t key_1, uint32_t key_2, uint64_t window);

/* Drops those whose pair of places is settled. Before mr_deferred_list. */
void mr_deferred_drop(mr_deferred *deferred, mr_deferred_test *is_settled, const void *context);

/* In how many windows there is a question that was not asked, of a pair of places that is not settled. O(groups). */
uint64_t mr_deferred_windows(const mr_deferred *deferred, mr_deferred_test *is_settled,
                             const void *context);

/* ---- asking them: no more are added ---- */

/* Lists the windows, and the pairs of places. False: no memory. */
bool mr_deferred_list(mr_deferred *deferred, const mr_trace *trace, mr_wanted *pairs);

/* Window `number` of the list. */
uint64_t mr_deferred_window(const mr_deferred *deferred, size_t number);
/* All questions of window `number` of the list have been asked. */
void mr_deferred_count_asked(mr_deferred *deferred, size_t number);

/* Has the window left the questions about two places, in either order? `deferred` NULL: yes. O(log groups). */
bool mr_deferred_has(const mr_deferred *deferred, uint64_t window, uint32_t location_1,
                     uint32_t location_2);

#endif
