/* The figures of the papers: is the pair that the text speaks of predicted, in rf and in value? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "formats/read.h"
#include "support/figures.h"

#include <stdio.h>
#include <string.h>

static bool is_pair(const mr_trace *trace, const mr_witness *witness, const mr_figure *figure)
{
    const char *first = trace->locations.items[trace->location[witness->first]].text;
    const char *second = trace->locations.items[trace->location[witness->second]].text;
    return !strcmp(first, figure->first) && !strcmp(second, figure->second);
}

/* Are the two accesses of the row a race in the model, by these steps? */
static bool predicted(const mr_figure *figure, const char *model, const char *steps)
{
    char path[256];
    mr_error error = {0};
    mr_trace *trace;
    mr_result result = {0};
    mr_read_options options = {0};
    mr_config *config = mr_config_new();
    snprintf(path, sizeof path, "tests/figures/%s.std", figure->file);
    assert_int_equal(mr_trace_read(path, &options, &trace, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "model", model, NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "candidates.report", "event", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "solver.steps", steps, NULL, 0, &error), MR_OK);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    bool found = false;
    for (size_t i = 0; i < result.race_count; i++)
        found |= is_pair(trace, &result.races[i].witness, figure);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
    return found;
}

/* With saturation and with Z3 alone. */
static void test_rf(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        for (int z3 = 0; z3 < 2; z3++) {
            if (predicted(figure, "rf", z3 ? "filter,cone,z3" : "saturate") != figure->rf_race) {
                print_error("%s: (%s, %s): a race is %sexpected\n", figure->file, figure->first,
                            figure->second, figure->rf_race ? "" : "not ");
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* The figures have few values, so all that is sure is rf ⊆ value. */
static void test_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++)
        if (mr_figures[i].rf_race)
            assert_true(predicted(&mr_figures[i], "value", "lazy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rf),
        cmocka_unit_test(test_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
