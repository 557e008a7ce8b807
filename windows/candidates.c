#include "candidates.h"

#include "base/assert.h"
#include "base/map.h"
#include "lockset.h"
#include "strand_pairs.h"

#include <stdlib.h>
#include <string.h>

/* A candidate or a pair of sites while it is collected: with its group, so that one sort makes the
 * groups. */
typedef struct found {
    mr_candidate candidate;
    uint32_t group;
} found;

typedef struct found_sites {
    mr_site_pair pair;
    uint32_t group;
} found_sites;

typedef struct collector {
    const mr_window *window;
    const mr_precedence *hard, *forced; /* what drops pairs; NULL: orders nothing */
    bool is_forced;                     /* `forced` may be looked at */
    const mr_order *hb, *wcp;
    const mr_candidate_options *options;
    mr_arena *arena;
    mr_candidates *out;
    mr_access_groups accesses;
    mr_strand_pairs strand_pairs;
    struct chain_block *blocks; /* of the current variable */
    mr_candidate_group *groups;
    size_t group_capacity;
    /* All hold a number + 1, 0: none so far. */
    mr_map group_index; /* by locations: the group, or WANTED or UNWANTED; where there are few: */
    uint32_t *group_table;         /* the same by the numbers of two places; of the arena */
    uint32_t *places, place_count; /* one a site: the number of its place */
    mr_map site_index;             /* by the numbers of two sites: the place in `sites` */
    found *items;
    size_t count, capacity;
    found_sites *sites;
    size_t site_count, site_capacity;
} collector;

/* In the index of groups: the pair has no group yet, or will have none. */
enum { WANTED = INT32_MAX - 1, UNWANTED = INT32_MAX };

/* Two strands with more unordered pairs than so many for each access are compared site by site: then
 * sites whose group is full are passed over at once. */
enum { MR_PAIRS_EACH = 16 };

mr_strength mr_pair_strength(const mr_order *hb, const mr_order *wcp, uint32_t first,
                             uint32_t second)
{
    if (!hb)
        return MR_STRENGTH_BEYOND_WCP;
    if (!mr_order_ordered(hb, first, second))
        return MR_STRENGTH_HB;
    bool unordered = wcp && !mr_order_ordered(wcp, first, second);
    return unordered ? MR_STRENGTH_WCP : MR_STRENGTH_BEYOND_WCP;
}

static bool new_group(collector *c, uint32_t location_1, uint32_t location_2, uint32_t *group)
{
    void *groups = c->groups;
    if (c->out->group_count == WANTED ||
        !mr_grow(&groups, &c->group_capacity, (size_t)c->out->group_count + 1, sizeof *c->groups))
        return false;
    c->groups = groups;
    *group = c->out->group_count++;
    c->groups[*group] = (mr_candidate_group){.location_1 = location_1, .location_2 = location_2};
    return true;
}

/* ---- the pairs of places ---- */

/* A table of the pairs of places has at most so many entries, and so many for an event of the window. */
enum { TABLE_ENTRIES = 1 << 20, TABLE_ENTRIES_OF_EVENT = 256 };

/* Numbers the places of the sites, and makes the table where that is small. False: no memory. */
static bool number_places(collector *c)
{
    uint32_t site_count = 0;
    uint32_t strand_count = c->accesses.strand_first[c->window->variable_count];
    mr_map numbers = {0};
    bool done = true;
    for (uint32_t s = 0; s < strand_count; s++)
        if (c->accesses.strands[s].end_site > site_count)
            site_count = c->accesses.strands[s].end_site;
    c->places = mr_arena_alloc(c->arena, site_count, sizeof *c->places);
    for (uint32_t i = 0; c->places && i < site_count && done; i++) {
        const uint32_t *number = mr_map_at(&numbers, c->accesses.sites[i].location, numbers.count);
        done = number != NULL;
        if (done)
            c->places[i] = *number;
    }
    uint64_t count = c->place_count = numbers.count;
    mr_map_free(&numbers);
    if (!c->places || !done)
        return false;
    if (count * count > TABLE_ENTRIES ||
        count * count > (uint64_t)TABLE_ENTRIES_OF_EVENT * c->window->size)
        return true;
    c->group_table = mr_arena_zalloc(c->arena, count * count, sizeof *c->group_table);
    return c->group_table != NULL;
}

/* Two sites while their pairs are looked at. */
typedef struct pairing {
    uint32_t one, two; /* sites */
    uint32_t location_1, location_2;
    uint32_t group; /* or WANTED, UNWANTED */
    uint32_t place; /* in the collector's `sites`; MR_NONE: not looked up */
} pairing;

/* The entry of the places of two sites. NULL: no memory. */
static uint32_t *group_number(collector *c, const pairing *p)
{
    if (!c->group_table)
        return mr_map_at(&c->group_index, mr_map_key(p->location_1, p->location_2), 0);
    uint32_t one = c->places[p->one], two = c->places[p->two];
    uint32_t low = one < two ? one : two, high = one < two ? two : one;
    return &c->group_table[(size_t)low * c->place_count + high];
}

/* Begins with two sites; `wanted` is asked once for each pair of places. False: no memory. */
static bool open_pairing(collector *c, uint32_t one, uint32_t two, pairing *p)
{
    const mr_candidate_options *options = c->options;
    uint32_t location_1 = c->accesses.sites[one].location;
    uint32_t location_2 = c->accesses.sites[two].location;
    bool ascending = location_1 < location_2;
    *p = (pairing){.one = one,
                   .two = two,
                   .location_1 = ascending ? location_1 : location_2,
                   .location_2 = ascending ? location_2 : location_1,
                   .group = WANTED,
                   .place = MR_NONE};
    if (options->event_groups && !options->wanted)
        return true;
    uint32_t *number = group_number(c, p);
    if (!number)
        return false;
    if (!*number) {
        bool wanted =
            !options->wanted || options->wanted(options->context, p->location_1, p->location_2);
        *number = (wanted ? WANTED : UNWANTED) + 1u;
    }
    p->group = *number - 1;
    return true;
}

/* Makes the group of the next pair, when it is not there, and the entry of its sites. */
static bool open_group(collector *c, pairing *p)
{
    if (c->options->event_groups)
        return new_group(c, p->location_1, p->location_2, &p->group);
    if (p->group == WANTED) {
        uint32_t *number = group_number(c, p);
        if (!number || !new_group(c, p->location_1, p->location_2, &p->group))
            return false;
        *number = p->group + 1;
    }
    if (p->place != MR_NONE)
        return true;
    uint32_t *number = mr_map_at(&c->site_index, mr_map_key(p->one, p->two), 0);
    void *sites = c->sites;
    if (!number || c->site_count == UINT32_MAX - 1 ||
        !mr_grow(&sites, &c->site_capacity, c->site_count + 1, sizeof *c->sites))
        return false;
    c->sites = sites;
    if (!*number) {
        c->sites[c->site_count++] = (found_sites){
            .pair = {.one = &c->accesses.sites[p->one], .two = &c->accesses.sites[p->two]},
            .group = p->group};
        c->groups[p->group].site_pair_count++;
        *number = (uint32_t)c->site_count;
    }
    p->place = *number - 1;
    return true;
}

static bool is_full(const collector *c, const pairing *p)
{
    return c->options->max_per_group && p->group < WANTED &&
           c->groups[p->group].count >= c->options->max_per_group;
}

/* Will these sites add nothing more? */
static bool is_done(const collector *c, const pairing *p)
{
    if (p->group == UNWANTED)
        return true;
    if (!c->options->stop_when_full || !is_full(c, p))
        return false;
    c->groups[p->group].stopped = true;
    return true;
}

/* Keeps a pair that filter and cone could not drop. */
static bool keep(collector *c, uint32_t a, uint32_t b, mr_strength strength, uint32_t group)
{
    void *items = c->items;
    if (c->count == UINT32_MAX || !mr_grow(&items, &c->capacity, c->count + 1, sizeof *c->items))
        return false;
    c->items = items;
    MR_ASSERT(c->window->thread[a] != c->window->thread[b]);
    c->items[c->count++] = (found){
        .candidate = {.first = a < b ? a : b, .second = a < b ? b : a, .strength = strength},
        .group = group};
    c->groups[group].count++;
    return true;
}

/* The pairs of one access with accesses that it is unordered with, all of one pair of sites. */
static bool keep_range(collector *c, uint32_t a, const uint32_t *others, uint32_t count, pairing *p)
{
    const mr_candidate_options *options = c->options;
    uint32_t start = c->window->start;
    for (uint32_t k = 0; k < count && !is_done(c, p); k++) {
        uint32_t b = others[k];
        mr_strength strength =
            mr_pair_strength(c->hb, c->wcp, start + (a < b ? a : b), start + (a < b ? b : a));
        if (strength > options->weakest)
            continue;
        if (!open_group(c, p))
            return false;
        bool full = !options->event_groups && is_full(c, p);
        /* When every pair is wanted, the rest need not be looked at. */
        uint32_t pairs = full && options->weakest == MR_STRENGTH_BEYOND_WCP ? count - k : 1;
        if (!options->event_groups)
            c->sites[p->place].pair.pairs += pairs;
        if (full)
            c->groups[p->group].left_out += pairs;
        else if (!keep(c, a, b, strength, p->group))
            return false;
        k += pairs - 1;
    }
    return true;
}

/* Of events in program order those that are unordered with an event of another thread. */
typedef struct range {
    uint32_t low, high; /* [low, high): before are those that it needs, from high on those that
                           need it */
} range;

/* Is an event of the list past the bound that is looked for? Both ways it stays so for the events
 * after it. */
static bool is_past(const mr_precedence *precedence, uint32_t event, uint32_t of, bool needing)
{
    return needing ? mr_precedence_enables(precedence, of, event)
                   : !mr_precedence_enables(precedence, event, of);
}

/* The first event of the list from number `from` on that needs the event `of` (`needing`), or that
 * `of` does not need: in steps that grow, then by halves. */
static uint32_t look_on(const mr_precedence *precedence, uint32_t of, bool needing,
                        const uint32_t *events, uint32_t from, uint32_t count)
{
    uint32_t low = from, high = count, step = 1;
    if (from == count || is_past(precedence, events[from], of, needing))
        return from;
    for (; low + step < count && high == count; step *= 2) {
        if (is_past(precedence, events[low + step], of, needing))
            high = low + step;
        else
            low += step;
    }
    for (low++; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (is_past(precedence, events[middle], of, needing))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Moves the range to event `a`, which comes after the one that it was for. NULL orders nothing. */
static void advance(range *r, const mr_precedence *precedence, uint32_t a, const uint32_t *events,
                    uint32_t count)
{
    if (!precedence) {
        r->high = count;
        return;
    }
    r->low = look_on(precedence, a, false, events, r->low, count);
    r->high = look_on(precedence, a, true, events, r->high, count);
}

static uint32_t length_of(const range *r)
{
    return r->low < r->high ? r->high - r->low : 0;
}

/* The list of a site with a lock set; NULL: it has none. */
static const mr_access_list *list_of(const mr_access_site *site, uint32_t lockset)
{
    uint32_t low = 0, high = site->list_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (site->lists[middle].lockset < lockset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < site->list_count && site->lists[low].lockset == lockset ? &site->lists[low] : NULL;
}

static bool pair_lists(collector *c, const mr_access_list *one, const mr_access_list *two,
                       pairing *p)
{
    range left = {0, 0};
    for (uint32_t k = 0; k < one->count && !is_done(c, p); k++) {
        advance(&left, c->forced, one->events[k], two->events, two->count);
        if (!keep_range(c, one->events[k], two->events + left.low, length_of(&left), p))
            return false;
    }
    return true;
}

/* Two strands with many unordered pairs, site by site. */
static bool pair_by_sites(collector *c, const mr_access_strand *one, const mr_access_strand *two)
{
    const mr_access_site *sites = c->accesses.sites;
    for (uint32_t i = one->first_site; i < one->end_site; i++) {
        const mr_access_list *list = list_of(&sites[i], one->lockset);
        for (uint32_t j = two->first_site; list && j < two->end_site; j++) {
            pairing p;
            if (!mr_ops_conflict(sites[i].op, sites[j].op))
                continue;
            if (!open_pairing(c, i, j, &p))
                return false;
            const mr_access_list *other = is_done(c, &p) ? NULL : list_of(&sites[j], two->lockset);
            if (other && !pair_lists(c, list, other, &p))
                return false;
        }
    }
    return true;
}

/* Two strands with few unordered pairs, one after the other; or a strand with itself. */
static bool pair_by_events(collector *c, const mr_access_strand *one, const mr_access_strand *two)
{
    const mr_access_site *sites = c->accesses.sites;
    range left = {0, 0};
    for (uint32_t k = 0; k < one->count; k++) {
        advance(&left, c->forced, one->events[k], two->events, two->count);
        for (uint32_t m = one == two ? k + 1 : left.low; m < left.high; m++) {
            pairing p;
            const mr_access_site *a = &sites[one->sites[k]], *b = &sites[two->sites[m]];
            if (a->thread == b->thread || !mr_ops_conflict(a->op, b->op))
                continue;
            if (!open_pairing(c, one->sites[k], two->sites[m], &p))
                return false;
            if (!is_done(c, &p) && !keep_range(c, one->events[k], &two->events[m], 1, &p))
                return false;
        }
    }
    return true;
}

/* The pairs of two strands that a precedence leaves unordered. */
typedef struct unordered {
    uint64_t conflicts, width; /* those that conflict, and all of them */
} unordered;

/* The first access of a strand, after number `from`, that has another range than this one. */
static uint32_t end_of_range(const range *r, const mr_precedence *precedence,
                             const mr_access_strand *one, uint32_t from,
                             const mr_access_strand *two)
{
    uint32_t end = one->count;
    if (!precedence)
        return end;
    if (r->low < two->count)
        end = look_on(precedence, two->events[r->low], true, one->events, from + 1, end);
    if (r->high < two->count)
        end = look_on(precedence, two->events[r->high], false, one->events, from + 1, end);
    return end;
}

/* Accesses of the first strand that have the same range are counted together. */
static unordered count_unordered(const mr_precedence *precedence, const mr_access_strand *one,
                                 const mr_access_strand *two)
{
    unordered count = {0};
    range r = {0, 0};
    for (uint32_t k = 0, end; k < one->count && r.low < two->count; k = end) {
        advance(&r, precedence, one->events[k], two->events, two->count);
        end = end_of_range(&r, precedence, one, k, two);
        MR_ASSERT(k < end && end <= one->count);
        if (!length_of(&r))
            continue;
        count.width += (uint64_t)length_of(&r) * (end - k);
        count.conflicts += mr_access_conflicts(one, k, end, two, r.low, r.high);
    }
    return count;
}

/* Is `forced` made? False: no memory. */
static bool is_forced(collector *c)
{
    c->is_forced = c->is_forced || !c->options->force || c->options->force(c->options->problem);
    return c->is_forced;
}

/* Adds to `*left` the conflicting pairs that the filter leaves, counts those of them that the cone
 * drops, and looks at the others. */
static bool pair_strands(collector *c, const mr_access_strand *one, const mr_access_strand *two,
                         uint64_t *left)
{
    if (!c->options->keep_filtered && mr_locksets_meet(c->window, one->lockset, two->lockset))
        return true;
    unordered hard = count_unordered(c->hard, one, two), forced = {0};
    if (hard.conflicts && !is_forced(c))
        return false;
    if (hard.conflicts)
        forced = count_unordered(c->forced, one, two);
    /* cone drops what filter drops, and more */
    MR_ASSERT(forced.conflicts <= hard.conflicts);
    *left += hard.conflicts;
    c->out->dropped_by_cone += hard.conflicts - forced.conflicts;
    if (!forced.conflicts)
        return true;
    uint64_t sites =
        (uint64_t)(one->end_site - one->first_site) * (two->end_site - two->first_site);
    bool few = forced.width <= MR_PAIRS_EACH * ((uint64_t)one->count + two->count) ||
               forced.width <= sites;
    return few ? pair_by_events(c, one, two) : pair_by_sites(c, one, two);
}

/* ---- the strands of a variable ---- */

/* The strands of a variable that are in one chain. */
typedef struct chain_block {
    uint32_t first, end;       /* strands */
    uint32_t earliest, latest; /* accesses */
    uint64_t classes[MR_ACCESS_CLASSES];
    uint64_t own_conflicts; /* twice its conflicting pairs, pairs of one thread included */
} chain_block;

static chain_block block_from(const mr_access_strand *strands, uint32_t first, uint32_t end)
{
    chain_block block = {.first = first, .earliest = MR_NONE};
    for (block.end = first; block.end < end && strands[block.end].chain == strands[first].chain;
         block.end++) {
        const mr_access_strand *s = &strands[block.end];
        if (s->events[0] < block.earliest)
            block.earliest = s->events[0];
        if (s->events[s->count - 1] > block.latest)
            block.latest = s->events[s->count - 1];
        for (int k = 0; k < MR_ACCESS_CLASSES; k++)
            block.classes[k] += s->before[s->count][k];
    }
    block.own_conflicts = mr_access_class_conflicts(block.classes, block.classes);
    return block;
}

/* How many conflicting pairs of a block are by different threads. The sites of a thread stand
 * together. */
static uint64_t conflicts_in_chain(const collector *c, const chain_block *block)
{
    const mr_access_strand *strands = c->accesses.strands;
    uint64_t own = 0; /* twice the pairs of one thread */
    uint32_t first = MR_NONE, end = 0;
    for (uint32_t s = block->first; s < block->end; s++) {
        first = strands[s].first_site < first ? strands[s].first_site : first;
        end = strands[s].end_site > end ? strands[s].end_site : end;
    }
    for (uint32_t i = first, next; i < end; i = next) {
        uint64_t classes[MR_ACCESS_CLASSES] = {0};
        const mr_access_site *sites = c->accesses.sites;
        for (next = i; next < end && sites[next].thread == sites[i].thread; next++)
            classes[mr_access_class(sites[next].op)] += sites[next].count;
        own += mr_access_class_conflicts(classes, classes);
    }
    return (block->own_conflicts - own) / 2;
}

/* Program order, fork and join order all accesses of a chain. */
static bool pair_in_chain(collector *c, const chain_block *block)
{
    const mr_access_strand *strands = c->accesses.strands;
    if (c->hard || c->forced) {
        *(c->hard ? &c->out->dropped_by_filter : &c->out->dropped_by_cone) +=
            conflicts_in_chain(c, block);
        return true;
    }
    for (uint32_t one = block->first; one < block->end; one++)
        for (uint32_t two = one; two < block->end; two++)
            if (mr_arena_is_halted(c->arena) || !pair_by_events(c, &strands[one], &strands[two]))
                return false;
    return true;
}

/* Does the filter order all accesses of a strand with all of another chain? */
static bool are_ordered(const collector *c, const mr_access_strand *strand,
                        const chain_block *block)
{
    return c->hard &&
           (mr_precedence_enables(c->hard, strand->events[strand->count - 1], block->earliest) ||
            mr_precedence_enables(c->hard, block->latest, strand->events[0]));
}

/* Pairs of strands between two looks whether the run was asked to end. */
enum { PAIRS_A_LOOK = 16 };

/* The pairs of one strand, in the first block, with those of the blocks behind it. Adds to `*left`
 * the conflicting pairs that the filter leaves. */
static bool pair_across(collector *c, uint32_t one, const chain_block *blocks, uint32_t block_count,
                        uint64_t *left)
{
    /* The strand pairs count from the first strand of the variable. */
    uint32_t base = c->accesses.strand_first[c->accesses.strands[one].variable];
    const mr_access_strand *strands = c->accesses.strands;
    uint32_t looks = 0;
    for (uint32_t b = 1; b < block_count; b++) {
        if (are_ordered(c, &strands[one], &blocks[b]))
            continue;
        uint32_t two = blocks[b].first - base, end = blocks[b].end - base;
        while ((two = mr_strand_pairs_next(&c->strand_pairs, one - base, two)) < end) {
            if ((looks++ % PAIRS_A_LOOK == 0 && mr_arena_is_halted(c->arena)) ||
                !pair_strands(c, &strands[one], &strands[base + two], left))
                return false;
            two++;
        }
    }
    return true;
}

static bool pair_variable(collector *c, uint32_t first, uint32_t end)
{
    const mr_access_strand *strands = c->accesses.strands;
    uint32_t block_count = 0;
    uint64_t classes[MR_ACCESS_CLASSES] = {0}, own = 0, left = 0;
    for (uint32_t s = first; s < end; s = c->blocks[block_count++].end) {
        chain_block *block = &c->blocks[block_count];
        *block = block_from(strands, s, end);
        for (int k = 0; k < MR_ACCESS_CLASSES; k++)
            classes[k] += block->classes[k];
        own += block->own_conflicts;
        if (!pair_in_chain(c, block))
            return false;
    }
    uint64_t conflicts = (mr_access_class_conflicts(classes, classes) - own) / 2;
    if (!conflicts)
        return true;
    if (!mr_strand_pairs_begin(&c->strand_pairs, strands + first, end - first,
                               !c->options->keep_filtered))
        return false;
    for (uint32_t b = 0; b < block_count; b++)
        for (uint32_t one = c->blocks[b].first; one < c->blocks[b].end; one++)
            if (!pair_across(c, one, c->blocks + b, block_count - b, &left))
                return false;
    MR_ASSERT(left <= conflicts);
    c->out->dropped_by_filter += conflicts - left;
    return true;
}

static int compare_found(const void *one, const void *two)
{
    const found *x = one, *y = two;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    const mr_candidate *a = &x->candidate, *b = &y->candidate;
    if (a->strength != b->strength)
        return a->strength < b->strength ? -1 : 1;
    uint32_t distance_a = a->second - a->first, distance_b = b->second - b->first;
    if (distance_a != distance_b)
        return distance_a < distance_b ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static int compare_sites(const void *one, const void *two)
{
    const found_sites *x = one, *y = two;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    const mr_access_site *a = x->pair.one, *b = y->pair.one; /* any fixed order will do */
    if (a->events[0] != b->events[0])
        return a->events[0] < b->events[0] ? -1 : 1;
    a = x->pair.two;
    b = y->pair.two;
    return (a->events[0] > b->events[0]) - (a->events[0] < b->events[0]);
}

/* Sorts what was collected into the arena. */
static bool finish(collector *c, mr_arena *arena)
{
    mr_candidates *out = c->out;
    out->count = (uint32_t)c->count;
    out->site_pair_count = (uint32_t)c->site_count;
    out->items = mr_arena_alloc(arena, c->count, sizeof *out->items);
    out->groups = mr_arena_alloc(arena, out->group_count, sizeof *out->groups);
    out->site_pairs = mr_arena_alloc(arena, c->site_count, sizeof *out->site_pairs);
    if (!out->items || !out->groups || !out->site_pairs)
        return false;
    if (c->groups)
        memcpy(out->groups, c->groups, out->group_count * sizeof *out->groups);
    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, compare_found);
    if (c->site_count)
        qsort(c->sites, c->site_count, sizeof *c->sites, compare_sites);
    uint32_t first = 0, first_site_pair = 0;
    for (uint32_t g = 0; g < out->group_count; g++) {
        out->groups[g].first = first;
        out->groups[g].first_site_pair = first_site_pair;
        first += out->groups[g].count;
        first_site_pair += out->groups[g].site_pair_count;
    }
    MR_ASSERT(first == out->count && first_site_pair == out->site_pair_count);
    for (size_t i = 0; i < c->count; i++)
        out->items[i] = c->items[i].candidate;
    for (size_t i = 0; i < c->site_count; i++)
        out->site_pairs[i] = c->sites[i].pair;
    return true;
}

static bool collect(collector *c)
{
    const mr_window *w = c->window;
    const mr_candidate_options *options = c->options;
    mr_access_choice choice = MR_ACCESS_ALL;
    if (options->representatives)
        choice = options->weakest == MR_STRENGTH_BEYOND_WCP ? MR_ACCESS_REPRESENTATIVES
                                                            : MR_ACCESS_ORDERED_REPRESENTATIVES;
    bool drops = !options->keep_filtered && !options->keep_coned;
    if (options->uncounted && drops && !is_forced(c))
        return false;
    c->blocks = mr_arena_alloc(c->arena, w->chain_count, sizeof *c->blocks);
    if (!c->blocks || !mr_strand_pairs_init(&c->strand_pairs, w, c->arena) ||
        !mr_access_groups_build(&c->accesses, w, choice, options->ignored_locations,
                                options->uncounted && drops ? c->forced : NULL, c->arena) ||
        !number_places(c))
        return false;
    const uint32_t *first = c->accesses.strand_first;
    for (uint32_t v = 0; v < w->variable_count; v++)
        if (!pair_variable(c, first[v], first[v + 1]))
            return false;
    return finish(c, c->arena);
}

bool mr_candidates_find(mr_candidates *candidates, const mr_window *window,
                        const mr_precedence *hard, const mr_precedence *forced, const mr_order *hb,
                        const mr_order *wcp, const mr_candidate_options *options, mr_arena *arena)
{
    *candidates = (mr_candidates){0};
    collector c = {.window = window,
                   .hard = options->keep_filtered ? NULL : hard,
                   .forced = forced,
                   .hb = hb,
                   .wcp = wcp,
                   .options = options,
                   .arena = arena,
                   .out = candidates};
    if (options->keep_coned)
        c.forced = c.hard;
    bool complete = collect(&c);
    mr_strand_pairs_free(&c.strand_pairs);
    free(c.groups);
    mr_map_free(&c.group_index);
    mr_map_free(&c.site_index);
    free(c.items);
    free(c.sites);
    return complete;
}
