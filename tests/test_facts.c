/* What is known of a whole trace is the same whoever asks for it, how many at a time, and in what
 * order; and without memory it is an error for all who ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/thread.h"
#include "predict/facts.h"

#include "support/generate_large.h"
#include "support/trace_reading.h"

#include <stdlib.h>
#include <string.h>

enum { ASKERS = 4, ROUNDS = 24 };

typedef struct asker {
    mr_facts *facts;
    bool checker_first;
    const mr_outlook *outlook;
    const mr_checker *checker;
    pthread_t thread;
} asker;

static void *ask(void *argument)
{
    asker *self = argument;
    if (self->checker_first)
        self->checker = mr_facts_checker(self->facts);
    self->outlook = mr_facts_outlook(self->facts);
    if (!self->checker_first)
        self->checker = mr_facts_checker(self->facts);
    return NULL;
}

/* Everybody asks at the same time; `order`: who asks for the checker first, as bits. */
static void ask_all(mr_facts *facts, asker askers[ASKERS], unsigned order)
{
    for (unsigned i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.facts = facts, .checker_first = order >> i & 1};
        assert_true(mr_thread_start(&askers[i].thread, ask, &askers[i]));
    }
    for (unsigned i = 0; i < ASKERS; i++)
        pthread_join(askers[i].thread, NULL);
}

static mr_trace *sample(void)
{
    char *text = mr_generate_large(3, &mr_large_shapes[0], 20000);
    mr_trace *trace = mr_test_read(text, false);
    free(text);
    return trace;
}

static void compare_outlooks(const mr_outlook *one, const mr_outlook *two)
{
    assert_int_equal(one->variable_count, two->variable_count);
    assert_int_equal(one->lock_count, two->lock_count);
    assert_int_equal(one->use_count, two->use_count);
    assert_memory_equal(one->contended, two->contended, one->variable_count);
    assert_memory_equal(one->lock_shared, two->lock_shared, one->lock_count);
    assert_memory_equal(one->uses, two->uses, one->use_count * sizeof *one->uses);
}

/* The first access of a variable by a second thread, with the trace before it as it was, is a
 * claim that must be judged alike. */
static void compare_checkers(const mr_checker *one, mr_checker *two, const mr_trace *trace)
{
    mr_checker *like = mr_checker_like(one);
    assert_non_null(like);
    unsigned accepted = 0, refused = 0;
    for (uint32_t second = 1; second < trace->event_count; second++) {
        const mr_witness claim = {.first = second - 1,
                                  .second = second,
                                  .window_start = second - 1,
                                  .window_end = second + 1,
                                  .model = MR_MODEL_VALUE};
        mr_error error = {0}, other = {0};
        mr_status status = mr_checker_check(like, &claim, &error);
        assert_int_equal(mr_checker_check(two, &claim, &other), status);
        assert_string_equal(error.text, other.text);
        accepted += status == MR_OK;
        refused += status != MR_OK;
    }
    assert_true(accepted && refused);
    mr_checker_free(like);
}

static void test_all_at_once(void **state)
{
    (void)state;
    mr_trace *trace = sample();
    mr_outlook outlook;
    mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    assert_true(mr_outlook_of_trace(&outlook, trace) && checker);
    for (unsigned round = 0; round < ROUNDS; round++) {
        asker askers[ASKERS];
        mr_facts *facts = mr_facts_new(trace, MR_OPAQUE_PAIR);
        assert_non_null(facts);
        ask_all(facts, askers, round);
        for (unsigned i = 0; i < ASKERS; i++) {
            assert_ptr_equal(askers[i].outlook, askers[0].outlook);
            assert_ptr_equal(askers[i].checker, askers[0].checker);
        }
        compare_outlooks(askers[0].outlook, &outlook);
        if (round < 2)
            compare_checkers(askers[0].checker, checker, trace);
        mr_facts_free(facts);
    }
    mr_checker_free(checker);
    mr_outlook_free(&outlook);
    mr_trace_free(trace);
}

/* Whoever has the bad luck, nobody gets what is not complete. */
static void test_no_memory(void **state)
{
    (void)state;
    mr_trace *trace = sample();
    bool all = false;
    unsigned without = 0;
    for (uint64_t fail_at = 1; !all; fail_at++) {
        asker askers[ASKERS];
        mr_facts *facts = mr_facts_new(trace, MR_OPAQUE_PAIR);
        assert_non_null(facts);
        mr_memory_fail_after(fail_at);
        ask_all(facts, askers, (unsigned)fail_at);
        mr_memory_fail_after(0);
        for (unsigned i = 0; i < ASKERS; i++) {
            assert_ptr_equal(askers[i].outlook, askers[0].outlook);
            assert_ptr_equal(askers[i].checker, askers[0].checker);
        }
        all = askers[0].outlook && askers[0].checker;
        without += !all;
        mr_facts_free(facts);
    }
    assert_true(without > 10);
    mr_memory_fail_after(1);
    assert_null(mr_facts_new(trace, MR_OPAQUE_PAIR));
    mr_memory_fail_after(0);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
