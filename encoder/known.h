/*
 * known: what is certain about a question before its formula is built (solver/eliminate.h finds
 * it).
 *
 * It is about the rows (windows/rows.h) of the cone that elimination was given. The formula's C may
 * be a part of that cone. A row has a clock: for each thread with events in C the
 * number of the thread's rows that are certainly before it in every witness that it is in. Clocks
 * are closed: what is before a row that is before v, is before v; and no row is before itself.
 * Clocks are in pages of some rows, which are filled when they are first needed; all of them are
 * after mr_eliminate_complete.
 *
 * In the formula. A literal that is known to hold or to fail is folded, and the known order is
 * added as edges between nodes, so the formula itself justifies the folding. The edges hold for all
 * events of C, included or not: a row that is included has its clock included, and since clocks are
 * closed and without cycles, what is not included can stand after CUT in an order that agrees with
 * them.
 *
 *     before(u, v)      each row v of C with a node, each other thread t;
 *                       u is the latest node of t among the rows that are certainly before v
 *
 * An edge that the node before v in its thread has already is left out: program order implies it.
 * The events of a literal that holds become nodes all the same, so that a solution places them.
 */
#ifndef MR_ENCODER_KNOWN_H
#define MR_ENCODER_KNOWN_H

#include "encoding.h"
#include "windows/rows.h"

enum { MR_KNOWN_PAGE = 16 }; /* rows of a page */

struct mr_known {
    const mr_window *window;
    const mr_rows *rows;
    uint32_t slot_count;         /* threads with events in C */
    uint32_t *slot_of;           /* one a thread; MR_NONE: no events in C */
    uint32_t *thread_of;         /* one a slot */
    uint32_t *row_first;         /* one a slot: its first row */
    uint32_t *row_count;         /* one a slot: its rows that are in C */
    uint32_t **clocks;           /* pages of MR_KNOWN_PAGE × slot_count; NULL: nothing is known */
    struct mr_deduction *origin; /* from which solver/eliminate.h completes it */
    /* The writes that a read may see: sources[sources_first[row] … sources_first[row + 1]),
     * MR_NONE for the carried value; none: not known. NULL: not known of any. */
    size_t *sources_first;
    uint32_t *sources;
};

/* How many of the first `count` events of a slot's thread are rows; count at most the cone's. */
static inline uint32_t mr_known_rows(const mr_known *known, uint32_t slot, uint32_t count)
{
    return mr_rows_before(known->rows, known->thread_of[slot], count);
}

/* The clock of a row whose page is filled. */
static inline uint32_t *mr_known_clock(const mr_known *known, uint32_t row)
{
    return known->clocks[row / MR_KNOWN_PAGE] + (size_t)(row % MR_KNOWN_PAGE) * known->slot_count;
}

/* Is `u` certainly before `v` in every witness that v is in? Events of C. False: not known. O(1).
 */
static inline bool mr_known_before(const mr_known *known, uint32_t u, uint32_t v)
{
    const mr_window *w = known->window;
    uint32_t slot_u = known->slot_of[w->thread[u]], slot_v = known->slot_of[w->thread[v]];
    if (slot_u == slot_v)
        return w->position[u] < w->position[v];
    uint32_t rank = mr_known_rows(known, slot_v, w->position[v] + 1); /* of v or the row before */
    if (!rank)
        return false;
    return mr_known_clock(known, known->row_first[slot_v] + rank - 1)[slot_u] >
           mr_known_rows(known, slot_u, w->position[u]);
}

/* Has all happened that is known to be before an event of C, when `next`, one a thread, says how many of
 * its events have? `known` may be NULL: nothing is known. O(threads of C). */
static inline bool mr_known_first(const mr_known *known, const uint32_t *next, uint32_t event)
{
    if (!known)
        return true;
    const mr_window *w = known->window;
    uint32_t slot = known->slot_of[w->thread[event]];
    uint32_t rank = mr_known_rows(known, slot, w->position[event] + 1);
    if (!rank)
        return true;
    const uint32_t *clock = mr_known_clock(known, known->row_first[slot] + rank - 1);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (s != slot && mr_known_rows(known, s, next[known->thread_of[s]]) < clock[s])
            return false;
    return true;
}

/* The writes that the read may see, and how many; MR_NONE in the list: the carried value. 0: not
 * known. The read is in the cone, of a shared variable. */
static inline size_t mr_known_sources(const mr_known *known, uint32_t read,
                                      const uint32_t **sources)
{
    const mr_window *w = known->window;
    uint32_t slot = known->slot_of[w->thread[read]];
    if (!known->sources_first)
        return 0;
    uint32_t row = known->row_first[slot] + mr_known_rows(known, slot, w->position[read]);
    *sources = known->sources + known->sources_first[row];
    return known->sources_first[row + 1] - known->sources_first[row];
}

/* The edges above; after all nodes are made. O(rows · threads). */
void mr_encode_known(mr_encoding *encoding);

#endif
