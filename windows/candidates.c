#include "candidates.h"

#include <assert.h>
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
    const mr_precedence *hard, *forced;
    const mr_order *hb, *wcp;
    const mr_candidate_options *options;
    mr_candidates *out;
    mr_candidate_group *groups;
    size_t group_capacity;
    uint32_t *slots; /* group + 1 by pair of locations */
    uint32_t slot_count;
    found *items;
    size_t count, capacity;
    found_sites *sites;
    size_t site_count, site_capacity;
} collector;

mr_strength mr_pair_strength(const mr_order *hb, const mr_order *wcp, uint32_t first,
                             uint32_t second)
{
    if (!hb)
        return MR_STRENGTH_BEYOND_WCP;
    if (!mr_order_ordered(hb, first, second))
        return MR_STRENGTH_HB;
    return mr_order_ordered(wcp, first, second) ? MR_STRENGTH_BEYOND_WCP : MR_STRENGTH_WCP;
}

static uint32_t hash_pair(uint32_t one, uint32_t two)
{
    uint64_t hash = ((uint64_t)one << 32 | two) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static bool rehash(collector *c)
{
    uint32_t slot_count = c->slot_count ? c->slot_count * 2 : 256;
    uint32_t *slots = mr_calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    assert(c->groups != NULL || c->out->group_count == 0);
    for (uint32_t g = 0; g < c->out->group_count; g++) {
        uint32_t slot = hash_pair(c->groups[g].location_1, c->groups[g].location_2);
        while (slots[slot &= slot_count - 1])
            slot++;
        slots[slot] = g + 1;
    }
    free(c->slots);
    c->slots = slots;
    c->slot_count = slot_count;
    return true;
}

static bool new_group(collector *c, uint32_t location_1, uint32_t location_2, uint32_t *group)
{
    void *groups = c->groups;
    if (!mr_grow(&groups, &c->group_capacity, (size_t)c->out->group_count + 1, sizeof *c->groups))
        return false;
    c->groups = groups;
    *group = c->out->group_count++;
    c->groups[*group] = (mr_candidate_group){.location_1 = location_1, .location_2 = location_2};
    return true;
}

static bool group_of(collector *c, uint32_t location_1, uint32_t location_2, uint32_t *group)
{
    if (c->options->event_groups)
        return new_group(c, location_1, location_2, group);
    if (2 * (c->out->group_count + 1) > c->slot_count && !rehash(c))
        return false;
    assert(c->slots != NULL);
    uint32_t slot = hash_pair(location_1, location_2);
    for (; c->slots[slot &= c->slot_count - 1]; slot++) {
        *group = c->slots[slot] - 1;
        assert(c->groups != NULL); /* the number of one is in the slot */
        if (c->groups[*group].location_1 == location_1 &&
            c->groups[*group].location_2 == location_2)
            return true;
    }
    if (!new_group(c, location_1, location_2, group))
        return false;
    c->slots[slot] = *group + 1;
    return true;
}

/* Keeps a pair that filter and cone could not drop. */
static bool keep(collector *c, uint32_t a, uint32_t b, mr_strength strength, uint32_t group)
{
    void *items = c->items;
    if (c->count == UINT32_MAX || !mr_grow(&items, &c->capacity, c->count + 1, sizeof *c->items))
        return false;
    c->items = items;
    c->items[c->count++] = (found){
        .candidate = {.first = a < b ? a : b, .second = a < b ? b : a, .strength = strength},
        .group = group};
    c->groups[group].count++;
    return true;
}

/* Two sites while their pairs are collected. */
typedef struct pairing {
    mr_site_pair sites;
    uint32_t location_1, location_2;
    uint32_t group; /* MR_NONE: no pair was kept yet */
} pairing;

static bool is_full(const collector *c, const pairing *p)
{
    return c->options->max_per_group && c->groups[p->group].count >= c->options->max_per_group;
}

/* Makes the group of the next pair, when it is not there. */
static bool open_group(collector *c, pairing *p)
{
    if (c->options->event_groups)
        return new_group(c, p->location_1, p->location_2, &p->group);
    return p->group != MR_NONE || group_of(c, p->location_1, p->location_2, &p->group);
}

/* The pairs of one access with accesses that it is unordered with. */
static bool keep_range(collector *c, uint32_t a, const uint32_t *others, uint32_t count, pairing *p)
{
    const mr_candidate_options *options = c->options;
    uint32_t start = c->window->start;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t b = others[k];
        mr_strength strength =
            mr_pair_strength(c->hb, c->wcp, start + (a < b ? a : b), start + (a < b ? b : a));
        if (strength > options->weakest)
            continue;
        if (!open_group(c, p))
            return false;
        if (is_full(c, p)) { /* when every pair is wanted, the rest need not be looked at */
            uint64_t rest = options->weakest == MR_STRENGTH_BEYOND_WCP ? count - k : 1;
            c->groups[p->group].left_out += rest;
            p->sites.pairs += rest;
            k += (uint32_t)rest - 1;
            continue;
        }
        p->sites.pairs++;
        if (!keep(c, a, b, strength, p->group))
            return false;
    }
    return true;
}

/* Is `b` needed before `a` can be the next event of its thread? */
static bool needed(const mr_precedence *precedence, uint32_t b, uint32_t a)
{
    const mr_window *w = precedence->window;
    return mr_precedence_enabled(precedence, a)[w->thread[b]] > w->position[b];
}

/*
 * The accesses of `list` that are unordered with `a`: those before it are a prefix of the list,
 * those after it a suffix. `low` remembers the prefix, which only grows with a.
 */
static uint32_t unordered(const mr_precedence *precedence, uint32_t a, const mr_access_list *list,
                          uint32_t *low)
{
    while (*low < list->count && needed(precedence, list->events[*low], a))
        (*low)++;
    uint32_t from = *low, to = list->count;
    while (from < to) { /* first access that needs a */
        uint32_t middle = from + (to - from) / 2;
        if (needed(precedence, a, list->events[middle]))
            to = middle;
        else
            from = middle + 1;
    }
    return to - *low;
}

static bool pair_lists(collector *c, const mr_access_list *one, const mr_access_list *two,
                       pairing *p)
{
    uint64_t product = (uint64_t)one->count * two->count;
    if (mr_locksets_meet(c->window, one->lockset, two->lockset)) {
        c->out->dropped_by_filter += product;
        return true;
    }
    uint32_t low_hard = 0, low_forced = 0;
    for (uint32_t k = 0; k < one->count; k++) {
        uint32_t a = one->events[k];
        uint32_t open = unordered(c->hard, a, two, &low_hard);
        uint32_t left = unordered(c->forced, a, two, &low_forced);
        c->out->dropped_by_filter += two->count - open;
        c->out->dropped_by_cone += open - left;
        if (!keep_range(c, a, two->events + low_forced, left, p))
            return false;
    }
    return true;
}

static bool note_sites(collector *c, const mr_site_pair *pair, uint32_t group)
{
    void *sites = c->sites;
    if (!mr_grow(&sites, &c->site_capacity, c->site_count + 1, sizeof *c->sites))
        return false;
    c->sites = sites;
    c->sites[c->site_count++] = (found_sites){.pair = *pair, .group = group};
    c->groups[group].site_pair_count++;
    return true;
}

static bool pair_sites(collector *c, const mr_access_site *one, const mr_access_site *two)
{
    if (one->thread == two->thread || !mr_ops_conflict(one->op, two->op))
        return true;
    bool ascending = one->location < two->location;
    pairing p = {.sites = {.one = one, .two = two},
                 .location_1 = ascending ? one->location : two->location,
                 .location_2 = ascending ? two->location : one->location,
                 .group = MR_NONE};
    const mr_candidate_options *options = c->options;
    if (options->wanted && !options->wanted(options->context, p.location_1, p.location_2))
        return true;
    for (uint32_t i = 0; i < one->list_count; i++)
        for (uint32_t j = 0; j < two->list_count; j++)
            if (!pair_lists(c, &one->lists[i], &two->lists[j], &p))
                return false;
    return !p.sites.pairs || options->event_groups || note_sites(c, &p.sites, p.group);
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
    for (size_t i = 0; i < c->count; i++)
        out->items[i] = c->items[i].candidate;
    for (size_t i = 0; i < c->site_count; i++)
        out->site_pairs[i] = c->sites[i].pair;
    return true;
}

static bool collect(collector *c, mr_arena *arena)
{
    const mr_window *w = c->window;
    const mr_candidate_options *options = c->options;
    mr_access_choice choice = MR_ACCESS_ALL;
    mr_access_groups groups;
    if (options->representatives)
        choice = options->weakest == MR_STRENGTH_BEYOND_WCP ? MR_ACCESS_REPRESENTATIVES
                                                            : MR_ACCESS_ORDERED_REPRESENTATIVES;
    if (!mr_access_groups_build(&groups, w, choice, options->ignored_locations, arena))
        return false;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t first = groups.variable_first[v], end = groups.variable_first[v + 1];
        for (uint32_t one = first; one < end; one++)
            for (uint32_t two = one + 1; two < end; two++)
                if (!pair_sites(c, &groups.sites[one], &groups.sites[two]))
                    return false;
    }
    return finish(c, arena);
}

bool mr_candidates_find(mr_candidates *candidates, const mr_window *window,
                        const mr_precedence *hard, const mr_precedence *forced, const mr_order *hb,
                        const mr_order *wcp, const mr_candidate_options *options, mr_arena *arena)
{
    *candidates = (mr_candidates){0};
    collector c = {.window = window,
                   .hard = hard,
                   .forced = forced,
                   .hb = hb,
                   .wcp = wcp,
                   .options = options,
                   .out = candidates};
    bool complete = collect(&c, arena);
    free(c.groups);
    free(c.slots);
    free(c.items);
    free(c.sites);
    return complete;
}
