#include "lazy.h"

#include "base/assert.h"
#include "base/memory.h"
#include "branches.h"
#include "locks.h"
#include "reads.h"

#include <stdlib.h>
#include <string.h>

/* Clauses that one order adds about a read and a thread whose writes come between, about a read and
 * all threads, and about an acquire and the sections that are open. */
enum { CLAUSES_PER_THREAD = 2, CLAUSES_PER_READ = 32, CLAUSES_PER_ACQUIRE = 8 };

static size_t clauses(const mr_encoding *encoding)
{
    const mr_formula *f = &encoding->formula;
    return f->clause_count + f->edge_count + f->contradiction;
}

typedef struct walk {
    mr_encoding *encoding;
    mr_lazy *lazy;
    const mr_window *window;
    const int64_t *order;
    const uint8_t *choices;
    uint32_t choice_count; /* those that `choices` knows */
    size_t clauses;        /* of the formula when the look began */
    bool passed_over;      /* some overlap of the object at hand, as it is nested in another one */
    bool complete;         /* memory did not run out */
} walk;

static void open_section(walk *k, uint32_t section)
{
    mr_lazy *lazy = k->lazy;
    const mr_section *s = &k->window->sections[section];
    lazy->co_holder[section] = lazy->holders[s->lock];
    lazy->holders[s->lock] = section;
}

/* Is a section inside another one of its thread, as the header says? */
static bool is_inside(const mr_section *inner, const mr_section *outer)
{
    bool enters =
        outer->acquire == MR_NONE || (inner->acquire != MR_NONE && outer->acquire < inner->acquire);
    return enters && (outer->release == MR_NONE || inner->release < outer->release);
}

/* How many sections around one are looked at. What is left out costs a clause that is not needed. */
enum { MOST_OUTER = 1024 };

/* Are two open sections, which exclude each other, inside two of another lock that do, too? */
static bool are_nested(walk *k, uint32_t one, uint32_t other)
{
    const mr_section *sections = k->window->sections;
    mr_lazy *lazy = k->lazy;
    bool nested = false;
    uint32_t first = lazy->outer[other], steps = 0;
    for (uint32_t o = first; o != MR_NONE && steps++ < MOST_OUTER; o = lazy->outer[o])
        if (is_inside(&sections[other], &sections[o]))
            lazy->around[sections[o].lock] = o;
    lazy->effort += steps;
    steps = 0;
    for (uint32_t o = lazy->outer[one]; o != MR_NONE && !nested && steps++ < MOST_OUTER;
         o = lazy->outer[o]) {
        uint32_t around = lazy->around[sections[o].lock];
        nested = around != MR_NONE && sections[o].lock != sections[one].lock &&
                 is_inside(&sections[one], &sections[o]) &&
                 mr_sections_exclude(&sections[around], &sections[o]);
    }
    lazy->effort += steps;
    steps = 0;
    for (uint32_t o = first; o != MR_NONE && steps++ < MOST_OUTER; o = lazy->outer[o])
        lazy->around[sections[o].lock] = MR_NONE;
    return nested;
}

static void enter(walk *k, uint32_t section)
{
    const mr_window *w = k->window;
    mr_lazy *lazy = k->lazy;
    uint32_t *holders = &lazy->holders[w->sections[section].lock], count = 0;
    for (uint32_t i = *holders; i != MR_NONE && count < CLAUSES_PER_ACQUIRE;
         i = lazy->co_holder[i]) {
        lazy->effort++;
        if (!mr_sections_exclude(&w->sections[i], &w->sections[section]))
            continue;
        if (clauses(k->encoding) > k->clauses && are_nested(k, section, i)) {
            k->passed_over = true;
            continue;
        }
        mr_encode_exclusion(k->encoding, i, section);
        count++;
    }
    open_section(k, section);
}

static void leave(walk *k, uint32_t section)
{
    mr_lazy *lazy = k->lazy;
    uint32_t *at = &lazy->holders[k->window->sections[section].lock];
    while (*at != MR_NONE && *at != section)
        at = &lazy->co_holder[*at];
    if (*at != MR_NONE) /* else its acquire is no node, and the lock is of no interest */
        *at = lazy->co_holder[section];
}

static bool is_true(const walk *k, uint32_t choice)
{
    return choice < k->choice_count && k->choices[choice] == 1;
}

/* Does the solution say that the write is clean? */
static bool is_clean(const walk *k, uint32_t write)
{
    const mr_encoding *encoding = k->encoding;
    mr_clause clause = {0};
    if (mr_is_certainly_clean(encoding, write))
        return true;
    mr_clause_clean(k->encoding, &clause, write);
    return clause.count && is_true(k, clause.literals[0].u);
}

static uint32_t node_of(const walk *k, uint32_t event)
{
    return mr_encoding_find(k->encoding, event) - 1;
}

static uint32_t event_of(const walk *k, uint32_t node)
{
    return k->encoding->event_of[node];
}

static void write_to(walk *k, uint32_t node)
{
    mr_lazy *lazy = k->lazy;
    const mr_lazy_node *n = &lazy->nodes[node];
    uint32_t *latest = &lazy->latest[n->object - k->window->lock_count];
    MR_ASSERT_COSTLY(*latest == MR_NONE || k->order[*latest] <= k->order[node]);
    lazy->gives[node] =
        k->window->model != MR_MODEL_BRANCH || is_clean(k, event_of(k, node)) ? n->puts : MR_NONE;
    lazy->earlier[node] = *latest;
    lazy->unlike[node] = *latest;
    if (*latest != MR_NONE && lazy->gives[*latest] == lazy->gives[node])
        lazy->unlike[node] = lazy->unlike[*latest];
    *latest = node;
}

/* Is a write of the read's value by its own thread, which is as clean as the read is. */
static bool gives_own(const walk *k, uint32_t read, uint32_t write)
{
    const mr_window *w = k->window;
    return w->thread[write] == w->thread[read] &&
           mr_window_written_value(w, write) == mr_window_read_value(w, read);
}

/*
 * Keeps away the writes that stand between the read and its source (MR_NONE: none; MR_LAZY_OUTSIDE:
 * the writes that are certainly after all sources outside the region) in the order;
 * `value`: what they may give all the same, MR_NONE: nothing.
 */
static void refute_source(walk *k, uint32_t choice, uint32_t read, uint32_t source, uint32_t value)
{
    mr_lazy *lazy = k->lazy;
    const mr_window *w = k->window;
    bool outside = source == MR_LAZY_OUTSIDE, first = true;
    source = outside ? MR_NONE : source;
    int64_t begin = source == MR_NONE ? INT64_MIN : k->order[node_of(k, source)];
    uint32_t source_node = source == MR_NONE ? MR_NONE : node_of(k, source), count = 0;
    for (uint32_t node = lazy->latest[w->object[read]]; node != MR_NONE && node != source_node &&
                                                        k->order[node] >= begin &&
                                                        count < CLAUSES_PER_READ;) {
        uint32_t write = event_of(k, node);
        lazy->effort++;
        if (value != MR_NONE && lazy->gives[node] == value) {
            node = lazy->unlike[node];
            continue;
        }
        node = lazy->earlier[node];
        if (write == read || (value != MR_NONE && gives_own(k, read, write)))
            continue;
        if (first)
            memset(lazy->tried, 0, w->thread_count * sizeof *lazy->tried);
        first = false;
        if (lazy->tried[w->thread[write]] == CLAUSES_PER_THREAD ||
            (outside && !mr_lazy_is_after_outside(k->encoding, read, write)))
            continue;
        size_t before = clauses(k->encoding);
        mr_encode_interference(k->encoding, choice, read, source, write);
        bool made = clauses(k->encoding) > before;
        lazy->tried[w->thread[write]] += made;
        count += made;
    }
}

/* A read by value without choices: is the last write one that it may see? */
static bool sees_value(const walk *k, uint32_t node)
{
    const mr_window *w = k->window;
    const mr_lazy_node *n = &k->lazy->nodes[node];
    uint32_t variable = n->object - w->lock_count, latest = k->lazy->latest[variable];
    if (latest == MR_NONE && mr_encoding_has_region(k->encoding))
        return true; /* something outside the region, perhaps */
    if (latest == MR_NONE)
        return n->sees && w->variables[variable].carried_value == n->sees;
    return k->lazy->gives[latest] == n->sees ||
           gives_own(k, event_of(k, node), event_of(k, latest));
}

static void refute_value(walk *k, uint32_t node)
{
    mr_lazy *lazy = k->lazy;
    uint32_t index = lazy->read_of[node], read = event_of(k, node);
    if (!index) {
        if (!sees_value(k, node))
            k->complete &= mr_lazy_choose(k->encoding, read);
        return;
    }
    mr_lazy_read *choices = &lazy->reads[index - 1];
    if (choices->more != MR_NONE && is_true(k, choices->more))
        k->complete &= mr_lazy_extend(k->encoding, index - 1);
    for (uint32_t i = choices->newest; i != MR_NONE; i = lazy->offers[i].next)
        if (is_true(k, lazy->offers[i].choice))
            refute_source(k, lazy->offers[i].choice, read, lazy->offers[i].source,
                          lazy->nodes[node].sees);
}

static void read_from(walk *k, uint32_t node)
{
    const mr_window *w = k->window;
    const mr_encoding *encoding = k->encoding;
    const mr_lazy_node *n = &k->lazy->nodes[node];
    uint32_t variable = n->object - w->lock_count;
    if (w->model == MR_MODEL_BRANCH && !is_clean(k, event_of(k, node)))
        return; /* it need not be consistent */
    if (!w->variables[variable].by_source) {
        refute_value(k, node);
    } else if (k->lazy->latest[variable] != n->sees) { /* else nothing is between them */
        uint32_t read = event_of(k, node), source = w->source[read];
        if (source == MR_NONE || mr_encoding_in_cone(encoding, source))
            refute_source(k, MR_NONE, read, source, MR_NONE);
    }
}

static void visit(walk *k, uint32_t node)
{
    const mr_lazy_node *n = &k->lazy->nodes[node];
    if (n->reads)
        read_from(k, node);
    if (n->writes)
        write_to(k, node);
    if (n->object < k->window->lock_count) {
        uint32_t section = k->window->object[event_of(k, node)];
        if (n->enters)
            enter(k, section);
        else
            leave(k, section);
    }
}

/* ---- objects ---- */

/* The lock or watched variable that the event is about; MR_NONE: neither, and its clauses are in the
 * formula from the start. */
static uint32_t object_of(const mr_encoding *encoding, uint32_t event)
{
    const mr_window *w = encoding->window;
    if (mr_op_is_access(mr_window_op(w, event))) {
        if (!mr_encoding_in_region(encoding, event))
            return MR_NONE;
        uint32_t variable = w->object[event];
        return encoding->lazy->watched[variable] ? w->lock_count + variable : MR_NONE;
    }
    const mr_section *section = mr_window_section(w, event);
    bool is_looked_at =
        section && w->locks[section->lock].contended && mr_section_takes_part(encoding, section);
    return is_looked_at ? section->lock : MR_NONE;
}

static uint32_t object_count(const mr_window *w)
{
    return w->lock_count + w->variable_count;
}

static bool allocate(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    mr_arena *arena = encoding->arena;
    mr_lazy *lazy = encoding->lazy;
    uint32_t count = encoding->formula.node_count, objects = object_count(w);
    lazy->nodes = mr_arena_alloc(arena, count, sizeof *lazy->nodes);
    lazy->read_of = mr_arena_zalloc(arena, count, sizeof *lazy->read_of);
    lazy->earlier = mr_arena_alloc(arena, count, sizeof *lazy->earlier);
    lazy->unlike = mr_arena_alloc(arena, count, sizeof *lazy->unlike);
    lazy->gives = mr_arena_alloc(arena, count, sizeof *lazy->gives);
    lazy->line = mr_arena_alloc(arena, 2 * (size_t)count, sizeof *lazy->line);
    lazy->object_first = mr_arena_zalloc(arena, (size_t)objects + 2, sizeof(uint32_t));
    lazy->object_nodes = mr_arena_alloc(arena, count, sizeof *lazy->object_nodes);
    lazy->touched = mr_arena_zalloc(arena, objects, sizeof *lazy->touched);
    lazy->to_look_at = mr_arena_alloc(arena, objects, sizeof *lazy->to_look_at);
    lazy->outer = mr_arena_alloc(arena, w->section_count, sizeof *lazy->outer);
    lazy->around = mr_arena_alloc(arena, w->lock_count, sizeof *lazy->around);
    lazy->innermost = mr_arena_alloc(arena, w->thread_count, sizeof *lazy->innermost);
    return lazy->nodes && lazy->read_of && lazy->earlier && lazy->unlike && lazy->gives &&
           lazy->object_first && lazy->object_nodes && lazy->touched && lazy->to_look_at &&
           lazy->outer && lazy->around && lazy->innermost && lazy->line;
}

/* What a node does (mr_lazy_node). */
static mr_lazy_node look_up(const mr_encoding *encoding, uint32_t node)
{
    const mr_window *w = encoding->window;
    uint32_t event = encoding->event_of[node];
    uint8_t op = mr_window_op(w, event);
    mr_lazy_node n = {.object = object_of(encoding, event)};
    if (n.object == MR_NONE)
        return n;
    if (n.object < w->lock_count) {
        n.enters = mr_window_section(w, event)->acquire == event;
        return n;
    }
    n.reads = mr_is_constrained_read(encoding, event);
    n.writes = mr_op_writes(op);
    if (n.writes)
        n.puts = mr_window_written_value(w, event);
    if (n.reads && !w->variables[w->object[event]].by_source)
        n.sees = mr_window_read_value(w, event);
    else if (n.reads)
        n.sees = w->source[event] == MR_NONE ? MR_NONE
                                             : mr_encoding_find(encoding, w->source[event]) - 1;
    return n;
}

/* The nodes of objects in trace order; in the scratch of orders. */
static uint32_t find_nodes(const mr_encoding *encoding)
{
    mr_lazy *lazy = encoding->lazy;
    uint32_t total = encoding->formula.node_count, count = 0;
    lazy->nodes[encoding->cut] = (mr_lazy_node){.object = MR_NONE};
    for (uint32_t i = 0; i + 1 < total; i++) {
        uint32_t node = encoding->by_trace[i];
        lazy->nodes[node] = look_up(encoding, node);
        if (lazy->nodes[node].object != MR_NONE)
            lazy->line[count++] = node;
    }
    return count;
}

/* The nodes of each object, in trace order, from `count` of all. */
static void list_nodes(const mr_encoding *encoding, uint32_t count)
{
    mr_lazy *lazy = encoding->lazy;
    uint32_t *first = lazy->object_first;
    for (uint32_t i = 0; i < count; i++)
        first[lazy->nodes[lazy->line[i]].object + 2]++;
    for (uint32_t object = 0; object < object_count(encoding->window); object++)
        first[object + 1] += first[object];
    for (uint32_t i = 0; i < count; i++)
        lazy->object_nodes[first[lazy->nodes[lazy->line[i]].object + 1]++] = lazy->line[i];
}

/* The section becomes the innermost of its thread. One that its thread has left is no more the outer
 * one of another. */
static void nest(const mr_encoding *encoding, uint32_t section, uint32_t now)
{
    const mr_section *sections = encoding->window->sections;
    mr_lazy *lazy = encoding->lazy;
    uint32_t *top = &lazy->innermost[sections[section].thread];
    while (*top != MR_NONE && sections[*top].release < now) /* MR_NONE: it does not leave it */
        *top = lazy->outer[*top];
    lazy->outer[section] = *top;
    *top = section;
}

/* Sections of locks that are looked at, with those around them. */
static void list_outer(const mr_encoding *encoding, uint32_t count)
{
    const mr_window *w = encoding->window;
    mr_lazy *lazy = encoding->lazy;
    memset(lazy->outer, 0xff, w->section_count * sizeof *lazy->outer);
    memset(lazy->around, 0xff, w->lock_count * sizeof *lazy->around);
    memset(lazy->innermost, 0xff, w->thread_count * sizeof *lazy->innermost);
    for (uint32_t l = 0; !mr_encoding_has_region(encoding) && l < w->lock_count; l++)
        for (uint32_t i = w->locks[l].sections_first; i < w->locks[l].carried_end; i++)
            if (mr_section_takes_part(encoding, &w->sections[i]))
                nest(encoding, i, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = encoding->event_of[lazy->line[i]];
        if (lazy->nodes[lazy->line[i]].enters)
            nest(encoding, w->object[event], event);
    }
}

static void touch_object(mr_lazy *lazy, uint32_t object)
{
    if (object == MR_NONE || lazy->touched[object])
        return;
    lazy->touched[object] = 1;
    lazy->to_look_at[lazy->to_look_at_count++] = object;
}

static void touch_all(const mr_encoding *encoding)
{
    mr_lazy *lazy = encoding->lazy;
    for (uint32_t object = 0; object < object_count(encoding->window); object++)
        if (lazy->object_first[object] < lazy->object_first[object + 1])
            touch_object(lazy, object);
}

/* What is needed of the nodes, when it is known how many there are. Everything is to be looked at. */
static bool ready(mr_encoding *encoding)
{
    if (encoding->lazy->line)
        return true;
    if (!allocate(encoding))
        return false;
    uint32_t count = find_nodes(encoding);
    list_nodes(encoding, count);
    list_outer(encoding, count);
    touch_all(encoding);
    return true;
}

void mr_lazy_touch(const mr_encoding *encoding, uint32_t node)
{
    if (encoding->lazy->line)
        touch_object(encoding->lazy, encoding->lazy->nodes[node].object);
}

/* ---- an order of the nodes of an object ---- */

static bool is_before(const walk *k, uint32_t one, uint32_t two)
{
    return k->order[one] < k->order[two] ||
           (k->order[one] == k->order[two] && event_of(k, one) < event_of(k, two));
}

/* Sorts numbers of nodes by insertion when there are few, else by halves; `spare` has room for all. */
static void sort_nodes(const walk *k, uint32_t *nodes, uint32_t count, uint32_t *spare)
{
    enum { FEW = 8 };
    uint32_t half = count / 2;
    if (count <= FEW) {
        for (uint32_t i = 1; i < count; i++) {
            uint32_t node = nodes[i], at = i;
            for (; at && is_before(k, node, nodes[at - 1]); at--)
                nodes[at] = nodes[at - 1];
            nodes[at] = node;
        }
        return;
    }
    sort_nodes(k, nodes, half, spare);
    sort_nodes(k, nodes + half, count - half, spare);
    if (!is_before(k, nodes[half], nodes[half - 1]))
        return; /* few nodes have moved, so most halves stand in order */
    memcpy(spare, nodes, half * sizeof *spare);
    for (uint32_t i = 0, j = half, filled = 0; i < half; filled++)
        nodes[filled] = j < count && is_before(k, nodes[j], spare[i]) ? nodes[j++] : spare[i++];
}

/* Fills lazy->line with the nodes of the object before CUT, in order; returns how many there are.
 * Mostly they stand in trace order. */
static uint32_t line_up(walk *k, uint32_t object)
{
    mr_lazy *lazy = k->lazy;
    uint32_t first = lazy->object_first[object], end = lazy->object_first[object + 1], count = 0;
    int64_t cut = k->order[k->encoding->cut], last = INT64_MIN;
    bool sorted = true;
    lazy->effort += end - first;
    for (uint32_t i = first; i < end; i++) {
        uint32_t node = lazy->object_nodes[i];
        int64_t place = k->order[node];
        if (place >= cut)
            continue;
        sorted = sorted && (place > last || !count || !is_before(k, node, lazy->line[count - 1]));
        last = place;
        lazy->line[count++] = node;
    }
    if (!sorted)
        sort_nodes(k, lazy->line, count, lazy->line + count);
    return count;
}

/* The lock or variable as it is when the window starts. */
static void reset(walk *k, uint32_t object)
{
    const mr_window *w = k->window;
    if (object >= w->lock_count) {
        k->lazy->latest[object - w->lock_count] = MR_NONE;
        return;
    }
    k->lazy->holders[object] = MR_NONE;
    for (uint32_t i = w->locks[object].sections_first; i < w->locks[object].carried_end; i++)
        if (mr_section_takes_part(k->encoding, &w->sections[i]))
            open_section(k, i);
}

/* False: the order violates something about it. */
static bool look_at(walk *k, uint32_t object)
{
    size_t before = clauses(k->encoding);
    uint32_t count = line_up(k, object);
    k->passed_over = false;
    k->lazy->effort += count;
    reset(k, object);
    for (uint32_t i = 0; i < count && k->complete && !mr_formula_stopped(&k->encoding->formula);
         i++)
        visit(k, k->lazy->line[i]);
    return !k->passed_over && clauses(k->encoding) == before;
}

/* ---- all ---- */

/* Is the choice what it was when it was last asked about here? */
static bool is_same(const walk *k, uint32_t choice, bool *held)
{
    bool was = *held;
    *held = choice != MR_NONE && is_true(k, choice);
    return *held == was;
}

/* Touches the variables of reads whose choices have changed. */
static void touch_choices(walk *k)
{
    mr_lazy *lazy = k->lazy;
    if (k->window->model == MR_MODEL_BRANCH)
        touch_all(k->encoding); /* there are choices that are not of a read */
    for (size_t r = 0; r < lazy->read_count; r++) {
        mr_lazy_read *read = &lazy->reads[r];
        bool same = is_same(k, read->more, &read->held);
        for (uint32_t i = read->newest; i != MR_NONE; i = lazy->offers[i].next)
            same &= is_same(k, lazy->offers[i].choice, &lazy->offers[i].held);
        lazy->effort += read->offered;
        if (!same)
            touch_object(lazy, object_of(k->encoding, read->read));
    }
}

static bool refute(mr_encoding *encoding, const int64_t *order, const uint8_t *choices, bool all,
                   uint32_t *added)
{
    mr_lazy *lazy = encoding->lazy;
    walk k = {.encoding = encoding,
              .lazy = lazy,
              .window = encoding->window,
              .order = order,
              .choices = choices,
              .choice_count = encoding->formula.choice_count,
              .clauses = clauses(encoding),
              .complete = true};
    uint32_t nodes = encoding->formula.node_count, kept = 0;
    *added = 0;
    if (!ready(encoding))
        return false;
    touch_choices(&k);
    if (all)
        touch_all(encoding);
    if (lazy->to_look_at_count)
        qsort(lazy->to_look_at, lazy->to_look_at_count, sizeof *lazy->to_look_at, mr_compare_u32);
    for (uint32_t i = 0; i < lazy->to_look_at_count; i++) {
        uint32_t object = lazy->to_look_at[i];
        lazy->touched[object] = !look_at(&k, object);
        if (lazy->touched[object])
            lazy->to_look_at[kept++] = object;
    }
    lazy->to_look_at_count = kept;
    MR_ASSERT(encoding->formula.node_count == nodes);
    *added = (uint32_t)(clauses(encoding) - k.clauses);
    return k.complete;
}

bool mr_lazy_refute(mr_encoding *encoding, const int64_t *order, const uint8_t *choices,
                    uint32_t *added)
{
    return refute(encoding, order, choices, true, added);
}

bool mr_lazy_refute_moved(mr_encoding *encoding, const int64_t *order, const uint8_t *choices,
                          uint32_t *added)
{
    return refute(encoding, order, choices, false, added);
}
