#include "lazy.h"

#include "base/assert.h"
#include "branches.h"
#include "locks.h"
#include "reads.h"
#include "windows/read_choices.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Numbers of sections of contended locks that take part, in the order of locks. Arena memory. */
typedef struct section_list {
    uint32_t *items, count;
} section_list;

static void add_section(const mr_encoding *encoding, section_list *list, uint32_t number)
{
    const mr_window *w = encoding->window;
    const mr_section *section = &w->sections[number];
    if (w->locks[section->lock].contended && mr_section_takes_part(encoding, section))
        list->items[list->count++] = number;
}

/* Those that are entered in the region. */
static void list_sections_of_region(const mr_encoding *encoding, section_list *list)
{
    const mr_window *w = encoding->window;
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t k = encoding->from[t]; k < encoding->to[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            const mr_section *section = mr_window_section(w, event);
            if (section && section->acquire == event)
                add_section(encoding, list, w->object[event]);
        }
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, mr_compare_u32);
}

/* False: no memory. */
static bool list_sections(const mr_encoding *encoding, section_list *list)
{
    uint32_t all = encoding->window->section_count;
    *list = (section_list){.items = mr_arena_alloc(encoding->arena, all, sizeof *list->items)};
    if (!list->items)
        return false;
    if (mr_encoding_has_region(encoding))
        list_sections_of_region(encoding, list);
    for (uint32_t i = 0; !mr_encoding_has_region(encoding) && i < all; i++)
        add_section(encoding, list, i);
    return true;
}

/* A lock is of interest when two threads have sections that take part, one of them exclusive. */
static bool is_contended(const mr_window *w, const uint32_t *sections, uint32_t count)
{
    bool exclusive = false, several = false;
    for (uint32_t i = 0; i < count && !(several && exclusive); i++) {
        several |= w->sections[sections[i]].thread != w->sections[sections[0]].thread;
        exclusive |= !w->sections[sections[i]].shared;
    }
    return several && exclusive;
}

static void make_section_nodes(mr_encoding *encoding, const mr_section *section)
{
    const uint32_t events[] = {section->acquire, section->release};
    for (int k = 0; k < 2; k++)
        if (events[k] != MR_NONE && mr_encoding_in_cone(encoding, events[k]))
            mr_encoding_node(encoding, events[k]);
}

/* False: no memory. */
static bool make_lock_nodes(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    section_list list;
    if (!list_sections(encoding, &list))
        return false;
    for (uint32_t first = 0, end = 0; first < list.count; first = end) {
        uint32_t lock = w->sections[list.items[first]].lock;
        while (end < list.count && w->sections[list.items[end]].lock == lock)
            end++;
        bool contended = is_contended(w, list.items + first, end - first);
        for (uint32_t i = first; contended && i < end; i++)
            make_section_nodes(encoding, &w->sections[list.items[i]]);
    }
    return true;
}

/* What the accesses of C to a variable have shown so far: a constrained read; that its reads need
 * other threads kept away or brought in. */
enum { READ = 1, OTHERS_NEEDED = 2 };

/* Does the read see what it must if no other thread writes? */
static bool sees_own(const mr_window *w, uint32_t read)
{
    uint32_t own = w->previous_write[read], value = mr_window_read_value(w, read);
    const mr_window_variable *variable = &w->variables[w->object[read]];
    if (variable->by_source)
        return own == w->source[read];
    return own == MR_NONE ? value && variable->carried_value == value
                          : mr_window_written_value(w, own) == value;
}

static void look_at_access(const mr_encoding *encoding, uint32_t event, uint8_t *kind,
                           uint32_t *owner)
{
    const mr_window *w = encoding->window;
    uint32_t variable = w->object[event];
    bool reads = mr_is_constrained_read(encoding, event);
    if (!w->variables[variable].shared || (!reads && !mr_op_writes(mr_window_op(w, event))))
        return;
    if (owner[variable] != MR_NONE && owner[variable] != w->thread[event])
        kind[variable] |= OTHERS_NEEDED;
    owner[variable] = w->thread[event];
    if (reads)
        kind[variable] |= sees_own(w, event) ? READ : READ | OTHERS_NEEDED;
}

/* Chooses the variables whose reads are looked at; `owner` is scratch, one a variable. */
static void make_access_nodes(mr_encoding *encoding, uint32_t *owner)
{
    const mr_window *w = encoding->window;
    uint8_t *kind = encoding->lazy->watched;
    memset(owner, 0xff, w->variable_count * sizeof *owner);
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t k = encoding->from[t]; k < encoding->to[t]; k++)
            if (mr_op_is_access(mr_window_op(w, mr_window_at(w, t, k))))
                look_at_access(encoding, mr_window_at(w, t, k), kind, owner);
    for (uint32_t v = 0; v < w->variable_count; v++)
        kind[v] = (kind[v] & READ) && (kind[v] & OTHERS_NEEDED);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t k = encoding->from[t]; k < encoding->to[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            uint8_t op = mr_window_op(w, event);
            if (mr_op_is_access(op) && kind[w->object[event]] &&
                (mr_op_writes(op) || mr_is_constrained_read(encoding, event)))
                mr_encoding_node(encoding, event);
        }
    }
}

bool mr_lazy_prepare(mr_encoding *encoding, uint32_t stage)
{
    const mr_window *w = encoding->window;
    mr_arena *arena = encoding->arena;
    mr_lazy *lazy = encoding->lazy = mr_arena_zalloc(arena, 1, sizeof *lazy);
    if (!lazy)
        return false;
    lazy->stage = stage;
    lazy->watched = mr_arena_zalloc(arena, w->variable_count, 1);
    lazy->holders = mr_arena_alloc(arena, w->lock_count, sizeof *lazy->holders);
    lazy->co_holder = mr_arena_alloc(arena, w->section_count, sizeof *lazy->co_holder);
    lazy->latest = mr_arena_alloc(arena, w->variable_count, sizeof *lazy->latest);
    lazy->tried = mr_arena_alloc(arena, w->thread_count, sizeof *lazy->tried);
    if (!lazy->watched || !lazy->holders || !lazy->co_holder || !lazy->latest || !lazy->tried ||
        !make_lock_nodes(encoding))
        return false;
    make_access_nodes(encoding, lazy->latest);
    return true;
}

void mr_lazy_free(mr_lazy *lazy)
{
    if (!lazy)
        return;
    free(lazy->reads);
    free(lazy->offers);
}

/* ---- choices ---- */

/* A source that the read may see, told one after the other. */
typedef struct sources {
    const mr_encoding *encoding;
    uint32_t read, saw;
    uint32_t first, low, high, end; /* writes_by_value: [first, low) and [high, end) are to come */
    /* 0: nothing, 1: what it saw, 2: the carried value as well, or what is outside the region */
    int told;
} sources;

static sources begin_sources(const mr_encoding *encoding, uint32_t read)
{
    const mr_window *w = encoding->window;
    sources s = {.encoding = encoding, .read = read, .saw = w->source[read]};
    mr_read_same_value_writes(w, read, &s.first, &s.end);
    s.low = s.first;
    for (uint32_t high = s.end; s.low < high;) { /* those before the read in the trace */
        uint32_t middle = s.low + (high - s.low) / 2;
        if (w->writes_by_value[middle] < read)
            s.low = middle + 1;
        else
            high = middle;
    }
    s.high = s.low;
    return s;
}

/* May the read see the write, as far as precedence HARD and C say? */
static bool may_see(const mr_encoding *encoding, uint32_t read, uint32_t write)
{
    return mr_encoding_in_cone(encoding, write) &&
           mr_read_may_see(encoding->window, encoding->hard, read, write);
}

static bool may_see_outside(const sources *s)
{
    const mr_encoding *encoding = s->encoding;
    const mr_window *w = encoding->window;
    bool seen = mr_read_may_see_carried(w, encoding->hard, s->read);
    uint32_t first, end;
    mr_read_same_value_writes(w, s->read, &first, &end);
    for (uint32_t k = first; k < end && !seen; k++) {
        encoding->lazy->effort++;
        seen = !mr_encoding_in_region(encoding, w->writes_by_value[k]) &&
               may_see(encoding, s->read, w->writes_by_value[k]);
    }
    return seen;
}

bool mr_lazy_is_after_outside(const mr_encoding *encoding, uint32_t read, uint32_t write)
{
    const mr_window *w = encoding->window;
    bool after = true;
    uint32_t first, end;
    mr_read_same_value_writes(w, read, &first, &end);
    for (uint32_t k = first; k < end && after; k++) {
        uint32_t source = w->writes_by_value[k];
        encoding->lazy->effort++;
        after = mr_encoding_in_region(encoding, source) ||
                mr_precedes(encoding->forced, source, write) || !may_see(encoding, read, source);
    }
    return after;
}

/* The next source, the most promising first. False: there is none. */
static bool next_source(sources *s, uint32_t *source)
{
    const mr_encoding *encoding = s->encoding;
    const mr_window *w = encoding->window;
    if (s->told == 0) {
        s->told = 1;
        *source = s->saw;
        if (s->saw != MR_NONE && mr_encoding_in_cone(encoding, s->saw) &&
            mr_encoding_in_region(encoding, s->saw))
            return true;
    }
    if (s->told == 1) {
        s->told = 2;
        *source = mr_encoding_has_region(encoding) ? MR_LAZY_OUTSIDE : MR_NONE;
        if (mr_encoding_has_region(encoding) ? may_see_outside(s)
                                             : mr_read_may_see_carried(w, encoding->hard, s->read))
            return true;
    }
    while (s->first < s->low || s->high < s->end) {
        bool earlier =
            s->high == s->end || (s->first < s->low && s->read - w->writes_by_value[s->low - 1] <=
                                                           w->writes_by_value[s->high] - s->read);
        *source = w->writes_by_value[earlier ? --s->low : s->high++];
        encoding->lazy->effort++;
        if (*source != s->saw && mr_encoding_in_region(encoding, *source) &&
            may_see(encoding, s->read, *source))
            return true;
    }
    return false;
}

static bool offer(mr_encoding *encoding, mr_lazy_read *read, uint32_t source)
{
    mr_lazy *lazy = encoding->lazy;
    void *offers = lazy->offers;
    if (!mr_grow(&offers, &lazy->offer_capacity, lazy->offer_count + 1, sizeof *lazy->offers))
        return false;
    lazy->offers = offers;
    lazy->offers[lazy->offer_count] = (mr_lazy_offer){
        .choice = encoding->formula.choice_count++, .source = source, .next = read->newest};
    read->newest = (uint32_t)lazy->offer_count++;
    read->offered++;
    return true;
}

/* The clause "`count` literals of encoding->literals, or one of the next sources, or more", and
 * what the new choices ask for. */
static bool offer_next(mr_encoding *encoding, mr_lazy_read *read, size_t count)
{
    sources s = begin_sources(encoding, read->read);
    uint32_t source, passed = 0, skip = read->offered, before = read->newest;
    bool more = false;
    while (next_source(&s, &source)) {
        if (passed++ < skip)
            continue;
        more = read->stage && passed > skip + read->stage;
        if (more)
            break;
        if (!offer(encoding, read, source))
            return false;
        encoding->literals[count++] = mr_choice(encoding->lazy->offers[read->newest].choice, true);
    }
    read->stage *= 2;
    read->more = more ? encoding->formula.choice_count++ : MR_NONE;
    if (more)
        encoding->literals[count++] = mr_choice(read->more, true);
    MR_ASSERT(count <= (size_t)encoding->window->size + 2); /* the room in `literals` */
    mr_formula_clause(&encoding->formula, encoding->literals, count);
    for (uint32_t i = read->newest; i != before && !mr_formula_stopped(&encoding->formula);
         i = encoding->lazy->offers[i].next)
        if (encoding->lazy->offers[i].source != MR_LAZY_OUTSIDE)
            mr_encode_choice(encoding, encoding->lazy->offers[i].choice, read->read,
                             encoding->lazy->offers[i].source);
    return true;
}

bool mr_lazy_extend(mr_encoding *encoding, uint32_t read)
{
    MR_REQUIRE(read < encoding->lazy->read_count);
    mr_lazy_read *extended = &encoding->lazy->reads[read];
    MR_REQUIRE(extended->more != MR_NONE);
    encoding->literals[0] = mr_choice(extended->more, false);
    return offer_next(encoding, extended, 1);
}

bool mr_lazy_choose(mr_encoding *encoding, uint32_t read)
{
    mr_lazy *lazy = encoding->lazy;
    void *reads = lazy->reads;
    if (!mr_grow(&reads, &lazy->read_capacity, lazy->read_count + 1, sizeof *lazy->reads))
        return false;
    lazy->reads = reads;
    lazy->reads[lazy->read_count] =
        (mr_lazy_read){.read = read, .more = MR_NONE, .stage = lazy->stage, .newest = MR_NONE};
    lazy->read_of[mr_encoding_find(encoding, read) - 1] = (uint32_t)lazy->read_count + 1;
    mr_clause guard = {0};
    mr_clause_unless_consistent(encoding, &guard, read);
    memcpy(encoding->literals, guard.literals, guard.count * sizeof *guard.literals);
    return offer_next(encoding, &lazy->reads[lazy->read_count++], guard.count);
}
