/* The figures of the papers: what each order says about each pair of accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/read.h"
#include "order/detect/detect.h"
#include "order/order.h"
#include "support/figures.h"
#include "support/order_reference.h"

static mr_trace *read_figure(const mr_figure *figure)
{
    char path[128];
    snprintf(path, sizeof path, "tests/figures/%s.std", figure->file);
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    if (mr_trace_read(path, &options, &trace, &error) != MR_OK)
        fail_msg("%s: %s", path, error.text);
    return trace;
}

/* The only access at the location. */
static uint32_t find_access(const mr_trace *trace, const char *location)
{
    uint32_t number, found = MR_NONE;
    assert_true(mr_names_find(&trace->locations, location, (uint32_t)strlen(location), &number));
    for (uint32_t event = 0; event < trace->event_count; event++) {
        if (trace->location[event] != number)
            continue;
        assert_true(mr_op_is_access(trace->op[event]) && found == MR_NONE);
        found = event;
    }
    assert_true(found != MR_NONE);
    return found;
}

static bool ordered(const mr_trace *trace, mr_relation relation, uint32_t first, uint32_t second)
{
    mr_order *order = mr_order_new(trace, relation);
    assert_non_null(order);
    assert_int_equal(mr_order_slide(order, 0, trace->event_count, NULL), MR_OK);
    bool result = mr_order_ordered(order, first, second);
    mr_order_free(order);
    return result;
}

/* What the row says of the relation: is the pair reported? */
static bool expected_report(const mr_figure *figure, mr_relation relation)
{
    const bool reported[MR_RELATION_COUNT] = {
        [MR_RELATION_HB] = !figure->hb_ordered,   [MR_RELATION_FHB] = figure->fhb_race,
        [MR_RELATION_SHB] = figure->shb_race,     [MR_RELATION_CP] = !figure->cp_ordered,
        [MR_RELATION_WCP] = !figure->wcp_ordered, [MR_RELATION_SYNCP] = figure->syncp_race,
        [MR_RELATION_C17] = figure->shb_race, /* all is sequentially consistent there */
        [MR_RELATION_HYBRID] = figure->hybrid,
    };
    return reported[relation];
}

/* The two locations have no other access, so their static race is the pair. */
static bool reports(const mr_trace *trace, mr_relation relation, uint32_t first, uint32_t second)
{
    const mr_detect_options options = {.most_examples = 1};
    const uint32_t *location = trace->location;
    mr_race_list list;
    mr_error error = {0};
    if (mr_detect(relation, trace, &options, &list, &error) != MR_OK)
        fail_msg("%s: %s", mr_relation_name(relation), error.text);
    bool found = mr_race_list_find(&list, location[first], location[second]) != UINT32_MAX;
    mr_race_list_free(&list);
    return found;
}

static void expect(const mr_figure *figure, const char *column, bool expected, bool actual)
{
    if (expected != actual)
        fail_msg("%s, events at %s and %s, %s: expected %s, got %s", figure->file, figure->first,
                 figure->second, column, expected ? "true" : "false", actual ? "true" : "false");
}

static void test_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        mr_trace *trace = read_figure(figure);
        uint32_t first = find_access(trace, figure->first);
        uint32_t second = find_access(trace, figure->second);
        for (int r = 0; r < MR_RELATION_COUNT; r++)
            expect(figure, mr_relation_name((mr_relation)r),
                   expected_report(figure, (mr_relation)r),
                   reports(trace, (mr_relation)r, first, second));
        expect(figure, "HB-ordered", figure->hb_ordered,
               ordered(trace, MR_RELATION_HB, first, second));
        expect(figure, "WCP-ordered", figure->wcp_ordered,
               ordered(trace, MR_RELATION_WCP, first, second));
        mr_trace_free(trace);
    }
}

/* The definitions, as the tests of the orders read them, say what the papers say. */
static void test_definitions(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        mr_trace *trace = read_figure(figure);
        uint32_t first = find_access(trace, figure->first);
        uint32_t second = find_access(trace, figure->second);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        assert_true(mr_reference_conflict(trace, first, second));
        for (int r = 0; r < MR_RELATION_COUNT; r++)
            expect(figure, mr_relation_name((mr_relation)r),
                   expected_report(figure, (mr_relation)r),
                   mr_reference_reports(&reference, (mr_relation)r, first, second));
        mr_trace_free(trace);
    }
}

/* The table must agree with itself (docs/semantics.md 6). */
static void test_table_is_consistent(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        assert_true(figure->hb_ordered || !figure->cp_ordered);
        assert_true(figure->cp_ordered || !figure->wcp_ordered);
        assert_true(!figure->fhb_race || figure->shb_race);
        assert_true(!figure->shb_race || (!figure->hb_ordered && figure->syncp_race));
        assert_true(!figure->syncp_race || figure->rf_race);
        assert_true(!figure->rf_race || figure->hybrid);
        assert_true(figure->wcp_ordered || figure->hybrid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_table_is_consistent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
