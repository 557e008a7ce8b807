/* "Did you mean": distances between words, and the key that is nearest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/suggest.h"

#include <string.h>

static void test_suggest(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key;
    } rows[] = {
        {"windw.size", "window.size"},
        {"window-size", "window.size"},
        {"widnow_size", "window.size"},
        {"timeout_ms", "solver.timeout_ms"},
        {"timeout-ms", "solver.timeout_ms"},
        {"solver.memory", "solver.memory_mb"},
        {"mode", "model"},
        {"", NULL},
        {"x", NULL},
        {"parrot", NULL},
        {"completely.different", NULL},
        {"a word of more than sixty-four bytes, far beyond what anybody would call a key", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int index = mr_config_suggest(rows[i].text);
        if (rows[i].key == NULL && index >= 0)
            fail_msg("'%s' suggests %s", rows[i].text, mr_options[index].key);
        if (rows[i].key != NULL) {
            assert_true(index >= 0);
            assert_string_equal(mr_options[index].key, rows[i].key);
        }
    }
}

static void test_distance(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},       {"a", "", 1},      {"", "abc", 3},           {"abc", "abc", 0},
        {"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "xabc", 1},       {"a.b", "a-b", 0},
        {"a_b", "a-b", 0}, {"ca", "abc", 3},  {"kitten", "sitting", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mr_edit_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(mr_edit_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suggest),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
