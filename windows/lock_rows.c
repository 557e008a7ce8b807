#include "lock_rows.h"

#include <string.h>

/* More words of all rows are refused. */
enum { MOST_WORDS = 1 << 24 };

/* The section of a contended lock that the event enters or leaves; NULL: there is none. */
static const mr_section *changed(const mr_window *w, uint32_t event)
{
    const mr_section *section = mr_window_section(w, event);
    return section && w->locks[section->lock].contended ? section : NULL;
}

static void change(const mr_lock_rows *rows, uint64_t *row, const mr_section *section)
{
    uint32_t number = rows->number_of[section->lock];
    row[number / 64 + (section->shared ? rows->words : 0)] ^= UINT64_C(1) << number % 64;
}

/* Numbers the contended locks. False: no memory. */
static bool number_locks(mr_lock_rows *rows, mr_arena *arena)
{
    const mr_window *w = rows->window;
    uint32_t count = 0;
    rows->number_of = mr_arena_alloc(arena, w->lock_count, sizeof *rows->number_of);
    for (uint32_t l = 0; l < w->lock_count && rows->number_of; l++)
        rows->number_of[l] = w->locks[l].contended ? count++ : MR_NONE;
    rows->words = (count + 63) / 64;
    return rows->number_of;
}

static uint64_t count_rows(const mr_window *w)
{
    uint64_t count = w->thread_count;
    for (uint32_t e = 0; e < w->size; e++)
        count += changed(w, e) != NULL;
    return count;
}

static void hold_carried(mr_lock_rows *rows)
{
    const mr_window *w = rows->window;
    for (uint32_t l = 0; l < w->lock_count; l++)
        for (uint32_t s = w->locks[l].sections_first;
             s < w->locks[l].carried_end && w->locks[l].contended; s++) {
            const mr_section *section = &w->sections[s];
            uint32_t thread = section->thread;
            uint32_t row = rows->row_of[w->threads[thread].first + thread];
            change(rows, &rows->bits[(size_t)row * 2 * rows->words], section);
        }
}

/* The numbers of the rows, from one event of a thread to the next. */
static void number_rows(mr_lock_rows *rows)
{
    const mr_window *w = rows->window;
    uint32_t row = 0;
    for (uint32_t t = 0; t < w->thread_count; t++, row++) {
        uint32_t *row_of = &rows->row_of[w->threads[t].first + t];
        row_of[0] = row;
        for (uint32_t p = 0; p < mr_window_length(w, t); p++) {
            row += changed(w, mr_window_at(w, t, p)) != NULL;
            row_of[p + 1] = row;
        }
    }
}

static void fill_rows(mr_lock_rows *rows)
{
    const mr_window *w = rows->window;
    size_t words = 2 * (size_t)rows->words;
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t p = 0; p < mr_window_length(w, t); p++) {
            const mr_section *section = changed(w, mr_window_at(w, t, p));
            uint64_t *row = &rows->bits[rows->row_of[w->threads[t].first + t + p] * words];
            if (!section)
                continue;
            memcpy(row + words, row, words * sizeof *row);
            change(rows, row + words, section);
        }
}

bool mr_lock_rows_init(mr_lock_rows *rows, const mr_window *window, mr_arena *arena, bool *refused)
{
    *rows = (mr_lock_rows){.window = window};
    *refused = false;
    if (!number_locks(rows, arena))
        return false;
    uint64_t count = count_rows(window);
    *refused = rows->words && count > MOST_WORDS / 2 / rows->words;
    if (*refused)
        return false;
    rows->row_of =
        mr_arena_alloc(arena, (size_t)window->size + window->thread_count, sizeof *rows->row_of);
    rows->bits = mr_arena_zalloc(arena, count * 2 * rows->words, sizeof *rows->bits);
    if (!rows->row_of || !rows->bits)
        return false;
    number_rows(rows);
    hold_carried(rows);
    fill_rows(rows);
    return true;
}
