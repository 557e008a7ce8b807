#include "elimination.h"

#include <string.h>

/* A read under the rules, and its P(r) as far as they ask. */
typedef struct reader {
    mr_elimination *e;
    uint32_t row, rank, slot, event;
    uint32_t seen; /* value index; by source: the write, or MR_NONE */
    const mr_window_variable *variable;
    const mr_row_chain *chains;
    uint32_t chain_count;
    bool foreign_before;  /* something foreign is in B(r) */
    bool carried;         /* "none" is possible */
    uint32_t slots, some; /* slots with writes of P(r): how many, and one of them */
} reader;

static uint32_t class_seen(const mr_window *w, uint32_t read)
{
    return w->variables[w->object[read]].by_source ? w->source[read]
                                                   : mr_window_read_value(w, read);
}

static reader make_reader(mr_elimination *e, uint32_t row)
{
    const mr_window *w = e->window;
    uint32_t event = e->known->event_of[row], object = w->object[event];
    uint32_t first = e->chains_first[object];
    return (reader){.e = e,
                    .row = row,
                    .rank = mr_elimination_rank(e, row),
                    .slot = e->slot_of[row],
                    .event = event,
                    .seen = class_seen(w, event),
                    .variable = &w->variables[object],
                    .chains = &e->chains[first],
                    .chain_count = e->chains_first[object + 1] - first};
}

static uint32_t item_rank(const mr_elimination *e, const mr_row_chain *chain, uint32_t item)
{
    return e->items[item] - e->known->row_first[chain->slot];
}

typedef enum item_kind {
    FOREIGN,
    SAME,
    UNCERTAIN, /* a read that may be inconsistent */
} item_kind;

static item_kind kind_of(const reader *r, const mr_row_chain *chain, uint32_t item)
{
    const mr_elimination *e = r->e;
    uint32_t event = e->known->event_of[e->items[item]];
    if (mr_op_writes(mr_window_op(e->window, event)))
        return FOREIGN;
    if (item_rank(e, chain, item) >= e->certain[chain->slot])
        return UNCERTAIN;
    return class_seen(e->window, event) == r->seen ? SAME : FOREIGN;
}

/* The nearest foreign item of the chain, from `item` on backwards. */
static uint32_t foreign_back(const reader *r, const mr_row_chain *chain, uint32_t item)
{
    while (item != MR_NONE) {
        item_kind kind = kind_of(r, chain, item);
        r->e->steps++;
        if (kind == FOREIGN)
            break;
        if (kind == SAME)
            item = r->e->skip_back[item];
        else
            item = item == chain->first ? MR_NONE : item - 1;
    }
    return item;
}

/* The same on from `item`, as far as C goes without E. */
static uint32_t foreign_on(const reader *r, const mr_row_chain *chain, uint32_t item)
{
    while (item < chain->end) { /* MR_NONE is not */
        item_kind kind = kind_of(r, chain, item);
        r->e->steps++;
        if (item_rank(r->e, chain, item) >= r->e->limit[chain->slot])
            return MR_NONE;
        if (kind == FOREIGN)
            return item;
        item = kind == SAME ? r->e->skip_on[item] : item + 1;
    }
    return MR_NONE;
}

/* How many items of the chain are among the first `bound` rows of its slot, from its first on: the
 * item after them. */
static uint32_t items_below(const mr_elimination *e, const mr_row_chain *chain, uint32_t bound)
{
    uint32_t low = chain->first, high = chain->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (item_rank(e, chain, middle) < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Fills `foreign`: row + 1 of the latest foreign access of each slot in B(r), 0: none; and
 * `blocked`, the union of their B. */
static void find_foreign(reader *r)
{
    mr_elimination *e = r->e;
    uint32_t slots = e->known->slot_count;
    memset(e->foreign, 0, slots * sizeof *e->foreign);
    memset(e->blocked, 0, slots * sizeof *e->blocked);
    for (uint32_t c = 0; c < r->chain_count; c++) {
        const mr_row_chain *chain = &r->chains[c];
        uint32_t end = items_below(e, chain, mr_elimination_clock(e, r->row)[chain->slot]);
        uint32_t item = end == chain->first ? MR_NONE : foreign_back(r, chain, end - 1);
        e->steps += 8;
        if (item == MR_NONE)
            continue;
        const uint32_t *clock = mr_elimination_clock(e, e->items[item]);
        r->foreign_before = true;
        e->foreign[chain->slot] = e->items[item] + 1;
        e->steps += slots;
        for (uint32_t s = 0; s < slots; s++)
            if (clock[s] > e->blocked[s])
                e->blocked[s] = clock[s];
    }
}

/* May r see the write, which has what it saw, as far as it is not blocked? Monotone: false for all
 * later ones of its thread once it is for one. */
static bool not_too_late(const reader *r, uint32_t write, uint32_t slot)
{
    const mr_elimination *e = r->e;
    uint32_t rank = write - e->known->row_first[slot];
    return rank < e->limit[slot] &&
           (slot == r->slot ? rank < r->rank : mr_elimination_clock(e, write)[r->slot] <= r->rank);
}

/* The writes of the chain in P(r), by value: valued[*first … *end). */
static void find_choices(const reader *r, const mr_row_chain *chain, uint32_t *first, uint32_t *end)
{
    const mr_elimination *e = r->e;
    uint32_t low = chain->values_first, high = chain->values_end;
    uint32_t least = e->known->row_first[chain->slot] + e->blocked[chain->slot];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const mr_valued_row *item = &e->valued[middle];
        if (item->value < r->seen || (item->value == r->seen && item->row < least))
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    high = chain->values_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const mr_valued_row *item = &e->valued[middle];
        if (item->value == r->seen && not_too_late(r, item->row, chain->slot))
            low = middle + 1;
        else
            high = middle;
    }
    *end = low;
}

/* The writes `first` … `last` of a slot are in P(r). */
static void add_sources(reader *r, uint32_t slot, uint32_t first, uint32_t last)
{
    mr_elimination *e = r->e;
    const uint32_t *clock = mr_elimination_clock(e, first);
    uint32_t slots = e->known->slot_count, first_row = e->known->row_first[slot];
    for (uint32_t s = 0; s < slots; s++) {
        uint32_t needs = s == slot ? first - first_row + 1 : clock[s];
        if (!r->slots || needs < e->common[s])
            e->common[s] = needs;
    }
    e->last[slot] = last - first_row + 1;
    e->steps += slots;
    r->slots++;
    r->some = slot;
}

static void add_by_source(reader *r)
{
    mr_elimination *e = r->e;
    if (r->seen == MR_NONE || !mr_elimination_possible(e, r->seen))
        return;
    uint32_t row = mr_elimination_row(e, r->seen), slot = e->slot_of[row];
    if (row - e->known->row_first[slot] >= e->blocked[slot] && not_too_late(r, row, slot))
        add_sources(r, slot, row, row);
}

/* P(r): `last` has the rank + 1 of its last write in each slot, 0: none; `common` the intersection
 * of B(s) + s. */
static void find_sources(reader *r)
{
    mr_elimination *e = r->e;
    memset(e->last, 0, e->known->slot_count * sizeof *e->last);
    if (r->variable->by_source) {
        r->carried = r->seen == MR_NONE && !r->foreign_before;
        add_by_source(r);
        return;
    }
    r->carried = r->seen && r->variable->carried_value == r->seen && !r->foreign_before;
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t first, end;
        find_choices(r, &r->chains[c], &first, &end);
        e->steps += 8;
        if (first < end)
            add_sources(r, r->chains[c].slot, e->valued[first].row, e->valued[end - 1].row);
    }
}

/* (d) */
static void put_foreign_first(const reader *r)
{
    mr_elimination *e = r->e;
    uint32_t last = e->known->row_first[r->some] + e->last[r->some] - 1;
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t foreign = e->foreign[r->chains[c].slot];
        if (foreign && r->chains[c].slot != r->some)
            mr_elimination_order(e, foreign - 1, last);
    }
}

/* Is all of P(r) in B(row)? */
static bool is_after_sources(const reader *r, uint32_t row)
{
    const mr_elimination *e = r->e;
    const uint32_t *clock = mr_elimination_clock(e, row);
    for (uint32_t c = 0; c < r->chain_count; c++)
        if (clock[r->chains[c].slot] < e->last[r->chains[c].slot])
            return false;
    return true;
}

/* (c) and, when P(r) has no write, (e) */
static void put_foreign_after(const reader *r, const mr_row_chain *chain)
{
    mr_elimination *e = r->e;
    uint32_t low = chain->first, high = chain->end;
    while (low < high && r->slots) {
        uint32_t middle = low + (high - low) / 2;
        e->steps += r->chain_count;
        if (is_after_sources(r, e->items[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t item = low < chain->end ? foreign_on(r, chain, low) : MR_NONE;
    if (item != MR_NONE)
        mr_elimination_order(e, r->row, e->items[item]);
}

void mr_elimination_rule_read(mr_elimination *e, uint32_t row)
{
    reader r = make_reader(e, row);
    if (r.rank >= e->certain[r.slot])
        return;
    find_foreign(&r);
    find_sources(&r);
    if (!r.slots && !r.carried) {
        mr_elimination_exclude(e, row);
        return;
    }
    if (r.slots && r.carried)
        return;
    for (uint32_t s = 0; r.slots && s < e->known->slot_count; s++)
        mr_elimination_raise(e, row, s, e->common[s]);
    if (r.rank >= e->included[r.slot])
        return;
    if (r.slots == 1)
        put_foreign_first(&r);
    for (uint32_t c = 0; c < r.chain_count; c++)
        if (r.chains[c].slot != r.slot)
            put_foreign_after(&r, &r.chains[c]);
    if (r.slots == 1 && e->common[r.some] == e->last[r.some]) /* a single write: it is clean */
        mr_elimination_be_certain(e, r.some, e->last[r.some]);
}

static bool is_value_read(const mr_elimination *e, uint32_t row)
{
    const mr_window *w = e->window;
    uint32_t event = e->known->event_of[row], slot = e->slot_of[row];
    uint32_t rank = row - e->known->row_first[slot];
    return mr_op_reads(mr_window_op(w, event)) && !w->variables[w->object[event]].by_source &&
           rank < e->certain[slot] && rank < e->limit[slot];
}

/* Writes P(r) to `list`, unless that is NULL. How many there are. */
static size_t list_row(mr_elimination *e, uint32_t row, uint32_t *list)
{
    size_t count = 0;
    reader r = make_reader(e, row);
    find_foreign(&r);
    find_sources(&r);
    if (r.carried && list)
        list[count] = MR_NONE;
    count += r.carried;
    for (uint32_t c = 0; c < r.chain_count; c++) {
        uint32_t first, end;
        find_choices(&r, &r.chains[c], &first, &end);
        for (uint32_t k = first; list && k < end; k++)
            list[count + k - first] = e->known->event_of[e->valued[k].row];
        count += end - first;
    }
    return count;
}

bool mr_elimination_list_sources(mr_elimination *e)
{
    mr_known *known = e->known;
    size_t total = 0;
    known->sources_first =
        mr_arena_alloc(e->arena, (size_t)known->row_count + 1, sizeof *known->sources_first);
    if (!known->sources_first)
        return false;
    for (uint32_t row = 0; row < known->row_count; row++) {
        known->sources_first[row] = total;
        if (is_value_read(e, row))
            total += list_row(e, row, NULL);
    }
    known->sources_first[known->row_count] = total;
    known->sources = mr_arena_alloc(e->arena, total, sizeof *known->sources);
    for (uint32_t row = 0; known->sources && row < known->row_count; row++)
        if (known->sources_first[row] < known->sources_first[row + 1])
            list_row(e, row, known->sources + known->sources_first[row]);
    return known->sources;
}
