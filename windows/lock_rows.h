/*
 * lock_rows: which contended locks a thread of a window holds, as bits, by how far it has come. For a search that
 * jumps from state to state (solver/layers.h) and asks of each: may a thread enter a section, when the threads have come
 * so far?
 *
 * A row has a bit for each contended lock that is held exclusively, then one for each that is held shared. Each acquire and
 * release makes a new row. So the rows take changes · contended locks / 4 bytes, and they are refused when that is too much.
 */
#ifndef MR_WINDOWS_LOCK_ROWS_H
#define MR_WINDOWS_LOCK_ROWS_H

#include "window.h"

typedef struct mr_lock_rows {
    const mr_window *window;
    uint64_t *bits; /* rows of 2 * `words` each */
    /* The number of the row before each event, in the order of by_thread, with one more for the end of each thread. */
    uint32_t *row_of;
    uint32_t *number_of; /* one a lock; MR_NONE: it is not contended */
    uint32_t words;      /* of one kind of holding */
} mr_lock_rows;

/* False: no memory of `arena`, or with `*refused` too many locks. O(window + size of the rows). */
bool mr_lock_rows_init(mr_lock_rows *rows, const mr_window *window, mr_arena *arena, bool *refused);

/* Do the others allow the thread of the section to enter it, when the threads have come to `next`? O(threads). */
static inline bool mr_lock_rows_allow(const mr_lock_rows *rows, const mr_section *section,
                                      const uint32_t *next)
{
    const mr_window *w = rows->window;
    uint32_t number = rows->number_of[section->lock], word = number / 64;
    uint64_t bit = UINT64_C(1) << number % 64;
    if (number == MR_NONE)
        return true;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t row = rows->row_of[w->threads[t].first + t + next[t]];
        const uint64_t *held = &rows->bits[(size_t)row * 2 * rows->words + word];
        if (t != section->thread &&
            ((*held & bit) || (!section->shared && held[rows->words] & bit)))
            return false;
    }
    return true;
}

/* May the thread hold what it holds at this position, as far as the others go, when they have come to `next`?
 * O(threads · contended locks / 64). */
static inline bool mr_lock_rows_fit(const mr_lock_rows *rows, uint32_t thread, uint32_t position,
                                    const uint32_t *next)
{
    const mr_window *w = rows->window;
    uint32_t words = rows->words;
    const uint64_t *own =
        &rows->bits[(size_t)rows->row_of[w->threads[thread].first + thread + position] * 2 * words];
    for (uint32_t t = 0; t < w->thread_count; t++) {
        const uint64_t *held =
            &rows->bits[(size_t)rows->row_of[w->threads[t].first + t + next[t]] * 2 * words];
        uint64_t met = 0;
        for (uint32_t k = 0; k < words; k++)
            met |= (own[k] & (held[k] | held[words + k])) | (own[words + k] & held[k]);
        if (t != thread && met)
            return false;
    }
    return true;
}

#endif
