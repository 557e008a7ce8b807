#include "order_reference.h"

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

static bool is_hard(const mr_trace *trace, uint32_t a, uint32_t b)
{
    if (trace->thread[a] == trace->thread[b])
        return true;
    bool b_joins = trace->op[b] == MR_OP_JOIN;
    if (trace->op[a] == MR_OP_FORK && (trace->thread[b] == trace->operand[a] ||
                                       (b_joins && trace->operand[b] == trace->operand[a])))
        return true;
    return b_joins && trace->thread[a] == trace->operand[b];
}

/* Outermost acquire and release pairs, in the order of the acquires. */
static void find_sections(mr_order_reference *reference)
{
    const mr_trace *trace = reference->trace;
    for (uint32_t a = 0; a < trace->event_count; a++) {
        uint32_t depth = 0, lock = trace->operand[a], thread = trace->thread[a];
        if (trace->op[a] != MR_OP_ACQUIRE)
            continue;
        for (uint32_t e = 0; e < a; e++)
            if (trace->thread[e] == thread && trace->operand[e] == lock)
                depth += (trace->op[e] == MR_OP_ACQUIRE) - (trace->op[e] == MR_OP_RELEASE);
        if (depth)
            continue;
        uint32_t r = a;
        for (depth = 1; depth && ++r < trace->event_count;)
            if (trace->thread[r] == thread && trace->operand[r] == lock)
                depth += (trace->op[r] == MR_OP_ACQUIRE) - (trace->op[r] == MR_OP_RELEASE);
        uint32_t section = reference->section_count++;
        reference->begin[section] = a;
        reference->end[section] = depth ? MR_NONE : r;
        for (uint32_t e = a; e < trace->event_count && e <= r; e++)
            if (trace->thread[e] == thread)
                reference->section[section] |= bit(e);
    }
}

bool mr_reference_conflict(const mr_trace *trace, uint32_t a, uint32_t b)
{
    return mr_op_is_access(trace->op[a]) && mr_op_is_access(trace->op[b]) &&
           trace->operand[a] == trace->operand[b] && trace->thread[a] != trace->thread[b] &&
           (trace->op[a] == MR_OP_WRITE || trace->op[b] == MR_OP_WRITE);
}

static void build_hb(mr_order_reference *reference, uint32_t count)
{
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a; b < count; b++)
            if (a == b || is_hard(reference->trace, a, b))
                relate(&reference->hard, a, b);
    close_transitively(&reference->hard, count);
    reference->hb = reference->hard;
    for (uint32_t s = 0; s < reference->section_count; s++)
        for (uint32_t later = s + 1; later < reference->section_count; later++)
            if (reference->trace->operand[reference->begin[s]] ==
                reference->trace->operand[reference->begin[later]])
                relate(&reference->hb, reference->end[s], reference->begin[later]);
    close_transitively(&reference->hb, count);
}

static bool same_lock(const mr_order_reference *reference, uint32_t s, uint32_t later)
{
    const uint32_t *operand = reference->trace->operand;
    return operand[reference->begin[s]] == operand[reference->begin[later]];
}

static bool different_threads(const mr_order_reference *reference, uint32_t s, uint32_t later)
{
    const uint32_t *thread = reference->trace->thread;
    return thread[reference->begin[s]] != thread[reference->begin[later]];
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
    if (reference->end[later] != MR_NONE && different_threads(reference, s, later) &&
        reaches(reference, reference->strong.rows, s, section))
        relate(&reference->strong, reference->end[s], reference->end[later]);
}

/* The release of section s before the acquire of the later section of another thread when (a) they
 * hold conflicting accesses, or (b) some event of one causally-precedes some event of the other. */
static void add_cp_rules(mr_order_reference *reference, uint32_t s, uint32_t later)
{
    uint64_t section = reference->section[later];
    if (different_threads(reference, s, later) &&
        (reaches(reference, reference->conflicts, s, section) ||
         reaches(reference, reference->causal.rows, s, section)))
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
                if (same_lock(reference, s, later))
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

/* The last write before the read, or MR_NONE. */
static uint32_t writer_of(const mr_trace *trace, uint32_t read)
{
    for (uint32_t w = read; w-- > 0;)
        if (trace->op[w] == MR_OP_WRITE && trace->operand[w] == trace->operand[read])
            return w;
    return MR_NONE;
}

static void build_shb(mr_order_reference *reference, uint32_t count)
{
    const mr_trace *trace = reference->trace;
    reference->shb = reference->hb;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t writer = trace->op[r] == MR_OP_READ ? writer_of(trace, r) : MR_NONE;
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

void mr_order_reference_build(mr_order_reference *reference, const mr_trace *trace)
{
    uint32_t count = trace->event_count;
    assert(count <= MR_REFERENCE_EVENTS);
    *reference = (mr_order_reference){.trace = trace};
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            if (mr_reference_conflict(trace, a, b))
                reference->conflicts[a] |= bit(b);
    find_sections(reference);
    build_hb(reference, count);
    build_wcp_and_cp(reference, count);
    build_shb(reference, count);
    build_fhb(reference, count);
}

/* The event before `event` in its thread, or the thread's fork, or MR_NONE. */
static uint32_t predecessor(const mr_trace *trace, uint32_t event)
{
    for (uint32_t e = event; e-- > 0;)
        if (trace->thread[e] == trace->thread[event] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[event]))
            return e;
    return MR_NONE;
}

static bool before_predecessor(const mr_order_reference *reference, const mr_order_matrix *order,
                               uint32_t first, uint32_t second)
{
    uint32_t last = predecessor(reference->trace, second);
    return last != MR_NONE && mr_order_matrix_has(order, first, last);
}

bool mr_reference_shb_race(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    return mr_reference_conflict(reference->trace, first, second) &&
           !before_predecessor(reference, &reference->shb, first, second);
}

/* Puts what must have happened before `event` into the set: the earlier events of its thread and
 * the thread's fork; before a join all events of the joined thread (docs/semantics.md 2, rule 3:
 * the fork of a thread that has no events is none of them). */
static void add_past(const mr_trace *trace, uint32_t event, uint64_t *set)
{
    for (uint32_t e = 0; e < event; e++)
        if (trace->thread[e] == trace->thread[event] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[event]) ||
            (trace->op[event] == MR_OP_JOIN && trace->thread[e] == trace->operand[event]))
            *set |= bit(e);
}

uint64_t mr_reference_cut(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    const mr_trace *trace = reference->trace;
    uint64_t cut = 0, before;
    add_past(trace, first, &cut);
    add_past(trace, second, &cut);
    do {
        before = cut;
        for (uint32_t e = 0; e < trace->event_count; e++) {
            if (!(cut & bit(e)))
                continue;
            add_past(trace, e, &cut);
            uint32_t writer = trace->op[e] == MR_OP_READ ? writer_of(trace, e) : MR_NONE;
            if (writer != MR_NONE)
                cut |= bit(writer);
        }
        for (uint32_t s = 0; s < reference->section_count; s++)
            for (uint32_t later = s + 1; later < reference->section_count; later++)
                if (same_lock(reference, s, later) && cut & bit(reference->begin[s]) &&
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
        return !before_predecessor(reference, &reference->shb, first, second);
    case MR_RELATION_CP:
        return !mr_order_matrix_has(&reference->cp, first, second);
    case MR_RELATION_WCP:
        return !mr_order_matrix_has(&reference->wcp, first, second);
    case MR_RELATION_SYNCP:
        return !(mr_reference_cut(reference, first, second) & (bit(first) | bit(second)));
    default:
        assert(!"no relation");
        return false;
    }
}
