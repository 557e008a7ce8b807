#include "deduction_rules.h"

#include "base/assert.h"
#include "windows/hidden.h"
#include "windows/occupied.h"

#include <string.h>

/* The slot of a chain; MR_NONE: nothing of its thread is in C. */
static uint32_t slot_of(const mr_deduction *d, const mr_row_chain *chain)
{
    return d->known->slot_of[chain->thread];
}

/* ---- locks ---- */

/* rel1 → acq2. */
static void leave_first(mr_deduction *d, const mr_section *one, uint32_t acquire)
{
    if (mr_deduction_is_possible(d, one->release))
        mr_deduction_order(d, mr_deduction_row(d, one->release), acquire);
    else
        mr_deduction_exclude(d, acquire);
}

/* The latest section of the chain that is entered in the first `bound` rows of its slot. */
static const mr_section *latest_entered(const mr_deduction *d, const mr_row_chain *chain,
                                        uint32_t bound)
{
    uint32_t low = chain->first, high = chain->end,
             first_row = d->known->rows->first[chain->thread];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->known->rows->items[middle] - first_row < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low == chain->first
               ? NULL
               : mr_window_section(d->window,
                                   d->known->rows->event_of[d->known->rows->items[low - 1]]);
}

static void exclude_chain(mr_deduction *d, uint32_t row, const mr_section *own,
                          const mr_row_chain *chain)
{
    uint32_t slot = slot_of(d, chain);
    if (slot == MR_NONE || slot == mr_deduction_slot(d, row))
        return;
    uint32_t bound = mr_deduction_clock(d, row)[slot], other = d->included[slot];
    d->effort += 8;
    if (mr_deduction_is_possible(d, own->release)) {
        uint32_t known = mr_deduction_clock(d, mr_deduction_row(d, own->release))[slot];
        other = known < other ? known : other;
    }
    const mr_section *section = latest_entered(d, chain, other > bound ? other : bound);
    if (section)
        leave_first(d, section, row);
}

void mr_deduction_rule_acquire(mr_deduction *d, uint32_t row)
{
    const mr_window *w = d->window;
    const mr_section *own = mr_window_section(w, d->known->rows->event_of[row]);
    const mr_window_lock *lock = &w->locks[own->lock];
    for (uint32_t s = lock->sections_first; s < lock->carried_end; s++)
        if (mr_sections_exclude(&w->sections[s], own))
            leave_first(d, &w->sections[s], row);
    uint32_t object = w->variable_count + 2 * own->lock; /* exclusive; shared is the next one */
    uint32_t end = d->known->rows->chains_first[object + (own->shared ? 1 : 2)];
    for (uint32_t c = d->known->rows->chains_first[object]; c < end; c++)
        exclude_chain(d, row, own, &d->known->rows->chains[c]);
}

/* ---- reads ---- */

/* A read under the rules, and its P(r) as far as they ask. */
typedef struct reader {
    mr_deduction *d;
    uint32_t row, rank, slot, event;
    uint32_t seen; /* value index; by source: the write, or MR_NONE */
    const mr_window_variable *variable;
    const mr_row_chain *chains;
    uint32_t chain_count;
    bool foreign_before;  /* something foreign is in B(r) */
    bool carried;         /* "none" is possible */
    uint32_t slots, some; /* slots with writes of P(r): how many, and one of them */
} reader;

static reader make_reader(mr_deduction *d, uint32_t row)
{
    const mr_window *w = d->window;
    uint32_t event = d->known->rows->event_of[row], object = w->object[event];
    uint32_t first = d->known->rows->chains_first[object];
    return (reader){.d = d,
                    .row = row,
                    .rank = mr_deduction_rank(d, row),
                    .slot = mr_deduction_slot(d, row),
                    .event = event,
                    .seen = mr_row_seen(w, event),
                    .variable = &w->variables[object],
                    .chains = &d->known->rows->chains[first],
                    .chain_count = d->known->rows->chains_first[object + 1] - first};
}

static uint32_t item_rank(const mr_deduction *d, const mr_row_chain *chain, uint32_t item)
{
    return d->known->rows->items[item] - d->known->rows->first[chain->thread];
}

typedef enum item_kind {
    FOREIGN,
    SAME,
    UNCERTAIN, /* a read that may be inconsistent */
} item_kind;

static item_kind kind_of(const reader *r, const mr_row_chain *chain, uint32_t item)
{
    const mr_deduction *d = r->d;
    uint32_t event = d->known->rows->event_of[d->known->rows->items[item]];
    if (mr_op_writes(mr_window_op(d->window, event)))
        return FOREIGN;
    if (item_rank(d, chain, item) >= d->certain[slot_of(d, chain)])
        return UNCERTAIN;
    return mr_row_seen(d->window, event) == r->seen ? SAME : FOREIGN;
}

/* The nearest foreign item of the chain, from `item` on backwards. */
static uint32_t foreign_back(const reader *r, const mr_row_chain *chain, uint32_t item)
{
    while (item != MR_NONE) {
        item_kind kind = kind_of(r, chain, item);
        r->d->effort++;
        if (kind == FOREIGN)
            break;
        if (kind == SAME)
            item = r->d->known->rows->skip_back[item];
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
        r->d->effort++;
        if (item_rank(r->d, chain, item) >= r->d->limit[slot_of(r->d, chain)])
            return MR_NONE;
        if (kind == FOREIGN)
            return item;
        item = kind == SAME ? r->d->known->rows->skip_on[item] : item + 1;
    }
    return MR_NONE;
}

/* How many items of the chain are among the first `bound` rows of its slot, from its first on: the
 * item after them. */
static uint32_t items_below(const mr_deduction *d, const mr_row_chain *chain, uint32_t bound)
{
    uint32_t low = chain->first, high = chain->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (item_rank(d, chain, middle) < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Fills `foreign`: row + 1 of the latest foreign access of each slot in B(r), 0: none. */
static void find_foreign(reader *r)
{
    mr_deduction *d = r->d;
    memset(d->foreign, 0, d->known->slot_count * sizeof *d->foreign);
    for (uint32_t c = 0; c < r->chain_count; c++) {
        const mr_row_chain *chain = &r->chains[c];
        uint32_t slot = slot_of(d, chain);
        if (slot == MR_NONE)
            continue;
        uint32_t end = items_below(d, chain, mr_deduction_clock(d, r->row)[slot]);
        uint32_t item = end == chain->first ? MR_NONE : foreign_back(r, chain, end - 1);
        d->effort += 8;
        if (item == MR_NONE)
            continue;
        r->foreign_before = true;
        d->foreign[slot] = d->known->rows->items[item] + 1;
    }
}

/* Fills `blocked`, the union of B of what is foreign in B(r). */
static void find_blocked(const reader *r)
{
    mr_deduction *d = r->d;
    uint32_t slots = d->known->slot_count;
    memset(d->blocked, 0, slots * sizeof *d->blocked);
    for (uint32_t c = 0; c < r->chain_count && r->foreign_before; c++) {
        uint32_t slot = slot_of(d, &r->chains[c]);
        if (slot == MR_NONE || !d->foreign[slot])
            continue;
        const uint32_t *clock = mr_deduction_clock(d, d->foreign[slot] - 1);
        d->effort += slots;
        for (uint32_t s = 0; s < slots; s++)
            if (clock[s] > d->blocked[s])
                d->blocked[s] = clock[s];
    }
}

/* ---- reads of which the rule says nothing (deduction_rules.h) ---- */

/* Is row f in B(e), or in its thread before it? */
static bool is_before(const mr_deduction *d, uint32_t f, uint32_t e)
{
    uint32_t slot = mr_deduction_slot(d, f);
    return slot == mr_deduction_slot(d, e)
               ? f < e
               : mr_deduction_clock(d, e)[slot] > mr_deduction_rank(d, f);
}

/* The row of the write that r saw; MR_NONE: it saw none. False: the write is not possible or not in B(r), or r saw none
 * and "none" is not certainly possible. */
static bool find_seen(const reader *r, uint32_t *row)
{
    const mr_deduction *d = r->d;
    uint32_t source = d->window->source[r->event];
    *row = MR_NONE;
    if (source == MR_NONE)
        return !d->stop_count || r->variable->by_source ||
               (r->seen && r->variable->carried_value == r->seen);
    if (!mr_deduction_is_possible(d, source))
        return false;
    *row = mr_deduction_row(d, source);
    return is_before(d, *row, r->row);
}

/* Is everything foreign in B(r) the write s that r saw, or in B(s)? `seen`: the row of s; MR_NONE: r saw no write, and
 * nothing foreign may be in B(r). */
static bool is_foreign_before(const reader *r, uint32_t seen)
{
    const mr_deduction *d = r->d;
    for (uint32_t c = 0; c < r->chain_count && r->foreign_before; c++) {
        uint32_t slot = slot_of(d, &r->chains[c]);
        uint32_t foreign = slot == MR_NONE ? 0 : d->foreign[slot];
        if (foreign &&
            (seen == MR_NONE || (foreign - 1 != seen && !is_before(d, foreign - 1, seen))))
            return false;
    }
    return true;
}

/* Is r in B(f) for each foreign f of another thread that is possible and not in B(r)? */
static bool is_foreign_after(const reader *r)
{
    mr_deduction *d = r->d;
    for (uint32_t c = 0; c < r->chain_count; c++) {
        const mr_row_chain *chain = &r->chains[c];
        uint32_t slot = slot_of(d, chain);
        if (slot == MR_NONE || slot == r->slot)
            continue;
        uint32_t end = items_below(d, chain, mr_deduction_clock(d, r->row)[slot]);
        uint32_t item = end == chain->end ? MR_NONE : foreign_on(r, chain, end);
        d->effort += 8;
        if (item != MR_NONE && !is_before(d, r->row, d->known->rows->items[item]))
            return false;
    }
    return true;
}

/* May r see the write, which gives what r saw, as far as E and the order of the two say? When the
 * answer is no for one write, it is no for all later ones of its thread. */
static bool not_too_late(const reader *r, uint32_t write, uint32_t slot)
{
    const mr_deduction *d = r->d;
    uint32_t rank = write - d->known->row_first[slot];
    return rank < d->limit[slot] &&
           (slot == r->slot ? rank < r->rank : mr_deduction_clock(d, write)[r->slot] <= r->rank);
}

/* Is the write hidden from r (windows/hidden.h)? */
static bool is_hidden(const reader *r, uint32_t write)
{
    r->d->effort++;
    return mr_write_is_hidden(r->d->window, r->d->known->rows->event_of[write], r->event);
}

/* The writes of the chain in P(r), by value, but for hidden ones in between: valued[*first … *end). */
static void find_choices(const reader *r, const mr_row_chain *chain, uint32_t *first, uint32_t *end)
{
    const mr_deduction *d = r->d;
    uint32_t low = chain->values_first, high = chain->values_end, slot = slot_of(d, chain);
    uint32_t least = d->known->row_first[slot] + d->blocked[slot];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const mr_valued_row *item = &d->known->rows->valued[middle];
        if (item->value < r->seen || (item->value == r->seen && item->row < least))
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    high = chain->values_end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const mr_valued_row *item = &d->known->rows->valued[middle];
        if (item->value == r->seen && not_too_late(r, item->row, slot))
            low = middle + 1;
        else
            high = middle;
    }
    while (*first < low && is_hidden(r, d->known->rows->valued[*first].row))
        ++*first;
    while (*first < low && is_hidden(r, d->known->rows->valued[low - 1].row))
        low--;
    *end = low;
}

/* The writes `first` … `last` of a slot are in P(r). */
static void add_sources(reader *r, uint32_t slot, uint32_t first, uint32_t last)
{
    mr_deduction *d = r->d;
    const uint32_t *clock = mr_deduction_clock(d, first);
    uint32_t slots = d->known->slot_count, first_row = d->known->row_first[slot];
    for (uint32_t s = 0; s < slots; s++) {
        uint32_t needs = s == slot ? first - first_row + 1 : clock[s];
        if (!r->slots || needs < d->common[s])
            d->common[s] = needs;
    }
    MR_ASSERT(first <= last && mr_deduction_slot(d, first) == slot &&
              mr_deduction_slot(d, last) == slot);
    d->last[slot] = last - first_row + 1;
    d->effort += slots;
    r->slots++;
    r->some = slot;
}

static void add_by_source(reader *r)
{
    mr_deduction *d = r->d;
    if (r->seen == MR_NONE || !mr_deduction_is_possible(d, r->seen))
        return;
    uint32_t row = mr_deduction_row(d, r->seen), slot = mr_deduction_slot(d, row);
    if (row - d->known->row_first[slot] >= d->blocked[slot] && not_too_late(r, row, slot))
        add_sources(r, slot, row, row);
}

/* P(r): `last` has the rank + 1 of its last write in each slot, 0: none; `common` the intersection
 * of B(s) + s. */
static void find_sources(reader *r)
{
    mr_deduction *d = r->d;
    memset(d->last, 0, d->known->slot_count * sizeof *d->last);
    if (r->variable->by_source) {
        r->carried = r->seen == MR_NONE && !r->foreign_before;
        add_by_source(r);
        return;
    }
    r->carried = r->seen && r->variable->carried_value == r->seen && !r->foreign_before;
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t first, end, slot = slot_of(d, &r->chains[c]);
        if (slot == MR_NONE)
            continue;
        find_choices(r, &r->chains[c], &first, &end);
        d->effort += 8;
        if (first < end)
            add_sources(r, slot, d->known->rows->valued[first].row,
                        d->known->rows->valued[end - 1].row);
    }
}

/* (d) */
static void put_foreign_first(const reader *r)
{
    mr_deduction *d = r->d;
    uint32_t last = d->known->row_first[r->some] + d->last[r->some] - 1;
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t slot = slot_of(d, &r->chains[c]);
        if (slot != MR_NONE && d->foreign[slot] && slot != r->some)
            mr_deduction_order(d, d->foreign[slot] - 1, last);
    }
}

/* Is all of P(r) in B(row)? */
static bool is_after_sources(const reader *r, uint32_t row)
{
    const mr_deduction *d = r->d;
    const uint32_t *clock = mr_deduction_clock(d, row);
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t slot = slot_of(d, &r->chains[c]);
        if (slot != MR_NONE && clock[slot] < d->last[slot])
            return false;
    }
    return true;
}

/* (c) and, when P(r) has no write, (e) */
static void put_foreign_after(const reader *r, const mr_row_chain *chain)
{
    mr_deduction *d = r->d;
    uint32_t low = chain->first, high = chain->end, limit = d->limit[slot_of(d, chain)];
    while (low < high && r->slots) {
        uint32_t middle = low + (high - low) / 2;
        d->effort += r->chain_count;
        if (item_rank(d, chain, middle) >= limit ||
            is_after_sources(r, d->known->rows->items[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t item = low < chain->end ? foreign_on(r, chain, low) : MR_NONE;
    if (item != MR_NONE)
        mr_deduction_order(d, r->row, d->known->rows->items[item]);
}

/* Applies (a) to (e) (eliminate.h) to the read. find_foreign comes before. */
static void rule_read(reader *r)
{
    mr_deduction *d = r->d;
    find_blocked(r);
    find_sources(r);
    if (!r->slots && !r->carried) {
        mr_deduction_exclude(d, r->row);
        return;
    }
    if (r->slots && r->carried)
        return;
    for (uint32_t s = 0; r->slots && s < d->known->slot_count; s++)
        mr_deduction_raise(d, r->row, s, d->common[s]);
    if (r->rank >= d->included[r->slot])
        return;
    if (r->slots == 1)
        put_foreign_first(r);
    for (uint32_t c = 0; c < r->chain_count; c++) {
        uint32_t slot = slot_of(d, &r->chains[c]);
        if (slot != MR_NONE && slot != r->slot)
            put_foreign_after(r, &r->chains[c]);
    }
    if (r->slots == 1 && d->common[r->some] == d->last[r->some]) /* a single write: it is clean */
        mr_deduction_be_certain(d, r->some, d->last[r->some]);
}

/* ---- what values a variable does not have (windows/occupied.h) ---- */

/* How many stretches that do not exclude a read are passed over. */
enum { MOST_PASSED = 8 };

/* How many of the stretches of a slot begin in its first `bound` rows, or are there from the start. */
static uint32_t count_begun(const mr_deduction *d, mr_stretches all, uint32_t slot, uint32_t bound)
{
    const mr_known *known = d->known;
    uint32_t until = bound ? known->rows->event_of[known->row_first[slot] + bound - 1] : 0;
    uint32_t low = 0, high = all.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, first = all.items[middle].first;
        if (first == MR_NONE || (bound && first <= until))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first `begun` stretches have the acquire in B(r), or are there from the start: the end of the latest that excludes r comes
 * before r. */
static void leave_stretch(const reader *r, mr_stretches all, uint32_t begun)
{
    mr_deduction *d = r->d;
    for (uint32_t i = begun; i > 0 && begun - i < MOST_PASSED; i--) {
        const mr_stretch *it = &all.items[i - 1];
        if (!mr_occupied_excludes(d->window, it, r->event))
            continue;
        if (mr_deduction_is_possible(d, it->end))
            mr_deduction_order(d, mr_deduction_row(d, it->end), r->row);
        else
            mr_deduction_exclude(d, r->row);
        return;
    }
}

/* Is it certain that r, of L, does not come after the end of the stretch? */
static bool ends_later(const reader *r, const mr_stretch *stretch)
{
    const mr_deduction *d = r->d;
    return !mr_deduction_is_possible(d, stretch->end) ||
           is_before(d, r->row, mr_deduction_row(d, stretch->end));
}

/* r, of L, comes before the acquire of the first of the stretches [begun, end) that excludes it and ends later. */
static void enter_stretch(const reader *r, mr_stretches all, uint32_t begun, uint32_t end)
{
    mr_deduction *d = r->d;
    uint32_t low = begun, high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ends_later(r, &all.items[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    for (uint32_t i = low; i < end && i - low < MOST_PASSED; i++)
        if (mr_occupied_excludes(d->window, &all.items[i], r->event)) {
            mr_deduction_order(d, r->row, mr_deduction_row(d, all.items[i].first));
            return;
        }
}

/* The rule *occupied*. */
static void rule_occupied(const reader *r)
{
    mr_deduction *d = r->d;
    for (uint32_t c = 0; c < r->chain_count && r->rank < d->limit[r->slot]; c++) {
        uint32_t thread = r->chains[c].thread, slot = slot_of(d, &r->chains[c]);
        if (slot == r->slot)
            continue;
        mr_stretches all = mr_occupied_of(d->window, d->window->object[r->event], thread);
        uint32_t bound = slot == MR_NONE ? 0 : mr_deduction_clock(d, r->row)[slot];
        uint32_t begun = count_begun(d, all, slot, bound);
        d->effort += 8;
        leave_stretch(r, all, begun);
        if (slot != MR_NONE && r->rank < d->included[r->slot])
            enter_stretch(r, all, begun, count_begun(d, all, slot, d->limit[slot]));
    }
}

mr_rule_says mr_deduction_rule_read(mr_deduction *d, uint32_t row, bool in_any_case)
{
    reader r = make_reader(d, row);
    uint32_t seen;
    if (r.rank >= d->certain[r.slot])
        return MR_RULE_MAY_SAY;
    bool occupied = mr_occupied_has(d->window, d->window->object[r.event]);
    if (occupied)
        rule_occupied(&r);
    if (r.rank >= d->limit[r.slot])
        return MR_RULE_MAY_SAY;
    bool silent = !in_any_case && (!d->stop_count || d->window->model != MR_MODEL_BRANCH) &&
                  find_seen(&r, &seen);
    if (silent && !d->stop_count)
        return occupied ? MR_RULE_MAY_SAY : MR_RULE_IS_SILENT;
    find_foreign(&r);
    if (silent && is_foreign_before(&r, seen)) {
        if (r.rank >= d->included[r.slot])
            return MR_RULE_MAY_SAY;
        if (is_foreign_after(&r))
            return occupied ? MR_RULE_MAY_SAY : MR_RULE_IS_SILENT;
    }
    rule_read(&r);
    return MR_RULE_MAY_SAY;
}

static bool is_value_read(const mr_deduction *d, uint32_t row)
{
    const mr_window *w = d->window;
    uint32_t event = d->known->rows->event_of[row], slot = mr_deduction_slot(d, row);
    uint32_t rank = row - d->known->row_first[slot];
    return mr_op_reads(mr_window_op(w, event)) && !w->variables[w->object[event]].by_source &&
           rank < d->certain[slot] && rank < d->limit[slot];
}

/* Writes P(r) to `list`, unless that is NULL. How many there are. */
static size_t list_row(mr_deduction *d, uint32_t row, uint32_t *list)
{
    size_t count = 0;
    reader r = make_reader(d, row);
    find_foreign(&r);
    find_blocked(&r);
    find_sources(&r);
    if (r.carried && list)
        list[count] = MR_NONE;
    count += r.carried;
    for (uint32_t c = 0; c < r.chain_count; c++) {
        uint32_t first, end;
        if (slot_of(d, &r.chains[c]) == MR_NONE)
            continue;
        find_choices(&r, &r.chains[c], &first, &end);
        for (uint32_t k = first; k < end; k++) {
            uint32_t write = d->known->rows->valued[k].row;
            if (is_hidden(&r, write))
                continue;
            if (list)
                list[count] = d->known->rows->event_of[write];
            count++;
        }
    }
    return count;
}

/* The rows of C. */
static bool is_in_cone(const mr_known *known, uint32_t row)
{
    uint32_t slot = known->slot_of[known->rows->thread[row]];
    return slot != MR_NONE && row - known->row_first[slot] < known->row_count[slot];
}

bool mr_deduction_list_sources(mr_deduction *d)
{
    mr_known *known = d->known;
    uint32_t rows = known->rows->count;
    size_t total = 0;
    known->sources_first = mr_arena_alloc(d->arena, (size_t)rows + 1, sizeof *known->sources_first);
    if (!known->sources_first)
        return false;
    for (uint32_t row = 0; row < rows; row++) {
        known->sources_first[row] = total;
        if (is_in_cone(known, row) && is_value_read(d, row))
            total += list_row(d, row, NULL);
    }
    known->sources_first[rows] = total;
    known->sources = mr_arena_alloc(d->arena, total, sizeof *known->sources);
    for (uint32_t row = 0; known->sources && row < rows; row++) {
        size_t first = known->sources_first[row], count = known->sources_first[row + 1] - first;
        if (!count)
            continue;
        size_t listed = list_row(d, row, known->sources + first);
        MR_ASSERT(listed == count);
    }
    return known->sources;
}
