/*
 * spill: an event store that is too large for memory is the same from files; the process stays
 * within memory.limit_mb; a disk that is full is one line.
 */
#define _DEFAULT_SOURCE /* wait4 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bench/big_trace.h"
#include "formats/read.h"
#include "support/length.h"
#include "support/mrt_bytes.h"
#include "support/run.h"
#include "support/trace_reading.h"
#include "trace/columns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory under a sanitizer is not that of the program. It also keeps what was freed, which a ceiling
 * counts (base/ceiling.h), so it gets little room for that: here and in the programs that are run. */
#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#define SANITIZER_OPTIONS "quarantine_size_mb=1"
/* The name is the sanitizer's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
const char *__asan_default_options(void)
{
    return SANITIZER_OPTIONS;
}
#else
enum { IS_SANITIZED = 0 };
#endif

enum { TMPFS = 0x01021994 };

static mr_scratch scratch;

static bool is_in_memory(const char *dir)
{
    struct statfs system;
    return statfs(dir, &system) == 0 && system.f_type == TMPFS;
}

static int make_scratch(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

/* The folder in which files are made; it must be on a disk. */
static const char *folder(void)
{
    if (!is_in_memory(scratch.dir))
        return scratch.dir;
    if (is_in_memory("/var/tmp"))
        skip();
    return "/var/tmp";
}

static bool has_files_of_ours(const char *dir)
{
    bool found = false;
    DIR *names = opendir(dir);
    assert_non_null(names);
    for (const struct dirent *entry; (entry = readdir(names)) != NULL;)
        found |= strncmp(entry->d_name, "maxrace-", 8) == 0 &&
                 strncmp(entry->d_name, "maxrace-test-", 13) != 0;
    closedir(names);
    return found;
}

/* ---- arrays ---- */

enum { STEP = 100000, STEPS = 12 };

static void fill(const mr_spill *spill, size_t slot, size_t from, size_t to)
{
    uint32_t *numbers = spill->arrays[slot].at;
    for (size_t i = from; i < to; i++)
        numbers[i] = (uint32_t)(i * 7 + slot);
}

static void check(const mr_spill *spill, size_t slot, size_t count)
{
    const uint32_t *numbers = spill->arrays[slot].at;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != (uint32_t)(i * 7 + slot))
            fail_msg("slot %zu, element %zu", slot, i);
}

/* Three arrays that grow by turns, within a limit that has room for all, some or none of them. */
static void test_arrays_grow(void **state)
{
    (void)state;
    static const uint64_t limits[] = {0, 1 << 30, 20 << 20, 1};
    static const size_t mapped[] = {0, 0, 1, 3}; /* at least */
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        mr_spill spill = {0};
        mr_error error = {0};
        assert_true(mr_spill_limit(&spill, limits[l], folder()));
        for (size_t step = 1; step <= STEPS; step++)
            for (size_t slot = 0; slot < 3; slot++) {
                assert_int_equal(
                    mr_spill_reserve(&spill, slot, step * STEP, sizeof(uint32_t), &error), MR_OK);
                fill(&spill, slot, (step - 1) * STEP, step * STEP);
            }
        size_t count = 0;
        for (size_t slot = 0; slot < 3; slot++) {
            check(&spill, slot, (size_t)STEPS * STEP);
            count += spill.arrays[slot].is_mapped;
        }
        assert_true(count >= mapped[l] && (mapped[l] || !count));
        for (size_t slot = 0; slot < 3; slot++) {
            assert_int_equal(mr_spill_fit(&spill, slot, (size_t)STEPS * STEP - 1, &error), MR_OK);
            assert_int_equal(spill.arrays[slot].is_mapped, count > 0); /* all or none */
            check(&spill, slot, (size_t)STEPS * STEP - 1);
        }
        assert_false(has_files_of_ours(folder()));
        mr_spill_free(&spill);
    }
}

/* Who says how much it will be, has no array in memory first. */
static void test_expected(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    mr_spill spill = {0};
    assert_true(mr_spill_limit(&spill, 20 * BYTES, folder()));
    assert_int_equal(mr_spill_expect(&spill, 8 * BYTES, NULL), MR_OK);
    assert_int_equal(mr_spill_reserve(&spill, 0, BYTES, 1, NULL), MR_OK);
    assert_false(spill.arrays[0].is_mapped);
    assert_int_equal(mr_spill_expect(&spill, 9 * BYTES, NULL), MR_OK);
    assert_int_equal(mr_spill_reserve(&spill, 1, BYTES, 1, NULL), MR_OK);
    assert_true(spill.arrays[1].is_mapped);
    assert_int_equal(mr_spill_reserve(&spill, 2, 100, 1, NULL), MR_OK);
    assert_false(spill.arrays[2].is_mapped); /* not worth a file */
    mr_spill_free(&spill);
}

/* What is derived from a trace is where the trace is. */
static void check_derived(const mr_trace *trace)
{
    mr_spill spill;
    const uint32_t *derived = mr_columns_derive(trace, sizeof *derived, &spill);
    assert_non_null(derived);
    assert_int_equal(spill.arrays[0].is_mapped, trace->spill.arrays[1].is_mapped);
    for (uint32_t event = 0; event < trace->event_count; event++)
        assert_int_equal(derived[event], 0);
    mr_spill_free(&spill);
}

/* What the message must have beside the folder. */
static void assert_refused(const char *dir, size_t count, const char *reason)
{
    mr_spill spill = {0};
    mr_error error = {0};
    char line[1200];
    assert_true(mr_spill_limit(&spill, 1, dir));
    assert_int_equal(mr_spill_reserve(&spill, 0, count, sizeof(uint32_t), &error), MR_ERR_IO);
    mr_error_line(&error, line, sizeof line);
    if (!strstr(line, reason) || strncmp(line, dir, strlen(dir)) != 0 ||
        !strstr(line, "memory.spill_dir") || !strstr(line, "limit"))
        fail_msg("%s", line);
    mr_spill_free(&spill);
}

static void test_no_folder(void **state)
{
    (void)state;
    char path[512];
    assert_refused(mr_scratch_path(&scratch, "none", path), 1 << 20, strerror(ENOENT));
    assert_refused(mr_scratch_write(&scratch, "file", "", path), 1 << 20, strerror(ENOTDIR));
}

static void test_folder_in_memory(void **state)
{
    (void)state;
    if (!is_in_memory("/dev/shm") || access("/dev/shm", W_OK) != 0)
        skip();
    assert_refused("/dev/shm", 1 << 20, "in memory");
}

/* As on a full disk: no file may have more bytes. */
static struct rlimit limit_files(rlim_t bytes)
{
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){.rlim_cur = bytes, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return old;
}

static void test_no_space(void **state)
{
    (void)state;
    const char *dir = folder();
    struct rlimit old = limit_files(5 << 20);
    mr_spill spill = {0};
    mr_error error = {0};
    size_t count = 1 << 20;
    assert_refused(dir, 2 << 20, strerror(EFBIG));
    /* What is there stays. */
    assert_true(mr_spill_limit(&spill, 1, dir));
    assert_int_equal(mr_spill_reserve(&spill, 0, count, sizeof(uint32_t), &error), MR_OK);
    assert_true(spill.arrays[0].is_mapped);
    fill(&spill, 0, 0, count);
    assert_int_equal(mr_spill_reserve(&spill, 0, 2 * count, sizeof(uint32_t), &error), MR_ERR_IO);
    check(&spill, 0, count);
    mr_spill_free(&spill);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

/* ---- traces ---- */

/* A trace in which every table grows with the events: updates, calls, values, line steps. */
static char *every_table(size_t *length)
{
    enum { ROUNDS = 150000, LINE = 160 };
    char *text = malloc((size_t)ROUNDS * LINE);
    assert_non_null(text);
    *length = 0;
    for (int i = 0; i < ROUNDS; i++)
        *length += (size_t)sprintf(text + *length,
                                   "%sA|au(x=%d>%d)|1\nA|mbegin(f%d:x,y)|2\nA|mend(f%d)|2\n"
                                   "# a line that is no event\nB|w(y=%d)|3\n",
                                   i ? "" : "# the first line\n", i, i + 1, i % 7, i % 7, i);
    return text;
}

static mr_trace *read_within(const char *path, uint64_t memory_bytes)
{
    mr_read_options options = {.memory_bytes = memory_bytes, .spill_dir = folder()};
    mr_trace *trace = NULL;
    mr_error error = {0};
    if (mr_trace_read(path, &options, &trace, &error) != MR_OK)
        fail_msg("%s", error.text);
    return trace;
}

static void assert_same(const mr_trace *one, const mr_trace *two)
{
    mr_test_same(one, two, true);
    assert_int_equal(one->update_count, two->update_count);
    assert_memory_equal(one->updates, two->updates, one->update_count * sizeof *one->updates);
    assert_int_equal(one->reach_count, two->reach_count);
    assert_memory_equal(one->reaches, two->reaches, one->reach_count * sizeof *one->reaches);
    assert_int_equal(one->line_step_count, two->line_step_count);
    assert_int_equal(one->stack_count, two->stack_count);
    assert_true(!one->stack == !two->stack);
    if (one->stack)
        assert_memory_equal(one->stack, two->stack, one->event_count * sizeof *one->stack);
}

static void compare(const char *path)
{
    mr_trace *free_one = read_within(path, 0), *limited = read_within(path, 1 << 20);
    assert_false(free_one->spill.arrays[1].is_mapped);
    assert_true(limited->spill.arrays[1].is_mapped);
    assert_true(mr_columns_memory_bytes(limited) < mr_columns_memory_bytes(free_one) / 10);
    assert_same(free_one, limited);
    check_derived(free_one);
    check_derived(limited);
    mr_trace_free(free_one);
    mr_trace_free(limited);
}

/* A text has none. */
static void add_stacks(mr_trace *trace)
{
    static const char frame[] = "main\tmain.c:1:1";
    uint32_t number;
    assert_int_equal(mr_columns_reserve_stacks(trace, trace->event_count, NULL), MR_OK);
    for (uint32_t event = 0; event < trace->event_count; event++)
        trace->stack[event] = event % 2;
    assert_true(mr_names_add(&trace->frames, frame, sizeof frame - 1, &number));
    trace->stacks = mr_calloc(2, sizeof *trace->stacks);
    assert_non_null(trace->stacks);
    trace->stack_count = 2;
}

static void test_same_trace(void **state)
{
    (void)state;
    size_t length;
    char path[512], *text = every_table(&length);
    mr_scratch_write(&scratch, "every.std", text, path);
    free(text);
    compare(path);
    mr_trace *trace = read_within(path, 0);
    add_stacks(trace);
    mr_bytes bytes = mr_test_mrt(trace, 65536);
    char *mrt = mr_test_file(bytes.items, bytes.count);
    compare(mrt);
    unlink(mrt);
    free(mrt);
    free(bytes.items);
    mr_trace_free(trace);
}

/* ---- the program ---- */

/* What the sanitizers hold counts against the limit, too. */
enum { EVENTS = 3000000, LIMIT_MB = IS_SANITIZED ? 96 : 64 };

static bool write_bytes(void *context, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count;
}

/* Files of a trace whose store, 60 MiB, is about as large as the limit. */
static int make_big(void **state)
{
    char path[512];
    make_scratch(state);
    mr_big_shape shape = mr_big_shape_default();
    shape.events = EVENTS;
    FILE *file = fopen(mr_scratch_path(&scratch, "big.std", path), "wb");
    bool written = file && mr_big_trace_write(&shape, write_bytes, file);
    mr_run run;
    if (!written || fclose(file) != 0)
        return -1;
    mr_run_maxrace(&run, &scratch, "convert @/big.std @/big.mrt", NULL, MR_RUN_CAPTURE);
    mr_run_free(&run);
    return run.status;
}

/* Runs maxrace within the limit (0: none) and gives what it held at most, in KiB. */
static long peak_kib(const char *command, const char *flag, const char *trace, int limit_mb,
                     int *status)
{
    const char *program = getenv("MAXRACE");
    char limit[16], path[512], out[512];
    struct rusage usage;
    snprintf(limit, sizeof limit, "%d", limit_mb);
    mr_scratch_path(&scratch, trace, path);
    mr_scratch_path(&scratch, limit_mb ? "limited.txt" : "free.txt", out);
    const char *dir = folder();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
            _exit(125);
#ifdef SANITIZER_OPTIONS
        setenv("ASAN_OPTIONS", SANITIZER_OPTIONS, 0);
#endif
        execl(program ? program : "build/release/maxrace", "maxrace", command, flag,
              "--memory-limit-mb", limit, "--memory-spill-dir", dir, path, (char *)NULL);
        _exit(126);
    }
    assert_int_equal(wait4(child, status, 0, &usage), child);
    return usage.ru_maxrss;
}

/* Of a report, what does not depend on the machine. */
static char *without_summary(const char *name)
{
    char path[512], *text = mr_file_text(mr_scratch_path(&scratch, name, path));
    assert_non_null(text);
    char *summary = strstr(text, "\nSummary");
    if (summary)
        *summary = '\0';
    return text;
}

/* A busy machine may keep the thread that watches from its turn: one of three runs is enough. */
static void check_within(const char *command, const char *flag, const char *trace)
{
    enum { MOST_KIB = LIMIT_MB * 1024 / 10 * 11 };
    int status, other;
    long free_kib = peak_kib(command, flag, trace, 0, &status), kib = 0;
    for (int tries = 0; tries < 3 && (!tries || kib > MOST_KIB); tries++)
        kib = peak_kib(command, flag, trace, LIMIT_MB, &other);
    assert_true(WIFEXITED(status));
    assert_int_equal(status, other);
    char *one = without_summary("free.txt"), *two = without_summary("limited.txt");
    /* What the sanitizers hold is beyond the limit, so that a question may find no room when the machine is busy. */
    for (int tries = 0; IS_SANITIZED && tries < 3 && strcmp(one, two) != 0; tries++) {
        free(two);
        peak_kib(command, flag, trace, LIMIT_MB, &other);
        two = without_summary("limited.txt");
    }
    assert_true(strlen(one) > 500);
    assert_string_equal(one, two);
    free(one);
    free(two);
    print_message("%s %s: %ld KiB, within %d MiB %ld KiB\n", command, trace, free_kib, LIMIT_MB,
                  kib);
    if (!IS_SANITIZED) {
        assert_true(free_kib > MOST_KIB);
        assert_true(kib <= MOST_KIB);
    }
}

static void test_within_the_limit(void **state)
{
    (void)state;
    check_within("info", "--quiet", "big.std");
    if (mr_length_full())
        check_within("info", "--quiet", "big.mrt");
    check_within("predict", "--candidates-far=none", "big.mrt");
}

/* Of a mapped .mrt file each pass keeps a part of the limit only. What the child holds before it runs maxrace counts, too, so more
 * than a tenth is allowed. */
static void test_pages_of_the_file(void **state)
{
    enum { NEAR_MB = 40, MOST_KIB = NEAR_MB * 1024 / 10 * 13 };
    static const char *const relations[] = {"--relation=hb", "--relation=wcp", "--relation=shb"};
    (void)state;
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        long kib = 0;
        int status = 0;
        for (int tries = 0; tries < 3 && (!tries || kib > MOST_KIB); tries++)
            kib = peak_kib("order", relations[i], "big.mrt", NEAR_MB, &status);
        print_message("order %s within %d MiB: %ld KiB\n", relations[i], NEAR_MB, kib);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 5));
        assert_true(IS_SANITIZED || kib <= MOST_KIB);
    }
}

/* A limit that cannot be kept is told. */
static void test_least_limit(void **state)
{
    static const char told[] = "maxrace: memory.limit_mb 20 is less than maxrace itself needs";
    (void)state;
    mr_run run;
    mr_run_maxrace(&run, &scratch, "order --memory-limit-mb 20 examples/bank.std", NULL,
                   MR_RUN_CAPTURE);
    assert_true(strncmp(run.error, told, strlen(told)) == 0);
    mr_run_free(&run);
    mr_run_maxrace(&run, &scratch, "order --memory-limit-mb 32 examples/bank.std", NULL,
                   MR_RUN_CAPTURE);
    assert_string_equal(run.error, "");
    mr_run_free(&run);
}

/* What takes memory in proportion to the trace is left out, and the report says so. */
static void test_no_room_for_far_races(void **state)
{
    (void)state;
    char path[512];
    int status;
    peak_kib("predict", "--candidates-far=all", "big.mrt", LIMIT_MB, &status);
    char *text = mr_file_text(mr_scratch_path(&scratch, "limited.txt", path));
    assert_non_null(text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    assert_non_null(
        strstr(text, "; not complete, ended by memory.limit_mb: not all far races looked for\n"));
    free(text);
}

static void test_full_disk(void **state)
{
    (void)state;
    mr_run run;
    char arguments[512];
    snprintf(arguments, sizeof arguments,
             "info --memory-limit-mb 40 --memory-spill-dir %.200s @/big.mrt", folder());
    struct rlimit old = limit_files(2 << 20);
    mr_run_maxrace(&run, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    if (run.status != 4 || run.out[0] || !strstr(run.error, strerror(EFBIG)) ||
        strchr(run.error, '\n') != strrchr(run.error, '\n'))
        fail_msg("status %d\nout: %s\nerror: %s", run.status, run.out, run.error);
    assert_false(has_files_of_ours(folder()));
    mr_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays_grow, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_expected, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_no_folder, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_folder_in_memory, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_no_space, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_same_trace, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_within_the_limit, make_big, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_pages_of_the_file, make_big, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_least_limit, make_scratch, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_no_room_for_far_races, make_big, mr_scratch_teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, make_big, mr_scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
