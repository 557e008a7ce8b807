/* Runs that are ended before their time: an order gives the races of the events that it has seen, a
 * stream that is stopped has its names, and a process at its ceiling is asked to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ceiling.h"
#include "formats/read.h"
#include "order/detect/detect.h"
#include "support/mrt_bytes.h"
#include "support/random.h"
#include "support/scratch.h"
#include "sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EVENTS = 200000,
    ASK_AFTER = 70000,
    LINE_BYTES = 48,
    THREADS = 5,
    VARIABLES = 40,
    LOCKS = 3
};

static mr_scratch scratch;
static char text[EVENTS * LINE_BYTES], *ends[EVENTS + 1]; /* where the line of each event begins */

static int setup(void **state)
{
    mr_random random = {19};
    char *at = text, path[512];
    int held[THREADS];
    bool taken[LOCKS] = {false};
    mr_scratch_setup(state, &scratch);
    memset(held, -1, sizeof held);
    for (uint32_t event = 0; event < EVENTS; event++) {
        uint32_t thread = mr_random_below(&random, THREADS);
        uint32_t variable = mr_random_below(&random, VARIABLES);
        int lock = (int)mr_random_below(&random, LOCKS);
        ends[event] = at;
        if (held[thread] >= 0 && mr_random_below(&random, 4) == 0) {
            at += sprintf(at, "T%u|rel(l%d)|%u\n", thread, held[thread], 200u);
            taken[held[thread]] = false;
            held[thread] = -1;
        } else if (held[thread] < 0 && !taken[lock] && mr_random_below(&random, 3) == 0) {
            at += sprintf(at, "T%u|acq(l%d)|%u\n", thread, lock, 201u);
            taken[lock] = true;
            held[thread] = lock;
        } else {
            /* New places of races come all the time. */
            at += sprintf(at, "T%u|%c(x%u)|%u\n", thread, mr_random_below(&random, 2) ? 'r' : 'w',
                          variable, event / 4000);
        }
    }
    ends[EVENTS] = at;
    mr_scratch_write(&scratch, "halt.std", text, path);
    return 0;
}

static mr_trace *read_first(uint64_t count)
{
    mr_trace *trace = NULL;
    mr_error error;
    size_t bytes = (size_t)(ends[count] - text);
    assert_int_equal(mr_trace_read_text("test", text, bytes, NULL, &trace, &error), MR_OK);
    return trace;
}

/* Asks the run to end when its last pass has come so far. */
static void ask(void *context, const char *stage, uint64_t done, uint64_t total)
{
    bool first_of_two = strcmp(stage, "cp") == 0 && done < total / 2;
    if (!first_of_two && (strcmp(stage, "cp") == 0 ? done - total / 2 : done) >= ASK_AFTER)
        mr_halt_ask(context, MR_HALT_SIGNAL);
}

static void same(const mr_race_list *one, const mr_race_list *other)
{
    assert_int_equal(one->racy_event_count, other->racy_event_count);
    assert_int_equal(one->racy_location_count, other->racy_location_count);
    assert_int_equal(one->racy_variable_count, other->racy_variable_count);
    assert_int_equal(one->race_count, other->race_count);
    for (size_t i = 0; i < one->race_count; i++) {
        assert_int_equal(one->races[i].low, other->races[i].low);
        assert_int_equal(one->races[i].high, other->races[i].high);
    }
}

static void test_orders(void **state)
{
    (void)state;
    mr_trace *trace = read_first(EVENTS);
    for (int relation = 0; relation < MR_RELATION_COUNT; relation++) {
        mr_halt halt = {0};
        mr_progress progress = {ask, &halt};
        mr_detect_options options = {.progress = &progress, .halt = &halt}, all = {0};
        mr_race_list list, expected;
        mr_error error;
        assert_int_equal(mr_detect((mr_relation)relation, trace, &options, &list, &error),
                         MR_ERR_HALTED);
        assert_in_range(list.seen_events, ASK_AFTER, EVENTS - 1);
        assert_true(list.race_count > 0);
        mr_trace *seen = read_first(list.seen_events);
        assert_int_equal(mr_detect((mr_relation)relation, seen, &all, &expected, &error), MR_OK);
        assert_int_equal(expected.seen_events, list.seen_events);
        same(&list, &expected);
        mr_race_list_free(&list);
        mr_race_list_free(&expected);
        mr_trace_free(seen);
    }
    mr_trace_free(trace);
}

/* A detector looks at the halt within the events that it is fed at once. */
static void test_one_block(void **state)
{
    (void)state;
    mr_trace *trace = read_first(EVENTS);
    mr_halt halt = {.deadline_seconds = mr_seconds() + 0.001};
    mr_detect_options options = {.halt = &halt}, all = {0};
    mr_events events = mr_events_of_trace(trace, 0, EVENTS);
    mr_detector *detector = mr_detector_new(MR_RELATION_HB, &options);
    mr_race_list list, expected;
    mr_error error;
    assert_non_null(detector);
    assert_int_equal(mr_detector_feed(detector, &events, &error), MR_ERR_HALTED);
    assert_int_equal(mr_detector_finish(detector, &list, &error), MR_OK);
    assert_true(list.seen_events < EVENTS);
    mr_trace *seen = read_first(list.seen_events);
    assert_int_equal(mr_detect(MR_RELATION_HB, seen, &all, &expected, &error), MR_OK);
    same(&list, &expected);
    mr_detector_free(detector);
    mr_race_list_free(&list);
    mr_race_list_free(&expected);
    mr_trace_free(seen);
    mr_trace_free(trace);
}

/* An order on the file that is ended so many milliseconds after its start has the races of what it has seen. */
static void end_after(const char *path, mr_relation relation, double milliseconds)
{
    mr_halt halt = {.deadline_seconds = mr_seconds() + milliseconds / 1000};
    mr_detect_options all = {0};
    mr_race_list expected;
    mr_error error;
    mr_sweep sweep;
    mr_config *config = mr_config_new();
    assert_int_equal(mr_config_set(config, "relation", mr_relation_name(relation), NULL, 0, &error),
                     MR_OK);
    assert_int_equal(mr_sweep_run(&sweep, path, config, NULL, &halt, &error), MR_OK);
    uint64_t seen = sweep.result.list.seen_events;
    assert_true(seen == EVENTS || !sweep.result.complete);
    mr_trace *first = read_first(seen);
    assert_int_equal(mr_detect(relation, first, &all, &expected, &error), MR_OK);
    same(&sweep.result.list, &expected);
    mr_race_list_free(&expected);
    mr_trace_free(first);
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

/* Also where the blocks of an .mrt file are looked at twice (order/screen.h). */
static void test_blocks(void **state)
{
    (void)state;
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_FHB, MR_RELATION_SHB};
    char path[512];
    mr_trace *trace = read_first(EVENTS);
    mr_bytes bytes = mr_test_mrt(trace, 1 << 12);
    mr_scratch_write(&scratch, "halt.mrt", "", path);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes.items, 1, bytes.count, file) == bytes.count);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        for (double milliseconds = 1; milliseconds < 20; milliseconds *= 1.7)
            end_after(path, relations[i], milliseconds);
    free(bytes.items);
    mr_trace_free(trace);
}

static void stop_early(const char *path)
{
    mr_stream *stream;
    mr_events events;
    mr_error error;
    assert_int_equal(mr_stream_open(path, NULL, &stream, &error), MR_OK);
    assert_int_equal(mr_stream_next(stream, &events, &error), MR_OK);
    uint64_t count = events.count;
    mr_stream_stop(stream);
    const mr_trace *names = mr_stream_dictionary(stream);
    assert_true(names->event_count >= count && count < EVENTS);
    assert_int_equal(names->threads.count, THREADS);
    assert_string_equal(mr_names_display(&names->threads, 0), names->threads.items[0].text);
    assert_int_equal(mr_stream_next(stream, &events, &error), MR_ERR_HALTED);
    mr_stream_close(stream);
}

static void test_stream(void **state)
{
    (void)state;
    char path[512];
    stop_early(mr_scratch_path(&scratch, "halt.std", path));
}

/* A trace whose reading is ended is an error, with its place. */
static void test_reading(void **state)
{
    (void)state;
    char path[512];
    mr_trace *trace;
    mr_error error;
    mr_halt halt = {0};
    mr_read_options options = {.halt = &halt};
    mr_halt_ask(&halt, MR_HALT_TIME);
    mr_scratch_path(&scratch, "halt.std", path);
    assert_int_equal(mr_trace_read(path, &options, &trace, &error), MR_ERR_HALTED);
    assert_null(trace);
    assert_string_equal(error.file, path);
    assert_string_equal(error.text, "time_limit ended the run while reading the trace");
}

static void test_ceiling(void **state)
{
    (void)state;
    enum { LOOKS = 3000, BYTES = 64 << 20 };
    const struct timespec nap = {.tv_nsec = 10000000};
    mr_halt halt = {0};
    assert_null(mr_ceiling_start(0, &halt));
    /* The limit is below what the process has: only what comes on top counts. */
    mr_ceiling *ceiling = mr_ceiling_start(1 << 20, &halt);
    assert_non_null(ceiling);
    for (int i = 0; i < 5; i++)
        nanosleep(&nap, NULL);
    assert_int_equal(mr_halt_asked(&halt), MR_HALT_NONE);
    char *memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 1, BYTES);
    for (int i = 0; i < LOOKS && mr_halt_asked(&halt) == MR_HALT_NONE; i++)
        nanosleep(&nap, NULL);
    assert_int_equal(mr_halt_asked(&halt), MR_HALT_MEMORY);
    assert_int_equal(memory[BYTES - 1], 1);
    mr_ceiling_stop(ceiling);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),  cmocka_unit_test(test_one_block),
        cmocka_unit_test(test_stream),  cmocka_unit_test(test_reading),
        cmocka_unit_test(test_ceiling), cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
