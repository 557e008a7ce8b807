/*
 * walk: what a walk with a lead leaves out changes nothing. The same walks find the same races when they keep all states, in windows
 * of small random traces and of crowded ones.
 *
 *   WALK_TRACES, WALK_SEED, WALK_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/hard.h"
#include "predict/worker.h"
#include "solver/walk.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_TRACES = 3000, DEFAULT_TRACES = 30000, DEFAULT_SEED = 1, ANY_EFFORT = 1000000000 };

typedef struct examination {
    mr_trial *trial;
    const mr_window *window;
    uint32_t *marks, *stops;
    bool *found;                  /* one an event: it races with the access that waits */
    size_t walks, races, shorter; /* walks that run fewer events when they leave out states */
} examination;

static bool is_wanted(void *context, uint32_t a, uint32_t b)
{
    const examination *x = context;
    const mr_window *w = x->window;
    uint8_t one = mr_window_op(w, a), two = mr_window_op(w, b);
    return w->object[a] == w->object[b] && w->thread[a] != w->thread[b] && !x->found[b] &&
           (mr_op_writes(one) || mr_op_writes(two)) &&
           !(mr_op_is_atomic(one) && mr_op_is_atomic(two));
}

static bool note(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count)
{
    examination *x = context;
    (void)a;
    (void)events;
    (void)count;
    x->found[b] = true;
    return true;
}

/* Walks from each access without a lock, by two leads. */
static void compare_walks(examination *x, mr_walker *walker, mr_arena *arena)
{
    const mr_window *w = x->window;
    bool *all = calloc(w->size, sizeof *all);
    assert_non_null(all);
    walker->marks = x->marks;
    walker->mark = 1;
    walker->patience = 0;
    for (uint32_t i = 2; i < 2 * w->size; i++) {
        uint32_t begin = i / 2, base = i % 2 ? 0 : begin / 2;
        if (!x->stops[begin] || !mr_walk_begins(walker, begin) ||
            mr_walk_end(walker, begin) != w->position[begin] + 1)
            continue;
        uint64_t spent[2] = {0};
        for (int keeps = 1; keeps >= 0; keeps--) {
            walker->keeps_all = keeps;
            memset(x->found, 0, w->size * sizeof *x->found);
            assert_int_equal(mr_walk(walker, base, begin, w->position[begin] + 1, ANY_EFFORT,
                                     &spent[keeps], arena),
                             MR_EXPLORED_ALL);
            if (keeps)
                memcpy(all, x->found, w->size * sizeof *all);
        }
        for (uint32_t e = 0; e < w->size; e++) {
            if (all[e] != x->found[e])
                mr_trial_wrong(x->trial, "%s: %" PRIu32 " and %" PRIu32 " race, from %" PRIu32,
                               mr_model_name(w->model), begin, e, base);
            x->races += all[e];
        }
        x->walks++;
        x->shorter += spent[0] < spent[1];
    }
    free(all);
}

static void examine_model(examination *x, mr_trial *trial, mr_model model)
{
    const char *const text[] = {"model", mr_model_name(model), "window.size", "0", NULL};
    mr_config *config = mr_settings_of(text);
    mr_predict_settings settings;
    mr_worker worker;
    mr_window *window;
    mr_walker walker;
    mr_error error = {0};
    uint32_t count = trial->trace->event_count;
    assert_int_equal(mr_predict_settings_read(&settings, trial->trace, config, &error), MR_OK);
    assert_int_equal(mr_worker_init(&worker, &settings, NULL, &error), MR_OK);
    worker.error = &error;
    assert_int_equal(mr_worker_order(&worker, 0, count), MR_OK);
    mr_carried_move(&worker.carried, 0);
    assert_int_equal(mr_window_build(&worker.carried, count, model, &worker.arena, &window, &error),
                     MR_OK);
    x->trial = trial;
    x->window = window;
    x->marks = calloc(count, sizeof *x->marks);
    x->stops = calloc(count, sizeof *x->stops);
    x->found = calloc(count, sizeof *x->found);
    assert_true(x->marks && x->stops && x->found);
    for (uint32_t e = 0; e < count; e++)
        x->stops[e] = x->marks[e] = mr_op_is_access(mr_window_op(window, e));
    const mr_survey survey = {
        .window = window, .stops = x->stops, .wanted = is_wanted, .found = note, .context = x};
    assert_true(mr_walk_init(&walker, &survey, &worker.arena));
    compare_walks(x, &walker, &worker.arena);
    mr_walk_free(&walker);
    free(x->marks);
    free(x->stops);
    free(x->found);
    mr_worker_free(&worker);
    mr_predict_settings_free(&settings);
    mr_config_free(config);
}

static void examine(mr_trial *trial, void *context)
{
    for (int model = MR_MODEL_RF; model <= MR_MODEL_VALUE && trial->trace->event_count > 1; model++)
        examine_model(context, trial, (mr_model)model);
}

static void random_traces(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "WALK",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    examination x = {0};
    mr_trials_run(&trials, examine, &x);
    print_message("%zu walks, %zu races, %zu walks are shorter\n", x.walks, x.races, x.shorter);
}

/* Few values at many places, 95 of 100 accesses under one lock. */
static void crowded_traces(void **state)
{
    (void)state;
    enum { EACH = 60, FULL = 1000, LONGEST = 160, VALUES = 6 };
    const char *given = getenv("WALK_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1,
             count = mr_length("WALK_CROWDED", EACH, FULL);
    examination x = {0};
    for (uint64_t i = 0; i < count; i++) {
        const mr_hard_shape shape = {.name = "hot",
                                     .family = MR_HARD_HOT,
                                     .events = (uint32_t)(40 + i % (LONGEST - 40)),
                                     .threads = (uint32_t)(2 + i % 3),
                                     .places = 20,
                                     .values = (uint32_t)(2 + i % VALUES),
                                     .seed = seed + i};
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        mr_trial trial = {.seed = seed + i, .choice = seed + i};
        assert_non_null(out);
        assert_true(mr_hard_write(&shape, out));
        assert_int_equal(fclose(out), 0);
        assert_true(mr_trial_text(&trial, text, examine, &x));
        assert_string_equal(trial.wrong, "");
        free(text);
    }
    print_message("%zu walks, %zu races, %zu walks are shorter\n", x.walks, x.races, x.shorter);
    if (count >= EACH)
        assert_true(x.races > count && x.shorter > count / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traces),
        cmocka_unit_test(crowded_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
