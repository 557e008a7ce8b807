/*
 * rows: the events of a window that constraints are about, by thread and by object: accesses to
 * shared variables, acquires and releases of contended locks.
 *
 * Rows are numbered thread by thread, in program order; `rank` is a row's place among those of its
 * thread. The rows of one thread that are about one object form a *chain*: accesses of a variable,
 * or acquires of a lock of one kind. Objects are the variables, then the locks, twice: exclusive and
 * shared. Releases are in no chain.
 *
 * What depends on the window alone is made once and serves all questions about it.
 */
#ifndef MR_WINDOWS_ROWS_H
#define MR_WINDOWS_ROWS_H

#include "window.h"

typedef struct mr_row_chain {
    uint32_t thread, first, end;       /* items[first … end), in program order */
    uint32_t values_first, values_end; /* of a variable by value: its writes, in `valued` */
} mr_row_chain;

typedef struct mr_valued_row {
    uint32_t value, row;
} mr_valued_row;

typedef struct mr_rows {
    const mr_window *window;
    uint32_t count;
    uint32_t *first;    /* one a thread, and the end: its rows */
    uint32_t *event_of; /* one a row */
    uint32_t *thread;   /* one a row */
    uint32_t *row_of;   /* one an event: its row, or else the next row of its thread, if any */
    /* Chains of an object: chains[chains_first[object] … chains_first[object + 1]), by thread. */
    uint32_t *chains_first;
    mr_row_chain *chains;
    uint32_t *items;       /* rows */
    mr_valued_row *valued; /* of a chain: by value, then row */
    /* One an item that is a read: the nearest item of the chain before (after) it that is a write
     * or saw something else; MR_NONE: there is none. */
    uint32_t *skip_back, *skip_on;
} mr_rows;

/* In memory of `arena`. False: no memory. O(window + objects + writes · log). */
bool mr_rows_build(mr_rows *rows, const mr_window *window, mr_arena *arena);

/* How many of the first `count` events of a thread are rows. */
static inline uint32_t mr_rows_before(const mr_rows *rows, uint32_t thread, uint32_t count)
{
    const mr_window *w = rows->window;
    uint32_t next = count < mr_window_length(w, thread)
                        ? rows->row_of[mr_window_at(w, thread, count)]
                        : rows->first[thread + 1];
    return next - rows->first[thread];
}

static inline bool mr_rows_has(const mr_rows *rows, uint32_t event)
{
    uint32_t row = rows->row_of[event];
    return row < rows->count && rows->event_of[row] == event;
}

/* What a read saw, as its variable is treated. By source: the write, MR_NONE: an earlier one or
 * none. By value: the value's index. */
static inline uint32_t mr_row_seen(const mr_window *w, uint32_t read)
{
    return w->variables[w->object[read]].by_source ? w->source[read]
                                                   : mr_window_read_value(w, read);
}

#endif
