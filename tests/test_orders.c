/*
 * Do the whole-trace orders report what their definitions say? mr_detect and mr_detector_* against
 * support/order_races.h on random traces: racy events, counts, static races, first and further
 * examples; with and without an outlook; from a trace in memory and as a stream of blocks.
 *
 * ORDERS_TRACES, ORDERS_SEED, ORDERS_SHAPE choose other traces (support/trials.h).
 * test_order_reference.c compares the definitions with exhaustive search on the same traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/detect/detect.h"
#include "support/order_races.h"
#include "support/random.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_TRACES = 4000,
    SHARE = 1000,
    DEFAULT_SEED = 20181022,
    MOST_EXAMPLES = 3,
    MOST_BLOCK = 9,
};

typedef struct examination {
    mr_trial *trial;
    mr_order_reference reference;
    mr_order_races right; /* of the relation in question */
    mr_relation relation;
    const char *how; /* the question, for messages */
    uint64_t pairs[MR_RELATION_COUNT], events[MR_RELATION_COUNT], races[MR_RELATION_COUNT];
} examination;

static void wrong(examination *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(examination *x, const char *format, ...)
{
    char what[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    mr_trial_wrong(x->trial, "%s, %s: %s", mr_relation_name(x->relation), x->how, what);
}

/* ---- is the list right? ---- */

static void expect_count(examination *x, const char *what, uint64_t expected, uint64_t found)
{
    if (expected != found)
        wrong(x, "%" PRIu64 " %s, should be %" PRIu64, found, what, expected);
}

static void examine_events(examination *x, const mr_race_list *list)
{
    const mr_order_races *right = &x->right;
    for (uint32_t i = 0; list->keep_events && i < right->event_count; i++) {
        if (i >= list->events.count || right->events[i] < list->events.items[i])
            wrong(x, "event %" PRIu32 " is racy, but not reported", right->events[i]);
        else if (right->events[i] > list->events.items[i])
            wrong(x, "event %" PRIu32 " is reported, but not racy", list->events.items[i]);
    }
    expect_count(x, "events kept", list->keep_events ? right->event_count : 0, list->events.count);
    expect_count(x, "racy events", right->event_count, list->racy_event_count);
    expect_count(x, "racy locations", right->location_count, list->racy_location_count);
    expect_count(x, "racy variables", right->variable_count, list->racy_variable_count);
}

static void examine_access(examination *x, const mr_racing_access *access)
{
    const mr_trace *trace = x->trial->trace;
    if (access->thread != trace->thread[access->event] ||
        access->location != trace->location[access->event] ||
        access->op != trace->op[access->event])
        wrong(x,
              "event %" PRIu64 " of an example has thread %" PRIu32 ", location %" PRIu32 ", op %d",
              access->event, access->thread, access->location, access->op);
}

static void examine_example(examination *x, const mr_static_race *race,
                            const mr_race_example *example)
{
    uint32_t first = example->first.event, second = example->second.event;
    if (first >= second || second >= x->trial->trace->event_count ||
        !mr_order_matrix_has(&x->right.pairs, first, second)) {
        wrong(x, "example %" PRIu32 "-%" PRIu32 " is no pair of the relation", first, second);
        return;
    }
    examine_access(x, &example->first);
    examine_access(x, &example->second);
    uint32_t a = example->first.location, b = example->second.location;
    if ((a < b ? a : b) != race->low || (a < b ? b : a) != race->high)
        wrong(x, "example %" PRIu32 "-%" PRIu32 " is of another static race", first, second);
    if (example->variable != mr_order_races_variable(x->trial->trace, first, second))
        wrong(x, "example %" PRIu32 "-%" PRIu32 " has variable %" PRIu32, first, second,
              example->variable);
}

/* All examples of one static race: right, different, in the order of their second events. */
static void examine_examples(examination *x, const mr_race_list *list, const mr_static_race *race)
{
    uint32_t count = 0, last = UINT32_MAX;
    for (uint32_t at = race->first_example; at != UINT32_MAX; at = list->examples[at].next) {
        const mr_race_example *example = &list->examples[at];
        if (at >= list->example_count || ++count > list->most_examples) {
            wrong(x, "the examples of a static race have no end");
            return;
        }
        examine_example(x, race, example);
        if (last != UINT32_MAX && list->examples[last].second.event >= example->second.event)
            wrong(x, "example %" PRIu64 "-%" PRIu64 " comes too late", example->first.event,
                  example->second.event);
        last = at;
    }
    expect_count(x, "examples of a static race", race->example_count, count);
    if (!count || race->last_example != last)
        wrong(x, "a static race has a wrong last example");
}

static void examine_race(examination *x, const mr_race_list *list, uint32_t i)
{
    const mr_right_race *right = &x->right.races[i];
    const mr_static_race *race = &list->races[i];
    if (race->low != right->low || race->high != right->high) {
        wrong(x,
              "static race %" PRIu32 " is of locations %" PRIu32 ", %" PRIu32 ", should be %" PRIu32
              ", %" PRIu32,
              i, race->low, race->high, right->low, right->high);
        return;
    }
    if (mr_race_list_find(list, race->low, race->high) != i ||
        mr_race_list_find(list, race->high, race->low) != i)
        wrong(x, "static race %" PRIu32 " is not found by its locations", i);
    examine_examples(x, list, race);
    if (x->trial->wrong[0])
        return;
    const mr_race_example *first = &list->examples[race->first_example];
    if (first->first.event != right->first || first->second.event != right->second)
        wrong(x, "first example %" PRIu64 "-%" PRIu64 ", should be %" PRIu32 "-%" PRIu32,
              first->first.event, first->second.event, right->first, right->second);
}

static void examine_list(examination *x, const mr_race_list *list)
{
    examine_events(x, list);
    for (uint32_t i = 0; i < list->race_count && i < x->right.race_count; i++)
        examine_race(x, list, i);
    expect_count(x, "static races", x->right.race_count, list->race_count);
}

/* ---- asking ---- */

static void ask_detect(examination *x, const char *how, const mr_detect_options *options)
{
    mr_race_list list;
    mr_error error = {0};
    x->how = how;
    if (mr_detect(x->relation, x->trial->trace, options, &list, &error) != MR_OK)
        wrong(x, "error: %s", error.text);
    else
        examine_list(x, &list);
    mr_race_list_free(&list);
}

static void *copy_of(const void *items, size_t bytes)
{
    void *copy = malloc(bytes + !bytes);
    assert_non_null(copy);
    return bytes ? memcpy(copy, items, bytes) : copy;
}

static void at_least(uint32_t *count, uint32_t number)
{
    if (*count <= number)
        *count = number + 1;
}

/* Counts the names of the block: those of later blocks are not known yet. */
static void count_names(const mr_trace *trace, mr_events *events)
{
    for (uint32_t e = events->first; e < events->first + events->count; e++) {
        uint32_t operand = trace->operand[e];
        at_least(&events->thread_count, trace->thread[e]);
        at_least(&events->location_count, trace->location[e]);
        if (mr_op_is_access(trace->op[e]))
            at_least(&events->variable_count, operand);
        else if (mr_op_operand_kind((mr_op)trace->op[e]) == MR_OPERAND_LOCK)
            at_least(&events->lock_count, operand);
        else if (mr_op_operand_kind((mr_op)trace->op[e]) == MR_OPERAND_THREAD)
            at_least(&events->thread_count, operand);
        else if (mr_op_operand_kind((mr_op)trace->op[e]) == MR_OPERAND_OBJECT)
            at_least(&events->object_count, operand);
    }
}

/* The block is gone after the call: nobody may look at it later, or behind its end. */
static mr_status feed_block(mr_detector *detector, const mr_trace *trace, mr_events *events,
                            mr_error *error)
{
    uint32_t first = events->first, count = events->count;
    void *op = copy_of(trace->op + first, count * sizeof *trace->op);
    void *thread = copy_of(trace->thread + first, count * sizeof *trace->thread);
    void *operand = copy_of(trace->operand + first, count * sizeof *trace->operand);
    void *location = copy_of(trace->location + first, count * sizeof *trace->location);
    uint8_t *orders = trace->memory_order;
    void *memory_order = orders ? copy_of(orders + first, count * sizeof *orders) : NULL;
    count_names(trace, events);
    events->op = op;
    events->thread = thread;
    events->operand = operand;
    events->location = location;
    events->memory_order = memory_order;
    mr_status status = mr_detector_feed(detector, events, error);
    free(op);
    free(thread);
    free(operand);
    free(location);
    free(memory_order);
    return status;
}

/* In blocks of random sizes, now and then an empty one. */
static void ask_stream(examination *x, const char *how, const mr_detect_options *options)
{
    const mr_trace *trace = x->trial->trace;
    mr_random random = {x->trial->choice};
    mr_events events = {.first = 0,
                        .members = trace->members.items,
                        .member_count = trace->members.count,
                        .knows_members = true};
    mr_race_list list;
    mr_error error = {0};
    mr_status status = MR_OK;
    x->how = how;
    mr_detector *detector = mr_detector_new(x->relation, options);
    assert_non_null(detector);
    while (status == MR_OK && events.first < trace->event_count) {
        uint32_t left = trace->event_count - events.first;
        events.count = mr_random_below(&random, MOST_BLOCK + 1);
        if (events.count > left)
            events.count = left;
        status = feed_block(detector, trace, &events, &error);
        events.member_count = 0; /* they were told with the first block */
        events.first += events.count;
    }
    if (status == MR_OK)
        status = mr_detector_finish(detector, &list, &error);
    if (status != MR_OK) {
        wrong(x, "error: %s", error.text);
    } else {
        examine_list(x, &list);
        mr_race_list_free(&list);
    }
    mr_detector_free(detector);
}

static void examine_relation(examination *x, const mr_outlook *outlook,
                             const mr_barrier_edges *edges)
{
    mr_detect_options options = {.most_examples = 1, .keep_events = true};
    mr_order_races_find(&x->right, &x->reference, x->relation);
    ask_detect(x, "in memory", &options);
    if (mr_relation_streaming(x->relation) && !x->trial->trace->op_counts[MR_OP_CALL_BEGIN])
        ask_stream(x, "as a stream without edges", &options);
    options.edges = edges;
    if (mr_relation_streaming(x->relation))
        ask_stream(x, "as a stream", &options);
    options = (mr_detect_options){.most_examples = MOST_EXAMPLES, .keep_events = true};
    options.outlook = outlook;
    if (mr_relation_streaming(x->relation) && !x->trial->trace->op_counts[MR_OP_CALL_BEGIN])
        ask_stream(x, "as a stream, with an outlook, without edges", &options);
    options.edges = edges;
    ask_detect(x, "in memory, with an outlook", &options);
    if (mr_relation_streaming(x->relation))
        ask_stream(x, "as a stream, with an outlook", &options);
    options = (mr_detect_options){.most_examples = MOST_EXAMPLES, .keep_events = false};
    ask_detect(x, "in memory, no events kept", &options);
}

static void count(examination *x)
{
    for (uint32_t e = 0; e < MR_REFERENCE_EVENTS; e++)
        for (uint64_t row = x->right.pairs.rows[e]; row; row &= row - 1)
            x->pairs[x->relation]++;
    x->events[x->relation] += x->right.event_count;
    x->races[x->relation] += x->right.race_count;
}

/* Where every memory order is sc, c17 is shb. */
static void examine_sc(examination *x)
{
    mr_order_races shb;
    if (x->trial->trace->memory_order || x->relation != MR_RELATION_C17)
        return;
    mr_order_races_find(&shb, &x->reference, MR_RELATION_SHB);
    if (memcmp(&shb.pairs, &x->right.pairs, sizeof shb.pairs) != 0)
        wrong(x, "the pairs are not those of shb");
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_outlook outlook;
    mr_barrier_edges edges;
    x->trial = trial;
    mr_order_reference_build(&x->reference, trial->trace);
    assert_true(mr_outlook_of_trace(&outlook, trial->trace));
    assert_int_equal(mr_barrier_edges_find(trial->trace, MR_OPAQUE_PAIR, &edges, NULL), MR_OK);
    for (int relation = 0; relation < MR_RELATION_COUNT; relation++) {
        x->relation = (mr_relation)relation;
        examine_relation(x, &outlook, &edges);
        examine_sc(x);
        count(x);
    }
    mr_barrier_edges_free(&edges);
    mr_outlook_free(&outlook);
}

static void run(const mr_trials *trials)
{
    examination *x = calloc(1, sizeof *x);
    assert_non_null(x);
    mr_trials_run(trials, examine, x);
    for (int i = 0; i < MR_RELATION_COUNT; i++)
        print_message("  %-5s %8" PRIu64 " pairs, %8" PRIu64 " racy events, %8" PRIu64
                      " static races\n",
                      mr_relation_name((mr_relation)i), x->pairs[i], x->events[i], x->races[i]);
    free(x);
}

static void test_small_traces(void **state)
{
    (void)state;
    run(&(mr_trials){.prefix = "ORDERS",
                     .traces = DEFAULT_TRACES,
                     .share = SHARE,
                     .seed = DEFAULT_SEED,
                     .all_kinds = true});
}

static void test_longer_traces(void **state)
{
    (void)state;
    run(&(mr_trials){.prefix = "ORDERS",
                     .traces = DEFAULT_TRACES,
                     .share = SHARE,
                     .seed = DEFAULT_SEED,
                     .longer = true,
                     .all_kinds = true});
}

/* Rule (b) of CP and WCP is rare elsewhere. */
static void test_chains(void **state)
{
    (void)state;
    run(&(mr_trials){.prefix = "ORDERS",
                     .traces = DEFAULT_TRACES,
                     .share = SHARE,
                     .seed = DEFAULT_SEED,
                     .shape = "chains",
                     .longer = true});
}

/* c17 alone needs it. */
static void test_memory_orders(void **state)
{
    (void)state;
    run(&(mr_trials){.prefix = "ORDERS",
                     .traces = DEFAULT_TRACES,
                     .share = SHARE,
                     .seed = DEFAULT_SEED,
                     .shape = "memory-orders"});
    run(&(mr_trials){.prefix = "ORDERS",
                     .traces = DEFAULT_TRACES,
                     .share = SHARE,
                     .seed = DEFAULT_SEED,
                     .shape = "memory-orders",
                     .longer = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_longer_traces),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_memory_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
