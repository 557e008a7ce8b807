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
 * Slots number the threads with rows, ranks the rows of a thread. A clock's entry for the row's own
 * slot is its rank. The rows of a slot that are about one object form a *chain*.
 *
 *   {window … max_effort} → mr_deduction_rows → mr_deduction_begin → what grows*
 *
 * All memory is of `arena`.
 */
#ifndef MR_SOLVER_DEDUCTION_H
#define MR_SOLVER_DEDUCTION_H

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
    uint32_t from;            /* in in_trace_order: the rules look at no row before it */
    /* When something changed, and was last looked at, in a time that counts changes. */
    uint64_t *changed, *closed, *ruled; /* one a row; ruled 0: its rule is to be looked at */
    /* One a variable, then one a lock: of a clock, of E, or of what is consistent, in a row of the
     * object; of L, in an acquire of it. */
    uint64_t *object_changed;
    uint64_t now, bounds_changed; /* of included, limit or certain */
    uint64_t limits_changed;
    uint64_t effort;                             /* clock entries and items looked at */
    uint32_t *blocked, *common, *last, *foreign; /* scratch of the rule of reads: one a slot */
    bool no_race;
} mr_deduction;

/* Numbers the rows. Their clocks will take known->row_count * known->slot_count entries. False: no
 * memory. O(events of C + window). */
bool mr_deduction_rows(mr_deduction *deduction);

/* B as FORCED says, L as given, E empty; and the chains. False: no memory. O(rows · (threads +
 * log)). */
bool mr_deduction_begin(mr_deduction *deduction);

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

/* What a read saw, as its variable is treated. By source: the write, MR_NONE: an earlier one or
 * none. By value: the value's index. */
static inline uint32_t mr_deduction_seen(const mr_window *w, uint32_t read)
{
    return w->variables[w->object[read]].by_source ? w->source[read]
                                                   : mr_window_read_value(w, read);
}

static inline uint32_t *mr_deduction_clock(const mr_deduction *deduction, uint32_t row)
{
    return deduction->known->clock + (size_t)row * deduction->known->slot_count;
}

static inline uint32_t mr_deduction_rank(const mr_deduction *deduction, uint32_t row)
{
    return row - deduction->known->row_first[deduction->slot_of[row]];
}

/* The row of an event of C that is one; of another event: the next row of its thread. */
static inline uint32_t mr_deduction_row(const mr_deduction *deduction, uint32_t event)
{
    const mr_window *w = deduction->window;
    uint32_t slot = deduction->known->slot_of[w->thread[event]];
    return deduction->known->row_first[slot] +
           mr_known_rows(deduction->known, slot, w->position[event]);
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
