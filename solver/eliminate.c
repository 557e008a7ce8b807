#include "eliminate.h"

#include "base/assert.h"
#include "deduction_rules.h"

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
            uint32_t last = known->event_of[known->row_first[s] + d->included[s] - 1];
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
    if (all || d->changed[before] > d->closed[row])
        mr_deduction_join(d, before, row);
}

/* The first rule for one row. What the row before it in its thread has in B as well, that row joins:
 * a row and the one before it mostly differ in few threads. */
static void close_row(mr_deduction *d, uint32_t row)
{
    const mr_known *known = d->known;
    uint32_t *clock = mr_deduction_clock(d, row), own = d->slot_of[row];
    MR_ASSERT(clock);
    const uint32_t *last = mr_deduction_rank(d, row) ? clock - known->slot_count : NULL;
    bool all = d->changed[row] > d->closed[row], limits = d->limits_changed > d->closed[row];
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
    d->closed[row] = now;
}

static void rule(mr_deduction *d, uint32_t row)
{
    uint64_t ruled = d->ruled[row], now = d->now;
    uint32_t event = d->known->event_of[row];
    if (ruled && d->changed[row] <= ruled &&
        d->object_changed[mr_deduction_object(d, row)] <= ruled)
        return;
    if (mr_op_reads(mr_window_op(d->window, event)))
        mr_deduction_rule_read(d, row);
    else if (!mr_op_is_access(mr_window_op(d->window, event)) &&
             mr_window_section(d->window, event)->acquire == event)
        mr_deduction_rule_acquire(d, row);
    d->ruled[row] = now;
}

/* Every so many rows a pass looks whether the run was asked to end. */
enum { ROWS_PER_LOOK = 16 };

/* One pass over the rows of the region. */
static void pass(mr_deduction *d, bool rules)
{
    close_included(d);
    find_certain(d);
    for (uint32_t i = d->from; i < d->known->row_count && !d->no_race; i++) {
        uint32_t row = d->in_trace_order[i];
        if (i % ROWS_PER_LOOK == 0 && mr_arena_is_halted(d->arena))
            return;
        if (mr_deduction_rank(d, row) >= d->limit[d->slot_of[row]])
            continue;
        close_row(d, row);
        if (rules)
            rule(d, row);
    }
}

/* Does B of each row have B of the rows in it? For costly checks. */
static bool is_closed(const mr_deduction *d)
{
    const mr_known *known = d->known;
    for (uint32_t row = 0; row < known->row_count; row++) {
        const uint32_t *clock = mr_deduction_clock(d, row);
        if (mr_deduction_rank(d, row) >= d->limit[d->slot_of[row]])
            continue;
        for (uint32_t s = 0; s < known->slot_count; s++) {
            if (!clock[s])
                continue;
            const uint32_t *before = mr_deduction_clock(d, known->row_first[s] + clock[s] - 1);
            for (uint32_t t = 0; t < known->slot_count; t++)
                if (t != s && t != d->slot_of[row] && before[t] > clock[t])
                    return false;
        }
    }
    return true;
}

/* The first region (eliminate.h) has so many rows before the stops, the next one so many times as
 * many. The first one is small so that tests on short traces see more than one. */
enum { FIRST_REGION = 8, REGION_GROWTH = 4 };

/* Where the first region starts. */
static uint32_t first_region(const mr_deduction *d)
{
    const uint32_t *rows = d->in_trace_order;
    uint32_t low = 0, high = d->known->row_count, stop = d->stop_count ? MR_NONE : 0;
    for (uint32_t i = 0; i < d->stop_count; i++)
        stop = mr_stops_last(&d->stops[i]) < stop ? mr_stops_last(&d->stops[i]) : stop;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->known->event_of[rows[middle]] < stop)
            low = middle + 1;
        else
            high = middle;
    }
    return low < FIRST_REGION ? 0 : low - FIRST_REGION;
}

/* Takes more rows into the region. False: it has them all. */
static bool grow(mr_deduction *d)
{
    uint32_t rows = d->known->row_count - d->from, left = d->from;
    d->from = left / (REGION_GROWTH - 1) <= rows ? 0 : left - (REGION_GROWTH - 1) * rows;
    return left;
}

/* Applies the rules until nothing changes or the budget is used up. False: the budget did not
 * even do for closing what is known, or the run was asked to end. */
static bool run(mr_deduction *d)
{
    bool rules = true;
    d->from = first_region(d);
    for (uint64_t before = UINT64_MAX; !d->no_race && (before != d->now || grow(d));) {
        before = d->now;
        pass(d, rules);
        if (mr_arena_is_halted(d->arena))
            return false;
        if (d->max_effort && d->effort > d->max_effort) {
            if (!rules)
                return false;
            rules = false; /* only the closure, for which there is as much again */
            d->from = 0;
            d->max_effort *= 2;
            before = UINT64_MAX;
        }
    }
    MR_ASSERT_COSTLY(d->no_race || is_closed(d));
    return true;
}

/* Lowers C, and the lists, to what does not need E. False: nothing is left. */
static bool lower_cone(const mr_deduction *d, uint32_t *cone)
{
    const mr_window *w = d->window;
    const mr_known *known = d->known;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t slot = known->slot_of[t];
        uint32_t rows = slot == MR_NONE ? 0 : known->row_first[slot + 1] - known->row_first[slot];
        cone[t] = d->cone[t];
        if (slot != MR_NONE && d->limit[slot] < rows)
            cone[t] = w->position[known->event_of[known->row_first[slot] + d->limit[slot]]];
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
                                  known->event_of[known->row_first[s] + d->included[s] - 1], true);
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

mr_eliminated mr_eliminate(const mr_precedence *forced, mr_goal *goal, uint32_t *required,
                           uint32_t *cone, const mr_eliminate_limits *limits, mr_known *known,
                           mr_arena *arena)
{
    *known = (mr_known){.window = forced->window};
    mr_deduction *d = mr_arena_alloc(arena, 1, sizeof *d);
    if (!d)
        return MR_ELIMINATED_NO_MEMORY;
    *d = (mr_deduction){.window = forced->window,
                        .forced = forced,
                        .stop_count = goal->stop_count,
                        .known = known,
                        .required = required,
                        .cone = cone,
                        .arena = arena,
                        .max_effort = limits->effort};
    d->stops = mr_arena_alloc(arena, goal->stop_count, sizeof *d->stops);
    if (!d->stops)
        return MR_ELIMINATED_NO_MEMORY;
    memcpy(d->stops, goal->stops, goal->stop_count * sizeof *d->stops);
    if (!mr_deduction_rows(d))
        return MR_ELIMINATED_NO_MEMORY;
    uint64_t cells = (uint64_t)known->row_count * known->slot_count;
    if (limits->memory_bytes && cells * sizeof *known->clock > limits->memory_bytes)
        return MR_ELIMINATED_NOTHING;
    if (!mr_deduction_begin(d))
        return MR_ELIMINATED_NO_MEMORY;
    if (!run(d)) {
        known->clock = NULL;
        return MR_ELIMINATED_NOTHING;
    }
    return d->no_race ? MR_ELIMINATED_ALL : hand_over(d, goal, required, cone);
}

bool mr_eliminate_list_sources(mr_known *known)
{
    return !known->origin || known->sources_first || mr_deduction_list_sources(known->origin);
}

/* ---- of a window, whatever is asked ---- */

/* Clocks on their way from rows to events, in trace order: what is before an event stands before it
 * in the trace, so its clock is there already. */
typedef struct refiner {
    const mr_deduction *d;
    mr_precedence *forced;
    uint32_t *clock; /* of the event at hand; scratch */
    mr_arena *arena;
} refiner;

/* The event, with what is before it, joins the clock at hand. */
static void take(refiner *r, uint32_t event, uint32_t of)
{
    const mr_window *w = r->forced->window;
    uint32_t chain = w->threads[w->thread[event]].chain, own = w->threads[w->thread[of]].chain;
    if (chain == own || r->clock[chain] > mr_window_chain_position(w, event))
        return;
    MR_ASSERT(event < of);
    const uint32_t *from = r->forced->clock[event];
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != own && c != chain && from[c] > r->clock[c])
            r->clock[c] = from[c];
    r->clock[chain] = mr_window_chain_position(w, event) + 1;
}

/* What FORCED had before the event, and what the rows say. */
static void take_forced(refiner *r, const uint32_t *clock, uint32_t of)
{
    const mr_window *w = r->forced->window;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = mr_precedence_count(w, clock, w->thread[of], t);
        if (count && !mr_window_same_chain(w, t, w->thread[of]))
            take(r, mr_window_at(w, t, count - 1), of);
    }
}

static void take_rows(refiner *r, uint32_t row, uint32_t of)
{
    const mr_known *known = r->d->known;
    const uint32_t *clock = mr_deduction_clock(r->d, row);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (clock[s])
            take(r, known->event_of[known->row_first[s] + clock[s] - 1], of);
}

static bool find_row(const mr_deduction *d, uint32_t event, uint32_t *row)
{
    *row = mr_deduction_row(d, event);
    uint32_t end = d->known->row_first[d->known->slot_of[d->window->thread[event]] + 1];
    return *row < end && d->known->event_of[*row] == event;
}

/* Has a clock more than another one in the chains that the thread is not in? */
static bool has_more(const mr_window *w, const uint32_t *clock, const uint32_t *other,
                     uint32_t thread)
{
    for (uint32_t c = 0; c < w->chain_count; c++)
        if (c != w->threads[thread].chain && clock[c] > other[c])
            return true;
    return false;
}

/* The clock at hand as one of the arena; `same` when it is no more than that. NULL: no memory. */
static uint32_t *keep(refiner *r, uint32_t *same, uint32_t of)
{
    const mr_window *w = r->forced->window;
    if (!has_more(w, r->clock, same, w->thread[of]))
        return same;
    uint32_t *clock = mr_arena_alloc(r->arena, w->chain_count, sizeof *clock);
    if (clock)
        memcpy(clock, r->clock, w->chain_count * sizeof *clock);
    return clock;
}

/* The first event of a thread has no event before it; what it needs to be next may have grown. */
static bool refine_start(refiner *r, uint32_t thread, uint32_t event)
{
    uint32_t *old = r->forced->thread_start[thread];
    memset(r->clock, 0, r->forced->window->chain_count * sizeof *r->clock);
    take_forced(r, old, event);
    r->forced->thread_start[thread] = keep(r, old, event);
    return r->forced->thread_start[thread] != NULL;
}

/* What the event needs to be next: what the one `before` it needs, and the edges that end at it. */
static bool refine_enabled(refiner *r, const uint32_t *before, uint32_t event)
{
    uint32_t **enabled = r->forced->enabled;
    if (!enabled)
        return true;
    memcpy(r->clock, before, r->forced->window->chain_count * sizeof *r->clock);
    take_forced(r, enabled[event], event);
    enabled[event] = keep(r, enabled[event], event);
    return enabled[event] != NULL;
}

static bool refine_event(refiner *r, uint32_t i)
{
    const mr_window *w = r->forced->window;
    uint32_t thread = w->thread[i], position = w->position[i], row;
    if (!position && !refine_start(r, thread, i))
        return false;
    uint32_t *before = position ? r->forced->clock[mr_window_at(w, thread, position - 1)]
                                : r->forced->thread_start[thread];
    uint32_t *old = r->forced->clock[i];
    if (!refine_enabled(r, before, i))
        return false;
    memcpy(r->clock, before, w->chain_count * sizeof *r->clock);
    take_forced(r, old, i);
    if (find_row(r->d, i, &row))
        take_rows(r, row, i);
    uint32_t *clock = keep(r, before, i);
    if (!clock)
        return false;
    MR_ASSERT_COSTLY(!has_more(w, old, clock, thread));
    r->forced->refined = r->forced->refined || has_more(w, clock, old, thread);
    r->forced->clock[i] = clock;
    return true;
}

static bool deduce_window(mr_deduction *d, const mr_eliminate_limits *limits, mr_precedence *forced,
                          mr_arena *arena)
{
    const mr_window *w = forced->window;
    if (!mr_deduction_rows(d))
        return false;
    uint64_t cells = (uint64_t)d->known->row_count * d->known->slot_count;
    if (limits->memory_bytes && cells * sizeof *d->known->clock > limits->memory_bytes)
        return true;
    refiner r = {.d = d, .forced = forced, .arena = arena};
    r.clock = mr_arena_alloc(d->arena, w->chain_count, sizeof *r.clock);
    if (!r.clock || !mr_deduction_begin(d))
        return false;
    run(d);
    if (mr_arena_is_halted(d->arena))
        return false;
    MR_ASSERT(!d->no_race); /* the trace is a witness of everything */
    for (uint32_t i = 0; i < w->size; i++)
        if ((i % ROWS_PER_LOOK == 0 && mr_arena_is_halted(d->arena)) || !refine_event(&r, i))
            return false;
    return true;
}

bool mr_eliminate_refine(mr_precedence *forced, const mr_eliminate_limits *limits, mr_arena *arena)
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
                      .max_effort = limits->effort};
    uint32_t *cone = mr_arena_alloc(&scratch, w->thread_count, sizeof *cone);
    for (uint32_t t = 0; cone && t < w->thread_count; t++)
        cone[t] = mr_window_length(w, t);
    d.required = mr_arena_zalloc(&scratch, w->thread_count, sizeof *d.required);
    d.cone = cone;
    bool complete = d.required && d.cone && deduce_window(&d, limits, forced, arena);
    arena->refused |= scratch.refused;
    mr_arena_free(&scratch);
    return complete;
}
