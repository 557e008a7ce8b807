/* info: the numbers of `maxrace info`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "trace/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *print_info(const char *text, bool repair)
{
    mr_trace *trace = mr_test_read(text, repair);
    mr_trace_info info;
    mr_error error;
    char *printed = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&printed, &size);
    assert_non_null(stream);
    assert_int_equal(mr_trace_info_compute(trace, &info, &error), MR_OK);
    assert_true(mr_trace_info_print(stream, trace, &info));
    fclose(stream);
    mr_trace_free(trace);
    return printed;
}

static void test_print(void **state)
{
    (void)state;
    char *printed = print_info("# a comment\n"
                               "#@lock l accounts_mu\n"
                               "A|fork(B)|1\n"
                               "A|acq(k)|2\n"
                               "A|acq(l)|2\n"
                               "A|acq(l)|3\n"
                               "A|w(x=1)|3\n"
                               "A|rel(l)|3\n"
                               "B|r(y)|4\n"
                               "B|racq(m)|4\n"
                               "A|rel(l)|5\n"
                               "B|au(x=1>2)|6\n"
                               "B|rel(l)|7\n"
                               "A|w(z)|8\n",
                               true);
    assert_string_equal(printed,
                        "trace                       t\n"
                        "events                      11\n"
                        "threads                     2\n"
                        "locks and semaphores        3\n"
                        "variables                   3\n"
                        "  of two threads or more    1\n"
                        "  compared by source        2\n"
                        "locations                   7\n"
                        "reads                       2\n"
                        "writes                      3\n"
                        "accesses without a value    2\n"
                        "operations\n"
                        "  r                         1\n"
                        "  w                         2\n"
                        "  au                        1\n"
                        "  acq                       3\n"
                        "  rel                       2\n"
                        "  racq                      1\n"
                        "  fork                      1\n"
                        "longest critical section    7 events, lock accounts_mu, lines 5 to 11\n"
                        "deepest lock nesting        2, line 5\n"
                        "locks left open             2\n"
                        "context switches            4\n"
                        "lines dropped by repair     1\n"
                        "  the first                 t:13: B|rel(l)|7: releases a lock that no "
                        "thread holds\n");
    free(printed);
}

static void test_empty(void **state)
{
    (void)state;
    char *printed = print_info("", false);
    assert_non_null(strstr(printed, "\nevents                      0\n"));
    assert_non_null(strstr(printed, "\nlongest critical section    none\n"
                                    "deepest lock nesting        0\n"));
    free(printed);
}

static void test_sections(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int acquire, release, deepest, deepest_event, open;
    } cases[] = {
        {"A|r(x)|", -1, -1, 0, -1, 0},
        {"A|acq(l)|", -1, -1, 1, 0, 1},
        {"A|acq(l)|\nA|rel(l)|", 0, 1, 1, 0, 0},
        /* the first of equals; a longer one wins */
        {"A|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|", 0, 1, 1, 0, 0},
        {"A|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|r(x)|\nB|rel(l)|", 2, 4, 1, 0, 0},
        /* only the outermost pair counts */
        {"A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rel(l)|", 0, 3, 1, 0, 0},
        {"A|racq(l)|\nA|racq(l)|\nA|rrel(l)|\nA|rrel(l)|", 0, 3, 1, 0, 0},
        /* hand over hand; two threads with one each */
        {"A|acq(l)|\nA|acq(k)|\nA|rel(l)|\nA|acq(m)|\nA|rel(k)|", 1, 4, 2, 1, 1},
        {"A|racq(l)|\nB|racq(l)|\nB|r(x)|\nA|rrel(l)|\nB|rrel(l)|", 0, 3, 1, 0, 0},
        {"A|acq(l)|\nB|acq(k)|\nC|acq(m)|\nC|acq(n)|", -1, -1, 2, 3, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_trace *trace = mr_test_read(cases[i].text, false);
        mr_trace_info info;
        mr_error error;
        assert_int_equal(mr_trace_info_compute(trace, &info, &error), MR_OK);
        assert_int_equal((int)info.longest.acquire, cases[i].acquire);
        assert_int_equal((int)info.longest.release, cases[i].release);
        assert_int_equal(info.deepest_nesting, cases[i].deepest);
        assert_int_equal((int)info.deepest_event, cases[i].deepest_event);
        assert_int_equal(info.open_sections, cases[i].open);
        mr_trace_free(trace);
    }
}

static void test_stream_fails(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("A|r(x)|1", false);
    mr_trace_info info;
    mr_error error;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(mr_trace_info_compute(trace, &info, &error), MR_OK);
    assert_false(mr_trace_info_print(full, trace, &info));
    fclose(full);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_stream_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
