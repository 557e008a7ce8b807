/*
 * Reports of what is found beside races: members, text, exit status, and which kinds are looked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"
#include "support/schema.h"

#include <string.h>

static mr_scratch scratch;

/* A use after free, a deadlock and a null pointer; none of them happened. */
#define ALL                                                                                        \
    "#@in y o\nA|alloc(o=4096+16)|a.c:1\nA|w(p=4096)|a.c:2\nA|fork(B)|a.c:3\nB|acq(l)|b.c:1\nB|"   \
    "acq(m)|b.c:2\nB|rel(m)|b.c:3\nB|rel(l)|b.c:4\nB|r(p=4096)|b.c:5\nB|deref(p)|b.c:6\nB|w(y=1)|" \
    "b.c:6\nA|acq(m)|a.c:5\nA|acq(l)|a.c:6\nA|rel(l)|a.c:7\nA|rel(m)|a.c:8\nA|w(p=0)|a.c:9\nA|"    \
    "free(o)|a.c:10\n"

/* The pointer p is of a block that A frees, and B uses or frees what it reads. */
#define DANGLING(use)                                                                              \
    "A|alloc(o=4096+16)|a.c:1\nA|w(p=4096)|a.c:2\nA|fork(B)|a.c:3\nB|r(p=4096)|b.c:1\nB|deref(p)|" \
    "b.c:2\nB|" use "|b.c:2\nA|free(o)|a.c:4\n"

static int setup(void **state)
{
    static const mr_scratch_file files[] = {
        {"all.std", ALL},
        {"dangling.std", DANGLING("w(z)")},
        {"double.std", DANGLING("free(n)")},
        {"initial.std", "A|r(p=0)|1\nA|w(p=8)|2\nB|r(p=8)|3\nB|deref(p)|4\nB|w(z)|5\n"},
        {"safe.std", "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nB|acq(l)|5\nB|acq(m)|6\n"},
        {"guarded.std", "A|acq(g)|1\nA|acq(l)|2\nA|acq(m)|3\nA|rel(m)|4\nA|rel(l)|5\nA|rel(g)|6\n"
                        "B|acq(g)|7\nB|acq(m)|8\nB|acq(l)|9\n"},
        {"read.std",
         "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|aw(f=1)|4\nA|rel(l)|5\nB|acq(k)|6\nB|ar(f=1)|7\nB|"
         "rel(k)|8\nB|acq(m)|9\nB|acq(l)|10\n"},
        {"try.std", "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nB|acq(m)|5\nB|acq.try(l)|6\n"},
        {"never.std", "A|w(p=1)|1\nA|fork(B)|2\nB|w(q)|3\nB|r(p=1)|4\nB|end()|5\nA|join(B)|6\nA|w("
                      "p=2)|7\n"},
        {"joined.std", "A|fork(B)|0\nB|acq(l)|1\nB|acq(m)|2\nB|rel(m)|3\nB|rel(l)|4\nA|join(B)|5\n"
                       "A|acq(m)|6\nA|acq(l)|7\n"},
    };
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    return 0;
}

/* The report of the command as JSON, which fits the schema; owned by the caller. */
static json_t *report_of(const char *arguments, int status)
{
    mr_run run;
    char problem[256];
    json_t *schema = mr_schema_load("docs/report.schema.json");
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, status);
    json_t *report = mr_schema_parse(run.out);
    if (!mr_schema_fits(schema, schema, report, problem))
        fail_msg("%s: %s", arguments, problem);
    json_decref(schema);
    mr_run_free(&run);
    return report;
}

static const json_t *only(const json_t *report, const char *key)
{
    const json_t *array = json_object_get(report, key);
    assert_int_equal(json_array_size(array), 1);
    return json_array_get(array, 0);
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_integer_value(json_is_object(value) ? json_object_get(value, "event") : value);
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void test_members(void **state)
{
    (void)state;
    json_t *report = report_of("predict --format json @/all.std", 1);
    const json_t *memory = only(report, "memory"), *deadlock = only(report, "deadlocks");
    const json_t *pointer = only(report, "pointers"), *waits = json_object_get(deadlock, "waits");
    assert_string_equal(text(memory, "kind"), "use-after-free");
    assert_int_equal(number(memory, "free"), 15);
    assert_int_equal(number(memory, "use"), 9);
    assert_true(json_array_size(json_object_get(memory, "witness")) > 0);
    assert_int_equal(json_array_size(waits), 2);
    const json_t *first = json_array_get(waits, 0), *second = json_array_get(waits, 1);
    assert_int_equal(number(first, "event"), 4);
    assert_string_equal(text(first, "lock"), "m");
    assert_string_equal(text(first, "held_by"), "A");
    assert_int_equal(number(first, "held_since"), 10);
    assert_int_equal(number(second, "event"), 11);
    assert_string_equal(text(second, "held_by"), "B");
    assert_int_equal(number(second, "held_since"), 3);
    assert_string_equal(text(pointer, "kind"), "null");
    assert_int_equal(number(pointer, "read"), 7);
    assert_int_equal(number(pointer, "write"), 14);
    assert_int_equal(number(pointer, "deref"), 8);
    json_decref(report);
}

static void test_pointers(void **state)
{
    (void)state;
    static const struct {
        const char *file, *kind;
        json_int_t read, write, deref;
    } cases[] = {
        {"dangling", "dangling", 3, 1, 4},
        {"double", "double-free", 3, 1, 4},
        {"initial", "null", 2, 0, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "predict --format json @/%s.std", cases[i].file);
        json_t *report = report_of(arguments, 1);
        const json_t *pointer = only(report, "pointers");
        assert_string_equal(text(pointer, "kind"), cases[i].kind);
        assert_int_equal(number(pointer, "read"), cases[i].read);
        if (cases[i].write)
            assert_int_equal(number(pointer, "write"), cases[i].write);
        else
            assert_true(json_is_null(json_object_get(pointer, "write")));
        assert_int_equal(number(pointer, "deref"), cases[i].deref);
        json_decref(report);
    }
}

/* What was not looked for has no member, and proves nothing. */
static void test_what_is_looked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"memory", "deadlocks", "pointers"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "predict --format json --find %s @/all.std",
                 names[i]);
        json_t *report = report_of(arguments, 1);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            assert_int_equal(json_array_size(json_object_get(report, names[k])), k == i);
        assert_int_equal(json_object_get(report, names[(i + 1) % 3]) != NULL, false);
        assert_int_equal(json_array_size(json_object_get(report, "races")), 0);
        json_decref(report);
    }
}

static void test_impossible(void **state)
{
    (void)state;
    json_t *report = report_of("predict --format json @/joined.std", 0);
    const json_t *stats =
        json_object_get(json_object_get(json_object_get(report, "stats"), "findings"), "deadlock");
    assert_int_equal(number(stats, "candidates"), 1);
    assert_int_equal(number(stats, "impossible"), 1);
    assert_int_equal(json_array_size(json_object_get(report, "deadlocks")), 0);
    json_decref(report);
    report = report_of("predict --format json --explain-cycles @/guarded.std", 0);
    assert_string_equal(text(only(report, "cycles"), "guard"), "g");
    json_decref(report);
    report = report_of("predict --format json --explain-cycles @/joined.std", 0);
    assert_int_equal(number(only(report, "cycles"), "before"), 2);
    assert_int_equal(number(only(report, "cycles"), "after"), 5);
    json_decref(report);
}

static void test_text(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --report-run=false @/all.std", 1,
         "\nUse after free 1 of 1 on y\n"
         "  free    free  at a.c:10 by A, event 15, line 17\n"
         "  use     write at b.c:6 by B, event 9, line 11\n",
         NULL},
        {"predict --report-run=false @/all.std", 1,
         "\nDeadlock 1 of 1 of 2 threads\n"
         "  waits   acq   at b.c:2 by B, event 4, line 6\n"
         "          for m, held by A since a.c:5, event 10\n"
         "  waits   acq   at a.c:6 by A, event 11, line 13\n"
         "          for l, held by B since b.c:1, event 3\n",
         NULL},
        {"predict --report-run=false @/all.std", 1,
         "  Now each of these threads waits for another one of them:\n"
         "=>         4  acq(m)                                            WAITS for A  at b.c:2\n"
         "=>        11                          acq(l)                    WAITS for B  at a.c:6\n",
         NULL},
        {"predict --report-run=false @/all.std", 1,
         "\nNull pointer 1 of 1 on p\n"
         "  read    read  at b.c:5 by B, event 7, line 9\n"
         "  write   write at a.c:9 by A, event 14, line 16\n"
         "  used    deref at b.c:6 by B, event 8, line 10\n",
         NULL},
        {"predict --report-run=false @/all.std", 1,
         "\n2 races (2 by hb), 1 use after free, 1 deadlock, 1 null pointer\n", NULL},
        {"predict --report-run=false --find deadlocks @/all.std", 1,
         "\nraces not looked for, 1 deadlock\n", NULL},
        {"predict --report-run=false --find memory,deadlocks @/safe.std", 0,
         "\nno use after free, no deadlock in the ", NULL},
        {"predict --report-run=false @/initial.std", 1, "  write   none: the initial value\n",
         NULL},
        {"predict --report-run=false @/double.std", 1, "  again   deref at b.c:2 by B", NULL},
        {"predict --report-run=false @/double.std", 1,
         "  Now this read is next, and sees an address in freed memory:\n", NULL},
        {"predict --report-run=false @/safe.std", 0, "\nno race in the ", NULL},
        {"predict --report-run=false @/guarded.std", 0, "\nno race in the ", NULL},
        {"predict --report-run=false --explain-cycles @/guarded.std", 0,
         "\nCircles of locks that are no deadlock:\n"
         "  waits   acq   at 3 by A, event 2, line 3\n"
         "          for m\n"
         "          acq   at 9 by B, event 8, line 9\n"
         "          for l\n"
         "          guarded by g\n",
         NULL},
        {"predict --report-run=false --explain-cycles @/joined.std", 0,
         "          event 2 comes before event 5 in every order, by fork and join\n", NULL},
        {"predict --report-run=false --explain-cycles @/read.std", 0,
         "          no reordering leads there: proven by the decision\n", NULL},
        {"predict --report-run=false @/joined.std", 0,
         "  deadlocks  1 candidate: 0 found, 1 impossible\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* Each witness is written to a file that `check` accepts. */
static void test_witness_files(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --witness-dir @/all @/all.std", 1, "1 deadlock", NULL},
        {"check @/all.std @/all/race-0002.std", 0, "accepted: events 9 and 15 race", NULL},
        {"check @/all.std @/all/use-after-free-0001.std", 0,
         "accepted: event 9 uses what event 15 has freed, value model\n", NULL},
        {"check @/all.std @/all/deadlock-0001.std", 0,
         "accepted: events 4 and 11 wait in a circle, value model\n", NULL},
        {"check --schedule @/all.std @/all/deadlock-0001.std", 0, "WAITS for B", NULL},
        {"check @/all.std @/all/null-0001.std", 0, "accepted: null: event 7 sees event 14", NULL},
        {"predict --witness-dir @/one @/initial.std", 1, "1 null pointer", NULL},
        {"check @/initial.std @/one/null-0001.std", 0, "event 2 sees the initial value", NULL},
        {"predict --witness-dir @/two @/dangling.std", 1, "1 dangling pointer", NULL},
        {"check @/dangling.std @/two/dangling-0001.std", 0, "accepted: dangling: event 3", NULL},
        {"predict --witness-dir @/three @/double.std", 1, "1 double free", NULL},
        {"check @/double.std @/three/double-free-0001.std", 0, "accepted: double-free", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* What a witness claims must be so, and be said as a whole. */
static void test_wrong_witnesses(void **state)
{
    (void)state;
    static const struct {
        const char *trace, *witness;
        int status;
        const char *out, *error; /* a part of it */
    } cases[] = {
        {"joined", "#@kind deadlock\n#@wait 2 3\n#@wait 7 8\nA|fork(B)|0\nB|acq(l)|1\nB|acq(m)|2\n",
         3, NULL, "#@wait names event 2, but there is the line of event 1"},
        {"guarded",
         "#@kind deadlock\n#@wait 2 3\n#@wait 8 9\nA|acq(g)|1\nA|acq(l)|2\nB|acq(g)|7\nB|"
         "acq(m)|8\nA|acq(m)|3\nB|acq(l)|9\n",
         1, "rejected: ", NULL},
        {"guarded", "#@kind deadlock\n#@wait 2 3\nA|acq(g)|1\nA|acq(l)|2\nA|acq(m)|3\n", 3, NULL,
         "deadlock needs two or more lines #@wait"},
        {"all", "#@kind use-after-free\nA|alloc(o=0x1000+16)|a.c:1\n", 3, NULL,
         "use-after-free needs #@first, and the second access as the last line"},
        {"all", "#@kind lost\n", 3, NULL, "unknown kind 'lost'"},
        {"dangling",
         "#@kind dangling\n#@first 1 2\nA|alloc(o=0x1000+16)|a.c:1\nA|w(p=4096)|a.c:2\nA|"
         "fork(B)|a.c:3\nB|r(p=4096)|b.c:1\n",
         3, NULL, "dangling needs #@freed"},
        {"dangling",
         "#@kind dangling\n#@first 1 2\n#@freed 6 "
         "7\nA|alloc(o=0x1000+16)|a.c:1\nA|w(p=4096)|a.c:2\nA|"
         "fork(B)|a.c:3\nB|r(p=4096)|b.c:1\n",
         1, "rejected: ", NULL},
        {"try",
         "#@kind deadlock\n#@wait 1 2\n#@wait 5 "
         "6\nA|acq(l)|1\nB|acq(m)|5\nA|acq(m)|2\nB|acq.try(l)|6\n",
         1, "is a try, which waits for nothing", NULL},
        {"initial", "#@kind null\n#@first 1 2\nA|r(p=0)|1\nA|w(p=8)|2\nB|r(p=8)|3\n", 1,
         "rejected: ", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[512], arguments[128];
        mr_run run;
        mr_scratch_write(&scratch, "wrong.witness", cases[i].witness, path);
        snprintf(arguments, sizeof arguments, "check @/%s.std @/wrong.witness", cases[i].trace);
        mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        if (run.status != cases[i].status || (cases[i].out && !strstr(run.out, cases[i].out)) ||
            (cases[i].error && !strstr(run.error, cases[i].error)))
            fail_msg("%zu: status %d\n%s%s", i, run.status, run.out, run.error);
        mr_run_free(&run);
    }
}

static void test_sees(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --report-run=false --sees 7 14 @/all.std", 1, "\nEvent 7 can see event 14\n",
         NULL},
        {"predict --report-run=false --sees 7 14 @/all.std", 1, "\nsees 7 14: found\n", NULL},
        {"predict --report-run=false --sees 3 6 @/never.std", 0, "\nsees 3 6: proven impossible\n",
         NULL},
        /* no question, no report */
        {"predict --sees 99999 6 @/never.std", 2, NULL,
         "maxrace: sees: '99999 6': expected the number of a read, then that of a write or "
         "=VALUE\n"},
        {"predict --format json --sees 3 2 @/never.std", 2, NULL,
         "maxrace: sees: '3 2': the second event is no write of the variable that is read\n"},
    };
    json_t *report;
    MR_RUN_ROWS(&scratch, rows);
    report = report_of("predict --format json --sees 7 14 @/all.std", 1);
    const json_t *sees = json_object_get(report, "sees");
    assert_string_equal(text(sees, "verdict"), "found");
    assert_int_equal(number(sees, "read"), 7);
    assert_int_equal(number(sees, "write"), 14);
    assert_null(json_object_get(report, "memory"));
    json_decref(report);
    report = report_of("predict --format json --sees 3 6 @/never.std", 0);
    assert_string_equal(text(json_object_get(report, "sees"), "verdict"), "impossible");
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_what_is_looked_for),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_witness_files),
        cmocka_unit_test(test_sees),
        cmocka_unit_test(test_wrong_witnesses),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
