/* Packed input: gzip, zstd, standard input; damaged and truncated data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/read.h"
#include "support/trace_reading.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

typedef struct bytes {
    unsigned char *data;
    size_t count;
} bytes;

typedef bytes (*packer)(const char *text, size_t length);

static bytes pack_gzip(const char *text, size_t length)
{
    bytes packed = {malloc(length + 1000), 0};
    z_stream stream = {0};
    assert_non_null(packed.data);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    stream.next_in = (z_const Bytef *)text;
    stream.avail_in = (uInt)length;
    stream.next_out = packed.data;
    stream.avail_out = (uInt)(length + 1000);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.count = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static bytes pack_zstd_window(const char *text, size_t length, int window_log)
{
    bytes packed = {malloc(ZSTD_compressBound(length)), 0};
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(packed.data);
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    if (window_log) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    }
    packed.count = ZSTD_compress2(context, packed.data, ZSTD_compressBound(length), text, length);
    assert_false(ZSTD_isError(packed.count));
    ZSTD_freeCCtx(context);
    return packed;
}

static bytes pack_zstd(const char *text, size_t length)
{
    return pack_zstd_window(text, length, 0);
}

/* Without a checksum nothing follows the last block. */
static bytes pack_zstd_bare(const char *text, size_t length)
{
    bytes packed = {malloc(ZSTD_compressBound(length)), 0};
    assert_non_null(packed.data);
    packed.count = ZSTD_compress(packed.data, ZSTD_compressBound(length), text, length, 3);
    assert_false(ZSTD_isError(packed.count));
    return packed;
}

static const packer packers[] = {pack_gzip, pack_zstd};
static const char *const packer_names[] = {"gzip", "zstd"};

static void join(bytes *to, const void *data, size_t count)
{
    to->data = realloc(to->data, to->count + count + 1);
    assert_non_null(to->data);
    memcpy(to->data + to->count, data, count);
    to->count += count;
}

/* `count` events with lines that differ, so that they do not pack to nothing. */
static char *make_text(uint32_t count)
{
    char *text = malloc((size_t)count * 40 + 1), *at = text;
    uint32_t random = 12345;
    assert_non_null(text);
    for (uint32_t i = 0; i < count; i++) {
        random = random * 1664525 + 1013904223;
        at += sprintf(at, "T%u|w(V%u=%u)|%u\n", random >> 30, random >> 12, random >> 3, i);
    }
    *at = '\0';
    return text;
}

static mr_status read_bytes(bytes packed, size_t count, bool repair, mr_trace **trace,
                            char message[MR_TEST_LINE_SIZE])
{
    char *path = mr_test_file(packed.data, count);
    mr_read_options options = {.repair = repair};
    mr_error error = {0};
    mr_status status = mr_trace_read(path, &options, trace, &error);
    const mr_error *shown = status ? &error : &(*trace)->first_dropped;
    strcpy(message, "OK");
    if (shown->status) {
        assert_string_equal(shown->file, path);
        snprintf(message, MR_TEST_LINE_SIZE, "%d: %s", (int)shown->line, shown->text);
    }
    unlink(path);
    free(path);
    return status;
}

/* `trace` is the trace of the first events of `text`. */
static void check_prefix(const mr_trace *trace, const char *text)
{
    char line[MR_TEST_LINE_SIZE];
    for (uint32_t event = 0; event < trace->event_count; event++) {
        size_t length = strcspn(text, "\n");
        mr_test_event(trace, event, line);
        assert_int_equal(strlen(line), length);
        assert_memory_equal(line, text, length);
        text += length + 1;
    }
}

static void check_whole(bytes packed, uint32_t event_count, const char *text)
{
    char message[MR_TEST_LINE_SIZE];
    mr_trace *trace;
    assert_int_equal(read_bytes(packed, packed.count, false, &trace, message), MR_OK);
    assert_string_equal(message, "OK");
    assert_int_equal(trace->event_count, event_count);
    check_prefix(trace, text);
    mr_trace_free(trace);
}

static void test_whole_files(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 100, 60000}; /* the last is several buffers long */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *text = make_text(counts[i]);
        for (int p = 0; p < 2; p++) {
            bytes packed = packers[p](text, strlen(text));
            check_whole(packed, counts[i], text);
            free(packed.data);
        }
        bytes plain = {(unsigned char *)text, strlen(text)};
        check_whole(plain, counts[i], text);
        free(text);
    }
}

/* A run of equal lines: output goes on long after the input is used up. */
static void test_dense_data(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    static const char line[] = "T1|w(x=1)|1\n";
    size_t length = sizeof line - 1;
    char *text = malloc(COUNT * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(text + i * length, line, length + 1);
    for (int p = 0; p < 2; p++) {
        bytes packed = packers[p](text, COUNT * length);
        check_whole(packed, COUNT, text);
        free(packed.data);
    }
    bytes bare = pack_zstd_bare(text, COUNT * length);
    check_whole(bare, COUNT, text);
    free(bare.data);
    free(text);
}

static void test_concatenated(void **state)
{
    (void)state;
    char *text = make_text(1000);
    size_t half = strlen(text) / 2; /* within a line */
    for (int p = 0; p < 2; p++) {
        bytes first = packers[p](text, half), second = packers[p](text + half, strlen(text) - half);
        bytes empty = packers[p]("", 0), all = {0};
        join(&all, empty.data, empty.count);
        join(&all, first.data, first.count);
        join(&all, empty.data, empty.count);
        join(&all, second.data, second.count);
        check_whole(all, 1000, text);
        if (p == 0) { /* zero bytes may fill the last block of a tape */
            join(&all, "\0\0\0\0\0", 5);
            check_whole(all, 1000, text);
        } else { /* a skippable frame holds what other programs put there */
            join(&all, "\x52\x2A\x4D\x18\x03\0\0\0abc", 11);
            check_whole(all, 1000, text);
        }
        join(&all, "garbage", 7);
        char message[MR_TEST_LINE_SIZE];
        mr_trace *trace;
        if (p == 1) {
            assert_int_equal(read_bytes(all, all.count, false, &trace, message), MR_ERR_TRACE);
            assert_non_null(strstr(message, "the zstd data is damaged"));
        }
        free(first.data);
        free(second.data);
        free(empty.data);
        free(all.data);
    }
    free(text);
}

static void test_garbage_after_gzip(void **state)
{
    (void)state;
    bytes packed = pack_gzip("A|r(x)|1\nA|r(x)|2", 17);
    char message[MR_TEST_LINE_SIZE];
    mr_trace *trace;
    join(&packed, "garbage", 7);
    assert_int_equal(read_bytes(packed, packed.count, false, &trace, message), MR_ERR_TRACE);
    assert_string_equal(message, "2: the gzip data is damaged (incorrect header check)");
    free(packed.data);
}

/* Cut at every few bytes: a clear error; with repair, what was before the cut. */
static void test_truncated(void **state)
{
    (void)state;
    char *text = make_text(60), *large = make_text(60000), message[MR_TEST_LINE_SIZE];
    for (int p = 0; p < 2; p++) {
        char expected[80];
        snprintf(expected, sizeof expected, ": the %s data ends too early (truncated file)",
                 packer_names[p]);
        const char *const texts[] = {text, large};
        for (int t = 0; t < 2; t++) {
            bytes packed = packers[p](texts[t], strlen(texts[t]));
            size_t step = t ? packed.count / 13 : 1;
            uint32_t most = 0;
            for (size_t count = p ? 4 : 2; count < packed.count; count += step) {
                mr_trace *trace;
                assert_int_equal(read_bytes(packed, count, false, &trace, message), MR_ERR_TRACE);
                assert_non_null(strstr(message, expected));
                assert_int_equal(read_bytes(packed, count, true, &trace, message), MR_OK);
                assert_int_equal(trace->dropped_count, 1);
                assert_non_null(strstr(message, expected));
                assert_int_equal(trace->first_dropped.line, trace->event_count + 1);
                check_prefix(trace, texts[t]);
                assert_true(trace->event_count >= most);
                most = trace->event_count;
                mr_trace_free(trace);
            }
            assert_true(!t || most > 30000);
            free(packed.data);
        }
    }
    free(text);
    free(large);
}

/* Any byte changed: no crash, and either the right trace or an error. */
static void test_damaged(void **state)
{
    (void)state;
    char *text = make_text(60), message[MR_TEST_LINE_SIZE];
    for (int p = 0; p < 2; p++) {
        bytes packed = packers[p](text, strlen(text));
        int refused = 0;
        for (size_t i = 0; i < packed.count; i++) {
            mr_trace *trace;
            packed.data[i] ^= (unsigned char)(1 + i * 7 % 255);
            if (read_bytes(packed, packed.count, false, &trace, message)) {
                refused++;
                assert_null(trace);
            } else {
                assert_int_equal(trace->event_count, 60);
                check_prefix(trace, text);
                mr_trace_free(trace);
            }
            read_bytes(packed, packed.count, true, &trace, message);
            mr_trace_free(trace);
            packed.data[i] ^= (unsigned char)(1 + i * 7 % 255);
        }
        assert_true((size_t)refused > packed.count * 9 / 10);
        free(packed.data);
    }
    free(text);
}

static void test_windows(void **state)
{
    (void)state;
    char *text = make_text(100), message[MR_TEST_LINE_SIZE];
    bytes packed = pack_zstd_window(text, strlen(text), 27);
    check_whole(packed, 100, text);
    /* An empty frame whose header asks for a window of 2^27 and of 2^28 bytes. */
    unsigned char frame[] = {0x28, 0xB5, 0x2F, 0xFD, 0, (27 - 10) << 3, 1, 0, 0};
    bytes header = {frame, sizeof frame};
    mr_trace *trace;
    check_whole(header, 0, "");
    frame[5] = (28 - 10) << 3;
    assert_int_equal(read_bytes(header, sizeof frame, false, &trace, message), MR_ERR_TRACE);
    assert_string_equal(message, "1: the zstd window is larger than 128 MiB; pack the file again "
                                 "with zstd --long=27 or less");
    free(packed.data);
    free(text);
}

static void test_other_packings(void **state)
{
    (void)state;
    static const struct {
        const char *magic, *name;
    } cases[] = {
        {"\xFD"
         "7zXZ?",
         "xz"},
        {"BZh91AY", "bzip2"},
        {"\x04\x22\x4D\x18??", "lz4"},
        {"PK\x03\x04??", "zip"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes packed = {(unsigned char *)(uintptr_t)cases[i].magic, strlen(cases[i].magic)};
        char message[MR_TEST_LINE_SIZE], expected[120];
        mr_trace *trace;
        snprintf(expected, sizeof expected,
                 "0: the file is packed with %s; unpack it, or pack it with gzip or zstd",
                 cases[i].name);
        assert_int_equal(read_bytes(packed, packed.count, false, &trace, message), MR_ERR_TRACE);
        assert_string_equal(message, expected);
    }
}

static void test_standard_input(void **state)
{
    (void)state;
    char *text = make_text(500);
    bytes packed = pack_zstd(text, strlen(text));
    char *path = mr_test_file(packed.data, packed.count);
    int kept = dup(STDIN_FILENO), file = open(path, O_RDONLY);
    mr_trace *trace;
    mr_error error;
    assert_true(file >= 0);
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(mr_trace_read("-", NULL, &trace, &error), MR_OK);
    assert_int_equal(trace->event_count, 500);
    assert_string_equal(trace->path, "-");
    check_prefix(trace, text);
    mr_trace_free(trace);
    assert_int_equal(lseek(STDIN_FILENO, 10, SEEK_SET), 10); /* still open; now no magic */
    assert_int_equal(mr_trace_read("-", NULL, &trace, &error), MR_ERR_TRACE);
    assert_string_equal(error.file, "<stdin>");
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
    close(file);
    unlink(path);
    free(path);
    free(packed.data);
    free(text);
}

/* Writes to a pipe, a few bytes at a time. */
typedef struct feeder {
    bytes data;
    int end;
} feeder;

static void *feed(void *argument)
{
    feeder *from = argument;
    for (size_t at = 0, count; at < from->data.count; at += count) {
        count = 1 + at % 1777;
        if (count > from->data.count - at)
            count = from->data.count - at;
        if (write(from->end, from->data.data + at, count) != (ssize_t)count)
            break;
    }
    close(from->end);
    return NULL;
}

static void check_pipe(bytes data, uint32_t event_count)
{
    char path[32];
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    feeder from = {data, ends[1]};
    assert_int_equal(pthread_create(&thread, NULL, feed, &from), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    mr_trace *trace;
    mr_error error;
    assert_int_equal(mr_trace_read(path, NULL, &trace, &error), MR_OK);
    assert_int_equal(trace->event_count, event_count);
    mr_trace_free(trace);
    pthread_join(thread, NULL);
    close(ends[0]);
}

static void test_slow_pipe(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    char *text = make_text(COUNT);
    bytes plain = {(unsigned char *)text, strlen(text)};
    check_pipe(plain, COUNT);
    for (int p = 0; p < 2; p++) {
        bytes packed = packers[p](text, strlen(text));
        check_pipe(packed, COUNT);
        free(packed.data);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_files),    cmocka_unit_test(test_dense_data),
        cmocka_unit_test(test_concatenated),   cmocka_unit_test(test_garbage_after_gzip),
        cmocka_unit_test(test_truncated),      cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_windows),        cmocka_unit_test(test_other_packings),
        cmocka_unit_test(test_standard_input), cmocka_unit_test(test_slow_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
