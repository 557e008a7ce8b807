/*
 * One broken trace per way to be wrong: tests/traces/bad/NAME.std, beside its valid twin
 * tests/traces/good/NAME.std. A broken trace begins with what is expected of it:
 *
 *   # expect LINE: message
 *   # repair N kept, N dropped
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/read.h"
#include "support/trace_reading.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_line(FILE *file, const char *prefix, char *rest, size_t size_bytes)
{
    char line[MR_TEST_LINE_SIZE];
    assert_non_null(fgets(line, sizeof line, file));
    line[strcspn(line, "\n")] = '\0';
    assert_memory_equal(line, prefix, strlen(prefix));
    snprintf(rest, size_bytes, "%s", line + strlen(prefix));
}

static void check_refused(const char *path, const char *expected)
{
    mr_trace *trace;
    mr_error error;
    char message[MR_TEST_LINE_SIZE], line[MR_TEST_LINE_SIZE];
    assert_int_equal(mr_trace_read(path, NULL, &trace, &error), MR_ERR_TRACE);
    assert_null(trace);
    snprintf(message, sizeof message, "%s:%s", path, expected);
    mr_error_line(&error, line, sizeof line);
    assert_string_equal(line, message);
}

/* With repair: as many events as expected, and the same place and reason are remembered. */
static void check_repaired(const char *path, const char *expected, const char *message)
{
    mr_read_options options = {.repair = true};
    mr_trace *trace;
    mr_error error;
    char counts[64];
    assert_int_equal(mr_trace_read(path, &options, &trace, &error), MR_OK);
    snprintf(counts, sizeof counts, "%llu kept, %d dropped", (unsigned long long)trace->event_count,
             (int)trace->dropped_count);
    assert_string_equal(counts, expected);
    assert_int_equal(trace->first_dropped.line, strtol(message, NULL, 10));
    const char *text = strchr(message, ' ') + 1;
    assert_memory_equal(trace->first_dropped.text, text, strlen(trace->first_dropped.text));
    mr_trace_free(trace);
}

static void check_one(const char *name)
{
    char path[300], expected[MR_TEST_LINE_SIZE - 300], counts[64];
    mr_trace *trace;
    mr_error error;
    snprintf(path, sizeof path, "tests/traces/bad/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    read_line(file, "# expect ", expected, sizeof expected);
    read_line(file, "# repair ", counts, sizeof counts);
    fclose(file);
    check_refused(path, expected);
    check_repaired(path, counts, expected);
    snprintf(path, sizeof path, "tests/traces/good/%s", name);
    assert_int_equal(mr_trace_read(path, NULL, &trace, &error), MR_OK);
    assert_true(trace->event_count > 0);
    mr_trace_free(trace);
}

static void test_bad_traces(void **state)
{
    (void)state;
    DIR *folder = opendir("tests/traces/bad");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        print_message("%s\n", entry->d_name);
        check_one(entry->d_name);
        count++;
    }
    closedir(folder);
    assert_int_equal(count, 92); /* none got lost */
}

/* Messages stay one line of bounded length, whatever the file contains. */
static void test_messages_are_clean(void **state)
{
    (void)state;
    char text[3000], refusal[MR_TEST_LINE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_string_equal(
        mr_test_refusal("A|w(x=\033[31m)|1", refusal),
        "t:1: the value '?[31m' after the last '=' is not a decimal number; when '=' "
        "belongs to the variable's name, rename the variable");
    mr_test_refusal(text, refusal);
    assert_true(strlen(refusal) < 250);
    assert_non_null(strstr(refusal, "xxx...'; expected thread|op(operand)|location"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_traces),
        cmocka_unit_test(test_messages_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
