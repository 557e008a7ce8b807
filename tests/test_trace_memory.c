/* The reader and info when allocations fail: MR_ERR_MEMORY each time, and nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "formats/read.h"
#include "trace/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Enough events, names and steps that every table grows at least once. */
static char *large_text(void)
{
    char *text = malloc(200000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "A|acq(l)|1\nB|rel(l)|2\n\nA|rel(l)|3\nA|post(s)|4\nB|wait(s)|5\n");
    for (int i = 0; i < 1500; i++) {
        at += sprintf(at, "T%d|w(v%d=%d)|%d\n", i % 90, i, i, i);
        if (i % 50 == 0)
            at += sprintf(at, "#@var v%d name %d\n", i, i);
        if (i % 40 == 0)
            at += sprintf(at, "T%d|au(u=%d>%d)|1\nT%d|mbegin(m%d:a%d,b)|1\nT%d|racq(k%d)|1\n",
                          i % 90, i, i + 40, i % 90, i, i, i % 90, i);
        if (i % 300 == 0)
            at += sprintf(at, "T%d|rel(k)|1\n", i % 90); /* to repair */
    }
    return text;
}

typedef mr_status (*reading)(const void *input, mr_trace **trace, mr_error *error);

static mr_status read_from_text(const void *input, mr_trace **trace, mr_error *error)
{
    mr_read_options options = {.repair = true};
    return mr_trace_read_text("t", input, strlen(input), &options, trace, error);
}

static mr_status read_from_file(const void *input, mr_trace **trace, mr_error *error)
{
    mr_read_options options = {.repair = true};
    return mr_trace_read(input, &options, trace, error);
}

/* Fails the n-th and all later allocations, for every n until none is missed. */
static void sweep(reading read, const void *input)
{
    mr_status status = MR_ERR_MEMORY;
    mr_error error;
    uint64_t n = 0;
    while (status) {
        mr_trace *trace;
        error.text[0] = '\0';
        mr_memory_fail_after(++n);
        status = read(input, &trace, &error);
        mr_memory_fail_after(0);
        assert_int_equal(trace == NULL, status != MR_OK);
        if (status) {
            assert_int_equal(status, MR_ERR_MEMORY);
            assert_int_equal(error.status, MR_ERR_MEMORY);
            assert_non_null(strstr(error.text, "out of memory"));
        } else {
            assert_int_equal(trace->dropped_count, 6);
        }
        mr_trace_free(trace);
        assert_true(n < 10000);
    }
    assert_true(n > 40);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    char *text = large_text();
    size_t length = strlen(text);
    sweep(read_from_text, text);

    uLongf bound = compressBound(length) + 100;
    unsigned char *packed = malloc(bound);
    assert_non_null(packed);
    z_stream stream = {.next_in = (z_const Bytef *)text,
                       .avail_in = (uInt)length,
                       .next_out = packed,
                       .avail_out = (uInt)bound};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    char *path = mr_test_file(packed, stream.total_out);
    deflateEnd(&stream);
    sweep(read_from_file, path);
    unlink(path);
    free(path);

    size_t count = ZSTD_compress(packed, bound, text, length, 3);
    assert_false(ZSTD_isError(count));
    path = mr_test_file(packed, count);
    sweep(read_from_file, path);
    unlink(path);
    free(path);
    free(packed);
    free(text);
}

static void test_info_failing_allocations(void **state)
{
    (void)state;
    char *text = large_text();
    mr_trace *trace = mr_test_read(text, true);
    mr_trace_info info;
    mr_error error;
    uint64_t n = 0;
    do {
        mr_memory_fail_after(++n);
        if (mr_trace_info_compute(trace, &info, &error))
            assert_int_equal(error.status, MR_ERR_MEMORY);
        else
            error.status = MR_OK;
        mr_memory_fail_after(0);
    } while (error.status);
    assert_true(n > 4);
    mr_trace_free(trace);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_info_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
