/*
 * explain: on random traces of every shape, a pair has a reason not to race exactly when exhaustive
 * search finds no race; what is named as a cause is one; and the words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/reason.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/run.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static mr_scratch scratch;

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

static bool races(const mr_trace *trace, mr_model model, uint32_t a, uint32_t b)
{
    mr_exhaustive found = {0};
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &found));
    bool race = mr_exhaustive_has(&found, a, b);
    mr_exhaustive_free(&found);
    return race;
}

/* Without the constraint the pair is a race. */
static void check_cause(const mr_trace *trace, const char *text, mr_model model,
                        const mr_reason *reason, mr_reason_cause cause)
{
    mr_relaxed_trace relaxed;
    assert_true(mr_relax(&relaxed, trace, cause.kind, cause.name, reason->first, reason->second));
    if (!races(&relaxed.trace, model, reason->first, reason->second))
        fail_msg("%" PRIu32 "-%" PRIu32 " in %s: no race without cause %d of %" PRIu32 "\n%s",
                 reason->first, reason->second, mr_model_name(model), (int)cause.kind, cause.name,
                 text);
    mr_relaxed_free(&relaxed);
}

typedef struct tally {
    size_t reasons[MR_REASON_COUNT], links, causes;
} tally;

static void check_pair(const mr_trace *trace, const char *text, const mr_config *config,
                       mr_model model, uint32_t a, uint32_t b, bool race, tally *counts)
{
    mr_reason reason;
    mr_error error;
    assert_true(mr_reason_quick(trace, a, b, &reason));
    if (reason.kind == MR_REASON_OPEN)
        assert_int_equal(mr_reason_find(trace, config, &reason, &error), MR_OK);
    if (race != (reason.kind == MR_REASON_NONE))
        fail_msg("%" PRIu32 "-%" PRIu32 " in %s: a race? %d; reason %d\n%s", a, b,
                 mr_model_name(model), race, (int)reason.kind, text);
    counts->reasons[reason.kind]++;
    counts->links += reason.link_count;
    for (uint32_t i = 0; i < reason.cause_count; i++)
        check_cause(trace, text, model, &reason, reason.causes[i]);
    counts->causes += reason.cause_count;
}

static void check_trace(const mr_trace *trace, const char *text, mr_model model, tally *counts)
{
    mr_exhaustive found = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "model", mr_model_name(model), NULL, 0, NULL), MR_OK);
    assert_true(mr_exhaustive_find(trace, model, 0, trace->event_count, &found));
    for (uint32_t a = 0; a < trace->event_count; a++)
        for (uint32_t b = a + 1; b < trace->event_count; b++)
            if (mr_exhaustive_conflict(trace, a, b))
                check_pair(trace, text, config, model, a, b, mr_exhaustive_has(&found, a, b),
                           counts);
    mr_exhaustive_free(&found);
    mr_config_free(config);
}

static void test_reasons(void **state)
{
    (void)state;
    tally counts = {0};
    uint64_t traces = mr_length("EXPLAIN_SEEDS", 20, 300);
    for (uint64_t seed = 0; seed < traces; seed++)
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 8800, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_sample_trace(text);
            check_trace(trace, text, (mr_model)(((uint64_t)shape + seed) % 3), &counts);
            mr_trace_free(trace);
            free(text);
        }
    for (int kind = 0; kind < MR_REASON_COUNT; kind++)
        print_message("reason %d: %zu\n", kind, counts.reasons[kind]);
    print_message("%zu links, %zu causes\n", counts.links, counts.causes);
    assert_int_equal(counts.reasons[MR_REASON_OPEN], 0);
    assert_true(counts.reasons[MR_REASON_NONE] && counts.reasons[MR_REASON_LOCK] &&
                counts.reasons[MR_REASON_NEEDS] && counts.reasons[MR_REASON_PROVEN] &&
                counts.reasons[MR_REASON_FORK_JOIN] && counts.links && counts.causes);
}

/* What goes becomes a fence, an update becomes a write, and the pair stays. */
static void test_relax(void **state)
{
    (void)state;
    mr_relaxed_trace relaxed;
    char op[64];
    mr_trace *trace = mr_sample_trace("A|au(x=1>2)|1\nA|acq(l)|2\nA|r(x=2)|3\nA|r(y=0)|4\n"
                                      "A|rel(l)|5\nB|acq(m)|6\nB|r(x=2)|7\nB|rel(m)|8\n");
    assert_true(mr_relax(&relaxed, trace, MR_RELAXED_READS, trace->operand[0], 6, MR_NONE));
    mr_trace_print_op(&relaxed.trace, 0, false, op, sizeof op);
    assert_string_equal(op, "aw(x=2)");
    assert_int_equal(relaxed.trace.op[2], MR_OP_FENCE);
    assert_int_equal(relaxed.trace.op[3], MR_OP_READ);
    assert_int_equal(relaxed.trace.op[6], MR_OP_READ);
    mr_relaxed_free(&relaxed);
    assert_true(mr_relax(&relaxed, trace, MR_RELAXED_LOCK, trace->operand[1], 0, 6));
    assert_int_equal(relaxed.trace.op[1], MR_OP_FENCE);
    assert_int_equal(relaxed.trace.op[4], MR_OP_FENCE);
    assert_int_equal(relaxed.trace.op[5], MR_OP_ACQUIRE);
    mr_relaxed_free(&relaxed);
    mr_trace_free(trace);
}

static void test_words(void **state)
{
    (void)state;
    char path[512];
    mr_scratch_write(&scratch, "comma.std", "A|w(x=1)|f<a,b>\nB|w(x=2)|g<a,b>\n", path);
    mr_scratch_write(&scratch, "columns.std",
                     "A|w(x=1)|f.c:3:7\nA|w(y=1)|f.c:31:2\nB|w(y=2)|f.c:4:1\nB|w(x=2)|f.c:4:9\n",
                     path);
    mr_scratch_write(&scratch, "other.yaml",
                     "sees: 10 0\nfind: deadlocks\ncandidates:\n  far: none\n"
                     "  ignore_locations: '*'\n  only_locations: '8'\n",
                     path);
    const mr_run_row rows[] = {
        {"explain @/comma.std f<a,b> g<a,b>", 0, "f<a,b> and g<a,b> on x: race\n", NULL},
        {"explain @/columns.std f.c:3 f.c:4", 0, "f.c:3:7 and f.c:4:9 on x: race\n", NULL},
        {"explain @/columns.std f.c:31:2 f.c:4", 0, "f.c:31:2 and f.c:4:1 on y: race\n", NULL},
        {"explain @/columns.std f.c:3 f.c:4:1", 0, "f.c:3 and f.c:4:1: no race", NULL},
        {"explain @/columns.std f.c:1", 2, NULL,
         "maxrace: the trace has no place and no function 'f.c:1'; 'maxrace predict' and "
         "'maxrace convert TRACE -' show places\n"},
        {"explain -c @/other.yaml examples/bank.std bank.c:34 bank.c:21", 0,
         "bank.c:21 and bank.c:34 on bank.balance: race\n", NULL},
        {"explain examples/bank.std bank.c:34 bank.c:21", 0,
         "bank.c:21 and bank.c:34 on bank.balance: race\n"
         "  w(bank.balance=150) by teller at bank.c:21, event 3\n"
         "  r(bank.balance=150) by auditor at bank.c:34, event 10\n"
         "  proven by linearise; 'maxrace predict' shows the witness\n",
         NULL},
        {"explain examples/bank-locked.std --pair 13 4", 0,
         "  1 pair of events: both threads hold accounts\n"
         "    w(bank.balance=150) by teller at bank.c:21, event 4\n"
         "      holds it since acq(accounts) by teller at 20, event 3\n"
         "    r(bank.balance=150) by auditor at bank.c:34, event 13\n"
         "      holds it since acq(accounts) by auditor at bank.c:34, event 12\n",
         NULL},
        {"explain examples/value-unique.std 33", 0,
         "10 and 33 on data: no race\n"
         "  1 pair of events: the second cannot be reached without the first\n"
         "    first w(data=7) by producer at 10, event 0\n"
         "    then r(ready=1) by consumer at 31, event 8\n"
         "      which must see what was written by w(ready=1) by producer at 12, event 5\n"
         "    then r(data=7) by consumer at 33, event 10\n"
         "    it would be a race without what reads of ready must see\n",
         NULL},
        {"explain examples/fork-join.std 31 20", 0,
         "31 and 20 on total: no race\n"
         "  1 pair of events: fork and join order them\n"
         "    first w(total=10) by worker 1 at 31, event 6\n"
         "    then join(worker 1) by main at 18, event 13\n"
         "    then r(total=10) by main at 20, event 15\n",
         NULL},
        {"explain examples/account.std 16", 0,
         "      which comes after end() by account 1 at 5, event 10\n", NULL},
        {"explain examples/bank.std 23", 0,
         "23 and any place: no race, as no two accesses conflict\n"
         "  there is no variable that different threads access there, one of them writing, one not "
         "atomically\n",
         NULL},
        {"explain examples/bank.std 23 32", 0, "  both only read\n", NULL},
        {"explain examples/bank.std 10 8", 0, "  10: no access was recorded there\n", NULL},
        {"explain examples/bank.std 8 8", 0, "  one thread does them all: main\n", NULL},
        {"explain examples/bank.std --pair 0 3 --model rf", 0, "fork and join order them", NULL},
        {"explain examples/bank.std --pair 1 3", 0, "events 1 and 3 do not conflict:", NULL},
        {"explain examples/bank.std nowhere.c:1", 2, NULL,
         "maxrace: the trace has no place and no function 'nowhere.c:1'; 'maxrace predict' and "
         "'maxrace convert TRACE -' show places\n"},
        {"explain examples/bank.std", 2, NULL,
         "maxrace: explain needs one or two places (maxrace explain trace.std bank.c:21 "
         "bank.c:34), or --pair A B alone\n"},
        {"explain examples/bank.std bank.c:21 --pair 0 3", 2, NULL,
         "maxrace: explain needs one or two places (maxrace explain trace.std bank.c:21 "
         "bank.c:34), or --pair A B alone\n"},
        {"explain examples/bank.std --pair 0 3000", 2, NULL,
         "maxrace: --pair: there is no event 3000; the trace has events 0 to 12\n"},
        {"explain examples/bank.std --pair 0 x", 2, NULL,
         "maxrace: --pair 'x': expected two numbers of events, such as --pair 3 10\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_relax),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
