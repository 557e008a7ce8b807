/*
 * Streams of text against mr_trace_read: the same events, names, lines, drops and errors, for every
 * size of block, with a parser thread and without one; packed, damaged, from pipes; closed early;
 * without memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "base/progress.h"
#include "formats/read.h"
#include "formats/text/text_stream.h"
#include "support/length.h"
#include "support/random.h"
#include "trace/stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Which threads there are beside the caller's: one that parses, one that reads ahead. */
enum { IN_CALLER = 1, AHEAD = 2, WAYS = 4, AHEAD_BYTES = 509 };

static mr_status open_tuned(const char *path, const mr_read_options *options, uint32_t block_events,
                            int way, mr_stream **stream, mr_error *error)
{
    mr_text_stream_tuning tuning = {.block_events = block_events,
                                    .in_caller = way & IN_CALLER,
                                    .ahead_bytes = way & AHEAD ? AHEAD_BYTES : 0};
    mr_input *input;
    *stream = NULL;
    mr_status status = mr_input_open(path, &input, error);
    return status ? status : mr_text_stream_open(input, path, options, &tuning, stream, error);
}

static void check_names(const mr_names *names, const mr_names *expected)
{
    assert_int_equal(names->count, expected->count);
    for (uint32_t i = 0; i < names->count; i++) {
        assert_string_equal(names->items[i].text, expected->items[i].text);
        assert_string_equal(mr_names_display(names, i), mr_names_display(expected, i));
    }
}

static void check_dictionary(const mr_trace *dictionary, const mr_trace *trace)
{
    assert_null(dictionary->op);
    assert_null(dictionary->values);
    assert_string_equal(dictionary->path, trace->path);
    assert_int_equal(dictionary->event_count, trace->event_count);
    assert_memory_equal(dictionary->op_counts, trace->op_counts, sizeof trace->op_counts);
    check_names(&dictionary->threads, &trace->threads);
    check_names(&dictionary->variables, &trace->variables);
    check_names(&dictionary->locks, &trace->locks);
    check_names(&dictionary->locations, &trace->locations);
    check_names(&dictionary->calls, &trace->calls);
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (mr_trace_line(dictionary, event) != mr_trace_line(trace, event))
            fail_msg("event %u has not the line that it has in the trace", (unsigned)event);
    assert_int_equal(dictionary->dropped_count, trace->dropped_count);
    assert_string_equal(dictionary->first_dropped.text, trace->first_dropped.text);
    assert_int_equal(dictionary->first_dropped.line, trace->first_dropped.line);
}

/* An assertion for each value of each event would take most of the time of this test. */
static bool is_event(const mr_events *events, uint32_t i, const mr_trace *trace)
{
    uint32_t event = events->first + i, operand = events->operand[i];
    mr_operand_kind kind = mr_op_operand_kind((mr_op)events->op[i]);
    return events->op[i] == trace->op[event] && events->thread[i] == trace->thread[event] &&
           operand == trace->operand[event] && events->location[i] == trace->location[event] &&
           events->thread[i] < events->thread_count &&
           events->location[i] < events->location_count &&
           (kind != MR_OPERAND_VARIABLE || operand < events->variable_count) &&
           (kind != MR_OPERAND_LOCK || operand < events->lock_count) &&
           (kind != MR_OPERAND_THREAD || operand < events->thread_count);
}

static void check_events(const mr_events *events, const mr_trace *trace)
{
    assert_true(events->first + events->count <= trace->event_count);
    for (uint32_t i = 0; i < events->count; i++)
        if (!is_event(events, i, trace))
            fail_msg("event %u is not that of the trace", (unsigned)(events->first + i));
}

/* The stream gives what is in `trace`, then `expected` (MR_OK: the end); closes it. */
static void check_stream(mr_stream *stream, const mr_trace *trace, const mr_error *expected)
{
    mr_events events;
    mr_error error = {0};
    mr_status status;
    uint32_t given = 0;
    assert_null(mr_stream_outlook(stream));
    while (!(status = mr_stream_next(stream, &events, &error)) && events.count) {
        assert_int_equal(events.first, given);
        check_events(&events, trace);
        given += events.count;
    }
    assert_int_equal(given, trace->event_count);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(status, expected->status);
        assert_int_equal(events.count, 0);
        if (status) {
            assert_string_equal(error.text, expected->text);
            assert_string_equal(error.file, expected->file);
            assert_int_equal(error.line, expected->line);
            error = (mr_error){0};
        }
        status = mr_stream_next(stream, &events, &error);
    }
    check_dictionary(mr_stream_dictionary(stream), trace);
    mr_stream_close(stream);
}

static const uint32_t block_sizes[] = {1, 2, 3, 7, 64, 0};

/* The file in each size of block, with and without repair and thread; the number of errors. */
static int check_file(const char *path, size_t most_sizes)
{
    int errors = 0;
    for (int repair = 0; repair < 2; repair++) {
        mr_read_options options = {.repair = repair, .keep_partial = true};
        mr_trace *trace;
        mr_stream *stream;
        mr_error expected = {0}, error = {0};
        mr_status status = mr_trace_read(path, &options, &trace, &expected);
        expected.status = status; /* with repair, what was dropped last may stand there */
        assert_true(trace != NULL || status != MR_ERR_TRACE);
        errors += status != MR_OK;
        size_t sizes = sizeof block_sizes / sizeof *block_sizes;
        for (size_t i = sizes - (most_sizes < sizes ? most_sizes : sizes); i < sizes; i++) {
            for (int way = 0; way < (i % 3 ? AHEAD : WAYS); way++) { /* threads cost time */
                assert_int_equal(open_tuned(path, &options, block_sizes[i], way, &stream, &error),
                                 MR_OK);
                check_stream(stream, trace, &expected);
            }
        }
        assert_int_equal(mr_stream_open(path, &options, &stream, &error), MR_OK);
        check_stream(stream, trace, &expected);
        mr_trace_free(trace);
    }
    return errors;
}

static int check_text(const void *text, size_t length, size_t most_sizes)
{
    char *path = mr_test_file(text, length);
    int errors = check_file(path, most_sizes);
    unlink(path);
    free(path);
    return errors;
}

static void test_all_traces(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/traces/good", "tests/traces/bad", "tests/figures",
                                          "examples"};
    int files = 0, errors = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *entries = opendir(folders[i]);
        assert_non_null(entries);
        for (struct dirent *entry; (entry = readdir(entries));) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            if (*entry->d_name != '.' && strstr(entry->d_name, ".std")) {
                errors += check_file(path, SIZE_MAX);
                files++;
            }
        }
        closedir(entries);
    }
    assert_true(files > 60 && errors > 40);
}

/* Lines of all kinds; `bad` (or none: -1) is one that is refused. To be freed. */
static char *make_text(uint64_t seed, int lines, int bad)
{
    char *text = malloc((size_t)lines * 60 + 100), *at = text;
    mr_random random = {seed};
    assert_non_null(text);
    at += sprintf(at, "A|acq(mine)|0\nB|begin()|0\n");
    for (int i = 0; i < lines; i++) {
        uint32_t kind = mr_random_below(&random, 20), thread = mr_random_below(&random, 3);
        if (i == bad)
            at += sprintf(at, random.state % 2 ? "B|rel(mine)|1\n" : "A|r(x=bad)|1\n");
        else if (kind == 0)
            at += sprintf(at, "# comment\n\n");
        else if (kind == 1)
            at += sprintf(at, "#@var v%u name%u\n", mr_random_below(&random, 90), kind);
        else if (kind == 2)
            at += sprintf(at, "%c|acq(l%u)|3\r\n%c|rel(l%u)|4\n", 'A' + thread, thread,
                          'A' + thread, thread);
        else if (kind == 3)
            at += sprintf(at, "A|fork(F%d)|%d\nF%d|begin()|1\n", i, i, i);
        else
            at += sprintf(at, "%c|%s(v%u=%d)|%u\n", 'A' + thread, kind % 2 ? "r" : "w",
                          mr_random_below(&random, 90), (int)mr_random_below(&random, 1000) - 500,
                          mr_random_below(&random, 200));
    }
    return text;
}

static void test_errors_in_every_place(void **state)
{
    (void)state;
    for (int bad = -1; bad < 70; bad++) {
        char *text = make_text((uint64_t)bad + 10, 70, bad);
        assert_int_equal(check_text(text, strlen(text), SIZE_MAX), bad >= 0);
        free(text);
    }
}

static void test_random_texts(void **state)
{
    (void)state;
    int rounds = (int)mr_number_from_environment("STREAM_TEXTS", 10);
    for (int round = 0; round < rounds; round++) {
        char *text = make_text((uint64_t)round, 30000, round % 2 ? -1 : 29000);
        check_text(text, strlen(text), 2);
        free(text);
    }
}

static unsigned char *pack(const char *text, bool gzip, size_t *count)
{
    size_t length = strlen(text), bound = ZSTD_compressBound(length) + 1000;
    unsigned char *packed = malloc(bound);
    assert_non_null(packed);
    if (!gzip) {
        *count = ZSTD_compress(packed, bound, text, length, 3);
        assert_false(ZSTD_isError(*count));
        return packed;
    }
    z_stream zlib = {.next_in = (z_const Bytef *)text,
                     .avail_in = (uInt)length,
                     .next_out = packed,
                     .avail_out = (uInt)bound};
    assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    *count = zlib.total_out;
    deflateEnd(&zlib);
    return packed;
}

static void test_packed_and_truncated(void **state)
{
    (void)state;
    char *text = make_text(77, 20000, -1);
    for (int gzip = 0; gzip < 2; gzip++) {
        size_t count;
        unsigned char *packed = pack(text, gzip, &count);
        assert_int_equal(check_text(packed, count, 2), 0);
        for (size_t cut = 10; cut < count; cut += count / 7)
            assert_int_equal(check_text(packed, cut, 2), 1);
        free(packed);
    }
    free(text);
}

static void test_refused_files(void **state)
{
    (void)state;
    char *packed_otherwise = mr_test_file("BZh91AY", 7);
    const char *const paths[] = {packed_otherwise, "/nonexistent/file", "tests"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        mr_error expected = {0}, error = {0};
        mr_trace *trace;
        mr_stream *stream;
        mr_status status = mr_trace_read(paths[i], NULL, &trace, &expected);
        assert_null(trace);
        assert_int_equal(mr_stream_open(paths[i], NULL, &stream, &error), status);
        assert_null(stream);
        assert_true(status != MR_OK);
        assert_string_equal(error.text, expected.text);
        assert_string_equal(error.file, expected.file);
    }
    mr_read_options options = {.keep_partial = true};
    mr_trace *trace;
    assert_int_equal(mr_trace_read(packed_otherwise, &options, &trace, NULL), MR_ERR_TRACE);
    assert_int_equal(trace->event_count, 0); /* an empty trace, as of an empty text */
    mr_trace_free(trace);
    unlink(packed_otherwise);
    free(packed_otherwise);
}

static void test_standard_input(void **state)
{
    (void)state;
    char *text = make_text(5, 5000, 4000);
    char *path = mr_test_file(text, strlen(text));
    int kept = dup(STDIN_FILENO), file = open(path, O_RDONLY);
    mr_read_options options = {.keep_partial = true};
    mr_trace *trace;
    mr_stream *stream;
    mr_error expected = {0}, error = {0};
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(mr_trace_read("-", &options, &trace, &expected), MR_ERR_TRACE);
    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_SET), 0);
    assert_int_equal(mr_stream_open("-", &options, &stream, &error), MR_OK);
    assert_string_equal(expected.file, "<stdin>");
    check_stream(stream, trace, &expected);
    mr_trace_free(trace);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
    close(file);
    unlink(path);
    free(path);
    free(text);
}

/* A stream need not be read to its end. */
static void test_closed_early(void **state)
{
    (void)state;
    char *text = make_text(6, 20000, 19000), *path = mr_test_file(text, strlen(text));
    for (int blocks = 0; blocks < 12; blocks++) {
        for (size_t i = 0; i < sizeof block_sizes / sizeof *block_sizes; i++) {
            mr_stream *stream;
            mr_events events;
            assert_int_equal(
                open_tuned(path, NULL, block_sizes[i], blocks % 2 ? AHEAD : 0, &stream, NULL),
                MR_OK);
            for (int given = 0; given < blocks; given++)
                mr_stream_next(stream, &events, NULL);
            mr_stream_close(stream);
        }
    }
    mr_stream_close(NULL);
    unlink(path);
    free(path);
    free(text);
}

/* The other end of a pipe says nothing and stays open: closing does not wait for it. */
static void test_closed_while_waiting(void **state)
{
    (void)state;
    static const char first[] = "A|r(x)|1\nA|r(x)|2\nA|r(";
    for (int round = 0; round < 2 * WAYS; round++) {
        int way = round / 2, blocks = round % 2 || way & IN_CALLER ? 1 : 0;
        int ends[2];
        char path[32];
        mr_stream *stream;
        mr_events events;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], first, sizeof first - 1), (ssize_t)sizeof first - 1);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(open_tuned(path, NULL, 1, way, &stream, NULL), MR_OK);
        for (int given = 0; given < blocks; given++) {
            assert_int_equal(mr_stream_next(stream, &events, NULL), MR_OK);
            assert_int_equal(events.count, 1);
        }
        mr_stream_close(stream);
        close(ends[0]);
        close(ends[1]);
    }
}

typedef struct listener {
    pthread_t thread;
    uint64_t done, total;
    int calls;
} listener;

static void listen(void *context, const char *stage, uint64_t done, uint64_t total)
{
    listener *told = context;
    assert_true(pthread_equal(told->thread, pthread_self()));
    assert_string_equal(stage, "reading");
    assert_true(done >= told->done && done <= total);
    assert_true(!told->total || told->total == total);
    told->done = done;
    told->total = total;
    told->calls++;
}

static void test_progress(void **state)
{
    (void)state;
    char *text = make_text(8, 30000, -1);
    for (int packed = 0; packed < 2; packed++) {
        size_t count = strlen(text);
        unsigned char *bytes = packed ? pack(text, false, &count) : NULL;
        char *path = mr_test_file(packed ? (void *)bytes : (void *)text, count);
        for (int streamed = 0; streamed < 2; streamed++) {
            listener told = {.thread = pthread_self()};
            mr_progress progress = {listen, &told};
            mr_read_options options = {.progress = &progress};
            if (streamed) {
                mr_stream *stream;
                mr_events events;
                assert_int_equal(open_tuned(path, &options, 500, false, &stream, NULL), MR_OK);
                while (!mr_stream_next(stream, &events, NULL) && events.count)
                    continue;
                mr_stream_close(stream);
            } else {
                mr_trace *trace;
                assert_int_equal(mr_trace_read(path, &options, &trace, NULL), MR_OK);
                mr_trace_free(trace);
            }
            assert_true(told.calls > 0);
            assert_int_equal(told.total, count);
        }
        unlink(path);
        free(path);
        free(bytes);
    }
    free(text);
}

/* Whenever memory ends: that error, and no leak. */
static void test_without_memory(void **state)
{
    (void)state;
    char *text = make_text(9, 3000, -1), *path = mr_test_file(text, strlen(text));
    for (int way = 0; way < WAYS; way++) {
        mr_status status = MR_ERR_MEMORY;
        uint64_t n = 0;
        while (status) {
            mr_stream *stream;
            mr_events events;
            mr_error error = {0};
            mr_memory_fail_after(++n);
            status = open_tuned(path, NULL, 100, way, &stream, &error);
            if (!status) {
                while (!(status = mr_stream_next(stream, &events, &error)) && events.count)
                    continue;
            }
            mr_stream_close(stream); /* the parser has ended before the tests' switch is turned */
            mr_memory_fail_after(0);
            assert_true(!status || status == MR_ERR_MEMORY);
            assert_int_equal(error.status, status);
            assert_true(n < 10000);
        }
        assert_true(n > 20);
    }
    unlink(path);
    free(path);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_traces),    cmocka_unit_test(test_errors_in_every_place),
        cmocka_unit_test(test_random_texts),  cmocka_unit_test(test_packed_and_truncated),
        cmocka_unit_test(test_refused_files), cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_closed_early),  cmocka_unit_test(test_closed_while_waiting),
        cmocka_unit_test(test_progress),      cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
