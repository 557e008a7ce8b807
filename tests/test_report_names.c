/* Names of any bytes as text: escapes, their way back, and cutting to a width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/escape.h"
#include "report/line.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void test_escape(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json, *people;
    } rows[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"a\xff", "a\\xff", "a\\xff"},
        {"\xc3", "\\xc3", "\\xc3"},
        {"\xc3(", "\\xc3(", "\\xc3("},
        {"\xc0\x80", "\\xc0\\x80", "\\xc0\\x80"},                             /* over-long */
        {"\xe0\x80\x80", "\\xe0\\x80\\x80", "\\xe0\\x80\\x80"},               /* over-long */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"},               /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
        {"\xf0\x9f\x98", "\\xf0\\x9f\\x98", "\\xf0\\x9f\\x98"},               /* cut short */
        {"C:\\foo", "C:\\foo", "C:\\foo"},
        {"C:\\xab", "C:\\x5cxab", "C:\\x5cxab"},
        {"\\x4", "\\x4", "\\x4"},
        {"\\\\xff", "\\\\x5cxff", "\\\\x5cxff"},
        {"a\nb\x7f", "a\nb\x7f", "a\\x0ab\\x7f"},
        {"\xc2\x9b", "\xc2\x9b", "\\xc2\\x9b"}, /* a control character of two bytes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *json = mr_escape(rows[i].text, false), *people = mr_escape(rows[i].text, true);
        assert_string_equal(json, rows[i].json);
        assert_string_equal(people, rows[i].people);
        json_t *string = json_string(json);
        assert_non_null(string); /* valid UTF-8 */
        json_decref(string);
        free(json);
        free(people);
    }
}

/* Every \xNN replaced by its byte. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        unsigned int byte;
        char digits[3] = {0};
        if (from[0] == '\\' && from[1] == 'x' && strspn(from + 2, "0123456789abcdef") >= 2) {
            memcpy(digits, from + 2, 2);
            sscanf(digits, "%x", &byte);
            *to++ = (char)byte;
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* All strings of five bytes from a set that makes trouble come back. */
static void test_escape_reversible(void **state)
{
    (void)state;
    static const char bytes[] = {'\\', 'x', 'a', '9', '\xc3', '\xa9', '\xff', '\xe2', '\n'};
    const size_t count = sizeof bytes;
    for (size_t n = 0; n < count * count * count * count * count; n++) {
        char text[6] = {0};
        for (size_t i = 0, rest = n; i < 5; i++, rest /= count)
            text[i] = bytes[rest % count];
        for (int control = 0; control < 2; control++) {
            char *escaped = mr_escape(text, control == 1);
            unescape(escaped);
            assert_string_equal(escaped, text);
            free(escaped);
        }
    }
}

static void test_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
        const char *head, *tail;
    } rows[] = {
        {"abcdef", 6, "abcdef", "abcdef"},
        {"abcdef", 5, "ab...", "...ef"},
        {"abcdef", 3, "...", "..."},
        {"abcdef", 2, "..", ".."},
        {"abcdef", 0, "", ""},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9\xc3\xa9"},
        {"a\xff"
         "bcd",
         7, "a...", "...bcd"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_line line;
        mr_line_clear(&line, MR_LINE_WIDTH);
        mr_line_add(&line, rows[i].text, rows[i].width);
        assert_string_equal(line.text, rows[i].head);
        mr_line_clear(&line, MR_LINE_WIDTH);
        mr_line_add_tail(&line, rows[i].text, rows[i].width);
        assert_string_equal(line.text, rows[i].tail);
    }
    mr_line line;
    mr_line_clear(&line, MR_LINE_WIDTH);
    for (int i = 0; i < 60; i++)
        mr_line_add(&line, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 9);
    assert_int_equal(line.width, MR_LINE_WIDTH);
    mr_line_pad(&line, 200);
    assert_int_equal(mr_line_room(&line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_escape_reversible),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
