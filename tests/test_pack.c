/* Packed witnesses: what comes out is what went in, and results with very many races keep the
 * memory of their witnesses small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "engine/predict.h"
#include "support/random.h"
#include "support/sample.h"
#include "witness/checker.h"
#include "witness/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 140, EVENTS = 3000 };

static mr_trace *random_trace(mr_random *random, uint32_t threads, uint32_t events)
{
    char *text = malloc((size_t)events * 24);
    size_t length = 0;
    assert_non_null(text);
    for (uint32_t i = 0; i < events; i++)
        length += (size_t)sprintf(text + length, "T%" PRIu32 "|w(x)|%" PRIu32 "\n",
                                  mr_random_below(random, threads), i);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

/* A witness that runs some threads some way, in runs of any length. */
static mr_witness random_witness(mr_random *random, const mr_trace *trace)
{
    uint32_t start = mr_random_below(random, trace->event_count), count = 0;
    uint32_t *next = calloc(trace->threads.count, sizeof *next);
    uint32_t *events = calloc(trace->event_count, sizeof *events);
    assert_non_null(next);
    assert_non_null(events);
    for (uint32_t t = 0; t < trace->threads.count; t++)
        next[t] = start;
    for (uint32_t runs = mr_random_below(random, 60); runs-- > 0;) {
        uint32_t thread = mr_random_below(random, trace->threads.count);
        uint32_t length = mr_random_below(random, runs % 7 ? 4 : 300);
        for (; length > 0 && next[thread] < trace->event_count; next[thread]++)
            if (trace->thread[next[thread]] == thread) {
                events[count++] = next[thread];
                length--;
            }
    }
    free(next);
    return (mr_witness){.window_start = start,
                        .window_end = trace->event_count,
                        .model = MR_MODEL_RF,
                        .events = events,
                        .event_count = count};
}

static void check_round(const mr_trace *trace, mr_witness *witness)
{
    uint32_t count = witness->event_count;
    uint32_t *events = calloc((size_t)count + 1, sizeof *events);
    mr_witness room;
    assert_non_null(events);
    memcpy(events, witness->events, count * sizeof *events);
    assert_ptr_equal(mr_witness_open(trace, witness, &room), witness);
    mr_witness_free(&room);
    for (uint64_t fail_at = 1; !witness->packed; fail_at++) {
        mr_memory_fail_after(fail_at);
        bool packed = mr_witness_pack(trace, witness);
        mr_memory_fail_after(0);
        assert_int_equal(packed, !witness->events);
    }
    for (uint64_t fail_at = 1;; fail_at++) {
        mr_memory_fail_after(fail_at);
        const mr_witness *open = mr_witness_open(trace, witness, &room);
        mr_memory_fail_after(0);
        if (open) {
            assert_ptr_equal(open, &room);
            assert_int_equal(open->event_count, count);
            assert_int_equal(open->window_start, witness->window_start);
            assert_memory_equal(open->events, events, count * sizeof *events);
            mr_witness_free(&room);
            break;
        }
        mr_witness_free(&room);
    }
    free(events);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        mr_random random = {seed};
        mr_trace *trace = random_trace(&random, 1 + mr_random_below(&random, THREADS), EVENTS);
        mr_witness witness = random_witness(&random, trace);
        check_round(trace, &witness);
        mr_witness_free(&witness);
        mr_trace_free(trace);
    }
}

/* Every pair of events of three threads races: far more than are kept open. */
static void test_many_races(void **state)
{
    (void)state;
    enum { MANY = 120 };
    mr_random random = {1};
    mr_trace *trace = random_trace(&random, 3, MANY);
    mr_config *config = mr_config_new();
    mr_result result = {0};
    mr_error error = {0};
    size_t packed = 0, bytes = 0, events = 0, pairs = 0;
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "candidates.report", "event", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (size_t i = 0; i < result.race_count; i++) {
        mr_witness room;
        const mr_witness *open = mr_witness_open(trace, &result.races[i].witness, &room);
        assert_non_null(open);
        assert_int_equal(mr_checker_check(checker, open, &error), MR_OK);
        packed += open == &room;
        bytes += result.races[i].witness.packed_bytes;
        events += open == &room ? open->event_count : 0;
        mr_witness_free(&room);
    }
    for (uint32_t a = 0; a < MANY; a++)
        for (uint32_t b = a + 1; b < MANY; b++)
            pairs += trace->thread[a] != trace->thread[b];
    assert_int_equal(result.race_count, pairs);
    assert_true(packed > pairs / 2);
    assert_true(bytes < events);
    mr_checker_free(checker);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_many_races),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
