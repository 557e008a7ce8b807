/* `maxrace compare` from end to end: every format, several traces of which some are broken, the
 * choice of relations, output files, exit statuses, .mrt files, and the figures of the papers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/figures.h"
#include "support/run.h"
#include "support/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mr_scratch scratch;

static const mr_scratch_file files[] = {
    {"race.std", "T1|w(x=1)|10\nT2|w(x=2)|20\n"},
    {"none.std", "T1|w(x=1)|10\nT1|fork(T2)|11\nT2|r(x=1)|20\n"},
    {"empty.std", ""},
    {"broken.std", "T1|w(x=1)|10\nT2|w(x=1)|20\nT2|rel(l)|15\n"},
    /* Unordered, but T2 reads y only after it has seen x: hb, cp and wcp are wrong here. */
    {"guarded.std", "T1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\nT2|r(y=1)|4\n"},
    /* What ends a cell, a field or a line must not do so in a name. */
    {"names.std", "#@var x a,\"b\"|c\nT1|w(x=1)|l,\"1\"\nT2|w(x=2)|m|n\n"},
    {"odd|\"name.std", "T1|w(x=1)|10\nT2|w(x=2)|20\n"},
    /* T2 may go before T1 has its locks when it reads the first 1. */
    {"locks.std", "T1|w(x=1)|1\nT1|acq(a)|2\nT1|acq(b)|3\nT1|rel(b)|4\nT1|rel(a)|5\nT1|w(x=1)|6\n"
                  "T2|r(x=1)|7\nT2|acq(b)|8\nT2|acq(a)|9\nT2|rel(a)|10\nT2|rel(b)|11\n"},
    {"hb.yaml", "relations: hb, value\nformat: csv\n"},
};

static int setup(void **state)
{
    mr_run run;
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    mr_run_maxrace(&run, &scratch, "convert @/guarded.std @/guarded.mrt", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 0);
    mr_run_free(&run);
    return 0;
}

#define FINDERS "hb, fhb, shb, cp, wcp, syncp, c17, hybrid, rf, value and branch"
#define BROKEN                                                                                     \
    "@/broken.std:3: T2|rel(l)|15: releases a lock that no thread holds; fix the recorder, or "    \
    "drop the event with --repair\n"

static void test_usage(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare", 2, NULL, "maxrace: missing operand; usage: maxrace compare [FLAGS] TRACE…\n"},
        {"compare --relations hb,po @/race.std", 2, NULL,
         "maxrace: there is no relation or model 'po'; the list takes " FINDERS "\n"},
        {"compare --relations , @/race.std", 2, NULL,
         "maxrace: the list of relations is empty; it takes " FINDERS "\n"},
        {"compare --relation hb @/race.std", 2, NULL,
         "maxrace: '--relation' is not a flag of 'compare'\n"},
        {"compare --format xml @/race.std", 2, NULL,
         "maxrace: format: 'xml' is not one of "
         "text|json|csv|markdown|sarif|junit|perfetto|dot|html\n"},
        {"order --format csv @/race.std", 2, NULL,
         "maxrace: format: 'order' reports as text or json; csv is for 'compare'\n"},
        {"compare -h", 0, "usage: maxrace compare [FLAGS] TRACE…", NULL},
        {"help compare", 0, "3 bad trace", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_text(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare @/race.std", 1,
         "\nstatic races                  1        1        1        1        1        1        1"
         "        1\n",
         NULL},
        {"compare @/race.std", 1, "/race.std: 2 events, 2 threads, 0 locks, 1 variable; read in ",
         NULL},
        {"compare @/none.std", 0,
         "\nracy events                   0        0        0        0        0        0        -"
         "        -\n",
         NULL},
        {"compare @/empty.std", 3, NULL,
         "@/empty.std: the trace has no events, so nothing can be said about it\n"},
        {"compare --relations value,wcp @/guarded.std", 1,
         "\n                            wcp    value\nracy events                   2        -\n",
         NULL},
        {"compare --relations value,wcp @/guarded.std", 1,
         "\nFound by one alone:\n  wcp only: 1 - 4 on y (lines 1 and 4)\n", NULL},
        {"compare examples/value.std", 1,
         "\nFound by one alone:\n  value only: 10 - 33 on data (lines 10 and 20)\n", NULL},
        {"compare examples/bank.std examples/value.std", 1, "\n\nexamples/value.std: 11 events",
         NULL},
        {"compare -c @/hb.yaml --format text @/race.std", 1,
         "\n                             hb    value\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_csv(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare --format csv --relations shb,rf @/guarded.std", 1,
         "trace,events,relation,racy_events,racy_locations,racy_variables,static_races,only,"
         "unknown,uses_after_free,deadlocks,null_pointers,dangling_pointers,double_frees,"
         "unknown_beside_races,seconds\n",
         NULL},
        {"compare --format csv --relations shb,rf @/guarded.std", 1,
         "/guarded.std\",4,shb,1,1,1,1,0,,,,,,,,0.", NULL},
        {"compare --format csv --relations shb,rf @/guarded.std", 1,
         "/guarded.std\",4,rf,,,,1,0,0,0,0,0,0,0,0,0.", NULL},
        {"compare --format csv --relations hb,shb @/guarded.std", 1,
         "/guarded.std\",4,hb,2,2,2,2,1,,,,,,,,0.", NULL},
        {"compare --format csv --relations hb @/odd|\"name.std", 1, "/odd|\"\"name.std\",2,hb,1,",
         NULL},
        {"compare -c @/hb.yaml @/race.std", 1, "/race.std\",2,value,,,,1,0,0,0,0,0,0,0,0,0.", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_markdown(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare --format markdown --relations hb,value @/guarded.std", 1,
         "| trace | events | | hb | value |\n|---|--:|---|--:|--:|\n"
         "| guarded.std | 4 | racy events | 2 | - |\n| | | racy locations | 2 | - |\n",
         NULL},
        {"compare --format markdown --relations hb,value @/guarded.std @/none.std", 1,
         "\n| none.std | 3 | racy events | 0 | - |\n", NULL},
        {"compare --format markdown --relations hb @/odd|\"name.std", 1,
         "\n| odd\\|\"name.std | 2 | racy events | 1 |\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* What models find beside races: a row for each kind that one of them finds. */
static void test_beside_races(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare --relations rf,value @/locks.std", 1,
         "\nunknown static races          0        0\ndeadlocks                     0        1\n"
         "seconds ",
         NULL},
        {"compare --relations value @/race.std", 1, "\nunknown static races          0\nseconds ",
         NULL},
        {"compare --format csv --relations hb,value @/locks.std", 1,
         ",11,value,,,,2,0,0,0,1,0,0,0,0,0.", NULL},
        {"compare --format markdown --relations rf,value @/locks.std", 1,
         "\n| | | deadlocks | 0 | 1 |\n", NULL},
        {"compare --format json --relations rf,value @/locks.std", 1, "\"deadlock\":1", NULL},
        {"compare --format html --relations rf,value @/locks.std", 1, "\"deadlocks\":\"1\"", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* What is wrong with one trace does not keep the others from being reported. */
static void test_broken_traces(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare @/broken.std", 3, NULL, BROKEN},
        {"compare --relations hb --format csv @/race.std @/broken.std @/none.std", 3,
         "/none.std\",3,hb,0,", BROKEN},
        {"compare --relations hb --format csv @/broken.std @/race.std", 3, "/race.std\",2,hb,1,",
         BROKEN},
        {"compare --relations hb --format csv @/broken.std @/missing.std @/race.std", 4,
         "/race.std\",2,hb,1,", BROKEN "@/missing.std: cannot open: No such file or directory\n"},
        {"compare --relations hb --format csv @/missing.std @/broken.std @/race.std", 4,
         "/race.std\",2,hb,1,", BROKEN "@/missing.std: cannot open: No such file or directory\n"},
        {"compare --repair --relations hb --format csv @/broken.std", 1, "/broken.std\",2,hb,1,",
         "maxrace: repair dropped 1 event or line; the first: @/broken.std:3: T2|rel(l)|15: "
         "releases a lock that no thread holds\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_input(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare --format csv --relations wcp,syncp @/guarded.mrt", 1,
         "/guarded.mrt\",4,wcp,2,2,2,2,1,,,,,,,,0.", NULL},
        {"compare --format csv --relations wcp,syncp @/guarded.mrt", 1,
         "/guarded.mrt\",4,syncp,1,1,1,1,0,,,,,,,,0.", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
    mr_run run;
    mr_run_maxrace(&run, &scratch, "compare --format csv --relations hb -", files[0].text,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.out, "\n\"-\",2,hb,1,1,1,1,1,,,,,,,,0."));
    mr_run_free(&run);
}

static void test_output(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"compare --relations hb --format csv -o @/out.csv @/race.std", 1, NULL, NULL},
        {"compare -o @/no/out.csv @/race.std", 4, NULL,
         "@/no/out.csv: cannot write: No such file or directory\n"},
    };
    char path[512];
    MR_RUN_ROWS(&scratch, rows);
    char *text = mr_file_text(mr_scratch_path(&scratch, "out.csv", path));
    assert_non_null(text);
    assert_non_null(strstr(text, "/race.std\",2,hb,1,1,1,1,1,,,,,,,,0."));
    free(text);
    mr_run run;
    mr_run_maxrace(&run, &scratch, "compare @/race.std @/none.std", NULL, MR_RUN_FULL);
    assert_int_equal(run.status, 4);
    /* said once, and the second trace is not tried */
    assert_string_equal(run.error, "maxrace: cannot write the report: No space left on device\n");
    mr_run_free(&run);
}

static json_t *run_json(const char *arguments, int status)
{
    mr_run run;
    json_error_t problem;
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    if (run.status != status)
        fail_msg("%s: exit status %d, not %d: %s", arguments, run.status, status, run.error);
    json_t *report = json_loads(run.out, JSON_REJECT_DUPLICATES, &problem);
    if (report == NULL)
        fail_msg("%s: %s", arguments, problem.text);
    mr_run_free(&run);
    return report;
}

static void test_json(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        int status;
        size_t trace_count;
    } rows[] = {
        {"compare --format json @/race.std", 1, 1},
        {"compare --format json @/guarded.std @/none.std @/empty.std", 3, 2},
        {"compare --format json @/broken.std", 3, 0},
        {"compare --format json @/race.std @/broken.std @/none.std", 3, 2},
        {"compare --format json --relations syncp,value @/names.std", 1, 1},
        {"compare --format json --no-report-run @/race.std", 1, 1},
        {"compare --format json examples/deadlock.std @/guarded.mrt", 1, 2},
        /* nothing is decided: rf, value and branch leave the races unknown */
        {"compare --format json --solver-steps filter,cone,linearise,z3 --solver-max-clauses 1 "
         "examples/value.std",
         0, 1},
    };
    json_t *schema = mr_schema_load("docs/compare.schema.json");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char what[256];
        json_t *report = run_json(rows[i].arguments, rows[i].status);
        if (!mr_schema_fits(schema, schema, report, what))
            fail_msg("%s: %s", rows[i].arguments, what);
        assert_int_equal(json_array_size(json_object_get(report, "traces")), rows[i].trace_count);
        json_decref(report);
    }
    json_decref(schema);
}

/* Does the finder report the static race? `trace` is a member of `traces`. */
static bool finds(const json_t *trace, const char *finder, const char *first, const char *second)
{
    size_t i, k;
    const json_t *race, *name;
    json_array_foreach(json_object_get(trace, "static_races"), i, race)
    {
        const json_t *pair = json_object_get(race, "locations");
        const char *one = json_string_value(json_array_get(pair, 0)),
                   *two = json_string_value(json_array_get(pair, 1));
        if ((strcmp(one, first) != 0 || strcmp(two, second) != 0) &&
            (strcmp(one, second) != 0 || strcmp(two, first) != 0))
            continue;
        json_array_foreach(json_object_get(race, "found_by"), k, name)
        {
            if (strcmp(json_string_value(name), finder) == 0)
                return true;
        }
    }
    return false;
}

/* What the papers say of their examples. Locations are lines of the figures, so a static race is a
 * pair of events. */
static void test_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        char arguments[256];
        snprintf(arguments, sizeof arguments, "compare --format json tests/figures/%s.std",
                 figure->file);
        bool any = false;
        for (size_t k = 0; k < mr_figure_count; k++)
            any = any || (strcmp(mr_figures[k].file, figure->file) == 0 &&
                          (!mr_figures[k].wcp_ordered || mr_figures[k].rf_race));
        json_t *report = run_json(arguments, any ? 1 : 0);
        const json_t *trace = json_array_get(json_object_get(report, "traces"), 0);
        const struct {
            const char *finder;
            bool expected;
        } rows[] = {
            {"hb", !figure->hb_ordered},   {"fhb", figure->fhb_race},
            {"shb", figure->shb_race},     {"cp", !figure->cp_ordered},
            {"wcp", !figure->wcp_ordered}, {"syncp", figure->syncp_race},
            {"rf", figure->rf_race},
        };
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            if (finds(trace, rows[k].finder, figure->first, figure->second) != rows[k].expected)
                fail_msg("%s: %s - %s: %s", figure->file, figure->first, figure->second,
                         rows[k].finder);
        assert_int_equal(json_array_size(json_object_get(trace, "breaches")), 0);
        json_decref(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),         cmocka_unit_test(test_text),
        cmocka_unit_test(test_csv),           cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_beside_races),  cmocka_unit_test(test_output),
        cmocka_unit_test(test_broken_traces), cmocka_unit_test(test_input),
        cmocka_unit_test(test_json),          cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
