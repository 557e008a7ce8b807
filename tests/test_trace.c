/* The reader on good input: grammar, columns, indexes, directives, lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "formats/pack/lines.h"
#include "formats/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Each line is read and printed again. `printed` NULL: as it was read. */
static void test_grammar(void **state)
{
    (void)state;
    static const struct {
        const char *line, *printed;
    } cases[] = {
        {"T1|r(x)|5", NULL},
        {"T1|w(x=3)|5", NULL},
        {"T1|r(x=-3)|5", NULL},
        {"T1|w(x=007)|5", "T1|w(x=7)|5"},
        {"T1|w(x=-0)|5", "T1|w(x=0)|5"},
        {"T1|w(x=9223372036854775807)|5", NULL},
        {"T1|w(x=-9223372036854775808)|5", NULL},
        {"T1|r(a=b=1)|5", NULL}, /* the value follows the last '=' */
        {"T1|r(V3[0].f:g,h=1)|5", NULL},
        {"T1|r(a b=1)|", NULL},
        {"T1|ar(x=1)|5", NULL},
        {"T1|aw(x)|5", NULL},
        {"T1|au(x=-1>2)|5", NULL},
        {"T1|au(x>y)|5", NULL}, /* no '=': a name */
        {"T1|acq(a=b)|5", NULL},
        {"T1|racq(l)|5", NULL},
        {"T1|fork(T1.1)|5", NULL},
        {"T1|join(pool worker)|5", NULL},
        {"T1|begin(whatever)|5", "T1|begin()|5"},
        {"T1|begin(a=b)|5", "T1|begin()|5"},
        {"T1|end()|5", NULL},
        {"T1|post(s)|5", NULL},
        {"T1|branch()|5", NULL},
        {"T1|mbegin(m:x,VL1,T2)|5", NULL},
        {"T1|mbegin(m:)|5", NULL},
        {"T1|mbegin(m:a:b)|5", NULL},
        {"T1|r(x)|a|b|c", NULL},
        {"T1|r(x)|src/a.c:12 (main)", NULL},
        {"T1|r(x)|", NULL},
        {"T (1) =|r(x)| 5 ", NULL},
        {"\xC3\xA4|r(\xE2\x82\xAC)|5", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mr_trace *trace = mr_test_read(cases[i].line, false);
        char printed[MR_TEST_LINE_SIZE];
        assert_int_equal(trace->event_count, 1);
        assert_string_equal(mr_test_event(trace, 0, printed),
                            cases[i].printed ? cases[i].printed : cases[i].line);
        mr_trace_free(trace);
    }
}

static void test_every_operation(void **state)
{
    (void)state;
    static const char *const lines[MR_OP_COUNT] = {
        "M|r(x=1)|1",
        "M|w(x=2)|2",
        "M|ar(y)|3",
        "M|aw(y)|4",
        "M|au(x=2>3)|5",
        "M|acq(l)|6",
        "M|rel(l)|7",
        "M|racq(l)|8",
        "M|rrel(l)|9",
        "M|fork(T)|10",
        "M|join(T)|11",
        "B|begin()|0",
        "E|end()|12",
        "M|post(s)|13",
        "M|wait(s)|14",
        "M|mbegin(m:x,l)|15",
        "M|mend(m)|16",
        "M|branch()|17",
        "M|alloc(o=0x5000+16)|18",
        "M|free(o)|19",
        "M|deref(x)|20",
        "M|fence.rel()|21",
    };
    char text[1024] = "", printed[MR_TEST_LINE_SIZE];
    for (int op = 0; op < MR_OP_COUNT; op++)
        strcat(strcat(text, lines[op]), "\n");
    mr_trace *trace = mr_test_read(text, false);
    assert_int_equal(trace->event_count, MR_OP_COUNT);
    for (uint32_t op = 0; op < MR_OP_COUNT; op++) {
        assert_int_equal(trace->op[op], op);
        assert_int_equal(trace->op_counts[op], 1);
        assert_string_equal(mr_test_event(trace, op, printed), lines[op]);
    }
    assert_int_equal(trace->threads.count, 4);
    assert_int_equal(trace->variables.count, 2);
    assert_int_equal(trace->locks.count, 2);
    assert_int_equal(trace->calls.count, 1);
    assert_int_equal(trace->reach_names.count, 2);
    assert_int_equal(trace->objects.count, 1);
    mr_trace_free(trace);
}

/* What is no event, and where lines end. */
static void test_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines; /* the lines of the events */
    } cases[] = {
        {"", ""},
        {"\n", ""},
        {"# only a comment", ""},
        {"A|r(x)|1", "1"},
        {"A|r(x)|1\n", "1"},
        {"A|r(x)|1\r\nA|r(x)|1\r\n", "1 2"},
        {"A|r(x)|1\r\n\r\n#\r\nA|r(x)|1\r", "1 4"},
        {"\n\n# c\nA|r(x)|1\nA|r(x)|1\n\nA|r(x)|1\n#\nA|r(x)|1\n\n\n", "4 5 7 9"},
        {"\xEF\xBB\xBF"
         "A|r(x)|1\nA|r(x)|1",
         "1 2"},
        {"#@frob x y\n#@\n#@loc\n#@loc 5\n#@locks 5 6\nA|r(x)|1", "6"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mr_trace *trace = mr_test_read(cases[i].text, false);
        char lines[64] = "";
        for (uint32_t event = 0; event < trace->event_count; event++)
            sprintf(lines + strlen(lines), "%s%d", event ? " " : "",
                    (int)mr_trace_line(trace, event));
        assert_string_equal(lines, cases[i].lines);
        assert_true(trace->threads.count <= 1); /* "A" is one thread, however its lines end */
        assert_true(trace->locations.count <= 1);
        mr_trace_free(trace);
    }
}

static void test_directives(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@loc 7 src/bank.c:67\n"
                                   "#@var V1 bank.balance\n"
                                   "#@var V9 never used\n"
                                   "#@thread T9 never used\n"
                                   "T1|w(V1=3)|7\n"
                                   "#@thread\tT1 \tworker 1\n"
                                   "T1|acq(l)|8\n"
                                   "T1|fork(T2)|8\n"
                                   "#@lock l first text\n"
                                   "#@lock l accounts_mu\r\n"
                                   "#@thread T2 \n"
                                   "#@var l no such variable\n",
                                   false);
    char op[64];
    assert_int_equal(trace->threads.count, 2);
    assert_int_equal(trace->variables.count, 1);
    assert_string_equal(mr_names_display(&trace->locations, trace->location[0]), "src/bank.c:67");
    assert_string_equal(mr_names_display(&trace->locations, trace->location[1]), "8");
    assert_string_equal(mr_names_display(&trace->threads, 0), "worker 1");
    assert_string_equal(mr_names_display(&trace->threads, 1), "T2");
    char value[MR_VALUE_BYTES];
    assert_string_equal(mr_value_text(0x55d5c0ffee10, value), "0x55d5c0ffee10");
    assert_string_equal(mr_value_text(-5, value), "-5");
    assert_string_equal(mr_value_text(INT64_MIN, value), "-9223372036854775808");
    assert_string_equal(mr_value_text((int64_t)1 << 47, value), "140737488355328");
    assert_string_equal(mr_value_text(0x255d5c0ffee10, value), "0x55d5c0ffee10#3");
    mr_trace_print_op(trace, 0, true, op, sizeof op);
    assert_string_equal(op, "w(bank.balance=3)");
    mr_trace_print_op(trace, 1, true, op, sizeof op);
    assert_string_equal(op, "acq(accounts_mu)"); /* the last one counts */
    mr_trace_print_op(trace, 1, false, op, sizeof op);
    assert_string_equal(op, "acq(l)");
    mr_trace_free(trace);
}

static void test_print_cuts(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("T|mbegin(call:abc,de)|1\nT|w(x=-12)|2", false);
    static const char *const printed[] = {"mbegin(call:abc,de)", "w(x=-12)"};
    for (uint32_t event = 0; event < 2; event++) {
        for (size_t size = 1; size < 24; size++) {
            char buffer[24], expected[24];
            memset(buffer, '!', sizeof buffer);
            snprintf(expected, size, "%s", printed[event]);
            assert_int_equal(mr_trace_print_op(trace, event, false, buffer, size),
                             strlen(printed[event]));
            assert_string_equal(buffer, expected);
        }
    }
    mr_trace_free(trace);
}

static void link_text(const mr_trace *trace, char *buffer)
{
    *buffer = '\0';
    for (uint32_t event = 0; event < trace->event_count; event++) {
        uint32_t link = trace->link[event];
        if (link == MR_NONE)
            strcat(buffer, " -");
        else if (link == MR_NESTED)
            strcat(buffer, " n");
        else
            sprintf(buffer + strlen(buffer), " %u", link);
    }
}

static void test_links(void **state)
{
    (void)state;
    static const struct {
        const char *text, *links;
    } cases[] = {
        {"A|r(x)|\nA|w(x)|\nB|w(x)|\nA|r(x)|\nB|r(x)|\nB|r(y)|", " - - 1 2 2 -"},
        {"A|w(x)|\nA|ar(x)|\nA|au(x)|\nA|r(x)|\nA|aw(x)|\nA|r(x)|", " - 0 0 2 2 4"},
        {"A|au(x)|\nA|au(x)|", " - 0"},
        {"A|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|", " 1 0 3 2"},
        {"A|acq(l)|\nA|acq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rel(l)|\nA|rel(l)|\nA|acq(l)|",
         " 5 n n n n 0 -"},
        {"A|acq(l)|\nA|acq(l)|\nA|rel(l)|", " - n n"},
        {"A|acq(l)|\nA|acq(m)|\nA|rel(l)|\nB|acq(l)|\nA|rel(m)|", " 2 4 0 - 1"},
        {"A|racq(l)|\nA|acq(l)|\nA|rrel(l)|\nA|rel(l)|", " 2 3 0 1"},
        {"A|racq(l)|\nA|racq(l)|\nB|racq(l)|\nA|rrel(l)|\nB|rrel(l)|\nA|rrel(l)|", " 5 n 4 n 2 0"},
        {"A|fork(B)|\nB|post(s)|\nA|wait(s)|\nA|join(B)|", " - 2 1 -"},
        {"A|post(s)|\nA|post(z)|\nB|post(s)|\nC|wait(s)|\nC|post(s)|\nC|wait(s)|", " 3 - 5 0 - 2"},
        {"A|mbegin(f:)|\nB|mbegin(f:)|\nA|mbegin(g:x)|\nA|mend(g)|\nA|mbegin(h:)|\nA|mend(h)|\nA|"
         "mend(f)|",
         " 6 - 3 2 5 4 0"},
        {"A|mbegin(f:)|\nA|mbegin(g:)|\nA|mbegin(h:)|\nA|mend(h)|", " - - 3 2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mr_trace *trace = mr_test_read(cases[i].text, false);
        char links[128];
        link_text(trace, links);
        assert_string_equal(links, cases[i].links);
        mr_trace_free(trace);
    }
}

/* Initial value and by_source of the variable x (docs/semantics.md 2.6). */
static void test_variable_info(void **state)
{
    (void)state;
    enum { UNKNOWN = -99 };
    static const struct {
        const char *text;
        int initial;
        bool by_source;
    } cases[] = {
        {"A|r(x=5)|", 5, false},
        {"A|r(x=0)|", 0, false},
        {"A|w(x=5)|", UNKNOWN, false},
        {"A|w(x=5)|\nA|r(x=5)|", UNKNOWN, false},
        {"A|r(x=1)|\nB|r(x=1)|\nA|w(x=2)|\nB|r(x=2)|", 1, false},
        /* an access without a value */
        {"A|r(x)|", UNKNOWN, true},
        {"A|w(x)|", UNKNOWN, true},
        {"A|au(x)|", UNKNOWN, true},
        {"A|r(x=1)|\nA|w(x)|", 1, true},
        {"A|w(x=1)|\nA|r(x=1)|\nA|ar(x)|", UNKNOWN, true},
        {"A|w(x=1)|\nB|aw(x)|\nB|w(x=2)|\nB|r(x=2)|", UNKNOWN, true},
        /* a read that differs from the last write */
        {"A|w(x=1)|\nA|r(x=2)|", UNKNOWN, true},
        {"A|w(x=1)|\nA|w(x=2)|\nA|r(x=1)|", UNKNOWN, true},
        {"A|w(x=1)|\nA|r(x=2)|\nA|r(x=1)|", UNKNOWN, true},
        /* two reads before any write that differ */
        {"A|r(x=1)|\nA|r(x=2)|", 1, true},
        {"A|r(x=1)|\nA|w(x=2)|\nA|r(x=1)|", 1, true},
        /* atomics */
        {"A|au(x=1>2)|\nA|r(x=2)|", 1, false},
        {"A|au(x=1>2)|\nA|au(x=2>1)|\nA|ar(x=1)|", 1, false},
        {"A|au(x=1>2)|\nA|au(x=1>2)|", 1, true},
        {"A|aw(x=1)|\nA|ar(x=1)|", UNKNOWN, false},
        /* other variables do not matter */
        {"A|r(x=1)|\nA|w(y=2)|\nA|r(x=1)|\nA|r(y=3)|", 1, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mr_trace *trace = mr_test_read(cases[i].text, false);
        const mr_variable_info *info = &trace->variable_info[0];
        uint32_t by_source = 0;
        for (uint32_t x = 0; x < trace->variables.count; x++)
            by_source += trace->variable_info[x].by_source;
        assert_int_equal(info->by_source, cases[i].by_source);
        assert_int_equal(trace->by_source_count, by_source);
        assert_int_equal(info->initial_value ? trace->values[info->initial_value] : UNKNOWN,
                         cases[i].initial);
        mr_trace_free(trace);
    }
}

static void test_values_are_distinct(void **state)
{
    (void)state;
    mr_trace *trace =
        mr_test_read("A|w(x=5)|\nA|w(y=5)|\nA|w(x=-5)|\nA|au(x=-5>5)|\nA|w(x)|", false);
    assert_int_equal(trace->value_count, 3);
    assert_int_equal(trace->value[0], trace->value[1]);
    assert_int_not_equal(trace->value[0], trace->value[2]);
    assert_int_equal(trace->updates[trace->value[3]].read_value, trace->value[2]);
    assert_int_equal(trace->updates[trace->value[3]].written_value, trace->value[0]);
    assert_int_equal(trace->value[4], 0);
    mr_trace_free(trace);
}

static void test_thread_info(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("A|r(x)|\nA|fork(B)|\nB|r(x)|\nA|r(x)|\nB|r(x)|\nA|fork(C)|\n"
                                   "A|join(B)|",
                                   false);
    static const mr_thread_info expected[] = {
        {.fork = MR_NONE, .first = 0, .last = 6, .event_count = 5},
        {.fork = 1, .first = 2, .last = 4, .event_count = 2},
        {.fork = 5, .first = MR_NONE, .last = MR_NONE, .event_count = 0},
    };
    assert_int_equal(trace->threads.count, COUNT(expected));
    assert_memory_equal(trace->thread_info, expected, sizeof expected);
    mr_trace_free(trace);
}

/* A line of `length` bytes in all, between two good ones. */
static char *text_with_long_line(size_t length)
{
    static const char before[] = "A|r(x)|1\nA|r(x)|", after[] = "\nA|r(x)|3\n";
    size_t prefix = strlen("A|r(x)|");
    char *text = malloc(sizeof before + sizeof after + length);
    assert_non_null(text);
    strcpy(text, before);
    memset(text + strlen(before), 'l', length - prefix);
    strcpy(text + strlen(before) + length - prefix, after);
    return text;
}

static void test_long_lines(void **state)
{
    (void)state;
    char refusal[MR_TEST_LINE_SIZE];
    static const size_t good[] = {100000, MR_LINE_MAX_BYTES - 1, MR_LINE_MAX_BYTES};
    for (size_t i = 0; i < COUNT(good); i++) {
        char *text = text_with_long_line(good[i]);
        mr_trace *trace = mr_test_read(text, false);
        assert_int_equal(trace->event_count, 3);
        assert_int_equal(trace->locations.items[trace->location[1]].length, good[i] - 7);
        mr_trace_free(trace);
        free(text);
    }
    static const size_t bad[] = {MR_LINE_MAX_BYTES + 1, MR_LINE_MAX_BYTES + 2,
                                 2 * MR_LINE_MAX_BYTES, 3 * MR_LINE_MAX_BYTES + 7};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *text = text_with_long_line(bad[i]);
        assert_string_equal(mr_test_refusal(text, refusal),
                            "t:2: the line is longer than 1048576 bytes");
        mr_trace *trace = mr_test_read(text, true);
        assert_int_equal(trace->event_count, 2);
        assert_int_equal(trace->dropped_count, 1);
        assert_int_equal(mr_trace_line(trace, 1), 3);
        mr_trace_free(trace);
        free(text);
    }
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const char text[] = "A|r(x)|1\nA|r(x\0y)|2\n\0\nA|r(x)|3\nA|r(x)|4\0";
    mr_trace *trace;
    mr_error error;
    char line[MR_TEST_LINE_SIZE];
    assert_int_equal(mr_trace_read_text("t", text, sizeof text - 1, NULL, &trace, &error),
                     MR_ERR_TRACE);
    mr_error_line(&error, line, sizeof line);
    assert_string_equal(line, "t:2: the line contains a NUL byte; this is not a text trace");
    mr_read_options options = {.repair = true};
    assert_int_equal(mr_trace_read_text("t", text, sizeof text - 1, &options, &trace, &error),
                     MR_OK);
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace->dropped_count, 3);
    mr_error_line(&trace->first_dropped, line, sizeof line);
    assert_string_equal(line, "t:2: the line contains a NUL byte; this is not a text trace");
    mr_trace_free(trace);
}

static void test_unreadable_files(void **state)
{
    (void)state;
    static const struct {
        const char *path, *message;
    } cases[] = {
        {"no/such/file", "no/such/file: cannot open: No such file or directory"},
        {"tests", "tests: cannot read: Is a directory"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mr_trace *trace;
        mr_error error;
        char line[MR_TEST_LINE_SIZE];
        assert_int_equal(mr_trace_read(cases[i].path, NULL, &trace, &error), MR_ERR_IO);
        assert_null(trace);
        mr_error_line(&error, line, sizeof line);
        assert_string_equal(line, cases[i].message);
        assert_int_equal(mr_trace_read(cases[i].path, NULL, &trace, NULL), MR_ERR_IO);
    }
}

/* Names that an event would bring are not kept when it is dropped. */
static void test_repair_leaves_no_names(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("A|acq(l)|1\nB|rel(m)|2\nC|fork(C)|3\nB|peek(q)|4\nD|wait(s)|5\n"
                                   "#@thread B somebody\nA|rel(l)|6\nB|mend(k)|7\nC|r(x)|8",
                                   true);
    assert_int_equal(trace->event_count, 3);
    assert_int_equal(trace->dropped_count, 5);
    assert_int_equal(trace->first_dropped.line, 2);
    assert_int_equal(trace->first_dropped.status, MR_ERR_TRACE);
    assert_string_equal(trace->first_dropped.text,
                        "B|rel(m)|2: releases a lock that no thread holds");
    assert_int_equal(trace->threads.count, 2);
    assert_string_equal(trace->threads.items[1].text, "C");
    assert_int_equal(trace->locks.count, 1);
    assert_int_equal(trace->calls.count, 0);
    assert_int_equal(trace->locations.count, 3);
    assert_int_equal(mr_trace_line(trace, 2), 9);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_directives),
        cmocka_unit_test(test_print_cuts),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_variable_info),
        cmocka_unit_test(test_values_are_distinct),
        cmocka_unit_test(test_thread_info),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_unreadable_files),
        cmocka_unit_test(test_repair_leaves_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
