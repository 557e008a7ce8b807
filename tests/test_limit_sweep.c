/*
 * Limits of every kind, together: memory, time, units, clauses, sets of decision steps, window
 * sizes and numbers of threads, on random traces with nested locks and two values. Every run comes
 * to its end, soon after its time limit, and gives a report or one line that says what is wrong. No
 * run aborts.
 *
 * Then every command that reads a trace, on one that takes more memory than it may: it stays near
 * the limit, and when it ends before its time it says so. And a signal at any moment of these.
 *
 * SWEEP_RUNS, SWEEP_COMMANDS and SWEEP_SEED in the environment choose other runs; the one that fails
 * is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seconds.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { SHARE_RUNS = 8, FULL_RUNS = 100, DEFAULT_SEED = 20261123, TRACES = 6 };
enum { SHARE_COMMANDS = 4, FULL_COMMANDS = 35 };

/* The large trace: its threads, and what it has many of. */
enum {
    EVENTS = 700000,
    THREADS = 12,
    VARIABLES = 150000,
    PLACES = 500,
    LOCKS = 40,
    LINE_BYTES = 64
};

/* Memory under a sanitizer is not that of the program. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* A run that takes longer hangs: its time limit is a second. */
static const double HANG_SECONDS = 30;

/* threads, variables, locks, values, nesting, locked, flag, read, stay, forks */
static const mr_large shapes[] = {
    {"nested", 6, 4, 5, 2, 3, 60, 0, 50, 20, false},
    {"flat", 6, 20, 4, 2, 1, 50, 0, 60, 20, false},
    {"flags", 8, 10, 4, 2, 2, 30, 40, 50, 20, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static mr_scratch scratch;

/* Most accesses are in sections, some are not and race. */
static void write_big(void)
{
    mr_random random = {DEFAULT_SEED};
    char path[512], *text = malloc((size_t)EVENTS * LINE_BYTES), *at = text;
    assert_non_null(text);
    for (uint32_t event = 0; event + 3 < EVENTS; event += 3) {
        uint32_t thread = mr_random_below(&random, THREADS);
        uint32_t variable = mr_random_below(&random, VARIABLES);
        uint32_t place = mr_random_below(&random, PLACES), lock = variable % LOCKS;
        char op = mr_random_below(&random, 3) ? 'r' : 'w';
        if (!mr_random_below(&random, 50)) {
            at += sprintf(at, "T%u|%c(counter%u=1)|race.c:%u\n", thread, op, variable % 16,
                          place % 16);
            event -= 2;
            continue;
        }
        at += sprintf(at, "T%u|acq(lock%u)|lock.c:%u\n", thread, lock, lock);
        at += sprintf(at, "T%u|%c(object.field%u=1)|work.c:%u\n", thread, op, variable, place);
        at += sprintf(at, "T%u|rel(lock%u)|lock.c:%u\n", thread, lock, lock);
    }
    mr_scratch_write(&scratch, "big.std", text, path);
    free(text);
}

static int setup(void **state)
{
    (void)state;
    mr_scratch_make(&scratch);
    write_big();
    for (uint32_t i = 0; i < TRACES; i++) {
        char path[512], name[16];
        char *text = mr_generate_large(i, &shapes[i % SHAPES], i < SHAPES ? 1000 : 300);
        assert_non_null(text);
        snprintf(name, sizeof name, "%" PRIu32 ".std", i);
        mr_scratch_write(&scratch, name, text, path);
        free(text);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_scratch_remove(&scratch);
    return 0;
}

static const char *one_of(mr_random *random, const char *const *words, size_t count)
{
    return words[mr_random_below(random, (uint32_t)count)];
}

#define ONE_OF(random, words) one_of(random, words, sizeof(words) / sizeof(words)[0])

static void choose(mr_random *random, char arguments[1024])
{
    static const char *const memory[] = {"", "--memory-limit-mb 1", "--memory-limit-mb 40",
                                         "--memory-limit-mb 80", "--solver-memory-mb 1"};
    static const char *const queries[] = {"",
                                          "--solver-timeout-ms 1",
                                          "--solver-timeout-ms 7",
                                          "--solver-timeout-ms 60",
                                          "--solver-rlimit 1000",
                                          "--solver-max-clauses 50",
                                          "--solver-saturate-steps 100",
                                          "--window-far-race-work 100",
                                          "--window-far-work 5000",
                                          "--candidates-crowded 1"};
    static const char *const steps[] = {
        "",
        "--solver-steps lazy",
        "--solver-steps z3",
        "--solver-steps cone,lazy,z3",
        "--solver-steps filter,cone,linearise,eliminate,greedy,saturate",
        "--solver-steps eliminate,saturate",
        "--solver-steps saturate,explore",
        "--solver-steps filter,cone,eliminate,explore",
        "--solver-strategy eager"};
    static const char *const windows[] = {"--window-size 50", "--window-size 100",
                                          "--window-size 300", "--window-size 0", ""};
    static const char *const models[] = {"", "--model rf", "--model branch",
                                         "--candidates-report event", "--candidates-far none"};
    int length = snprintf(arguments, 1024, "predict -q --time-limit 1 -j %" PRIu32,
                          mr_random_range(random, 1, 4));
    const char *const parts[] = {ONE_OF(random, memory), ONE_OF(random, queries),
                                 ONE_OF(random, steps), ONE_OF(random, windows),
                                 ONE_OF(random, models)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        length += snprintf(arguments + length, 1024 - (size_t)length, " %s", parts[i]);
    snprintf(arguments + length, 1024 - (size_t)length, " @/%" PRIu32 ".std",
             mr_random_below(random, TRACES));
}

/* Waits until the run has ended, without taking its status. False: it hangs, and is killed. */
static bool ends(const mr_run *run)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    double begin = mr_seconds();
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)run->process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid)
            return true;
        if (mr_seconds() - begin > HANG_SECONDS) {
            kill(run->process, SIGKILL);
            return false;
        }
        nanosleep(&nap, NULL);
    }
}

/* What the run says besides that its limit of memory cannot be kept. */
static const char *said(const mr_run *run)
{
    const char *least = strstr(run->error, " is less than maxrace itself needs");
    const char *end = least ? strchr(least, '\n') : NULL;
    return end ? end + 1 : run->error;
}

static void check(const char *arguments, const mr_run *run, bool ended)
{
    /* 0 no race, 1 races, 4 no memory, 5 not complete, 7 unknown */
    bool reports = run->status == 0 || run->status == 1 || run->status == 5 || run->status == 7;
    const char *error = said(run), *line_end = strchr(error, '\n');
    bool one_line = line_end && !line_end[1];
    if (!ended)
        fail_msg("maxrace %s\nhangs", arguments);
    if (!(reports ? run->out[0] != '\0' : run->status == 4 && one_line))
        fail_msg("maxrace %s\nstatus %d, %s", arguments, run->status, run->error);
    if (reports && error[0] && !one_line)
        fail_msg("maxrace %s\nsays %s", arguments, run->error);
}

static void test_sweep(void **state)
{
    (void)state;
    uint64_t runs = mr_length("SWEEP_RUNS", SHARE_RUNS, FULL_RUNS);
    uint64_t seed = mr_number_from_environment("SWEEP_SEED", DEFAULT_SEED);
    size_t cut = 0;
    for (uint64_t i = 0; i < runs; i++) {
        mr_random random = {seed + i};
        char arguments[1024];
        mr_run run;
        choose(&random, arguments);
        mr_run_start(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        bool ended = ends(&run);
        mr_run_wait(&run);
        check(arguments, &run, ended);
        cut += run.status == 5;
        mr_run_free(&run);
    }
    print_message("%" PRIu64 " runs, %zu cut off\n", runs, cut);
    assert_true(runs < SHARE_RUNS || cut > 0);
}

static const char *const commands[] = {
    "order --relation hb -q",
    "order --relation fhb -q",
    "order --relation shb -q --no-witness-check",
    "order --relation wcp -q",
    "order --relation hybrid -q --format json",
    "order --relation c17 -q",
    "order --relation syncp -q",
    "order --relation cp -q",
    "order --relation hb -q --confirm",
    "compare -q --relations hb,shb,wcp,syncp,rf",
    "predict -q -j 1",
    "predict -q -j 2 --model rf --candidates-far none",
    "info",
    "explain --pair 100 90000",
    "exclude -q --random 40 @/big.std @/out.mrt",
    "convert -q @/big.std @/out.mrt",
    "convert -q @/big.std @/out.std",
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* 0 done, 1 races, 4 no memory for the names, 5 not complete. What is cut off is said, in the report
 * or in one line. */
static void check_command(const char *arguments, const mr_run *run, bool ended, uint64_t limit_mb)
{
    const char *line_end = strchr(run->error, '\n');
    bool line = line_end && !line_end[1],
         told = line || strstr(run->out, "not complete") || strstr(run->out, "ended_by");
    if (!ended)
        fail_msg("maxrace %s\nhangs", arguments);
    if (!(run->status == 0 || run->status == 1 || ((run->status == 4 || run->status == 5) && told)))
        fail_msg("maxrace %s\nstatus %d, %s", arguments, run->status, run->error);
    /* The process may pass the limit for a moment, longer on a busy machine; without a limit the
     * commands take up to four times this. */
    if (!SANITIZED && run->peak_kib > limit_mb * 1024 * 3 / 2)
        fail_msg("maxrace %s\ntakes %" PRIu64 " KiB", arguments, run->peak_kib);
}

static void command_line(mr_random *random, uint64_t limit_mb, char arguments[1024])
{
    const char *command = commands[mr_random_below(random, COMMANDS)];
    int length = snprintf(arguments, 1024, "%s --memory-limit-mb %" PRIu64, command, limit_mb);
    if (!strchr(command, '@'))
        snprintf(arguments + length, 1024 - (size_t)length, " @/big.std");
}

static void test_commands(void **state)
{
    (void)state;
    uint64_t runs = mr_length("SWEEP_COMMANDS", SHARE_COMMANDS, FULL_COMMANDS);
    uint64_t seed = mr_number_from_environment("SWEEP_SEED", DEFAULT_SEED);
    size_t cut = 0;
    for (uint64_t i = 0; i < runs; i++) {
        mr_random random = {seed + i};
        char arguments[1024];
        mr_run run;
        uint64_t limit_mb = mr_random_range(&random, 45, 70);
        command_line(&random, limit_mb, arguments);
        mr_run_start(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        bool ended = ends(&run);
        mr_run_wait(&run);
        check_command(arguments, &run, ended, limit_mb);
        cut += run.status >= 4;
        mr_run_free(&run);
    }
    print_message("%" PRIu64 " runs, %zu cut off\n", runs, cut);
    assert_true(SANITIZED || runs < SHARE_COMMANDS || cut > 0);
}

/* A signal ends the run: before there is something to tell, at once, or with a report. */
static void test_signals(void **state)
{
    (void)state;
    uint64_t runs = mr_length("SWEEP_COMMANDS", SHARE_COMMANDS, FULL_COMMANDS);
    uint64_t seed = mr_number_from_environment("SWEEP_SEED", DEFAULT_SEED);
    for (uint64_t i = 0; i < runs; i++) {
        mr_random random = {seed + i};
        const struct timespec nap = {.tv_nsec = 1000000 * (long)mr_random_below(&random, 700)};
        char arguments[1024];
        mr_run run;
        command_line(&random, 2000, arguments);
        mr_run_start(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
        nanosleep(&nap, NULL);
        kill(run.process, SIGTERM);
        bool ended = ends(&run);
        mr_run_wait(&run);
        if (run.status != 1000 + SIGTERM)
            check_command(arguments, &run, ended, 2000);
        mr_run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep),
                                       cmocka_unit_test(test_commands),
                                       cmocka_unit_test(test_signals)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
