/* convert from end to end: formats by name, round trips, messages, and files that appear whole or
 * not at all; an .mrt file wherever a command takes a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_scratch scratch;

static const char commented[] = "# a comment\n\nT1|acq(l)|1\n#@var x the balance\n#@loc 2 a.c:2\n"
                                "T1|w(x=1)|2\n\nT1|rel(l)|3\n# another\nT2|acq(l)|1\nT2|rel(l)|3\n"
                                "T2|r(x=1)|4\nT2|au(u=1>2)|5\nT1|mbegin(m:x,l)|6\nT1|mend(m)|\n";
/* The same as convert writes it. */
static const char plain[] = "#@loc 2 a.c:2\n#@var x the balance\n"
                            "T1|acq(l)|1\nT1|w(x=1)|2\nT1|rel(l)|3\nT2|acq(l)|1\nT2|rel(l)|3\n"
                            "T2|r(x=1)|4\nT2|au(u=1>2)|5\nT1|mbegin(m:x,l)|6\nT1|mend(m)|\n";

static int setup(void **state)
{
    char path[512];
    mr_scratch_setup(state, &scratch);
    mr_scratch_write(&scratch, "in.std", commented, path);
    mr_scratch_write(&scratch, "race.std", "T1|w(x=1)|10\n\nT2|r(x=1)|20\n", path);
    mr_scratch_write(&scratch, "broken.std", "T1|w(x=1)|10\nT2|rel(l)|15\nT2|r(x=1)|20\n", path);
    mr_scratch_write(
        &scratch, "strange.std",
        "\xEF\xBB\xBF\xEF\xBB\xBFT|w(a[i=3]=5)|end\r\r\n#@loc z t\r\r\nT|r(a[i=3]=5)|z\n"
        "T|r(n=-9223372036854775808)|a|b c\n",
        path);
    return 0;
}

/* Runs maxrace, which must end with the status; returns standard output, owned by the caller. */
static char *run(const char *arguments, int status)
{
    mr_run done;
    mr_run_maxrace(&done, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    if (done.status != status)
        fail_msg("%s: exit status %d: %s", arguments, done.status, done.error);
    char *out = done.out;
    done.out = NULL;
    mr_run_free(&done);
    return out;
}

static void expect_output(const char *arguments, const char *expected)
{
    char *out = run(arguments, 0);
    assert_string_equal(out, expected);
    free(out);
}

static void test_every_format(void **state)
{
    (void)state;
    static const char *const names[] = {"a.mrt", "a.std", "a.std.gz", "a.zst", "a"};
    expect_output("convert @/in.std -", plain);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            char arguments[128];
            snprintf(arguments, sizeof arguments, "convert @/in.std @/1%s", names[i]);
            expect_output(arguments, "");
            snprintf(arguments, sizeof arguments, "convert @/1%s @/2%s", names[i], names[j]);
            expect_output(arguments, "");
            snprintf(arguments, sizeof arguments, "convert @/2%s -", names[j]);
            expect_output(arguments, plain);
        }
    }
}

/* The kinds of the files, by their first bytes. */
static void test_names_choose(void **state)
{
    (void)state;
    static const struct {
        const char *name, *first;
    } rows[] = {
        {"k.mrt", "\x89MRT"}, {"k.gz", "\x1F\x8B"}, {"k.zst", "\x28\xB5\x2F\xFD"},
        {"k.std", "#@loc"},   {"mrt", "#@loc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char arguments[128], path[512], bytes[8] = "";
        snprintf(arguments, sizeof arguments, "convert @/in.std @/%s", rows[i].name);
        expect_output(arguments, "");
        FILE *file = fopen(mr_scratch_path(&scratch, rows[i].name, path), "rb");
        assert_non_null(file);
        assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
        fclose(file);
        assert_memory_equal(bytes, rows[i].first, strlen(rows[i].first));
    }
}

static void test_strange_names(void **state)
{
    (void)state;
    static const char expected[] = "#@loc z t\r\r\n"
                                   "\xEF\xBB\xBFT|w(a[i=3]=5)|end\r\r\nT|r(a[i=3]=5)|z\n"
                                   "T|r(n=-9223372036854775808)|a|b c\n";
    expect_output("convert @/strange.std @/s.mrt", "");
    expect_output("convert @/s.mrt @/s.std", "");
    expect_output("convert @/s.std -", expected);
}

/* The part after the line with the name of the file. */
static const char *after_name(const char *out)
{
    const char *end = strchr(out, '\n');
    assert_non_null(end);
    return end;
}

static void test_other_commands_take_it(void **state)
{
    (void)state;
    expect_output("convert @/in.std @/o.mrt", "");
    char *one = run("info @/in.std", 0), *two = run("info @/o.mrt", 0);
    assert_non_null(strstr(one, "lines 3 to 8"));
    assert_string_equal(after_name(one), after_name(two));
    free(one);
    free(two);
    expect_output("convert @/race.std @/race.mrt", "");
    one = run("predict @/race.std", 1);
    two = run("predict @/race.mrt", 1);
    const char *end = strstr(one, "Summary");
    assert_non_null(end);
    assert_memory_equal(after_name(one), after_name(two), (size_t)(end - after_name(one)));
    assert_non_null(strstr(two, "read  at 20 by T2, event 1, line 3"));
    free(one);
    free(two);
}

/* Files of the folder. */
static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(scratch.dir);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void test_whole_or_not_at_all(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"convert @/broken.std @/new.mrt", 3, NULL,
         "@/broken.std:2: T2|rel(l)|15: releases a lock that no thread holds; fix the recorder, or "
         "drop the event with --repair\n"},
        {"convert @/broken.std @/race.mrt", 3, NULL,
         "@/broken.std:2: T2|rel(l)|15: releases a lock that no thread holds; fix the recorder, or "
         "drop the event with --repair\n"},
        {"convert @/no.std @/new.mrt", 4, NULL,
         "@/no.std: cannot open: No such file or directory\n"},
        {"convert @/race.std @/none/new.mrt", 4, NULL,
         "@/none/new.mrt: cannot write: No such file or directory\n"},
        {"convert @/race.std @/new.mrt.gz", 2, NULL,
         "maxrace: .mrt files are not packed; write the .mrt file, or a packed text\n"},
        {"convert @/race.std", 2, NULL,
         "maxrace: missing operand; usage: maxrace convert [FLAGS] IN OUT\n"},
        {"convert @/race.std /dev/full", 4, NULL,
         "/dev/full: cannot write: No space left on device\n"},
        {"convert @/race.mrt -", 0, "T1|w(x=1)|10\nT2|r(x=1)|20\n", NULL},
    };
    int before = count_files();
    MR_RUN_ROWS(&scratch, rows);
    assert_int_equal(count_files(), before);
}

/* The new file takes the place of the old one when all of that was read. */
static void test_onto_itself(void **state)
{
    (void)state;
    int before = count_files();
    expect_output("convert @/race.mrt @/race.mrt", "");
    expect_output("convert @/race.mrt @/race.mrt", "");
    expect_output("convert @/race.std @/race.std", "");
    expect_output("convert @/race.mrt -", "T1|w(x=1)|10\nT2|r(x=1)|20\n");
    expect_output("convert @/race.std -", "T1|w(x=1)|10\nT2|r(x=1)|20\n");
    assert_int_equal(count_files(), before);
}

static void test_repair(void **state)
{
    (void)state;
    mr_run done;
    free(run("convert --repair @/broken.std @/repaired.mrt", 0));
    mr_run_maxrace(&done, &scratch, "info @/repaired.mrt", NULL, MR_RUN_CAPTURE);
    assert_int_equal(done.status, 0);
    /* What repair dropped is known also to who reads the new file. */
    assert_non_null(strstr(done.error, "broken.std:2: T2|rel(l)|15"));
    assert_non_null(strstr(done.out, "lines dropped by repair     1"));
    mr_run_free(&done);
    expect_output("convert @/repaired.mrt @/repaired.std", "");
    expect_output("convert @/repaired.std -", "T1|w(x=1)|10\nT2|r(x=1)|20\n");
}

static void test_standard_input(void **state)
{
    (void)state;
    mr_run done;
    mr_run_maxrace(&done, &scratch, "convert - @/stdin.mrt", commented, MR_RUN_CAPTURE);
    assert_int_equal(done.status, 0);
    mr_run_free(&done);
    expect_output("convert @/stdin.mrt -", plain);
    mr_run_maxrace(&done, &scratch, "convert @/stdin.mrt -", NULL, MR_RUN_FULL);
    assert_int_equal(done.status, 4);
    mr_run_free(&done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_names_choose),
        cmocka_unit_test(test_strange_names),
        cmocka_unit_test(test_other_commands_take_it),
        cmocka_unit_test(test_whole_or_not_at_all),
        cmocka_unit_test(test_onto_itself),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_standard_input),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
