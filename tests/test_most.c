/* hunt/frontier/most: the way that keeps as much of the trace as can come. Ways in random traces are judged by the checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/frontier/most.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/trace_reading.h"
#include "witness/checker.h"

#include <stdlib.h>

/* T2 and T3 each add 1 to x. */
static const char counter[] = "T1|fork(T2)|0\nT1|fork(T3)|1\n"
                              "T2|w(a=1)|2\nT2|ar(x=0)|3\nT2|aw(x=1)|4\nT2|w(b=1)|5\n"
                              "T3|r(a=1)|6\nT3|ar(x=1)|7\nT3|aw(x=2)|8\n";

static void threads_stand_where_they_stood(void **state)
{
    mr_trace *trace = mr_test_read(counter, false);
    mr_u32s events = {.count = 0};
    (void)state;
    /* T3 sees 0 while T2 is about to write 1; what T2 does later does not come. */
    static const uint32_t wanted[] = {0, 1, 2, 3, 6};
    assert_int_equal(mr_most_way(trace, 7, MR_NONE, &events), MR_WAY_FOUND);
    assert_int_equal(events.count, 5);
    assert_memory_equal(events.items, wanted, sizeof wanted);
    /* As in the trace. */
    assert_int_equal(mr_most_way(trace, 7, 4, &events), MR_WAY_FOUND);
    assert_int_equal(events.count, 7);
    /* Its write needs that T3 has read. */
    assert_int_equal(mr_most_way(trace, 3, 8, &events), MR_WAY_NONE);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

/* T2 ends in its section, so T3 does not get the lock. */
static void sections_stay_open(void **state)
{
    mr_trace *trace =
        mr_test_read("T1|fork(T2)|0\nT1|fork(T3)|1\n"
                     "T2|acq(l)|2\nT2|w(x=1)|3\nT2|rel(l)|4\n"
                     "T3|w(c=1)|5\nT3|acq(l)|6\nT3|w(d=1)|7\nT3|rel(l)|8\nT1|r(x=1)|9\n",
                     false);
    mr_u32s events = {.count = 0};
    (void)state;
    static const uint32_t wanted[] = {0, 1, 2, 5};
    assert_int_equal(mr_most_way(trace, 9, MR_NONE, &events), MR_WAY_FOUND);
    assert_int_equal(events.count, 4);
    assert_memory_equal(events.items, wanted, sizeof wanted);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

static void check(mr_checker *checker, const mr_trace *trace, uint32_t read, uint32_t write,
                  const mr_u32s *events)
{
    mr_error error;
    const mr_witness witness = {.kind = MR_WITNESS_SEES,
                                .first = write,
                                .second = read,
                                .freed = MR_NONE,
                                .window_end = trace->event_count,
                                .model = MR_MODEL_RF,
                                .events = events->items,
                                .event_count = (uint32_t)events->count};
    if (mr_checker_check(checker, &witness, &error) != MR_OK)
        fail_msg("read %u, write %u: %s", read, write, error.text);
}

/* Each read and each write of its variable. */
static size_t check_all(const mr_trace *trace)
{
    mr_u32s events = {.count = 0};
    size_t found = 0;
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    for (uint32_t read = 0; read < trace->event_count; read++) {
        for (uint32_t write = 0; write < trace->event_count && mr_op_reads(trace->op[read]);
             write++) {
            if (!mr_op_is_access(trace->op[write]) || !mr_op_writes(trace->op[write]) ||
                trace->operand[write] != trace->operand[read] || write == read ||
                mr_most_way(trace, read, write, &events) != MR_WAY_FOUND)
                continue;
            check(checker, trace, read, write, &events);
            found++;
        }
    }
    mr_checker_free(checker);
    mr_u32s_free(&events);
    return found;
}

static void ways_of_random_traces_hold(void **state)
{
    static const mr_shape more[] = {MR_SHAPE_ATOMICS, MR_SHAPE_SHARED_LOCKS, MR_SHAPE_SEMAPHORES};
    size_t found = 0, seeds = mr_length("MOST_TRACES", 40, 300);
    (void)state;
    for (size_t shape = 0; shape < MR_SHAPE_COUNT + sizeof more / sizeof *more; shape++) {
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            mr_shape its = shape < MR_SHAPE_COUNT ? (mr_shape)shape : more[shape - MR_SHAPE_COUNT];
            char *text = mr_generate_trace(seed + 77000, its);
            mr_trace *trace = mr_test_read(text, false);
            found += check_all(trace);
            mr_trace_free(trace);
            free(text);
        }
    }
    assert_true(found > 1000 || mr_length_few());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_stand_where_they_stood),
        cmocka_unit_test(sections_stay_open),
        cmocka_unit_test(ways_of_random_traces_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
