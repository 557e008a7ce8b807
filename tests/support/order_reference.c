#include "order_reference.h"

#include <assert.h>
#include <string.h>

static void relate(mr_order_matrix *matrix, uint32_t a, uint32_t b)
{
    matrix->rows[a] |= UINT64_C(1) << b;
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
        reference->begin[reference->section_count] = a;
        reference->end[reference->section_count++] = depth ? MR_NONE : r;
    }
}

/* Is e an event of the section? */
static bool inside(const mr_order_reference *reference, uint32_t section, uint32_t e)
{
    uint32_t begin = reference->begin[section], end = reference->end[section];
    return e >= begin && (end == MR_NONE || e <= end) &&
           reference->trace->thread[e] == reference->trace->thread[begin];
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

/* Rule (a): the release of section s before each access of the later section that conflicts. */
static void add_rule_a(mr_order_reference *reference, uint32_t s, uint32_t later)
{
    const mr_trace *trace = reference->trace;
    for (uint32_t e1 = 0; e1 < trace->event_count; e1++)
        for (uint32_t e2 = 0; e2 < trace->event_count; e2++)
            if (inside(reference, s, e1) && inside(reference, later, e2) &&
                mr_reference_conflict(trace, e1, e2))
                relate(&reference->strong, reference->end[s], e2);
}

/* Rule (b): release before release when some event of one section is ≺ some event of the other. */
static void add_rule_b(mr_order_reference *reference, uint32_t s, uint32_t later)
{
    if (reference->end[later] == MR_NONE || !different_threads(reference, s, later))
        return;
    uint32_t count = reference->trace->event_count;
    for (uint32_t e1 = 0; e1 < count; e1++)
        for (uint32_t e2 = 0; e2 < count; e2++)
            if (inside(reference, s, e1) && inside(reference, later, e2) &&
                mr_order_matrix_has(&reference->strong, e1, e2))
                relate(&reference->strong, reference->end[s], reference->end[later]);
}

static void build_wcp(mr_order_reference *reference, uint32_t count)
{
    mr_order_matrix before;
    do {
        before = reference->strong;
        for (uint32_t s = 0; s < reference->section_count; s++)
            for (uint32_t later = s + 1; later < reference->section_count; later++)
                if (same_lock(reference, s, later)) {
                    add_rule_a(reference, s, later);
                    add_rule_b(reference, s, later);
                }
        reference->strong = compose(&reference->hb, &reference->strong, count);
        reference->strong = compose(&reference->strong, &reference->hb, count);
    } while (memcmp(&before, &reference->strong, sizeof before) != 0);
    for (uint32_t e = 0; e < count; e++)
        reference->wcp.rows[e] = reference->hard.rows[e] | reference->strong.rows[e];
}

/* Does an event of section s have the relation to, or (matrix NULL) a conflict with, one of
 * `later`? A section that is never released extends to the end of its thread. */
static bool sections_related(const mr_order_reference *reference, uint32_t s, uint32_t later,
                             const mr_order_matrix *matrix)
{
    uint32_t count = reference->trace->event_count;
    for (uint32_t e1 = 0; e1 < count; e1++)
        for (uint32_t e2 = 0; e2 < count; e2++)
            if (inside(reference, s, e1) && inside(reference, later, e2) &&
                (matrix ? mr_order_matrix_has(matrix, e1, e2)
                        : mr_reference_conflict(reference->trace, e1, e2)))
                return true;
    return false;
}

static void build_cp(mr_order_reference *reference, uint32_t count)
{
    mr_order_matrix before, causal = {{0}};
    do {
        before = causal;
        for (uint32_t s = 0; s < reference->section_count; s++)
            for (uint32_t later = s + 1; later < reference->section_count; later++)
                if (same_lock(reference, s, later) && different_threads(reference, s, later) &&
                    (sections_related(reference, s, later, NULL) ||
                     sections_related(reference, s, later, &causal)))
                    relate(&causal, reference->end[s], reference->begin[later]);
        causal = compose(&reference->hb, &causal, count);
        causal = compose(&causal, &reference->hb, count);
    } while (memcmp(&before, &causal, sizeof before) != 0);
    for (uint32_t e = 0; e < count; e++)
        reference->cp.rows[e] = reference->hard.rows[e] | causal.rows[e];
}

static void build_shb(mr_order_reference *reference, uint32_t count)
{
    const mr_trace *trace = reference->trace;
    reference->shb = reference->hb;
    for (uint32_t r = 0; r < count; r++) {
        if (trace->op[r] != MR_OP_READ)
            continue;
        for (uint32_t w = r; w-- > 0;)
            if (trace->op[w] == MR_OP_WRITE && trace->operand[w] == trace->operand[r]) {
                relate(&reference->shb, w, r);
                break;
            }
    }
    close_transitively(&reference->shb, count);
}

void mr_order_reference_build(mr_order_reference *reference, const mr_trace *trace)
{
    assert(trace->event_count <= MR_REFERENCE_EVENTS);
    *reference = (mr_order_reference){.trace = trace};
    find_sections(reference);
    build_hb(reference, trace->event_count);
    build_wcp(reference, trace->event_count);
    build_cp(reference, trace->event_count);
    build_shb(reference, trace->event_count);
}

bool mr_reference_shb_race(const mr_order_reference *reference, uint32_t first, uint32_t second)
{
    const mr_trace *trace = reference->trace;
    if (!mr_reference_conflict(trace, first, second))
        return false;
    for (uint32_t e = second; e-- > 0;)
        if (trace->thread[e] == trace->thread[second] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[second]))
            return !mr_order_matrix_has(&reference->shb, first, e);
    return true;
}
