/* Values by the types of their variables: the texts, and types in traces from text to .mrt and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "formats/convert.h"
#include "formats/read.h"
#include "formats/text/text_write.h"
#include "support/trace_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLOURS "enum32 RED=0 GREEN=1 BLUE=-2 CRIMSON=0"

static const struct {
    const char *type;
    int64_t value;
    const char *text; /* NULL: the type is not known or cannot have the value */
} rows[] = {
    {"bool", 0, "false"},
    {"bool", 1, "true"},
    {"bool", 2, NULL},
    {"bool", -1, NULL},
    {"char", 'a', "'a'(97)"},
    {"char", ' ', "' '(32)"},
    {"char", 0, "'\\0'(0)"},
    {"char", '\n', "'\\n'(10)"},
    {"char", '\'', "'\\''(39)"},
    {"char", 127, "'\\x7f'(127)"},
    {"char", -1, "'\\xff'(-1)"},
    {"char", 255, "'\\xff'(255)"},
    {"char", 256, NULL},
    {"char", -129, NULL},
    {"int8", -1, "-1"},
    {"int8", 255, "-1"},
    {"int8", 256, NULL},
    {"int8", -128, "-128"},
    {"int8", -129, NULL},
    {"int16", 65535, "-1"},
    {"int32", -2147483648, "-2147483648"},
    {"int32", 4294967295, "-1"},
    {"int32", 4294967296, NULL},
    {"int64", INT64_MIN, "-9223372036854775808"},
    {"int64", (int64_t)1 << 41, "2199023255552"},
    {"uint8", -1, "255"},
    {"uint16", -1, "65535"},
    {"uint32", -1, "4294967295"},
    {"uint32", 4294967295, "4294967295"},
    {"uint32", (int64_t)1 << 32, NULL},
    {"uint64", -1, "18446744073709551615"},
    {"uint64", 7, "7"},
    {"float", 0, "0"},
    {"float", 0x3f800000, "1"},
    {"float", 0x3dcccccd, "0.1"},
    {"float", -1036831949, "-44.8"},
    {"float", 0x7f800000, "inf"},
    {"float", (int32_t)0x80000000, "-0"},
    {"float", (int64_t)1 << 32, NULL},
    {"double", 0x3ff0000000000000, "1"},
    {"double", 0x3fb999999999999a, "0.1"},
    {"double", 0x3fd3333333333334, "0.30000000000000004"},
    {"double", 0x7fefffffffffffff, "1.7976931348623157e+308"},
    {"double", 1, "5e-324"},
    {"pointer", 0, "null"},
    {"pointer", 0x10, "0x10"},
    {"pointer", -1, "0xffffffffffffffff"},
    {COLOURS, 0, "RED(0)"},
    {COLOURS, 1, "GREEN(1)"},
    {COLOURS, -2, "BLUE(-2)"},
    {COLOURS, 4294967294, "BLUE(-2)"},
    {COLOURS, 3, NULL},
    {COLOURS, 4294967296, NULL},
    {"enum8 LOW=0 HIGH=255", -1, "HIGH(255)"},
    {"enum64 MOST=9223372036854775807", INT64_MAX, "MOST(9223372036854775807)"},
    {"enum16 A B= =3 C=x D=4y E=5", 0, NULL},
    {"enum16 A B= =3 C=x D=4y E=5", 3, NULL},
    {"enum16 A B= =3 C=x D=4y E=5", 4, NULL},
    {"enum16 A B= =3 C=x D=4y E=5", 5, "E(5)"},
    {"enum32", 0, NULL},
    {"enum A=0", 0, NULL},
    {"bool of chance", 1, "true"},
    {"boolean", 1, NULL},
    {"int", 1, NULL},
    {"int12", 1, NULL},
    {"int321", 1, NULL},
    {"struct point", 1, NULL},
    {"", 1, NULL},
    {NULL, 1, NULL},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[MR_TYPED_VALUE_BYTES] = "untouched";
        bool known = mr_typed_value_text(rows[i].type, rows[i].value, text);
        const char *expected = rows[i].text ? rows[i].text : "untouched";
        if (known != (rows[i].text != NULL) || strcmp(text, expected) != 0)
            fail_msg("row %zu: '%s' instead of '%s'", i, text, expected);
    }
}

/* An enumerator that has no room is shown as a number. */
static void test_long_enumerators(void **state)
{
    (void)state;
    char type[400], text[MR_TYPED_VALUE_BYTES];
    for (int length = 1; length < 200; length++) {
        int start = snprintf(type, sizeof type, "enum32 ");
        memset(type + start, 'E', (size_t)length);
        snprintf(type + start + length, sizeof type - (size_t)(start + length), "=12");
        bool known = mr_typed_value_text(type, 12, text);
        assert_int_equal(known, length + 4 < MR_TYPED_VALUE_BYTES);
        assert_true(!known || strlen(text) == (size_t)length + 4);
    }
}

/* Every float is shown so that its text is that float; every hundredth exponent of doubles, too. */
static void test_numbers_are_exact(void **state)
{
    (void)state;
    for (uint64_t bits = 1; bits < 0x7f800000; bits += 1000003) {
        char text[MR_TYPED_VALUE_BYTES];
        assert_true(mr_typed_value_text("float", (int64_t)bits, text));
        float number = strtof(text, NULL);
        assert_memory_equal(&number, &(uint32_t){(uint32_t)bits}, sizeof number);
    }
    for (uint64_t bits = 1; bits < 0x7ff0000000000000; bits += 0x3333333333333) {
        char text[MR_TYPED_VALUE_BYTES];
        assert_true(mr_typed_value_text("double", (int64_t)bits, text));
        double number = strtod(text, NULL);
        assert_memory_equal(&number, &bits, sizeof number);
    }
}

static void test_table(void **state)
{
    (void)state;
    mr_value_types types = {.count = 0};
    assert_null(mr_value_types_text(&types, 0));
    assert_true(mr_value_types_set_text(&types, 5, "bool", 4));
    assert_true(mr_value_types_set_text(&types, 2, "int32", 5));
    assert_true(mr_value_types_set_text(&types, 7, "boolean", 4));
    assert_null(mr_value_types_text(&types, 0));
    assert_null(mr_value_types_text(&types, 8));
    assert_string_equal(mr_value_types_text(&types, 5), "bool");
    assert_ptr_equal(mr_value_types_text(&types, 7), mr_value_types_text(&types, 5));
    assert_string_equal(mr_value_types_text(&types, 2), "int32");
    assert_true(mr_value_types_set_text(&types, 5, "char", 4)); /* the last one counts */
    assert_string_equal(mr_value_types_text(&types, 5), "char");
    mr_value_types_free(&types);
    assert_null(mr_value_types_text(&types, 5));
}

static const char typed[] = "#@type x " COLOURS "\n"
                            "#@type y something that later versions know\n"
                            "#@type u int8\r\r\n"
                            "A|w(x=1)|1\nB|r(x=1)|2\nA|au(u=255>2)|3\nA|w(y=5)|4\nA|w(z=6)|5\n"
                            "A|w(x=5497558138880)|6\n";

static void operations_are(const mr_trace *trace)
{
    static const char *const expected[] = {"w(x=GREEN(1))", "r(x=GREEN(1))", "au(u=255>2)",
                                           "w(y=5)",        "w(z=6)",        "w(x=0x50000000000)"};
    for (uint32_t event = 0; event < trace->event_count; event++) {
        char op[64], line[MR_TEST_LINE_SIZE];
        mr_trace_print_op(trace, event, true, op, sizeof op);
        assert_string_equal(op, expected[event]);
        mr_trace_print_op(trace, event, false, op, sizeof op);
        assert_non_null(strstr(mr_test_event(trace, event, line), op));
    }
    char raw[64];
    mr_trace_print_op(trace, 0, false, raw, sizeof raw); /* of files and witnesses */
    assert_string_equal(raw, "w(x=1)");
}

static char *text_of(const mr_trace *trace)
{
    char *text = NULL;
    size_t length;
    mr_error error = {0};
    FILE *file = open_memstream(&text, &length);
    assert_int_equal(mr_text_write(file, MR_PACKING_NONE, trace, NULL, &error), MR_OK);
    fclose(file);
    return text;
}

/* Converts the file at `path` to an .mrt file. Returns its path, which the caller unlinks and frees. */
static char *to_mrt(const char *path)
{
    char *binary = mr_test_file("", 0);
    FILE *file = fopen(binary, "wb");
    mr_trace *dictionary;
    mr_error error = {0};
    assert_non_null(file);
    assert_int_equal(mr_mrt_convert(path, NULL, file, &dictionary, &error), MR_OK);
    fclose(file);
    mr_trace_free(dictionary);
    return binary;
}

static void test_round_trip(void **state)
{
    (void)state;
    char *paths[3];
    paths[0] = mr_test_file(typed, strlen(typed));
    paths[1] = to_mrt(paths[0]); /* by the stream of the text */
    paths[2] = to_mrt(paths[1]); /* by the whole trace */
    for (int i = 0; i < 3; i++) {
        mr_trace *trace;
        mr_error error = {0};
        assert_int_equal(mr_trace_read(paths[i], NULL, &trace, &error), MR_OK);
        operations_are(trace);
        assert_string_equal(mr_value_types_text(&trace->types, 1), "int8\r");
        char *text = text_of(trace);
        assert_non_null(strstr(text, "#@type x " COLOURS "\n#@type u int8\r\r\n#@type y something "
                                     "that later versions know\nA|w(x=1)|1\nB|r(x=1)|2\n"
                                     "A|au(u=255>2)|3\nA|w(y=5)|4\nA|w(z=6)|5\n"));
        free(text);
        mr_trace_free(trace);
    }
    for (int i = 0; i < 3; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
}

/* Lines that give no type are comments, as for the other directives. */
static void test_lines_without_a_type(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read("#@type\n#@type x\n#@type x \n#@typex bool\n#@type nobody bool\n"
                                   "A|w(x=1)|1\n#@type  y  bool\nA|w(y=1)|1\n",
                                   false);
    char op[32];
    assert_int_equal(trace->variables.count, 2);
    assert_null(mr_value_types_text(&trace->types, 0));
    mr_trace_print_op(trace, 0, true, op, sizeof op);
    assert_string_equal(op, "w(x=1)");
    mr_trace_print_op(trace, 1, true, op, sizeof op);
    assert_string_equal(op, "w(y=true)");
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_long_enumerators),
        cmocka_unit_test(test_numbers_are_exact),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_lines_without_a_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
