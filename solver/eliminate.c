#include "eliminate.h"

#include "base/assert.h"
#include "deduction_rules.h"
#include "raise.h"

#include <string.h>

/* How many rows its thread does before the access when it stops there. */
static uint32_t stop_rank(const mr_deduction *d, uint32_t stop)
{
    return mr_deduction_rows_of(d, d->window->thread[stop], d->window->position[stop]);
}

/* Must the thread, or can it not, stop at the access? */
static bool is_passed(const mr_deduction *d, uint32_t stop)
{
    uint32_t slot = d->known->slot_of[d->window->thread[stop]];
    return slot != MR_NONE && d->included[slot] > stop_rank(d, stop);
}

static bool is_out_of_reach(const mr_deduction *d, uint32_t stop)
{
    const mr_window *w = d->window;
    const uint32_t *enabled = mr_precedence_enabled(d->forced, stop);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t slot = d->known->slot_of[t];
        uint32_t need = t == w->thread[stop] ? w->position[stop]
                                             : mr_precedence_count(w, enabled, w->thread[stop], t);
        if (need > d->cone[t] ||
            (slot != MR_NONE && mr_deduction_rows_of(d, t, need) > d->limit[slot]))
            return true;
    }
    return false;
}

static void narrow_stops(mr_deduction *d, mr_stops *stops)
{
    const mr_window *w = d->window;
    uint32_t thread = w->thread[stops->events[0]], slot = d->known->slot_of[thread];
    while (stops->count && is_passed(d, stops->events[0])) {
        stops->events++;
        stops->count--;
    }
    while (stops->count && is_out_of_reach(d, stops->events[stops->count - 1]))
        stops->count--;
    if (!stops->count) {
        d->no_race = true;
        return;
    }
    const uint32_t *enabled = mr_precedence_enabled(d->forced, stops->events[0]);
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != thread && d->known->slot_of[t] != MR_NONE)
            mr_deduction_include(
                d, d->known->slot_of[t],
                mr_deduction_rows_of(d, t, mr_precedence_count(w, enabled, thread, t)));
    if (slot == MR_NONE)
        return;
    mr_deduction_include(d, slot, stop_rank(d, stops->events[0]));
    uint32_t last = stop_rank(d, stops->events[stops->count - 1]);
    if (last < d->limit[slot])
        mr_deduction_exclude(d, d->known->row_first[slot] + last);
}

/* L is closed under B. */
static void close_included(mr_deduction *d)
{
    const mr_known *known = d->known;
    for (uint64_t before = 0; before != d->bounds_changed && !d->no_race;) {
        before = d->bounds_changed;
        for (uint32_t i = 0; i < d->stop_count && !d->no_race; i++)
            narrow_stops(d, &d->stops[i]);
        for (uint32_t s = 0; s < known->slot_count; s++) {
            if (!d->included[s])
                continue;
            const uint32_t *clock = mr_deduction_clock(d, known->row_first[s] + d->included[s] - 1);
            d->effort += known->slot_count;
            for (uint32_t t = 0; t < known->slot_count; t++)
                if (t != s)
                    mr_deduction_include(d, t, clock[t]);
        }
    }
}

/* Model branch: the reads before the last branch, fork or mbegin of L. */
static void find_certain(mr_deduction *d)
{
    const mr_window *w = d->window;
    const mr_known *known = d->known;
    for (uint32_t s = 0; s < known->slot_count && w->model == MR_MODEL_BRANCH; s++) {
        uint32_t thread = known->thread_of[s], end = d->required[thread];
        if (d->included[s]) {
            uint32_t last = known->rows->event_of[known->row_first[s] + d->included[s] - 1];
            end = w->position[last] + 1 > end ? w->position[last] + 1 : end;
        }
        while (end && mr_known_rows(known, s, end) > d->certain[s] &&
               !mr_binds_reads(w, mr_window_at(w, thread, end - 1)))
            end--;
        if (end)
            mr_deduction_be_certain(d, s, mr_known_rows(known, s, end));
    }
}

/* A row has joined B of the row, or has changed. */
static void close_one(mr_deduction *d, uint32_t before, uint32_t row, bool all)
{
    if (all || mr_deduction_times(d, before)->changed > mr_deduction_times(d, row)->closed)
        mr_deduction_join(d, before, row);
}

/* The first rule for one row. What the row before it in its thread has in B as well, that row joins:
 * a row and the one before it mostly differ in few threads. */
static void close_row(mr_deduction *d, uint32_t row)
{
    const mr_known *known = d->known;
    uint32_t *clock = mr_deduction_clock(d, row), own = mr_deduction_slot(d, row);
    mr_row_times *times = mr_deduction_times(d, row);
    const uint32_t *last = mr_deduction_rank(d, row) ? mr_deduction_clock(d, row - 1) : NULL;
    bool all = times->changed > times->closed, limits = d->limits_changed > times->closed;
    uint64_t now = d->now;
    d->effort += known->slot_count;
    if (last)
        close_one(d, row - 1, row, all);
    for (uint32_t s = 0; s < known->slot_count; s++) {
        uint32_t rank = clock[s];
        if (s == own || !rank || (last && rank == last[s]))
            continue;
        if (limits && rank > d->limit[s]) {
            mr_deduction_exclude(d, row);
            return;
        }
        close_one(d, known->row_first[s] + rank - 1, row, all);
    }
    times->closed = now;
}

/* The section that the event enters; NULL: it is no acquire. */
static const mr_section *entered(const mr_deduction *d, uint32_t event)
{
    const mr_section *section = mr_op_is_access(mr_window_op(d->window, event))
                                    ? NULL
                                    : mr_window_section(d->window, event);
    return section && section->acquire == event ? section : NULL;
}

static mr_rule_says apply_rule(mr_deduction *d, uint32_t row, bool in_any_case)
{
    uint32_t event = d->known->rows->event_of[row];
    if (mr_op_reads(mr_window_op(d->window, event)))
        return mr_deduction_rule_read(d, row, in_any_case);
    if (entered(d, event))
        mr_deduction_rule_acquire(d, row);
    return MR_RULE_MAY_SAY;
}

/* Is there something new for the rule of the row to look at? That of an acquire looks at B of its release, too. */
static bool is_due(const mr_deduction *d, uint32_t row)
{
    const mr_row_times *times = mr_deduction_times(d, row);
    if (!times->ruled || times->changed > times->ruled ||
        d->object_changed[mr_deduction_object(d, row)] > times->ruled)
        return true;
    const mr_section *section = entered(d, d->known->rows->event_of[row]);
    return section && mr_deduction_is_possible(d, section->release) &&
           mr_deduction_times(d, mr_deduction_row(d, section->release))->changed > times->ruled;
}

static void rule(mr_deduction *d, uint32_t row)
{
    uint64_t now = d->now;
    if (!is_due(d, row))
        return;
    bool silent = apply_rule(d, row, false) == MR_RULE_IS_SILENT;
    mr_deduction_times(d, row)->ruled = silent ? MR_RULED_FOREVER : now;
}

/* Every so many rows a pass looks whether the run was asked to end. */
enum { ROWS_PER_LOOK = 16 };

/* The event of the next row ahead of a slot; MR_NONE: the slot has no more. */
static uint32_t next_ahead(const mr_deduction *d, uint32_t slot)
{
    const mr_known *known = d->known;
    if (slot >= known->slot_count || d->ahead_rank[slot] >= known->row_count[slot])
        return MR_NONE;
    uint32_t event = known->rows->event_of[known->row_first[slot] + d->ahead_rank[slot]];
    return event < d->ahead_end ? event : MR_NONE;
}

/* Finds the slot whose next row ahead is the first one, and up to which event it stays the first. */
static void choose_ahead(mr_deduction *d)
{
    uint32_t first = MR_NONE;
    d->ahead_until = MR_NONE;
    for (uint32_t s = 0; s < d->known->slot_count; s++) {
        uint32_t event = next_ahead(d, s);
        if (event < first) {
            d->ahead_until = first;
            first = event;
            d->ahead_slot = s;
        } else if (event < d->ahead_until) {
            d->ahead_until = event;
        }
    }
}

/* The next row ahead, after `taken` of them, which is found when it is first asked for. False: there is none. */
static bool take_ahead(mr_deduction *d, uint32_t taken, uint32_t *row)
{
    const mr_known *known = d->known;
    if (taken == d->ahead_count) {
        if (next_ahead(d, d->ahead_slot) >= d->ahead_until)
            choose_ahead(d);
        if (next_ahead(d, d->ahead_slot) == MR_NONE)
            return false;
        d->region[d->rows - ++d->ahead_count] =
            known->row_first[d->ahead_slot] + d->ahead_rank[d->ahead_slot]++;
    }
    *row = d->region[d->rows - 1 - taken];
    return true;
}

/* One pass over the rows of the region, in trace order. */
static void pass(mr_deduction *d, bool rules)
{
    close_included(d);
    find_certain(d);
    uint32_t row;
    for (uint32_t i = 0; !d->no_race; i++) {
        if (i < d->region_count)
            row = d->region[d->region_count - 1 - i];
        else if (!take_ahead(d, i - d->region_count, &row))
            return;
        if (d->pages->stuck || (i % ROWS_PER_LOOK == 0 && mr_arena_is_halted(d->arena)) ||
            (d->near && d->max_effort && d->effort > d->max_effort))
            return; /* a proof near the stops is not worth the rest of a large region */
        if (mr_deduction_rank(d, row) >= d->limit[mr_deduction_slot(d, row)])
            continue;
        close_row(d, row);
        if (rules)
            rule(d, row);
    }
}

/* Does B of the row have B of the rows in it? */
static bool is_closed_row(const mr_deduction *d, uint32_t row)
{
    const mr_known *known = d->known;
    const uint32_t *clock = mr_deduction_clock(d, row);
    for (uint32_t s = 0; s < known->slot_count; s++) {
        if (!clock[s])
            continue;
        const uint32_t *before = mr_deduction_clock(d, known->row_first[s] + clock[s] - 1);
        for (uint32_t t = 0; t < known->slot_count; t++)
            if (t != s && t != mr_deduction_slot(d, row) && before[t] > clock[t])
                return false;
    }
    return true;
}

/* For costly checks. */
static bool is_closed(const mr_deduction *d)
{
    const mr_known *known = d->known;
    for (uint32_t s = 0; s < known->slot_count; s++)
        for (uint32_t rank = 0; rank < d->limit[s]; rank++)
            if (!is_closed_row(d, known->row_first[s] + rank))
                return false;
    return true;
}

/* Does no rule change anything more, not even one that is silent? For costly checks. */
static bool is_ruled(mr_deduction *d)
{
    const mr_known *known = d->known;
    uint64_t now = d->now, effort = d->effort;
    for (uint32_t s = 0; s < known->slot_count; s++)
        for (uint32_t rank = 0; rank < d->limit[s]; rank++)
            apply_rule(d, known->row_first[s] + rank, true);
    d->effort = effort;
    return now == d->now;
}

/* The first region (eliminate.h) has so many rows before the stops, the next one so many times as
 * many. The first one is small so that tests on short traces see more than one. */
enum { FIRST_REGION = 8, REGION_GROWTH = 4 };

/* Takes rows of C before the stops into the region until it has `count` of them. */
static void extend(mr_deduction *d, uint64_t count)
{
    while (d->walked && d->region_count < count) {
        uint32_t event = --d->walked;
        if (d->window->position[event] < d->cone[d->window->thread[event]] &&
            mr_rows_has(d->known->rows, event))
            d->region[d->region_count++] = d->known->rows->row_of[event];
    }
    MR_ASSERT(d->region_count + d->ahead_count <= d->rows);
}

/* How many rows of a slot come before the event. */
static uint32_t rows_until(const mr_known *known, uint32_t slot, uint32_t event)
{
    const uint32_t *event_of = known->rows->event_of + known->row_first[slot];
    uint32_t low = 0, high = known->row_count[slot];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (event_of[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rows from the stops on, and some before them; without stops all. */
static void begin_region(mr_deduction *d)
{
    uint32_t stop = d->stop_count ? d->walked : 0;
    for (uint32_t i = 0; i < d->stop_count; i++)
        stop = mr_stops_last(&d->stops[i]) < stop ? mr_stops_last(&d->stops[i]) : stop;
    d->ahead_end = d->walked;
    for (uint32_t s = 0; s < d->known->slot_count; s++)
        d->ahead_rank[s] = rows_until(d->known, s, stop);
    choose_ahead(d);
    d->walked = stop;
    extend(d, FIRST_REGION);
}

/* Takes more rows into the region, after a pass over all of it. False: it has them all. */
static bool grow(mr_deduction *d)
{
    uint64_t have = (uint64_t)d->region_count + d->ahead_count,
             left = d->walked ? d->rows - have : 0, more = (REGION_GROWTH - 1) * have;
    extend(d, left / (REGION_GROWTH - 1) <= have ? d->rows : d->region_count + more);
    return left;
}

/* Applies the rules until nothing changes or the budget is used up. False: the budget did not
 * even do for closing what is known, memory did not do, or the run was asked to end. */
static bool run(mr_deduction *d)
{
    bool rules = true;
    begin_region(d);
    for (uint64_t before = UINT64_MAX; !d->no_race && (before != d->now || grow(d));) {
        before = d->now;
        pass(d, rules);
        if (d->pages->stuck || mr_arena_is_halted(d->arena))
            return false;
        if (d->max_effort && d->effort > d->max_effort) {
            if (!rules || d->near)
                return false;
            rules = false; /* only the closure, for which there is as much again */
            extend(d, d->rows);
            d->max_effort *= 2;
            before = UINT64_MAX;
        }
    }
    MR_ASSERT_COSTLY(d->no_race || d->near || is_closed(d));
    MR_ASSERT_COSTLY(d->no_race || d->near || !rules || is_ruled(d));
    return true;
}

/* Lowers C, and the lists, to what does not need E. False: nothing is left. */
static bool lower_cone(const mr_deduction *d, uint32_t *cone)
{
    const mr_window *w = d->window;
    const mr_known *known = d->known;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t slot = known->slot_of[t];
        cone[t] = d->cone[t];
        if (slot != MR_NONE && d->limit[slot] < known->row_count[slot])
            cone[t] = w->position[known->rows->event_of[known->row_first[slot] + d->limit[slot]]];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < d->stop_count; i++) {
            uint32_t last = mr_stops_last(&d->stops[i]), t = w->thread[last];
            const uint32_t *enabled = mr_precedence_enabled(d->forced, last);
            bool reached = w->position[last] <= cone[t];
            for (uint32_t u = 0; u < w->thread_count; u++)
                reached = reached && (u == t || mr_precedence_count(w, enabled, t, u) <= cone[u]);
            changed |= !reached || w->position[last] < cone[t];
            if (reached)
                cone[t] = w->position[last];
            else if (--d->stops[i].count == 0)
                return false;
        }
        for (uint32_t t = 0; t < w->thread_count; t++) {
            while (cone[t]) {
                const uint32_t *clock = d->forced->clock[mr_window_at(w, t, cone[t] - 1)];
                bool whole = true;
                for (uint32_t u = 0; u < w->thread_count && whole; u++)
                    whole = u == t || mr_precedence_count(w, clock, t, u) <= cone[u];
                if (whole)
                    break;
                cone[t]--;
                changed = true;
            }
        }
    }
    return true;
}

/* L, with all that its rows need. False: it is not in C any more. */
static bool raise_required(const mr_deduction *d, const uint32_t *cone, uint32_t *required)
{
    const mr_window *w = d->window;
    const mr_known *known = d->known;
    memcpy(required, d->required, w->thread_count * sizeof *required);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (d->included[s])
            mr_precedence_require(d->forced, required,
                                  known->rows->event_of[known->row_first[s] + d->included[s] - 1],
                                  true);
    for (uint32_t i = 0; i < d->stop_count; i++)
        mr_precedence_require(d->forced, required, d->stops[i].events[0], false);
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (required[t] > cone[t])
            return false;
    return true;
}

static mr_eliminated hand_over(mr_deduction *d, mr_goal *goal, uint32_t *required, uint32_t *cone)
{
    uint32_t threads = d->window->thread_count;
    uint32_t *new_required = mr_arena_alloc(d->arena, threads, sizeof *new_required);
    uint32_t *new_cone = mr_arena_alloc(d->arena, threads, sizeof *new_cone);
    if (!new_required || !new_cone)
        return MR_ELIMINATED_NO_MEMORY;
    if (!lower_cone(d, new_cone) || !raise_required(d, new_cone, new_required))
        return MR_ELIMINATED_ALL;
    d->known->origin = d;
    for (uint32_t t = 0; t < threads; t++)
        MR_ASSERT(required[t] <= new_required[t] && new_cone[t] <= cone[t]);
    memcpy(required, new_required, threads * sizeof *required);
    memcpy(cone, new_cone, threads * sizeof *cone);
    for (uint32_t i = 0; i < d->stop_count; i++)
        goal->stops[i] = d->stops[i];
    return MR_ELIMINATED_SOME;
}

/* How many pages the memory of the limits allows. */
static uint64_t most_pages(const mr_eliminate_limits *limits, const mr_window *w)
{
    uint64_t page_bytes =
        MR_KNOWN_PAGE * (w->thread_count * sizeof(uint32_t) + sizeof(mr_row_times));
    return limits->memory_bytes ? limits->memory_bytes / page_bytes : UINT64_MAX;
}

/* The rows of the window, made when the caller has none. False: no memory. */
static bool take_rows_of(mr_known *known, const mr_rows *rows, mr_arena *arena)
{
    known->rows = rows;
    if (rows)
        return true;
    mr_rows *own = mr_arena_alloc(arena, 1, sizeof *own);
    known->rows = own;
    return own && mr_rows_build(own, known->window, arena);
}

/* A deduction about the goal, with copies of what the caller may narrow. NULL: no memory. */
static mr_deduction *pose(const mr_precedence *forced, const mr_rows *rows, const mr_goal *goal,
                          const uint32_t *required, const uint32_t *cone,
                          const mr_eliminate_limits *limits, mr_known *known, mr_arena *arena)
{
    const mr_window *w = forced->window;
    *known = (mr_known){.window = w};
    mr_deduction *d = mr_arena_alloc(arena, 1, sizeof *d);
    uint32_t *own_cone = mr_arena_alloc(arena, w->thread_count, sizeof *own_cone);
    mr_stops *stops = mr_arena_alloc(arena, goal->stop_count, sizeof *stops);
    if (!d || !own_cone || !stops || !take_rows_of(known, rows, arena))
        return NULL;
    memcpy(stops, goal->stops, goal->stop_count * sizeof *stops);
    memcpy(own_cone, cone, w->thread_count * sizeof *own_cone);
    *d = (mr_deduction){.window = w,
                        .forced = forced,
                        .stops = stops,
                        .stop_count = goal->stop_count,
                        .known = known,
                        .required = required,
                        .cone = own_cone,
                        .arena = arena,
                        .max_effort = limits->effort,
                        .max_pages = most_pages(limits, w)};
    return mr_deduction_begin(d) ? d : NULL;
}

mr_eliminated mr_eliminate(const mr_precedence *forced, const mr_rows *rows, mr_goal *goal,
                           uint32_t *required, uint32_t *cone, const mr_eliminate_limits *limits,
                           mr_known *known, mr_arena *arena)
{
    mr_deduction *d = pose(forced, rows, goal, required, cone, limits, known, arena);
    if (!d)
        return MR_ELIMINATED_NO_MEMORY;
    if (!run(d)) {
        known->clocks = NULL;
        return d->pages->stuck == MR_DEDUCTION_NO_MEMORY ? MR_ELIMINATED_NO_MEMORY
                                                         : MR_ELIMINATED_NOTHING;
    }
    return d->no_race ? MR_ELIMINATED_ALL : hand_over(d, goal, required, cone);
}

mr_eliminated mr_eliminate_near(const mr_precedence *forced, const mr_rows *rows,
                                const mr_goal *goal, const uint32_t *required,
                                const uint32_t *allowed, const mr_eliminate_limits *limits,
                                uint64_t *effort, mr_arena *arena)
{
    mr_known known;
    uint32_t last = 0;
    *effort = 0;
    mr_deduction *d = pose(forced, rows, goal, required, allowed, limits, &known, arena);
    if (!d)
        return MR_ELIMINATED_NO_MEMORY;
    for (uint32_t i = 0; i < goal->stop_count; i++)
        last = mr_stops_last(&goal->stops[i]) > last ? mr_stops_last(&goal->stops[i]) : last;
    d->walked = last + 1 < d->walked ? last + 1 : d->walked;
    d->near = true;
    bool ran = run(d);
    *effort = d->effort;
    if (d->pages->stuck == MR_DEDUCTION_NO_MEMORY)
        return MR_ELIMINATED_NO_MEMORY;
    return ran && d->no_race ? MR_ELIMINATED_ALL : MR_ELIMINATED_NOTHING;
}

mr_eliminated mr_eliminate_complete(mr_known *known)
{
    if (!known->origin || mr_deduction_fill_all(known->origin))
        return MR_ELIMINATED_SOME;
    known->clocks = NULL;
    return known->origin->pages->stuck == MR_DEDUCTION_NO_MEMORY ? MR_ELIMINATED_NO_MEMORY
                                                                 : MR_ELIMINATED_NOTHING;
}

bool mr_eliminate_list_sources(mr_known *known)
{
    return !known->origin || known->sources_first || mr_deduction_list_sources(known->origin);
}

/* ---- of a window, whatever is asked ---- */

/* mr_raise: what the rows say. */
static void tell_rows(void *context, mr_raiser *raiser, uint32_t event)
{
    const mr_deduction *d = context;
    const mr_known *known = d->known;
    if (!mr_rows_has(known->rows, event))
        return;
    const uint32_t *clock = mr_deduction_clock(d, mr_deduction_row(d, event));
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (clock[s])
            mr_raise_by(raiser, known->rows->event_of[known->row_first[s] + clock[s] - 1], event);
}

static bool deduce_window(mr_deduction *d, mr_precedence *forced, mr_arena *arena)
{
    if (!mr_deduction_begin(d))
        return false;
    run(d);
    if (!mr_deduction_fill_all(d))
        return d->pages->stuck == MR_DEDUCTION_TOO_LARGE;
    if (mr_arena_is_halted(d->arena))
        return false;
    MR_ASSERT(!d->no_race); /* the trace is a witness of everything */
    return mr_raise(forced, tell_rows, d, d->arena, arena);
}

bool mr_eliminate_refine(mr_precedence *forced, const mr_rows *rows,
                         const mr_eliminate_limits *limits, mr_arena *arena)
{
    const mr_window *w = forced->window;
    if (w->model == MR_MODEL_BRANCH)
        return true;
    mr_arena scratch;
    mr_arena_init(&scratch);
    scratch.share = arena->share;
    scratch.waits = arena->waits;
    scratch.halt = arena->halt;
    mr_known known = {.window = w};
    mr_deduction d = {.window = w,
                      .forced = forced,
                      .known = &known,
                      .arena = &scratch,
                      .max_effort = limits->effort,
                      .max_pages = most_pages(limits, w)};
    uint32_t *cone = mr_arena_alloc(&scratch, w->thread_count, sizeof *cone);
    for (uint32_t t = 0; cone && t < w->thread_count; t++)
        cone[t] = mr_window_length(w, t);
    d.required = mr_arena_zalloc(&scratch, w->thread_count, sizeof *d.required);
    d.cone = cone;
    bool complete = d.required && d.cone && take_rows_of(&known, rows, &scratch) &&
                    deduce_window(&d, forced, arena);
    arena->refused |= scratch.refused;
    mr_arena_free(&scratch);
    return complete;
}
