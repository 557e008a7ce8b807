/*
 * deduction: what has been deduced about a question so far (eliminate.h): for each row what is
 * certainly before it, B; for each thread how many of its rows are required, L, and from which row
 * on they are impossible, E.
 *
 * Everything only grows: clocks and L by mr_deduction_order, _raise and _include, E by
 * mr_deduction_exclude. A row of L in E, or a thread that can stop nowhere, sets `no_race`. Each
 * change has a time, a count of changes, so that a rule looks only at rows about which something is
 * new.
 *
 * Rows and their chains are those of the window (windows/rows.h). A slot is a thread with events in
 * C; rows that are not in C are in E from the start, as witnesses within C are looked for. A clock's
 * entry for the row's own slot is its rank.
 *
 * What is kept of a row is in pages of some rows. A page is filled when one of its rows is first
 * looked at, with B as FORCED says. So a deduction costs what it looks at, and not what there is.
 *
 *   {window … max_pages} → mr_deduction_begin → what grows*
 *
 * All memory is of `arena`. When it is used up, or max_pages are, `stuck` is set, and what is read
 * of a row from then on is of no use: whoever goes on for long looks at it.
 */
#ifndef MR_SOLVER_DEDUCTION_H
#define MR_SOLVER_DEDUCTION_H

#include "encoder/known.h"

/* When something changed about a row, when it was closed and when its rule was applied; ruled 0: its
 * rule is to be looked at. */
typedef struct mr_row_times {
    uint64_t changed, closed, ruled;
} mr_row_times;

/* `ruled` of a row whose rule says nothing any more. */
#define MR_RULED_FOREVER UINT64_MAX

typedef enum mr_deduction_stuck {
    MR_DEDUCTION_GOES_ON,
    MR_DEDUCTION_TOO_LARGE,
    MR_DEDUCTION_NO_MEMORY,
} mr_deduction_stuck;

/* The pages of rows: as known->clocks, with the times. */
typedef struct mr_row_pages {
    mr_row_times **times;
    uint32_t *spare_clocks; /* what is read when there is no page */
    mr_row_times *spare_times;
    uint64_t count;
    mr_deduction_stuck stuck;
} mr_row_pages;

typedef struct mr_deduction {
    /* Of the caller. */
    const mr_window *window;
    const mr_precedence *forced;
    mr_stops *stops;     /* narrowed */
    uint32_t stop_count; /* 0: there is no question */
    mr_known *known;     /* its clocks are B */
    const uint32_t *required, *cone;
    mr_arena *arena;
    uint64_t max_effort; /* 0: no limit */
    uint64_t max_pages;
    bool near; /* for a proof alone: the region does not have all rows in the end */

    mr_row_pages *pages;
    uint64_t rows;      /* in C */
    uint32_t *included; /* one a slot: how many rows of L */
    uint32_t *limit;    /* one a slot: rows from this rank on are in E */
    uint32_t *certain;  /* one a slot: reads below this rank are consistent when included */

    /* The region: rows of C in two parts. Those ahead, from the first stop on, stand from the end of the array backwards,
     * as far as a pass has come: most proofs need few of them. They are merged from the threads: `ahead_rank` of a slot is
     * its next one, and `ahead_slot` has the first of all up to the event `ahead_until`. Those before the stops stand from
     * the last on backwards; `walked`: events from this one on have been looked at. */
    uint32_t *region;
    uint32_t region_count, walked;
    uint32_t ahead_count, ahead_end, ahead_slot, ahead_until;
    uint32_t *ahead_rank;
    /* One a variable, then one a lock: of a clock (in an access), of E, or of what is consistent, in a row of the
     * object; of L, in an acquire of it. */
    uint64_t *object_changed;
    uint64_t now, bounds_changed; /* of included, limit or certain */
    uint64_t limits_changed;
    uint64_t effort;                             /* clock entries and items looked at */
    uint32_t *blocked, *common, *last, *foreign; /* scratch of the rule of reads: one a slot */
    bool no_race;
} mr_deduction;

/* B as FORCED says, L as given, E empty but for what is not in C. False: no memory. O(threads + rows of
 * the window / MR_KNOWN_PAGE + objects). */
bool mr_deduction_begin(mr_deduction *deduction);

/* Fills the page of a row. */
void mr_deduction_fill(const mr_deduction *deduction, uint32_t row);
/* Fills the pages of all rows of C. False: it got stuck. */
bool mr_deduction_fill_all(const mr_deduction *deduction);

/* u → v, for rows: u joins B(v), with B(u). */
void mr_deduction_order(mr_deduction *deduction, uint32_t u, uint32_t v);
/* B(u) and u join B(v), whether or not u was there. */
void mr_deduction_join(mr_deduction *deduction, uint32_t u, uint32_t v);
/* The first `rank` rows of a slot join B(row). */
void mr_deduction_raise(mr_deduction *deduction, uint32_t row, uint32_t slot, uint32_t rank);
/* The first `rank` rows of a slot join L. */
void mr_deduction_include(mr_deduction *deduction, uint32_t slot, uint32_t rank);
/* The row joins E, with those after it in its thread. */
void mr_deduction_exclude(mr_deduction *deduction, uint32_t row);
/* The reads of the slot below `rank` are consistent in every witness that contains them. */
void mr_deduction_be_certain(mr_deduction *deduction, uint32_t slot, uint32_t rank);

/* The index in object_changed of the variable or lock that a row is about. */
uint32_t mr_deduction_object(const mr_deduction *deduction, uint32_t row);

/* How many rows are among the first `count` events of a thread, as far as these are in C. */
uint32_t mr_deduction_rows_of(const mr_deduction *deduction, uint32_t thread, uint32_t count);

static inline uint32_t mr_deduction_slot(const mr_deduction *deduction, uint32_t row)
{
    return deduction->known->slot_of[deduction->known->rows->thread[row]];
}

static inline uint32_t *mr_deduction_clock(const mr_deduction *deduction, uint32_t row)
{
    const mr_known *known = deduction->known;
    if (!known->clocks[row / MR_KNOWN_PAGE])
        mr_deduction_fill(deduction, row);
    return mr_known_clock(known, row);
}

static inline mr_row_times *mr_deduction_times(const mr_deduction *deduction, uint32_t row)
{
    if (!deduction->known->clocks[row / MR_KNOWN_PAGE])
        mr_deduction_fill(deduction, row);
    return &deduction->pages->times[row / MR_KNOWN_PAGE][row % MR_KNOWN_PAGE];
}

static inline uint32_t mr_deduction_rank(const mr_deduction *deduction, uint32_t row)
{
    const mr_rows *rows = deduction->known->rows;
    return row - rows->first[rows->thread[row]];
}

/* The row of an event of C that is one; of another event: the next row of its thread. */
static inline uint32_t mr_deduction_row(const mr_deduction *deduction, uint32_t event)
{
    return deduction->known->rows->row_of[event];
}

/* Is the event in C and not in E? For acquires, releases and accesses; MR_NONE is not. */
static inline bool mr_deduction_is_possible(const mr_deduction *deduction, uint32_t event)
{
    const mr_window *w = deduction->window;
    if (event == MR_NONE || w->position[event] >= deduction->cone[w->thread[event]])
        return false;
    uint32_t slot = deduction->known->slot_of[w->thread[event]];
    return mr_known_rows(deduction->known, slot, w->position[event]) < deduction->limit[slot];
}

#endif
