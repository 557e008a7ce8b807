/*
 * precedence: what every reordering of a window that contains an event must contain before it.
 *
 * before(e) is the least set of events with
 *   - all events of e's thread before e;
 *   - the fork of its thread, when that lies in the window;
 *   - for a join: all events of the joined thread in the window;
 *   - the events that its edges of BarrierPairs come from (mr_window.barrier_edges);
 *   - for a read, as the mode says, the write that it must see;
 * closed under these rules. Because each before(e) is a prefix in every chain of threads
 * (trace/chains.h), it is a clock: for each chain the number of its events in it. Clocks change only
 * where an edge comes in from another chain, and are shared in between: memory is
 * O(window + edges · chains), a question is O(1).
 *
 * In model branch a read must see what it saw only if a branch, fork or mbegin of its thread that
 * is in the reordering comes after it (it is *bound*), or if a write after it must have its value.
 * So there are two sets. before(e) has the needs of the reads before the last branch, fork or
 * mbegin of e's thread, up to and including e. clean(e) has those of all reads of the thread up to
 * and including e: what must be before e when e's thread has not diverged by then. A read that must
 * see a write w asks for w and clean(w), since a write after divergence satisfies nobody; for a
 * branch, fork or mbegin e, before(e) = clean(e). In the other models the two sets are the same.
 *
 *   HARD    program order, fork, join, BarrierPairs: holds in every reordering of every model
 *   SOURCE  HARD, and every read after the write that it saw, every wait after the post whose unit
 *           it took (mr_trace.link, the oldest unit first): the reads-from closure; in model branch
 *           the bound reads only
 *   FORCED  holds in every reordering of the window's model: HARD, and (in model branch for reads
 *           as said above)
 *             - a read treated by source after the write that it saw;
 *             - a read treated by value after what all the writes need that it may see
 *               (read_choices.h), those writes included as far as they are of one thread, unless it
 *               may see the carried value;
 *             - an acquire after the release of each section of its lock that excludes its own
 *               (mr_sections_exclude) and whose acquire is certainly before it;
 *             - a wait after those posts of a thread that it cannot do without: with the units
 *               carried in, and all posts that other threads can have made by then, there are
 *               still fewer units than waits that certainly come no later than this one.
 *
 * Everything in before(e) stands before e in the trace, too, since the trace is a reordering of
 * itself.
 */
#ifndef MR_WINDOWS_PRECEDENCE_H
#define MR_WINDOWS_PRECEDENCE_H

#include "window.h"

typedef enum mr_precedence_mode {
    MR_PRECEDENCE_HARD,
    MR_PRECEDENCE_FORCED,
    MR_PRECEDENCE_SOURCE,
} mr_precedence_mode;

typedef struct mr_precedence {
    const mr_window *window;
    /* One an event: before(e) in the other chains, one entry a chain; the own chain's is not used. */
    uint32_t **clock;
    uint32_t **thread_start; /* one a thread: what its first event needs */
    /* One an event: before(event) without what it needs as a read; NULL when there are no edges of
     * BarrierPairs: then it is the clock of the event before it. */
    uint32_t **enabled;
    uint32_t *rank_low, *rank_high; /* FORCED: see unit_choices.h; NULL: no shared semaphore */
    /* FORCED: raised by long proofs (solver/eliminate.h). A formula that folds by it does not repeat
     * them, so it has to state the order (encoder/forced.h). */
    bool refined;
} mr_precedence;

/* Builds the precedence in memory of `arena`; FORCED needs `hard`, the other modes ignore it.
 * False: no memory. O(window · chains), and for FORCED O(choices · chains) a read until they have
 * nothing in common. */
bool mr_precedence_build(mr_precedence *precedence, const mr_window *window,
                         mr_precedence_mode mode, const mr_precedence *hard, mr_arena *arena);

/* Is `event` in before(of)? */
static inline bool mr_precedes(const mr_precedence *precedence, uint32_t event, uint32_t of)
{
    const mr_window *w = precedence->window;
    uint32_t chain = w->threads[w->thread[event]].chain;
    if (chain == w->threads[w->thread[of]].chain)
        return event < of; /* the trace has a chain in its order */
    return precedence->clock[of][chain] > mr_window_chain_position(w, event);
}

/* How many events of `thread` are in the set whose clock this is, the clock of an event of thread
 * `own` or of what comes before its first event. For the own thread itself: all. */
static inline uint32_t mr_precedence_count(const mr_window *w, const uint32_t *clock, uint32_t own,
                                           uint32_t thread)
{
    const mr_window_thread *t = &w->threads[thread];
    uint32_t length = t->end - t->first, count = clock[t->chain];
    if (t->chain == w->threads[own].chain)
        return thread <= own ? length : 0; /* threads are numbered in the order of the chain */
    if (count <= t->chain_first)
        return 0;
    return count - t->chain_first < length ? count - t->chain_first : length;
}

/* The clock of what must happen before `event` can be the next one of its thread: as before(event),
 * but without what the event itself (a read) needs to see. The own chain's entry is not used. */
static inline const uint32_t *mr_precedence_enabled(const mr_precedence *precedence, uint32_t event)
{
    const mr_window *w = precedence->window;
    uint32_t thread = w->thread[event], position = w->position[event];
    if (precedence->enabled)
        return precedence->enabled[event];
    return position ? precedence->clock[mr_window_at(w, thread, position - 1)]
                    : precedence->thread_start[thread];
}

/* Must `event`, of another thread, have happened before `of` can be the next event of its thread? */
static inline bool mr_precedence_enables(const mr_precedence *precedence, uint32_t event,
                                         uint32_t of)
{
    const mr_window *w = precedence->window;
    uint32_t chain = w->threads[w->thread[event]].chain;
    if (chain == w->threads[w->thread[of]].chain)
        return event < of;
    return mr_precedence_enabled(precedence, of)[chain] > mr_window_chain_position(w, event);
}

/* A precedence that may be raised without changing `of`; clocks that stay as they are belong to both. False: no memory of
 * `arena`. */
bool mr_precedence_copy(mr_precedence *copy, const mr_precedence *of, mr_arena *arena);

/*
 * Raises the clock `prefix` (one entry a thread, number of events) so that it contains
 * before(event) and, with `including`, the event itself. True when it changed.
 */
bool mr_precedence_require(const mr_precedence *precedence, uint32_t *prefix, uint32_t event,
                           bool including);

#endif
