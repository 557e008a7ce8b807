/*
 * elimination: the state of mr_eliminate (eliminate.h), shared by its files: rows and chains
 * (eliminate_index.c), the rules of locks and of reads (eliminate_locks.c, eliminate_reads.c).
 *
 * Slots number the threads with rows, ranks the rows of a thread. A clock's entry for the row's own
 * slot is its rank.
 */
#ifndef MR_SOLVER_ELIMINATION_H
#define MR_SOLVER_ELIMINATION_H

#include "encoder/known.h"

/* The rows of one slot that are about one object, in program order: accesses of a variable, or
 * acquires of a lock of one kind. */
typedef struct mr_row_chain {
    uint32_t slot, first, end;         /* items[first … end) */
    uint32_t values_first, values_end; /* of a variable by value: its writes, in `valued` */
} mr_row_chain;

typedef struct mr_valued_row {
    uint32_t value, row;
} mr_valued_row;

typedef struct mr_elimination {
    const mr_window *window;
    const mr_precedence *forced;
    mr_stops stops[2];
    mr_known *known;
    uint32_t *required, *cone; /* as the caller has them */
    mr_arena *arena;

    uint32_t *included; /* one a slot: how many rows of L */
    uint32_t *limit;    /* one a slot: rows from this rank on are in E */
    uint32_t *certain;  /* one a slot: reads below this rank are consistent when included */

    /* Chains of an object: chains[chains_first[object] … chains_first[object + 1]). Objects are the
     * variables, then the locks, twice: exclusive and shared. */
    uint32_t *chains_first;
    mr_row_chain *chains;
    uint32_t *items;       /* rows */
    uint32_t *slot_of;     /* one a row */
    mr_valued_row *valued; /* of a chain: by value, then row */
    /* One an item that is a read: the nearest item of the chain before (after) it that is a write
     * or saw something else; MR_NONE: there is none. */
    uint32_t *skip_back, *skip_on;

    uint32_t *in_trace_order; /* rows */
    /* When something changed, and was last looked at, in a time that counts changes. */
    uint64_t *changed, *closed, *ruled; /* one a row */
    uint64_t *object_changed;           /* one a variable, then one a lock */
    uint64_t now, bounds_changed;       /* of included, limit or certain */
    uint64_t steps, max_steps;
    uint32_t *blocked, *common, *last, *foreign; /* scratch of reads: one a slot */
    bool no_race;
    bool no_question; /* there are no stops */
} mr_elimination;

/* eliminate_index.c. Rows first; false: no memory. */
bool mr_elimination_rows(mr_elimination *e);
bool mr_elimination_index(mr_elimination *e);

/* eliminate.c: B as FORCED has it, L as given; then the rules until nothing changes. False: no
 * memory; out of steps (then B is right, but not closed). */
bool mr_elimination_prepare(mr_elimination *e);
bool mr_elimination_run(mr_elimination *e);

/* u → v, for rows. */
void mr_elimination_order(mr_elimination *e, uint32_t u, uint32_t v);
/* The first `rank` rows of a slot join B(row). */
void mr_elimination_raise(mr_elimination *e, uint32_t row, uint32_t slot, uint32_t rank);
void mr_elimination_exclude(mr_elimination *e, uint32_t row);
/* The reads of the slot below `rank` are consistent in every witness. */
void mr_elimination_be_certain(mr_elimination *e, uint32_t slot, uint32_t rank);

void mr_elimination_rule_acquire(mr_elimination *e, uint32_t row);
void mr_elimination_rule_read(mr_elimination *e, uint32_t row);
/* Lists P(r) for each consistent read of a variable by value. False: no memory. */
bool mr_elimination_list_sources(mr_elimination *e);

static inline uint32_t *mr_elimination_clock(const mr_elimination *e, uint32_t row)
{
    return e->known->clock + (size_t)row * e->known->slot_count;
}

static inline uint32_t mr_elimination_rank(const mr_elimination *e, uint32_t row)
{
    return row - e->known->row_first[e->slot_of[row]];
}

/* The row of an event of C that is one. */
static inline uint32_t mr_elimination_row(const mr_elimination *e, uint32_t event)
{
    const mr_window *w = e->window;
    uint32_t slot = e->known->slot_of[w->thread[event]];
    return e->known->row_first[slot] + mr_known_rows(e->known, slot, w->position[event]);
}

/* Is the event in C and not in E? For acquires, releases and accesses; MR_NONE is not. */
static inline bool mr_elimination_possible(const mr_elimination *e, uint32_t event)
{
    const mr_window *w = e->window;
    if (event == MR_NONE || w->position[event] >= e->cone[w->thread[event]])
        return false;
    uint32_t slot = e->known->slot_of[w->thread[event]];
    return mr_known_rows(e->known, slot, w->position[event]) < e->limit[slot];
}

#endif
