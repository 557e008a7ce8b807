/* A run whose time is over within the states of a window (predict/survey.h) or of each two threads (solver/together.h) ends
 * there, and does not go through the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seconds.h"
#include "bench/hard.h"
#include "support/predicted.h"
#include "support/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines that a run writes, up to the one that says what the search has spent. */
typedef struct listener {
    const char *target;
    uint64_t lines, before; /* so many lines, and so many before the target … */
    uint64_t effort;        /* … and what it says; 0: it has not come */
    uint64_t halts_at;      /* the halt gets its deadline when so many lines have come; 0: never */
    mr_halt halt;
} listener;

static void listen(void *context, const char *line)
{
    static const double soon_seconds = 0.001;
    listener *l = context;
    const char *effort = strstr(line, "effort=");
    if (strstr(line, l->target) && effort) {
        l->before = l->lines;
        l->effort = strtoull(effort + strlen("effort="), NULL, 10);
    }
    if (++l->lines == l->halts_at)
        l->halt.deadline_seconds = mr_seconds() + soon_seconds;
}

static mr_trace *wide_trace(void)
{
    const mr_hard_shape shape = {"wide", MR_HARD_WIDE, 4000, 24, 0, 0, 8, false, 10};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(mr_hard_write(&shape, out));
    assert_int_equal(fclose(out), 0);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

static bool run(const mr_trace *trace, listener *l)
{
    static const char *const settings[] = {"find",        "races", "jobs", "1",
                                           "window.size", "100",   NULL};
    const mr_debug debug = {~0u, listen, l};
    const mr_predict_run with = {.debug = &debug, .halt = &l->halt};
    mr_config *config = mr_settings_of(settings);
    mr_result result = {0};
    mr_error error = {0};
    assert_int_equal(mr_predict(trace, config, &with, &result, &error), MR_OK);
    bool complete = !result.stats.incomplete;
    mr_result_free(&result);
    mr_config_free(config);
    return complete;
}

/* The search that the last such line is about. */
static void check(const mr_trace *trace, const char *target)
{
    listener whole = {.target = target};
    assert_true(run(trace, &whole));
    assert_true(whole.before > 0 && whole.effort > 0);
    listener halted = {.target = target, .halts_at = whole.before};
    assert_false(run(trace, &halted));
    print_message("%s: effort %llu of %llu\n", target, (unsigned long long)halted.effort,
                  (unsigned long long)whole.effort);
    assert_int_equal(halted.before, whole.before); /* it was begun */
    assert_true(halted.effort < whole.effort);
}

static void test_halted(void **state)
{
    (void)state;
    mr_trace *trace = wide_trace();
    check(trace, "together=");
    check(trace, "survey result=");
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
