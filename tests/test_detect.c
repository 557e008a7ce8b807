/* The streaming orders: racy events, static races and their examples, against definitions and plain
 * vector clocks, in blocks of all sizes, with and without an outlook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/read.h"
#include "order/detect/detect.h"
#include "order/order.h"
#include "support/crowd.h"
#include "support/djit.h"
#include "support/length.h"
#include "support/order_reference.h"
#include "support/random_walk.h"

enum {
    SMALL_TRACES = 2500,
    LARGE_TRACES = 90,
    SHARE_LARGE = 30,
    LARGE_EVENTS = 1500,
    HUGE_TRACES = 6,
    SHARE_HUGE = 3
};
enum { HUGE_EVENTS = 20000 };

static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_FHB, MR_RELATION_SHB,
                                        MR_RELATION_WCP};
enum { RELATIONS = sizeof relations / sizeof relations[0] };

static char text[HUGE_EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];

static mr_trace *read_text(const char *from)
{
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    if (mr_trace_read_text("test", from, strlen(from), &options, &trace, &error) != MR_OK)
        fail_msg("%s: line %d: %s\n%s", error.file, (int)error.line, error.text, from);
    return trace;
}

/* All shapes in turn. */
static mr_trace *make_trace(uint64_t seed, uint32_t events)
{
    switch (seed % 4) {
    case 0:
        mr_random_walk(seed, events, text);
        break;
    case 1:
        mr_random_walk_hot(seed, events, text);
        break;
    case 2:
        mr_random_walk_lives(seed, events, text);
        break;
    default:
        mr_crowd(seed, events, text);
        break;
    }
    return read_text(text);
}

/* A run of events that knows of no name that comes later. */
typedef struct name_counts {
    uint32_t thread, variable, lock, location;
    bool told; /* the members of objects */
} name_counts;

static void raise_to(uint32_t *count, uint32_t number)
{
    if (*count <= number)
        *count = number + 1;
}

static mr_events next_run(const mr_trace *trace, uint32_t first, uint32_t count,
                          name_counts *counts)
{
    mr_events events = mr_events_of_trace(trace, first, count);
    for (uint32_t i = 0; i < count; i++) {
        raise_to(&counts->thread, events.thread[i]);
        raise_to(&counts->location, events.location[i]);
        switch (mr_op_operand_kind((mr_op)events.op[i])) {
        case MR_OPERAND_VARIABLE:
            raise_to(&counts->variable, events.operand[i]);
            break;
        case MR_OPERAND_LOCK:
            raise_to(&counts->lock, events.operand[i]);
            break;
        case MR_OPERAND_THREAD:
            raise_to(&counts->thread, events.operand[i]);
            break;
        case MR_OPERAND_NONE:
        case MR_OPERAND_CALL:
        case MR_OPERAND_OBJECT:
            break;
        }
    }
    events.thread_count = counts->thread;
    events.variable_count = counts->variable;
    events.lock_count = counts->lock;
    events.location_count = counts->location;
    if (counts->told)
        events.member_count = 0;
    counts->told = true;
    return events;
}

static void feed(mr_detector *detector, const mr_events *events)
{
    mr_error error = {0};
    if (mr_detector_feed(detector, events, &error) != MR_OK)
        fail_msg("%s", error.text);
}

/* Runs of random lengths, empty ones among them. */
static void detect_in_runs(mr_relation relation, const mr_trace *trace,
                           const mr_detect_options *options, uint64_t seed, mr_race_list *list)
{
    mr_random random = {seed};
    name_counts counts = {0};
    uint32_t longest = mr_random_percent(&random, 50) ? 8 : trace->event_count + 1;
    mr_detector *detector = mr_detector_new(relation, options);
    assert_non_null(detector);
    for (uint32_t first = 0; first < trace->event_count;) {
        uint32_t left = trace->event_count - first, count = mr_random_below(&random, longest);
        mr_events events = next_run(trace, first, count < left ? count : left, &counts);
        feed(detector, &events);
        first += events.count;
    }
    assert_int_equal(mr_detector_finish(detector, list, NULL), MR_OK);
    mr_detector_free(detector);
}

/* Is `first`, `second` a race? Some way to tell. */
typedef bool race_test(const void *definition, uint32_t first, uint32_t second);

/* What should be found, made from all pairs: for each second event, the latest first events first.
 */
static void expect(mr_race_list *list, const mr_trace *trace, race_test *is_race,
                   const void *definition)
{
    mr_race_list_init(list, 1, true);
    for (uint32_t b = 0; b < trace->event_count; b++) {
        for (uint32_t a = b; a-- > 0;) {
            if (!is_race(definition, a, b))
                continue;
            mr_race_example pair = {
                .variable = trace->operand[trace->op[a] == MR_OP_FREE ? b : a],
                .first = {a, trace->thread[a], trace->location[a], trace->op[a]},
                .second = {b, trace->thread[b], trace->location[b], trace->op[b]},
            };
            assert_true(mr_race_list_racy(list, b, trace->location[b], pair.variable));
            assert_true(mr_race_list_add(list, &pair));
        }
    }
    assert_true(mr_race_list_finish(list));
}

static void same_access(const mr_racing_access *one, const mr_racing_access *two)
{
    assert_int_equal(one->event, two->event);
    assert_int_equal(one->thread, two->thread);
    assert_int_equal(one->location, two->location);
    assert_int_equal(one->op, two->op);
}

static void same_lists(const mr_race_list *expected, const mr_race_list *list, const char *what,
                       uint64_t seed)
{
    size_t count = expected->events.count;
    if (list->events.count != count || (count && memcmp(list->events.items, expected->events.items,
                                                        count * sizeof(uint32_t)) != 0))
        fail_msg("%s, seed %d: %d racy events, not %d, or others\n%s", what, (int)seed,
                 (int)list->events.count, (int)count, text);
    assert_int_equal(list->racy_event_count, count);
    assert_int_equal(list->racy_location_count, expected->racy_location_count);
    assert_int_equal(list->racy_variable_count, expected->racy_variable_count);
    if (list->race_count != expected->race_count)
        fail_msg("%s, seed %d: %d static races, not %d\n%s", what, (int)seed, (int)list->race_count,
                 (int)expected->race_count, text);
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *one = &expected->examples[expected->races[i].first_example];
        const mr_race_example *two = &list->examples[list->races[i].first_example];
        if (one->first.event != two->first.event || one->second.event != two->second.event)
            fail_msg("%s, seed %d: example %d is %u %u, not %u %u\n%s", what, (int)seed, (int)i,
                     (unsigned)two->first.event, (unsigned)two->second.event,
                     (unsigned)one->first.event, (unsigned)one->second.event, text);
        assert_int_equal(one->variable, two->variable);
        same_access(&one->first, &two->first);
        same_access(&one->second, &two->second);
    }
}

/* When nobody asks about every other pair of places, the races of the rest are found as before, and none is found where
 * there is none. Traces with many places have no other races then. */
static void check_wanted(const mr_trace *trace, mr_relation relation, const mr_race_list *expected)
{
    mr_wanted wanted = {.all_but = true};
    mr_race_list list;
    for (size_t i = 0; i < expected->race_count; i += 2)
        assert_true(mr_wanted_add(&wanted, trace->locations.count, expected->races[i].low,
                                  expected->races[i].high));
    mr_detect_options options = {.keep_events = true, .wanted = &wanted};
    assert_int_equal(mr_detect(relation, trace, &options, &list, NULL), MR_OK);
    assert_int_equal(list.racy_event_count, expected->racy_event_count);
    for (size_t i = 0; i < expected->race_count; i++) {
        const mr_static_race *race = &expected->races[i];
        uint32_t found = mr_race_list_find(&list, race->low, race->high);
        if (i % 2 == 0) {
            assert_true(found == UINT32_MAX);
            continue;
        }
        assert_true(found != UINT32_MAX);
        same_access(&expected->examples[race->first_example].first,
                    &list.examples[list.races[found].first_example].first);
        same_access(&expected->examples[race->first_example].second,
                    &list.examples[list.races[found].first_example].second);
    }
    assert_int_equal(list.race_count, expected->race_count / 2);
    assert_true(list.wanted == NULL);
    mr_race_list_free(&list);
    mr_wanted_free(&wanted);
}

/* The detector in all ways, against what is expected. */
static void check_ways(const mr_trace *trace, mr_relation relation, const mr_race_list *expected,
                       uint64_t seed)
{
    mr_outlook outlook;
    mr_race_list list;
    assert_true(mr_outlook_of_trace(&outlook, trace));
    for (int way = 0; way < 2; way++) {
        mr_detect_options options = {.keep_events = true, .outlook = way ? &outlook : NULL};
        detect_in_runs(relation, trace, &options, seed, &list);
        same_lists(expected, &list, mr_relation_name(relation), seed);
        mr_race_list_free(&list);
    }
    mr_detect_options options = {.keep_events = true};
    assert_int_equal(mr_detect(relation, trace, &options, &list, NULL), MR_OK);
    same_lists(expected, &list, mr_relation_name(relation), seed);
    mr_race_list_free(&list);
    mr_outlook_free(&outlook);
    check_wanted(trace, relation, expected);
}

static void check_definition(const mr_trace *trace, mr_relation relation, race_test *is_race,
                             const void *definition, uint64_t seed)
{
    mr_race_list expected;
    expect(&expected, trace, is_race, definition);
    check_ways(trace, relation, &expected, seed);
    mr_race_list_free(&expected);
}

static bool hb_race(const void *definition, uint32_t first, uint32_t second)
{
    const mr_order_reference *reference = definition;
    return mr_reference_conflict(reference->trace, first, second) &&
           !mr_order_matrix_has(&reference->hb, first, second);
}

static bool shb_race(const void *definition, uint32_t first, uint32_t second)
{
    return mr_reference_shb_race(definition, first, second);
}

static bool wcp_race(const void *definition, uint32_t first, uint32_t second)
{
    const mr_order_reference *reference = definition;
    return mr_reference_conflict(reference->trace, first, second) &&
           !mr_order_matrix_has(&reference->wcp, first, second);
}

static void test_small_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SMALL_TRACES; seed++) {
        mr_random random = {seed};
        mr_trace *trace = make_trace(seed, mr_random_range(&random, 6, MR_REFERENCE_EVENTS));
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_definition(trace, MR_RELATION_HB, hb_race, &reference, seed);
        check_definition(trace, MR_RELATION_SHB, shb_race, &reference, seed);
        check_definition(trace, MR_RELATION_WCP, wcp_race, &reference, seed);
        mr_trace_free(trace);
    }
}

static bool djit_race(const void *definition, uint32_t first, uint32_t second)
{
    return mr_djit_race(definition, first, second);
}

typedef struct wcp_labels {
    const mr_trace *trace;
    const mr_order *order;
} wcp_labels;

static bool label_race(const void *definition, uint32_t first, uint32_t second)
{
    const wcp_labels *labels = definition;
    return mr_reference_conflict(labels->trace, first, second) &&
           !mr_order_ordered(labels->order, first, second);
}

static void test_large_traces(void **state)
{
    (void)state;
    size_t racy = 0;
    uint64_t traces = mr_length("DETECT_LARGE", SHARE_LARGE, LARGE_TRACES);
    for (uint64_t seed = 0; seed < traces; seed++) {
        mr_trace *trace = make_trace(seed, LARGE_EVENTS);
        for (int i = 0; i < RELATIONS; i++) {
            mr_djit djit;
            if (relations[i] == MR_RELATION_WCP)
                continue;
            mr_djit_build(&djit, trace, relations[i]);
            check_definition(trace, relations[i], djit_race, &djit, seed);
            for (uint32_t event = 0; event < trace->event_count; event++)
                racy += djit.racy[event];
            mr_djit_free(&djit);
        }
        mr_order *order = mr_order_new(trace, MR_RELATION_WCP);
        mr_barrier_edges edges;
        assert_int_equal(mr_barrier_edges_find(trace, MR_OPAQUE_PAIR, &edges, NULL), MR_OK);
        assert_true(order && mr_order_use_edges(order, &edges));
        assert_int_equal(mr_order_slide(order, 0, trace->event_count, NULL), MR_OK);
        check_definition(trace, MR_RELATION_WCP, label_race, &(wcp_labels){trace, order}, seed);
        mr_order_free(order);
        mr_barrier_edges_free(&edges);
        mr_trace_free(trace);
    }
    assert_true(racy > traces);
}

/* Epochs and vector clocks agree on every event. */
static void test_epochs_and_vector_clocks(void **state)
{
    (void)state;
    uint64_t traces = mr_length("DETECT_HUGE", SHARE_HUGE, HUGE_TRACES);
    uint32_t events = mr_length_full() ? HUGE_EVENTS : HUGE_EVENTS / 2;
    for (uint64_t seed = 0; seed < traces; seed++) {
        mr_trace *trace = make_trace(seed, events);
        for (int i = 0; i < RELATIONS; i++) {
            mr_race_list list;
            mr_djit djit;
            if (relations[i] == MR_RELATION_WCP)
                continue;
            mr_djit_build(&djit, trace, relations[i]);
            detect_in_runs(relations[i], trace, &(mr_detect_options){.keep_events = true}, seed,
                           &list);
            size_t next = 0;
            for (uint32_t event = 0; event < trace->event_count; event++) {
                bool racy = next < list.events.count && list.events.items[next] == event;
                if (racy != djit.racy[event])
                    fail_msg("%s, seed %d: event %u should be %sracy",
                             mr_relation_name(relations[i]), (int)seed, event,
                             djit.racy[event] ? "" : "not ");
                next += racy;
            }
            assert_int_equal(next, list.events.count);
            mr_race_list_free(&list);
            mr_djit_free(&djit);
        }
        mr_trace_free(trace);
    }
}

/* Two runs, with the boundary at every event. */
static void test_run_boundaries(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        mr_trace *trace = make_trace(seed, 60);
        for (int i = 0; i < RELATIONS; i++) {
            mr_race_list expected, list;
            mr_detect_options options = {.keep_events = true};
            assert_int_equal(mr_detect(relations[i], trace, &options, &expected, NULL), MR_OK);
            for (uint32_t at = 0; at <= trace->event_count; at++) {
                name_counts counts = {0};
                mr_detector *detector = mr_detector_new(relations[i], &options);
                assert_non_null(detector);
                mr_events events = next_run(trace, 0, at, &counts);
                feed(detector, &events);
                events = next_run(trace, at, trace->event_count - at, &counts);
                feed(detector, &events);
                assert_int_equal(mr_detector_finish(detector, &list, NULL), MR_OK);
                same_lists(&expected, &list, mr_relation_name(relations[i]), seed);
                mr_race_list_free(&list);
                mr_detector_free(detector);
            }
            mr_race_list_free(&expected);
        }
        mr_trace_free(trace);
    }
}

/* Further examples are races of their static race, in order, each once; the first stays the first.
 */
static void check_examples(const mr_race_list *list, const mr_djit *djit, uint32_t most)
{
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_static_race *race = &list->races[i];
        uint32_t before = 0, count = 0;
        assert_in_range(race->example_count, 1, most);
        for (uint32_t at = race->first_example; at != UINT32_MAX; at = list->examples[at].next) {
            const mr_race_example *example = &list->examples[at];
            uint32_t a = example->first.location, b = example->second.location;
            assert_true(mr_djit_race(djit, example->first.event, example->second.event));
            assert_true((a == race->low && b == race->high) || (b == race->low && a == race->high));
            assert_true(!count++ || example->second.event > before);
            before = example->second.event;
        }
        assert_int_equal(count, race->example_count);
    }
}

static void test_more_examples(void **state)
{
    (void)state;
    size_t further = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        mr_trace *trace = make_trace(seed, 600);
        for (int i = 0; i < RELATIONS; i++) {
            mr_djit djit;
            mr_race_list one, three;
            if (relations[i] == MR_RELATION_WCP)
                continue;
            mr_djit_build(&djit, trace, relations[i]);
            mr_detect_options options = {.keep_events = true};
            assert_int_equal(mr_detect(relations[i], trace, &options, &one, NULL), MR_OK);
            options.most_examples = 3;
            detect_in_runs(relations[i], trace, &options, seed, &three);
            same_lists(&one, &three, mr_relation_name(relations[i]), seed);
            check_examples(&three, &djit, 3);
            further += three.example_count - three.race_count;
            mr_race_list_free(&one);
            mr_race_list_free(&three);
            mr_djit_free(&djit);
        }
        mr_trace_free(trace);
    }
    assert_true(further > 100);
}

/* With the n-th allocation failing; true when none failed. */
static bool survives(const mr_trace *trace, mr_relation relation, const mr_outlook *outlook,
                     uint64_t n)
{
    mr_status status = MR_ERR_MEMORY;
    mr_race_list list;
    name_counts counts = {0};
    mr_race_list_init(&list, 1, false);
    mr_memory_fail_after(n);
    mr_detector *detector = mr_detector_new(relation, &(mr_detect_options){.outlook = outlook});
    if (detector)
        status = MR_OK;
    for (uint32_t first = 0; first < trace->event_count && status == MR_OK; first += 50) {
        uint32_t left = trace->event_count - first;
        mr_events events = next_run(trace, first, left < 50 ? left : 50, &counts);
        status = mr_detector_feed(detector, &events, NULL);
    }
    if (detector) {
        mr_status finished = mr_detector_finish(detector, &list, NULL);
        status = status == MR_OK ? finished : status;
    }
    mr_memory_fail_after(0);
    mr_race_list_free(&list);
    mr_detector_free(detector);
    assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    return status == MR_OK;
}

static bool detect_survives(const mr_trace *trace, mr_relation relation, uint64_t n)
{
    mr_race_list list;
    mr_memory_fail_after(n);
    mr_status status = mr_detect(relation, trace, &(mr_detect_options){0}, &list, NULL);
    mr_memory_fail_after(0);
    mr_race_list_free(&list);
    assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    return status == MR_OK;
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    uint64_t traces = mr_length("DETECT_TRACES", 1, 9);
    for (uint64_t seed = 0; seed < traces; seed++) {
        mr_trace *trace = make_trace(seed, 400);
        mr_outlook outlook;
        assert_true(mr_outlook_of_trace(&outlook, trace));
        for (int i = 0; i < RELATIONS; i++) {
            uint64_t n = 1;
            while (!survives(trace, relations[i], NULL, n))
                n++;
            assert_true(n > 1);
            for (n = 1; !survives(trace, relations[i], &outlook, n); n++)
                ;
            for (n = 1; !detect_survives(trace, relations[i], n); n++)
                ;
        }
        mr_outlook_free(&outlook);
        mr_trace_free(trace);
    }
}

/* What a call orders cannot be told while the events come: the detector stops there; what was found
 * before stays. A trace in memory is fine, and so is a stream when calls do not count. */
static void test_calls_of_a_stream(void **state)
{
    (void)state;
    static const char calls[] = "a|w(x)|1\nb|w(x)|2\na|mbegin(m:x)|3\na|mend(m)|3\nc|w(x)|4\n";
    mr_trace *trace = read_text(calls);
    mr_events events = mr_events_of_trace(trace, 0, trace->event_count), none = {0};
    mr_detect_options ignore = {.opaque = MR_OPAQUE_IGNORE};
    for (int r = 0; r < RELATIONS; r++) {
        mr_race_list list;
        mr_error error = {0};
        mr_detector *detector = mr_detector_new(relations[r], &(mr_detect_options){0});
        assert_non_null(detector);
        assert_int_equal(mr_detector_feed(detector, &events, &error), MR_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "event 2"));
        assert_int_equal(mr_detector_feed(detector, &none, &error), MR_ERR_INTERNAL);
        assert_int_equal(mr_detector_finish(detector, &list, &error), MR_OK);
        assert_int_equal(list.racy_event_count, 1);
        mr_race_list_free(&list);
        mr_detector_free(detector);
        /* The write after the call is in order with it, and with what the call comes after. */
        assert_int_equal(mr_detect(relations[r], trace, &(mr_detect_options){0}, &list, &error),
                         MR_OK);
        assert_int_equal(list.racy_event_count, 1);
        mr_race_list_free(&list);
        detector = mr_detector_new(relations[r], &ignore);
        assert_int_equal(mr_detector_feed(detector, &events, &error), MR_OK);
        assert_int_equal(mr_detector_finish(detector, &list, &error), MR_OK);
        assert_int_equal(list.racy_event_count, 2);
        mr_race_list_free(&list);
        mr_detector_free(detector);
    }
    mr_trace_free(trace);
}

static void test_outlook_of_another_trace(void **state)
{
    (void)state;
    mr_trace *small = read_text("a|w(x)|1\nb|w(x)|2\n"), *large = make_trace(2, 200);
    mr_outlook outlook;
    mr_race_list list;
    mr_error error = {0};
    assert_true(mr_outlook_of_trace(&outlook, small));
    for (int i = 0; i < RELATIONS; i++) {
        mr_detect_options options = {.outlook = &outlook};
        assert_int_equal(mr_detect(relations[i], large, &options, &list, &error), MR_ERR_INTERNAL);
        assert_non_null(strstr(error.text, "outlook"));
        mr_race_list_free(&list);
    }
    mr_outlook_free(&outlook);
    mr_trace_free(small);
    mr_trace_free(large);
}

typedef struct told {
    int count;
    uint64_t done, total;
    const char *stage;
} told;

static void note(void *context, const char *stage, uint64_t done, uint64_t total)
{
    told *t = context;
    assert_true(done > t->done);
    *t = (told){t->count + 1, done, total, stage};
}

static void test_progress_and_empty_trace(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(0, 100), *empty = read_text("");
    for (int i = 0; i < RELATIONS; i++) {
        told t = {0};
        mr_race_list list;
        mr_progress progress = {note, &t};
        mr_detect_options options = {.progress = &progress};
        assert_int_equal(mr_detect(relations[i], trace, &options, &list, NULL), MR_OK);
        mr_race_list_free(&list);
        assert_true(t.count > 0 && t.done == trace->event_count && t.total == t.done);
        assert_string_equal(t.stage, mr_relation_name(relations[i]));
        assert_int_equal(mr_detect(relations[i], empty, &options, &list, NULL), MR_OK);
        assert_int_equal(list.race_count, 0);
        mr_race_list_free(&list);
    }
    mr_trace_free(trace);
    mr_trace_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_large_traces),
        cmocka_unit_test(test_epochs_and_vector_clocks),
        cmocka_unit_test(test_run_boundaries),
        cmocka_unit_test(test_more_examples),
        cmocka_unit_test(test_lack_of_memory),
        cmocka_unit_test(test_calls_of_a_stream),
        cmocka_unit_test(test_outlook_of_another_trace),
        cmocka_unit_test(test_progress_and_empty_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
