/* Rule 7 of docs/semantics.md 2 and races with a free, case by case: which pairs of events race. All
 * cases at once, on random traces, are test_exact's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/predicted.h"
#include "support/trace_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct life_case {
    const char *what, *text;
    const char *races; /* "first-second" of each, by first and second event */
} life_case;

static const life_case cases[] = {
    {"an access that may come after the free", "#@in x o\nA|w(x)|1\nB|free(o)|2\n", "0-1"},
    {"an atomic access, too", "#@in x o\nA|ar(x)|1\nB|free(o)|2\n", "0-1"},
    {"an observed use after free", "#@in x o\nA|free(o)|1\nB|r(x)|2\n", "0-1"},
    {"a common lock", "#@in x o\nA|acq(l)|1\nA|w(x)|1\nA|rel(l)|1\nB|acq(l)|2\nB|free(o)|2\n", ""},
    {"a join", "#@in x o\nA|fork(B)|1\nB|w(x)|2\nA|join(B)|1\nA|free(o)|1\n", ""},
    {"another object", "#@in x o\nA|w(x)|1\nB|free(p)|2\n", ""},
    {"no access before its alloc", "#@in x o\nA|w(g)|1\nA|alloc(o)|1\nB|w(x)|2\nB|w(g)|2\n", ""},
    {"the same without the object", "A|w(g)|1\nA|alloc(o)|1\nB|w(x)|2\nB|w(g)|2\n", "0-3"},
    /* B uses the second block, which has the address of the first. */
    {"an address that is used twice",
     "#@in x o\nA|alloc(n=16+8)|1\nA|aw(p=16)|1\nA|free(n)|1\nA|w(g=1)|1\nA|alloc(o=16+8)|1\n"
     "A|aw(p=16)|1\nB|ar(p=16)|2\nB|w(x=1)|2\nB|w(g=2)|2\n",
     ""},
    /* The free of B would have to come before the write of A. */
    {"no access after the free that was before it",
     "#@in x o\nA|w(x=1)|1\nA|w(g=1)|1\nB|free(o)|2\nB|w(g=1)|2\n", "0-2 1-3"},
    {"both accesses of the pair need the object alive",
     "#@in x o\nA|w(x=1)|1\nB|free(o)|2\nB|w(x=1)|2\n", "0-1"},
    {"a free is no write that a read sees", "#@in x o\nA|w(x=1)|1\nB|free(o)|2\nA|r(x=1)|1\n",
     "0-1 1-2"},
};

/* The races, "first-second" each, in the order of their events. */
static void list_races(const mr_result *result, uint32_t event_count, char *races, size_t size)
{
    size_t used = 0;
    *races = '\0';
    for (uint32_t first = 0; first < event_count; first++)
        for (uint32_t second = first + 1; second < event_count; second++)
            for (size_t i = 0; i < result->race_count; i++) {
                const mr_witness *witness = &result->races[i].witness;
                if (witness->first != first || witness->second != second)
                    continue;
                int length =
                    snprintf(races + used, size - used, "%s%u-%u", used ? " " : "", first, second);
                used += (size_t)length;
            }
}

static void test_cases(void **state)
{
    (void)state;
    static const char *const models[] = {"value", "rf", "branch"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_trace *trace = mr_test_read(cases[i].text, false);
        for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
            const char *const settings[] = {"candidates.report", "event", "model", models[m], NULL};
            mr_result result = mr_predicted_right(trace, settings);
            char races[256];
            list_races(&result, trace->event_count, races, sizeof races);
            if (strcmp(races, cases[i].races) != 0)
                fail_msg("%s (%s): '%s', not '%s'", cases[i].what, models[m], races,
                         cases[i].races);
            mr_result_free(&result);
        }
        mr_trace_free(trace);
    }
}

/* One static race for each pair of places, however many variables the object has; the report names
 * the object and calls the free a free. */
static void test_report(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@in x o\n#@in y o\nB|free(o)|2\nA|w(x)|1\nA|w(y)|1\n", false);
    static const char *const settings[] = {"report.run", "false", NULL};
    mr_config *config = mr_settings_of(settings);
    mr_result result = mr_predicted(trace, config);
    assert_int_equal(result.race_count, 1);
    char *report = mr_predicted_report(trace, config, &result);
    assert_non_null(strstr(report, "\"op\":\"free\",\"object\":\"o\""));
    assert_non_null(strstr(report, "\"objects\":1"));
    free(report);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
