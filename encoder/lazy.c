#include "lazy.h"

#include "base/assert.h"
#include "branches.h"
#include "locks.h"
#include "reads.h"
#include "windows/read_choices.h"

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

static bool is_constrained_read(const mr_encoding *encoding, uint32_t event)
{
    return mr_op_reads(mr_window_op(encoding->window, event)) &&
           mr_read_is_constrained(encoding, event);
}

/* ---- nodes ---- */

/* A lock is of interest when two threads have sections in C, one of them exclusive. */
static bool is_contended(const mr_encoding *encoding, const mr_window_lock *lock)
{
    const mr_window *w = encoding->window;
    uint32_t thread = MR_NONE;
    bool exclusive = false, several = false;
    for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
        const mr_section *section = &w->sections[i];
        if (section->acquire != MR_NONE && !mr_encoding_in_cone(encoding, section->acquire))
            continue;
        several |= thread != MR_NONE && thread != section->thread;
        thread = section->thread;
        exclusive |= !section->shared;
        if (several && exclusive)
            return true;
    }
    return false;
}

static void make_lock_nodes(mr_encoding *encoding)
{
    const mr_window *w = encoding->window;
    for (uint32_t l = 0; l < w->lock_count; l++) {
        const mr_window_lock *lock = &w->locks[l];
        if (!lock->contended || !is_contended(encoding, lock))
            continue;
        for (uint32_t i = lock->sections_first; i < lock->sections_end; i++) {
            const uint32_t events[] = {w->sections[i].acquire, w->sections[i].release};
            for (int k = 0; k < 2; k++)
                if (events[k] != MR_NONE && mr_encoding_in_cone(encoding, events[k]))
                    mr_encoding_node(encoding, events[k]);
        }
    }
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
    bool reads = is_constrained_read(encoding, event);
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
        for (uint32_t k = 0; k < encoding->cone[t]; k++)
            if (mr_op_is_access(mr_window_op(w, mr_window_at(w, t, k))))
                look_at_access(encoding, mr_window_at(w, t, k), kind, owner);
    for (uint32_t v = 0; v < w->variable_count; v++)
        kind[v] = (kind[v] & READ) && (kind[v] & OTHERS_NEEDED);
    for (uint32_t t = 0; t < w->thread_count; t++) {
        for (uint32_t k = 0; k < encoding->cone[t]; k++) {
            uint32_t event = mr_window_at(w, t, k);
            uint8_t op = mr_window_op(w, event);
            if (mr_op_is_access(op) && kind[w->object[event]] &&
                (mr_op_writes(op) || is_constrained_read(encoding, event)))
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
    lazy->read_of = mr_arena_zalloc(arena, w->size, sizeof *lazy->read_of);
    lazy->watched = mr_arena_zalloc(arena, w->variable_count, 1);
    lazy->holders = mr_arena_alloc(arena, w->lock_count, sizeof *lazy->holders);
    lazy->co_holder = mr_arena_alloc(arena, w->section_count, sizeof *lazy->co_holder);
    lazy->innermost = mr_arena_alloc(arena, w->thread_count, sizeof *lazy->innermost);
    lazy->outer = mr_arena_alloc(arena, w->section_count, sizeof *lazy->outer);
    lazy->latest = mr_arena_alloc(arena, w->variable_count, sizeof *lazy->latest);
    lazy->tried = mr_arena_alloc(arena, w->thread_count, sizeof *lazy->tried);
    if (!lazy->read_of || !lazy->watched || !lazy->holders || !lazy->co_holder ||
        !lazy->innermost || !lazy->outer || !lazy->latest || !lazy->tried)
        return false;
    make_lock_nodes(encoding);
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
    int told;                       /* 0: nothing, 1: what it saw, 2: the carried value as well */
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

/* The next source, the most promising first. False: there is none. */
static bool next_source(sources *s, uint32_t *source)
{
    const mr_encoding *encoding = s->encoding;
    const mr_window *w = encoding->window;
    if (s->told == 0) {
        s->told = 1;
        *source = s->saw;
        if (s->saw != MR_NONE && mr_encoding_in_cone(encoding, s->saw))
            return true;
    }
    if (s->told == 1) {
        s->told = 2;
        *source = MR_NONE;
        if (mr_read_may_see_carried(w, encoding->hard, s->read))
            return true;
    }
    while (s->first < s->low || s->high < s->end) {
        bool earlier =
            s->high == s->end || (s->first < s->low && s->read - w->writes_by_value[s->low - 1] <=
                                                           w->writes_by_value[s->high] - s->read);
        *source = w->writes_by_value[earlier ? --s->low : s->high++];
        encoding->lazy->effort++;
        if (*source != s->saw && mr_encoding_in_cone(encoding, *source) &&
            mr_read_may_see(w, encoding->hard, s->read, *source))
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

/* The first choices of a read. */
static bool make_choices(mr_encoding *encoding, uint32_t read)
{
    mr_lazy *lazy = encoding->lazy;
    void *reads = lazy->reads;
    if (!mr_grow(&reads, &lazy->read_capacity, lazy->read_count + 1, sizeof *lazy->reads))
        return false;
    lazy->reads = reads;
    lazy->reads[lazy->read_count] =
        (mr_lazy_read){.read = read, .more = MR_NONE, .stage = lazy->stage, .newest = MR_NONE};
    lazy->read_of[read] = (uint32_t)lazy->read_count + 1;
    mr_clause guard = {0};
    mr_clause_unless_consistent(encoding, &guard, read);
    memcpy(encoding->literals, guard.literals, guard.count * sizeof *guard.literals);
    return offer_next(encoding, &lazy->reads[lazy->read_count++], guard.count);
}

/* ---- the walk along an order ---- */

typedef struct walk {
    mr_encoding *encoding;
    mr_lazy *lazy;
    const mr_window *window;
    const int64_t *order;
    const uint8_t *choices;
    uint32_t length;       /* how many nodes are before CUT */
    uint32_t choice_count; /* those that `choices` knows */
    size_t clauses;        /* of the formula when the walk began */
    bool complete;         /* memory did not run out */
} walk;

typedef struct placed {
    int64_t position;
    uint32_t event, node;
} placed;

static int compare(const void *one, const void *two)
{
    const placed *x = one, *y = two;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Fills lazy->line with the nodes before CUT, when the positions are 0 … node_count-1. */
static bool line_up_dense(walk *k)
{
    uint32_t count = k->encoding->formula.node_count, *at = k->lazy->line + count;
    int64_t cut = k->order[k->encoding->cut];
    memset(at, 0xff, count * sizeof *at);
    for (uint32_t node = 0; node < count; node++) {
        int64_t position = k->order[node];
        if (position < 0 || position >= count || at[position] != MR_NONE)
            return false;
        at[position] = node;
    }
    MR_ASSERT(cut >= 0 && cut < count);
    k->length = (uint32_t)cut;
    memcpy(k->lazy->line, at, k->length * sizeof *at);
    return true;
}

static bool line_up(walk *k)
{
    uint32_t count = k->encoding->formula.node_count;
    k->lazy->effort += count;
    if (line_up_dense(k))
        return true;
    placed *all = mr_calloc(count, sizeof *all);
    if (!all)
        return false;
    k->length = 0;
    for (uint32_t node = 0; node < count; node++)
        if (k->order[node] < k->order[k->encoding->cut])
            all[k->length++] = (placed){
                .position = k->order[node], .event = k->encoding->event_of[node], .node = node};
    qsort(all, k->length, sizeof *all, compare);
    for (uint32_t i = 0; i < k->length; i++)
        k->lazy->line[i] = all[i].node;
    free(all);
    return true;
}

/* Opens a section of the walk: of its lock, and of its thread. */
static void open_section(walk *k, uint32_t section)
{
    mr_lazy *lazy = k->lazy;
    const mr_section *s = &k->window->sections[section];
    lazy->co_holder[section] = lazy->holders[s->lock];
    lazy->holders[s->lock] = section;
    lazy->outer[section] = lazy->innermost[s->thread];
    lazy->innermost[s->thread] = section;
}

/* Takes a section out of a list. False: it is not in it. */
static bool unlink_section(uint32_t *at, uint32_t *next, uint32_t section)
{
    while (*at != MR_NONE && *at != section)
        at = &next[*at];
    if (*at == MR_NONE)
        return false;
    *at = next[section];
    return true;
}

/* Locks and variables as they are when the window starts. */
static void reset(walk *k)
{
    const mr_window *w = k->window;
    mr_lazy *lazy = k->lazy;
    memset(lazy->holders, 0xff, w->lock_count * sizeof *lazy->holders);
    memset(lazy->innermost, 0xff, w->thread_count * sizeof *lazy->innermost);
    memset(lazy->latest, 0xff, w->variable_count * sizeof *lazy->latest);
    for (uint32_t l = 0; l < w->lock_count; l++)
        for (uint32_t i = w->locks[l].sections_first; i < w->locks[l].carried_end; i++)
            open_section(k, i);
}

/* Is a section inside another one of its thread, as the header says? */
static bool is_inside(const mr_section *inner, const mr_section *outer)
{
    bool enters =
        outer->acquire == MR_NONE || (inner->acquire != MR_NONE && outer->acquire < inner->acquire);
    return enters && (outer->release == MR_NONE || inner->release < outer->release);
}

/* Are two open sections, which exclude each other, inside two of another lock that do, too? */
static bool are_nested(walk *k, const mr_section *one, const mr_section *other)
{
    const mr_section *sections = k->window->sections;
    mr_lazy *lazy = k->lazy;
    for (uint32_t o = lazy->innermost[one->thread]; o != MR_NONE; o = lazy->outer[o]) {
        const mr_section *outer = &sections[o];
        lazy->effort++;
        if (outer == one || outer->lock == one->lock || !is_inside(one, outer))
            continue;
        for (uint32_t h = lazy->holders[outer->lock]; h != MR_NONE; h = lazy->co_holder[h])
            if (sections[h].thread == other->thread && mr_sections_exclude(&sections[h], outer) &&
                is_inside(other, &sections[h]))
                return true;
    }
    return false;
}

static void enter(walk *k, uint32_t section)
{
    const mr_window *w = k->window;
    mr_lazy *lazy = k->lazy;
    uint32_t *holders = &lazy->holders[w->sections[section].lock], count = 0;
    for (uint32_t i = *holders; i != MR_NONE && count < CLAUSES_PER_ACQUIRE;
         i = lazy->co_holder[i]) {
        lazy->effort++;
        if (!mr_sections_exclude(&w->sections[i], &w->sections[section]) ||
            (clauses(k->encoding) > k->clauses &&
             are_nested(k, &w->sections[section], &w->sections[i])))
            continue;
        mr_encode_exclusion(k->encoding, i, section);
        count++;
    }
    open_section(k, section);
}

static void leave(walk *k, uint32_t section)
{
    mr_lazy *lazy = k->lazy;
    const mr_section *s = &k->window->sections[section];
    /* When the acquire is no node, the lock is of no interest. */
    if (unlink_section(&lazy->holders[s->lock], lazy->co_holder, section))
        unlink_section(&lazy->innermost[s->thread], lazy->outer, section);
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
    return k->encoding->node_of[event] - 1;
}

static uint32_t event_of(const walk *k, uint32_t node)
{
    return k->encoding->event_of[node];
}

static void write_to(walk *k, uint32_t write)
{
    mr_lazy *lazy = k->lazy;
    uint32_t *latest = &lazy->latest[k->window->object[write]], node = node_of(k, write);
    MR_ASSERT_COSTLY(*latest == MR_NONE || k->order[*latest] <= k->order[node]);
    lazy->gives[node] = is_clean(k, write) ? mr_window_written_value(k->window, write) : MR_NONE;
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
 * Keeps away the writes that stand between the read and its source (MR_NONE: none) in the order;
 * `value`: what they may give all the same, MR_NONE: nothing.
 */
static void refute_source(walk *k, uint32_t choice, uint32_t read, uint32_t source, uint32_t value)
{
    mr_lazy *lazy = k->lazy;
    const mr_window *w = k->window;
    int64_t begin = source == MR_NONE ? INT64_MIN : k->order[node_of(k, source)];
    uint32_t source_node = source == MR_NONE ? MR_NONE : node_of(k, source), count = 0;
    bool first = true;
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
        if (lazy->tried[w->thread[write]] == CLAUSES_PER_THREAD)
            continue;
        size_t before = clauses(k->encoding);
        mr_encode_interference(k->encoding, choice, read, source, write);
        bool made = clauses(k->encoding) > before;
        lazy->tried[w->thread[write]] += made;
        count += made;
    }
}

/* A read by value without choices: is the last write one that it may see? */
static bool sees_value(const walk *k, uint32_t read)
{
    const mr_window *w = k->window;
    uint32_t latest = k->lazy->latest[w->object[read]], value = mr_window_read_value(w, read);
    if (latest == MR_NONE)
        return value && w->variables[w->object[read]].carried_value == value;
    return k->lazy->gives[latest] == value || gives_own(k, read, event_of(k, latest));
}

static void refute_value(walk *k, uint32_t read)
{
    mr_lazy *lazy = k->lazy;
    uint32_t index = lazy->read_of[read];
    if (!index) {
        if (!sees_value(k, read))
            k->complete &= make_choices(k->encoding, read);
        return;
    }
    mr_lazy_read *choices = &lazy->reads[index - 1];
    if (choices->more != MR_NONE && is_true(k, choices->more))
        k->complete &= mr_lazy_extend(k->encoding, index - 1);
    for (uint32_t i = choices->newest; i != MR_NONE; i = lazy->offers[i].next)
        if (is_true(k, lazy->offers[i].choice))
            refute_source(k, lazy->offers[i].choice, read, lazy->offers[i].source,
                          mr_window_read_value(k->window, read));
}

static void read_from(walk *k, uint32_t read)
{
    const mr_window *w = k->window;
    const mr_encoding *encoding = k->encoding;
    uint32_t source = w->source[read];
    if (w->model == MR_MODEL_BRANCH && !is_clean(k, read))
        return; /* it need not be consistent */
    if (!w->variables[w->object[read]].by_source)
        refute_value(k, read);
    else if (source == MR_NONE || mr_encoding_in_cone(encoding, source))
        refute_source(k, MR_NONE, read, source, MR_NONE);
}

static void visit_access(walk *k, uint32_t event)
{
    const mr_window *w = k->window;
    if (!k->lazy->watched[w->object[event]])
        return;
    if (is_constrained_read(k->encoding, event))
        read_from(k, event);
    if (mr_op_writes(mr_window_op(w, event)))
        write_to(k, event);
}

static bool in_contended_section(const mr_window *w, uint32_t event)
{
    const mr_section *section = mr_window_section(w, event);
    return section && w->locks[section->lock].contended;
}

static void visit(walk *k, uint32_t event)
{
    const mr_window *w = k->window;
    switch ((mr_op)mr_window_op(w, event)) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        visit_access(k, event);
        break;
    case MR_OP_ACQUIRE:
    case MR_OP_SHARED_ACQUIRE:
        if (in_contended_section(w, event))
            enter(k, w->object[event]);
        break;
    case MR_OP_RELEASE:
    case MR_OP_SHARED_RELEASE:
        if (in_contended_section(w, event))
            leave(k, w->object[event]);
        break;
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
        break; /* their clauses are in the formula from the start */
    }
}

/* The arrays for the nodes, when it is known how many there are. */
static bool ready(mr_encoding *encoding)
{
    mr_lazy *lazy = encoding->lazy;
    uint32_t count = encoding->formula.node_count;
    if (lazy->line)
        return true;
    lazy->earlier = mr_arena_alloc(encoding->arena, count, sizeof *lazy->earlier);
    lazy->unlike = mr_arena_alloc(encoding->arena, count, sizeof *lazy->unlike);
    lazy->gives = mr_arena_alloc(encoding->arena, count, sizeof *lazy->gives);
    lazy->line = mr_arena_alloc(encoding->arena, 2 * (size_t)count, sizeof *lazy->line);
    return lazy->earlier && lazy->unlike && lazy->gives && lazy->line;
}

bool mr_lazy_refute(mr_encoding *encoding, const int64_t *order, const uint8_t *choices,
                    uint32_t *added)
{
    walk k = {.encoding = encoding,
              .lazy = encoding->lazy,
              .window = encoding->window,
              .order = order,
              .choices = choices,
              .choice_count = encoding->formula.choice_count,
              .clauses = clauses(encoding),
              .complete = true};
    uint32_t nodes = encoding->formula.node_count;
    *added = 0;
    if (!ready(encoding) || !line_up(&k))
        return false;
    reset(&k);
    for (uint32_t i = 0; i < k.length && k.complete && !mr_formula_stopped(&encoding->formula); i++)
        visit(&k, event_of(&k, k.lazy->line[i]));
    MR_ASSERT(encoding->formula.node_count == nodes);
    *added = (uint32_t)(clauses(encoding) - k.clauses);
    return k.complete;
}
