/* exclude from end to end: its flags, formats, messages, and files that appear whole or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD(events, locations, calls, left)                                                       \
    "maxrace: " events " of " locations " went into " calls "; OUT has " left "\n"

static mr_scratch scratch;

static int setup(void **state)
{
    static const mr_scratch_file files[] = {
        {"in.std", "#@loc 2 lib/a.c:2\nA|w(x=1)|1\nA|acq(l)|2\nA|w(y=1)|2\nA|rel(l)|2\n"
                   "B|r(x=1)|3\n"},
        {"names", "2\nnowhere\n"},
        {"empty", ""},
        {"broken.std", "A|w(x=1)|1\nA|rel(l)|2\n"},
    };
    mr_scratch_setup(state, &scratch);
    mr_scratch_write_files(&scratch, files, sizeof files / sizeof files[0]);
    return 0;
}

static const char rest[] = "A|w(x=1)|1\nA|mbegin(x1:y,l)|2\nA|mend(x1)|2\nB|r(x=1)|3\n";

static void test_rows(void **state)
{
    (void)state;
    static const char told[] = TOLD("3 events", "1 location", "1 call", "4 events");
    const mr_run_row rows[] = {
        {"exclude --pattern lib/* @/in.std -", 0, rest, told},
        {"exclude --pattern=2 @/in.std -", 0, rest, told},
        {"exclude --locations @/names @/in.std -", 0, rest, told},
        {"exclude --whole-runs --locations @/names @/in.std -", 0, rest, told},
        {"exclude -q --locations @/names @/in.std -", 0, rest, NULL},
        {"exclude --locations @/empty @/in.std -", 0, "A|w(y=1)|2\n",
         TOLD("0 events", "0 locations", "0 calls", "5 events")},
        {"exclude --random 0 @/in.std -", 0, "A|w(y=1)|2\n",
         TOLD("0 events", "0 locations", "0 calls", "5 events")},
        {"exclude --random 9 --seed 3 @/in.std -", 0, "A|mbegin(x1:x,y,l)|1\nA|mend(x1)|2\n",
         TOLD("5 events", "3 locations", "2 calls", "4 events")},
        {"exclude --pattern 2 --repair @/broken.std -", 0, "A|w(x=1)|1\n",
         "maxrace: repair dropped 1 event or line; the first: @/broken.std:2: A|rel(l)|2: releases "
         "a lock that no thread holds\nmaxrace: --pattern: the pattern '2' matches no place and no "
         "function of the trace\n" TOLD("0 events", "0 locations", "0 calls", "1 event")},
    };
    MR_RUN_ROWS(&scratch, rows);
}

static void test_errors(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"exclude @/in.std -", 2, NULL,
         "maxrace: which code? give --locations, --pattern or --random\n"},
        {"exclude --random 1 --pattern 2 @/in.std -", 2, NULL,
         "maxrace: give only one of --locations, --pattern and --random\n"},
        {"exclude --pattern 2 --seed 1 @/in.std -", 2, NULL, "maxrace: --seed is for --random\n"},
        {"exclude --random x @/in.std -", 2, NULL,
         "maxrace: --random 'x' is no number from 0 to 4294967294\n"},
        {"exclude --random -1 @/in.std -", 2, NULL,
         "maxrace: --random '-1' is no number from 0 to 4294967294\n"},
        {"exclude --random 4294967295 @/in.std -", 2, NULL,
         "maxrace: --random '4294967295' is no number from 0 to 4294967294\n"},
        {"exclude --random 1 --seed 18446744073709551616 @/in.std -", 2, NULL,
         "maxrace: --seed '18446744073709551616' is no number from 0 to 18446744073709551615\n"},
        {"exclude --random", 2, NULL, "maxrace: '--random' needs a value\n"},
        {"exclude --randon 1 @/in.std -", 2, NULL,
         "maxrace: unknown flag '--randon' (did you mean '--random'?)\n"},
        {"predict --random 1 @/in.std", 2, NULL, "maxrace: unknown flag '--random'\n"},
        {"exclude --pattern 2 @/in.std", 2, NULL,
         "maxrace: missing operand; usage: maxrace exclude [FLAGS] IN OUT\n"},
        {"exclude --pattern 2 @/in.std @/a.mrt.gz", 2, NULL,
         "maxrace: .mrt files are not packed; write the .mrt file, or a packed text\n"},
        {"exclude --locations @/none @/in.std -", 4, NULL,
         "@/none: cannot read the list of locations: No such file or directory\n"},
        {"exclude --locations @ @/in.std -", 4, NULL,
         "@: cannot read the list of locations: Is a directory\n"},
        {"exclude --pattern 2 @/broken.std @/out", 3, NULL,
         "@/broken.std:2: A|rel(l)|2: releases a lock that no thread holds; fix the recorder, or "
         "drop the event with --repair\n"},
    };
    char path[512];
    MR_RUN_ROWS(&scratch, rows);
    assert_null(mr_file_text(mr_scratch_path(&scratch, "out", path)));
}

/* Every format, and back to the same text. */
static void test_formats(void **state)
{
    (void)state;
    static const char *const names[] = {"a.std", "a.mrt", "a.gz", "a.zst"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char make[128], back[128];
        snprintf(make, sizeof make, "exclude -q --pattern 2 @/in.std @/%s", names[i]);
        snprintf(back, sizeof back, "convert @/%s -", names[i]);
        const mr_run_row rows[] = {{make, 0, NULL, NULL}, {back, 0, rest, NULL}};
        mr_run_rows(&scratch, rows, 2);
    }
}

static void test_same_seed(void **state)
{
    (void)state;
    mr_run one, other;
    static const char *const arguments = "exclude -q --random 2 --seed 5 @/in.std -";
    mr_run_maxrace(&one, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    mr_run_maxrace(&other, &scratch, arguments, NULL, MR_RUN_CAPTURE);
    assert_string_equal(one.out, other.out);
    mr_run_free(&one);
    mr_run_free(&other);
}

static void test_full_device(void **state)
{
    (void)state;
    mr_run run;
    mr_run_maxrace(&run, &scratch, "exclude --pattern 2 @/in.std -", NULL, MR_RUN_FULL);
    assert_int_equal(run.status, 4);
    assert_non_null(strstr(run.error, "No space left"));
    assert_null(strstr(run.error, "OUT has"));
    mr_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_formats),     cmocka_unit_test(test_same_seed),
        cmocka_unit_test(test_full_device),
    };
    return cmocka_run_group_tests_name("cli_exclude", tests, setup, mr_scratch_teardown);
}
