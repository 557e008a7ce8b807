/*
 * guide: what a hunt tries next by the local states of threads: SafeStack fails only after seven preemptions in the right
 * places, and neither chance nor questions about a trace lead there.
 *
 *     explored run → model of local states (model.h, merging) → fold (fold.h) → search (guide_search.h) → a way → run by it → …
 *
 * Some runs of a hunt tell the local state before each access (runtime/explore.h). Nodes of the model are local states, so it is
 * small where the program is, however long its histories are. A search goes through the states of the whole program in memory, by
 * few preemptions first, up to where a thread would see what no run has shown for its local state; the program is run by the way
 * there. The same runs teach the model. It is a guess all along (fold.h), so nothing is claimed of it: a failure is a
 * failure of a real run.
 *
 * The guide asks in three steps (mr_fold_degree); each begins when the one before has no question left. First nodes are one when no word
 * is known to tell them apart, and what other nodes have shown is guessed. Then nothing is guessed. Then only nodes that are equal in
 * all words are one. The last step is for what a fold hides: where the two values that a thread compares were equal in each run, no
 * word is known to tell its local states apart, so each value counts as known for all of them.
 *
 * The guide is over when nothing is left to ask within its limits (states of a search, nodes of the model), or when
 * the program too often does something else after the same local state. Its functions may be called by several threads.
 */
#ifndef MR_HUNT_GUIDE_H
#define MR_HUNT_GUIDE_H

#include "base/error.h"
#include "base/halt.h"
#include "replay/judge.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct mr_guide mr_guide;

/* NULL: no memory. `halt` ends a search; may be NULL, and has to outlive the guide. */
mr_guide *mr_guide_new(const mr_halt *halt);
void mr_guide_free(mr_guide *guide);

/* Nothing is left to ask. */
bool mr_guide_is_over(mr_guide *guide);

/* Were three quarters of what the last runs did known before? Then the model says well where a schedule leads. */
bool mr_guide_knows_most(mr_guide *guide);

/* Writes the schedule of the next question to the file. `*asks`: there is one. The first run of all needs none.
 * MR_ERR_MEMORY, MR_ERR_IO. */
mr_status mr_guide_ask(mr_guide *guide, const char *const *arguments, const char *strategy,
                       uint64_t seed, const char *path, bool *asks, mr_error *error);

/* Learns an explored run from its log, as mr_run_request.read_log wants it; the context is the guide. */
mr_status mr_guide_learn(void *guide, const char *log, const mr_run_end *end, mr_error *error);

#endif
