/* big_trace: the generated big traces are valid, sequentially consistent, repeatable, exactly as
 * long as asked, and race at a few places only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "bench/big_trace.h"
#include "support/collect.h"
#include "support/shb_races.h"
#include "trace/info.h"

#include <stdlib.h>
#include <string.h>

static mr_collected generate(const mr_big_shape *shape)
{
    mr_collected self = {.count = 0};
    assert_true(mr_big_trace_write(shape, mr_collect, &self));
    return self;
}

static mr_trace *generate_trace(const mr_big_shape *shape)
{
    mr_collected self = generate(shape);
    mr_trace *trace = mr_test_read(self.bytes, false); /* refuses what is not valid */
    free(self.bytes);
    return trace;
}

/* Every read of a variable that was written gives what the last write wrote; a variable without a
 * write has one value. `by_source` of the trace is not used: this is its own look at the text. */
static void check_reads(const mr_trace *trace)
{
    uint32_t *current = calloc(trace->variables.count, sizeof *current);
    assert_non_null(current);
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t *value = &current[trace->operand[e]];
        if (trace->op[e] == MR_OP_READ)
            assert_true(*value == 0 || *value == trace->value[e]);
        if (trace->op[e] == MR_OP_READ || trace->op[e] == MR_OP_WRITE) {
            assert_int_not_equal(trace->value[e], 0);
            *value = trace->value[e];
        }
    }
    free(current);
}

static void test_valid_at_every_size(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        mr_big_shape shape = mr_big_shape_default();
        shape.seed = seed;
        shape.threads = (uint32_t)(1 + seed * 7 % 40);
        shape.locks = (uint32_t)(1 + seed * seed % 90);
        shape.run = (uint32_t)(1 + seed % 50);
        shape.racy = seed % 3 == 0 ? 500000 : 2000;
        shape.events = mr_big_least_events(&shape) + (seed % 4 == 0 ? 0 : seed * seed * 10);
        mr_trace *trace = generate_trace(&shape);
        assert_int_equal(trace->event_count, shape.events);
        assert_int_equal(trace->op_counts[MR_OP_ACQUIRE], trace->op_counts[MR_OP_RELEASE]);
        assert_int_equal(trace->op_counts[MR_OP_FORK], trace->op_counts[MR_OP_JOIN]);
        assert_int_equal(trace->op_counts[MR_OP_BEGIN], trace->op_counts[MR_OP_END]);
        assert_int_equal(trace->op_counts[MR_OP_BEGIN], trace->threads.count);
        assert_int_equal(trace->op_counts[MR_OP_FORK], trace->threads.count - 1);
        assert_int_equal(trace->by_source_count, 0);
        check_reads(trace);
        mr_trace_free(trace);
    }
}

static void test_same_seed_same_trace(void **state)
{
    (void)state;
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 30000;
    mr_collected first = generate(&shape), again = generate(&shape);
    shape.seed++;
    mr_collected other = generate(&shape);
    assert_int_equal(first.count, again.count);
    assert_memory_equal(first.bytes, again.bytes, first.count);
    assert_true(first.count != other.count || memcmp(first.bytes, other.bytes, first.count) != 0);
    free(first.bytes);
    free(again.bytes);
    free(other.bytes);
}

static void test_without_values(void **state)
{
    (void)state;
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 5000;
    shape.values = false;
    mr_collected plain = generate(&shape);
    assert_null(strchr(plain.bytes, '='));
    mr_trace *trace = mr_test_read(plain.bytes, false);
    assert_int_equal(trace->event_count, 5000);
    mr_trace_free(trace);
    free(plain.bytes);
}

/* The shape that the documents promise, with room for another seed. */
static void test_realistic(void **state)
{
    (void)state;
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 300000;
    mr_trace *trace = generate_trace(&shape);
    mr_trace_info info;
    mr_error error;
    assert_int_equal(mr_trace_info_compute(trace, &info, &error), MR_OK);
    uint64_t shared_accesses = 0, accesses = info.reads + info.writes;
    uint32_t *owner = calloc(trace->variables.count, sizeof *owner); /* thread + 1; -1: several */
    assert_non_null(owner);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t e = 0; e < trace->event_count; e++) {
            uint32_t *of = &owner[trace->operand[e]], thread = trace->thread[e] + 1;
            if (trace->op[e] != MR_OP_READ && trace->op[e] != MR_OP_WRITE)
                continue;
            if (pass == 0)
                *of = *of == 0 || *of == thread ? thread : UINT32_MAX;
            else
                shared_accesses += *of == UINT32_MAX;
        }
    free(owner);
    assert_in_range(shared_accesses * 100 / accesses, 8, 20);
    assert_int_equal(trace->threads.count, 16);
    assert_in_range(shape.events / info.context_switches, 25, 45);
    assert_in_range(shape.events / trace->variables.count, 20, 100);
    assert_in_range(trace->locations.count, 800, 5000);
    assert_in_range(trace->locks.count, 300, 402);
    assert_in_range(trace->op_counts[MR_OP_ACQUIRE] * 1000 / shape.events, 15, 60);
    assert_in_range(info.deepest_nesting, 2, 4);
    assert_int_equal(info.open_sections, 0);
    mr_trace_free(trace);
}

/* Static races by schedulable happens-before; all on counters, V2000 and up. */
static size_t static_races(const mr_big_shape *shape)
{
    mr_trace *trace = generate_trace(shape);
    mr_shb_races races = {0};
    mr_error error;
    assert_int_equal(mr_shb_find(trace, &races, &error), MR_OK);
    for (size_t i = 0; i < races.count; i++) {
        uint32_t variable = trace->operand[races.items[i].second];
        const char *name = trace->variables.items[variable].text;
        assert_int_equal(strncmp(name, "V200", 4), 0);
        assert_int_equal(strlen(name), 5);
    }
    size_t count = races.count;
    mr_shb_races_free(&races);
    mr_trace_free(trace);
    return count;
}

static void test_races_are_few(void **state)
{
    (void)state;
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 200000;
    shape.racy = 40000;
    size_t some = static_races(&shape);
    assert_in_range(some, 1, 8 * 6); /* 8 counters, 3 accesses each */
    shape.events = 600000;
    assert_in_range(static_races(&shape), 1, 8 * 6);
    shape.racy = 0;
    assert_int_equal(static_races(&shape), 0);
}

static void test_failures(void **state)
{
    (void)state;
    mr_big_shape shape = mr_big_shape_default();
    shape.events = 100000;
    mr_collected full = {.limit = 1000000};
    assert_false(mr_big_trace_write(&shape, mr_collect, &full));
    free(full.bytes);
    for (uint64_t n = 1; n <= 6; n++) {
        mr_collected nothing = {.count = 0};
        mr_memory_fail_after(n);
        assert_false(mr_big_trace_write(&shape, mr_collect, &nothing));
        mr_memory_fail_after(0);
        assert_int_equal(nothing.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_at_every_size), cmocka_unit_test(test_same_seed_same_trace),
        cmocka_unit_test(test_without_values),      cmocka_unit_test(test_realistic),
        cmocka_unit_test(test_races_are_few),       cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
