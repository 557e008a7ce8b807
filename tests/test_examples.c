/* The traces of examples/ and what their comments say about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "formats/read.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

typedef struct verdict {
    const char *file, *model;
    const char *first, *second; /* locations of the only race; NULL: there is none */
    const char *order;
} verdict;

static const verdict verdicts[] = {
    {"bank", "rf", "21", "34", "wcp"},
    {"bank", "value", "21", "34", "wcp"},
    {"bank-locked", "rf", NULL, NULL, NULL},
    {"bank-locked", "value", NULL, NULL, NULL},
    {"deadlock", "rf", "11", "21", "wcp"},
    {"deadlock", "value", "11", "21", "wcp"},
    {"value", "rf", NULL, NULL, NULL},
    {"value", "value", "10", "33", "beyond-wcp"},
    {"value-unique", "rf", NULL, NULL, NULL},
    {"value-unique", "value", NULL, NULL, NULL},
    {"fork-join", "rf", "31", "15", "hb"},
    {"fork-join", "value", "31", "15", "hb"},
    {"account", "rf", "5", "8", "hb"},
    {"account", "value", "5", "8", "hb"},
    {"account", "branch", "5", "8", "hb"},
    {"condition-variable", "rf", "25", "15", "hb"},
    {"condition-variable", "value", "25", "15", "hb"},
    {"condition-variable", "branch", "25", "15", "hb"},
    {"barrier", "rf", "4", "4", "hb"},
    {"barrier", "value", "4", "4", "hb"},
    {"barrier", "branch", "4", "4", "hb"},
};

enum { VERDICT_COUNT = sizeof verdicts / sizeof *verdicts };

static const char *location(const mr_trace *trace, uint32_t event)
{
    return trace->locations.items[trace->location[event]].text;
}

static void compare(const verdict *expected, const mr_trace *trace, const mr_result *result)
{
    assert_int_equal(result->unknown_count, 0);
    assert_int_equal(result->race_count, expected->first != NULL);
    if (expected->first == NULL)
        return;
    const mr_race *race = &result->races[0];
    assert_string_equal(location(trace, race->witness.first), expected->first);
    assert_string_equal(location(trace, race->witness.second), expected->second);
    assert_string_equal(mr_strength_name(race->strength), expected->order);
}

static void examine(const verdict *expected)
{
    char path[128];
    mr_error error = {0};
    mr_trace *trace = NULL;
    mr_result result = {0};
    mr_read_options options = {0};
    snprintf(path, sizeof path, "examples/%s.std", expected->file);
    print_message("%s, %s\n", path, expected->model);
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "model", expected->model, NULL, 0, &error), MR_OK);
    assert_int_equal(mr_trace_read(path, &options, &trace, &error), MR_OK);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    compare(expected, trace, &result);
    mr_result_free(&result);
    mr_trace_free(trace);
    mr_config_free(config);
}

static void test_verdicts(void **state)
{
    (void)state;
    for (int i = 0; i < VERDICT_COUNT; i++)
        examine(&verdicts[i]);
}

/* What the account example says of a detector that knows nothing of calls: the race, and four false
 * alarms. */
static void test_account_without_calls(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"5", "8"}, {"4", "16"}, {"7", "17"}, {"5", "19"}, {"8", "19"}};
    mr_error error = {0};
    mr_trace *trace = NULL;
    mr_result result = {0};
    mr_read_options options = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "opaque", "ignore", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_trace_read("examples/account.std", &options, &trace, &error), MR_OK);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    assert_int_equal(result.race_count, 5);
    for (size_t i = 0; i < result.race_count; i++) {
        assert_string_equal(location(trace, result.races[i].witness.first), pairs[i][0]);
        assert_string_equal(location(trace, result.races[i].witness.second), pairs[i][1]);
    }
    mr_result_free(&result);
    mr_trace_free(trace);
    mr_config_free(config);
}

static int in_table(const char *file_name)
{
    for (int i = 0; i < VERDICT_COUNT; i++) {
        size_t length = strlen(verdicts[i].file);
        if (strncmp(file_name, verdicts[i].file, length) == 0 &&
            strcmp(file_name + length, ".std") == 0)
            return 1;
    }
    return 0;
}

/* An example without an expected verdict would be a claim that nobody checks. */
static void test_every_example_is_in_the_table(void **state)
{
    (void)state;
    DIR *folder = opendir("examples");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".std") == NULL)
            continue;
        count++;
        if (!in_table(entry->d_name))
            fail_msg("examples/%s has no row in the table of this test", entry->d_name);
    }
    closedir(folder);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_account_without_calls),
        cmocka_unit_test(test_every_example_is_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
