/* Opaque edges against docs/semantics.md 2.5, pair by pair, on random traces full of calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opaque/barrier_pairs.h"

#include "support/random.h"
#include "support/sample.h"

#include <stdio.h>
#include <string.h>

enum { TRACES = 3000, MOST_EVENTS = 40, TEXT_BYTES = 4096, THREADS = 4 };

/* ---- random traces: accesses, posts, begin, end, and nested calls ---- */

typedef struct recorder {
    mr_random random;
    char text[TEXT_BYTES];
    size_t used;
    uint32_t count;
    uint32_t open[THREADS][MOST_EVENTS], depth[THREADS];
    bool begun[THREADS], ended[THREADS];
} recorder;

static void add(recorder *r, uint32_t thread, const char *operation)
{
    r->used += (size_t)snprintf(r->text + r->used, TEXT_BYTES - r->used, "T%u|%s|%u\n", thread,
                                operation, r->count++);
    r->begun[thread] = true;
}

static void add_call(recorder *r, uint32_t thread)
{
    static const char *const names[] = {"x", "y", "z", "s", "T0", "T1", "T2", "q", "x", "y", "*"};
    char operation[128];
    int length = snprintf(operation, sizeof operation, "mbegin(m%u:", r->count);
    uint32_t count = mr_random_below(&r->random, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = mr_random_below(&r->random, mr_random_percent(&r->random, 20) ? 11 : 8);
        length += snprintf(operation + length, sizeof operation - (size_t)length, "%s%s",
                           i ? "," : "", names[name]);
    }
    snprintf(operation + length, sizeof operation - (size_t)length, ")");
    r->open[thread][r->depth[thread]++] = r->count;
    add(r, thread, operation);
}

static void add_event(recorder *r)
{
    static const char *const operations[] = {"r(x)", "w(x)", "w(y)", "r(z)", "post(s)", "ar(q)"};
    uint32_t thread = mr_random_below(&r->random, THREADS);
    char operation[32];
    if (r->ended[thread])
        return;
    if (!r->begun[thread] && mr_random_percent(&r->random, 30)) {
        add(r, thread, "begin()");
    } else if (mr_random_percent(&r->random, 4)) {
        r->ended[thread] = true;
        add(r, thread, "end()");
    } else if (mr_random_percent(&r->random, 25)) {
        add_call(r, thread);
    } else if (r->depth[thread] && mr_random_percent(&r->random, 45)) {
        snprintf(operation, sizeof operation, "mend(m%u)", r->open[thread][--r->depth[thread]]);
        add(r, thread, operation);
    } else {
        add(r, thread, operations[mr_random_below(&r->random, 6)]);
    }
}

/* ---- the definition ---- */

static bool reaches(const mr_trace *trace, uint32_t begin, const char *name)
{
    const mr_reach *reach = &trace->reaches[trace->value[begin]];
    for (uint32_t i = 0; trace->value[begin] && i < reach->count; i++)
        if (!strcmp(trace->reach_names.items[trace->reach_items.items[reach->first + i]].text,
                    name))
            return true;
    return false;
}

static bool reaches_any(const mr_trace *trace, uint32_t begin)
{
    return trace->value[begin] && trace->reaches[trace->value[begin]].count;
}

/* Is the event in the call that begins at `begin`? */
static bool is_in(const mr_trace *trace, uint32_t event, uint32_t begin)
{
    uint32_t depth = 0;
    if (trace->thread[event] != trace->thread[begin] || event < begin)
        return false;
    for (uint32_t at = begin; at < event; at++) {
        if (trace->thread[at] != trace->thread[begin])
            continue;
        depth += trace->op[at] == MR_OP_CALL_BEGIN;
        depth -= trace->op[at] == MR_OP_CALL_END;
        if (!depth)
            return false;
    }
    return true;
}

static bool share(const mr_trace *trace, uint32_t one, uint32_t two, mr_opaque mode)
{
    if (mode == MR_OPAQUE_SIMPLE || (reaches(trace, one, "*") && reaches_any(trace, two)) ||
        (reaches(trace, two, "*") && reaches_any(trace, one)))
        return true;
    for (uint32_t i = 0; i < trace->reach_names.count; i++)
        if (reaches(trace, one, trace->reach_names.items[i].text) &&
            reaches(trace, two, trace->reach_names.items[i].text))
            return true;
    return false;
}

/* Does the event touch what the call can reach? */
static bool touches(const mr_trace *trace, uint32_t event, uint32_t begin)
{
    uint32_t thread = trace->thread[event];
    const mr_names *names = mr_trace_operand_names(trace, (mr_op)trace->op[event]);
    bool outer =
        event == trace->thread_info[thread].first || event == trace->thread_info[thread].last;
    bool operates = mr_op_is_access(trace->op[event]) || trace->op[event] == MR_OP_POST;
    if (reaches(trace, begin, "*"))
        return outer || operates;
    return (outer && reaches(trace, begin, trace->threads.items[thread].text)) ||
           (operates && reaches(trace, begin, names->items[trace->operand[event]].text));
}

static bool related(const mr_trace *trace, uint32_t e, uint32_t f, mr_opaque mode)
{
    for (uint32_t one = 0; one < trace->event_count; one++) {
        if (trace->op[one] != MR_OP_CALL_BEGIN)
            continue;
        bool e_in = is_in(trace, e, one), f_in = is_in(trace, f, one);
        if ((e_in && touches(trace, f, one)) || (f_in && touches(trace, e, one)))
            return true;
        for (uint32_t two = 0; e_in && two < trace->event_count; two++)
            if (trace->op[two] == MR_OP_CALL_BEGIN && is_in(trace, f, two) &&
                share(trace, one, two, mode))
                return true;
    }
    return false;
}

/* Bit e of needs[f]: f needs e; both of them and program order, transitively. */
static void close_needs(const mr_trace *trace, uint64_t *needs)
{
    for (uint32_t f = 0; f < trace->event_count; f++) {
        for (uint32_t e = 0; e < f; e++)
            if (trace->thread[e] == trace->thread[f])
                needs[f] |= UINT64_C(1) << e;
        for (uint32_t e = 0; e < f; e++)
            if (needs[f] >> e & 1)
                needs[f] |= needs[e];
    }
}

static void check(const mr_trace *trace, mr_opaque mode, const char *text)
{
    mr_barrier_edges edges;
    mr_error error;
    uint64_t expected[MOST_EVENTS] = {0}, found[MOST_EVENTS] = {0};
    assert_int_equal(mr_barrier_edges_find(trace, mode, &edges, &error), MR_OK);
    for (uint32_t f = 0; f < trace->event_count; f++)
        for (uint32_t e = 0; e < f; e++)
            if (trace->thread[e] != trace->thread[f] && related(trace, e, f, mode))
                expected[f] |= UINT64_C(1) << e;
    for (size_t i = 0; i < edges.count; i++) {
        mr_edge edge = edges.items[i];
        assert_true(i == 0 || edges.items[i - 1].to <= edge.to);
        if (!(expected[edge.to] >> edge.from & 1))
            fail_msg("mode %d: an edge %u, %u too many\n%s", (int)mode, edge.from, edge.to, text);
        found[edge.to] |= UINT64_C(1) << edge.from;
    }
    close_needs(trace, expected);
    close_needs(trace, found);
    for (uint32_t f = 0; f < trace->event_count; f++) {
        if (expected[f] != found[f])
            fail_msg("mode %d: event %u lacks an edge\n%s", (int)mode, f, text);
        size_t at = mr_barrier_edges_from(&edges, f);
        assert_true(at == edges.count || edges.items[at].to >= f);
        assert_true(at == 0 || edges.items[at - 1].to < f);
    }
    mr_barrier_edges_free(&edges);
}

static void test_random_traces(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TRACES; i++) {
        recorder r = {.random = {i}};
        uint32_t count = mr_random_range(&r.random, 5, MOST_EVENTS);
        for (uint32_t k = 0; k < 3 * count && r.count < count; k++)
            add_event(&r);
        mr_trace *trace = mr_sample_trace(r.text);
        assert_non_null(trace);
        check(trace, MR_OPAQUE_PAIR, r.text);
        check(trace, MR_OPAQUE_SIMPLE, r.text);
        mr_trace_free(trace);
    }
}

static const char *const sample = "A|w(x)|1\nA|mbegin(f:y,y,B)|2\nB|mbegin(g:y)|3\nC|w(y)|4\n"
                                  "A|mend(f)|5\nB|mend(g)|6\nC|r(y)|7\nC|mbegin(h:*)|8\n";

static void test_ignore(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    mr_barrier_edges edges;
    mr_error error;
    assert_int_equal(mr_barrier_edges_find(trace, MR_OPAQUE_IGNORE, &edges, &error), MR_OK);
    assert_int_equal(edges.count, 0);
    mr_barrier_edges_free(&edges);
    assert_int_equal(mr_barrier_edges_find(trace, MR_OPAQUE_PAIR, &edges, &error), MR_OK);
    assert_true(edges.count > 4);
    mr_barrier_edges_free(&edges);
    mr_trace_free(trace);
}

static void test_no_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace(sample);
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_barrier_edges edges;
        mr_error error;
        mr_memory_fail_after(n);
        status = mr_barrier_edges_find(trace, MR_OPAQUE_PAIR, &edges, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        assert_true(n > 5 || status != MR_OK);
        mr_barrier_edges_free(&edges);
    }
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
