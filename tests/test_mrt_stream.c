/* The stream of an .mrt file, which a thread reads ahead: the same as reading it whole, for every
 * size of block; closed early; truncated; progress told from the caller's thread. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/generate_large.h"
#include "support/mrt_bytes.h"
#include "support/trace_reading.h"

#include "base/progress.h"
#include "formats/read.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 600 };

static mr_trace *make_trace(uint32_t events)
{
    mr_large shape = mr_large_shapes[0];
    shape.forks = true;
    char *text = mr_generate_large(7, &shape, events);
    assert_non_null(text);
    mr_trace *trace = mr_test_read(text, false);
    free(text);
    return trace;
}

static void pause_a_little(void)
{
    const struct timespec pause = {.tv_nsec = 200000};
    nanosleep(&pause, NULL);
}

static mr_stream *open_stream(const char *path, const mr_progress *progress, bool repair)
{
    mr_stream *stream;
    mr_error error = {0};
    mr_read_options options = {.repair = repair, .progress = progress};
    assert_int_equal(mr_stream_open(path, &options, &stream, &error), MR_OK);
    return stream;
}

/* The events are those of the trace, whose names have the same numbers in both. */
static void check_events(const mr_events *events, const mr_trace *trace)
{
    size_t bytes = events->count * sizeof(uint32_t);
    assert_true(events->first + events->count <= trace->event_count);
    assert_memory_equal(events->op, trace->op + events->first, events->count);
    assert_memory_equal(events->thread, trace->thread + events->first, bytes);
    assert_memory_equal(events->operand, trace->operand + events->first, bytes);
    assert_memory_equal(events->location, trace->location + events->first, bytes);
}

static const uint32_t block_sizes[] = {1, 2, 7, 100, EVENTS};

static void test_same_as_whole(void **state)
{
    (void)state;
    mr_trace *text = make_trace(EVENTS);
    for (size_t i = 0; i < sizeof block_sizes / sizeof *block_sizes; i++) {
        mr_bytes bytes = mr_test_mrt(text, block_sizes[i]);
        char *path = mr_test_file(bytes.items, bytes.count);
        mr_trace *trace;
        mr_error error = {0};
        assert_int_equal(mr_trace_read(path, NULL, &trace, &error), MR_OK);
        assert_int_equal(trace->event_count, text->event_count);
        mr_stream *stream = open_stream(path, NULL, false);
        mr_events events;
        uint32_t given = 0;
        while (mr_stream_next(stream, &events, &error) == MR_OK && events.count > 0) {
            assert_int_equal(events.first, given);
            assert_true(events.count <= block_sizes[i]);
            check_events(&events, trace);
            given += events.count;
        }
        assert_int_equal(given, trace->event_count);
        for (int again = 0; again < 3; again++) { /* the end stays the end */
            assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
            assert_int_equal(events.count, 0);
        }
        for (uint32_t most = 2; most > 0; most--) { /* once more, and once more from the middle */
            assert_true(mr_stream_rewind(stream));
            for (given = 0; given < trace->event_count / most; given += events.count) {
                assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
                assert_true(events.count > 0 && events.first == given);
                assert_int_equal(events.variable_count, trace->variables.count);
                check_events(&events, trace);
            }
        }
        assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
        assert_int_equal(events.count, 0);
        const mr_trace *dictionary = mr_stream_dictionary(stream);
        assert_int_equal(dictionary->event_count, trace->event_count);
        assert_memory_equal(dictionary->op_counts, trace->op_counts, sizeof trace->op_counts);
        mr_stream_close(stream);
        mr_trace_free(trace);
        unlink(path);
        free(path);
        free(bytes.items);
    }
    mr_trace_free(text);
}

/* Whoever wants no more gets away, however far ahead the reader is: it fills its blocks and waits.
 */
static void test_early_close(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 20);
    char *path = mr_test_file(bytes.items, bytes.count);
    for (int taken = 0; taken <= EVENTS / 20; taken++) {
        mr_stream *stream = open_stream(path, NULL, false);
        mr_events events = {0};
        mr_error error = {0};
        for (int i = 0; i < taken; i++) {
            assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
            assert_int_equal(events.count, 20);
        }
        if (taken % 3 == 2)
            pause_a_little(); /* the reader may have come as far as it can */
        if (taken > 0)
            check_events(&events, trace);
        mr_stream_close(stream);
    }
    unlink(path);
    free(path);
    free(bytes.items);
    mr_trace_free(trace);
}

typedef struct follower {
    mr_stream *stream;
    const mr_trace *trace;
    uint32_t given, wrong;
} follower;

static void *follow(void *argument)
{
    follower *self = argument;
    mr_events events;
    for (size_t block = 0; mr_stream_follow(self->stream, block, &events) && events.count;
         block++) {
        const mr_trace *trace = self->trace;
        self->wrong += events.first != self->given ||
                       memcmp(events.op, trace->op + self->given, events.count) != 0 ||
                       events.member_count != 0;
        self->given += events.count;
    }
    return NULL;
}

/* A second thread gets the same blocks while the first one reads, goes on when the stream starts again, and comes to an end when
 * the reading is stopped. */
static void test_follow(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 20);
    char *path = mr_test_file(bytes.items, bytes.count);
    for (uint32_t taken = EVENTS / 20 + 1; taken-- > 0;) {
        mr_stream *stream = open_stream(path, NULL, false);
        follower self = {.stream = stream, .trace = trace};
        pthread_t thread;
        mr_events events = {0};
        mr_error error = {0};
        assert_int_equal(pthread_create(&thread, NULL, follow, &self), 0);
        for (uint32_t i = 0; i < taken; i++) {
            assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
            assert_int_equal(events.count, 20);
            if (i % 7 == 6)
                pause_a_little();
        }
        bool whole = taken == EVENTS / 20;
        if (whole) {
            assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
            assert_true(mr_stream_rewind(stream));
            assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
            check_events(&events, trace);
        } else {
            mr_stream_stop(stream);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(self.wrong, 0);
        assert_true(whole ? self.given == EVENTS : self.given >= taken * 20);
        mr_stream_close(stream);
    }
    unlink(path);
    free(path);
    free(bytes.items);
    mr_trace_free(trace);
}

static bool place_columns(const mr_stream *stream, const mr_events *events, char *to)
{
    const void *const columns[] = {events->op, events->thread, events->operand, events->location};
    size_t bytes = events->count;
    bool placed = true;
    for (int i = 0; i < 4; i++) {
        bool is_placed = mr_stream_place(stream, columns[i], bytes, to);
        assert_true(!is_placed || memcmp(to, columns[i], bytes) == 0);
        placed = placed && is_placed;
        to += bytes;
        bytes = events->count * sizeof(uint32_t);
    }
    return placed;
}

/* The columns of full blocks are whole pages, which can be mapped elsewhere and outlive the stream. Those of other blocks are not. */
static void test_place(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 16, BLOCKS = 3, REST = 1000, BLOCK_BYTES = 13 * BLOCK };
    mr_trace *trace = make_trace(BLOCKS * BLOCK + REST);
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    char *path = mr_test_file(bytes.items, bytes.count);
    char *room = mmap(NULL, (size_t)BLOCKS * BLOCK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room != MAP_FAILED);
    mr_stream *stream = open_stream(path, NULL, false);
    mr_events events;
    mr_error error = {0};
    for (size_t i = 0; i <= BLOCKS; i++) {
        assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
        assert_int_equal(events.count, i < BLOCKS ? BLOCK : REST);
        assert_true(place_columns(stream, &events, room + i % BLOCKS * BLOCK_BYTES) ==
                    (i < BLOCKS));
        events.count = REST; /* no whole pages */
        assert_false(place_columns(stream, &events, room));
    }
    mr_stream_close(stream);
    for (size_t i = 0; i < BLOCKS; i++)
        assert_memory_equal(room + i * BLOCK_BYTES, trace->op + i * BLOCK, BLOCK);
    munmap(room, (size_t)BLOCKS * BLOCK_BYTES);
    unlink(path);
    free(path);
    free(bytes.items);
    mr_trace_free(trace);
}

/* A file that was written to after it was read is not read again as if it were checked. */
static void test_changed(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 50);
    char *path = mr_test_file(bytes.items, bytes.count);
    mr_stream *stream = open_stream(path, NULL, false);
    mr_events events;
    mr_error error = {0};
    while (mr_stream_next(stream, &events, &error) == MR_OK && events.count > 0)
        ;
    assert_true(mr_stream_rewind(stream));
    assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
    assert_false(mr_stream_changed(stream));
    assert_true(mr_stream_follow(stream, 0, &events));
    assert_int_equal(events.count, 50);
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(mr_stream_changed(stream));
    assert_true(mr_stream_follow(stream, 0, &events));
    assert_int_equal(events.count, 0);
    assert_int_equal(mr_stream_next(stream, &events, &error), MR_ERR_IO);
    assert_string_equal(error.text, MR_STREAM_HAS_CHANGED);
    mr_stream_close(stream);
    unlink(path);
    free(path);
    free(bytes.items);
    mr_trace_free(trace);
}

/* A file that ends too early gives the whole blocks before its end, then the error, again and
 * again. */
static void test_truncated(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 50);
    for (size_t count = 64; count < bytes.count; count += 777) {
        char *path = mr_test_file(bytes.items, count);
        for (int repair = 0; repair < 2; repair++) {
            mr_stream *stream = open_stream(path, NULL, repair);
            mr_events events;
            mr_error error = {0};
            mr_status status;
            uint32_t given = 0;
            while ((status = mr_stream_next(stream, &events, &error)) == MR_OK &&
                   events.count > 0) {
                check_events(&events, trace);
                given += events.count;
            }
            for (int again = 0; again < 2; again++) {
                assert_int_equal(status, repair ? MR_OK : MR_ERR_TRACE);
                assert_int_equal(events.count, 0);
                if (!repair)
                    assert_non_null(strstr(error.text, "truncated"));
                error = (mr_error){0};
                status = mr_stream_next(stream, &events, &error);
            }
            const mr_trace *dictionary = mr_stream_dictionary(stream);
            assert_int_equal(dictionary->event_count, given);
            assert_int_equal(dictionary->dropped_count, repair);
            mr_stream_close(stream);
        }
        unlink(path);
        free(path);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

typedef struct listener {
    pthread_t thread;
    uint32_t told, elsewhere, backwards;
    uint64_t done, total;
} listener;

static void listen(void *context, const char *stage, uint64_t done, uint64_t total)
{
    listener *l = context;
    l->told++;
    l->elsewhere += !pthread_equal(pthread_self(), l->thread);
    l->backwards += done < l->done || done > total || strcmp(stage, "reading") != 0;
    l->done = done;
    l->total = total;
}

static void test_progress(void **state)
{
    (void)state;
    mr_trace *trace = make_trace(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 10);
    char *path = mr_test_file(bytes.items, bytes.count);
    listener l = {.thread = pthread_self()};
    mr_progress progress = {.report = listen, .context = &l};
    mr_stream *stream = open_stream(path, &progress, false);
    mr_events events;
    mr_error error = {0};
    while (mr_stream_next(stream, &events, &error) == MR_OK && events.count > 0)
        pause_a_little();
    mr_stream_close(stream);
    assert_true(l.told > 0);
    assert_int_equal(l.elsewhere, 0);
    assert_int_equal(l.backwards, 0);
    assert_int_equal(l.total, bytes.count);
    unlink(path);
    free(path);
    free(bytes.items);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_whole), cmocka_unit_test(test_early_close),
        cmocka_unit_test(test_follow),        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_place),         cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
