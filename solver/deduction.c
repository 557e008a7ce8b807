#include "deduction.h"

#include "base/assert.h"

#include <string.h>

/* The rows among the first `count` events of a thread. */
uint32_t mr_deduction_rows_of(const mr_deduction *d, uint32_t thread, uint32_t count)
{
    uint32_t slot = d->known->slot_of[thread];
    if (slot == MR_NONE)
        return 0;
    return mr_known_rows(d->known, slot, count < d->cone[thread] ? count : d->cone[thread]);
}

/* ---- pages ---- */

/* The rows of a thread that are certainly before an event of another one. */
static uint32_t forced_rows(const mr_deduction *d, uint32_t event, uint32_t thread)
{
    uint32_t count =
        mr_precedence_count(d->window, d->forced->clock[event], d->window->thread[event], thread);
    return mr_deduction_rows_of(d, thread, count);
}

/* Fills a clock. Rows that stand side by side mostly need the same: `last`, that of the row before it;
 * NULL: there is none. */
static void fill_clock(const mr_deduction *d, uint32_t row, const uint32_t *last, uint32_t *clock)
{
    const mr_known *known = d->known;
    const uint32_t *event_of = known->rows->event_of;
    uint32_t event = event_of[row], own = mr_deduction_slot(d, row);
    if (own == MR_NONE)
        return; /* not in C */
    bool same = last && d->window->thread[event_of[row - 1]] == d->window->thread[event] &&
                d->forced->clock[event_of[row - 1]] == d->forced->clock[event];
    if (same)
        memcpy(clock, last, known->slot_count * sizeof *clock);
    for (uint32_t s = 0; !same && s < known->slot_count; s++)
        clock[s] = forced_rows(d, event, known->thread_of[s]);
    clock[own] = mr_deduction_rank(d, row);
}

void mr_deduction_fill(const mr_deduction *d, uint32_t row)
{
    mr_known *known = d->known;
    mr_row_pages *pages = d->pages;
    uint32_t page = row / MR_KNOWN_PAGE, first = page * MR_KNOWN_PAGE;
    uint32_t *clocks = NULL, *last = NULL;
    mr_row_times *times = NULL;
    if (pages->count == d->max_pages)
        pages->stuck = MR_DEDUCTION_TOO_LARGE;
    else if (!(clocks = mr_arena_zalloc(d->arena, (size_t)MR_KNOWN_PAGE * known->slot_count,
                                        sizeof *clocks)) ||
             !(times = mr_arena_zalloc(d->arena, MR_KNOWN_PAGE, sizeof *times)))
        pages->stuck = MR_DEDUCTION_NO_MEMORY;
    if (!clocks || !times) {
        known->clocks[page] = pages->spare_clocks;
        pages->times[page] = pages->spare_times;
        return;
    }
    pages->count++;
    known->clocks[page] = clocks;
    pages->times[page] = times;
    for (uint32_t i = 0; i < MR_KNOWN_PAGE && first + i < known->rows->count; i++) {
        uint32_t *clock = clocks + (size_t)i * known->slot_count;
        fill_clock(d, first + i, last, clock);
        times[i].changed = 1;
        last = clock;
    }
}

bool mr_deduction_fill_all(const mr_deduction *d)
{
    const mr_known *known = d->known;
    for (uint32_t s = 0; s < known->slot_count; s++)
        for (uint32_t i = 0; i < known->row_count[s] && d->pages->stuck == MR_DEDUCTION_GOES_ON;
             i++)
            if (!known->clocks[(known->row_first[s] + i) / MR_KNOWN_PAGE])
                mr_deduction_fill(d, known->row_first[s] + i);
    return d->pages->stuck == MR_DEDUCTION_GOES_ON;
}

static bool make_pages(mr_deduction *d)
{
    mr_known *known = d->known;
    size_t pages = (size_t)known->rows->count / MR_KNOWN_PAGE + 1;
    d->pages = mr_arena_zalloc(d->arena, 1, sizeof *d->pages);
    known->clocks = mr_arena_zalloc(d->arena, pages, sizeof *known->clocks);
    if (!d->pages || !known->clocks)
        return false;
    d->pages->times = mr_arena_alloc(d->arena, pages, sizeof *d->pages->times);
    d->pages->spare_clocks = mr_arena_zalloc(d->arena, (size_t)MR_KNOWN_PAGE * known->slot_count,
                                             sizeof *d->pages->spare_clocks);
    d->pages->spare_times = mr_arena_zalloc(d->arena, MR_KNOWN_PAGE, sizeof *d->pages->spare_times);
    return d->pages->times && d->pages->spare_clocks && d->pages->spare_times;
}

/* ---- what grows ---- */

uint32_t mr_deduction_object(const mr_deduction *d, uint32_t row)
{
    const mr_window *w = d->window;
    uint32_t event = d->known->rows->event_of[row];
    return mr_op_is_access(mr_window_op(w, event))
               ? w->object[event]
               : w->variable_count + mr_window_section(w, event)->lock;
}

/* The rules of all rows of the object are to be looked at again. */
static void change_object(mr_deduction *d, uint32_t row)
{
    d->object_changed[mr_deduction_object(d, row)] = d->now;
}

void mr_deduction_exclude(mr_deduction *d, uint32_t row)
{
    uint32_t slot = mr_deduction_slot(d, row), rank = mr_deduction_rank(d, row);
    if (rank >= d->limit[slot])
        return;
    d->bounds_changed = d->limits_changed = ++d->now;
    for (uint32_t k = rank; k < d->limit[slot]; k++)
        change_object(d, d->known->row_first[slot] + k);
    d->limit[slot] = rank;
    d->no_race |= d->included[slot] > rank;
}

void mr_deduction_raise(mr_deduction *d, uint32_t row, uint32_t slot, uint32_t rank)
{
    uint32_t *clock = mr_deduction_clock(d, row);
    if (rank <= clock[slot])
        return;
    if (slot == mr_deduction_slot(d, row) || rank > d->limit[slot]) {
        mr_deduction_exclude(d, row);
        return;
    }
    MR_ASSERT(rank <= d->known->row_count[slot]);
    clock[slot] = rank;
    mr_deduction_times(d, row)->changed = ++d->now;
    /* The rule of an acquire looks at no clock but its own and that of its release. */
    if (mr_op_is_access(mr_window_op(d->window, d->known->rows->event_of[row])))
        change_object(d, row);
}

void mr_deduction_join(mr_deduction *d, uint32_t u, uint32_t row)
{
    const uint32_t *clock = mr_deduction_clock(d, u), *own = mr_deduction_clock(d, row);
    uint32_t slots = d->known->slot_count, slot = mr_deduction_slot(d, u);
    d->effort += slots;
    for (uint32_t s = 0; s < slots; s++)
        if (clock[s] > own[s])
            mr_deduction_raise(d, row, s, clock[s]);
    mr_deduction_raise(d, row, slot, mr_deduction_rank(d, u) + 1);
}

void mr_deduction_order(mr_deduction *d, uint32_t u, uint32_t v)
{
    MR_REQUIRE(mr_deduction_slot(d, u) != mr_deduction_slot(d, v) || u < v);
    if (mr_deduction_clock(d, v)[mr_deduction_slot(d, u)] <= mr_deduction_rank(d, u))
        mr_deduction_join(d, u, v);
}

void mr_deduction_be_certain(mr_deduction *d, uint32_t slot, uint32_t rank)
{
    uint32_t end = d->known->row_count[slot];
    if (rank <= d->certain[slot])
        return;
    d->bounds_changed = ++d->now;
    for (uint32_t k = d->certain[slot]; k < rank && k < end; k++)
        change_object(d, d->known->row_first[slot] + k);
    d->certain[slot] = rank;
}

/* A row has come into L: what its own rule says depends on that, and what an acquire says to those
 * of other sections. */
static void look_at_required(mr_deduction *d, uint32_t row)
{
    if (!mr_op_is_access(mr_window_op(d->window, d->known->rows->event_of[row])))
        change_object(d, row);
    else if (d->known->clocks[row / MR_KNOWN_PAGE]) /* else it is to be looked at anyway */
        mr_deduction_times(d, row)->ruled = 0;
}

void mr_deduction_include(mr_deduction *d, uint32_t slot, uint32_t rank)
{
    if (rank <= d->included[slot])
        return;
    d->bounds_changed = ++d->now;
    for (uint32_t k = d->included[slot]; k < rank && k < d->limit[slot]; k++)
        look_at_required(d, d->known->row_first[slot] + k);
    d->included[slot] = rank;
    d->no_race |= rank > d->limit[slot];
}

/* ---- the beginning ---- */

static bool make_slots(mr_deduction *d)
{
    const mr_window *w = d->window;
    mr_known *known = d->known;
    uint32_t **of_threads[] = {&known->slot_of, &known->thread_of, &known->row_first,
                               &known->row_count};
    for (size_t i = 0; i < sizeof of_threads / sizeof *of_threads; i++)
        if (!(*of_threads[i] = mr_arena_alloc(d->arena, w->thread_count, sizeof(uint32_t))))
            return false;
    d->walked = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        known->slot_of[t] = d->cone[t] ? known->slot_count : MR_NONE;
        if (!d->cone[t])
            continue;
        uint32_t slot = known->slot_count++, last = mr_window_at(w, t, d->cone[t] - 1);
        known->thread_of[slot] = t;
        known->row_first[slot] = known->rows->first[t];
        known->row_count[slot] = mr_rows_before(known->rows, t, d->cone[t]);
        d->rows += known->row_count[slot];
        d->walked = last + 1 > d->walked ? last + 1 : d->walked;
    }
    return true;
}

bool mr_deduction_begin(mr_deduction *d)
{
    const mr_window *w = d->window;
    const mr_known *known = d->known;
    if (!make_slots(d) || !make_pages(d))
        return false;
    d->region = mr_arena_alloc(d->arena, d->rows, sizeof *d->region);
    d->object_changed = mr_arena_zalloc(d->arena, (size_t)w->variable_count + w->lock_count,
                                        sizeof *d->object_changed);
    uint32_t **of_slots[] = {&d->included, &d->limit, &d->certain, &d->blocked,
                             &d->common,   &d->last,  &d->foreign, &d->ahead_rank};
    for (size_t i = 0; i < sizeof of_slots / sizeof *of_slots; i++)
        if (!(*of_slots[i] = mr_arena_zalloc(d->arena, known->slot_count, sizeof **of_slots[i])))
            return false;
    if (!d->region || !d->object_changed)
        return false;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        d->included[s] = mr_known_rows(known, s, d->required[known->thread_of[s]]);
        d->limit[s] = known->row_count[s];
        MR_REQUIRE(d->included[s] <= d->limit[s]); /* L is in C */
        d->certain[s] = w->model == MR_MODEL_BRANCH ? 0 : UINT32_MAX;
    }
    d->now = d->bounds_changed = d->limits_changed = 1;
    return true;
}
