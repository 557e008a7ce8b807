/* The table of formats × subjects: what each command prints in each format, and how it refuses the
 * formats that it does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"

static mr_scratch scratch;

static int setup(void **state)
{
    static const mr_scratch_file files[] = {
        {"race.std", "T1|w(x=1)|10\nT2|w(x=2)|20\n"},
        {"csv.yaml", "jobs: 1\nformat: csv\n"},
        {"jobs.yaml", "jobs: 1\n"},
    };
    mr_run run;
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    mr_run_maxrace(&run, &scratch, "predict --shard 1/1 --checkpoint @/shard @/race.std", NULL,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, 0);
    mr_run_free(&run);
    return 0;
}

#define OF_PREDICT "text, json, sarif, junit, perfetto, dot or html"
#define OF_RUN     "text, json, sarif, junit or html"
#define OF_ORDER   "text or json"
#define WORDS      "text|json|csv|markdown|sarif|junit|perfetto|dot|html"

#define REFUSED(command, formats, format, others)                                                  \
    2, NULL, "maxrace: format: '" command "' reports as " formats "; " format " is for " others "\n"

static void test_matrix(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --format text @/race.std", 1, "\nRace 1 of 1 on x\n", NULL},
        {"predict --format json @/race.std", 1, "\n\"races\":[\n{\"first\":", NULL},
        {"predict --format csv @/race.std", REFUSED("predict", OF_PREDICT, "csv", "'compare'")},
        {"predict --format markdown @/race.std",
         REFUSED("predict", OF_PREDICT, "markdown", "'compare'")},
        {"predict --format sarif @/race.std", 1, "\"version\":\"2.1.0\"", NULL},
        {"predict --format junit @/race.std", 1, "<testcase classname=\"race\" name=\"10: ", NULL},
        {"predict --format perfetto @/race.std", 1, "\"traceEvents\":[\n{\"ph\":\"M\"", NULL},
        {"predict --format dot @/race.std", 1, "digraph \"race-1\" {\n", NULL},
        {"predict --format html @/race.std", 1, "\n{\"reports\":[\n{\"tool\":", NULL},
        {"compare --format html @/race.std", 1, "\n{\"compare\":[\n{\"file\":", NULL},
        {"order --format sarif @/race.std",
         REFUSED("order", OF_ORDER, "sarif", "'predict' and 'run'")},
        {"run --quick --format sarif ./none", 2, NULL,
         "maxrace: --quick reports as 'order' does: text or json\n"},
        {"merge --format text @/race.std @/shard", 1, "\nRace 1 of 1 on x\n", NULL},
        {"merge --format json @/race.std @/shard", 1, "\n\"races\":[\n{\"first\":", NULL},
        {"merge --format csv @/race.std @/shard", REFUSED("merge", OF_PREDICT, "csv", "'compare'")},
        {"merge --format markdown @/race.std @/shard",
         REFUSED("merge", OF_PREDICT, "markdown", "'compare'")},
        {"order --format text @/race.std", 1, "\nrelation shb: 1 racy event at 1 location", NULL},
        {"order --format json @/race.std", 1, "\n\"order\":{\"relation\":\"shb\",", NULL},
        {"order --format csv @/race.std", REFUSED("order", OF_ORDER, "csv", "'compare'")},
        {"order --format markdown @/race.std", REFUSED("order", OF_ORDER, "markdown", "'compare'")},
        {"compare --format text @/race.std", 1, "\nstatic races                  1", NULL},
        {"compare --format json @/race.std", 1, "\n\"traces\":[\n{\"file\":", NULL},
        {"compare --format csv @/race.std", 1, "/race.std\",2,hb,", NULL},
        {"compare --format markdown @/race.std", 1, "\n| race.std | 2 | racy events | ", NULL},
        /* What `run` prints as text and JSON is tested with recorded programs. */
        {"run --format csv ./none", REFUSED("run", OF_RUN, "csv", "'compare'")},
        {"run --format markdown ./none", REFUSED("run", OF_RUN, "markdown", "'compare'")},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_words_of_no_format(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --format xml @/race.std", 2, NULL,
         "maxrace: format: 'xml' is not one of " WORDS "\n"},
        {"predict --format= @/race.std", 2, NULL, "maxrace: format: '' is not one of " WORDS "\n"},
        {"info --format json @/race.std", 2, NULL, "maxrace: '--format' is not a flag of 'info'\n"},
        {"check --format text @/race.std @/none", 2, NULL,
         "maxrace: '--format' is not a flag of 'check'\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

/* The line names the place of the setting, unless a flag wins over it. */
static void test_configured(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict -c @/csv.yaml @/race.std", 2, NULL,
         "@/csv.yaml:2: format: 'predict' reports as " OF_PREDICT "; csv is for 'compare'\n"},
        {"predict -c @/csv.yaml -c @/jobs.yaml @/race.std",
         REFUSED("predict", OF_PREDICT, "csv", "'compare'")},
        {"predict -c @/csv.yaml --format markdown @/race.std",
         REFUSED("predict", OF_PREDICT, "markdown", "'compare'")},
        {"predict -c @/csv.yaml --format text @/race.std", 1, "\nRace 1 of 1 on x\n", NULL},
        {"compare -c @/csv.yaml @/race.std", 1, "/race.std\",2,hb,", NULL},
        /* `config` reports nothing: what it prints may be meant for any command. */
        {"config -c @/csv.yaml", 0, "\nformat: csv\n", NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_words_of_no_format),
        cmocka_unit_test(test_configured),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
