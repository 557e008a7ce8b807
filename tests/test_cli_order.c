/* `maxrace order` from end to end: what each relation says of small traces, what is proven, broken
 * traces, standard input, witness files, JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"
#include "support/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mr_scratch scratch;

static const mr_scratch_file files[] = {
    {"race.std", "T1|w(x=1)|10\nT2|w(x=2)|20\n"},
    {"none.std", "T1|w(x=1)|10\nT1|fork(T2)|11\nT2|r(x=1)|20\n"},
    {"empty.std", ""},
    {"broken.std", "T1|w(x=1)|10\nT2|w(x=1)|20\nT2|rel(l)|15\nT3|w(x=1)|30\n"},
    /* y: no order orders the pair, but T2 reads y only after it has seen x. */
    {"guarded.std", "T1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\nT2|r(y=1)|4\n"},
    /* The same once more: y is read by T3, too, which has seen nothing. */
    {"second.std", "T1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\nT2|r(y=1)|4\nT3|r(y=1)|4\n"},
    {"mixed.std", "T1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\nT2|r(y=1)|4\nT3|w(z)|5\nT1|w(z)|6\n"},
    {"middle.std", "T3|w(a)|9\nT3|w(a)|9\nT3|w(a)|9\nT1|w(y=1)|1\nT1|w(x=1)|2\nT2|r(x=1)|3\n"
                   "T2|r(y=1)|4\nT3|w(a)|9\nT3|w(a)|9\n"},
    /* The sections must change places. */
    {"swap.std", "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n"},
    /* The section of T2 can come first, and T1's is then open. */
    {"open.std", "T1|w(x)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n"},
    {"small.yaml", "window:\n  size: 2\n  overlap: 1\n"},
    {"strict.yaml", "solver:\n  steps: filter,cone,z3\n  max_clauses: 1\n"},
    {"freeing.std", "#@in y o\nM|alloc(o)|1\nM|fork(C)|2\nC|w(y=1)|3\nM|free(o)|4\n"},
    /* Errors that happened: a use after the free, a lock that nobody holds is released. */
    {"freed.std", "#@in y o\nM|alloc(o=4096+64)|1\nM|w(y=1)|2\nM|free(o)|3\nM|r(y=1)|4\n"
                  "M|r(y=1)|4\n"},
    {"reused.std", "#@in y o\n#@in z p\nM|alloc(o=4096+64)|1\nM|w(y=1)|2\nM|free(o)|3\n"
                   "M|alloc(p=4096+64)|4\nM|w(z=1)|5\n"},
    {"misuse.std", "#@end misuse unlock-free 0\nM|ar(l.lock=0)|1\nM|w(x=1)|2\n"},
    {"twice.std", "T1|w(x)|1\nT2|w(x)|2\nT3|w(x)|2\n"},
};

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    return 0;
}

static void test_usage(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order", 2, NULL, "maxrace: missing operand; usage: maxrace order [FLAGS] TRACE\n"},
        {"order --relation po @/race.std", 2, NULL,
         "maxrace: relation: 'po' is not one of hb|fhb|shb|cp|wcp|syncp|c17|hybrid\n"},
        {"order --examples 0 @/race.std", 2, NULL,
         "maxrace: examples: '0' is out of range (1 to 1000000 pairs)\n"},
        {"order --window-overlap 5 @/race.std", 2, NULL,
         "maxrace: '--window-overlap' is not a flag of 'order'\n"},
        {"predict --relation hb @/race.std", 2, NULL,
         "maxrace: '--relation' is not a flag of 'predict'\n"},
        {"order @/missing.std", 4, NULL, "@/missing.std: cannot open: No such file or directory\n"},
        {"order -o @/no/out @/race.std", 4, NULL,
         "@/no/out: cannot write: No such file or directory\n"},
        {"help order", 0, "usage: maxrace order [FLAGS] TRACE", NULL},
        {"order -h", 0, "  --model rf|value|branch\n", NULL},
        {"help --all order", 0, "--[no-]witness-check\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_relations(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order @/race.std", 1, "\n1 static race of shb: 1 proven\n", NULL},
        {"order --relation hb @/race.std", 1, "\n1 static race of hb: 1 proven\n", NULL},
        {"order --relation fhb @/race.std", 1, "\n1 static race of fhb: 1 proven\n", NULL},
        {"order --relation cp @/race.std", 1, "\n1 static race of cp: 1 proven\n", NULL},
        {"order --relation wcp @/race.std", 1, "\n1 static race of wcp: 1 proven\n", NULL},
        {"order --relation syncp @/race.std", 1, "\n1 static race of syncp: 1 proven\n", NULL},
        {"order -q @/none.std", 0, "\nno static race of shb in the ", NULL},
        {"order --relation hybrid @/race.std", 1, "\n1 static race of hybrid: 1 proven\n", NULL},
        {"order --relation wcp @/none.std", 0, "\nno static race of wcp in the ", NULL},
        {"order --relation syncp @/empty.std", 3, NULL,
         "@/empty.std: the trace has no events, so nothing can be said about it\n"},
        {"order --relation wcp @/empty.std", 3, NULL,
         "@/empty.std: the trace has no events, so nothing can be said about it\n"},
        {"order --relation hb @/open.std", 0, "\nno static race of hb in the ", NULL},
        {"order --relation wcp @/open.std", 1, "  proof   a race of syncp; witness of ", NULL},
        {"order --relation syncp @/open.std", 1, "\n1 static race of syncp: 1 proven\n", NULL},
        {"order --relation shb @/guarded.std", 1, "\n1 static race of shb: 1 proven\n", NULL},
        {"order @/race.std", 1,
         "relation shb: 1 racy event at 1 location on 1 variable, 1 static race\n", NULL},
        {"order @/twice.std", 1,
         "relation shb: 2 racy events at 1 location on 1 variable, 2 static races\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* Errors that happened are told by every order, as predict tells them, and give status 1; also where
 * the order reads a stream and has no race that needs the trace in memory. */
static void test_observed(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order @/freed.std", 1, "\nObserved 1 of 1: M uses memory that was freed: y, 2 times\n",
         NULL},
        {"order @/freed.std", 1, "\n1 error observed, no static race of shb in the ", NULL},
        {"order --relation hb --no-mark @/freed.std", 1, "\nObserved 1 of 1: M uses memory", NULL},
        {"order --relation wcp @/freed.std", 1, "\nObserved 1 of 1: M uses memory", NULL},
        {"order --relation syncp @/freed.std", 1, "\nObserved 1 of 1: M uses memory", NULL},
        {"order --relation c17 @/freed.std", 1, "\nObserved 1 of 1: M uses memory", NULL},
        {"order --format json --no-witness-check @/freeing.std", 1,
         "\"op\":\"free\",\"object\":\"o\"", NULL},
        {"order --format json @/freed.std", 1, "\"observed\":[\n{\"kind\":\"use-after-free\"",
         NULL},
        {"order @/misuse.std", 1,
         "\nObserved 1 of 1: M releases a lock that nobody holds: l.lock\n", NULL},
        {"predict @/misuse.std", 1, "M releases a lock that nobody holds: l.lock\n", NULL},
        {"order @/reused.std", 0, "\nno static race of shb in the ", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* The list at the head of the text, and --brief, which has nothing else. */
static void test_lists(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order @/twice.std", 1,
         "2 static races\n\n1: race on x between T1 and T2 (static race 1; proven)\n"
         "2: race on x between T2 and T3 (static race 2; proven)\n\nStatic race 1 of 2 on x",
         NULL},
        {"order --brief @/twice.std", 1,
         "1: race on x between T1 and T2; and 2 (proven)\n"
         "2: race on x between T2 and T3; and 2 (proven)\n",
         NULL},
        /* Proven ones first, also when another was found before. */
        {"order --brief --relation hb @/mixed.std", 1,
         "2: race on x between T1 and T2; and 3 (proven)\n"
         "5: race on z between T3 and T1; and 6 (proven)\n"
         "1: race on y between T1 and T2; and 4 (candidate)\n",
         NULL},
        {"order --brief --relation hb --no-mark @/race.std", 1,
         "10: race on x between T1 and T2; and 20 (candidate)\n", NULL},
        /* What is proven to be no race is no finding. */
        {"order --brief --relation hb --confirm @/guarded.std", 1,
         "2: race on x between T1 and T2; and 3 (proven)\n", NULL},
        {"order @/freed.std", 1,
         "\n\n4: M uses memory that was freed: y (observed 1)\n\nObserved 1 of 1", NULL},
        {"order --brief @/freed.std", 1, "4: M uses memory that was freed: y (observed); and 3\n",
         NULL},
        {"order --color always @/race.std", 1, "\n\x1b[1m10\x1b[0m: race on x between", NULL},
        {"order --brief --color always @/race.std", 1,
         "10: race on x between T1 and T2; and 20 (proven)\n", NULL},
        {"order --brief @/none.std", 0, NULL, NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* hb, cp and wcp: what is proven, what is a candidate, what --confirm makes of it. */
static void test_marks(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order --relation hb @/guarded.std", 1, "\n2 static races of hb: 1 proven, 1 candidate\n",
         NULL},
        {"order --relation hb @/guarded.std", 1, "  proof   a race of shb; witness of 0 events, ",
         NULL},
        {"order --relation hb --no-mark @/guarded.std", 1, "\n2 static races of hb: 2 candidate\n",
         NULL},
        {"order --relation hb --no-witness-check @/guarded.std", 1,
         "\n2 static races of hb: 1 sound by theorem, 1 candidate\n", NULL},
        {"order --relation hb --no-witness-check @/guarded.std", 1,
         "  proof   the first race of happens-before; no witness was asked for\n", NULL},
        {"order --relation hb --confirm @/guarded.std", 1,
         "\n2 static races of hb: 1 proven, 1 no race\n", NULL},
        {"order --relation hb --confirm @/guarded.std", 1,
         "  scope   no race of these accesses within events 0 to 3\n", NULL},
        {"order --relation hb --confirm --no-mark --model rf @/guarded.std", 1,
         "\n2 static races of hb: 1 proven, 1 no race\n", NULL},
        {"order --relation hb --confirm --no-mark @/second.std", 1,
         "\n2 static races of hb: 1 proven, 1 no race\n", NULL},
        {"order --relation hb --confirm --no-mark --examples 2 @/second.std", 1,
         "\n2 static races of hb: 2 proven\n", NULL},
        {"order --relation hb --confirm --window-size 6 @/middle.std", 1,
         "  scope   no race of these accesses within events 2 to 7\n", NULL},
        {"order --relation hb --confirm --window-size 7 @/middle.std", 1,
         "  scope   no race of these accesses within events 2 to 8\n", NULL},
        {"order --relation hb --confirm -c @/small.yaml @/middle.std", 1,
         "  scope   no race of these accesses within events 3 to 6\n", NULL},
        {"order --relation wcp @/swap.std", 1, "\n1 static race of wcp: 1 candidate\n", NULL},
        {"order --relation cp @/swap.std", 1, "\n1 static race of cp: 1 candidate\n", NULL},
        {"order --relation wcp --confirm @/swap.std", 1,
         "  proof   found by the steps of predict; witness of ", NULL},
        {"order --relation cp --confirm @/swap.std", 1, "\n1 static race of cp: 1 proven\n", NULL},
        {"order --relation wcp --confirm --window-size 0 @/swap.std", 1,
         "\n1 static race of wcp: 1 proven\n", NULL},
        {"order --relation wcp --confirm --window-size 2 --window-overlap 1 @/swap.std", 2, NULL,
         "maxrace: '--window-overlap' is not a flag of 'order'\n"},
        {"order --relation wcp --confirm --config @/strict.yaml @/swap.std", 1,
         "  reason  size; within events 0 to 5\n", NULL},
        {"order --relation wcp --confirm --config @/strict.yaml @/swap.std", 1,
         "\n1 static race of wcp: 1 unknown\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_sound(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order --no-witness-check @/race.std", 1, "\n1 static race of shb: 1 sound by theorem\n",
         NULL},
        {"order --no-witness-check --relation syncp @/race.std", 1,
         "  proof   a race of syncp; no witness was asked for\n", NULL},
        {"order --examples 3 @/twice.std", 1,
         "  first   write at 1 by T1, event 0, line 1\n"
         "  second  write at 2 by T2, event 1, line 2\n"
         "  first   write at 1 by T1, event 0, line 1\n"
         "  second  write at 2 by T3, event 2, line 3\n"
         "  proof   a race of shb; witness of 0 events, accepted by the checker\n",
         NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* What stands before the damage is reported, for every relation; the error comes with its place. */
static void test_broken(void **state)
{
    (void)state;
    static const char *const relations[] = {"hb", "fhb", "shb", "cp", "wcp", "syncp", "c17"};
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        char arguments[200], start[1024], last[200];
        mr_run run;
        snprintf(arguments, sizeof arguments, "order --relation %s @/broken.std", relations[i]);
        snprintf(last, sizeof last, "\n1 static race of %s: 1 proven\n", relations[i]);
        mr_run_expand(&scratch, "@/broken.std:3: ", start);
        mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        if (run.status != 3 || strncmp(run.error, start, strlen(start)) != 0 ||
            strstr(run.out, last) == NULL || strstr(run.out, ": 2 events, ") == NULL ||
            strstr(run.out, "the analysis ended early") == NULL)
            fail_msg("%s: status %d\nout: %s\nerror: %s", arguments, run.status, run.out,
                     run.error);
        mr_run_free(&run);
    }
}

static void test_repair(void **state)
{
    (void)state;
    mr_run run;
    char start[1024];
    mr_run_expand(&scratch,
                  "maxrace: repair dropped 1 event or line; the first: @/broken.std:3: ", start);
    mr_run_maxrace(&run, &scratch, "order --repair @/broken.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_int_equal(strncmp(run.error, start, strlen(start)), 0);
    assert_ptr_equal(strchr(run.error, '\n'), run.error + strlen(run.error) - 1);
    assert_non_null(strstr(run.out, "\n1 event or line dropped by repair\n"));
    assert_non_null(strstr(run.out, "\n3 static races of shb: 3 proven\n"));
    mr_run_free(&run);
}

/* Standard input is read once: the same report as from the file, but for its name and for errors that
 * happened. */
static void test_standard_input(void **state)
{
    (void)state;
    static const char *const arguments[] = {
        "--relation hb",  "--relation hb --no-mark", "--relation shb",
        "--relation wcp", "--relation syncp",        "--relation wcp --no-mark",
        "--relation cp",  "--no-witness-check",      "--relation wcp --confirm",
    };
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
            char line[300];
            mr_run file, input;
            if (strstr(files[f].name, ".std") == NULL)
                continue;
            snprintf(line, sizeof line, "order --no-report-run %s @/%s", arguments[i],
                     files[f].name);
            mr_run_maxrace(&file, &scratch, line, NULL, MR_RUN_CAPTURE);
            snprintf(line, sizeof line, "order --no-report-run %s -", arguments[i]);
            mr_run_maxrace(&input, &scratch, line, files[f].text, MR_RUN_CAPTURE);
            const char *file_text = strchr(file.out, ':'), *input_text = strchr(input.out, ':');
            assert_int_equal(file.status, input.status);
            /* Errors that happened are told from a trace in memory. */
            const char *untold = strstr(input.out, "\nerrors happened in the recorded run, ");
            bool keeps = strstr(arguments[i], "--no-") == NULL;
            assert_true(!untold || (!keeps && strstr(file.out, "\nObserved 1 of 1: ")));
            assert_true(!untold || strstr(input.out, "\nerrors observed, no static race of "));
            if (!untold)
                assert_string_equal(file_text ? file_text : "", input_text ? input_text : "");
            mr_run_free(&file);
            mr_run_free(&input);
        }
    }
}

/* A witness written is a witness accepted, under the number of its static race. */
static void test_witness_dir(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"order --relation hb --witness-dir @/wit @/guarded.std", 1, "1 candidate\n", NULL},
        {"check @/guarded.std @/wit/race-0001.std", 0, "accepted: events 1 and 2 race", NULL},
        {"order --relation syncp --witness-dir @/wit2 @/open.std", 1, "1 proven\n", NULL},
        {"check --schedule @/open.std @/wit2/race-0001.std", 0, "acq(l)", NULL},
        {"order --relation syncp --no-witness-minimise --witness-dir @/wit2 @/open.std", 1,
         "1 proven\n", NULL},
        {"check @/open.std @/wit2/race-0001.std", 0, "accepted: ", NULL},
        {"order --relation wcp --confirm --witness-dir @/wit3 @/swap.std", 1, "1 proven\n", NULL},
        {"check @/swap.std @/wit3/race-0001.std", 0, "accepted: ", NULL},
    };
    char path[512];
    MR_RUN_ROWS(&scratch, rows);
    mr_scratch_path(&scratch, "wit/race-0002.std", path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_outputs(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        mr_run_output output;
        const char *error;
    } rows[] = {
        {"order @/race.std", MR_RUN_FULL,
         "maxrace: cannot write the report: No space left on device\n"},
        {"order --format json @/race.std", MR_RUN_FULL,
         "maxrace: cannot write the report: No space left on device\n"},
        {"order @/race.std", MR_RUN_CLOSED_PIPE, "maxrace: cannot write the report: Broken pipe\n"},
        {"order -o /dev/full @/race.std", MR_RUN_CAPTURE,
         "/dev/full: cannot write the report: No space left on device\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_run run;
        mr_run_maxrace(&run, &scratch, rows[i].arguments, NULL, rows[i].output);
        assert_int_equal(run.status, 4);
        assert_string_equal(run.error, rows[i].error);
        mr_run_free(&run);
    }
    /* The witnesses are written although the report is not. */
    char path[512];
    mr_run run;
    mr_run_maxrace(&run, &scratch, "order --witness-dir @/wit4 @/race.std", NULL, MR_RUN_FULL);
    assert_int_equal(run.status, 4);
    mr_run_free(&run);
    assert_int_equal(access(mr_scratch_path(&scratch, "wit4/race-0001.std", path), F_OK), 0);
}

static void test_json(void **state)
{
    (void)state;
    static const char *const arguments[] = {
        "order --format json @/guarded.std",
        "order --format json --relation hb --confirm @/guarded.std",
        "order --format json --relation wcp --confirm -c @/strict.yaml @/swap.std",
        "order --format json --no-witness-check @/race.std",
        "order --format json --relation syncp --examples 5 @/twice.std",
        "order --format json --relation cp @/broken.std",
        "order --format json --repair @/broken.std",
        "order --format json @/none.std",
        "order --format json --no-report-run @/race.std",
        "order --format json @/freed.std",
        "order --format json @/freeing.std",
        "order --format json --no-witness-check @/freeing.std",
        "order --format json @/misuse.std",
    };
    json_error_t problem;
    json_t *schema = mr_schema_load("docs/report.schema.json");
    json_t *part = json_object_get(json_object_get(schema, "definitions"), "order_report");
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        mr_run run;
        char what[256];
        mr_run_maxrace(&run, &scratch, arguments[i], NULL, MR_RUN_CAPTURE);
        json_t *report = json_loads(run.out, JSON_REJECT_DUPLICATES, &problem);
        if (report == NULL)
            fail_msg("%s: %s", arguments[i], problem.text);
        if (!mr_schema_fits(schema, part, report, what))
            fail_msg("%s: %s", arguments[i], what);
        json_decref(report);
        mr_run_free(&run);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),       cmocka_unit_test(test_relations),
        cmocka_unit_test(test_observed),    cmocka_unit_test(test_marks),
        cmocka_unit_test(test_sound),       cmocka_unit_test(test_broken),
        cmocka_unit_test(test_repair),      cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_witness_dir), cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_json),        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
