/* The report of a hunt: from a folder that is made here, so that its times are always the same, and from
 * figures made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/loop/store.h"
#include "report/formats.h"
#include "support/golden.h"
#include "support/run.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mr_scratch scratch;

static const mr_hunt_line runs[] = {
    {1, "free", UINT32_MAX, 0, 0, 1, 10, 0.25, "good"},
    {2, "free", 0, UINT32_MAX, 1, 2, 10, 0.5, "good"},
    {3, "near", 0, 1, 1, 3, 11, 1.125, "good"},
    {4, "turn", 1, 2, 2, 4, 12, 2, "crash"},
    {5, "turn", 1, UINT32_MAX, 2, 5, 12, 2.5, "good"},
};

static const mr_finding_line findings[] = {
    {1, 3, 100, "race", "a race on money between first and second, confirmed", 0},
    {2, 4, 101, "crash", "signal 11 (Segmentation fault) in second at bank.c:21:5", 0},
};

/* Makes the folder `name` of a hunt with some of the runs, and the findings that they showed. */
static void make_folder(const char *name, size_t first, size_t end)
{
    char path[512], folder[600];
    mr_store_folder store;
    mr_error error = {0};
    mr_scratch_path(&scratch, name, path);
    assert_int_equal(mr_store_make(&store, path, &error), MR_OK);
    assert_int_equal(mr_store_line(&store, "program ./bank", &error), MR_OK);
    for (size_t i = first; i < end; i++) {
        assert_int_equal(mr_store_run(&store, &runs[i], &error), MR_OK);
        for (size_t k = 0; k < sizeof findings / sizeof *findings; k++)
            if (findings[k].run == runs[i].number)
                assert_int_equal(mr_store_finding(&store, &findings[k], &error), MR_OK);
    }
    assert_int_equal(write(store.journal, "run 6 goal 1", 12), 12); /* killed while it wrote */
    mr_store_close(&store);
    static const char *const empty[] = {"behaviours", "findings"};
    for (size_t i = 0; i < 2; i++) { /* the scratch folder is removed to a depth of one */
        snprintf(folder, sizeof folder, "%s/%s", path, empty[i]);
        assert_int_equal(rmdir(folder), 0);
    }
}

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    make_folder("found", 0, 5);
    make_folder("quiet", 1, 3);
    make_folder("none", 0, 0);
    return 0;
}

/* Writes `text` with '@' for the scratch folder. */
static char *without_folder(const char *text)
{
    char *result = malloc(strlen(text) + 1), *to = result;
    size_t length = strlen(scratch.dir);
    assert_non_null(result);
    while (*text) {
        bool is_folder = strncmp(text, scratch.dir, length) == 0;
        *to++ = is_folder ? '@' : *text;
        text += is_folder ? length : 1;
    }
    *to = '\0';
    return result;
}

static void test_golden(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *name;
        int status;
    } rows[] = {
        {"hunt --report @/found", "hunt-report-found", 1},
        {"hunt --report @/quiet", "hunt-report-quiet", 1},
        {"hunt --report @/none", "hunt-report-none", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_run run;
        mr_run_maxrace(&run, &scratch, rows[i].arguments, NULL, MR_RUN_CAPTURE);
        char *text = without_folder(run.out);
        assert_string_equal(run.error, "");
        assert_int_equal(run.status, rows[i].status);
        mr_golden(rows[i].name, text);
        free(text);
        mr_run_free(&run);
    }
}

static void test_json(void **state)
{
    (void)state;
    mr_run run;
    mr_run_maxrace(&run, &scratch, "hunt --report @/found --format json", NULL, MR_RUN_CAPTURE);
    json_t *report = json_loads(run.out, 0, NULL), *last;
    assert_non_null(report);
    assert_int_equal(run.status, 1);
    assert_int_equal(json_integer_value(json_object_get(report, "runs")), 5);
    assert_int_equal(json_integer_value(json_object_get(report, "behaviours")), 3);
    assert_int_equal(json_integer_value(json_object_get(report, "first_failure")), 4);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 2);
    assert_int_equal(json_array_size(json_object_get(report, "curve")), 5);
    last = json_array_get(json_object_get(report, "curve"), 4);
    assert_int_equal(json_integer_value(json_object_get(last, "behaviours")), 3);
    assert_int_equal(json_integer_value(json_object_get(last, "findings")), 2);
    json_decref(report);
    mr_run_free(&run);
}

/* Inputs are told of a hunt that has just ended; one is not called "inputs". */
static void test_inputs(void **state)
{
    (void)state;
    static const double one[] = {1};
    mr_hunt_figures figures = {.folder = "bank.hunt",
                               .runs = 1,
                               .inputs_tried = 1,
                               .seconds = 1,
                               .ended = one,
                               .at = one,
                               .behaviours = one,
                               .findings = one,
                               .point_count = 1};
    char *text = NULL;
    size_t length;
    mr_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(mr_hunt_report_text(stream, &figures, &error), MR_OK);
    fclose(stream);
    assert_string_equal(text, "bank.hunt: 1 run, 1 behaviour, 0 races confirmed, 0 other findings, "
                              "1.0 s\n1 input tried, 0 of them covered something new.\n"
                              "No run failed.\n");
    free(text);
}

static void test_refusals(void **state)
{
    (void)state;
    static const mr_run_row rows[] = {
        {"hunt --report @/nowhere", 4, NULL, "@/nowhere: this is not the folder of a hunt\n"},
    };
    MR_RUN_ROWS(&scratch, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
