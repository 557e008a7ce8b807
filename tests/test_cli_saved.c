/* Long runs as a user has them: killed, interrupted, out of time, out of disk, split up. */
#define _DEFAULT_SOURCE /* syscall */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seconds.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/mrt_bytes.h"
#include "support/run.h"
#include "support/schema.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 20, SHARE_KILLS = 4, INCOMPLETE = 5 };

#define FLAGS   "--no-report-run --window-size 200 "
#define PREDICT "predict " FLAGS "@/trace.std "
/* Z3 answers each question of a trace that the other steps would be done with in a second. */
#define HARD "predict --window-size 200 --solver-steps filter,z3 @/hard.std "

static mr_scratch scratch;
static char *whole;    /* the report of one undisturbed run */
static double seconds; /* that it takes */

static void write_trace(const char *name, uint32_t shape, uint32_t events)
{
    char path[512], *text = mr_generate_large(1, &mr_large_shapes[shape], events);
    assert_non_null(text);
    mr_scratch_write(&scratch, name, text, path);
    free(text);
}

static int setup(void **state)
{
    mr_run run;
    (void)state;
    mr_scratch_make(&scratch);
    write_trace("trace.std", 4, 6000); /* unique-values: many windows, little time */
    write_trace("hard.std", 3, 20000); /* eight-values: for HARD */
    double begin = mr_seconds();
    mr_run_maxrace(&run, &scratch, PREDICT, NULL, MR_RUN_CAPTURE);
    seconds = mr_seconds() - begin;
    assert_int_equal(run.status, 1);
    whole = strdup(run.out);
    mr_run_free(&run);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(whole);
    mr_scratch_remove(&scratch);
    return 0;
}

static void nap(double time)
{
    struct timespec pause = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};
    while (nanosleep(&pause, &pause) != 0)
        ;
}

/* Waits until standard error has the text; the program ends only after that. */
static void wait_until_said(const mr_run *run, const char *part)
{
    for (bool said = false; !said;) {
        siginfo_t ended = {.si_pid = 0};
        assert_int_equal(waitid(P_PID, (id_t)run->process, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
        assert_true(ended.si_pid == 0);
        nap(0.01);
        char *text = mr_file_text(run->error_path);
        said = text && strstr(text, part);
        free(text);
    }
}

/* Runs to the end and expects the one report, and nothing said about damage. */
static void same_report(const char *arguments, bool quiet)
{
    mr_run run;
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    if (run.status != 1 || (quiet && run.error[0] != '\0'))
        fail_msg("%s: status %d, %s", arguments, run.status, run.error);
    assert_string_equal(run.out, whole);
    mr_run_free(&run);
}

/* 0: there is none. */
static off_t size_of(const char *name)
{
    char path[512];
    struct stat info;
    return stat(mr_scratch_path(&scratch, name, path), &info) == 0 ? info.st_size : 0;
}

static bool is_there(const char *name)
{
    return size_of(name) > 0;
}

/* Waits until the first outcome stands behind the head of the checkpoint. */
static void wait_until_saved(const mr_run *run, const char *name)
{
    off_t head = 0;
    for (bool ended = false; !ended && (head == 0 || size_of(name) <= head); nap(0.01)) {
        siginfo_t info = {.si_pid = 0};
        if (head == 0)
            head = size_of(name);
        assert_int_equal(waitid(P_PID, (id_t)run->process, &info, WEXITED | WNOHANG | WNOWAIT), 0);
        ended = info.si_pid != 0;
    }
}

static void forget(const char *name)
{
    char path[512];
    remove(mr_scratch_path(&scratch, name, path));
}

static void check_schema(const char *report)
{
    char problem[256];
    json_t *schema = mr_schema_load("docs/report.schema.json"), *value = mr_schema_parse(report);
    if (!mr_schema_fits(schema, schema, value, problem))
        fail_msg("%s", problem);
    json_decref(schema);
    json_decref(value);
}

/* ---- tests ---- */

static void test_usage(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"predict --resume @/trace.std", 2, NULL,
         "maxrace: --resume needs --checkpoint FILE, the file to go on from\n"},
        {"predict --shard 1/2 @/trace.std", 2, NULL,
         "maxrace: --shard needs --checkpoint FILE, for 'maxrace merge'\n"},
        {"predict --shard 3/2 --checkpoint @/u @/trace.std", 2, NULL,
         "maxrace: --shard '3/2': expected K/N, the part and the number of parts, such as 2/5\n"},
        {"predict --shard 0/2 --checkpoint @/u @/trace.std", 2, NULL,
         "maxrace: --shard '0/2': expected K/N, the part and the number of parts, such as 2/5\n"},
        {"predict --shard 1/2x --checkpoint @/u @/trace.std", 2, NULL,
         "maxrace: --shard '1/2x': expected K/N, the part and the number of parts, such as 2/5\n"},
        {"predict --shard 1/9999999999 --checkpoint @/u @/trace.std", 2, NULL,
         "maxrace: --shard '1/9999999999': expected K/N, the part and the number of parts, such as "
         "2/5\n"},
        {"predict --checkpoint @/trace.std @/trace.std", 2, NULL,
         "@/trace.std: exists; go on with it by --resume, or name another file\n"},
        {"predict --checkpoint @/trace.std --resume @/trace.std", 2, NULL,
         "@/trace.std: is no checkpoint of maxrace; name another file\n"},
        {"predict --checkpoint @/no/such @/trace.std", 4, NULL,
         "@/no/such: cannot write the checkpoint: No such file or directory\n"},
        {"predict --checkpoint @ --resume @/trace.std", 4, NULL,
         "@: cannot write the checkpoint: Is a directory\n"},
        {"predict --checkpoint /dev/full --resume @/trace.std", 2, NULL,
         "/dev/full: is no file that can be gone on with; name another one\n"},
        {"merge @/trace.std", 2, NULL,
         "maxrace: missing operand; usage: maxrace merge [FLAGS] TRACE FILE…\n"},
        {"merge @/trace.std @/none", 4, NULL,
         "@/none: cannot read the checkpoint: No such file or directory\n"},
        {"merge @/trace.std @/trace.std", 2, NULL,
         "@/trace.std: is no checkpoint of maxrace; name another file\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
    assert_false(is_there("u"));
}

/* At any moment, and again while it goes on. */
static void test_killed(void **state)
{
    (void)state;
    mr_random random = {mr_number_from_environment("MR_SEED", (uint64_t)time(NULL))};
    uint64_t kills = mr_length("SAVED_KILLS", SHARE_KILLS, KILLS), killed = 0;
    print_message("seed %" PRIu64 "\n", random.state);
    for (uint64_t i = 0; i < kills; i++) {
        mr_run run;
        forget("kill");
        for (int again = 0; again < 2; again++) {
            mr_run_start(&run, &scratch, PREDICT "--checkpoint @/kill --resume", NULL,
                         MR_RUN_CAPTURE);
            nap(seconds * mr_random_below(&random, 1000) / 1000);
            kill(run.process, SIGKILL);
            mr_run_wait(&run);
            killed += run.status == 1000 + SIGKILL;
            mr_run_free(&run);
        }
        same_report(PREDICT "--checkpoint @/kill --resume", false);
    }
    /* The machine may have been slow only when a run was timed: of two runs none may be killed. */
    assert_true(killed > kills / 8 || mr_length_few());
}

static void test_shards(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {PREDICT "--shard 1/5 --checkpoint @/s1", 0, "shard 1/5: 12 of 12 units", NULL},
        {PREDICT "--shard 2/5 --checkpoint @/s2", 0, "shard 2/5: 12 of 12 units", NULL},
        {PREDICT "--shard 3/5 --checkpoint @/s3 -j 1", 0, "shard 3/5: 12 of 12 units", NULL},
        {PREDICT "--shard 4/5 --checkpoint @/s4", 0, "shard 4/5: 12 of 12 units", NULL},
        {"merge @/trace.std @/s3 @/s1 @/s2", 2, NULL,
         "maxrace: 24 of 60 units are missing: there is no file of shard 4/5; let it run "
         "to its end by predict --resume, or decide them here by --decide-missing\n"},
        {PREDICT "--shard 5/5 --time-limit 0 --checkpoint @/s5", 0, "12 of 12 units", NULL},
        {PREDICT "--shard 5/5 --resume --checkpoint @/s5", 0, ", 12 of them by earlier runs", NULL},
        {"merge @/hard.std @/s3 @/s1 @/s2", 2, NULL,
         "@/s3: belongs to a trace of 6000 events, this one has 20000; use the file of this "
         "trace\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
    same_report("merge --no-report-run @/trace.std @/s1 @/s2 @/s3 @/s4 @/s5", true);
    same_report("merge --no-report-run --checkpoint @/m @/trace.std @/s1 @/s2 @/s3 @/s4 @/s5",
                true);
    same_report(
        "merge --no-report-run --checkpoint @/m --resume @/trace.std @/s1 @/s2 @/s3 @/s4 @/s5",
        true);
    same_report("merge --no-report-run --decide-missing @/trace.std @/s1 @/s5", true);
    mr_run one, merged;
    mr_run_maxrace(&one, &scratch, PREDICT "--format json", NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&merged, &scratch,
                   "merge --no-report-run --format json @/trace.std @/s1 @/s2 @/s3 @/s4 @/s5", NULL,
                   MR_RUN_CAPTURE);
    assert_string_equal(merged.out, one.out);
    mr_run_free(&one);
    mr_run_free(&merged);
    /* One whole checkpoint is a part, too. */
    same_report(PREDICT "--checkpoint @/all", true);
    same_report("merge --no-report-run @/trace.std @/all", true);
}

/* The first signal asks for a report, which says what it lacks; the second ends the program. */
static void test_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        mr_run run;
        forget("signal");
        mr_run_start(&run, &scratch, HARD "--checkpoint @/signal --resume", NULL, MR_RUN_CAPTURE);
        wait_until_saved(&run, "signal");
        kill(run.process, signals[i]);
        mr_run_wait(&run);
        assert_int_equal(run.status, INCOMPLETE);
        assert_string_equal(run.error, "");
        assert_non_null(strstr(run.out, "; not complete, ended by a signal: "));
        assert_null(strstr(run.out, "no race in the"));
        mr_run_free(&run);
        mr_run_maxrace(&run, &scratch,
                       HARD "--checkpoint @/signal --resume --time-limit 1 --format json", NULL,
                       MR_RUN_CAPTURE);
        assert_int_equal(run.status, INCOMPLETE);
        assert_non_null(strstr(run.out, "\"incomplete\":{\"ended_by\":\"time_limit\""));
        assert_null(strstr(run.out, "\"saved\":0"));
        check_schema(run.out);
        mr_run_free(&run);
    }
}

/* Two signals, however close: the program is gone, and what it has saved is not. */
static void test_two_signals(void **state)
{
    (void)state;
    mr_run run;
    forget("two");
    mr_run_start(&run, &scratch, HARD "--checkpoint @/two", NULL, MR_RUN_CAPTURE);
    wait_until_saved(&run, "two");
    kill(run.process, SIGSTOP);
    kill(run.process, SIGINT);
    kill(run.process, SIGTERM);
    kill(run.process, SIGCONT);
    mr_run_wait(&run);
    assert_true(run.status == 1000 + SIGINT || run.status == 1000 + SIGTERM);
    assert_string_equal(run.out, "");
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, HARD "--checkpoint @/two --resume --time-limit 1", NULL,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, INCOMPLETE);
    assert_non_null(strstr(run.out, " units by earlier runs, "));
    mr_run_free(&run);
}

/* As timeout(1) does it: the same signal twice is one, and the report comes. One goes to the process
 * and one to its first thread, so that none swallows the other while the process is stopped. It
 * handles both as soon as it goes on, on a busy machine, too. */
static void test_signal_sent_twice(void **state)
{
    (void)state;
    mr_run run;
    forget("twice");
    mr_run_start(&run, &scratch, HARD "--checkpoint @/twice", NULL, MR_RUN_CAPTURE);
    while (!is_there("twice"))
        nap(0.01);
    nap(0.3); /* the search may begin a little after the file is there */
    kill(run.process, SIGSTOP);
    kill(run.process, SIGTERM);
    assert_int_equal(syscall(SYS_tgkill, run.process, run.process, SIGTERM), 0);
    kill(run.process, SIGCONT);
    mr_run_wait(&run);
    assert_int_equal(run.status, INCOMPLETE);
    assert_non_null(strstr(run.out, "; not complete, ended by a signal: "));
    mr_run_free(&run);
}

/* Windows that take minutes end when they are asked to, and their races are in the report. */
static void test_stop_within_a_window(void **state)
{
    (void)state;
    mr_run run;
    write_trace("harder.std", 3, 60000);
    mr_run_start(&run, &scratch,
                 "predict -j 2 --window-size 30000 --candidates-far none --debug candidates "
                 "@/harder.std",
                 NULL, MR_RUN_CAPTURE);
    wait_until_said(&run, "verdict=race");
    kill(run.process, SIGTERM);
    mr_run_wait(&run);
    assert_int_equal(run.status, INCOMPLETE);
    assert_non_null(strstr(run.out, " of 3 windows not looked at"));
    assert_null(strstr(run.out, "no race so far"));
    mr_run_free(&run);
}

static void test_time_limit(void **state)
{
    (void)state;
    mr_run run;
    mr_run_maxrace(&run, &scratch, HARD "--time-limit 1", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, INCOMPLETE);
    assert_non_null(strstr(run.out, "; not complete, ended by time_limit: "));
    mr_run_free(&run);
}

/* A file that may not become so long is as good as a full disk. */
static void test_disk_full(void **state)
{
    (void)state;
    struct rlimit before, small;
    char expected[1024];
    mr_run run;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 20000;
    forget("full");
    setrlimit(RLIMIT_FSIZE, &small);
    mr_run_maxrace(&run, &scratch, PREDICT "--checkpoint @/full -o /dev/null", NULL,
                   MR_RUN_CAPTURE);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(run.status, 4);
    mr_run_expand(&scratch,
                  "@/full: cannot save: File too large; all that was saved before is kept: make "
                  "room and go on with --resume\n",
                  expected);
    assert_string_equal(run.error, expected);
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, PREDICT "--checkpoint @/full --resume --report-run", NULL,
                   MR_RUN_CAPTURE);
    assert_string_equal(run.error, ""); /* nothing torn */
    assert_non_null(strstr(run.out, " units by earlier runs, "));
    mr_run_free(&run);
    same_report(PREDICT "--checkpoint @/full --resume", true);
}

/* One clear line each; what is not damaged is used. */
static void test_damaged(void **state)
{
    (void)state;
    char path[512], expected[1024];
    mr_run run;
    forget("damaged");
    same_report(PREDICT "--checkpoint @/damaged", true);
    FILE *file = fopen(mr_scratch_path(&scratch, "damaged", path), "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long middle = ftell(file) / 2;
    fseek(file, middle, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, middle, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    mr_run_maxrace(&run, &scratch, PREDICT "--checkpoint @/damaged --resume", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 1);
    assert_string_equal(run.out, whole);
    mr_run_expand(&scratch, "@/damaged: damaged at byte ", expected);
    assert_int_equal(strncmp(run.error, expected, strlen(expected)), 0);
    assert_non_null(strstr(run.error, "; what stood there is decided again\n"));
    assert_ptr_equal(strchr(run.error, '\n') + 1, run.error + strlen(run.error));
    mr_run_free(&run);
    assert_int_equal(truncate(path, 40), 0);
    mr_run_expand(&scratch,
                  "@/damaged: the head of the checkpoint is damaged, so nobody can say what it "
                  "belongs to; start anew with another file\n",
                  expected);
    mr_run_maxrace(&run, &scratch, "merge @/trace.std @/damaged", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 4);
    assert_string_equal(run.error, expected);
    mr_run_free(&run);
}

/* ---- parts of a trace ---- */

enum { PART_BLOCKS = 7 };

/* Two threads with variables of their own, and at the begin and the end a race. */
static void write_long(const char *name)
{
    char path[512];
    FILE *file = fopen(mr_scratch_path(&scratch, name, path), "w");
    assert_non_null(file);
    fputs("A|fork(B)|1\nA|w(x)|2\nB|w(x)|3\n", file);
    for (int i = 3; i < PART_BLOCKS * MR_MRT_BLOCK_EVENTS - 2; i++)
        fprintf(file, "%c|w(%c%d)|4\n", 'A' + i % 2, 'a' + i % 2, i % 50);
    fputs("A|w(y)|5\nB|w(y)|6\n", file);
    assert_int_equal(fclose(file), 0);
}

/* Changes a byte of the last block. */
static void damage(const char *from, const char *to)
{
    char path[512];
    FILE *file = fopen(mr_scratch_path(&scratch, from, path), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    mr_bytes bytes = {.count = (size_t)ftell(file)};
    bytes.items = malloc(bytes.count);
    rewind(file);
    assert_int_equal(fread(bytes.items, 1, bytes.count, file), bytes.count);
    fclose(file);
    mr_mrt_chunk *last = mr_test_chunk(bytes, MR_MRT_EVENTS, PART_BLOCKS - 1);
    assert_non_null(last);
    *(unsigned char *)(last + 1) ^= 1;
    file = fopen(mr_scratch_path(&scratch, to, path), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.items, 1, bytes.count, file), bytes.count);
    fclose(file);
    free(bytes.items);
}

/* A process that writes the file into the pipe as soon as somebody reads it. */
static pid_t feed(const char *name, const char *pipe_name)
{
    char from[512], to[512], buffer[4096];
    mr_scratch_path(&scratch, name, from);
    mr_scratch_path(&scratch, pipe_name, to);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child)
        return child;
    int source = open(from, O_RDONLY), sink = open(to, O_WRONLY);
    ssize_t count;
    while ((count = read(source, buffer, sizeof buffer)) > 0)
        if (write(sink, buffer, (size_t)count) != count)
            break;
    _exit(count != 0);
}

static void run_fed(const char *name, const mr_run_row *row)
{
    int status;
    pid_t child = feed(name, "pipe");
    mr_run_rows(&scratch, row, 1);
    assert_true(waitpid(child, &status, 0) == child && status == 0);
}

#define LONG     "--no-report-run --window-size 10000 --window-overlap 0 --candidates-far none "
#define IN_PARTS "predict " LONG "--shard "

/* A shard looks only at the blocks of its windows; all else reads all of the file. So does a shard of a pipe, once. */
static void test_parts(void **state)
{
    (void)state;
    char path[512];
    mr_run run;
    write_long("long.std");
    mr_run_maxrace(&run, &scratch, "convert @/long.std @/long.mrt", NULL, MR_RUN_CAPTURE);
    assert_int_equal(run.status, 0);
    mr_run_free(&run);
    damage("long.mrt", "bad.mrt");
    static const mr_run_row rows[] = {
        {IN_PARTS "8/13 --checkpoint @/p1 @/bad.mrt", 0, "shard 8/13: 4 of 4 units are in ", NULL},
        {IN_PARTS "2/13 --checkpoint @/p2 @/long.std", 0, "shard 2/13: 4 of 4 units", NULL},
        {IN_PARTS "8/13 --checkpoint @/p1 --resume @/long.mrt", 0, ", 4 of them by earlier runs",
         NULL},
    };
    MR_RUN_ROWS(&scratch, rows);
    mr_run_maxrace(&run, &scratch, "merge --decide-missing @/bad.mrt @/p1 @/p2", NULL,
                   MR_RUN_CAPTURE);
    assert_int_equal(run.status, 3);
    assert_non_null(strstr(run.error, "the .mrt file is damaged"));
    mr_run_free(&run);
    assert_int_equal(mkfifo(mr_scratch_path(&scratch, "pipe", path), 0600), 0);
    static const mr_run_row fed[] = {
        {IN_PARTS "3/13 --checkpoint @/p3 @/pipe", 0, "shard 3/13: 4 of 4 units", NULL},
        {"merge --no-report-run --decide-missing @/pipe @/p1 @/p2 @/p3", 1, "2 races", NULL},
    };
    run_fed("long.std", &fed[0]);
    run_fed("long.mrt", &fed[1]);
    run_fed("long.std", &fed[1]);
}

/* Has the process mapped a file of this name? */
static bool has_mapped(pid_t process, const char *name)
{
    char path[64], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *maps = fopen(path, "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, name) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* A shard of long.mrt that waits for its first system call. -1: no process can be traced here. */
static pid_t start_traced(const char *checkpoint)
{
    char trace[512], file[512];
    const char *program = getenv("MAXRACE");
    mr_scratch_path(&scratch, "long.mrt", trace);
    mr_scratch_path(&scratch, checkpoint, file);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(126);
        execl(program ? program : "build/release/maxrace", "maxrace", "predict", "--no-report-run",
              "--window-size", "10000", "--window-overlap", "0", "--candidates-far", "none",
              "--shard", "8/13", "--checkpoint", file, trace, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSTOPPED(status) ? child : -1;
}

/* A signal to a shard that reads its part: it ends by the signal, and leaves nothing. */
static void test_signal_while_reading(void **state)
{
    (void)state;
    int status;
    pid_t child = start_traced("p9");
    if (child < 0)
        skip();
    while (!has_mapped(child, "long.mrt")) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSTOPPED(status)); /* else it has not read the part */
    }
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_false(is_there("p9"));
}

static void test_locked(void **state)
{
    (void)state;
    static const mr_run_row row = {
        PREDICT "--checkpoint @/locked --resume", 4, NULL,
        "@/locked: another run uses this checkpoint now; wait for its end, or name another file\n"};
    char path[512];
    int fd = open(mr_scratch_path(&scratch, "locked", path), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    mr_run_rows(&scratch, &row, 1);
    close(fd);
    same_report(PREDICT "--checkpoint @/locked --resume", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_two_signals),
        cmocka_unit_test(test_signal_sent_twice),
        cmocka_unit_test(test_stop_within_a_window),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_signal_while_reading),
        cmocka_unit_test(test_locked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
