/* planted: the generated traces race exactly where races were planted, each kind is found by the
 * analysis that it is named after and by no weaker one, and the list says where everything is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "base/memory.h"
#include "bench/planted.h"
#include "engine/predict.h"
#include "order/detect/detect.h"
#include "support/collect.h"

#include <stdlib.h>
#include <string.h>

enum { EACH = 3 };

typedef struct planted {
    mr_trace *trace;
    mr_planted_pair *pairs;
    size_t count;
} planted;

static planted plant(uint64_t events, uint64_t seed)
{
    mr_planted_shape shape = {.events = events, .each = EACH, .seed = seed};
    planted self = {NULL, NULL, 0};
    mr_collected it = {.count = 0};
    assert_true(mr_planted_write(&shape, mr_collect, &it, &self.pairs, &self.count));
    self.trace = mr_test_read(it.bytes, false); /* refuses what is not valid */
    free(it.bytes);
    return self;
}

static void clear(planted *self)
{
    mr_trace_free(self->trace);
    free(self->pairs);
}

static uint32_t location_of(const mr_trace *trace, const char *name)
{
    uint32_t number = 0;
    assert_true(mr_names_find(&trace->locations, name, (uint32_t)strlen(name), &number));
    return number;
}

/* The pairs of locations that an analysis found, as (low, high). */
typedef struct found {
    mr_u32s numbers;
} found;

static void add(found *self, uint32_t one, uint32_t two)
{
    assert_true(mr_u32s_push(&self->numbers, one < two ? one : two));
    assert_true(mr_u32s_push(&self->numbers, one < two ? two : one));
}

static bool has(const found *self, uint32_t one, uint32_t two)
{
    uint32_t low = one < two ? one : two, high = one < two ? two : one;
    for (size_t i = 0; i < self->numbers.count; i += 2)
        if (self->numbers.items[i] == low && self->numbers.items[i + 1] == high)
            return true;
    return false;
}

static found found_by_order(const mr_trace *trace, mr_relation relation)
{
    found self = {{NULL, 0, 0}};
    mr_race_list list;
    mr_error error;
    mr_detect_options options = {.most_examples = 1};
    assert_int_equal(mr_detect(relation, trace, &options, &list, &error), MR_OK);
    for (size_t i = 0; i < list.race_count; i++)
        add(&self, list.races[i].low, list.races[i].high);
    mr_race_list_free(&list);
    return self;
}

static found found_by_prediction(const mr_trace *trace, const char *model)
{
    found self = {{NULL, 0, 0}};
    mr_error error;
    mr_result result = {0};
    mr_config *config = mr_config_new();
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "model", model, NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "window.size", "0", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    assert_int_equal(result.stats.rejected_witnesses, 0);
    for (size_t i = 0; i < result.race_count; i++)
        add(&self, trace->location[result.races[i].witness.first],
            trace->location[result.races[i].witness.second]);
    mr_result_free(&result);
    mr_config_free(config);
    return self;
}

/* Exactly the kinds up to `kind` are found. */
static void check_found(const planted *self, found what, mr_planted_kind kind)
{
    size_t expected = 0;
    for (size_t i = 0; i < self->count; i++) {
        const mr_planted_pair *pair = &self->pairs[i];
        bool is_there = has(&what, location_of(self->trace, pair->locations[0]),
                            location_of(self->trace, pair->locations[1]));
        if (is_there != (pair->kind <= kind))
            fail_msg("%s is%s found by %s", pair->locations[0], is_there ? "" : " not",
                     mr_planted_kind_name(kind));
        expected += pair->kind <= kind;
    }
    assert_int_equal(what.numbers.count, 2 * expected);
    mr_u32s_free(&what.numbers);
}

static void test_found_by_the_analysis_of_its_name(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1000, 2500, 10000};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted self = plant(sizes[seed % 3], seed);
        check_found(&self, found_by_order(self.trace, MR_RELATION_HB), MR_PLANTED_HB);
        check_found(&self, found_by_order(self.trace, MR_RELATION_SYNCP), MR_PLANTED_SYNCP);
        check_found(&self, found_by_prediction(self.trace, "rf"), MR_PLANTED_RF);
        check_found(&self, found_by_prediction(self.trace, "value"), MR_PLANTED_VALUE);
        clear(&self);
    }
}

static void test_list(void **state)
{
    (void)state;
    planted self = plant(20000, 5);
    const mr_trace *trace = self.trace;
    assert_int_equal(self.count, MR_PLANTED_KINDS * 3 * EACH);
    assert_true(trace->event_count > 20000 && trace->event_count < 22000);
    assert_int_equal(trace->by_source_count, 0);
    for (size_t i = 0; i < self.count; i++) {
        const mr_planted_pair *pair = &self.pairs[i];
        uint64_t distance = pair->events[1] - pair->events[0];
        assert_true(distance >= pair->distance && distance <= pair->distance + 2000);
        for (int side = 0; side < 2; side++) {
            uint32_t event = (uint32_t)pair->events[side];
            assert_int_equal(trace->location[event], location_of(trace, pair->locations[side]));
            assert_true(trace->op[event] == MR_OP_READ || trace->op[event] == MR_OP_WRITE);
        }
        assert_int_equal(trace->operand[pair->events[0]], trace->operand[pair->events[1]]);
    }
    clear(&self);
}

static void test_same_seed_same_trace(void **state)
{
    (void)state;
    mr_collected texts[3] = {{.count = 0}};
    for (int i = 0; i < 3; i++) {
        mr_planted_shape shape = {.events = 150000, .each = 2, .seed = i == 2 ? 8 : 7};
        mr_planted_pair *pairs;
        size_t count;
        assert_true(mr_planted_write(&shape, mr_collect, &texts[i], &pairs, &count));
        assert_int_equal(count, MR_PLANTED_KINDS * 4 * 2);
        free(pairs);
    }
    assert_string_equal(texts[0].bytes, texts[1].bytes);
    assert_string_not_equal(texts[0].bytes, texts[2].bytes);
    for (int i = 0; i < 3; i++)
        free(texts[i].bytes);
}

static void test_failures(void **state)
{
    (void)state;
    static const size_t limits[] = {1, 300000, 1000000};
    mr_planted_pair *pairs;
    size_t count;
    for (size_t i = 0; i < 3; i++) {
        mr_planted_shape shape = {.events = 50000, .each = 1, .seed = 1};
        mr_collected it = {.limit = limits[i]};
        assert_false(mr_planted_write(&shape, mr_collect, &it, &pairs, &count));
        assert_null(pairs);
        free(it.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_by_the_analysis_of_its_name),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_same_seed_same_trace),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
