/* fans: windows of small random traces, decided as those of a crowded trace without the rounds before the windows, so that
 * questions about fans find the races and the proofs; against exhaustive search, place by place, in every model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/worker.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/trace_reading.h"

#include <stdlib.h>

static bool at_places(const mr_trace *trace, uint32_t first, uint32_t second,
                      const mr_pair_verdict *verdict)
{
    uint32_t a = trace->location[first], b = trace->location[second];
    return (a == verdict->key_1 && b == verdict->key_2) ||
           (a == verdict->key_2 && b == verdict->key_1);
}

typedef struct tally {
    size_t races, verdicts;
    size_t by_fans; /* verdicts for which no pair of places was asked about alone */
} tally;

/* Of each race of the search the outcome has a race at its places, and it has no other. */
static void compare(const mr_trace *trace, const mr_exhaustive *search, const mr_outcome *outcome,
                    tally *counts)
{
    for (size_t i = 0; i < outcome->count; i++) {
        const mr_pair_verdict *verdict = &outcome->verdicts[i];
        const mr_witness *it = &verdict->race.witness;
        assert_false(verdict->has_unknown);
        assert_int_equal(verdict->rejected_witnesses, 0);
        counts->verdicts++;
        counts->by_fans += verdict->asked && !verdict->steps_in_order;
        if (!verdict->has_race)
            continue;
        assert_true(mr_exhaustive_has(search, it->first, it->second));
        assert_true(at_places(trace, it->first, it->second, verdict));
        counts->races++;
    }
    for (size_t r = 0; r < search->race_count; r++) {
        bool found = false;
        for (size_t i = 0; i < outcome->count && !found; i++)
            found = outcome->verdicts[i].has_race &&
                    at_places(trace, search->races[r].first, search->races[r].second,
                              &outcome->verdicts[i]);
        assert_true(found);
    }
}

/* Fans have all steps, or prove only: then what they leave open is for questions about pairs of places. */
#define ALL_STEPS "filter,cone,linearise,eliminate,greedy,saturate,explore,lazy,z3"
#define PROOFS    "filter,cone,linearise,eliminate,lazy,z3"

static void examine(const mr_trace *trace, mr_model model, const char *steps, tally *counts)
{
    const char *const settings[] = {
        "model", mr_model_name(model), "window.size", "0", "solver.steps", steps, NULL};
    mr_config *config = mr_settings_of(settings);
    mr_predict_settings read;
    mr_error error = {0};
    mr_worker worker;
    mr_exhaustive search;
    mr_outcome *outcome = mr_outcome_new(0);
    assert_non_null(outcome);
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &search));
    assert_int_equal(mr_predict_settings_read(&read, trace, config, &error), MR_OK);
    read.is_crowded = true;
    assert_int_equal(mr_worker_init(&worker, &read, NULL, &error), MR_OK);
    assert_int_equal(mr_worker_decide_window(&worker, 0, outcome, &error), MR_OK);
    compare(trace, &search, outcome, counts);
    mr_worker_free(&worker);
    mr_predict_settings_free(&read);
    mr_config_free(config);
    mr_outcome_free(outcome);
    mr_exhaustive_free(&search);
}

static void windows_agree_with_exhaustive_search(void **state)
{
    (void)state;
    enum { EACH = 40, FULL = 500 };
    const char *given = getenv("FANS_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1,
             count = mr_length("FANS_TRACES", EACH, FULL);
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        tally counts = {0};
        for (uint64_t i = 0; i < count; i++) {
            char *text = mr_generate_trace(seed + i, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_test_read(text, false);
            for (int model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++)
                examine(trace, (mr_model)model, ALL_STEPS, &counts);
            mr_trace_free(trace);
            free(text);
        }
        print_message("%s: %zu races, %zu of %zu verdicts by fans\n",
                      mr_shape_name((mr_shape)shape), counts.races, counts.by_fans,
                      counts.verdicts);
        assert_true(counts.races && counts.by_fans > counts.verdicts / 2);
    }
}

/* Accesses of one place with different locks are asked about apart. The fork comes after the first one, so it is no race. The second one is,
 * when the sections of l change places; who only looks for proofs does not find that, and leaves the pair of places open. */
static void one_list_of_two_is_no_proof(void **state)
{
    (void)state;
    static const char text[] = "A|acq(m)|1\nA|w(x=1)|7\nA|rel(m)|2\nA|fork(B)|3\n"
                               "A|acq(l)|4\nA|w(x=2)|7\nA|rel(l)|5\n"
                               "B|acq(l)|4\nB|rel(l)|5\nB|w(x=3)|8\nB|acq(m)|1\nB|rel(m)|2\n";
    mr_trace *trace = mr_test_read(text, false);
    for (int model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++) {
        tally counts = {0};
        examine(trace, (mr_model)model, PROOFS, &counts);
        assert_int_equal(counts.races, 1);
        assert_int_equal(counts.by_fans, 0);
        counts = (tally){0};
        examine(trace, (mr_model)model, ALL_STEPS, &counts);
        assert_int_equal(counts.races, 1);
    }
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_agree_with_exhaustive_search),
        cmocka_unit_test(one_list_of_two_is_no_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
