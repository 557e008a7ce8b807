/*
 * Are the events between two accesses (sweep/between.h) those that the window from the first access
 * to the second one gives? On random traces, for all conflicting pairs: found when there is a
 * witness in trace order, with the same events. Also: many releases that the pass meets too early.
 *
 * BETWEEN_TRACES, BETWEEN_SEED, BETWEEN_SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/length.h"
#include "support/sample.h"
#include "support/trials.h"
#include "sweep/prover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 1500, DEFAULT_SEED = 31415 };

typedef struct examination {
    mr_config *config;
    uint64_t found, not_found, longest;
} examination;

static mr_question question_of(uint32_t first, uint32_t second)
{
    return (mr_question){.first = first,
                         .second = second,
                         .start = first,
                         .end = second + 1,
                         .model = MR_MODEL_RF,
                         .trace_order = true};
}

static bool has_events(const mr_witness *witness, const mr_u32s *events)
{
    return witness->event_count == events->count &&
           (!events->count ||
            memcmp(witness->events, events->items, events->count * sizeof *events->items) == 0);
}

static void compare_pair(mr_trial *trial, examination *x, mr_prover *prover, uint32_t first,
                         uint32_t second)
{
    mr_question question = question_of(first, second);
    mr_order_race known = {0};
    mr_u32s events = {0};
    mr_error error = {0};
    bool found;
    assert_true(mr_between_find(&prover->between, first, second, &events, &found));
    assert_int_equal(mr_prover_ask(prover, &question, MR_PROOF_SHB, &known, &error), MR_OK);
    const mr_witness *witness = &known.witness;
    if (found != (known.standing == MR_STANDING_RACE))
        mr_trial_wrong(trial, "%" PRIu32 " and %" PRIu32 ": %s, the window says %s", first, second,
                       found ? "found" : "not found", mr_standing_name(known.standing));
    else if (found && !has_events(witness, &events))
        mr_trial_wrong(trial,
                       "%" PRIu32 " and %" PRIu32 ": %zu events, other %" PRIu32 " in the window",
                       first, second, events.count, witness->event_count);
    x->found += found;
    x->not_found += !found;
    if (found && events.count > x->longest)
        x->longest = events.count;
    mr_witness_free(&known.witness);
    mr_u32s_free(&events);
}

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    mr_prover prover;
    mr_order_stats stats = {0};
    mr_error error = {0};
    const mr_trace *trace = trial->trace;
    assert_int_equal(mr_prover_init(&prover, trace, x->config, &stats, NULL, &error), MR_OK);
    for (uint32_t first = 0; first < trace->event_count; first++)
        for (uint32_t second = first + 1; second < trace->event_count; second++)
            if (mr_events_conflict(trace, first, second))
                compare_pair(trial, x, &prover, first, second);
    assert_int_equal(stats.rejected_witnesses, 0);
    mr_prover_free(&prover);
}

static mr_config *new_config(void)
{
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "witness.minimise", "false", NULL, 0, NULL), MR_OK);
    return config;
}

static void test_pairs(void **state)
{
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        examination x = {.config = new_config()};
        mr_trials_run(&(mr_trials){.prefix = "BETWEEN",
                                   .traces = DEFAULT_TRACES,
                                   .seed = DEFAULT_SEED,
                                   .longer = longer,
                                   .all_kinds = true},
                      examine, &x);
        print_message("  %" PRIu64 " pairs found, with at most %" PRIu64 " events; %" PRIu64
                      " not found\n",
                      x.found, x.longest, x.not_found);
        assert_true(getenv("BETWEEN_TRACES") || mr_length_few() ||
                    (x.found > 1000 && x.not_found > 1000));
        mr_config_free(x.config);
    }
}

/* B sees what each other thread wrote in its section, and enters the lock of each: that the release
 * is needed shows only when the pass is behind it. */
static char *late_releases(int count)
{
    char *text = malloc((size_t)count * 120 + 100), *at = text;
    assert_non_null(text);
    at += sprintf(at, "T0|w(x)|1\n");
    for (int i = 0; i < count; i++)
        at += sprintf(at, "A%d|acq(l%d)|2\nA%d|w(y%d)|3\nA%d|w(z)|4\nA%d|rel(l%d)|5\n", i, i, i, i,
                      i, i, i);
    for (int i = 0; i < count; i++)
        at += sprintf(at, "B|r(y%d)|6\n", i);
    for (int i = 0; i < count; i++)
        at += sprintf(at, "B|acq(l%d)|7\nB|rel(l%d)|8\n", i, i);
    sprintf(at, "B|w(x)|9\n");
    return text;
}

static void test_late_releases(void **state)
{
    (void)state;
    for (int count = 1; count <= 40; count += 13) {
        mr_prover prover;
        mr_order_stats stats = {0};
        mr_error error = {0};
        mr_order_race known = {0};
        mr_u32s events = {0};
        bool found;
        mr_config *config = new_config();
        char *text = late_releases(count);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        uint32_t last = (uint32_t)trace->event_count - 1;
        mr_question question = question_of(0, last);
        assert_int_equal(mr_prover_init(&prover, trace, config, &stats, NULL, &error), MR_OK);
        assert_true(mr_between_find(&prover.between, 0, last, &events, &found));
        assert_int_equal(found, count < MR_BETWEEN_STARTS);
        assert_int_equal(mr_prover_ask_between(&prover, &question, MR_PROOF_SHB, &known, &error),
                         MR_OK);
        assert_int_equal(known.standing, MR_STANDING_RACE);
        assert_int_equal(known.witness.event_count, 7 * count);
        mr_witness_free(&known.witness);
        mr_u32s_free(&events);
        mr_prover_free(&prover);
        mr_trace_free(trace);
        mr_config_free(config);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_late_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
