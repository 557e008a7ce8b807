/*
 * Have pairs of locations that are parted no sync-preserving race? On random traces, with the events given in blocks of any length,
 * with and without an outlook: no race that SyncP finds is at a pair of locations that is parted, and where two accesses meet, they
 * conflict and are at the locations.
 *
 * PARTED_TRACES, PARTED_SEED, PARTED_SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/detect/detect.h"
#include "support/trials.h"
#include "sweep/parted.h"

#include <inttypes.h>

enum { TRACES = 6000, SHARE = 1500, SEED = 20211205, MOST_BLOCK = 9 };

/* Pairs of locations. */
typedef struct examination {
    uint64_t parted, races, others;
} examination;

static bool want_all(mr_wanted *wanted, uint32_t count)
{
    for (uint32_t low = 0; low < count; low++)
        for (uint32_t high = low; high < count; high++)
            if (!mr_wanted_add(wanted, count, low, high))
                return false;
    return true;
}

static void feed_all(mr_parted *parted, const mr_trace *trace, uint32_t block)
{
    for (uint32_t event = 0; event < trace->event_count; event += block) {
        uint32_t left = trace->event_count - event;
        mr_events events = mr_events_of_trace(trace, event, left < block ? left : block);
        assert_true(mr_parted_feed(parted, &events));
    }
}

static void examine_pair(mr_trial *trial, examination *x, const mr_parted *parted,
                         const mr_race_list *races, uint32_t low, uint32_t high)
{
    const mr_trace *trace = trial->trace;
    uint32_t first = 0, second = 0;
    bool is_race = mr_race_list_find(races, low, high) != UINT32_MAX;
    bool is_parted = mr_parted_has(parted, low, high);
    bool met = mr_parted_met(parted, low, high, &first, &second);
    if (is_parted && is_race)
        mr_trial_wrong(trial, "locations %" PRIu32 " and %" PRIu32 " have a race", low, high);
    if (is_parted && met)
        mr_trial_wrong(trial, "events %" PRIu32 " and %" PRIu32 " meet and do not", first, second);
    if (met && (first >= second || !mr_events_conflict(trace, first, second) ||
                mr_map_key_of_two(trace->location[first], trace->location[second]) !=
                    mr_map_key_of_two(low, high)))
        mr_trial_wrong(trial, "events %" PRIu32 " and %" PRIu32 " cannot meet", first, second);
    *(is_parted ? &x->parted : is_race ? &x->races : &x->others) += 1;
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    const mr_trace *trace = trial->trace;
    mr_wanted wanted = {0};
    mr_race_list races;
    mr_error error = {0};
    mr_outlook outlook;
    mr_outlook_init(&outlook);
    assert_true(mr_outlook_of_trace(&outlook, trace));
    assert_true(want_all(&wanted, trace->locations.count));
    mr_detect_options options = {.most_examples = 1};
    assert_int_equal(mr_detect(MR_RELATION_SYNCP, trace, &options, &races, &error), MR_OK);
    mr_parted *parted = mr_parted_new(&wanted, trial->choice % 2 ? &outlook : NULL);
    assert_non_null(parted);
    feed_all(parted, trace, 1 + (uint32_t)(trial->choice / 2 % MOST_BLOCK));
    for (uint32_t low = 0; low < trace->locations.count; low++)
        for (uint32_t high = low; high < trace->locations.count; high++)
            examine_pair(trial, x, parted, &races, low, high);
    mr_parted_free(parted);
    mr_race_list_free(&races);
    mr_wanted_free(&wanted);
    mr_outlook_free(&outlook);
}

static void run(bool longer)
{
    examination x = {0};
    mr_trials_run(&(mr_trials){.prefix = "PARTED",
                               .traces = TRACES,
                               .share = SHARE,
                               .seed = SEED,
                               .longer = longer,
                               .all_kinds = true},
                  examine, &x);
    print_message("  pairs of locations: %" PRIu64 " parted, %" PRIu64 " races, %" PRIu64
                  " others\n",
                  x.parted, x.races, x.others);
    assert_true(x.parted && x.races);
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

/* The join of a thread that does nothing needs nothing. */
static void test_idle_thread(void **state)
{
    (void)state;
    for (uint64_t choice = 0; choice < 2; choice++) {
        examination x = {0};
        mr_trial trial = {.choice = choice};
        assert_true(
            mr_trial_text(&trial, "P|w(x)|1\nP|fork(C)|2\nQ|join(C)|3\nQ|w(x)|4\n", examine, &x));
        assert_string_equal(trial.wrong, "");
        assert_int_equal(x.races, 1);
    }
}

/* What one thread after the other accesses is too much to compare. */
static void test_little_work(void **state)
{
    (void)state;
    enum { EVENTS = 1 << 16, THREADS = 1 << 12 };
    uint8_t *ops = test_malloc(EVENTS);
    uint32_t *zeros = test_calloc(EVENTS, sizeof *zeros);
    uint32_t *threads = test_calloc(EVENTS, sizeof *threads);
    for (uint32_t event = 0; event < EVENTS; event++) {
        ops[event] = MR_OP_READ;
        threads[event] = event % THREADS;
    }
    mr_trace trace = {.event_count = EVENTS,
                      .op = ops,
                      .thread = threads,
                      .operand = zeros,
                      .location = zeros,
                      .threads = {.count = THREADS},
                      .variables = {.count = 1}};
    mr_wanted wanted = {0};
    assert_true(want_all(&wanted, 1));
    mr_parted *parted = mr_parted_new(&wanted, NULL);
    mr_events events = mr_events_of_trace(&trace, 0, EVENTS);
    assert_false(mr_parted_feed(parted, &events));
    assert_true(mr_parted_is_over(parted));
    assert_false(mr_parted_has(parted, 0, 0));
    mr_parted_free(parted);
    mr_wanted_free(&wanted);
    test_free(ops);
    test_free(zeros);
    test_free(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_longer_traces),
        cmocka_unit_test(test_idle_thread),
        cmocka_unit_test(test_little_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
