#include "facts.h"

#include <string.h>

enum {
    THREADS = MR_EXHAUSTIVE_THREADS,
    LOCKS = MR_EXHAUSTIVE_LOCKS,
    EVENTS = MR_EXHAUSTIVE_EVENTS,
};

static bool reads(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_READ || trace->op[e] == MR_OP_ATOMIC_READ ||
           trace->op[e] == MR_OP_ATOMIC_UPDATE;
}

static bool writes(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_WRITE || trace->op[e] == MR_OP_ATOMIC_WRITE ||
           trace->op[e] == MR_OP_ATOMIC_UPDATE;
}

static bool is_access_of(const mr_trace *trace, uint32_t e, uint32_t variable)
{
    return (reads(trace, e) || writes(trace, e)) && trace->operand[e] == variable;
}

/* The value that the event, which has one, reads or writes. */
static int64_t value_of(const mr_trace *trace, uint32_t e, bool written)
{
    uint32_t value = trace->value[e];
    if (trace->op[e] == MR_OP_ATOMIC_UPDATE)
        value = written ? trace->updates[value].written_value : trace->updates[value].read_value;
    return trace->values[value];
}

/* ---- what reads must see ---- */

/* Is the variable treated as in rf (docs/semantics.md 2.6)? An access without a value; or a read
 * that saw something else than the last write wrote; or, before any write, than the first such read
 * saw: then too someone wrote unseen. */
static bool by_source(const mr_trace *trace, uint32_t variable)
{
    bool known = false;
    int64_t current = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!is_access_of(trace, e, variable))
            continue;
        if (!trace->value[e])
            return true;
        if (reads(trace, e) && known && value_of(trace, e, false) != current)
            return true;
        known = true;
        current = value_of(trace, e, writes(trace, e));
    }
    return false;
}

/* Classes in rf: a write's own number + 1. */
static void classify_by_source(mr_facts *f, uint32_t variable)
{
    uint8_t last = 0;
    for (uint32_t e = 0; e < f->trace->event_count; e++) {
        if (!is_access_of(f->trace, e, variable))
            continue;
        f->sees[e] = last;
        if (writes(f->trace, e))
            last = f->gives[e] = (uint8_t)(e + 1);
        if (e < f->start)
            f->carried[variable] = last;
    }
}

/* The values of one variable in the order in which they come up. */
typedef struct value_list {
    int64_t items[EVENTS];
    uint32_t count;
} value_list;

/* The number + 1 of the value; 0: too many. */
static uint8_t value_class(value_list *list, int64_t value)
{
    uint32_t i = 0;
    while (i < list->count && list->items[i] != value)
        i++;
    if (i == EVENTS)
        return 0;
    if (i == list->count)
        list->items[list->count++] = value;
    return (uint8_t)(i + 1);
}

static bool classify_by_value(mr_facts *f, uint32_t variable)
{
    const mr_trace *trace = f->trace;
    value_list list = {.count = 0};
    bool first = true;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!is_access_of(trace, e, variable))
            continue;
        if (reads(trace, e) && !(f->sees[e] = value_class(&list, value_of(trace, e, false))))
            return false;
        if (writes(trace, e) && !(f->gives[e] = value_class(&list, value_of(trace, e, true))))
            return false;
        /* The first access, when it reads, tells the initial value. */
        if (first && reads(trace, e))
            f->carried[variable] = f->sees[e];
        first = false;
        if (e < f->start && writes(trace, e))
            f->carried[variable] = f->gives[e];
    }
    return true;
}

/* ---- threads, locks, semaphores ---- */

typedef struct holds {
    uint32_t exclusive[THREADS][LOCKS], shared[THREADS][LOCKS];
} holds;

static uint32_t held_bits(const uint32_t *depth)
{
    uint32_t bits = 0;
    for (uint32_t lock = 0; lock < LOCKS; lock++)
        bits |= depth[lock] ? UINT32_C(1) << lock : 0;
    return bits;
}

static void index_event(mr_facts *f, uint32_t e, holds *now)
{
    uint32_t t = f->trace->thread[e], operand = f->trace->operand[e];
    uint8_t op = f->trace->op[e];
    if (op == MR_OP_ACQUIRE || op == MR_OP_RELEASE)
        now->exclusive[t][operand] += op == MR_OP_ACQUIRE ? 1 : UINT32_MAX;
    if (op == MR_OP_SHARED_ACQUIRE || op == MR_OP_SHARED_RELEASE)
        now->shared[t][operand] += op == MR_OP_SHARED_ACQUIRE ? 1 : UINT32_MAX;
    if (op == MR_OP_FORK)
        f->fork[operand] = e;
    f->last[t] = e;
    if (e < f->start && (op == MR_OP_POST || op == MR_OP_WAIT))
        f->units[operand] += op == MR_OP_POST ? 1 : -1;
    if (e >= f->start && e < f->end) {
        f->index[e] = f->count[t];
        f->events[t][f->count[t]++] = e;
    }
    if (e < f->end) {
        f->exclusive[t][f->count[t]] = held_bits(now->exclusive[t]);
        f->shared[t][f->count[t]] = held_bits(now->shared[t]);
    }
}

/* How many events of that operation on the semaphore come before the event. */
static uint32_t earlier(const mr_trace *trace, uint32_t e, mr_op op)
{
    uint32_t count = 0;
    for (uint32_t other = 0; other < e; other++)
        count += trace->op[other] == op && trace->operand[other] == trace->operand[e];
    return count;
}

/* The oldest unit first: the wait number k of a semaphore takes the unit of the post number k. */
static uint32_t post_of(const mr_trace *trace, uint32_t wait)
{
    uint32_t number = earlier(trace, wait, MR_OP_WAIT), e = 0;
    while (trace->op[e] != MR_OP_POST || trace->operand[e] != trace->operand[wait] ||
           earlier(trace, e, MR_OP_POST) != number)
        e++;
    return e;
}

/* ---- opaque calls (docs/semantics.md 2.5) ---- */

/* The last event of the call that this mbegin begins. */
static uint32_t call_end(const mr_trace *trace, uint32_t begin)
{
    uint32_t depth = 0, last = begin;
    for (uint32_t e = begin; e < trace->event_count; e++) {
        if (trace->thread[e] != trace->thread[begin])
            continue;
        last = e;
        depth += trace->op[e] == MR_OP_CALL_BEGIN;
        if (trace->op[e] == MR_OP_CALL_END && --depth == 0)
            break;
    }
    return last;
}

static bool in_call(const mr_trace *trace, uint32_t begin, uint32_t e)
{
    return trace->thread[e] == trace->thread[begin] && e >= begin && e <= call_end(trace, begin);
}

static const mr_name *reach_name(const mr_trace *trace, uint32_t begin, uint32_t i)
{
    uint32_t first = trace->reaches[trace->value[begin]].first;
    return &trace->reach_names.items[trace->reach_items.items[first + i]];
}

static uint32_t reach_count(const mr_trace *trace, uint32_t begin)
{
    return trace->reaches[trace->value[begin]].count;
}

static bool is_star(const mr_name *name)
{
    return name->length == 1 && name->text[0] == '*';
}

static bool same_name(const mr_name *a, const mr_name *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool reaches_name(const mr_trace *trace, uint32_t begin, const mr_name *name)
{
    for (uint32_t i = 0; i < reach_count(trace, begin); i++) {
        const mr_name *item = reach_name(trace, begin, i);
        if (is_star(item) || same_name(item, name))
            return true;
    }
    return false;
}

static bool common_element(const mr_trace *trace, uint32_t one, uint32_t other, mr_opaque opaque)
{
    if (opaque == MR_OPAQUE_SIMPLE)
        return true;
    for (uint32_t i = 0; i < reach_count(trace, other); i++) {
        const mr_name *name = reach_name(trace, other, i);
        if (reaches_name(trace, one, name) || (is_star(name) && reach_count(trace, one)))
            return true;
    }
    return false;
}

/* Is it the first or the last event of its thread? These are its begin and end where it has them.
 */
static bool at_the_edge(const mr_trace *trace, uint32_t e)
{
    bool before = false, after = false;
    for (uint32_t other = 0; other < trace->event_count; other++) {
        before |= other < e && trace->thread[other] == trace->thread[e];
        after |= other > e && trace->thread[other] == trace->thread[e];
    }
    return !before || !after;
}

/* Does the call reach a variable of the object? */
static bool reaches_object(const mr_trace *trace, uint32_t begin, uint32_t object)
{
    for (uint32_t x = 0; x < trace->variables.count; x++)
        if (mr_trace_object(trace, x) == object &&
            reaches_name(trace, begin, &trace->variables.items[x]))
            return true;
    return false;
}

static bool touches(const mr_trace *trace, uint32_t begin, uint32_t e)
{
    const mr_names *names = NULL;
    bool reached = false;
    switch ((mr_op)trace->op[e]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        names = &trace->variables;
        break;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
    case MR_OP_POST:
    case MR_OP_WAIT:
        names = &trace->locks;
        break;
    case MR_OP_FREE: /* a write of the object's variables */
        reached = reaches_object(trace, begin, trace->operand[e]);
        break;
    case MR_OP_FORK:
    case MR_OP_JOIN:
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        break;
    }
    if (reached)
        return true;
    if (names && reaches_name(trace, begin, &names->items[trace->operand[e]]))
        return true;
    return at_the_edge(trace, e) &&
           reaches_name(trace, begin, &trace->threads.items[trace->thread[e]]);
}

/* Does an opaque call keep the two events of different threads in their order? */
static bool keeps_order(const mr_trace *trace, uint32_t e, uint32_t f, mr_opaque opaque)
{
    for (uint32_t c = 0; c < trace->event_count; c++) {
        if (trace->op[c] != MR_OP_CALL_BEGIN)
            continue;
        bool has_e = in_call(trace, c, e), has_f = in_call(trace, c, f);
        if ((has_e && touches(trace, c, f)) || (has_f && touches(trace, c, e)))
            return true;
        for (uint32_t d = 0; has_e && d < trace->event_count; d++) {
            if (trace->op[d] == MR_OP_CALL_BEGIN && in_call(trace, d, f) &&
                common_element(trace, c, d, opaque))
                return true;
        }
    }
    return false;
}

static void find_needs(mr_facts *f, mr_opaque opaque)
{
    const mr_trace *trace = f->trace;
    memset(f->need, 0xff, sizeof f->need); /* MR_NONE */
    if (opaque == MR_OPAQUE_IGNORE || trace->calls.count == 0)
        return;
    for (uint32_t later = f->start; later < f->end; later++) {
        for (uint32_t e = f->start; e < later; e++) {
            if (trace->thread[e] != trace->thread[later] && keeps_order(trace, e, later, opaque))
                f->need[later][trace->thread[e]] = e;
        }
    }
}

/* ---- lives (docs/semantics.md 2.7) ---- */

/* The object that the event accesses or frees, or MR_NONE. */
static uint32_t object_of(const mr_trace *trace, uint32_t e)
{
    if (reads(trace, e) || writes(trace, e))
        return mr_trace_object(trace, trace->operand[e]);
    return trace->op[e] == MR_OP_FREE ? trace->operand[e] : MR_NONE;
}

static void find_lives(mr_facts *f)
{
    const mr_trace *trace = f->trace;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t object = object_of(trace, e);
        f->alloc[e] = f->later_free[e] = MR_NONE;
        for (uint32_t other = 0; object != MR_NONE && other < trace->event_count; other++) {
            if (trace->operand[other] != object)
                continue;
            if (trace->op[other] == MR_OP_ALLOC)
                f->alloc[e] = other;
            if (trace->op[other] == MR_OP_FREE && other > e)
                f->later_free[e] = other;
        }
    }
}

bool mr_facts_init(mr_facts *f, const mr_trace *trace, mr_model model, mr_opaque opaque,
                   uint32_t start, uint32_t end)
{
    if (trace->event_count > EVENTS || trace->threads.count > THREADS ||
        trace->variables.count > MR_EXHAUSTIVE_VARIABLES || trace->locks.count > LOCKS)
        return false;
    memset(f, 0, sizeof *f);
    f->trace = trace;
    f->start = start;
    f->end = end;
    for (uint32_t x = 0; x < trace->variables.count; x++) {
        if (model == MR_MODEL_RF || by_source(trace, x))
            classify_by_source(f, x);
        else if (!classify_by_value(f, x))
            return false;
    }
    holds now = {0};
    for (uint32_t t = 0; t < THREADS; t++)
        f->fork[t] = f->last[t] = MR_NONE;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        index_event(f, e, &now);
        f->post[e] = trace->op[e] == MR_OP_WAIT ? post_of(trace, e) : MR_NONE;
    }
    find_lives(f);
    find_needs(f, opaque);
    return true;
}
