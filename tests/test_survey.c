/* survey: all races of a window at once, in windows of small random traces; against exhaustive search, place by place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/survey.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/trace_reading.h"

#include "bench/hard.h"

#include <stdio.h>
#include <stdlib.h>

#define ANY_EFFORT 1000000000

/* The settings, and a worker that stands before the whole trace as one window. */
typedef struct surveyor {
    mr_config *config;
    mr_predict_settings settings;
    mr_worker worker;
    mr_window *window;
    mr_problem problem;
    mr_candidates candidates;
    bool *settled;
    mr_outcome *outcome;
} surveyor;

static void set_up(surveyor *s, const mr_trace *trace, mr_model model)
{
    const char *const settings[] = {"model", mr_model_name(model), "window.size", "0", NULL};
    mr_error error = {0};
    s->config = mr_settings_of(settings);
    assert_int_equal(mr_predict_settings_read(&s->settings, trace, s->config, &error), MR_OK);
    assert_int_equal(mr_worker_init(&s->worker, &s->settings, NULL, &error), MR_OK);
    s->worker.error = &error;
    mr_arena *arena = &s->worker.arena;
    assert_int_equal(mr_worker_order(&s->worker, 0, trace->event_count), MR_OK);
    assert_int_equal(
        mr_window_build(&s->worker.carried, trace->event_count, model, arena, &s->window, &error),
        MR_OK);
    assert_true(mr_problem_init(&s->problem, s->window, arena));
    mr_candidate_options options = s->worker.candidates;
    options.stop_when_full = false;
    assert_true(mr_candidates_find(&s->candidates, s->window, &s->problem.hard, &s->problem.forced,
                                   s->worker.hb, s->worker.wcp, &options, arena));
    s->settled = mr_arena_zalloc(arena, s->candidates.group_count + 1, sizeof *s->settled);
    s->outcome = mr_outcome_new(0);
    assert_non_null(s->settled);
    assert_non_null(s->outcome);
}

static void tear_down(surveyor *s)
{
    mr_outcome_free(s->outcome);
    mr_worker_free(&s->worker);
    mr_predict_settings_free(&s->settings);
    mr_config_free(s->config);
}

static bool has(const mr_trace *trace, const mr_exhaustive *search, const mr_pair_verdict *verdict)
{
    const mr_witness *it = &verdict->race.witness;
    uint32_t a = trace->location[it->first], b = trace->location[it->second];
    return mr_exhaustive_has(search, it->first, it->second) &&
           ((a == verdict->key_1 && b == verdict->key_2) ||
            (a == verdict->key_2 && b == verdict->key_1));
}

static bool is_found(const mr_trace *trace, const mr_outcome *outcome, const mr_pair *race)
{
    uint32_t a = trace->location[race->first], b = trace->location[race->second];
    for (size_t i = 0; i < outcome->count; i++) {
        const mr_pair_verdict *v = &outcome->verdicts[i];
        if ((v->key_1 == a && v->key_2 == b) || (v->key_1 == b && v->key_2 == a))
            return true;
    }
    return false;
}

/* Every pair of places with a race is found, and no other. With little effort only the second holds. */
static size_t examine(const mr_trace *trace, mr_model model, uint64_t effort)
{
    surveyor s = {0};
    mr_exhaustive search;
    bool complete;
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &search));
    set_up(&s, trace, model);
    assert_true(mr_survey_is_used(&s.worker, &s.problem));
    assert_int_equal(mr_survey_search(&s.worker, &s.problem, &s.candidates, effort, s.settled,
                                      s.outcome, &complete),
                     MR_OK);
    assert_true(complete || effort < ANY_EFFORT);
    for (size_t i = 0; i < s.outcome->count; i++) {
        assert_int_equal(s.outcome->verdicts[i].rejected_witnesses, 0);
        assert_true(has(trace, &search, &s.outcome->verdicts[i]));
    }
    for (size_t r = 0; complete && r < search.race_count; r++)
        assert_true(is_found(trace, s.outcome, &search.races[r]));
    size_t races = s.outcome->count;
    tear_down(&s);
    mr_exhaustive_free(&search);
    return races;
}

static void agrees_with_exhaustive_search(void **state)
{
    (void)state;
    enum { EACH = 80, FULL = 2000 };
    const char *given = getenv("SURVEY_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1,
             count = mr_length("SURVEY_TRACES", EACH, FULL);
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        size_t races = 0;
        for (uint64_t i = 0; i < count; i++) {
            char *text = mr_generate_trace(seed + i, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_test_read(text, false);
            for (int model = MR_MODEL_RF; model <= MR_MODEL_VALUE; model++) {
                races += examine(trace, (mr_model)model, ANY_EFFORT);
                examine(trace, (mr_model)model, 1 + (seed + i) % 200);
            }
            mr_trace_free(trace);
            free(text);
        }
        print_message("%s: %zu races\n", mr_shape_name((mr_shape)shape), races);
        assert_true(races > 0);
    }
}

/* Small nests, which is what it is for. */
static void nests_agree_with_exhaustive_search(void **state)
{
    (void)state;
    enum { EACH = 60, FULL = 1000 };
    const char *given = getenv("SURVEY_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1,
             count = mr_length("SURVEY_TRACES", EACH, FULL);
    size_t races = 0;
    for (uint64_t i = 0; i < 2 * count; i++) {
        mr_hard_shape shape = mr_hard_small[i % 2];
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        shape.seed = seed + i;
        assert_int_equal(shape.family, MR_HARD_NESTED);
        assert_true(mr_hard_write(&shape, out));
        assert_int_equal(fclose(out), 0);
        mr_trace *trace = mr_test_read(text, false);
        races += examine(trace, MR_MODEL_RF, ANY_EFFORT);
        races += examine(trace, MR_MODEL_VALUE, ANY_EFFORT);
        mr_trace_free(trace);
        free(text);
    }
    assert_true(races > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_exhaustive_search),
        cmocka_unit_test(nests_agree_with_exhaustive_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
