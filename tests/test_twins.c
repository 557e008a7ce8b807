/*
 * Twins: for each kind of event a smallest trace with the race, and its neighbour without. The only
 * possible race is of the locations a and b. Prediction and the exhaustive search must both say
 * what the row says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "support/exhaustive.h"
#include "support/trace_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One letter each for rf, value, branch; value with calls as simple barriers, and without calls:
 * R the race, - none. */
enum { WAYS = 5 };
static const struct {
    const char *model, *opaque;
} ways[WAYS] = {{"rf", "pair"},
                {"value", "pair"},
                {"branch", "pair"},
                {"value", "simple"},
                {"value", "ignore"}};

typedef struct twin {
    const char *races, *text;
} twin;

static const twin twins[] = {
    /* Atomics: an atomic and a plain access conflict, two atomics do not. */
    {"RRRRR", "A|aw(x=1)|a\nB|r(x=1)|b\n"},
    {"-----", "A|aw(x=1)|a\nB|ar(x=1)|b\n"},
    {"RRRRR", "A|au(x=0>1)|a\nB|w(x=2)|b\n"},
    {"-----", "A|au(x=0>1)|a\nB|au(x=1>2)|b\n"},
    /* The second update reads the first one's value, which comes after a; up to its branch. */
    {"-----", "A|w(x=1)|a\nA|au(f=0>1)|1\nB|au(f=1>2)|2\nB|branch()|3\nB|r(x=1)|b\n"},
    /* The update reads 0, which is there before A's. */
    {"RRRRR", "A|w(x=1)|a\nB|au(f=0>0)|2\nB|branch()|3\nA|au(f=0>1)|1\nB|r(x=1)|b\n"},
    /* An atomic read that sees an equal value of another thread: only its value counts. */
    {"-RRRR", "C|aw(f=1)|1\nA|w(x=1)|a\nA|aw(f=1)|2\nB|ar(f=1)|3\nB|branch()|4\nB|r(x=1)|b\n"},
    {"-----", "C|aw(f=2)|1\nA|w(x=1)|a\nA|aw(f=1)|2\nB|ar(f=1)|3\nB|branch()|4\nB|r(x=1)|b\n"},

    /* Shared locks: two shared sections may run side by side, a shared and an exclusive one not. */
    {"RRRRR", "A|racq(l)|1\nA|w(x=1)|a\nA|rrel(l)|2\nB|racq(l)|3\nB|r(x=1)|b\nB|rrel(l)|4\n"},
    {"-----", "A|acq(l)|1\nA|w(x=1)|a\nA|rel(l)|2\nB|racq(l)|3\nB|r(x=1)|b\nB|rrel(l)|4\n"},
    /* A shared and an exclusive section: B's can come first, while a stands before A's. */
    {"RRRRR", "A|w(x=1)|a\nA|racq(l)|1\nA|rrel(l)|2\nB|acq(l)|3\nB|rel(l)|4\nB|r(x=1)|b\n"},
    /* … but not when A's stays open: a is past the acquire. */
    {"-----", "A|racq(l)|1\nA|w(x=1)|a\nB|racq(l)|3\nB|rrel(l)|4\nA|rrel(l)|2\nB|acq(l)|5\n"
              "B|r(x=1)|b\n"},

    /* Semaphores: the only unit is given after a; with another unit B need not wait for A's. */
    {"-----", "A|w(x=1)|a\nA|post(s)|1\nB|wait(s)|2\nB|r(x=1)|b\n"},
    {"RRRRR", "C|post(s)|0\nA|w(x=1)|a\nA|post(s)|1\nB|wait(s)|2\nB|r(x=1)|b\n"},
    /* … unless it takes both, */
    {"-----", "C|post(s)|0\nA|w(x=1)|a\nA|post(s)|1\nB|wait(s)|2\nB|wait(s)|2\nB|r(x=1)|b\n"},
    /* … or the other unit is of another semaphore. */
    {"-----", "C|post(t)|0\nA|w(x=1)|a\nA|post(s)|1\nB|wait(s)|2\nB|r(x=1)|b\n"},

    /* Condition variable: a before the signal, and after it. */
    {"-----", "B|acq(m)|1\nB|rel(m)|2\nA|acq(m)|3\nA|w(x=1)|a\nA|post(c.1)|4\nA|rel(m)|5\n"
              "B|wait(c.1)|2\nB|acq(m)|2\nB|rel(m)|6\nB|r(x=1)|b\n"},
    {"RRRRR", "B|acq(m)|1\nB|rel(m)|2\nA|acq(m)|3\nA|post(c.1)|4\nA|rel(m)|5\nA|w(x=1)|a\n"
              "B|wait(c.1)|2\nB|acq(m)|2\nB|rel(m)|6\nB|r(x=1)|b\n"},
    /* One name for all wake-ups: C's signal could have been B's, so the order is lost. */
    {"RRRRR", "C|post(c)|0\nA|w(x=1)|a\nA|post(c)|1\nD|wait(c)|2\nB|wait(c)|3\nB|r(x=1)|b\n"},
    {"-----", "C|post(c.1)|0\nA|w(x=1)|a\nA|post(c.2)|1\nD|wait(c.1)|2\nB|wait(c.2)|3\n"
              "B|r(x=1)|b\n"},

    /* Barrier of two: a before it, and after it. */
    {"-----", "A|w(x=1)|a\nA|post(k.1.in)|1\nB|wait(k.1.in)|2\nB|post(k.1.out)|2\n"
              "A|wait(k.1.out)|1\nB|r(x=1)|b\n"},
    {"RRRRR", "A|post(k.1.in)|1\nB|wait(k.1.in)|2\nB|post(k.1.out)|2\nA|wait(k.1.out)|1\n"
              "A|w(x=1)|a\nB|r(x=1)|b\n"},
    /* The last one waits, too: what the others do before the barrier is before what it does after.
     */
    {"-----", "B|w(x=1)|a\nA|post(k.1.in)|1\nB|wait(k.1.in)|2\nB|post(k.1.out)|2\n"
              "A|wait(k.1.out)|1\nA|r(x=1)|b\n"},

    /* Branch: what B read may be something else, as long as no decision depends on it. */
    {"--R--", "A|w(x=1)|a\nA|w(f=1)|1\nB|r(f=1)|2\nB|r(x=1)|b\n"},
    {"-----", "A|w(x=1)|a\nA|w(f=1)|1\nB|r(f=1)|2\nB|branch()|3\nB|r(x=1)|b\n"},
    {"--R--", "A|w(x=1)|a\nA|w(f=1)|1\nB|branch()|3\nB|r(f=1)|2\nB|r(x=1)|b\n"},
    /* A fork and an mbegin are decisions, too. */
    {"-----", "A|w(x=1)|a\nA|w(f=1)|1\nB|r(f=1)|2\nB|fork(C)|3\nC|r(x=1)|b\n"},

    /* Calls that were not recorded. They may synchronise by what both can reach, y, */
    {"----R",
     "A|w(x=1)|a\nA|mbegin(m:y)|1\nA|mend(m)|1\nB|mbegin(n:y)|2\nB|mend(n)|2\nB|r(x=1)|b\n"},
    /* and by nothing when that differs (caveat 0: simple barriers lose this one). */
    {"RRR-R",
     "A|w(x=1)|a\nA|mbegin(m:y)|1\nA|mend(m)|1\nB|mbegin(n:z)|2\nB|mend(n)|2\nB|r(x=1)|b\n"},
    /* Caveat 1, calls that overlap: m cannot end before n has begun, */
    {"----R",
     "A|mbegin(m:y)|1\nC|w(x=1)|a\nC|mbegin(n:y)|2\nA|mend(m)|1\nA|r(x=1)|b\nC|mend(n)|2\n"},
    /* but what comes after m need not wait for the end of n. */
    {"RRRRR",
     "A|mbegin(m:y)|1\nC|mbegin(n:y)|2\nA|mend(m)|1\nC|w(x=1)|a\nA|r(x=1)|b\nC|mend(n)|2\n"},
    /* Caveat 2, events within calls are of the calls, */
    {"----R",
     "A|mbegin(m:y)|1\nC|mbegin(n:y)|2\nA|r(x=0)|a\nC|w(x=1)|b\nA|mend(m)|1\nC|mend(n)|2\n"},
    /* which does not matter when the calls have nothing in common. */
    {"RRR-R",
     "A|mbegin(m:y)|1\nC|mbegin(n:z)|2\nA|r(x=0)|a\nC|w(x=1)|b\nA|mend(m)|1\nC|mend(n)|2\n"},
    /* Caveat 3, an ordinary event: C read y after the call had done a, */
    {"----R", "A|mbegin(m:y)|1\nA|r(x=0)|a\nC|r(y=1)|2\nC|w(x=1)|b\nA|mend(m)|1\n"},
    /* which matters only when the call can reach what C read. */
    {"RRRRR", "A|mbegin(m:y)|1\nA|r(x=0)|a\nC|r(z=1)|2\nC|w(x=1)|b\nA|mend(m)|1\n"},
    /* Caveat 4, over a third call: c, f by y; f, e by z; */
    {"----R", "A|w(x=1)|a\nA|mbegin(c:y)|1\nA|mend(c)|1\nB|mbegin(f:y,z)|2\nB|mend(f)|2\n"
              "C|mbegin(e:z)|3\nC|mend(e)|3\nC|r(x=1)|b\n"},
    /* f without y. */
    {"RRR-R", "A|w(x=1)|a\nA|mbegin(c:y)|1\nA|mend(c)|1\nB|mbegin(f:z)|2\nB|mend(f)|2\n"
              "C|mbegin(e:z)|3\nC|mend(e)|3\nC|r(x=1)|b\n"},
    /* Caveat 5, globals: a call that may reach anything, and one that reaches a variable that is
     * not g; */
    {"----R", "A|w(x=1)|a\nA|mbegin(m:*)|1\nA|mend(m)|1\nB|r(g=0)|2\nB|r(x=1)|b\n"},
    {"RRRRR", "A|w(x=1)|a\nA|mbegin(m:y)|1\nA|mend(m)|1\nB|r(g=0)|2\nB|r(x=1)|b\n"},
    /* a lock; */
    {"----R", "A|w(x=1)|a\nA|mbegin(m:l)|1\nA|mend(m)|1\nB|acq(l)|2\nB|rel(l)|2\nB|r(x=1)|b\n"},
    {"RRRRR", "A|w(x=1)|a\nA|mbegin(m:k)|1\nA|mend(m)|1\nB|acq(l)|2\nB|rel(l)|2\nB|r(x=1)|b\n"},
    /* a thread, as Thread.isAlive does; without an end event its last event counts; */
    {"----R", "B|w(x=1)|a\nB|end()|1\nA|mbegin(m:B)|2\nA|mend(m)|2\nA|r(x=1)|b\n"},
    {"----R", "B|w(x=1)|a\nA|mbegin(m:B)|2\nA|mend(m)|2\nA|r(x=1)|b\n"},
    {"RRRRR", "B|w(x=1)|a\nB|end()|1\nA|mbegin(m:C)|2\nA|mend(m)|2\nA|r(x=1)|b\n"},
    /* x itself. */
    {"----R", "A|w(x=1)|a\nB|mbegin(m:x)|1\nB|mend(m)|1\nB|r(x=1)|b\n"},
    /* A call that does not return is open to the end of its thread: a is in it. */
    {"----R", "A|mbegin(m:y)|1\nA|w(x=1)|a\nB|mbegin(n:y)|2\nB|mend(n)|2\nB|r(x=1)|b\n"},
    /* a is after it. */
    {"RRRRR",
     "A|mbegin(m:y)|1\nA|mend(m)|1\nA|w(x=1)|a\nB|mbegin(n:y)|2\nB|mend(n)|2\nB|r(x=1)|b\n"},
};

enum { TWINS = sizeof twins / sizeof *twins };

/* Are the two events those of a and b? */
static bool is_the_pair(const mr_trace *trace, uint32_t first, uint32_t second)
{
    const char *one = trace->locations.items[trace->location[first]].text;
    const char *other = trace->locations.items[trace->location[second]].text;
    return (strcmp(one, "a") == 0 && strcmp(other, "b") == 0) ||
           (strcmp(one, "b") == 0 && strcmp(other, "a") == 0);
}

static char search(const mr_trace *trace, int way)
{
    mr_exhaustive found = {0};
    mr_exhaustive_options options = {.model = (mr_model)(way < 3 ? way : MR_MODEL_VALUE),
                                     .opaque = way == 3   ? MR_OPAQUE_SIMPLE
                                               : way == 4 ? MR_OPAQUE_IGNORE
                                                          : MR_OPAQUE_PAIR};
    assert_true(mr_exhaustive_find_with(trace, &options, 0, trace->event_count, &found));
    char answer = '-';
    for (size_t i = 0; i < found.race_count; i++)
        if (is_the_pair(trace, found.races[i].first, found.races[i].second))
            answer = 'R';
    mr_exhaustive_free(&found);
    return answer;
}

static char predict(const mr_trace *trace, int way)
{
    mr_error error = {0};
    mr_result result = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    if (mr_config_set(config, "model", ways[way].model, NULL, 0, &error) != MR_OK ||
        mr_config_set(config, "opaque", ways[way].opaque, NULL, 0, &error) != MR_OK ||
        mr_predict(trace, config, NULL, &result, &error) != MR_OK)
        fail_msg("%s", error.text);
    char answer = result.unknown_count > 0 ? '?' : '-';
    for (size_t i = 0; i < result.race_count; i++)
        if (is_the_pair(trace, result.races[i].witness.first, result.races[i].witness.second))
            answer = 'R';
    mr_result_free(&result);
    mr_config_free(config);
    return answer;
}

static int compare_with(char (*decide)(const mr_trace *trace, int way), const char *who)
{
    int wrong = 0;
    for (int i = 0; i < TWINS; i++) {
        char answers[WAYS + 1] = "";
        mr_trace *trace = mr_test_read(twins[i].text, false);
        for (int way = 0; way < WAYS; way++)
            answers[way] = decide(trace, way);
        if (strcmp(answers, twins[i].races) != 0) {
            print_error("%s: %s instead of %s:\n%s", who, answers, twins[i].races, twins[i].text);
            wrong++;
        }
        mr_trace_free(trace);
    }
    return wrong;
}

static void test_exhaustive(void **state)
{
    (void)state;
    assert_int_equal(compare_with(search, "exhaustive search"), 0);
}

static void test_predict(void **state)
{
    (void)state;
    assert_int_equal(compare_with(predict, "predict"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_predict),
    };
    return cmocka_run_group_tests_name("twins", tests, NULL, NULL);
}
