#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/read.h"
#include "trace_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mr_trace *mr_test_read(const char *text, bool repair)
{
    mr_read_options options = {.repair = repair};
    mr_trace *trace;
    mr_error error = {0};
    if (mr_trace_read_text("t", text, strlen(text), &options, &trace, &error)) {
        char line[MR_TEST_LINE_SIZE];
        mr_error_line(&error, line, sizeof line);
        fail_msg("%s", line);
    }
    return trace;
}

const char *mr_test_refusal(const char *text, char buffer[MR_TEST_LINE_SIZE])
{
    mr_trace *trace;
    mr_error error = {0};
    mr_status status = mr_trace_read_text("t", text, strlen(text), NULL, &trace, &error);
    strcpy(buffer, "OK");
    if (status) {
        assert_int_equal(status, error.status);
        assert_null(trace);
        mr_error_line(&error, buffer, MR_TEST_LINE_SIZE);
    }
    mr_trace_free(trace);
    return buffer;
}

const char *mr_test_event(const mr_trace *trace, uint32_t event, char buffer[MR_TEST_LINE_SIZE])
{
    char op[MR_TEST_LINE_SIZE / 2];
    mr_trace_print_op(trace, event, false, op, sizeof op);
    snprintf(buffer, MR_TEST_LINE_SIZE, "%s|%s|%s", trace->threads.items[trace->thread[event]].text,
             op, trace->locations.items[trace->location[event]].text);
    return buffer;
}

char *mr_test_file(const void *bytes, size_t count)
{
    const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char *path = malloc(strlen(folder) + 32);
    assert_non_null(path);
    sprintf(path, "%s/maxrace-test-XXXXXX", folder);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), (ssize_t)count);
    close(file);
    return path;
}
