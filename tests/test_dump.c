/*
 * The dump of a pair: Z3 itself reads the formula, and what it answers is what exhaustive search
 * says, on random traces of every shape; and the words around it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/debug.h"
#include "dump/dump.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/run.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

static mr_scratch scratch;

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

/* Z3's answer to a text in SMT-LIB. */
static Z3_lbool ask_z3(const char *text)
{
    Z3_config settings = Z3_mk_config();
    Z3_context context = Z3_mk_context(settings);
    Z3_solver solver = Z3_mk_solver(context);
    Z3_solver_inc_ref(context, solver);
    Z3_solver_from_string(context, solver, text);
    assert_int_equal(Z3_get_error_code(context), Z3_OK);
    Z3_lbool answer = Z3_solver_check(context, solver);
    Z3_solver_dec_ref(context, solver);
    Z3_del_context(context);
    Z3_del_config(settings);
    return answer;
}

static char *dump_text(const mr_trace *trace, const mr_config *config, uint32_t a, uint32_t b)
{
    char *text = NULL;
    size_t length;
    mr_error error;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(mr_dump_pair(stream, trace, config, b, a, &error), MR_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* Every conflicting pair of the trace. */
static void check_trace(const mr_trace *trace, const char *text, mr_model model, size_t counts[2])
{
    mr_exhaustive races = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "model", mr_model_name(model), NULL, 0, NULL), MR_OK);
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &races));
    for (uint32_t a = 0; a < trace->event_count; a++) {
        for (uint32_t b = a + 1; b < trace->event_count; b++) {
            if (!mr_exhaustive_conflict(trace, a, b))
                continue;
            bool race = mr_exhaustive_has(&races, a, b);
            char *dump = dump_text(trace, config, a, b);
            if (ask_z3(dump) != (race ? Z3_L_TRUE : Z3_L_FALSE))
                fail_msg("%" PRIu32 "-%" PRIu32 " in %s: a race? %d\n%s\n%s", a, b,
                         mr_model_name(model), race, text, dump);
            counts[race]++;
            free(dump);
        }
    }
    mr_exhaustive_free(&races);
    mr_config_free(config);
}

static void test_formula(void **state)
{
    (void)state;
    size_t counts[2] = {0};
    uint64_t seeds = mr_length("DUMP_SEEDS", 1, 3); /* of each shape; the models in turn */
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        for (uint64_t i = 0; i < seeds; i++) {
            uint64_t seed = (i + (uint64_t)shape) % 3;
            char *text = mr_generate_trace(seed + 4400, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_sample_trace(text);
            check_trace(trace, text, (mr_model)seed, counts);
            mr_trace_free(trace);
            free(text);
        }
    }
    print_message("%zu races, %zu other pairs\n", counts[1], counts[0]);
    assert_true(counts[0] > 10 * seeds && counts[1] > 16 * seeds);
}

/* The windows are those of the plan where one has both accesses. */
static void test_window(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "far.std",
                     "A|w(x=1)|1\nA|w(y=1)|2\nA|w(y=2)|3\nA|w(y=3)|4\nA|w(y=4)|5\nA|w(y=5)|6\n"
                     "B|w(x=2)|7\nC|w(x=3)|8\n",
                     path);
    const mr_run_row rows[] = {
        {"dump @/far.std --pair 0 6 --window-size 4 --window-overlap 2", 0,
         "; window  events 0 to 6 (no window of the plan has both accesses), model value", NULL},
        {"dump @/far.std --pair 6 7 --window-size 4 --window-overlap 2", 0,
         "; window  events 4 to 7, model value", NULL},
        {"dump @/far.std --pair=7 6 --model rf --window-size 0", 0,
         "; window  events 0 to 7, model rf", NULL},
        {"dump @/far.std --pair 6 7", 0, ";   linearise    race, by linearise: 0 events", NULL},
        {"dump @/far.std --pair 6 7", 0, "\n(check-sat)\n", NULL},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof rows[0]);
}

static void test_errors(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "pair.std", "A|w(x=1)|1\nB|r(y=0)|2\n", path);
    const mr_run_row rows[] = {
        {"dump @/pair.std", 2, NULL,
         "maxrace: missing --pair A B: the numbers of two conflicting events\n"},
        {"dump @/pair.std --pair 1", 2, NULL, "maxrace: '--pair' needs a value\n"},
        {"dump @/pair.std --pair 1 -2", 2, NULL,
         "maxrace: --pair '-2': expected two numbers of events, such as --pair 3 10\n"},
        {"dump @/pair.std --pair 0 2", 2, NULL,
         "maxrace: --pair: there is no event 2; the trace has events 0 to 1\n"},
        {"dump @/pair.std --pair 0 1", 2, NULL,
         "maxrace: --pair: events 0 and 1 do not conflict; expected accesses of one variable by "
         "two threads, one of them a write, not both atomic\n"},
        {"dump @/none.std --pair 0 1", 4, NULL,
         "@/none.std: cannot open: No such file or directory\n"},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof rows[0]);
}

/* ---- topics ---- */

static void keep_line(void *context, const char *line)
{
    snprintf(context, 2000, "%s", line);
}

static void test_topics(void **state)
{
    (void)state;
    char line[2000] = "";
    mr_error error;
    mr_debug debug = {.write = keep_line, .context = line};
    assert_int_equal(mr_debug_parse("cone,windows", &debug.topics, &error), MR_OK);
    assert_true(mr_debug_on(&debug, MR_DEBUG_CONE) && mr_debug_on(&debug, MR_DEBUG_WINDOWS));
    assert_false(mr_debug_on(&debug, MR_DEBUG_FAR) || mr_debug_on(NULL, MR_DEBUG_CONE));
    MR_DEBUG(&debug, FAR, "number=%d", 1);
    assert_string_equal(line, "");
    MR_DEBUG(&debug, CONE, "required=%d cone=%d", 3, 4);
    assert_string_equal(line, "debug cone: required=3 cone=4");
    char whole[3000];
    memset(whole, 'x', sizeof whole);
    whole[sizeof whole - 1] = '\0';
    MR_DEBUG(&debug, CONE, "%s", whole);
    assert_true(strlen(line) > 1000 && strlen(line) < 1024);
    assert_int_equal(mr_debug_parse("all", &debug.topics, &error), MR_OK);
    for (int topic = 0; topic < MR_DEBUG_COUNT; topic++)
        assert_true(mr_debug_on(&debug, (mr_debug_topic)topic));
    static const char *const bad[] = {"", "cones", ",cone", "con"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(mr_debug_parse(bad[i], &debug.topics, &error), MR_ERR_USAGE);
}

/* Every topic that a prediction can speak of does, and the report stays what it is. */
static void test_debug_lines(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "debug windows: window=0 events=0-5 threads=2 ",
        "debug candidates: first=1 of=1 second=5 of=1 verdict=race step=",
        "debug cone: first=1 second=5 window=6 required=3 ",
        "debug steps: step=linearise answer=passed-on ",
        "debug formula: step=saturate nodes=",
        "debug search: result=sat effort=",
        "debug dispatch: stage=windows unit=0 merged=1",
        "debug checkpoint: stage=windows unit=0 bytes=",
    };
    char path[512];
    mr_run run, plain;
    mr_scratch_write(&scratch, "hard.std",
                     "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n",
                     path);
    const char *arguments =
        "predict @/hard.std --no-report-run --solver-steps filter,cone,linearise,saturate";
    char with[256];
    snprintf(with, sizeof with, "%s --debug all --checkpoint @/hard.saved", arguments);
    mr_run_maxrace(&plain, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&run, &scratch, with, NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_string_equal(run.out, plain.out);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(run.error, parts[i]))
            fail_msg("no \"%s\" in\n%s", parts[i], run.error);
    mr_run_free(&run);
    mr_run_free(&plain);
    const mr_run_row rows[] = {
        {"predict @/hard.std --debug cones", 2, NULL,
         "maxrace: --debug: 'cones' is no topic; expected some of windows, candidates, cone, "
         "steps, formula, search, far, dispatch, checkpoint, recorder, or all\n"},
        {"info @/hard.std --debug cone", 2, NULL, "maxrace: unknown flag '--debug'\n"},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof rows[0]);
}

/* The topic far tells of each window that is tried, and of each pair of places in the end. */
static void test_far_lines(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        const char *parts[5];
    } cases[] = {
        {"filter,cone,saturate",
         {"debug far: order=syncp first=0 second=20 verdict=race",
          "debug far: window=far events=0-22 size=23 model=value places=1",
          "debug far: window=around events=0-15 size=16 model=value way=reorder places=1 "
          "questions=1 "
          "due=1",
          "debug far: place_1=2 place_2=13 verdict=race effort=17"}},
        {"filter,saturate", {"debug far: place_1=4 place_2=22 verdict=no-race effort=113"}},
        {"filter", {"debug far: place_1=4 place_2=22 verdict=unknown reason=steps effort="}},
    };
    mr_run run, plain;
    char path[512], text[1024], line[64];
    size_t used = 0;
    /* Accesses of q at the two ends: a sync-preserving race. Those of x: a race when the sections
     * of l change places. Those of v: no race, because T2 reads y in between. */
    static const char *const events[] = {
        "T1|w(q)",   "T1|acq(l)", "T1|w(x)", "T1|rel(l)", "T1|w(v)", "T1|w(y)",
        "T1|w(z)",   "T2|w(z)",   "T1|w(z)", "T2|w(z)",   "T1|w(z)", "T2|acq(l)",
        "T2|rel(l)", "T2|w(x)",   "T1|w(z)", "T2|w(z)",   "T1|w(z)", "T2|w(z)",
        "T1|w(z)",   "T2|w(z)",   "T2|w(q)", "T2|r(y)",   "T2|w(v)",
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        snprintf(line, sizeof line, "%s|%zu\n", events[i], i);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", line);
    }
    mr_scratch_write(&scratch, "beyond.std", text, path);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char arguments[256], with[300];
        snprintf(arguments, sizeof arguments,
                 "predict @/beyond.std --no-report-run --window-size 4 --window-overlap 2 "
                 "--solver-steps %s",
                 cases[k].steps);
        snprintf(with, sizeof with, "%s --debug far", arguments);
        mr_run_maxrace(&plain, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        mr_run_maxrace(&run, &scratch, with, NULL, MR_RUN_CAPTURE);
        assert_string_equal(run.out, plain.out);
        assert_string_equal(plain.error, "");
        for (size_t i = 0; i < 5 && cases[k].parts[i]; i++)
            if (!strstr(run.error, cases[k].parts[i]))
                fail_msg("no \"%s\" in\n%s", cases[k].parts[i], run.error);
        mr_run_free(&run);
        mr_run_free(&plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),     cmocka_unit_test(test_window),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_topics),
        cmocka_unit_test(test_debug_lines), cmocka_unit_test(test_far_lines),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
