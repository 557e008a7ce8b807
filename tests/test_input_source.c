/* Inputs of a hunt as files: where they come from, how a program gets them, what a later session knows;
 * and the file of comparisons, whole and damaged. */
/* The name is the system's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/inputs/input_source.h"
#include "hunt/inputs/operands.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[256];

static int make_scratch(void **state)
{
    const char *place = getenv("TMPDIR");
    (void)state;
    snprintf(scratch, sizeof scratch, "%.200s/maxrace-inputs-XXXXXX", place ? place : "/tmp");
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int drop_scratch(void **state)
{
    (void)state;
    return nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    assert_int_equal(mkdir(path, 0777), 0);
}

static mr_input_source *open_source(const mr_input_options *options, const char *hunt,
                                    const char *const *arguments)
{
    char path[512];
    mr_input_source *source;
    mr_error error = {0};
    snprintf(path, sizeof path, "%s/%s", scratch, hunt);
    if (mr_input_source_open(options, path, arguments, 1, &source, &error) != MR_OK)
        fail_msg("%s", error.text);
    return source;
}

/* Takes the next input, and says that it covered this. */
static uint32_t take(mr_input_source *source, uint64_t key, bool *is_new)
{
    uint32_t input;
    bool is_try;
    mr_error error;
    assert_int_equal(mr_input_source_next(source, &input, &is_try, &error), MR_OK);
    assert_true(is_try);
    const mr_input_seen seen = {.keys = &key, .key_count = 1};
    assert_int_equal(mr_input_source_told(source, input, &seen, is_new, &error), MR_OK);
    return input;
}

static void expect_bytes(const mr_input_source *source, uint32_t input, const char *expected)
{
    mr_input_place place;
    mr_error error;
    char bytes[64];
    assert_int_equal(mr_input_place_make(source, input, &place, &error), MR_OK);
    FILE *file = fopen(place.path, "rb");
    assert_non_null(file);
    bytes[fread(bytes, 1, 63, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, expected);
    mr_input_place_free(&place);
}

static void test_places(void **state)
{
    (void)state;
    static const char *const none[] = {"./p", "-v", NULL};
    static const char *const file[] = {"./p", "--in=@@", "-v", NULL};
    static const char *const lines[] = {"./p", "@@", "-v", NULL};
    char folder[512], arguments_file[512];
    make_folder("in");
    make_folder("hunt");
    write_file("in/b", "two", 3);
    write_file("in/a", "one", 3);
    write_file("in/.hidden", "no", 2);
    write_file("args", "--fast\nx y\n", 11);
    snprintf(folder, sizeof folder, "%s/in", scratch);
    snprintf(arguments_file, sizeof arguments_file, "%s/args", scratch);
    mr_input_place place;
    mr_error error;
    bool is_new;

    mr_input_source *source = open_source(&(mr_input_options){.folder = folder}, "hunt", none);
    uint32_t first = take(source, 2, &is_new), second = take(source, 2, &is_new);
    assert_false(is_new);
    assert_int_equal(first, 0);
    expect_bytes(source, first, "one"); /* by name */
    expect_bytes(source, second, "two");
    assert_int_equal(mr_input_place_make(source, first, &place, &error), MR_OK);
    assert_true(place.is_stdin && place.arguments[1] == none[1] && !place.arguments[2]);
    mr_input_place_free(&place);
    mr_input_source_close(source);

    make_folder("hunt2");
    source = open_source(&(mr_input_options){.folder = folder}, "hunt2", file);
    first = take(source, 2, &is_new);
    assert_int_equal(mr_input_place_make(source, first, &place, &error), MR_OK);
    assert_true(!place.is_stdin && strncmp(place.arguments[1], "--in=/", 6) == 0);
    assert_string_equal(place.arguments[1] + 5, place.path);
    assert_string_equal(place.arguments[2], "-v");
    assert_null(place.arguments[3]);
    mr_input_place_free(&place);
    mr_input_source_close(source);

    make_folder("hunt3");
    source = open_source(&(mr_input_options){.arguments_file = arguments_file}, "hunt3", lines);
    first = take(source, 2, &is_new);
    assert_int_equal(mr_input_place_make(source, first, &place, &error), MR_OK);
    assert_string_equal(place.arguments[1], "--fast");
    assert_string_equal(place.arguments[2], "x y");
    assert_string_equal(place.arguments[3], "-v");
    assert_null(place.arguments[4]);
    mr_input_place_free(&place);
    mr_input_source_close(source);
}

static void test_generator(void **state)
{
    (void)state;
    static const char *const arguments[] = {"./p", NULL};
    mr_input_options options = {.generator = "printf 'n%d' $MAXRACE_SEED", .generated = 3};
    bool is_new;
    make_folder("hunt4");
    mr_input_source *source = open_source(&options, "hunt4", arguments);
    for (uint64_t i = 1; i <= 3; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "n%d", (int)i);
        expect_bytes(source, take(source, 2 * i, &is_new), expected);
        assert_true(is_new);
    }
    mr_input_source_close(source);
    char path[512];
    mr_error error;
    make_folder("hunt5");
    snprintf(path, sizeof path, "%s/hunt5", scratch);
    options.generator = "exit 3";
    assert_int_equal(mr_input_source_open(&options, path, arguments, 1, &source, &error),
                     MR_ERR_IO);
    assert_non_null(strstr(error.text, "status 3"));
    mr_input_source_close(source);
    options = (mr_input_options){.folder = "/nowhere/at/all"};
    assert_int_equal(mr_input_source_open(&options, path, arguments, 1, &source, &error),
                     MR_ERR_IO);
    mr_input_source_close(source);
}

/* A later session tries the inputs that an earlier one has kept, under their numbers. */
static void test_resume(void **state)
{
    (void)state;
    static const char *const arguments[] = {"./p", NULL};
    mr_input_options options = {.generator = "printf 'm%d' $MAXRACE_SEED", .generated = 3};
    mr_error error;
    bool is_new;
    make_folder("hunt6");
    mr_input_source *source = open_source(&options, "hunt6", arguments);
    uint32_t one = take(source, 2, &is_new), two = take(source, 2, &is_new);
    mr_input_source_drop(source, two);
    uint32_t three = take(source, 8, &is_new);
    assert_true(is_new);
    assert_int_equal(mr_input_source_note(source, 0, one, &error), MR_OK);
    assert_int_equal(mr_input_source_note(source, 1, three, &error), MR_OK);
    const mr_run_end end = {.is_there = true, .exit_status = 7};
    assert_null(mr_input_source_reference(source, three));
    assert_true(mr_input_source_refer(source, three, &end));
    assert_int_equal(mr_input_source_reference(source, three)->exit_status, 7);
    assert_int_equal(mr_input_source_kept(source), 2);
    mr_input_source_close(source);

    source = open_source(&options, "hunt6", arguments);
    assert_int_equal(mr_input_source_of(source, 0), one);
    assert_int_equal(mr_input_source_of(source, 1), three);
    assert_int_equal(mr_input_source_of(source, 2), MR_NO_SOURCE_INPUT);
    assert_int_equal(take(source, 2, &is_new), one);
    assert_int_equal(take(source, 8, &is_new), three);
    expect_bytes(source, three, "m3");
    uint32_t again = take(source, 16, &is_new);
    assert_true(again > three); /* a new number: its file was dropped */
    expect_bytes(source, again, "m2");
    mr_input_source_close(source);
}

static void test_operands(void **state)
{
    (void)state;
    mr_operand rooms[5] = {
        {.place = 5, .kind = MR_OPERAND_CONSTANT, .bytes = 4, .a = 3, .b = 9},
        {.place = 6, .thread = 1, .kind = MR_OPERAND_TEXT, .bytes = 3, .other = 4, .a = 3, .b = 4},
    };
    struct {
        mr_operands_header header;
        mr_operand rooms[4];
    } file = {.header = {.magic = MR_OPERANDS_MAGIC, .version = MR_OPERANDS_VERSION, .count = 4}};
    mr_operands operands;
    mr_error error;
    char path[512];
    snprintf(path, sizeof path, "%s/operands", scratch);
    memcpy(&rooms[2], "abc", 3);
    memcpy(&rooms[3], "abcd", 4);
    memcpy(file.rooms, rooms, sizeof file.rooms);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_OK); /* not there */
    assert_int_equal(operands.count, 0);
    write_file("operands", &file, sizeof file);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_OK);
    assert_int_equal(operands.count, 2);
    assert_int_equal(operands.items[0].numbers[1], 9);
    assert_memory_equal(operands.items[1].texts[1], "abcd", 4);
    assert_false(operands.is_cut);
    mr_operands_free(&operands);
    assert_int_equal(mr_operands_read(path, 1, &operands, &error), MR_OK);
    assert_int_equal(operands.count, 1);
    assert_true(operands.is_cut);
    mr_operands_free(&operands);
    write_file("operands", &file, sizeof file - 1);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_ERR_IO);
    file.rooms[0].bytes = 9;
    write_file("operands", &file, sizeof file);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_ERR_IO);
    file.rooms[0].bytes = 4;
    file.header.count = 3; /* a text without all of its room */
    write_file("operands", &file, sizeof file);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_ERR_IO);
    file.header.magic[0] = 'x';
    write_file("operands", &file, sizeof file);
    assert_int_equal(mr_operands_read(path, 10, &operands, &error), MR_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_generator),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_operands),
    };
    return cmocka_run_group_tests(tests, make_scratch, drop_scratch);
}
