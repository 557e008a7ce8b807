#include "access_groups.h"

#include "base/assert.h"
#include "base/table.h"
#include "lockset.h"
#include "visible.h"

#include <stdlib.h>
#include <string.h>

typedef struct access {
    uint32_t variable, chain, thread, location, lockset, event, site;
    uint8_t op;
    bool mortal; /* it may not come after the free */
} access;

typedef struct picker {
    const mr_window *window;
    uint32_t *stretch;
    mr_table latest; /* by kind of access: its latest representative */
} picker;

/* Accesses of a kind have thread, variable, operation and location in common, and are on the same
 * side of the free. */
static bool same_kind(const void *window, uint32_t a, const void *event)
{
    const mr_window *w = window;
    uint32_t b = *(const uint32_t *)event;
    const mr_trace *trace = w->trace;
    return w->thread[a] == w->thread[b] && w->object[a] == w->object[b] &&
           mr_window_op(w, a) == mr_window_op(w, b) &&
           trace->location[w->start + a] == trace->location[w->start + b] &&
           mr_window_end_of_life(w, a) == mr_window_end_of_life(w, b);
}

/* Does an earlier access stand for this one? If not, it becomes a representative itself. */
static bool represented(picker *p, uint32_t event)
{
    const mr_window *w = p->window;
    uint64_t hash = w->object[event];
    hash = hash * 0x9e3779b97f4a7c15u + w->thread[event];
    hash = hash * 0x9e3779b97f4a7c15u + w->trace->location[w->start + event];
    hash = hash * 0x9e3779b97f4a7c15u + mr_window_op(w, event);
    uint32_t *slot = mr_table_slot(&p->latest, (uint32_t)(hash ^ hash >> 29), same_kind, w, &event);
    if (*slot) {
        uint32_t earlier = *slot - 1;
        if (p->stretch[earlier] == p->stretch[event] && event < w->region_end[earlier])
            return true;
    }
    *slot = event + 1;
    return false;
}

static bool picker_init(picker *p, const mr_window *w, mr_access_choice choice, mr_arena *arena)
{
    p->window = w;
    p->stretch = mr_visible_stretches(w, choice == MR_ACCESS_ORDERED_REPRESENTATIVES, arena);
    return p->stretch && mr_table_in_arena(&p->latest, arena, w->size);
}

static int compare_site(const access *x, const access *y)
{
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    if (x->chain != y->chain)
        return x->chain < y->chain ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->location != y->location)
        return x->location < y->location ? -1 : 1;
    return (x->mortal > y->mortal) - (x->mortal < y->mortal);
}

static int by_site(const void *one, const void *two)
{
    const access *x = one, *y = two;
    int order = compare_site(x, y);
    return order ? order : (x->event > y->event) - (x->event < y->event);
}

static int by_lockset(const void *one, const void *two)
{
    const access *x = one, *y = two;
    if (x->lockset != y->lockset)
        return x->lockset < y->lockset ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Fills the lists of a site from its accesses, which it sorts. Returns their number. */
static uint32_t make_lists(access *accesses, uint32_t count, mr_access_list *lists,
                           uint32_t *events)
{
    uint32_t list_count = 0;
    qsort(accesses, count, sizeof *accesses, by_lockset);
    for (uint32_t i = 0; i < count; i++) {
        events[i] = accesses[i].event;
        if (!i || accesses[i - 1].lockset != accesses[i].lockset)
            lists[list_count++] =
                (mr_access_list){.lockset = accesses[i].lockset, .events = events + i};
        lists[list_count - 1].count++;
    }
    return list_count;
}

/* Where the parts of a variable go: arrays with room for all of them, and how many are filled. */
typedef struct filling {
    mr_access_groups *groups;
    mr_access_list *lists;
    uint32_t *site_events, *list_events, *strand_events, *strand_sites;
    uint32_t (*before)[MR_ACCESS_CLASSES]; /* one more than its accesses for each strand */
    uint32_t access_count, site_count, list_count, strand_count;
} filling;

/* The sites of a variable. Sorts the accesses. */
static void add_sites(filling *f, access *accesses, uint32_t count)
{
    uint32_t *site_events = f->site_events + f->access_count;
    uint32_t *list_events = f->list_events + f->access_count;
    qsort(accesses, count, sizeof *accesses, by_site);
    for (uint32_t first = 0, end; first < count; first = end) {
        const access key = accesses[first];
        for (end = first; end < count && !compare_site(&key, &accesses[end]); end++) {
            site_events[end] = accesses[end].event;
            accesses[end].site = f->site_count;
        }
        mr_access_list *lists = f->lists + f->list_count;
        uint32_t list_count = make_lists(accesses + first, end - first, lists, list_events + first);
        f->list_count += list_count;
        f->groups->sites[f->site_count++] = (mr_access_site){.variable = key.variable,
                                                             .thread = key.thread,
                                                             .location = key.location,
                                                             .op = key.op,
                                                             .events = site_events + first,
                                                             .count = end - first,
                                                             .lists = lists,
                                                             .list_count = list_count};
    }
}

static int compare_strand(const access *x, const access *y)
{
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    if (x->chain != y->chain)
        return x->chain < y->chain ? -1 : 1;
    return (x->lockset > y->lockset) - (x->lockset < y->lockset);
}

static int by_strand(const void *one, const void *two)
{
    const access *x = one, *y = two;
    int order = compare_strand(x, y);
    return order ? order : (x->event > y->event) - (x->event < y->event);
}

uint32_t mr_access_class(uint8_t op)
{
    if (mr_op_ends_life(op))
        return MR_ACCESS_CLASSES - 1;
    return (mr_op_is_atomic(op) ? 2 : 0) + (mr_op_writes(op) ? 1 : 0);
}

uint64_t mr_access_class_conflicts(const uint64_t one[MR_ACCESS_CLASSES],
                                   const uint64_t two[MR_ACCESS_CLASSES])
{
    static const uint8_t examples[MR_ACCESS_CLASSES] = {MR_OP_READ, MR_OP_WRITE, MR_OP_ATOMIC_READ,
                                                        MR_OP_ATOMIC_WRITE, MR_OP_FREE};
    uint64_t count = 0;
    for (int k = 0; k < MR_ACCESS_CLASSES; k++)
        for (int m = 0; one[k] && m < MR_ACCESS_CLASSES; m++)
            if (mr_ops_conflict(examples[k], examples[m]))
                count += one[k] * two[m];
    return count;
}

uint64_t mr_access_conflicts(const mr_access_strand *one, uint32_t from_one, uint32_t to_one,
                             const mr_access_strand *two, uint32_t from_two, uint32_t to_two)
{
    uint64_t of_one[MR_ACCESS_CLASSES], of_two[MR_ACCESS_CLASSES];
    for (int k = 0; k < MR_ACCESS_CLASSES; k++) {
        of_one[k] = one->before[to_one][k] - one->before[from_one][k];
        of_two[k] = two->before[to_two][k] - two->before[from_two][k];
    }
    return mr_access_class_conflicts(of_one, of_two);
}

/* The sites of a variable and a chain stand together; a range of them has all of the strand. */
static void place_sites(mr_access_strand *strand, const access *accesses, uint32_t count)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = accesses[i].site < least ? accesses[i].site : least;
        most = accesses[i].site > most ? accesses[i].site : most;
    }
    strand->first_site = least;
    strand->end_site = most + 1;
}

/* The strands of a variable. Sorts the accesses. */
static void add_strands(filling *f, access *accesses, uint32_t count)
{
    uint32_t *events = f->strand_events + f->access_count;
    uint32_t *sites = f->strand_sites + f->access_count;
    qsort(accesses, count, sizeof *accesses, by_strand);
    for (uint32_t first = 0, end; first < count; first = end) {
        const access *key = &accesses[first];
        uint32_t(*own)[MR_ACCESS_CLASSES] = f->before + f->access_count + first + f->strand_count;
        memset(own, 0, sizeof *own);
        for (end = first; end < count && !compare_strand(key, &accesses[end]); end++) {
            uint32_t(*next)[MR_ACCESS_CLASSES] = own + (end - first);
            events[end] = accesses[end].event;
            sites[end] = accesses[end].site;
            memcpy(next[1], next[0], sizeof *next);
            next[1][mr_access_class(accesses[end].op)]++;
        }
        mr_access_strand *strand = &f->groups->strands[f->strand_count++];
        *strand = (mr_access_strand){.variable = key->variable,
                                     .chain = key->chain,
                                     .lockset = key->lockset,
                                     .events = events + first,
                                     .sites = sites + first,
                                     .before = (const uint32_t(*)[MR_ACCESS_CLASSES])own,
                                     .count = end - first};
        place_sites(strand, key, end - first);
    }
}

static access access_at(const mr_window *w, uint32_t variable, uint32_t event)
{
    return (access){.variable = variable,
                    .chain = w->threads[w->thread[event]].chain,
                    .thread = w->thread[event],
                    .op = mr_window_op(w, event),
                    .location = w->trace->location[w->start + event],
                    .lockset = w->lockset[event],
                    .event = event,
                    .mortal = mr_window_end_of_life(w, event) != MR_NONE};
}

static bool is_ignored(const mr_window *w, const bool *ignored_locations, uint32_t event)
{
    return ignored_locations && ignored_locations[w->trace->location[w->start + event]];
}

/* ---- the accesses, by variable ---- */

/* What is in the lists: of variable v events[first[v] … first[v + 1]), in trace order, a free as the last one. */
typedef struct chosen {
    uint32_t *events, *first;
    uint32_t most; /* of one variable */
} chosen;

/* Which accesses are listed. */
typedef struct selection {
    const mr_window *window;
    const bool *ignored_locations, *ignored_variables; /* NULL: none */
    picker *picker;                                    /* NULL: all of the others */
} selection;

static bool is_left_out(const selection *s, uint32_t variable, uint32_t event)
{
    return (s->ignored_variables && s->ignored_variables[variable]) ||
           is_ignored(s->window, s->ignored_locations, event);
}

/* Counts the accesses of each variable in first[v + 1], and marks those that are in the lists. */
static uint32_t choose(const selection *s, bool *in, uint32_t *first)
{
    const mr_window *w = s->window;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->size; i++) {
        in[i] = false;
        if (!mr_op_is_access(mr_window_op(w, i)))
            continue;
        const mr_window_variable *variable = &w->variables[w->object[i]];
        in[i] = (variable->shared || variable->free != MR_NONE) &&
                !is_left_out(s, w->object[i], i) && !(s->picker && represented(s->picker, i));
        first[w->object[i] + 1] += in[i];
        count += in[i];
    }
    for (uint32_t v = 0; w->freed_count && v < w->variable_count; v++) {
        uint32_t end = w->variables[v].free;
        bool is_in = end != MR_NONE && !is_left_out(s, v, end);
        first[v + 1] += is_in;
        count += is_in;
    }
    return count;
}

static bool list_accesses(chosen *c, const selection *s, mr_arena *arena)
{
    const mr_window *w = s->window;
    bool *in = mr_arena_alloc(arena, w->size, sizeof *in);
    uint32_t *next = mr_arena_alloc(arena, w->variable_count, sizeof *next);
    *c = (chosen){0};
    c->first = mr_arena_zalloc(arena, (size_t)w->variable_count + 1, sizeof *c->first);
    if (!in || !next || !c->first)
        return false;
    uint32_t count = choose(s, in, c->first);
    c->events = mr_arena_alloc(arena, count, sizeof *c->events);
    if (!c->events)
        return false;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        c->most = c->first[v + 1] > c->most ? c->first[v + 1] : c->most;
        next[v] = c->first[v];
        c->first[v + 1] += c->first[v];
    }
    MR_ASSERT(c->first[w->variable_count] == count);
    for (uint32_t i = 0; i < w->size; i++)
        if (in[i])
            c->events[next[w->object[i]]++] = i;
    for (uint32_t v = 0; v < w->variable_count; v++)
        if (next[v] < c->first[v + 1])
            c->events[next[v]] = w->variables[v].free;
    return true;
}

/* ---- variables whose accesses are all in order ---- */

/* Accesses of a variable with a chain, a lock set and a class in common. */
typedef struct kind {
    uint32_t chain, lockset;
    uint8_t op;
    uint32_t latest; /* of those so far */
} kind;

/* A variable with more of them is not looked at. */
enum { MOST_KINDS = 16 };

/* `earlier` is before `later` in the trace. */
static bool are_apart(const mr_window *w, const mr_precedence *precedence, uint32_t earlier,
                      uint32_t later)
{
    return mr_precedence_enables(precedence, earlier, later) ||
           mr_locksets_meet(w, w->lockset[earlier], w->lockset[later]);
}

/* Is the access apart from the latest of each kind that it conflicts with? So it is apart from all of these kinds. Adds it to its
 * own kind. */
static bool is_apart_from_all(const mr_window *w, const mr_precedence *precedence, kind *kinds,
                              uint32_t *count, uint32_t event)
{
    uint32_t own = MR_NONE, chain = w->threads[w->thread[event]].chain;
    uint8_t op = mr_window_op(w, event);
    for (uint32_t k = 0; k < *count; k++) {
        if (kinds[k].chain != chain) {
            if (mr_ops_conflict(kinds[k].op, op) &&
                !are_apart(w, precedence, kinds[k].latest, event))
                return false;
        } else if (kinds[k].lockset == w->lockset[event] && kinds[k].op == op) {
            own = k;
        }
    }
    if (own == MR_NONE) {
        if (*count == MOST_KINDS)
            return false;
        own = (*count)++;
        kinds[own] = (kind){.chain = chain, .lockset = w->lockset[event], .op = op};
    }
    kinds[own].latest = event;
    return true;
}

/* Does the precedence, or a common lock, keep each two accesses apart that conflict? False: perhaps not. */
static bool is_in_order(const mr_window *w, const mr_precedence *precedence, const uint32_t *events,
                        uint32_t count, uint32_t end)
{
    kind kinds[MOST_KINDS];
    uint32_t kind_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = events[i];
        bool apart = event == end || end == MR_NONE ||
                     w->threads[w->thread[event]].chain == w->threads[w->thread[end]].chain ||
                     are_apart(w, precedence, event < end ? event : end, event < end ? end : event);
        if (!apart ||
            (event != end && !is_apart_from_all(w, precedence, kinds, &kind_count, event)))
            return false;
    }
    return true;
}

/* Which variables are in order; `s` lists all accesses. NULL: no memory. */
static const bool *find_in_order(const selection *s, const mr_precedence *precedence,
                                 mr_arena *arena)
{
    const mr_window *w = s->window;
    chosen c;
    bool *in_order = mr_arena_alloc(arena, w->variable_count, sizeof *in_order);
    mr_arena_mark mark = mr_arena_get_mark(arena);
    if (!in_order || !list_accesses(&c, s, arena))
        return NULL;
    for (uint32_t v = 0; v < w->variable_count; v++)
        in_order[v] = is_in_order(w, precedence, c.events + c.first[v], c.first[v + 1] - c.first[v],
                                  w->variables[v].free);
    mr_arena_release(arena, mark);
    return in_order;
}

/* Lists the accesses; with a precedence, none of variables that are in order. */
static bool select_accesses(chosen *c, const mr_window *w, mr_access_choice choice,
                            const bool *ignored_locations, const mr_precedence *precedence,
                            mr_arena *arena)
{
    selection s = {.window = w, .ignored_locations = ignored_locations};
    picker p = {0};
    if (precedence) {
        s.ignored_variables = find_in_order(&s, precedence, arena);
        if (!s.ignored_variables)
            return false;
    }
    if (choice != MR_ACCESS_ALL) {
        if (!picker_init(&p, w, choice, arena))
            return false;
        s.picker = &p;
    }
    return list_accesses(c, &s, arena);
}

bool mr_access_groups_build(mr_access_groups *groups, const mr_window *w, mr_access_choice choice,
                            const bool *ignored_locations, const mr_precedence *precedence,
                            mr_arena *arena)
{
    chosen c;
    if (!select_accesses(&c, w, choice, ignored_locations, precedence, arena))
        return false;
    uint32_t count = c.first[w->variable_count];
    access *accesses = mr_arena_alloc(arena, c.most, sizeof *accesses);
    filling f = {.groups = groups,
                 .lists = mr_arena_alloc(arena, count, sizeof *f.lists),
                 .site_events = mr_arena_alloc(arena, count, sizeof *f.site_events),
                 .list_events = mr_arena_alloc(arena, count, sizeof *f.list_events),
                 .strand_events = mr_arena_alloc(arena, count, sizeof *f.strand_events),
                 .strand_sites = mr_arena_alloc(arena, count, sizeof *f.strand_sites),
                 .before = mr_arena_alloc(arena, 2 * (size_t)count, sizeof *f.before)};
    groups->sites = mr_arena_alloc(arena, count, sizeof *groups->sites);
    groups->strands = mr_arena_alloc(arena, count, sizeof *groups->strands);
    groups->strand_first =
        mr_arena_alloc(arena, (size_t)w->variable_count + 1, sizeof *groups->strand_first);
    if (!accesses || !f.lists || !f.site_events || !f.list_events || !f.strand_events ||
        !f.strand_sites || !f.before || !groups->sites || !groups->strands || !groups->strand_first)
        return false;
    for (uint32_t v = 0; v < w->variable_count; v++) {
        uint32_t own = c.first[v + 1] - c.first[v];
        groups->strand_first[v] = f.strand_count;
        for (uint32_t i = 0; i < own; i++)
            accesses[i] = access_at(w, v, c.events[c.first[v] + i]);
        add_sites(&f, accesses, own);
        add_strands(&f, accesses, own);
        f.access_count += own;
    }
    groups->strand_first[w->variable_count] = f.strand_count;
    return true;
}
