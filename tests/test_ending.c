/* How a recording ended: lines, files of both formats, what is a bad end, what reports say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/mrt_bytes.h"
#include "support/run.h"
#include "support/schema.h"
#include "support/trace_reading.h"

#include "formats/mrt/mrt_format.h"
#include "formats/read.h"
#include "trace/ending.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS "T1|w(x=1)|1\nT1|fork(T2)|2\nT2|r(x=1)|3\n"

static mr_scratch scratch;

static int setup(void **state)
{
    (void)state;
    mr_scratch_make(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_scratch_remove(&scratch);
    return 0;
}

static void take(mr_ending *ending, const char *line)
{
    assert_true(mr_ending_take(ending, line, strlen(line)));
}

static void test_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {"exit 3\n", "signal 6\nstopped max-log\n",
                                        "stopped deadlock\nchildren 2\ndetail a b\ndetail c\n",
                                        "suppression race:a b\nsuppression x\n", ""};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        mr_ending ending = {.details = NULL};
        for (const char *at = lines[i]; *at; at += strcspn(at, "\n") + 1)
            assert_true(mr_ending_take(&ending, at, strcspn(at, "\n")));
        char *back = mr_ending_lines(&ending);
        assert_string_equal(back, lines[i]);
        assert_int_equal(mr_ending_is_known(&ending), lines[i][0] != '\0');
        free(back);
        mr_ending_free(&ending);
    }
}

/* What a later version may write, or somebody by hand, says nothing. */
static void test_strange_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {"exit",       "exit ",
                                        "exit x",     "exit 256",
                                        "exit -1",    "signal 65",
                                        "exit 3 ",    "signal 1234567890123456789012",
                                        "stopped",    "stopped never",
                                        "children x", "more 3",
                                        "exits 3",    ""};
    mr_ending ending = {.details = NULL};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        take(&ending, lines[i]);
        if (mr_ending_is_known(&ending))
            fail_msg("'%s' was taken", lines[i]);
    }
}

static void test_bad_ends(void **state)
{
    (void)state;
    static const struct {
        const char *one, *two, *sentence, *limit;
        bool bad;
    } rows[] = {
        {"exit 0", "", "", NULL, false},
        {"exit 3", "", "the program ended with status 3", NULL, false},
        {"signal 6", "", "the program was ended by signal 6 (Aborted)", "signal 6 (Aborted)", true},
        {"signal 0", "", "the program was ended by a signal", "a signal", true},
        {"signal 15", "", "the program was ended by signal 15 (Terminated)",
         "signal 15 (Terminated)", false},
        {"signal 9", "stopped timeout",
         "the program was ended by signal 9 (Killed); the recording ended at --timeout",
         "--timeout", false},
        {"signal 11", "stopped max-events",
         "the program was ended by signal 11 (Segmentation fault); the recording ended at "
         "--max-events",
         "--max-events", true},
        {"exit 0", "stopped deadlock", "the recording ended at a deadlock", "a deadlock", true},
        {"exit 0", "children 1", "1 child process with threads was not recorded", NULL, false},
        {"exit 1", "children 2",
         "the program ended with status 1; 2 child processes with threads were not recorded", NULL,
         false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[320];
        mr_ending ending = {.details = NULL};
        take(&ending, rows[i].one);
        take(&ending, rows[i].two);
        mr_ending_sentence(&ending, text, sizeof text);
        assert_string_equal(text, rows[i].sentence);
        assert_int_equal(mr_ending_is_bad(&ending), rows[i].bad);
        const char *limit = mr_ending_limit(&ending, text, sizeof text);
        assert_int_equal(limit == NULL, rows[i].limit == NULL);
        if (limit)
            assert_string_equal(limit, rows[i].limit);
    }
}

/* Text, .mrt, text again, and what is left by exclude. */
static void test_files(void **state)
{
    (void)state;
    static const char end[] = "#@end signal 6\n#@end detail T1 waits\n";
    char path[512];
    mr_scratch_write(&scratch, "bad.std", "#@end signal 6\n#@end detail T1 waits\n" EVENTS, path);
    static const mr_run_row rows[] = {
        {"convert @/bad.std @/bad.mrt", 0, NULL, NULL},
        {"convert @/bad.mrt -", 0, end, NULL},
        {"exclude --pattern none @/bad.mrt @/less.mrt", 0, NULL,
         "maxrace: --pattern: the pattern 'none' matches no place and no function of the trace\n"
         "maxrace: 0 events of 0 locations went into 0 calls; OUT has 3 events\n"},
        {"convert @/less.mrt -", 0, end, NULL},
        {"predict --no-report-run @/bad.mrt", 6,
         "\nthe program was ended by signal 6 (Aborted)\n  T1 waits\n", NULL},
        {"predict --no-report-run @/bad.std", 6,
         "\nno race in the 3 events up to signal 6 (Aborted)\n", NULL},
        {"predict --format json @/bad.mrt", 6,
         "\"ending\":{\"signal\":6,\"bad\":true,\"details\":[\"T1 waits\"]}", NULL},
        {"order --relation hb --format json @/bad.mrt", 6, "\"ending\":{\"signal\":6,", NULL},
        {"order --relation hb --no-report-run @/bad.std", 6,
         "\nthe program was ended by signal 6 (Aborted)\n  T1 waits\nrelation hb", NULL},
        {"order --relation cp --no-report-run @/bad.mrt", 6,
         "\nno static race of cp in the 3 events up to signal 6 (Aborted)\n", NULL},
        {"compare --no-report-run @/bad.mrt", 6,
         "\nthe program was ended by signal 6 (Aborted)\n  T1 waits\n\n ", NULL},
        {"compare --format json @/bad.mrt", 6, "\"ending\":{\"signal\":6,", NULL},
        {"compare --format csv --no-report-run @/bad.mrt", 6, "trace,events",
         "@/bad.mrt: the program was ended by signal 6 (Aborted)\n"},
        {"info @/bad.std", 0,
         "\nrecording                   the program was ended by signal 6 (Aborted)\n"
         "                            T1 waits\n",
         NULL},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof *rows);
}

/* What was not seen is noted at each race, and goes through both formats. */
static void test_unseen(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "omp.std",
                     "#@end exit 0\n#@end unseen openmp\n#@end unseen io-uring\n"
                     "#@end unseen magic\nT1|w(x=1)|1\nT2|r(x=1)|3\n",
                     path);
    static const mr_run_row rows[] = {
        {"convert @/omp.std @/omp.mrt", 0, NULL, NULL},
        {"convert @/omp.mrt -", 0, "#@end exit 0\n#@end unseen openmp\n#@end unseen io-uring\nT1",
         NULL},
        {"predict --no-report-run @/omp.mrt", 1,
         "\nOpenMP and io_uring: synchronisation that is not recorded, so races may be false\n",
         NULL},
        {"predict --no-report-run @/omp.std", 1,
         "\n  note    may be false: OpenMP and io_uring may order the two accesses\n", NULL},
        {"predict --format json @/omp.mrt", 1, "\"unseen\":[\"openmp\",\"io-uring\"],\"window\"",
         NULL},
        {"order --relation hb @/omp.mrt", 1,
         "\n  note    may be false: OpenMP and io_uring may order the two accesses\n", NULL},
        {"order --format json @/omp.mrt", 1, "\"unseen\":[\"openmp\",\"io-uring\"]", NULL},
        {"info @/omp.mrt", 0,
         "\nnot recorded                synchronisation by OpenMP and io_uring\n", NULL},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof *rows);
}

static void test_schema(void **state)
{
    (void)state;
    char path[512], problem[256];
    mr_run run;
    mr_scratch_write(&scratch, "all.std",
                     "#@end signal 6\n#@end stopped deadlock\n#@end children 2\n"
                     "#@end unseen openmp\n#@end detail T1 waits\n" EVENTS,
                     path);
    mr_run_maxrace(&run, &scratch, "predict --format json @/all.std", NULL, MR_RUN_CAPTURE);
    json_t *schema = json_load_file("docs/report.schema.json", 0, NULL);
    json_t *report = json_loads(run.out, 0, NULL);
    assert_non_null(schema);
    assert_non_null(report);
    if (!mr_schema_fits(schema, schema, report, problem))
        fail_msg("%s", problem);
    json_t *ending = json_object_get(json_object_get(report, "trace"), "ending");
    assert_string_equal(json_string_value(json_object_get(ending, "stopped")), "deadlock");
    assert_int_equal(json_integer_value(json_object_get(ending, "children")), 2);
    assert_int_equal(json_array_size(json_object_get(ending, "unseen")), 1);
    json_decref(schema);
    json_decref(report);
    mr_run_free(&run);
}

/* Races are races however the program ended. */
static void test_races_first(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "race.std", "#@end signal 6\nT1|w(x=1)|1\nT2|r(x=1)|3\n", path);
    static const mr_run_row rows[] = {
        {"predict --no-report-run @/race.std", 1, "\n1 race (1 by hb)\n", NULL},
    };
    mr_run_rows(&scratch, rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_strange_lines),
        cmocka_unit_test(test_bad_ends),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_unseen),      cmocka_unit_test(test_schema),
        cmocka_unit_test(test_races_first),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
