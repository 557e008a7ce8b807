/* CP against its definition, on random traces and every pair of events; the examples of the papers;
 * decisions of the reading; lack of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/read.h"
#include "order/cp/cp.h"
#include "order/cp/cp_walk.h"
#include "support/generate.h"
#include "support/order_races.h"
#include "support/random_walk.h"
#include "support/sample.h"

enum { WALKS = 4000, TRACES_A_SHAPE = 120, EXAMPLES = 3 };

/* The trace that is being tested; its text is shown when a test fails. */
typedef struct subject {
    const char *text;
    mr_trace *trace;
    mr_order_reference reference;
} subject;

static void subject_open(subject *s, const char *text)
{
    s->text = text;
    s->trace = mr_sample_trace(text);
    assert_non_null(s->trace);
    mr_order_reference_build(&s->reference, s->trace);
}

static bool is_race(const subject *s, uint32_t first, uint32_t second)
{
    return mr_reference_conflict(s->trace, first, second) &&
           !mr_order_matrix_has(&s->reference.cp, first, second);
}

/* ordered[b] bit a: a is CP-before b, by the clocks. */
static void find_order(const mr_trace *trace, uint64_t ordered[MR_REFERENCE_EVENTS])
{
    uint32_t local[MR_REFERENCE_EVENTS];
    mr_cp_graph graph;
    mr_cp_walk walk;
    mr_outlook outlook;
    mr_whole whole;
    assert_int_equal(mr_whole_init(&whole, trace, NULL, MR_OPAQUE_PAIR, false, NULL), MR_OK);
    assert_true(mr_outlook_of_trace(&outlook, trace) &&
                mr_cp_graph_init(&graph, &whole, &outlook) &&
                mr_cp_graph_build(&graph, NULL, NULL) && mr_cp_graph_solve(&graph, NULL) &&
                mr_cp_walk_init(&walk, &graph));
    assert_true(graph.visits >= graph.segment_count);
    for (uint32_t b = 0; b < trace->event_count; b++) {
        const mr_clock *known;
        uint32_t thread = trace->thread[b];
        local[b] = walk.local[thread];
        assert_true(mr_cp_walk_step(&walk, b) && mr_cp_walk_known(&walk, thread, &known));
        ordered[b] = 0;
        for (uint32_t a = 0; a < b; a++)
            if (trace->thread[a] == thread || local[a] <= mr_clock_get(known, trace->thread[a]))
                ordered[b] |= UINT64_C(1) << a;
        assert_true(mr_cp_walk_leave(&walk, b));
    }
    assert_int_equal(walk.segment_count, graph.segment_count);
    mr_cp_walk_free(&walk);
    mr_cp_graph_free(&graph);
    mr_whole_free(&whole);
    mr_outlook_free(&outlook);
}

typedef struct tally {
    uint32_t hb_only, cp_only, wcp; /* pairs: ordered by HB and not by CP, by CP and not by WCP, by
                                       WCP and not by thread, fork and join */
    uint32_t races;
} tally;

static void check_pairs(const subject *s, tally *t)
{
    uint64_t ordered[MR_REFERENCE_EVENTS];
    const mr_order_reference *r = &s->reference;
    find_order(s->trace, ordered);
    for (uint32_t b = 0; b < s->trace->event_count; b++)
        for (uint32_t a = 0; a < b; a++) {
            bool hb = mr_order_matrix_has(&r->hb, a, b), cp = mr_order_matrix_has(&r->cp, a, b);
            bool wcp = mr_order_matrix_has(&r->wcp, a, b);
            if ((ordered[b] >> a & 1) != cp)
                fail_msg("events %u and %u: expected %s\n%s", a, b, cp ? "ordered" : "unordered",
                         s->text);
            if ((wcp && !cp) || (cp && !hb))
                fail_msg("events %u and %u: HB, CP and WCP do not contain each other\n%s", a, b,
                         s->text);
            t->hb_only += hb && !cp;
            t->cp_only += cp && !wcp;
            t->wcp += wcp && !mr_order_matrix_has(&r->hard, a, b);
        }
}

static void find_races(const mr_trace *trace, uint32_t most_examples, mr_race_list *list)
{
    mr_detect_options options = {.most_examples = most_examples, .keep_events = true};
    mr_error error = {0};
    if (mr_cp_find(trace, &options, list, &error) != MR_OK)
        fail_msg("%s", error.text);
}

/* The latest `first` of the races of `second` between these locations, MR_NONE: none. */
static uint32_t best_first(const subject *s, uint32_t second, uint32_t location, uint32_t other)
{
    const uint32_t *at = s->trace->location;
    if (at[second] != location && at[second] != other)
        return MR_NONE;
    uint32_t partner = at[second] == location ? other : location;
    for (uint32_t first = second; first-- > 0;)
        if (at[first] == partner && is_race(s, first, second))
            return first;
    return MR_NONE;
}

static void check_static_race(const subject *s, const mr_race_list *list,
                              const mr_static_race *race)
{
    uint32_t number = race->first_example, event = 0, first = MR_NONE, last = 0;
    while (event < s->trace->event_count &&
           (first = best_first(s, event, race->low, race->high)) == MR_NONE)
        event++;
    const mr_race_example *example = &list->examples[number];
    if (example->second.event != event || example->first.event != first)
        fail_msg("example of %u, %u: %u, %u instead of %u, %u\n%s", race->low, race->high,
                 (unsigned)example->first.event, (unsigned)example->second.event, (unsigned)first,
                 (unsigned)event, s->text);
    uint32_t count = 0;
    for (; number != MR_NONE; number = example->next, count++) {
        example = &list->examples[number];
        const mr_racing_access *one = &example->first, *two = &example->second;
        if (!is_race(s, (uint32_t)one->event, (uint32_t)two->event))
            fail_msg("%u, %u is no race\n%s", (unsigned)one->event, (unsigned)two->event, s->text);
        assert_true(count == 0 || two->event > last);
        assert_int_equal(one->location < two->location ? one->location : two->location, race->low);
        assert_int_equal(one->location < two->location ? two->location : one->location, race->high);
        assert_int_equal(example->variable,
                         mr_order_races_variable(s->trace, one->event, two->event));
        assert_int_equal(one->thread, s->trace->thread[one->event]);
        assert_int_equal(two->op, s->trace->op[two->event]);
        last = two->event;
    }
    assert_int_equal(count, race->example_count);
    assert_true(count <= EXAMPLES);
}

static void check_races(const subject *s, tally *t)
{
    mr_race_list list;
    find_races(s->trace, EXAMPLES, &list);
    uint32_t count = 0;
    for (uint32_t b = 0; b < s->trace->event_count; b++) {
        bool racy = false;
        for (uint32_t a = 0; a < b; a++) {
            if (!is_race(s, a, b))
                continue;
            racy = true;
            if (mr_race_list_find(&list, s->trace->location[a], s->trace->location[b]) == MR_NONE)
                fail_msg("race %u, %u is not reported\n%s", a, b, s->text);
        }
        if (racy && (count >= list.events.count || list.events.items[count] != b))
            fail_msg("racy event %u is not reported\n%s", b, s->text);
        count += racy;
    }
    if (count != list.events.count || count != list.racy_event_count)
        fail_msg("%u racy events, %u reported\n%s", count, (unsigned)list.racy_event_count,
                 s->text);
    for (size_t i = 0; i < list.race_count; i++)
        check_static_race(s, &list, &list.races[i]);
    t->races += count;
    mr_race_list_free(&list);
}

static void check_trace(const char *text, tally *t)
{
    subject s;
    subject_open(&s, text);
    check_pairs(&s, t);
    check_races(&s, t);
    mr_trace_free(s.trace);
}

static void test_walks(void **state)
{
    (void)state;
    char text[MR_REFERENCE_EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];
    tally t = {0};
    for (uint64_t seed = 0; seed < WALKS; seed++) {
        mr_random random = {seed};
        uint32_t events = mr_random_range(&random, 6, MR_REFERENCE_EVENTS);
        if (seed % 4)
            mr_random_walk(mr_random_next(&random), events, text);
        else
            mr_random_walk_hot(mr_random_next(&random), events, text);
        check_trace(text, &t);
    }
    assert_true(t.hb_only > WALKS && t.cp_only > WALKS && t.wcp > WALKS && t.races > WALKS);
}

static void test_shapes(void **state)
{
    (void)state;
    tally t = {0};
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++)
        for (uint64_t seed = 0; seed < TRACES_A_SHAPE; seed++) {
            char *text = mr_generate_trace(seed + 110000, (mr_shape)shape);
            assert_non_null(text);
            check_trace(text, &t);
            free(text);
        }
    assert_true(t.hb_only > 1000 && t.cp_only > 100 && t.wcp > 1000 && t.races > 1000);
}

/* What the papers' text says about CP in their figures; pairs by location, in tests/figures.
 * `derived`: the text does not say it; it follows from what the text says on HB, or from the
 * definition. */
typedef struct figure_verdict {
    const char *file, *first, *second;
    bool ordered, derived;
} figure_verdict;

static const figure_verdict figure_verdicts[] = {
    {"raptor-1a", "1", "8", false, false}, {"raptor-1b", "1", "8", true, false},
    {"wcp-1a", "3", "6", true, true},      {"wcp-1b", "1", "8", false, false},
    {"wcp-2a", "1", "7", true, false},     {"wcp-2a", "3", "6", true, true},
    {"wcp-2b", "1", "6", true, false},     {"wcp-2b", "3", "7", true, true},
    {"wcp-3", "3", "12", true, false},     {"wcp-4", "4", "15", true, false},
    {"wcp-5", "4", "14", true, false},     {"shb-1", "1", "4", false, true},
    {"shb-3", "2", "5", true, true},       {"shb-3", "7", "9", true, true},
    {"shb-4", "9", "12", false, true},
};

/* The access at the location. */
static uint32_t access_at(const mr_trace *trace, const char *location)
{
    uint32_t number, event = 0;
    assert_true(mr_names_find(&trace->locations, location, (uint32_t)strlen(location), &number));
    while (trace->location[event] != number || !mr_op_is_access(trace->op[event]))
        assert_true(++event < trace->event_count);
    return event;
}

static void check_verdict(const mr_trace *trace, const figure_verdict *v)
{
    uint64_t ordered[MR_REFERENCE_EVENTS];
    uint32_t first = access_at(trace, v->first), second = access_at(trace, v->second);
    find_order(trace, ordered);
    if ((ordered[second] >> first & 1) != v->ordered)
        fail_msg("%s: %s and %s should be %s%s", v->file, v->first, v->second,
                 v->ordered ? "ordered" : "unordered", v->derived ? "" : ", says the paper");
    mr_race_list list;
    find_races(trace, 1, &list);
    bool reported =
        mr_race_list_find(&list, trace->location[first], trace->location[second]) != MR_NONE;
    assert_int_equal(reported, !v->ordered);
    mr_race_list_free(&list);
}

static void test_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof figure_verdicts / sizeof figure_verdicts[0]; i++) {
        const figure_verdict *v = &figure_verdicts[i];
        char path[128];
        snprintf(path, sizeof path, "tests/figures/%s.std", v->file);
        mr_trace *trace = NULL;
        mr_error error = {0};
        mr_read_options options = {0};
        if (mr_trace_read(path, &options, &trace, &error) != MR_OK)
            fail_msg("%s: %s", path, error.text);
        check_verdict(trace, v);
        mr_trace_free(trace);
    }
}

/* The accesses at locations 1 and 2, are they CP-ordered? */
typedef struct decision {
    const char *name, *trace;
    bool ordered;
} decision;

/* Sections 2 and 5.5 of the Raptor paper describe its Figures 2 and 6, and for each a variant with
 * two sections of the first thread swapped; the traces are made after that description. */
#define RAPTOR_2_END                                                                               \
    "b|acq(m)|\nb|acq(v)|\nb|rel(v)|\nc|acq(v)|\nc|rel(v)|\nc|w(x)|2\n"                            \
    "b|acq(u)|\nb|r(z)|\nb|rel(u)|\nb|rel(m)|\n"
#define RAPTOR_6_END                                                                               \
    "a|acq(u)|\na|w(z)|\na|rel(u)|\nb|acq(m)|\nb|acq(v)|\nb|rel(v)|\nc|acq(v)|\nc|rel(v)|\n"       \
    "c|w(x)|2\nc|acq(o)|\nc|acq(n)|\nc|rel(n)|\nb|acq(n)|\nb|rel(n)|\nb|rel(m)|\n"                 \
    "c|acq(u)|\nc|r(z)|\nc|rel(u)|\nc|rel(o)|\n"

static const decision decisions[] = {
    {"Raptor, Figure 2: known only after the second access",
     "a|w(x)|1\na|acq(m)|\na|rel(m)|\na|acq(u)|\na|w(z)|\na|rel(u)|\n" RAPTOR_2_END, true},
    {"Raptor, Figure 2, sections on m and u swapped",
     "a|w(x)|1\na|acq(u)|\na|w(z)|\na|rel(u)|\na|acq(m)|\na|rel(m)|\n" RAPTOR_2_END, false},
    {"Raptor, Figure 6: known only after the section around the second access has ended",
     "a|w(x)|1\na|acq(m)|\na|rel(m)|\na|acq(o)|\na|rel(o)|\n" RAPTOR_6_END, true},
    {"Raptor, Figure 6, sections on m and o swapped",
     "a|w(x)|1\na|acq(o)|\na|rel(o)|\na|acq(m)|\na|rel(m)|\n" RAPTOR_6_END, false},
    {"rule (a) orders the release before the acquire, not before the access",
     "a|w(x)|1\na|acq(l)|\na|w(y)|\na|rel(l)|\nb|acq(l)|\nb|w(x)|2\nb|r(y)|\n", true},
    {"two reads do not conflict",
     "a|w(x)|1\na|acq(l)|\na|r(y)|\na|rel(l)|\nb|acq(l)|\nb|r(y)|\nb|w(x)|2\nc|w(y)|\n", false},
    {"a write and a read in a third section conflict",
     "a|w(x)|1\na|acq(l)|\na|w(y)|\na|rel(l)|\nc|acq(l)|\nc|rel(l)|\nb|acq(l)|\nb|r(y)|\n"
     "b|rel(l)|\nb|w(x)|2\n",
     true},
    {"inner sections are no sections",
     "a|acq(l)|\na|acq(l)|\na|w(y)|\na|rel(l)|\na|w(x)|1\na|rel(l)|\n"
     "b|acq(l)|\nb|w(y)|\nb|w(x)|2\n",
     true},
    {"rule (b) for a section that is never released",
     "a|w(x)|1\na|acq(l)|\na|rel(l)|\na|acq(m)|\na|w(y)|\na|rel(m)|\n"
     "b|acq(l)|\nb|w(x)|2\nb|acq(m)|\nb|w(y)|\nb|rel(m)|\n",
     true},
    {"no rule (b) between sections of parent and child",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\na|acq(l)|\na|rel(l)|\na|fork(b)|\nb|acq(l)|\nb|rel(l)|\n"
     "b|w(x)|2\n",
     false},
    {"a fork passes on nothing that locks alone ordered",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\na|acq(l)|\na|rel(l)|\na|fork(b)|\nb|w(x)|2\n", false},
    {"a join passes on nothing that locks alone ordered",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\nb|acq(l)|\nb|rel(l)|\na|join(b)|\na|w(x)|2\n", false},
    {"a fork passes on what is CP-ordered",
     "c|w(x)|1\nc|acq(l)|\nc|w(y)|\nc|rel(l)|\na|acq(l)|\na|w(y)|\na|rel(l)|\na|fork(b)|\n"
     "b|w(x)|2\n",
     true},
    {"a fork, and a join of an idle thread, order by themselves",
     "a|w(x)|1\na|fork(b)|\nc|join(b)|\nc|w(x)|2\n", true},
    {"news at the end of a section reaches a thread that it forked",
     "a|w(x)|1\na|acq(l)|\na|rel(l)|\na|acq(m)|\na|w(y)|\na|rel(m)|\n"
     "b|acq(l)|\nb|fork(c)|\nc|w(x)|2\nb|acq(m)|\nb|w(y)|\nb|rel(m)|\nb|rel(l)|\n",
     true},
    {"a lock of one thread orders nothing",
     "c|w(x)|1\nc|acq(n)|\nc|rel(n)|\n"
     "a|acq(l)|\na|acq(m)|\na|w(y)|\na|rel(m)|\na|acq(n)|\na|rel(n)|\na|rel(l)|\n"
     "b|acq(m)|\nb|w(y)|\nb|w(z)|\nb|rel(m)|\n"
     "a|acq(l)|\na|acq(m)|\na|w(z)|\na|rel(m)|\na|rel(l)|\na|w(x)|2\n",
     false},
};

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof decisions[0]; i++) {
        const decision *d = &decisions[i];
        tally t = {0};
        mr_trace *trace = mr_sample_trace(d->trace);
        assert_non_null(trace);
        figure_verdict v = {d->name, "1", "2", d->ordered, true};
        check_verdict(trace, &v);
        mr_trace_free(trace);
        check_trace(d->trace, &t);
    }
}

static bool survives(const mr_trace *trace, uint64_t n)
{
    mr_race_list list;
    mr_detect_options options = {.most_examples = 2, .keep_events = true};
    mr_memory_fail_after(n);
    mr_status status = mr_cp_find(trace, &options, &list, NULL);
    mr_memory_fail_after(0);
    mr_race_list_free(&list);
    assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    return status == MR_OK;
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    char text[MR_REFERENCE_EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];
    for (uint64_t seed = 0; seed < 30; seed++) {
        mr_random_walk(seed, MR_REFERENCE_EVENTS, text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        uint64_t n = 1;
        while (!survives(trace, n))
            n++;
        assert_true(n > 10);
        mr_trace_free(trace);
    }
}

static void tell(void *context, const char *stage, uint64_t done, uint64_t total)
{
    uint64_t *last = context;
    assert_string_equal(stage, "cp");
    assert_true(done >= *last && done <= total);
    *last = done;
}

static void test_empty_trace_and_progress(void **state)
{
    (void)state;
    uint64_t last = 0;
    mr_progress progress = {tell, &last};
    mr_detect_options options = {.progress = &progress};
    const char *texts[] = {"", "a|w(x)|1\nb|w(x)|2\n"};
    for (uint32_t i = 0; i < 2; i++) {
        mr_trace *trace = mr_sample_trace(texts[i]);
        assert_non_null(trace);
        mr_race_list list;
        assert_int_equal(mr_cp_find(trace, &options, &list, NULL), MR_OK);
        assert_int_equal(list.racy_event_count, i);
        assert_int_equal(list.race_count, i);
        assert_int_equal(list.events.count, 0);
        mr_race_list_free(&list);
        mr_trace_free(trace);
    }
    assert_int_equal(last, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),          cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_figures),        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_lack_of_memory), cmocka_unit_test(test_empty_trace_and_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
