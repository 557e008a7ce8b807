/* Race lists against a model that keeps all pairs and picks at the end: added in the order of the
 * second access, or in any order; any number of examples; marks and counts of racy events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/race_list.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { LOCATIONS = 4, MOST_EXAMPLES = 4, ROUNDS = 3000 };

/* The pairs of a round, ascending by (second, first). Each event has one location. */
typedef struct sample {
    uint32_t location[30];
    mr_race_example pairs[60];
    uint32_t count;
} sample;

static int compare_pairs(const void *one, const void *two)
{
    const mr_race_example *x = one, *y = two;
    if (x->second.event != y->second.event)
        return x->second.event < y->second.event ? -1 : 1;
    return (x->first.event > y->first.event) - (x->first.event < y->first.event);
}

static void make_sample(mr_random *random, sample *s)
{
    const uint32_t events = 30;
    *s = (sample){.count = 0};
    for (uint32_t event = 0; event < events; event++)
        s->location[event] = mr_random_below(random, LOCATIONS);
    uint32_t wanted = mr_random_below(random, 60);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t second = 1 + mr_random_below(random, events - 1);
        uint32_t first = mr_random_below(random, second);
        s->pairs[s->count++] = (mr_race_example){
            .variable = second % 3,
            .first = {.event = first, .thread = 1, .location = s->location[first]},
            .second = {.event = second, .thread = 2, .location = s->location[second]},
            .next = 12345, /* ignored */
        };
    }
    qsort(s->pairs, s->count, sizeof s->pairs[0], compare_pairs);
}

static bool is_of(const mr_race_example *pair, uint32_t low, uint32_t high)
{
    uint32_t a = pair->first.location, b = pair->second.location;
    return (a == low && b == high) || (a == high && b == low);
}

/* What should be kept of the static race: of each of the first second events the latest first one.
 */
static uint32_t model_of(const sample *s, uint32_t low, uint32_t high, uint32_t most,
                         uint32_t kept[MOST_EXAMPLES])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!is_of(&s->pairs[i], low, high))
            continue;
        if (count > 0 && s->pairs[kept[count - 1]].second.event == s->pairs[i].second.event)
            kept[count - 1] = i;
        else if (count < most)
            kept[count++] = i;
        else
            break;
    }
    return count;
}

static void check_race(const mr_race_list *list, const sample *s, uint32_t low, uint32_t high,
                       uint32_t most)
{
    uint32_t kept[MOST_EXAMPLES], count = model_of(s, low, high, most, kept);
    uint32_t number = mr_race_list_find(list, high, low);
    assert_int_equal(number, mr_race_list_find(list, low, high));
    if (count == 0) {
        assert_int_equal(number, UINT32_MAX);
        return;
    }
    assert_true(number < list->race_count);
    const mr_static_race *race = &list->races[number];
    assert_int_equal(race->low, low);
    assert_int_equal(race->high, high);
    assert_int_equal(race->example_count, count);
    uint32_t at = race->first_example, last = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const mr_race_example *example = &list->examples[at], *right = &s->pairs[kept[i]];
        assert_int_equal(example->first.event, right->first.event);
        assert_int_equal(example->second.event, right->second.event);
        assert_int_equal(example->first.location, right->first.location);
        last = at;
        at = example->next;
    }
    assert_int_equal(at, UINT32_MAX);
    assert_int_equal(race->last_example, last);
}

/* After finish: sorted by the first example, and the examples of a race one behind the other. */
static void check_order(const mr_race_list *list)
{
    uint32_t next = 0;
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_static_race *race = &list->races[i];
        assert_int_equal(race->first_example, next);
        next += race->example_count;
        if (i > 0)
            assert_true(compare_pairs(&list->examples[list->races[i - 1].first_example],
                                      &list->examples[race->first_example]) < 0);
    }
    assert_int_equal(list->example_count, next);
}

static void check_list(mr_race_list *list, const sample *s, uint32_t most)
{
    for (int finished = 0; finished < 2; finished++) {
        for (uint32_t low = 0; low < LOCATIONS; low++)
            for (uint32_t high = low; high < LOCATIONS; high++)
                check_race(list, s, low, high, most);
        if (!finished)
            assert_true(mr_race_list_finish(list));
    }
    check_order(list);
}

static void test_adding(void **state)
{
    (void)state;
    mr_random random = {.state = 20211120};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        sample s;
        uint32_t most = 1 + round % MOST_EXAMPLES;
        mr_race_list list;
        make_sample(&random, &s);
        mr_race_list_init(&list, most, false);
        for (uint32_t i = 0; i < s.count; i++)
            assert_true(mr_race_list_add(&list, &s.pairs[i]));
        check_list(&list, &s, most);
        mr_race_list_free(&list);
    }
}

/* Settled: as many examples as are wanted, and none of them could still be replaced. */
static void test_settled(void **state)
{
    (void)state;
    mr_race_list list;
    mr_race_example pair = {.first = {.event = 1, .location = 7},
                            .second = {.event = 5, .location = 3}};
    mr_race_list_init(&list, 2, false);
    assert_false(mr_race_list_settled(&list, 7, 3, 9));
    assert_true(mr_race_list_add(&list, &pair));
    assert_false(mr_race_list_settled(&list, 7, 3, 9));
    pair.second.event = 8;
    assert_true(mr_race_list_add(&list, &pair));
    assert_false(mr_race_list_settled(&list, 3, 7, 8)); /* a later first access may come */
    assert_true(mr_race_list_settled(&list, 3, 7, 9));
    assert_true(mr_race_list_settled(&list, 7, 3, 9));
    assert_false(mr_race_list_settled(&list, 7, 7, 9));
    mr_race_list_free(&list);
}

static void test_racy_events(void **state)
{
    (void)state;
    static const struct {
        uint32_t event, location, variable;
    } rows[] = {{2, 900, 5}, {3, 0, 5}, {7, 900, 0}, {8, 900, 100000}, {9, 1, 5}};
    for (int keep = 0; keep < 2; keep++) {
        mr_race_list list;
        mr_race_list_init(&list, 0, keep);
        assert_int_equal(list.most_examples, 1);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            assert_true(
                mr_race_list_racy(&list, rows[i].event, rows[i].location, rows[i].variable));
        assert_true(mr_race_list_finish(&list));
        assert_int_equal(list.racy_event_count, 5);
        assert_int_equal(list.racy_location_count, 3);
        assert_int_equal(list.racy_variable_count, 3);
        assert_int_equal(list.events.count, keep ? 5 : 0);
        for (size_t i = 0; i < list.events.count; i++)
            assert_int_equal(list.events.items[i], rows[i].event);
        mr_race_list_free(&list);
    }
}

static bool fill(mr_race_list *list, const sample *s)
{
    mr_race_list_init(list, 2, true);
    for (uint32_t i = 0; i < s->count; i++)
        if (!mr_race_list_add(list, &s->pairs[i]) || !mr_race_list_racy(list, i, i, i))
            return false;
    return mr_race_list_finish(list);
}

static void test_no_memory(void **state)
{
    (void)state;
    mr_random random = {.state = 3};
    sample s;
    do
        make_sample(&random, &s);
    while (s.count < 40);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        mr_race_list list;
        mr_memory_fail_after(n);
        done = fill(&list, &s);
        mr_memory_fail_after(0);
        assert_true(done || n < 100);
        assert_true(!done || n > 5);
        mr_race_list_free(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_racy_events),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
