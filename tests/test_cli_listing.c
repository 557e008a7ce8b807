/* Suppressions, baselines and exit statuses of the command line; lists and groups of the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

static int setup(void **state)
{
    static const mr_scratch_file files[] = {
        {"race.std", "T1|w(x=1)|a.c:10\nT1|w(y[1]=1)|a.c:11\nT1|w(y[2]=1)|a.c:11\n"
                     "T2|w(x=2)|b.c:20\nT2|r(y[1]=1)|b.c:21\nT2|r(y[2]=1)|b.c:21\n"},
        {"moved.std", "T1|w(x=1)|a.c:30\nT2|w(x=2)|b.c:50\n"},
        {"other.std", "T1|w(x=1)|a.c:30\nT2|w(x=2)|b.c:50\nT2|w(z=2)|b.c:50\nT1|w(z=3)|a.c:9\n"},
        {"none.std", "T1|w(x=1)|a.c:30\n"},
        {"x.supp", "race:^x$\n"},
        {"all.supp", "# all\nrace:a.c\nrace:unused\n"},
        {"bad.supp", "races:a.c\n"},
        {"dead.supp", "deadlock:^L2$\n"},
        {"waits.supp", "race:d.c\ndeadlock:e.c\n"},
        {"dead.std", "T1|acq(L1)|d.c:1\nT1|acq(L2)|d.c:2\nT1|rel(L2)|d.c:3\nT1|rel(L1)|d.c:4\n"
                     "T2|acq(L2)|e.c:1\nT2|acq(L1)|e.c:2\nT2|rel(L1)|e.c:3\nT2|rel(L2)|e.c:4\n"},
        {"own.std",
         "#@end suppression race:b.c\n#@end suppression races\n#@end suppression deadlock:e.c\n"
         "T1|w(x=1)|a.c:1\nT2|r(x=1)|b.c:2\nT1|w(y=1)|a.c:3\nT2|r(y=1)|c.c:4\n"},
        {"own.supp", "race:c.c\n"},
        {"stack.std", "#@in x s\nT1|alloc(s=0x5000+16)|?\nT1|fork(T2)|a.c:1\nT2|begin()|?\n"
                      "T2|w(x=1)|b.c:2\nT1|free(s)|?\n"},
        {"events.yaml", "candidates: {report: event}\n"},
    };
    mr_run run;
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    mr_run_maxrace(&run, &scratch, "predict --format json -o @/base.json @/race.std", NULL,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    mr_run_free(&run);
    return 0;
}

static void test_statuses(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --suppressions @/x.supp @/race.std", 1, "\n1 race (1 by hb), 1 suppressed\n",
         NULL},
        {"predict --suppressions @/all.supp @/race.std", 0,
         "\nno race in the 6 events of the trace, 2 suppressed\nUnused: ", NULL},
        {"predict --suppressions @/bad.supp @/race.std", 2, NULL,
         "@/bad.supp:1: 'races:a.c' is no suppression; one is type:pattern, with the type race, "
         "race_top, called_from_lib, mutex, deadlock, thread or signal\n"},
        {"predict --format json --suppressions @/all.supp @/race.std", 0,
         "\"suppressed\":{\"findings\":2,\"rules\":[{\"line\":2,\"type\":\"race\",\"pattern\":"
         "\"a.c\",\"findings\":2},",
         NULL},
        {"predict @/own.std", 1,
         "\n1 race (1 by hb), 1 suppressed (1 by the program itself)\nNext: ", NULL},
        {"predict --suppressions @/own.supp @/own.std", 0,
         ", 2 suppressed (1 by the program itself)\nNext: ", NULL},
        {"predict --format json @/own.std", 1,
         "\"rules\":[{\"type\":\"race\",\"pattern\":\"b.c\",\"findings\":1},"
         "{\"type\":\"deadlock\",\"pattern\":\"e.c\",\"findings\":0}]",
         NULL},
        {"predict --fail-on none @/race.std", 0, "\n2 races (2 by hb)\n", NULL},
        {"predict --fail-on new @/race.std", 1, "\n2 races (2 by hb)\n", NULL},
        {"predict --fail-on new --baseline @/base.json @/moved.std", 0,
         "\n1 race (1 by hb), 1 known by the baseline, 0 new\n", NULL},
        {"predict --baseline @/base.json @/moved.std", 1, "(race 1; known)\n", NULL},
        {"predict --fail-on new --baseline @/base.json @/other.std", 1, "(race 2; new)\n", NULL},
        {"predict --format json --baseline @/base.json @/other.std", 1, ",\"known\":true}", NULL},
        {"predict --baseline @/race.std @/moved.std", 2, NULL,
         "@/race.std: cannot read the baseline: '[' or '{' expected near 'T'\n"},
        {"predict --fail-on unknown @/race.std", 1, "\n2 races (2 by hb)\n", NULL},
        {"predict --fail-on unknown @/none.std", 0, "\nno race", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_lists(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --brief @/race.std", 1,
         "a.c:10: race on x between T1 and T2; and b.c:20\n"
         "a.c:11: race on y[1] between T1 and T2; and b.c:21\n",
         NULL},
        {"predict --brief --find races @/stack.std", 1,
         "b.c:2: race on x between T2 and T1; and the end of T1\n", NULL},
        {"order --brief @/stack.std", 1, "b.c:2: race on x between T2 and T1; and the end of T1",
         NULL},
        {"predict @/race.std", 1,
         "\n\na.c:10: race on x between T1 and T2 (race 1)\n"
         "a.c:11: race on y[1] between T1 and T2 (race 2)\n\nRace 1 of 2 on x\n",
         NULL},
        {"predict -c @/events.yaml @/race.std", 1,
         "\na.c:11: race on y[1] between T1 and T2 (race 2; 1 more alike)\n", NULL},
        {"predict -c @/events.yaml @/race.std", 1, "  alike   a.c:11 and b.c:21 (race 3)\n", NULL},
        {"predict --report-shown 1 @/race.std", 1,
         "\n1 more group of findings: see the list above\n", NULL},
        {"predict --shown=1 @/race.std", 1, "\n1 more group of findings: see the list above\n",
         NULL},
        {"predict --schedule all @/race.std", 2, NULL,
         "maxrace: report.schedule: 'all' is not one of none|short|full\n"},
        {"predict -c @/events.yaml --report-shown 0 @/race.std", 1, "\nRace 3 of 3 on y[2]\n",
         NULL},
        {"predict --color always @/race.std", 1, "\x1b[1;31mRace 1 of 2 on x\x1b[0m\n", NULL},
        {"predict --source-dir @ @/race.std", 1, "\nRace 1 of 2 on x\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* Ten groups on x and two on y, which come between; and nine, which have no more than a line each. */
static void test_long_lists(void **state)
{
    (void)state;
    char path[512], ten[1000] = "A|w(x=0)|a.c:1\nA|w(y=0)|a.c:2\n", nine[1000];
    for (int i = 0; i < 12; i++) {
        size_t used = strlen(ten);
        bool on_y = i == 3 || i == 9;
        snprintf(ten + used, sizeof ten - used, "B|w(%s=1)|b.c:%d\n", on_y ? "y" : "x", 11 + i);
    }
    memcpy(nine, ten, sizeof nine);
    *strstr(nine, "B|w(x=1)|b.c:22") = '\0';
    mr_scratch_write(&scratch, "ten.std", ten, path);
    mr_scratch_write(&scratch, "nine.std", nine, path);
    static const mr_run_row rows[] = {
        {"predict @/ten.std", 1,
         "(race 9)\n    and 2 more such findings on x (--report-shown 0 lists them)\n"
         "a.c:2: race on y between A and B (race 10)\n\nRace 1 of 12 on x\n",
         NULL},
        {"predict --report-shown 0 @/ten.std", 1,
         "(race 11)\na.c:1: race on x between A and B (race 12)\n\nRace 1 of 12 on x\n", NULL},
        {"predict --brief @/ten.std", 1, "A and B; and b.c:22\n", NULL},
        {"predict @/nine.std", 1,
         "(race 10)\na.c:1: race on x between A and B (race 11)\n\nRace 1 of 11 on x\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* What is found beside races has its line, its suppressions and its place in every format. */
static void test_beside(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --brief @/dead.std", 1,
         "d.c:2: deadlock of 2 threads on L2 and L1 between T1 and T2; and e.c:2\n", NULL},
        {"predict @/dead.std", 1,
         "between T1 and T2 (deadlock 1)\n\nDeadlock 1 of 1 of 2 threads\n", NULL},
        {"predict --suppressions @/dead.supp @/dead.std", 0, ", 1 suppressed\n", NULL},
        {"predict --suppressions @/waits.supp @/dead.std", 0, "race:d.c suppresses nothing\n",
         NULL},
        {"predict --format json --suppressions @/dead.supp @/dead.std", 0, "\"deadlocks\":[],\n",
         NULL},
        {"predict --format json @/dead.std", 1, ",\"number\":1,\"fingerprint\":\"", NULL},
        {"predict --format sarif @/dead.std", 1, "\"ruleId\":\"deadlock\"", NULL},
        {"predict --format junit @/dead.std", 1, "<failure type=\"deadlock\"", NULL},
        {"predict --format html @/dead.std", 1, "\"marked\":[1,5,1,5],\"stops\":2,", NULL},
        {"predict --format dot @/dead.std", 1, "digraph \"deadlock-1\" {\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* The lines of the source stand beside the accesses. */
static void test_source(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "a.c", "1\n2\n3\n4\n5\n6\n7\n8\n9\n  x = 1;\n", path);
    static const mr_run_row rows[] = {
        {"predict --source-dir @ @/race.std", 1, "event 0, line 1\n          | x = 1;\n  second",
         NULL},
        {"predict --report-schedule none @/race.std", 1, "accepted by the checker\n\nRace 2 of 2",
         NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* A candidate that stays unknown has a status of its own when that is asked for. */
static void test_unknown(void **state)
{
    (void)state;
    char path[512];
    /* Only a search can settle this pair, and no step searches. */
    static const char text[] = "T0|w(f=0)|c.c:1\nT0|fork(T1)|c.c:2\nT0|fork(T2)|c.c:2\n"
                               "T1|w(x=1)|c.c:3\nT1|w(f=1)|c.c:4\n"
                               "T2|r(f=1)|c.c:5\nT2|w(x=2)|c.c:6\n";
    mr_scratch_write(&scratch, "unknown.std", text, path);
    static const mr_run_row rows[] = {
        {"predict --solver-steps cone --candidates-far none @/unknown.std", 0, "unknown", NULL},
        {"predict --solver-steps cone --candidates-far none --fail-on unknown @/unknown.std", 7,
         "unknown", NULL},
        {"predict --solver-steps cone --candidates-far none --fail-on none @/unknown.std", 0,
         "unknown", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),   cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long_lists), cmocka_unit_test(test_beside),
        cmocka_unit_test(test_source),     cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
