/* The command line from end to end: exit statuses, messages, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "support/run.h"
#include "support/schema.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As in src/cli/z3_late.c. */
#ifndef MR_Z3_LIBRARY
#define MR_Z3_LIBRARY "libz3.so.4"
#endif

static mr_scratch scratch;

/* Files of the scratch folder that the tests use. */
static const mr_scratch_file files[] = {
    {"race.std", "T1|w(x=1)|10\nT2|r(x=1)|20\n"},
    {"none.std", "T1|w(x=1)|10\nT1|fork(T2)|11\nT2|r(x=1)|20\n"},
    {"broken.std", "T1|w(x=1)|10\nT2|rel(l)|15\nT2|r(x=1)|20\n"},
    {"empty.std", ""},
    /* The sections must change places, so that the solver is asked. */
    {"hard.std", "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|rel(l)|5\nT2|w(x)|6\n"},
    {"rf.yaml", "model: rf\nwindow:\n  size: 77\n  overlap: 7\n"},
    {"bad.yaml", "model: rf\n\nwindw:\n  size: 77\n"},
    {"overlap.yaml", "window:\n  size: 77\n  overlap: 77\n"},
    {"good.witness", "T1|w(x=1)|10\nT2|r(x=1)|20\n"},
    {"wrong.witness", "T1|w(x=1)|10\nT1|fork(T2)|11\nT2|r(x=1)|20\n"},
    {"foreign.witness", "T1|w(y=1)|10\nT2|r(x=1)|20\n"},
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
        {"", 2, NULL, "maxrace: no command given; 'maxrace help' names them all\n"},
        {"predct x", 2, NULL, "maxrace: unknown command 'predct' (did you mean 'predict'?)\n"},
        {"frobnicate", 2, NULL,
         "maxrace: unknown command 'frobnicate'; 'maxrace help' names them all\n"},
        {"help frobnicate", 2, NULL,
         "maxrace: unknown command 'frobnicate'; 'maxrace help' names them all\n"},
        {"predict", 2, NULL, "maxrace: missing operand; usage: maxrace predict [FLAGS] TRACE\n"},
        {"predict a b", 2, NULL, "maxrace: unexpected operand 'b'\n"},
        {"predict --windw-size 5 @/race.std", 2, NULL,
         "maxrace: unknown flag '--windw-size' (did you mean '--window-size'?)\n"},
        {"predict --windw-size=5 @/race.std", 2, NULL,
         "maxrace: unknown flag '--windw-size' (did you mean '--window-size'?)\n"},
        {"predict --timeout-ms 5 @/race.std", 2, NULL,
         "maxrace: unknown flag '--timeout-ms' (did you mean '--solver-timeout-ms'?)\n"},
        {"predict --no-repar @/race.std", 2, NULL,
         "maxrace: unknown flag '--no-repar' (did you mean '--no-repair'?)\n"},
        {"predict --flavour @/race.std", 2, NULL, "maxrace: unknown flag '--flavour'\n"},
        {"predict -x @/race.std", 2, NULL, "maxrace: unknown flag '-x'\n"},
        {"predict @/race.std -o", 2, NULL, "maxrace: '-o' needs a value\n"},
        {"predict @/race.std --model", 2, NULL, "maxrace: '--model' needs a value\n"},
        {"predict @/race.std --no-repair=false", 2, NULL,
         "maxrace: '--no-repair' takes no value\n"},
        {"predict @/race.std --no-model", 2, NULL,
         "maxrace: unknown flag '--no-model' (did you mean '--model'?)\n"},
        {"predict @/race.std --repair=perhaps", 2, NULL,
         "maxrace: repair: 'perhaps' is not one of true|false\n"},
        {"predict @/race.std --window-size -5", 2, NULL,
         "maxrace: window.size: '-5' is out of range (0 to 4294967293 events)\n"},
        {"predict @/race.std --window-size=", 2, NULL,
         "maxrace: window.size: '' is not a whole number (0 to 4294967293 events)\n"},
        {"predict @/race.std --window-size 5 --window-overlap 5", 2, NULL,
         "maxrace: window.overlap (5 events) must be less than window.size (5 events); set "
         "window.overlap to at most 4\n"},
        {"check @/race.std", 2, NULL,
         "maxrace: missing operand; usage: maxrace check [FLAGS] TRACE WITNESS\n"},
        {"check - -", 2, NULL, "maxrace: only one of trace and witness can be standard input\n"},
        {"check --window-size 5 a b", 2, NULL,
         "maxrace: '--window-size' is not a flag of 'check'\n"},
        {"replay --suppressions a b", 2, NULL,
         "maxrace: '--suppressions' is not a flag of 'replay'\n"},
        {"predict --record-local a", 2, NULL,
         "maxrace: '--record-local' is not a flag of 'predict'\n"},
        {"info -c @/rf.yaml a", 2, NULL, "maxrace: '-c' is not a flag of 'info'\n"},
        {"version now", 2, NULL, "maxrace: unexpected operand 'now'\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_config_errors(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict -c @/bad.yaml @/race.std", 2, NULL,
         "@/bad.yaml:4: unknown key 'windw.size' (did you mean 'window.size'?)\n"},
        {"predict -c@/bad.yaml @/race.std", 2, NULL,
         "@/bad.yaml:4: unknown key 'windw.size' (did you mean 'window.size'?)\n"},
        {"predict --config=@/no.yaml @/race.std", 2, NULL,
         "@/no.yaml: cannot open: No such file or directory\n"},
        {"predict -c @/overlap.yaml @/race.std", 2, NULL,
         "@/overlap.yaml:3: window.overlap (77 events) must be less than window.size (77 events); "
         "set window.overlap to at most 76\n"},
        {"config -c tests/configs/bad/not-a-number.yaml", 2, NULL,
         "tests/configs/bad/not-a-number.yaml:2: window.size: 'many' is not a whole number (0 to "
         "4294967293 events)\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_traces(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict @/race.std", 1, "\n1 race (1 by hb)\n", NULL},
        {"predict -- @/race.std", 1, "\n1 race (1 by hb)\n", NULL},
        {"predict @/none.std", 0, "\nno race in the 3 events of the trace\n", NULL},
        {"predict --window-size 2 --window-overlap 0 --candidates-far none @/none.std", 0,
         "\nno race in the 3 events of the trace; not looked for: pairs farther apart than a "
         "window (2 "
         "events)\n",
         NULL},
        {"predict --profile quick --window-size 2 --candidates-prefilter hb "
         "--candidates-ignore-locations 1* @/none.std",
         0,
         "; not looked for: pairs farther apart than a window (2 events) but those of SyncP, pairs "
         "that "
         "HB orders, accesses at ignored places\n",
         NULL},
        {"predict --format junit --window-size 2 --candidates-far none @/none.std", 0,
         "name=\"no race in 3 events; not looked for: pairs farther", NULL},
        {"predict @/empty.std", 3, NULL,
         "@/empty.std: the trace has no events, so nothing can be said about it\n"},
        {"predict @/missing.std", 4, NULL,
         "@/missing.std: cannot open: No such file or directory\n"},
        {"predict --model rf --window-size 0 @/race.std", 1, "one window, model rf\n", NULL},
        {"predict @/hard.std", 1, "\n1 race (1 by ", NULL},
        {"predict --solver-steps filter,cone,z3 --solver-max-clauses 1 @/hard.std", 0,
         "\nno race in the 6 events of the trace, 1 candidate unknown (size)\n", NULL},
        {"info @/race.std", 0, "events ", NULL},
        {"check @/race.std @/good.witness", 0, "accepted: ", NULL},
        {"check --schedule @/race.std @/good.witness", 0, "RACE", NULL},
        {"check --model rf @/race.std @/good.witness", 0, "rf model", NULL},
        {"check @/none.std @/wrong.witness", 1, "rejected: ", NULL},
        {"check @/race.std @/missing.witness", 4, NULL,
         "@/missing.witness: cannot open: No such file or directory\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* One line with a place, whatever the exact words. */
static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        const char *start; /* of standard error */
        int status;
    } rows[] = {
        {"predict @/broken.std", "@/broken.std:2: ", 3},
        {"info @/broken.std", "@/broken.std:2: ", 3},
        {"predict --no-repair @/broken.std", "@/broken.std:2: ", 3},
        {"predict --repair --repair=false @/broken.std", "@/broken.std:2: ", 3},
        {"check @/race.std @/foreign.witness", "@/foreign.witness:1: ", 3},
        {"check @/broken.std @/good.witness", "@/broken.std:2: ", 3},
        {"check @/race.std @/empty.std", "@/empty.std", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_run run;
        char start[1024];
        mr_run_expand(&scratch, rows[i].start, start);
        mr_run_maxrace(&run, &scratch, rows[i].arguments, NULL, MR_RUN_CAPTURE);
        bool one_line = strchr(run.error, '\n') == run.error + strlen(run.error) - 1;
        if (run.status != rows[i].status || !one_line || run.out[0] != '\0' ||
            strncmp(run.error, start, strlen(start)) != 0)
            fail_msg("%s: status %d\nout: %s\nerror: %s", rows[i].arguments, run.status, run.out,
                     run.error);
        mr_run_free(&run);
    }
}

/* What repair drops is said once, in one line, and the rest is analysed. */
static void test_repair(void **state)
{
    (void)state;
    mr_run run;
    char start[1024];
    mr_run_expand(&scratch,
                  "maxrace: repair dropped 1 event or line; the first: @/broken.std:2: ", start);
    mr_run_maxrace(&run, &scratch, "predict --repair @/broken.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_int_equal(strncmp(run.error, start, strlen(start)), 0);
    assert_ptr_equal(strchr(run.error, '\n'), run.error + strlen(run.error) - 1);
    assert_non_null(strstr(run.out, "\n1 event or line dropped by repair\n"));
    assert_non_null(strstr(run.out, "\n1 race (1 by hb)\n"));
    mr_run_free(&run);
}

/* Every broken trace of the reader's tests gives status 3 here too. */
static void test_trace_folder(void **state)
{
    (void)state;
    DIR *folder = opendir("tests/traces/bad");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char arguments[400];
        mr_run run;
        if (strstr(entry->d_name, ".std") == NULL)
            continue;
        snprintf(arguments, sizeof arguments, "info tests/traces/bad/%s", entry->d_name);
        mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        if (run.status != 3 || run.out[0] != '\0')
            fail_msg("%s: status %d: %s", arguments, run.status, run.error);
        mr_run_free(&run);
    }
    closedir(folder);
}

static void test_streams(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *input;
        mr_run_output output;
        int status;
        const char *error;
    } rows[] = {
        {"predict -", "T1|w(x=1)|10\nT2|r(x=1)|20\n", MR_RUN_CAPTURE, 1, ""},
        {"predict -", "T1|w(x=1)|10\nT2?\n", MR_RUN_CAPTURE, 3, "<stdin>:2: "},
        {"predict @/race.std", NULL, MR_RUN_FULL, 4,
         "maxrace: cannot write the report: No space left on device\n"},
        {"predict --format json @/race.std", NULL, MR_RUN_FULL, 4,
         "maxrace: cannot write the report: No space left on device\n"},
        {"predict @/race.std", NULL, MR_RUN_CLOSED_PIPE, 4,
         "maxrace: cannot write the report: Broken pipe\n"},
        {"predict @/race.std", NULL, MR_RUN_CLOSED, 4,
         "maxrace: cannot write the report: Bad file descriptor\n"},
        {"predict -o /dev/full @/race.std", NULL, MR_RUN_CAPTURE, 4,
         "/dev/full: cannot write the report: No space left on device\n"},
        {"predict -o - @/race.std", NULL, MR_RUN_CAPTURE, 1, ""},
        {"predict -o /dev/null @/race.std", NULL, MR_RUN_CAPTURE, 1, ""},
        {"predict -o @/no/out @/race.std", NULL, MR_RUN_CAPTURE, 4,
         "@/no/out: cannot write: No such file or directory\n"},
        {"predict -o @ @/race.std", NULL, MR_RUN_CAPTURE, 4, "@: cannot write: Is a directory\n"},
        {"config", NULL, MR_RUN_FULL, 4,
         "maxrace: cannot write to standard output: No space left on device\n"},
        {"config", NULL, MR_RUN_CLOSED_PIPE, 4,
         "maxrace: cannot write to standard output: Broken pipe\n"},
        {"help", NULL, MR_RUN_CLOSED, 4,
         "maxrace: cannot write to standard output: Bad file descriptor\n"},
        {"info @/race.std", NULL, MR_RUN_FULL, 4,
         "maxrace: cannot write to standard output: No space left on device\n"},
        {"check @/race.std @/good.witness", NULL, MR_RUN_FULL, 4,
         "maxrace: cannot write to standard output: No space left on device\n"},
        {"predict --witness-dir @/race.std @/race.std", NULL, MR_RUN_CAPTURE, 4,
         "@/race.std: cannot use this folder for witnesses: Not a directory\n"},
        {"predict --witness-dir @/no/wit @/race.std", NULL, MR_RUN_CAPTURE, 4,
         "@/no/wit: cannot use this folder for witnesses: No such file or directory\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_run run;
        char expected[1024];
        mr_run_expand(&scratch, rows[i].error, expected);
        mr_run_maxrace(&run, &scratch, rows[i].arguments, rows[i].input, rows[i].output);
        if (run.status != rows[i].status || strncmp(run.error, expected, strlen(expected)) != 0 ||
            (expected[0] == '\0' && run.error[0] != '\0'))
            fail_msg("%s: status %d\nout: %s\nerror: %s", rows[i].arguments, run.status, run.out,
                     run.error);
        mr_run_free(&run);
    }
}

static void test_json(void **state)
{
    (void)state;
    mr_run run;
    char problem[256];
    mr_run_maxrace(&run, &scratch, "predict --format json @/race.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    json_t *report = mr_schema_parse(run.out);
    json_t *schema = mr_schema_load("docs/report.schema.json");
    if (!mr_schema_fits(schema, schema, report, problem))
        fail_msg("%s", problem);
    json_t *races = json_object_get(report, "races");
    assert_int_equal(json_array_size(races), 1);
    json_t *first = json_object_get(json_array_get(races, 0), "first");
    assert_int_equal(json_integer_value(json_object_get(first, "event")), 0);
    assert_string_equal(json_string_value(json_object_get(first, "thread")), "T1");
    assert_string_equal(json_string_value(json_object_get(json_array_get(races, 0), "order")),
                        "hb");
    json_decref(report);
    json_decref(schema);
    mr_run_free(&run);
}

/* Two reports of the same trace without what depends on the run are the same, byte for byte. */
static void test_without_run(void **state)
{
    (void)state;
    static const char *const formats[] = {"text", "json"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char arguments[128];
        mr_run runs[2];
        for (int run = 0; run < 2; run++) {
            snprintf(arguments, sizeof arguments,
                     "predict --no-report-run --format %s%s @/race.std", formats[i],
                     run == 0 ? "" : " --quiet");
            mr_run_maxrace(&runs[run], &scratch, arguments, NULL, MR_RUN_CAPTURE);
            assert_int_equal(runs[run].status, 1);
        }
        assert_string_equal(runs[0].out, runs[1].out);
        assert_null(strstr(runs[0].out, "seconds"));
        mr_run_free(&runs[0]);
        mr_run_free(&runs[1]);
    }
}

static size_t files_in(const char *dir)
{
    size_t count = 0;
    DIR *folder = opendir(dir);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* The report replaces the file at once, keeps its rights and the link to it, and leaves nothing
 * else. */
static void test_output_file(void **state)
{
    (void)state;
    mr_run run;
    struct stat info;
    char path[512], link[512];
    mr_scratch_write(&scratch, "out.txt", "old", path);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("out.txt", mr_scratch_path(&scratch, "out.link", link)), 0);
    size_t before = files_in(scratch.dir);
    mr_run_maxrace(&run, &scratch, "predict @/race.std -o @/out.link", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_string_equal(run.out, "");
    mr_run_free(&run);
    assert_int_equal(files_in(scratch.dir), before);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    char *text = mr_file_text(path);
    assert_non_null(strstr(text, "\n1 race (1 by hb)\n"));
    free(text);
    unlink(link);
    unlink(path);
}

/* A witness written is a witness accepted; a changed one is not. */
static void test_witness_dir(void **state)
{
    (void)state;
    mr_run run;
    for (int round = 0; round < 2; round++) { /* made, then found */
        mr_run_maxrace(&run, &scratch, "predict @/hard.std --witness-dir @/wit", NULL,
                       MR_RUN_CAPTURE);
        assert_int_equal(run.status, 1);
        mr_run_free(&run);
    }
    static const mr_run_row rows[] = {
        {"check @/hard.std @/wit/race-0001.std", 0, "accepted: ", NULL},
        {"check --schedule @/hard.std @/wit/race-0001.std", 0, "acq(l)", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
    char path[512];
    assert_int_equal(files_in(mr_scratch_path(&scratch, "wit", path)), 1);
}

/* A failure after the prediction: the witnesses are written although the report is not. */
static void test_failure_of_one(void **state)
{
    (void)state;
    mr_run run;
    char path[512];
    mr_run_maxrace(&run, &scratch, "predict @/race.std -o /dev/full --witness-dir @/wit2", NULL,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, 4);
    mr_run_free(&run);
    assert_int_equal(files_in(mr_scratch_path(&scratch, "wit2", path)), 1);
}

/* A trace of a million lines whose last is broken: nothing of what stands before it is lost. */
static void test_broken_line_million(void **state)
{
    (void)state;
    mr_run run;
    char path[512];
    FILE *file = fopen(mr_scratch_path(&scratch, "long.std", path), "w");
    assert_non_null(file);
    fputs("T1|w(x=1)|10\nT2|w(x=2)|20\n", file);
    for (int i = 3; i < 1000000; i++)
        fprintf(file, "T%d|w(y%d=%d)|30\n", 1 + i % 2, i % 2, i);
    fputs("T1|rel(l)|40\n", file);
    assert_int_equal(fclose(file), 0);
    mr_run_maxrace(&run, &scratch, "predict @/long.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 3);
    assert_non_null(strstr(run.error, "long.std:1000000: T1|rel(l)|40: "));
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, "predict --repair @/long.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.out, "\n1 race (1 by hb)\n"));
    assert_non_null(strstr(run.error, "long.std:1000000: T1|rel(l)|40: "));
    mr_run_free(&run);
}

/* Z3 is loaded when it is asked, and what is said when that fails is one line. */
static void test_no_z3(void **state)
{
    (void)state;
    static const mr_scratch_file library = {MR_Z3_LIBRARY, ""};
    static const char expected[] = "maxrace: cannot load Z3: ";
    mr_run run;
    mr_scratch_write_files(&scratch, &library, 1);
    assert_int_equal(setenv("LD_LIBRARY_PATH", scratch.dir, 1), 0);
    mr_run_maxrace(&run, &scratch, "predict @/hard.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, "predict --solver-steps z3 @/hard.std", NULL, MR_RUN_CAPTURE);
    assert_int_equal(unsetenv("LD_LIBRARY_PATH"), 0);
    assert_int_equal(run.status, 4);
    assert_string_equal(run.out, "");
    assert_int_equal(strncmp(run.error, expected, sizeof expected - 1), 0);
    assert_ptr_equal(strchr(run.error, '\n'), run.error + strlen(run.error) - 1);
    mr_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_config_errors),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_trace_folder),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_without_run),
        cmocka_unit_test(test_output_file),
        cmocka_unit_test(test_witness_dir),
        cmocka_unit_test(test_failure_of_one),
        cmocka_unit_test(test_broken_line_million),
        cmocka_unit_test(test_no_z3),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
