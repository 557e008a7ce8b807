/* The rows of a question, and its chains. */
#include "elimination.h"

#include <stdlib.h>
#include <string.h>

/* The object whose chains the event is in; MR_NONE: it is a release. For rows. */
static uint32_t object_of(const mr_window *w, uint32_t event)
{
    if (mr_op_is_access(mr_window_op(w, event)))
        return w->object[event];
    const mr_section *section = mr_window_section(w, event);
    return section->acquire == event ? w->variable_count + 2 * section->lock + section->shared
                                     : MR_NONE;
}

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
        break; /* what they need is certain, and in the clocks of the precedence */
    }
    return false;
}

static bool make_slots(mr_elimination *e)
{
    const mr_window *w = e->window;
    mr_known *known = e->known;
    size_t events = 0, filled = 0;
    known->slot_of = mr_arena_alloc(e->arena, w->thread_count, sizeof *known->slot_of);
    known->thread_of = mr_arena_alloc(e->arena, w->thread_count, sizeof *known->thread_of);
    known->rows_before_first =
        mr_arena_alloc(e->arena, w->thread_count, sizeof *known->rows_before_first);
    known->row_first = mr_arena_alloc(e->arena, (size_t)w->thread_count + 1, sizeof(uint32_t));
    if (!known->slot_of || !known->thread_of || !known->rows_before_first || !known->row_first)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        known->slot_of[t] = e->cone[t] ? known->slot_count : MR_NONE;
        if (!e->cone[t])
            continue;
        known->thread_of[known->slot_count++] = t;
        events += (size_t)e->cone[t] + 1;
    }
    known->rows_before = mr_arena_alloc(e->arena, events, sizeof *known->rows_before);
    known->event_of = mr_arena_alloc(e->arena, events, sizeof *known->event_of);
    if (!known->rows_before || !known->event_of)
        return false;
    for (uint32_t s = 0; s < known->slot_count; s++) {
        uint32_t thread = known->thread_of[s];
        known->rows_before_first[s] = filled;
        known->row_first[s] = known->row_count;
        for (uint32_t k = 0; k <= e->cone[thread]; k++) {
            known->rows_before[filled++] = known->row_count - known->row_first[s];
            if (k < e->cone[thread] && is_row(w, mr_window_at(w, thread, k)))
                known->event_of[known->row_count++] = mr_window_at(w, thread, k);
        }
    }
    known->row_first[known->slot_count] = known->row_count;
    return true;
}

static bool in_trace_order(mr_elimination *e)
{
    const mr_window *w = e->window;
    mr_known *known = e->known;
    uint32_t filled = 0;
    e->in_trace_order = mr_arena_alloc(e->arena, known->row_count, sizeof *e->in_trace_order);
    e->slot_of = mr_arena_alloc(e->arena, known->row_count, sizeof *e->slot_of);
    if (!e->in_trace_order || !e->slot_of)
        return false;
    for (uint32_t s = 0; s < known->slot_count; s++)
        for (uint32_t row = known->row_first[s]; row < known->row_first[s + 1]; row++)
            e->slot_of[row] = s;
    for (uint32_t i = 0; filled < known->row_count; i++)
        if (w->position[i] < e->cone[w->thread[i]] && is_row(w, i))
            e->in_trace_order[filled++] = mr_elimination_row(e, i);
    return true;
}

bool mr_elimination_rows(mr_elimination *e)
{
    return make_slots(e) && in_trace_order(e);
}

/* Groups the rows by object, each group by row. `ends`: where each group ends. */
static bool group(mr_elimination *e, uint32_t objects, uint32_t *ends)
{
    const mr_known *known = e->known;
    e->items = mr_arena_alloc(e->arena, known->row_count, sizeof *e->items);
    if (!e->items)
        return false;
    for (uint32_t row = 0; row < known->row_count; row++) {
        uint32_t object = object_of(e->window, known->event_of[row]);
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
        uint32_t object = object_of(e->window, known->event_of[row]);
        if (object != MR_NONE)
            e->items[ends[object]++] = row;
    }
    return true;
}

static uint32_t seen(const mr_window *w, uint32_t read)
{
    return w->variables[w->object[read]].by_source ? w->source[read]
                                                   : mr_window_read_value(w, read);
}

/* Where to go on from `item`, a read, when `next` is its neighbour in the chain. */
static uint32_t skip_to(const mr_elimination *e, uint32_t item, uint32_t next, const uint32_t *skip)
{
    const mr_window *w = e->window;
    uint32_t event = e->known->event_of[e->items[item]];
    uint32_t other = e->known->event_of[e->items[next]];
    return mr_op_writes(mr_window_op(w, other)) || seen(w, event) != seen(w, other) ? next
                                                                                    : skip[next];
}

static void link_chain(mr_elimination *e, const mr_row_chain *chain)
{
    for (uint32_t i = chain->first; i < chain->end; i++)
        e->skip_back[i] = i == chain->first ? MR_NONE : skip_to(e, i, i - 1, e->skip_back);
    for (uint32_t i = chain->end; i-- > chain->first;)
        e->skip_on[i] = i + 1 == chain->end ? MR_NONE : skip_to(e, i, i + 1, e->skip_on);
}

static int compare(const void *one, const void *two)
{
    const mr_valued_row *x = one, *y = two;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void collect_writes(mr_elimination *e, mr_row_chain *chain, uint32_t *filled)
{
    const mr_window *w = e->window;
    chain->values_first = *filled;
    for (uint32_t i = chain->first; i < chain->end; i++) {
        uint32_t event = e->known->event_of[e->items[i]];
        if (mr_op_writes(mr_window_op(w, event)))
            e->valued[(*filled)++] =
                (mr_valued_row){mr_window_written_value(w, event), e->items[i]};
    }
    chain->values_end = *filled;
    if (*filled > chain->values_first)
        qsort(e->valued + chain->values_first, *filled - chain->values_first, sizeof *e->valued,
              compare);
}

bool mr_elimination_index(mr_elimination *e)
{
    const mr_window *w = e->window;
    uint32_t rows = e->known->row_count, objects = w->variable_count + 2 * w->lock_count;
    uint32_t *ends = mr_arena_zalloc(e->arena, (size_t)objects + 1, sizeof *ends);
    e->chains = mr_arena_alloc(e->arena, rows, sizeof *e->chains);
    e->valued = mr_arena_alloc(e->arena, rows, sizeof *e->valued);
    e->skip_back = mr_arena_alloc(e->arena, rows, sizeof *e->skip_back);
    e->skip_on = mr_arena_alloc(e->arena, rows, sizeof *e->skip_on);
    if (!ends || !e->chains || !e->valued || !e->skip_back || !e->skip_on ||
        !group(e, objects, ends))
        return false;
    uint32_t count = 0, i = 0, filled = 0;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t end = ends[o];
        ends[o] = count; /* from now on: its first chain */
        while (i < end) {
            mr_row_chain *chain = &e->chains[count++];
            *chain = (mr_row_chain){.slot = e->slot_of[e->items[i]], .first = i};
            while (i < end && e->slot_of[e->items[i]] == chain->slot)
                i++;
            chain->end = i;
            if (o >= w->variable_count)
                continue;
            link_chain(e, chain);
            if (!w->variables[o].by_source)
                collect_writes(e, chain, &filled);
        }
    }
    ends[objects] = count;
    e->chains_first = ends;
    return true;
}
