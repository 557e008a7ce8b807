#include "eliminate.h"

#include "elimination.h"

#include <string.h>

static uint32_t object_of(const mr_elimination *e, uint32_t row)
{
    const mr_window *w = e->window;
    uint32_t event = e->known->event_of[row];
    return mr_op_is_access(mr_window_op(w, event))
               ? w->object[event]
               : w->variable_count + mr_window_section(w, event)->lock;
}

void mr_elimination_exclude(mr_elimination *e, uint32_t row)
{
    uint32_t slot = e->slot_of[row], rank = mr_elimination_rank(e, row);
    if (rank >= e->limit[slot])
        return;
    e->limit[slot] = rank;
    e->bounds_changed = ++e->now;
    e->no_race |= e->included[slot] > rank;
}

void mr_elimination_raise(mr_elimination *e, uint32_t row, uint32_t slot, uint32_t rank)
{
    uint32_t *clock = mr_elimination_clock(e, row);
    if (rank <= clock[slot])
        return;
    if (slot == e->slot_of[row] || rank > e->limit[slot]) {
        mr_elimination_exclude(e, row);
        return;
    }
    clock[slot] = rank;
    e->changed[row] = e->object_changed[object_of(e, row)] = ++e->now;
}

/* B(u) and u join B(row). */
static void join(mr_elimination *e, uint32_t row, uint32_t u)
{
    const uint32_t *clock = mr_elimination_clock(e, u);
    uint32_t slots = e->known->slot_count, slot = e->slot_of[u];
    e->steps += slots;
    for (uint32_t s = 0; s < slots; s++)
        mr_elimination_raise(e, row, s, s == slot ? mr_elimination_rank(e, u) + 1 : clock[s]);
}

void mr_elimination_order(mr_elimination *e, uint32_t u, uint32_t v)
{
    if (mr_elimination_clock(e, v)[e->slot_of[u]] <= mr_elimination_rank(e, u))
        join(e, v, u);
}

void mr_elimination_be_certain(mr_elimination *e, uint32_t slot, uint32_t rank)
{
    if (rank <= e->certain[slot])
        return;
    e->certain[slot] = rank;
    e->bounds_changed = ++e->now;
}

static void include(mr_elimination *e, uint32_t slot, uint32_t rank)
{
    if (rank <= e->included[slot])
        return;
    e->included[slot] = rank;
    e->bounds_changed = ++e->now;
    e->no_race |= rank > e->limit[slot];
}

/* The rows among the first `count` events of a thread. */
static uint32_t rows_of(const mr_elimination *e, uint32_t thread, uint32_t count)
{
    uint32_t slot = e->known->slot_of[thread];
    if (slot == MR_NONE)
        return 0;
    return mr_known_rows(e->known, slot, count < e->cone[thread] ? count : e->cone[thread]);
}

/* How many rows its thread does before the access when it stops there. */
static uint32_t stop_rank(const mr_elimination *e, uint32_t stop)
{
    return rows_of(e, e->window->thread[stop], e->window->position[stop]);
}

/* Must the thread, or can it not, stop at the access? */
static bool is_passed(const mr_elimination *e, uint32_t stop)
{
    uint32_t slot = e->known->slot_of[e->window->thread[stop]];
    return slot != MR_NONE && e->included[slot] > stop_rank(e, stop);
}

static bool is_out_of_reach(const mr_elimination *e, uint32_t stop)
{
    const mr_window *w = e->window;
    const uint32_t *enabled = mr_precedence_enabled(e->forced, stop);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t slot = e->known->slot_of[t];
        uint32_t need = t == w->thread[stop] ? w->position[stop] : enabled[t];
        if (need > e->cone[t] || (slot != MR_NONE && rows_of(e, t, need) > e->limit[slot]))
            return true;
    }
    return false;
}

static void narrow_stops(mr_elimination *e, mr_stops *stops)
{
    const mr_window *w = e->window;
    uint32_t thread = w->thread[stops->events[0]], slot = e->known->slot_of[thread];
    while (stops->count && is_passed(e, stops->events[0])) {
        stops->events++;
        stops->count--;
    }
    while (stops->count && is_out_of_reach(e, stops->events[stops->count - 1]))
        stops->count--;
    if (!stops->count) {
        e->no_race = true;
        return;
    }
    const uint32_t *enabled = mr_precedence_enabled(e->forced, stops->events[0]);
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (t != thread && e->known->slot_of[t] != MR_NONE)
            include(e, e->known->slot_of[t], rows_of(e, t, enabled[t]));
    if (slot == MR_NONE)
        return;
    include(e, slot, stop_rank(e, stops->events[0]));
    uint32_t last = stop_rank(e, stops->events[stops->count - 1]);
    if (last < e->limit[slot])
        mr_elimination_exclude(e, e->known->row_first[slot] + last);
}

/* L is closed under B. */
static void close_included(mr_elimination *e)
{
    const mr_known *known = e->known;
    for (uint64_t before = 0; before != e->bounds_changed && !e->no_race;) {
        before = e->bounds_changed;
        for (int i = 0; i < 2 && !e->no_race && !e->no_question; i++)
            narrow_stops(e, &e->stops[i]);
        for (uint32_t s = 0; s < known->slot_count; s++) {
            if (!e->included[s])
                continue;
            const uint32_t *clock =
                mr_elimination_clock(e, known->row_first[s] + e->included[s] - 1);
            e->steps += known->slot_count;
            for (uint32_t t = 0; t < known->slot_count; t++)
                if (t != s)
                    include(e, t, clock[t]);
        }
    }
}

/* Model branch: the reads before the last branch, fork or mbegin of L. */
static void find_certain(mr_elimination *e)
{
    const mr_window *w = e->window;
    const mr_known *known = e->known;
    for (uint32_t s = 0; s < known->slot_count && w->model == MR_MODEL_BRANCH; s++) {
        uint32_t thread = known->thread_of[s], end = e->required[thread];
        if (e->included[s]) {
            uint32_t last = known->event_of[known->row_first[s] + e->included[s] - 1];
            end = w->position[last] + 1 > end ? w->position[last] + 1 : end;
        }
        while (end && mr_known_rows(known, s, end) > e->certain[s] &&
               !mr_binds_reads(w, mr_window_at(w, thread, end - 1)))
            end--;
        if (end)
            mr_elimination_be_certain(e, s, mr_known_rows(known, s, end));
    }
}

/* The first rule for one row. */
static void close_row(mr_elimination *e, uint32_t row)
{
    const mr_known *known = e->known;
    const uint32_t *clock = mr_elimination_clock(e, row);
    bool all = e->changed[row] > e->closed[row], bounds = e->bounds_changed > e->closed[row];
    uint64_t now = e->now;
    e->steps += known->slot_count;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        uint32_t rank = clock[s];
        if (!rank)
            continue;
        if (bounds && s != e->slot_of[row] && rank > e->limit[s]) {
            mr_elimination_exclude(e, row);
            return;
        }
        uint32_t before = known->row_first[s] + rank - 1;
        if (all || e->changed[before] > e->closed[row])
            join(e, row, before);
    }
    e->closed[row] = now;
}

static void rule(mr_elimination *e, uint32_t row)
{
    uint64_t ruled = e->ruled[row], now = e->now;
    uint32_t event = e->known->event_of[row];
    if (e->changed[row] <= ruled && e->bounds_changed <= ruled &&
        e->object_changed[object_of(e, row)] <= ruled)
        return;
    if (mr_op_reads(mr_window_op(e->window, event)))
        mr_elimination_rule_read(e, row);
    else if (!mr_op_is_access(mr_window_op(e->window, event)) &&
             mr_window_section(e->window, event)->acquire == event)
        mr_elimination_rule_acquire(e, row);
    e->ruled[row] = now;
}

/* One pass over the rows. */
static void pass(mr_elimination *e, bool rules)
{
    close_included(e);
    find_certain(e);
    for (uint32_t i = 0; i < e->known->row_count && !e->no_race; i++) {
        uint32_t row = e->in_trace_order[i];
        if (mr_elimination_rank(e, row) >= e->limit[e->slot_of[row]])
            continue;
        close_row(e, row);
        if (rules)
            rule(e, row);
    }
}

/* What is known is closed when the steps are enough for that. */
bool mr_elimination_run(mr_elimination *e)
{
    bool rules = true;
    for (uint64_t before = UINT64_MAX; before != e->now && !e->no_race;) {
        before = e->now;
        pass(e, rules);
        if (e->max_steps && e->steps > e->max_steps) {
            if (!rules)
                return false;
            rules = false; /* only the closure, for which there is as much again */
            e->max_steps *= 2;
            before = UINT64_MAX;
        }
    }
    return true;
}

bool mr_elimination_prepare(mr_elimination *e)
{
    const mr_window *w = e->window;
    mr_known *known = e->known;
    mr_arena *arena = e->arena;
    uint32_t rows = known->row_count, slots = known->slot_count;
    known->clock = mr_arena_alloc(arena, (size_t)rows * slots, sizeof *known->clock);
    e->changed = mr_arena_zalloc(arena, rows, sizeof *e->changed);
    e->closed = mr_arena_zalloc(arena, rows, sizeof *e->closed);
    e->ruled = mr_arena_zalloc(arena, rows, sizeof *e->ruled);
    e->object_changed = mr_arena_zalloc(arena, (size_t)w->variable_count + w->lock_count,
                                        sizeof *e->object_changed);
    uint32_t **of_slots[] = {&e->included, &e->limit, &e->certain, &e->blocked,
                             &e->common,   &e->last,  &e->foreign};
    for (size_t i = 0; i < sizeof of_slots / sizeof *of_slots; i++)
        if (!(*of_slots[i] = mr_arena_zalloc(arena, slots, sizeof **of_slots[i])))
            return false;
    if (!known->clock || !e->changed || !e->closed || !e->ruled || !e->object_changed)
        return false;
    for (uint32_t s = 0; s < slots; s++) {
        uint32_t thread = known->thread_of[s];
        e->included[s] = mr_known_rows(known, s, e->required[thread]);
        e->limit[s] = known->row_first[s + 1] - known->row_first[s];
        e->certain[s] = w->model == MR_MODEL_BRANCH ? 0 : UINT32_MAX;
    }
    e->now = e->bounds_changed = 1;
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t *forced = e->forced->clock[known->event_of[row]];
        uint32_t *clock = known->clock + (size_t)row * slots;
        for (uint32_t s = 0; s < slots; s++)
            clock[s] = s == e->slot_of[row]
                           ? mr_elimination_rank(e, row)
                           : rows_of(e, known->thread_of[s], forced[known->thread_of[s]]);
        e->changed[row] = 1;
    }
    return mr_elimination_index(e);
}

/* Lowers C, and the lists, to what does not need E. False: nothing is left. */
static bool lower_cone(const mr_elimination *e, uint32_t *cone, mr_stops stops[2])
{
    const mr_window *w = e->window;
    const mr_known *known = e->known;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t slot = known->slot_of[t];
        uint32_t rows = slot == MR_NONE ? 0 : known->row_first[slot + 1] - known->row_first[slot];
        cone[t] = e->cone[t];
        if (slot != MR_NONE && e->limit[slot] < rows)
            cone[t] = w->position[known->event_of[known->row_first[slot] + e->limit[slot]]];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < 2; i++) {
            uint32_t last = stops[i].events[stops[i].count - 1], t = w->thread[last];
            const uint32_t *enabled = mr_precedence_enabled(e->forced, last);
            bool reached = w->position[last] <= cone[t];
            for (uint32_t u = 0; u < w->thread_count; u++)
                reached = reached && (u == t || enabled[u] <= cone[u]);
            changed |= !reached || w->position[last] < cone[t];
            if (reached)
                cone[t] = w->position[last];
            else if (--stops[i].count == 0)
                return false;
        }
        for (uint32_t t = 0; t < w->thread_count; t++) {
            while (cone[t]) {
                const uint32_t *clock = e->forced->clock[mr_window_at(w, t, cone[t] - 1)];
                bool whole = true;
                for (uint32_t u = 0; u < w->thread_count && whole; u++)
                    whole = u == t || clock[u] <= cone[u];
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
static bool raise_required(const mr_elimination *e, const uint32_t *cone, uint32_t *required)
{
    const mr_window *w = e->window;
    const mr_known *known = e->known;
    memcpy(required, e->required, w->thread_count * sizeof *required);
    for (uint32_t s = 0; s < known->slot_count; s++)
        if (e->included[s])
            mr_precedence_require(e->forced, required,
                                  known->event_of[known->row_first[s] + e->included[s] - 1], true);
    for (int i = 0; i < 2; i++)
        mr_precedence_require(e->forced, required, e->stops[i].events[0], false);
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (required[t] > cone[t])
            return false;
    return true;
}

static mr_eliminated hand_over(mr_elimination *e, mr_stops stops[2], uint32_t *required,
                               uint32_t *cone)
{
    uint32_t threads = e->window->thread_count;
    uint32_t *new_required = mr_arena_alloc(e->arena, threads, sizeof *new_required);
    uint32_t *new_cone = mr_arena_alloc(e->arena, threads, sizeof *new_cone);
    if (!new_required || !new_cone)
        return MR_ELIMINATED_NO_MEMORY;
    if (!lower_cone(e, new_cone, e->stops) || !raise_required(e, new_cone, new_required))
        return MR_ELIMINATED_ALL;
    if (!mr_elimination_list_sources(e))
        return MR_ELIMINATED_NO_MEMORY;
    memcpy(required, new_required, threads * sizeof *required);
    memcpy(cone, new_cone, threads * sizeof *cone);
    for (int i = 0; i < 2; i++)
        stops[i] = e->stops[i];
    return MR_ELIMINATED_SOME;
}

mr_eliminated mr_eliminate(const mr_precedence *forced, mr_stops stops[2], uint32_t *required,
                           uint32_t *cone, const mr_eliminate_limits *limits, mr_known *known,
                           mr_arena *arena)
{
    mr_elimination e = {.window = forced->window,
                        .forced = forced,
                        .stops = {stops[0], stops[1]},
                        .known = known,
                        .required = required,
                        .cone = cone,
                        .arena = arena,
                        .max_steps = limits->steps};
    *known = (mr_known){.window = forced->window};
    if (!mr_elimination_rows(&e))
        return MR_ELIMINATED_NO_MEMORY;
    uint64_t cells = (uint64_t)known->row_count * known->slot_count;
    if (limits->memory_bytes && cells * sizeof *known->clock > limits->memory_bytes)
        return MR_ELIMINATED_NOTHING;
    if (!mr_elimination_prepare(&e))
        return MR_ELIMINATED_NO_MEMORY;
    if (!mr_elimination_run(&e)) {
        known->clock = NULL;
        return MR_ELIMINATED_NOTHING;
    }
    return e.no_race ? MR_ELIMINATED_ALL : hand_over(&e, stops, required, cone);
}
