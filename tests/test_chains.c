/* chains: the threads of a chain are in one order, by program order, fork and join alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "far/relevant.h"
#include "support/generate.h"
#include "support/trace_reading.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 150, MOST_EVENTS = 250, FEWEST_JOINED = 1000 };

/* The chain of each thread, in the order in which the threads are named. */
static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t chains[6], thread_count, chain_count;
    } rows[] = {
        /* one after the other */
        {"A|fork(B)|1\nB|w(x)|2\nA|join(B)|3\nA|fork(C)|4\nC|w(x)|5\n", {1, 0, 0}, 3, 2},
        /* nobody joins */
        {"A|fork(B)|1\nB|w(x)|2\nA|fork(C)|4\nC|w(x)|5\n", {2, 0, 1}, 3, 3},
        /* the join is after the fork */
        {"A|fork(B)|1\nB|w(x)|2\nA|fork(C)|4\nA|join(B)|3\nC|w(x)|5\n", {2, 0, 1}, 3, 3},
        /* who joins is joined: both chains are free */
        {"A|fork(B)|1\nA|fork(C)|1\nB|w(x)|1\nC|join(B)|1\nA|join(C)|1\nA|fork(D)|1\nA|fork(E)|1\n",
         {2, 0, 1, 1, 0},
         5,
         3},
        /* who joins is not joined: only it can go on with the chain */
        {"A|fork(B)|1\nA|fork(C)|1\nB|w(x)|1\nC|join(B)|1\nA|fork(D)|1\nC|fork(E)|1\n",
         {3, 0, 1, 2, 0},
         5,
         4},
        /* a second join frees nothing */
        {"A|fork(B)|1\nA|fork(C)|1\nB|w(x)|1\nA|join(B)|1\nC|join(B)|1\nA|fork(D)|1\nC|fork(E)|1\n",
         {3, 0, 1, 0, 2},
         5,
         4},
        /* joined before it is forked, without events */
        {"A|join(B)|1\nA|fork(C)|1\nC|w(x)|1\nA|fork(B)|1\n", {2, 1, 0}, 3, 3},
        /* the join of a thread without events does not need its fork, nor what is before that */
        {"A|fork(B)|1\nB|w(x)|1\nA|join(B)|1\nA|fork(C)|1\nD|join(C)|1\nD|fork(E)|1\nE|w(x)|1\n",
         {2, 0, 0, 3, 1},
         5,
         4},
        /* a thread that was never forked */
        {"B|w(x)|1\nA|join(B)|1\nA|fork(C)|1\nC|w(x)|1\n", {1, 2, 0}, 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_trace *trace = mr_test_read(rows[i].text, false);
        assert_int_equal(trace->threads.count, rows[i].thread_count);
        assert_int_equal(trace->chain_count, rows[i].chain_count);
        for (uint32_t t = 0; t < trace->threads.count; t++)
            for (uint32_t u = 0; u < trace->threads.count; u++)
                if ((rows[i].chains[t] == rows[i].chains[u]) !=
                    (trace->chain[t] == trace->chain[u]))
                    fail_msg("row %zu: threads %u and %u", i, t, u);
        mr_trace_free(trace);
    }
}

/* Which events are before which others, by definition. */
static void close_order(const mr_trace *trace, bool before[MOST_EVENTS][MOST_EVENTS])
{
    uint32_t n = trace->event_count;
    assert_true(n <= MOST_EVENTS);
    memset(before, 0, sizeof(bool[MOST_EVENTS][MOST_EVENTS]));
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t a = b; a-- > 0;) {
            if (trace->thread[a] == trace->thread[b] ||
                (trace->op[a] == MR_OP_FORK && trace->operand[a] == trace->thread[b]) ||
                (trace->op[b] == MR_OP_JOIN && trace->operand[b] == trace->thread[a]))
                before[a][b] = true;
            for (uint32_t c = 0; before[a][b] && c < a; c++)
                before[c][b] |= before[c][a];
        }
}

/* Returns how many pairs of events are of two threads of a chain. */
static size_t check_order(const mr_trace *trace)
{
    static bool before[MOST_EVENTS][MOST_EVENTS];
    size_t pairs = 0;
    close_order(trace, before);
    for (uint32_t b = 0; b < trace->event_count; b++)
        for (uint32_t a = 0; a < b; a++) {
            uint32_t one = trace->thread[a], other = trace->thread[b];
            if (one == other || trace->chain[one] != trace->chain[other])
                continue;
            pairs++;
            if (!before[a][b])
                fail_msg("events %u and %u are in one chain and in no order", a, b);
        }
    return pairs;
}

static void test_order(void **state)
{
    (void)state;
    static const mr_shape shapes[] = {MR_SHAPE_FORK_JOIN, MR_SHAPE_OPAQUE_FORKS,
                                      MR_SHAPE_LIVES_FORKS, MR_SHAPE_MANY_THREADS};
    size_t pairs = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            char *text = mr_generate_longer_trace(seed, shapes[i]);
            assert_non_null(text);
            mr_trace *trace = mr_test_read(text, false);
            pairs += check_order(trace);
            mr_trace_free(trace);
            free(text);
        }
    }
    assert_true(pairs >= FEWEST_JOINED);
}

/* C goes on with the chain of B when Q joins B: Q has not joined C, so x is relevant (far/relevant.h). */
static void test_second_join(void **state)
{
    (void)state;
    mr_relevant relevant;
    mr_trace *trace = mr_test_read("A|fork(B)|1\nA|fork(Q)|1\nB|w(y)|1\nA|join(B)|1\n"
                                   "A|fork(C)|1\nC|w(y)|1\nC|w(x)|1\nQ|join(B)|1\nQ|w(x)|1\n",
                                   false);
    assert_true(mr_relevant_find(&relevant, trace, MR_MODEL_RF));
    assert_false(relevant.variables[0]);
    assert_true(relevant.variables[1]);
    mr_relevant_free(&relevant);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_second_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
