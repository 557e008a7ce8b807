#include "access_groups.h"

#include "base/table.h"
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

static bool make_sites(mr_access_groups *groups, access *accesses, uint32_t count, mr_arena *arena)
{
    groups->sites = mr_arena_alloc(arena, count, sizeof *groups->sites);
    mr_access_list *lists = mr_arena_alloc(arena, count, sizeof *lists);
    uint32_t *site_events = mr_arena_alloc(arena, count, sizeof *site_events);
    uint32_t *list_events = mr_arena_alloc(arena, count, sizeof *list_events);
    if (!groups->sites || !lists || !site_events || !list_events)
        return false;
    uint32_t site_count = 0;
    for (uint32_t first = 0, end; first < count; first = end) {
        const access key = accesses[first];
        for (end = first; end < count && !compare_site(&key, &accesses[end]); end++) {
            site_events[end] = accesses[end].event;
            accesses[end].site = site_count;
        }
        groups->sites[site_count++] =
            (mr_access_site){.variable = key.variable,
                             .thread = key.thread,
                             .location = key.location,
                             .op = key.op,
                             .events = site_events + first,
                             .count = end - first,
                             .lists = lists + first,
                             .list_count = make_lists(accesses + first, end - first, lists + first,
                                                      list_events + first)};
    }
    return true;
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

static bool make_strands(mr_access_groups *groups, const mr_window *w, const access *accesses,
                         uint32_t count, mr_arena *arena)
{
    uint32_t most = 0, strand_count = 0, variable = 0;
    for (uint32_t i = 0; i < count; i++)
        most += !i || compare_strand(&accesses[i - 1], &accesses[i]) != 0;
    uint32_t *events = mr_arena_alloc(arena, count, sizeof *events);
    uint32_t *sites = mr_arena_alloc(arena, count, sizeof *sites);
    /* One more than its accesses for each strand. */
    uint32_t(*before)[MR_ACCESS_CLASSES] =
        mr_arena_alloc(arena, (size_t)count + most, sizeof *before);
    groups->strands = mr_arena_alloc(arena, most, sizeof *groups->strands);
    groups->strand_first =
        mr_arena_zalloc(arena, (size_t)w->variable_count + 1, sizeof *groups->strand_first);
    if (!events || !sites || !before || !groups->strands || !groups->strand_first)
        return false;
    for (uint32_t first = 0, end; first < count; first = end) {
        const access *key = &accesses[first];
        uint32_t(*own)[MR_ACCESS_CLASSES] = before + first + strand_count;
        memset(own, 0, sizeof *own);
        for (end = first; end < count && !compare_strand(key, &accesses[end]); end++) {
            uint32_t(*next)[MR_ACCESS_CLASSES] = own + (end - first);
            events[end] = accesses[end].event;
            sites[end] = accesses[end].site;
            memcpy(next[1], next[0], sizeof *next);
            next[1][mr_access_class(accesses[end].op)]++;
        }
        while (variable < key->variable)
            groups->strand_first[++variable] = strand_count;
        mr_access_strand *strand = &groups->strands[strand_count++];
        *strand = (mr_access_strand){.variable = key->variable,
                                     .chain = key->chain,
                                     .lockset = key->lockset,
                                     .events = events + first,
                                     .sites = sites + first,
                                     .before = (const uint32_t(*)[MR_ACCESS_CLASSES])own,
                                     .count = end - first};
        place_sites(strand, key, end - first);
    }
    MR_ASSERT(strand_count == most);
    while (variable < w->variable_count)
        groups->strand_first[++variable] = strand_count;
    return true;
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

/* Adds the free of each variable; returns how many accesses there are then. */
static uint32_t add_frees(const mr_window *w, const bool *ignored_locations, access *accesses,
                          uint32_t count)
{
    for (uint32_t v = 0; w->freed_count && v < w->variable_count; v++) {
        uint32_t end = w->variables[v].free;
        if (end != MR_NONE && !is_ignored(w, ignored_locations, end))
            accesses[count++] = access_at(w, v, end);
    }
    return count;
}

bool mr_access_groups_build(mr_access_groups *groups, const mr_window *w, mr_access_choice choice,
                            const bool *ignored_locations, mr_arena *arena)
{
    bool representatives = choice != MR_ACCESS_ALL;
    picker p = {0};
    size_t most = (size_t)w->size + w->freed_count;
    access *accesses = mr_arena_alloc(arena, most, sizeof *accesses);
    if (!accesses || (representatives && !picker_init(&p, w, choice, arena)))
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->size; i++) {
        if (!mr_op_is_access(mr_window_op(w, i)))
            continue;
        const mr_window_variable *variable = &w->variables[w->object[i]];
        if ((!variable->shared && variable->free == MR_NONE) ||
            is_ignored(w, ignored_locations, i) || (representatives && represented(&p, i)))
            continue;
        accesses[count++] = access_at(w, w->object[i], i);
    }
    count = add_frees(w, ignored_locations, accesses, count);
    qsort(accesses, count, sizeof *accesses, by_site);
    if (!make_sites(groups, accesses, count, arena))
        return false;
    qsort(accesses, count, sizeof *accesses, by_strand);
    return make_strands(groups, w, accesses, count, arena);
}
