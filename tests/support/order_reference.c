#include "order_reference.h"

#include "c17_reference.h"
#include "facts.h"

#include <assert.h>
#include <string.h>

static uint64_t bit(uint32_t event)
{
    return UINT64_C(1) << event;
}

static void relate(mr_order_matrix *matrix, uint32_t a, uint32_t b)
{
    matrix->rows[a] |= bit(b);
}

/* Transitive closure (Warshall). */
static void close_transitively(mr_order_matrix *matrix, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            if (mr_order_matrix_has(matrix, i, k))
                matrix->rows[i] |= matrix->rows[k];
}

/* left ∘ right */
static mr_order_matrix compose(const mr_order_matrix *left, const mr_order_matrix *right,
                               uint32_t count)
{
    mr_order_matrix result = {{0}};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (mr_order_matrix_has(left, i, k))
                result.rows[i] |= right->rows[k];
    return result;
}

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

static bool is_plain(const mr_trace *trace, uint32_t e)
{
    return trace->op[e] == MR_OP_READ || trace->op[e] == MR_OP_WRITE;
}

/* The last write before the read, or MR_NONE. */
static uint32_t writer_of(const mr_trace *trace, uint32_t read)
{
    for (uint32_t w = read; w-- > 0;)
        if (writes(trace, w) && trace->operand[w] == trace->operand[read])
            return w;
    return MR_NONE;
}

/* Is b the wait that takes the unit of post a: are they the same in number? */
static bool is_unit(const mr_trace *trace, uint32_t a, uint32_t b)
{
    uint32_t posts = 0, waits = 0;
    if (trace->op[a] != MR_OP_POST || trace->op[b] != MR_OP_WAIT ||
        trace->operand[a] != trace->operand[b])
        return false;
    for (uint32_t e = 0; e < a; e++)
        posts += trace->op[e] == MR_OP_POST && trace->operand[e] == trace->operand[a];
    for (uint32_t e = 0; e < b; e++)
        waits += trace->op[e] == MR_OP_WAIT && trace->operand[e] == trace->operand[a];
    return posts == waits;
}

/* The object whose variable the event accesses, or which it frees; MR_NONE: none. */
static uint32_t object_of(const mr_trace *trace, uint32_t e)
{
    if (reads(trace, e) || writes(trace, e))
        return mr_trace_object(trace, trace->operand[e]);
    return trace->op[e] == MR_OP_FREE ? trace->operand[e] : MR_NONE;
}

static bool is_alloc_of(const mr_trace *trace, uint32_t a, uint32_t b)
{
    return trace->op[a] == MR_OP_ALLOC && object_of(trace, b) == trace->operand[a];
}

/* Does an edge go from a to b that counts for b itself, a < b? */
static bool is_hard(const mr_order_reference *reference, uint32_t a, uint32_t b)
{
    const mr_trace *trace = reference->trace;
    if (trace->thread[a] == trace->thread[b])
        return true;
    bool b_joins = trace->op[b] == MR_OP_JOIN;
    if (trace->op[a] == MR_OP_FORK && (trace->thread[b] == trace->operand[a] ||
                                       (b_joins && trace->operand[b] == trace->operand[a])))
        return true;
    return (b_joins && trace->thread[a] == trace->operand[b]) || is_unit(trace, a, b) ||
           is_alloc_of(trace, a, b) || reference->opaque[b] & bit(a);
}

/* From an atomic write to an atomic read that sees it. */
static bool is_atomic_edge(const mr_trace *trace, uint32_t a, uint32_t b)
{
    return reads(trace, b) && !is_plain(trace, b) && writer_of(trace, b) == a &&
           !is_plain(trace, a);
}

static void find_opaque(mr_order_reference *reference)
{
    const mr_trace *trace = reference->trace;
    mr_facts facts;
    if (!trace->op_counts[MR_OP_CALL_BEGIN])
        return;
    bool within = mr_facts_init(&facts, trace, MR_MODEL_RF, MR_OPAQUE_PAIR, 0, trace->event_count);
    assert(within);
    for (uint32_t e = 0; within && e < trace->event_count; e++)
        for (uint32_t thread = 0; thread < trace->threads.count; thread++)
            if (facts.need[e][thread] != MR_NONE)
                reference->opaque[e] |= bit(facts.need[e][thread]);
}

/* How the event changes the depth of holds as those that `a`, an acquire, begins. */
static int holds(const mr_trace *trace, uint32_t a, uint32_t e)
{
    bool shared = trace->op[a] == MR_OP_SHARED_ACQUIRE;
    if (trace->thread[e] != trace->thread[a] || trace->operand[e] != trace->operand[a])
        return 0;
    return (trace->op[e] == trace->op[a]) -
           (trace->op[e] == (shared ? MR_OP_SHARED_RELEASE : MR_OP_RELEASE));
}

/* Outermost acquire and release pairs, in the order of the acquires. */
static void find_sections(mr_order_reference *reference)
{
    const mr_trace *trace = reference->trace;
    for (uint32_t a = 0; a < trace->event_count; a++) {
        int depth = 0;
        if (trace->op[a] != MR_OP_ACQUIRE && trace->op[a] != MR_OP_SHARED_ACQUIRE)
            continue;
        for (uint32_t e = 0; e < a; e++)
            depth += holds(trace, a, e);
        if (depth)
            continue;
        uint32_t r = a;
        for (depth = 1; depth && ++r < trace->event_count;)
            depth += holds(trace, a, r);
        uint32_t section = reference->section_count++;
        reference->begin[section] = a;
        reference->end[section] = depth ? MR_NONE : r;
        for (uint32_t e = a; e < trace->event_count && e <= r; e++)
            if (trace->thread[e] == trace->thread[a])
                reference->section[section] |= bit(e);
    }
}

/* An access and the free of its object? */
static bool is_access_and_free(const mr_trace *trace, uint32_t a, uint32_t b)
{
    return (trace->op[a] == MR_OP_FREE) != (trace->op[b] == MR_OP_FREE) &&
           object_of(trace, a) != MR_NONE && object_of(trace, a) == object_of(trace, b);
}

bool mr_reference_conflict(const mr_trace *trace, uint32_t a, uint32_t b)
{
    if (is_access_and_free(trace, a, b))
        return trace->thread[a] != trace->thread[b];
    return mr_op_is_access(trace->op[a]) && mr_op_is_access(trace->op[b]) &&
           trace->operand[a] == trace->operand[b] && trace->thread[a] != trace->thread[b] &&
           (writes(trace, a) || writes(trace, b)) && (is_plain(trace, a) || is_plain(trace, b));
}

/* Is the one in a section, and the other in a section of the same lock, not both shared? */
static bool has_common_lock(const mr_order_reference *reference, uint32_t one, uint32_t other)
{
    const mr_trace *trace = reference->trace;
    for (uint32_t s = 0; s < reference->section_count; s++)
        for (uint32_t t = 0; t < reference->section_count; t++)
            if (reference->section[s] & bit(one) && reference->section[t] & bit(other) &&
                trace->operand[reference->begin[s]] == trace->operand[reference->begin[t]] &&
                (trace->op[reference->begin[s]] == MR_OP_ACQUIRE ||
                 trace->op[reference->begin[t]] == MR_OP_ACQUIRE))
                return true;
    return false;
}

/* Two sections of one lock by different threads, not both shared; s is the earlier one. */
static bool exclude(const mr_order_reference *reference, uint32_t s, uint32_t later)
{
    const mr_trace *trace = reference->trace;
    uint32_t a = reference->begin[s], b = reference->begin[later];
    return trace->operand[a] == trace->operand[b] && trace->thread[a] != trace->thread[b] &&
           (trace->op[a] == MR_OP_ACQUIRE || trace->op[b] == MR_OP_ACQUIRE);
}

uint64_t mr_reference_edges_into(const mr_order_reference *reference, uint32_t event)
{
    uint64_t from = 0;
    for (uint32_t a = 0; a < event; a++)
        if (is_hard(reference, a, event))
            from |= bit(a);
    for (uint32_t later = 0; later < reference->section_count; later++)
        for (uint32_t s = 0; s < later && reference->begin[later] == event; s++)
            if (exclude(reference, s, later))
                from |= bit(reference->end[s]);
    return from;
}

/* A fork comes before the join of its thread only by the events of that thread. */
static bool is_message(const mr_order_reference *reference, uint32_t a, uint32_t b)
{
    const mr_trace *trace = reference->trace;
    return is_hard(reference, a, b) &&
           (trace->thread[a] == trace->thread[b] || trace->op[a] != MR_OP_FORK ||
            trace->op[b] != MR_OP_JOIN || trace->operand[a] != trace->operand[b]);
}

/* hard without the edges between atomic accesses. */
static void build_messages(mr_order_reference *reference, uint32_t count)
{
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a; b < count; b++)
            if (a == b || is_message(reference, a, b))
                relate(&reference->messages, a, b);
    close_transitively(&reference->messages, count);
}

static void build_hb(mr_order_reference *reference, uint32_t count)
{
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a; b < count; b++)
            if (a == b || is_hard(reference, a, b) || is_atomic_edge(reference->trace, a, b))
                relate(&reference->hard, a, b);
    close_transitively(&reference->hard, count);
    reference->hb = reference->hard;
    for (uint32_t s = 0; s < reference->section_count; s++)
        for (uint32_t later = s + 1; later < reference->section_count; later++)
            if (exclude(reference, s, later))
                relate(&reference->hb, reference->end[s], reference->begin[later]);
    close_transitively(&reference->hb, count);
}

/* Does some event of section s conflict with, or is it before, one of `events`? `rows` says which
 * events an event is related to. */
static bool reaches(const mr_order_reference *reference, const uint64_t *rows, uint32_t s,
                    uint64_t events)
{
    for (uint32_t e = 0; e < reference->trace->event_count; e++)
        if (reference->section[s] & bit(e) && rows[e] & events)
            return true;
    return false;
}

/* Rule (a): the release of section s before each access of the later section that conflicts.
 * Rule (b): release before release when some event of one section is ≺ some event of the other. */
static void add_wcp_rules(mr_order_reference *reference, uint32_t s, uint32_t later)
{
    uint64_t section = reference->section[later];
    for (uint32_t e = 0; e < reference->trace->event_count; e++)
        if (section & bit(e) && reaches(reference, reference->conflicts, s, bit(e)))
            relate(&reference->strong, reference->end[s], e);
    if (reference->end[later] != MR_NONE && reaches(reference, reference->strong.rows, s, section))
        relate(&reference->strong, reference->end[s], reference->end[later]);
}

/* The release of section s before the acquire of the later section of another thread when (a) they
 * hold conflicting accesses, or (b) some event of one causally-precedes some event of the other. */
static void add_cp_rules(mr_order_reference *reference, uint32_t s, uint32_t later)
{
    uint64_t section = reference->section[later];
    if (reaches(reference, reference->conflicts, s, section) ||
        reaches(reference, reference->causal.rows, s, section))
        relate(&reference->causal, reference->end[s], reference->begin[later]);
}

typedef void add_rules(mr_order_reference *reference, uint32_t s, uint32_t later);

/* The smallest relation with the rules that is closed under composition with HB, rule (c). */
static void close_rules(mr_order_reference *reference, mr_order_matrix *matrix, add_rules *rules)
{
    uint32_t count = reference->trace->event_count;
    mr_order_matrix before;
    do {
        before = *matrix;
        for (uint32_t s = 0; s < reference->section_count; s++)
            for (uint32_t later = s + 1; later < reference->section_count; later++)
                if (exclude(reference, s, later))
                    rules(reference, s, later);
        *matrix = compose(&reference->hb, matrix, count);
        *matrix = compose(matrix, &reference->hb, count);
    } while (memcmp(&before, matrix, sizeof before) != 0);
}

static void build_wcp_and_cp(mr_order_reference *reference, uint32_t count)
{
    close_rules(reference, &reference->strong, add_wcp_rules);
    close_rules(reference, &reference->causal, add_cp_rules);
    for (uint32_t e = 0; e < count; e++) {
        reference->wcp.rows[e] = reference->hard.rows[e] | reference->strong.rows[e];
        reference->cp.rows[e] = reference->hard.rows[e] | reference->causal.rows[e];
    }
}

static void build_shb(mr_order_reference *reference, uint32_t count)
{
    const mr_trace *trace = reference->trace;
    reference->shb = reference->hb;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t writer = reads(trace, r) ? writer_of(trace, r) : MR_NONE;
        if (writer != MR_NONE)
            relate(&reference->shb, writer, r);
    }
    close_transitively(&reference->shb, count);
}

static void build_fhb(mr_order_reference *reference, uint32_t count)
{
    reference->fhb = reference->hb;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if (reference->conflicts[a] & bit(b))
                relate(&reference->fhb, a, b);
    close_transitively(&reference->fhb, count);
}

/* What directly comes before an access and counts for it: the event before it in its thread, or
 * the thread's fork, the alloc of its object, and what calls that were not recorded put before it.
 */
static uint64_t before_access(const mr_order_reference *reference, uint32_t event)
{
    const mr_trace *trace = reference->trace;
    uint64_t before = reference->opaque[event];
    for (uint32_t e = 0; e < event; e++)
        if (is_alloc_of(trace, e, event))
            before |= bit(e);
    for (uint32_t e = event; e-- > 0;)
        if (trace->thread[e] == trace->thread[event] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[event]))
            return bit(e) | before;
    return before;
}

/* The free of the object of the first access, when it comes later in the trace; else nothing. Rule
 * 7: it must not be in a reordering after which the access is next. */
static uint64_t later_free(const mr_trace *trace, uint32_t access)
{
    uint32_t object = object_of(trace, access);
    for (uint32_t e = access + 1; e < trace->event_count; e++)
        if (object != MR_NONE && trace->op[e] == MR_OP_FREE && trace->operand[e] == object)
            return bit(e);
    return 0;
}

static bool before_some(const mr_order_matrix *order, uint32_t first, uint64_t events)
{
    return order->rows[first] & events;
}

/* The release of a section with which rule (a) of WCP puts `first` before the access. */
static bool before_by_rule_a(const mr_order_reference *reference, const mr_order_matrix *hb,
                             uint32_t first, uint32_t access)
{
    for (uint32_t s = 0; s < reference->section_count; s++)
        for (uint32_t later = s + 1; later < reference->section_count; later++)
            if (exclude(reference, s, later) && reference->section[later] & bit(access) &&
                reaches(reference, reference->conflicts, s, bit(access)) &&
                mr_order_matrix_has(hb, first, reference->end[s]))
                return true;
    return false;
}

/* The orders so far contain the edges into atomic reads. Takes away what is before such a read only
 * because of what it sees. */
static void judge_atomic_reads(mr_order_reference *reference, uint32_t count)
{
    const mr_order_reference whole = *reference;
    const mr_order_matrix *hb = &whole.hb;
    for (uint32_t b = 0; b < count; b++) {
        uint64_t last = before_access(&whole, b);
        if (!reads(whole.trace, b) || is_plain(whole.trace, b))
            continue;
        for (uint32_t a = 0; a < b; a++) {
            bool hard = before_some(&whole.hard, a, last);
            bool strong = before_some(&whole.strong, a, last) || before_by_rule_a(&whole, hb, a, b);
            if (!before_some(hb, a, last))
                reference->hb.rows[a] &= ~bit(b);
            if (!hard)
                reference->hard.rows[a] &= ~bit(b);
            if (!hard && !strong)
                reference->wcp.rows[a] &= ~bit(b);
            if (!hard && !before_some(&whole.causal, a, last))
                reference->cp.rows[a] &= ~bit(b);
        }
    }
}

void mr_order_reference_build(mr_order_reference *reference, const mr_trace *trace)
{
    uint32_t count = trace->event_count;
    assert(count <= MR_REFERENCE_EVENTS);
    *reference = (mr_order_reference){.trace = trace};
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            if (mr_reference_conflict(trace, a, b))
                reference->conflicts[a] |= bit(b);
    find_opaque(reference);
    find_sections(reference);
    build_messages(reference, count);
    build_hb(reference, count);
    build_wcp_and_cp(reference, count);
    build_shb(reference, count);
    build_fhb(reference, count);
    judge_atomic_reads(reference, count);
    mr_c17_reference_build(&reference->c17, reference);
}

static bool before_predecessor(const mr_order_reference *reference, const mr_order_matrix *order,
                               uint32_t first, uint32_t second)
{
    return before_some(order, first, before_access(reference, second));
}

/* Is the free of the object, after `first`, before the predecessor of `second`? */
static bool is_over(const mr_order_reference *reference, const mr_order_matrix *order,
                    uint32_t first, uint32_t second)
{
    uint64_t end = later_free(reference->trace, first);
    for (uint32_t e = first + 1; e < second; e++)
        if (end & bit(e) && before_some(order, e, before_access(reference, second)))
            return true;
    return false;
}

bool mr_reference_shb_race(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    return mr_reference_conflict(reference->trace, first, second) &&
           !before_predecessor(reference, &reference->shb, first, second) &&
           !is_over(reference, &reference->shb, first, second);
}

/* Do both happens-before of C17 and SHB order it before the access? */
static bool known_to_c17(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    return mr_order_matrix_has(&reference->c17, first, second) &&
           before_predecessor(reference, &reference->shb, first, second);
}

static bool is_over_for_c17(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    uint64_t end = later_free(reference->trace, first);
    for (uint32_t e = first + 1; e < second; e++)
        if (end & bit(e) && known_to_c17(reference, e, second))
            return true;
    return false;
}

bool mr_reference_c17_race(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    uint64_t end = later_free(reference->trace, first);
    for (uint32_t e = first + 1; e < second; e++)
        if (end & bit(e) && mr_order_matrix_has(&reference->c17, e, second))
            return false;
    return mr_reference_conflict(reference->trace, first, second) &&
           !mr_order_matrix_has(&reference->c17, first, second);
}

/* Puts what must have happened before `event` into the set: the earlier events of its thread and
 * the thread's fork; before a join all events of the joined thread (docs/semantics.md 2, rule 3:
 * the fork of a thread that has no events is none of them); before a wait its post; what calls that
 * were not recorded put before it. */
static void add_past(const mr_order_reference *reference, uint32_t event, uint64_t *set)
{
    const mr_trace *trace = reference->trace;
    *set |= reference->opaque[event];
    for (uint32_t e = 0; e < event; e++)
        if (trace->thread[e] == trace->thread[event] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[event]) ||
            (trace->op[event] == MR_OP_JOIN && trace->thread[e] == trace->operand[event]) ||
            is_unit(trace, e, event) || is_alloc_of(trace, e, event))
            *set |= bit(e);
}

uint64_t mr_reference_cut(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    const mr_trace *trace = reference->trace;
    uint64_t cut = 0, before;
    add_past(reference, first, &cut);
    add_past(reference, second, &cut);
    do {
        before = cut;
        for (uint32_t e = 0; e < trace->event_count; e++) {
            if (!(cut & bit(e)))
                continue;
            add_past(reference, e, &cut);
            uint32_t writer = reads(trace, e) ? writer_of(trace, e) : MR_NONE;
            if (writer != MR_NONE)
                cut |= bit(writer);
        }
        for (uint32_t s = 0; s < reference->section_count; s++)
            for (uint32_t later = s + 1; later < reference->section_count; later++)
                if (exclude(reference, s, later) && cut & bit(reference->begin[s]) &&
                    cut & bit(reference->begin[later]))
                    cut |= bit(reference->end[s]); /* released: the lock was acquired again */
    } while (cut != before);
    return cut;
}

bool mr_reference_reports(const mr_order_reference *reference, mr_relation relation, uint32_t first,
                          uint32_t second)
{
    if (!(reference->conflicts[first] & bit(second)))
        return false;
    switch (relation) {
    case MR_RELATION_HB:
        return !mr_order_matrix_has(&reference->hb, first, second);
    case MR_RELATION_FHB:
        return !before_predecessor(reference, &reference->fhb, first, second);
    case MR_RELATION_SHB:
        return mr_reference_shb_race(reference, first, second);
    case MR_RELATION_CP:
        return !mr_order_matrix_has(&reference->cp, first, second);
    case MR_RELATION_WCP:
        return !mr_order_matrix_has(&reference->wcp, first, second);
    case MR_RELATION_C17:
        return !known_to_c17(reference, first, second) &&
               !is_over_for_c17(reference, first, second);
    case MR_RELATION_SYNCP:
        return !(mr_reference_cut(reference, first, second) &
                 (bit(first) | bit(second) | later_free(reference->trace, first) |
                  later_free(reference->trace, second)));
    case MR_RELATION_HYBRID:
        return !mr_order_matrix_has(&reference->messages, first, second) &&
               !has_common_lock(reference, first, second);
    case MR_RELATION_COUNT:
        break;
    }
    assert(!"no relation");
    return false;
}
