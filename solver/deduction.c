#include "deduction.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static bool is_row(const mr_window *w, uint32_t event)
{
    const mr_section *section;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        return w->variables[w->object[event]].shared;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        section = mr_window_section(w, event);
        return section && w->locks[section->lock].contended;
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_POST:
    case MR_OP_WAIT:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break; /* what they need is certain, and in the clocks of the precedence */
    }
    return false;
}

static bool make_slots(mr_deduction *d)
{
    const mr_window *w = d->window;
    mr_known *known = d->known;
    size_t events = 0, filled = 0;
    known->slot_of = mr_arena_alloc(d->arena, w->thread_count, sizeof *known->slot_of);
    known->thread_of = mr_arena_alloc(d->arena, w->thread_count, sizeof *known->thread_of);
    known->rows_before_first =
        mr_arena_alloc(d->arena, w->thread_count, sizeof *known->rows_before_first);
    known->row_first = mr_arena_alloc(d->arena, (size_t)w->thread_count + 1, sizeof(uint32_t));
    if (!known->slot_of || !known->thread_of || !known->rows_before_first || !known->row_first)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        known->slot_of[t] = d->cone[t] ? known->slot_count : MR_NONE;
        if (!d->cone[t])
            continue;
        known->thread_of[known->slot_count++] = t;
        events += (size_t)d->cone[t] + 1;
    }
    known->rows_before = mr_arena_alloc(d->arena, events, sizeof *known->rows_before);
    known->event_of = mr_arena_alloc(d->arena, events, sizeof *known->event_of);
    if (!known->rows_before || !known->event_of)
        return false;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        uint32_t thread = known->thread_of[s];
        known->rows_before_first[s] = filled;
        known->row_first[s] = known->row_count;
        for (uint32_t k = 0; k <= d->cone[thread]; k++) {
            known->rows_before[filled++] = known->row_count - known->row_first[s];
            if (k < d->cone[thread] && is_row(w, mr_window_at(w, thread, k)))
                known->event_of[known->row_count++] = mr_window_at(w, thread, k);
        }
    }
    known->row_first[known->slot_count] = known->row_count;
    return true;
}

static bool in_trace_order(mr_deduction *d)
{
    const mr_window *w = d->window;
    mr_known *known = d->known;
    uint32_t filled = 0;
    d->in_trace_order = mr_arena_alloc(d->arena, known->row_count, sizeof *d->in_trace_order);
    d->slot_of = mr_arena_alloc(d->arena, known->row_count, sizeof *d->slot_of);
    if (!d->in_trace_order || !d->slot_of)
        return false;
    for (uint32_t s = 0; s < known->slot_count; s++)
        for (uint32_t row = known->row_first[s]; row < known->row_first[s + 1]; row++)
            d->slot_of[row] = s;
    for (uint32_t i = 0; filled < known->row_count; i++)
        if (w->position[i] < d->cone[w->thread[i]] && is_row(w, i))
            d->in_trace_order[filled++] = mr_deduction_row(d, i);
    return true;
}

bool mr_deduction_rows(mr_deduction *d)
{
    return make_slots(d) && in_trace_order(d);
}

/* The rows among the first `count` events of a thread. */
uint32_t mr_deduction_rows_of(const mr_deduction *d, uint32_t thread, uint32_t count)
{
    uint32_t slot = d->known->slot_of[thread];
    if (slot == MR_NONE)
        return 0;
    return mr_known_rows(d->known, slot, count < d->cone[thread] ? count : d->cone[thread]);
}

/* ---- chains ---- */

/* The object whose chains the event is in; MR_NONE: it is a release. For rows. */
static uint32_t object_of(const mr_window *w, uint32_t event)
{
    if (mr_op_is_access(mr_window_op(w, event)))
        return w->object[event];
    const mr_section *section = mr_window_section(w, event);
    return section->acquire == event ? w->variable_count + 2 * section->lock + section->shared
                                     : MR_NONE;
}

/* Groups the rows by object, each group by row. `ends`: where each group ends. */
static bool group(mr_deduction *d, uint32_t objects, uint32_t *ends)
{
    const mr_known *known = d->known;
    d->items = mr_arena_alloc(d->arena, known->row_count, sizeof *d->items);
    if (!d->items)
        return false;
    for (uint32_t row = 0; row < known->row_count; row++) {
        uint32_t object = object_of(d->window, known->event_of[row]);
        if (object != MR_NONE)
            ends[object]++;
    }
    uint32_t next = 0;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t count = ends[o];
        ends[o] = next;
        next += count;
    }
    for (uint32_t row = 0; row < known->row_count; row++) {
        uint32_t object = object_of(d->window, known->event_of[row]);
        if (object != MR_NONE)
            d->items[ends[object]++] = row;
    }
    return true;
}

/* Where to go on from `item`, a read, when `next` is its neighbour in the chain. */
static uint32_t skip_to(const mr_deduction *d, uint32_t item, uint32_t next, const uint32_t *skip)
{
    const mr_window *w = d->window;
    uint32_t event = d->known->event_of[d->items[item]];
    uint32_t other = d->known->event_of[d->items[next]];
    return mr_op_writes(mr_window_op(w, other)) ||
                   mr_deduction_seen(w, event) != mr_deduction_seen(w, other)
               ? next
               : skip[next];
}

static void link_chain(mr_deduction *d, const mr_row_chain *chain)
{
    for (uint32_t i = chain->first; i < chain->end; i++)
        d->skip_back[i] = i == chain->first ? MR_NONE : skip_to(d, i, i - 1, d->skip_back);
    for (uint32_t i = chain->end; i-- > chain->first;)
        d->skip_on[i] = i + 1 == chain->end ? MR_NONE : skip_to(d, i, i + 1, d->skip_on);
}

static int compare(const void *one, const void *two)
{
    const mr_valued_row *x = one, *y = two;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void collect_writes(mr_deduction *d, mr_row_chain *chain, uint32_t *filled)
{
    const mr_window *w = d->window;
    chain->values_first = *filled;
    for (uint32_t i = chain->first; i < chain->end; i++) {
        uint32_t event = d->known->event_of[d->items[i]];
        if (mr_op_writes(mr_window_op(w, event)))
            d->valued[(*filled)++] =
                (mr_valued_row){mr_window_written_value(w, event), d->items[i]};
    }
    chain->values_end = *filled;
    if (*filled > chain->values_first)
        qsort(d->valued + chain->values_first, *filled - chain->values_first, sizeof *d->valued,
              compare);
}

static bool make_chains(mr_deduction *d)
{
    const mr_window *w = d->window;
    uint32_t rows = d->known->row_count, objects = w->variable_count + 2 * w->lock_count;
    uint32_t *ends = mr_arena_zalloc(d->arena, (size_t)objects + 1, sizeof *ends);
    d->chains = mr_arena_alloc(d->arena, rows, sizeof *d->chains);
    d->valued = mr_arena_alloc(d->arena, rows, sizeof *d->valued);
    d->skip_back = mr_arena_alloc(d->arena, rows, sizeof *d->skip_back);
    d->skip_on = mr_arena_alloc(d->arena, rows, sizeof *d->skip_on);
    if (!ends || !d->chains || !d->valued || !d->skip_back || !d->skip_on ||
        !group(d, objects, ends))
        return false;
    uint32_t count = 0, i = 0, filled = 0;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t end = ends[o];
        ends[o] = count; /* from now on: its first chain */
        while (i < end) {
            mr_row_chain *chain = &d->chains[count++];
            *chain = (mr_row_chain){.slot = d->slot_of[d->items[i]], .first = i};
            while (i < end && d->slot_of[d->items[i]] == chain->slot)
                i++;
            chain->end = i;
            if (o >= w->variable_count)
                continue;
            link_chain(d, chain);
            if (!w->variables[o].by_source)
                collect_writes(d, chain, &filled);
        }
    }
    ends[objects] = count;
    d->chains_first = ends;
    return true;
}

/* ---- what grows ---- */

uint32_t mr_deduction_object(const mr_deduction *d, uint32_t row)
{
    const mr_window *w = d->window;
    uint32_t event = d->known->event_of[row];
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
    uint32_t slot = d->slot_of[row], rank = mr_deduction_rank(d, row);
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
    if (slot == d->slot_of[row] || rank > d->limit[slot]) {
        mr_deduction_exclude(d, row);
        return;
    }
    MR_ASSERT(rank <= d->known->row_first[slot + 1] - d->known->row_first[slot]);
    clock[slot] = rank;
    d->changed[row] = ++d->now;
    change_object(d, row);
}

void mr_deduction_join(mr_deduction *d, uint32_t u, uint32_t row)
{
    const uint32_t *clock = mr_deduction_clock(d, u), *own = mr_deduction_clock(d, row);
    uint32_t slots = d->known->slot_count, slot = d->slot_of[u];
    d->effort += slots;
    for (uint32_t s = 0; s < slots; s++)
        if (clock[s] > own[s])
            mr_deduction_raise(d, row, s, clock[s]);
    mr_deduction_raise(d, row, slot, mr_deduction_rank(d, u) + 1);
}

void mr_deduction_order(mr_deduction *d, uint32_t u, uint32_t v)
{
    MR_REQUIRE(d->slot_of[u] != d->slot_of[v] || u < v);
    if (mr_deduction_clock(d, v)[d->slot_of[u]] <= mr_deduction_rank(d, u))
        mr_deduction_join(d, u, v);
}

void mr_deduction_be_certain(mr_deduction *d, uint32_t slot, uint32_t rank)
{
    uint32_t end = d->known->row_first[slot + 1] - d->known->row_first[slot];
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
    if (mr_op_is_access(mr_window_op(d->window, d->known->event_of[row])))
        d->ruled[row] = 0;
    else
        change_object(d, row);
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

/* The rows of a thread that are certainly before an event of another one. */
static uint32_t forced_rows(const mr_deduction *d, uint32_t event, uint32_t thread)
{
    uint32_t count =
        mr_precedence_count(d->window, d->forced->clock[event], d->window->thread[event], thread);
    return mr_deduction_rows_of(d, thread, count);
}

bool mr_deduction_begin(mr_deduction *d)
{
    const mr_window *w = d->window;
    mr_known *known = d->known;
    mr_arena *arena = d->arena;
    uint32_t rows = known->row_count, slots = known->slot_count;
    known->clock = mr_arena_alloc(arena, (size_t)rows * slots, sizeof *known->clock);
    d->changed = mr_arena_zalloc(arena, rows, sizeof *d->changed);
    d->closed = mr_arena_zalloc(arena, rows, sizeof *d->closed);
    d->ruled = mr_arena_zalloc(arena, rows, sizeof *d->ruled);
    d->object_changed = mr_arena_zalloc(arena, (size_t)w->variable_count + w->lock_count,
                                        sizeof *d->object_changed);
    uint32_t **of_slots[] = {&d->included, &d->limit, &d->certain, &d->blocked,
                             &d->common,   &d->last,  &d->foreign};
    for (size_t i = 0; i < sizeof of_slots / sizeof *of_slots; i++)
        if (!(*of_slots[i] = mr_arena_zalloc(arena, slots, sizeof **of_slots[i])))
            return false;
    if (!known->clock || !d->changed || !d->closed || !d->ruled || !d->object_changed)
        return false;
    for (uint32_t s = 0; s < slots; s++) {
        uint32_t thread = known->thread_of[s];
        d->included[s] = mr_known_rows(known, s, d->required[thread]);
        d->limit[s] = known->row_first[s + 1] - known->row_first[s];
        MR_REQUIRE(d->included[s] <= d->limit[s]); /* L is in C */
        d->certain[s] = w->model == MR_MODEL_BRANCH ? 0 : UINT32_MAX;
    }
    d->now = d->bounds_changed = d->limits_changed = 1;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t event = known->event_of[row];
        uint32_t *clock = known->clock + (size_t)row * slots;
        for (uint32_t s = 0; s < slots; s++)
            clock[s] = s == d->slot_of[row] ? mr_deduction_rank(d, row)
                                            : forced_rows(d, event, known->thread_of[s]);
        d->changed[row] = 1;
    }
    return make_chains(d);
}
