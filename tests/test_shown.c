/*
 * Are the races of hb that are looked at one by one races of shb exactly where shb has them? On random traces, with the events
 * given in blocks of any length: when all are shown, the list is that of shb; when it gives up on a trace without special
 * operations, shb has another list.
 *
 * SHOWN_TRACES, SHOWN_SEED, SHOWN_SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/detect/detect.h"
#include "support/trials.h"
#include "sweep/shown.h"

#include <inttypes.h>
#include <string.h>

enum { TRACES = 6000, SHARE = 1500, SEED = 20181107, MOST_BLOCK = 9 };

typedef struct examination {
    const mr_trace *trace;
    uint32_t block;
    uint64_t shown, other, special;
} examination;

static bool give(const void *source, uint64_t event, mr_events *events)
{
    const examination *x = source;
    uint32_t first = (uint32_t)event - (uint32_t)event % x->block;
    uint32_t left = x->trace->event_count - first;
    *events = mr_events_of_trace(x->trace, first, left < x->block ? left : x->block);
    return true;
}

static bool is_special(const mr_trace *trace)
{
    bool special = trace->objects.count > 0;
    for (uint32_t event = 0; event < trace->event_count; event++)
        special |= mr_op_is_atomic(trace->op[event]) || mr_op_is_shared(trace->op[event]) ||
                   mr_op_takes(trace->op[event]) || trace->op[event] == MR_OP_POST ||
                   trace->op[event] == MR_OP_FENCE || trace->op[event] == MR_OP_CALL_BEGIN ||
                   trace->op[event] == MR_OP_CALL_END;
    return special;
}

static bool same_lists(const mr_race_list *one, const mr_race_list *other)
{
    bool same = one->race_count == other->race_count;
    for (size_t i = 0; same && i < one->race_count; i++) {
        const mr_race_example *a = &one->examples[one->races[i].first_example];
        const mr_race_example *b = &other->examples[other->races[i].first_example];
        same = a->first.event == b->first.event && a->second.event == b->second.event &&
               a->variable == b->variable && one->races[i].low == other->races[i].low &&
               one->races[i].high == other->races[i].high;
    }
    return same;
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_race_list hb, shb, found;
    mr_shown shown = {0};
    mr_error error = {0};
    mr_barrier_edges edges;
    mr_detect_options options = {.most_examples = 1, .edges = &edges};
    x->trace = trial->trace;
    x->block = 1 + (uint32_t)(trial->choice % MOST_BLOCK);
    assert_int_equal(mr_barrier_edges_find(trial->trace, MR_OPAQUE_PAIR, &edges, NULL), MR_OK);
    assert_int_equal(mr_detect(MR_RELATION_HB, trial->trace, &options, &hb, &error), MR_OK);
    assert_int_equal(mr_detect(MR_RELATION_SHB, trial->trace, &options, &shb, &error), MR_OK);
    if (!edges.count && hb.race_count) {
        mr_shown_look(&shown, &hb, give, x);
        bool taken = mr_shown_take(&shown, &hb, &found);
        bool same = same_lists(&hb, &shb);
        if (taken && !same_lists(&found, &shb))
            mr_trial_wrong(trial, "what is shown are not the races of shb");
        else if (!taken && same && !is_special(trial->trace))
            mr_trial_wrong(trial, "it gave up at race %zu of %zu", shown.count, hb.race_count);
        *(taken ? &x->shown : same ? &x->special : &x->other) += 1;
        if (taken)
            mr_race_list_free(&found);
    }
    mr_shown_free(&shown);
    mr_race_list_free(&hb);
    mr_race_list_free(&shb);
    mr_barrier_edges_free(&edges);
}

static void run(bool longer)
{
    examination x = {0};
    mr_trials_run(&(mr_trials){.prefix = "SHOWN",
                               .traces = TRACES,
                               .share = SHARE,
                               .seed = SEED,
                               .longer = longer,
                               .all_kinds = true},
                  examine, &x);
    print_message("  %" PRIu64 " traces shown, %" PRIu64 " not by shb, %" PRIu64 " given up\n",
                  x.shown, x.other, x.special);
    assert_true(x.shown && x.other && x.special);
}

static void test_small_traces(void **state)
{
    (void)state;
    run(false);
}

static void test_longer_traces(void **state)
{
    (void)state;
    run(true);
}

/* Of many pairs far apart no more events are looked at than the order has seen, and some. */
static void test_little_work(void **state)
{
    (void)state;
    enum { EVENTS = 1 << 20 };
    mr_race_example example = {.first = {.event = 0}, .second = {.event = EVENTS - 1}};
    mr_static_race races[2] = {{.first_example = 0}, {.first_example = 0}};
    mr_race_list list = {.races = races, .race_count = 1, .examples = &example};
    uint8_t *ops = test_malloc(EVENTS);
    uint32_t *zeros = test_calloc(EVENTS, sizeof *zeros);
    mr_trace trace = {.event_count = EVENTS,
                      .op = ops,
                      .thread = zeros,
                      .operand = zeros,
                      .location = zeros,
                      .threads = {.count = 2}};
    examination x = {.trace = &trace, .block = EVENTS};
    mr_shown shown = {0};
    memset(ops, MR_OP_BRANCH, EVENTS);
    zeros[EVENTS - 1] = 1; /* the thread of the second access */
    assert_true(mr_shown_look(&shown, &list, give, &x));
    list.race_count = 2;
    mr_race_list found;
    assert_false(mr_shown_take(&shown, &list, &found)); /* nobody has looked at the second one */
    assert_false(mr_shown_look(&shown, &list, give, &x));
    assert_int_equal(shown.count, 1);
    mr_shown_free(&shown);
    test_free(ops);
    test_free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_longer_traces),
        cmocka_unit_test(test_little_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
