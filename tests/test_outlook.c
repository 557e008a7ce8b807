/* The outlook of random traces against counting by hand, however the events are cut into runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/outlook.h"

#include "support/generate.h"
#include "support/sample.h"

#include <stdlib.h>

enum { TRACES = 600 };

static void feed(mr_outlook *outlook, const mr_trace *trace, mr_random *random)
{
    for (uint32_t at = 0; at < trace->event_count;) {
        uint32_t count = mr_random_range(random, 1, 7);
        if (count > trace->event_count - at)
            count = trace->event_count - at;
        mr_events events = mr_events_of_trace(trace, at, count);
        assert_true(mr_outlook_add(outlook, &events));
        at += count;
    }
    assert_true(mr_outlook_finish(outlook, &trace->members));
}

static void check_variable(const mr_outlook *outlook, const mr_trace *trace, uint32_t variable)
{
    bool written = false, several = false, plain = false;
    uint32_t first = MR_NONE;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint8_t op = trace->op[event];
        bool frees = op == MR_OP_FREE && mr_trace_object(trace, variable) == trace->operand[event];
        if (!frees && (!mr_op_is_access(op) || trace->operand[event] != variable))
            continue;
        written |=
            frees || op == MR_OP_WRITE || op == MR_OP_ATOMIC_WRITE || op == MR_OP_ATOMIC_UPDATE;
        plain |= frees || op == MR_OP_READ || op == MR_OP_WRITE;
        if (first == MR_NONE)
            first = trace->thread[event];
        several |= trace->thread[event] != first;
    }
    assert_int_equal(outlook->contended[variable], written && several && plain);
}

/* Outermost acquires, exclusive and shared, of `lock` by `thread`. */
static uint32_t count_sections(const mr_trace *trace, uint32_t lock, uint32_t thread)
{
    uint32_t count = 0, depth = 0, shared = 0;
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (trace->operand[event] != lock || trace->thread[event] != thread)
            continue;
        if (trace->op[event] == MR_OP_ACQUIRE)
            count += !depth++;
        else if (trace->op[event] == MR_OP_RELEASE)
            depth--;
        else if (trace->op[event] == MR_OP_SHARED_ACQUIRE)
            count += !shared++;
        else if (trace->op[event] == MR_OP_SHARED_RELEASE)
            shared--;
    }
    return count;
}

static void check_locks(const mr_outlook *outlook, const mr_trace *trace)
{
    size_t use = 0;
    for (uint32_t lock = 0; lock < trace->locks.count; lock++) {
        uint32_t users = 0;
        for (uint32_t thread = 0; thread < trace->threads.count; thread++)
            users += count_sections(trace, lock, thread) > 0;
        assert_int_equal(outlook->lock_shared[lock], users > 1);
        for (uint32_t thread = 0; users > 1 && thread < trace->threads.count; thread++) {
            uint32_t sections = count_sections(trace, lock, thread);
            if (!sections)
                continue;
            assert_true(use < outlook->use_count);
            assert_int_equal(outlook->uses[use].lock, lock);
            assert_int_equal(outlook->uses[use].thread, thread);
            assert_int_equal(outlook->uses[use++].sections, sections);
        }
    }
    assert_int_equal(outlook->use_count, use);
}

static void test_random_traces(void **state)
{
    (void)state;
    mr_random random = {7};
    for (uint32_t i = 0; i < TRACES; i++) {
        char *text = mr_generate_trace(i, (mr_shape)(i % MR_SHAPE_ALL));
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        mr_outlook outlook;
        mr_outlook_init(&outlook);
        feed(&outlook, trace, &random);
        assert_int_equal(outlook.event_count, trace->event_count);
        assert_int_equal(outlook.thread_count, trace->threads.count);
        assert_int_equal(outlook.variable_count, trace->variables.count);
        assert_int_equal(outlook.lock_count, trace->locks.count);
        for (uint32_t variable = 0; variable < trace->variables.count; variable++)
            check_variable(&outlook, trace, variable);
        check_locks(&outlook, trace);
        mr_outlook_free(&outlook);
        mr_trace_free(trace);
        free(text);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace("A|w(x)|1\nA|acq(l)|1\nA|rel(l)|1\nB|acq(l)|1\nB|r(x)|2\n");
    assert_non_null(trace);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        mr_outlook outlook;
        mr_memory_fail_after(n);
        done = mr_outlook_of_trace(&outlook, trace);
        mr_memory_fail_after(0);
        assert_true(n > 1 || !done);
        if (done)
            assert_int_equal(outlook.use_count, 2);
        mr_outlook_free(&outlook);
    }
    mr_trace_free(trace);
}

/* Of a damaged file the members are known, and the events that access them are not. */
static void test_members_without_events(void **state)
{
    (void)state;
    mr_trace *trace =
        mr_sample_trace("#@in x o\n#@in y o\nA|alloc(o)|1\nA|w(x)|2\nB|free(o)|3\nA|w(y)|4\n");
    assert_non_null(trace);
    for (uint32_t events = 0; events <= trace->event_count; events++) {
        mr_outlook outlook;
        mr_events part = mr_events_of_trace(trace, 0, events);
        part.variable_count = events >= 4 ? 2 : events >= 2;
        mr_outlook_init(&outlook);
        assert_true(mr_outlook_add(&outlook, &part));
        assert_true(mr_outlook_finish(&outlook, &trace->members));
        assert_int_equal(outlook.variable_count, part.variable_count);
        for (uint32_t variable = 0; variable < outlook.variable_count; variable++)
            assert_int_equal(outlook.contended[variable], events >= 3);
        mr_outlook_free(&outlook);
    }
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_members_without_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
