/*
 * Do hb, fhb and shb find the same after a screen as without? On random traces: the same races with the same examples, and the same
 * counts. Where nothing is accessed atomically and no object has a life, the screen has left exactly the variables with races of
 * hb.
 *
 * SCREEN_TRACES, SCREEN_SEED, SCREEN_SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/detect/detect.h"
#include "order/screen.h"
#include "support/trials.h"

#include <inttypes.h>

enum { TRACES = 6000, SHARE = 1500, SEED = 20090615, EXAMPLES = 3 };

static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_FHB, MR_RELATION_SHB};

typedef struct examination {
    uint64_t races, left, passed;
} examination;

static bool is_special(const mr_trace *trace)
{
    bool special = trace->objects.count > 0;
    for (uint32_t event = 0; event < trace->event_count; event++)
        special |= mr_op_is_atomic(trace->op[event]);
    return special;
}

static bool same_access(const mr_racing_access *one, const mr_racing_access *other)
{
    return one->event == other->event && one->thread == other->thread &&
           one->location == other->location && one->op == other->op;
}

static bool same_examples(const mr_race_list *one, const mr_race_list *other)
{
    bool same = one->example_count == other->example_count;
    for (size_t i = 0; same && i < one->example_count; i++)
        same = same_access(&one->examples[i].first, &other->examples[i].first) &&
               same_access(&one->examples[i].second, &other->examples[i].second) &&
               one->examples[i].variable == other->examples[i].variable;
    return same;
}

static bool same_lists(const mr_race_list *one, const mr_race_list *other)
{
    bool same = one->race_count == other->race_count &&
                one->racy_event_count == other->racy_event_count &&
                one->racy_location_count == other->racy_location_count &&
                one->racy_variable_count == other->racy_variable_count &&
                one->events.count == other->events.count && same_examples(one, other);
    for (size_t i = 0; same && i < one->race_count; i++)
        same = one->races[i].low == other->races[i].low &&
               one->races[i].high == other->races[i].high &&
               one->races[i].example_count == other->races[i].example_count;
    for (size_t i = 0; same && i < one->events.count; i++)
        same = one->events.items[i] == other->events.items[i];
    return same;
}

/* The order without a screen. */
static void find_plainly(const mr_trace *trace, mr_relation relation,
                         const mr_detect_options *options, mr_race_list *list)
{
    mr_error error = {0};
    mr_detector *detector = mr_detector_new(relation, options);
    mr_events events = mr_events_of_trace(trace, 0, trace->event_count);
    assert_non_null(detector);
    assert_int_equal(mr_detector_feed(detector, &events, &error), MR_OK);
    assert_int_equal(mr_detector_finish(detector, list, &error), MR_OK);
    mr_detector_free(detector);
}

static void examine_screen(mr_trial *trial, examination *x, const mr_screen *screen,
                           const mr_outlook *outlook, const mr_race_list *hb)
{
    const uint8_t *contended = mr_screen_outlook(screen)->contended;
    uint32_t left = 0;
    for (uint32_t i = 0; i < outlook->variable_count; i++) {
        left += contended[i] != 0;
        x->passed += outlook->contended[i] && !contended[i];
    }
    x->left += left;
    if (left != hb->racy_variable_count)
        mr_trial_wrong(trial, "%" PRIu32 " variables are left, %" PRIu32 " have races", left,
                       hb->racy_variable_count);
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_outlook outlook;
    mr_screen *screen = NULL;
    mr_error error = {0};
    mr_barrier_edges edges;
    bool special = is_special(trial->trace);
    mr_outlook_init(&outlook);
    assert_true(mr_outlook_of_trace(&outlook, trial->trace));
    assert_int_equal(mr_barrier_edges_find(trial->trace, MR_OPAQUE_PAIR, &edges, NULL), MR_OK);
    mr_detect_options options = {.most_examples = EXAMPLES,
                                 .keep_events = true,
                                 .outlook = &outlook,
                                 .edges = &edges,
                                 .screen = trial->choice % 2 ? &screen : NULL};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        mr_race_list plain, screened;
        find_plainly(trial->trace, relations[i], &options, &plain);
        assert_int_equal(mr_detect(relations[i], trial->trace, &options, &screened, &error), MR_OK);
        if (!same_lists(&plain, &screened))
            mr_trial_wrong(trial, "%s finds something else after the screen",
                           mr_relation_name(relations[i]));
        if (i == 0 && screen && !special)
            examine_screen(trial, x, screen, &outlook, &plain);
        x->races += plain.race_count;
        mr_race_list_free(&plain);
        mr_race_list_free(&screened);
    }
    mr_screen_free(screen);
    mr_barrier_edges_free(&edges);
    mr_outlook_free(&outlook);
}

static void run(bool longer)
{
    examination x = {0};
    mr_trials_run(&(mr_trials){.prefix = "SCREEN",
                               .traces = TRACES,
                               .share = SHARE,
                               .seed = SEED,
                               .longer = longer,
                               .all_kinds = true},
                  examine, &x);
    print_message("  %" PRIu64 " races; %" PRIu64 " variables left, %" PRIu64 " passed over\n",
                  x.races, x.left, x.passed);
    assert_true(x.races && x.left && x.passed);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_longer_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
