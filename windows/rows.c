#include "rows.h"

#include "base/assert.h"

#include <stdlib.h>

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

static bool number_rows(mr_rows *rows, mr_arena *arena)
{
    const mr_window *w = rows->window;
    rows->first = mr_arena_alloc(arena, (size_t)w->thread_count + 1, sizeof *rows->first);
    rows->event_of = mr_arena_alloc(arena, w->size, sizeof *rows->event_of);
    rows->thread = mr_arena_alloc(arena, w->size, sizeof *rows->thread);
    rows->row_of = mr_arena_alloc(arena, w->size, sizeof *rows->row_of);
    if (!rows->first || !rows->event_of || !rows->thread || !rows->row_of)
        return false;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        rows->first[t] = rows->count;
        for (uint32_t k = w->threads[t].first; k < w->threads[t].end; k++) {
            uint32_t event = w->by_thread[k];
            rows->row_of[event] = rows->count;
            if (!is_row(w, event))
                continue;
            rows->thread[rows->count] = t;
            rows->event_of[rows->count++] = event;
        }
    }
    rows->first[w->thread_count] = rows->count;
    return true;
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
static bool group(mr_rows *rows, uint32_t objects, uint32_t *ends, mr_arena *arena)
{
    rows->items = mr_arena_alloc(arena, rows->count, sizeof *rows->items);
    if (!rows->items)
        return false;
    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t object = object_of(rows->window, rows->event_of[row]);
        if (object != MR_NONE)
            ends[object]++;
    }
    uint32_t next = 0;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t count = ends[o];
        ends[o] = next;
        next += count;
    }
    for (uint32_t row = 0; row < rows->count; row++) {
        uint32_t object = object_of(rows->window, rows->event_of[row]);
        if (object != MR_NONE)
            rows->items[ends[object]++] = row;
    }
    return true;
}

/* Where to go on from `item`, a read, when `next` is its neighbour in the chain. */
static uint32_t skip_to(const mr_rows *rows, uint32_t item, uint32_t next, const uint32_t *skip)
{
    const mr_window *w = rows->window;
    uint32_t event = rows->event_of[rows->items[item]];
    uint32_t other = rows->event_of[rows->items[next]];
    return mr_op_writes(mr_window_op(w, other)) || mr_row_seen(w, event) != mr_row_seen(w, other)
               ? next
               : skip[next];
}

static void link_chain(mr_rows *rows, const mr_row_chain *chain)
{
    for (uint32_t i = chain->first; i < chain->end; i++)
        rows->skip_back[i] = i == chain->first ? MR_NONE : skip_to(rows, i, i - 1, rows->skip_back);
    for (uint32_t i = chain->end; i-- > chain->first;)
        rows->skip_on[i] = i + 1 == chain->end ? MR_NONE : skip_to(rows, i, i + 1, rows->skip_on);
}

static int compare(const void *one, const void *two)
{
    const mr_valued_row *x = one, *y = two;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void collect_writes(mr_rows *rows, mr_row_chain *chain, uint32_t *filled)
{
    const mr_window *w = rows->window;
    chain->values_first = *filled;
    for (uint32_t i = chain->first; i < chain->end; i++) {
        uint32_t event = rows->event_of[rows->items[i]];
        if (mr_op_writes(mr_window_op(w, event)))
            rows->valued[(*filled)++] =
                (mr_valued_row){mr_window_written_value(w, event), rows->items[i]};
    }
    chain->values_end = *filled;
    if (*filled > chain->values_first)
        qsort(rows->valued + chain->values_first, *filled - chain->values_first,
              sizeof *rows->valued, compare);
}

static uint32_t thread_of_item(const mr_rows *rows, uint32_t item)
{
    return rows->thread[rows->items[item]];
}

/* How many chains there are, and how many writes by value in them. `ends`: where the rows of each
 * object end. */
static void count_chains(const mr_rows *rows, uint32_t objects, const uint32_t *ends,
                         uint32_t *chains, uint32_t *valued)
{
    const mr_window *w = rows->window;
    *chains = *valued = 0;
    for (uint32_t o = 0, i = 0; o < objects; o++) {
        bool by_value = o < w->variable_count && !w->variables[o].by_source;
        for (uint32_t first = i; i < ends[o]; i++) {
            *chains += i == first || thread_of_item(rows, i) != thread_of_item(rows, i - 1);
            *valued += by_value && mr_op_writes(mr_window_op(w, rows->event_of[rows->items[i]]));
        }
    }
}

static bool allocate_chains(mr_rows *rows, uint32_t chains, uint32_t valued, mr_arena *arena)
{
    rows->chains = mr_arena_alloc(arena, chains, sizeof *rows->chains);
    rows->valued = mr_arena_alloc(arena, valued, sizeof *rows->valued);
    rows->skip_back = mr_arena_alloc(arena, rows->count, sizeof *rows->skip_back);
    rows->skip_on = mr_arena_alloc(arena, rows->count, sizeof *rows->skip_on);
    return rows->chains && rows->valued && rows->skip_back && rows->skip_on;
}

static bool make_chains(mr_rows *rows, mr_arena *arena)
{
    const mr_window *w = rows->window;
    uint32_t objects = w->variable_count + 2 * w->lock_count, chains, valued;
    uint32_t *ends = mr_arena_zalloc(arena, (size_t)objects + 1, sizeof *ends);
    if (!ends || !group(rows, objects, ends, arena))
        return false;
    count_chains(rows, objects, ends, &chains, &valued);
    if (!allocate_chains(rows, chains, valued, arena))
        return false;
    uint32_t count = 0, i = 0, filled = 0;
    for (uint32_t o = 0; o < objects; o++) {
        uint32_t end = ends[o];
        ends[o] = count; /* from now on: its first chain */
        while (i < end) {
            mr_row_chain *chain = &rows->chains[count++];
            *chain = (mr_row_chain){.thread = thread_of_item(rows, i), .first = i};
            while (i < end && thread_of_item(rows, i) == chain->thread)
                i++;
            chain->end = i;
            if (o >= w->variable_count)
                continue;
            link_chain(rows, chain);
            if (!w->variables[o].by_source)
                collect_writes(rows, chain, &filled);
        }
    }
    MR_ASSERT(count == chains && filled == valued);
    ends[objects] = count;
    rows->chains_first = ends;
    return true;
}

bool mr_rows_build(mr_rows *rows, const mr_window *window, mr_arena *arena)
{
    *rows = (mr_rows){.window = window};
    return number_rows(rows, arena) && make_chains(rows, arena);
}
