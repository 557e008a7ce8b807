/* late: the races of a crowded trace whose witnesses are shortened last (src/witness/late.h): those of a report that shows few stay
 * long and are shortened when they are opened, all others are as short as if each had been shortened at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/trace_reading.h"

#include "bench/hard.h"
#include "engine/shorten.h"
#include "support/predicted.h"
#include "witness/checker.h"
#include "witness/late.h"
#include "witness/minimise.h"
#include "witness/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_trace *make(void)
{
    static const mr_hard_shape shape = {"hot", MR_HARD_HOT, 2500, 3, 0, 12, 8, false, 2};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_true(mr_hard_write(&shape, out));
    assert_int_equal(fclose(out), 0);
    mr_trace *trace = mr_test_read(text, false);
    free(text);
    return trace;
}

static mr_result predict(const mr_trace *trace, const char *minimise, bool shows_few)
{
    const char *const settings[] = {"model", "value", "candidates.crowded", "1",
                                    "jobs",  "2",     "witness.minimise",   minimise,
                                    NULL};
    mr_config *config = mr_settings_of(settings);
    const mr_predict_run run = {.shows_few = shows_few};
    mr_result result = {0};
    mr_error error;
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    assert_int_equal(result.stats.rejected_witnesses, 0);
    mr_config_free(config);
    mr_predicted_check(trace, &result);
    return result;
}

/* What the minimiser makes of a witness; to be freed. */
static mr_witness shortened(const mr_trace *trace, const mr_witness *witness)
{
    mr_witness room, copy;
    mr_error error;
    const mr_witness *open = mr_witness_open(trace, witness, &room);
    assert_non_null(open);
    copy = *open;
    copy.packed = NULL;
    copy.waits = NULL;
    copy.events = calloc(open->event_count + 1, sizeof *copy.events);
    assert_non_null(copy.events);
    memcpy(copy.events, open->events, open->event_count * sizeof *copy.events);
    mr_witness_free(&room);
    assert_int_equal(mr_witness_minimise(trace, NULL, &copy, &error), MR_OK);
    return copy;
}

static bool is_same(const mr_witness *a, const mr_witness *b)
{
    return a->first == b->first && a->second == b->second && a->window_start == b->window_start &&
           a->window_end == b->window_end && a->event_count == b->event_count &&
           memcmp(a->events, b->events, a->event_count * sizeof *a->events) == 0;
}

/* Is the witness as the minimiser would make it of `expected`? */
static void compare(const mr_trace *trace, const mr_witness *witness, const mr_witness *expected)
{
    mr_witness room;
    const mr_witness *open = mr_witness_open(trace, witness, &room);
    assert_non_null(open);
    assert_true(is_same(open, expected));
    mr_witness_free(&room);
}

static void shown_witnesses_are_short(void **state)
{
    (void)state;
    mr_trace *trace = make();
    mr_result as_found = predict(trace, "false", false), all = predict(trace, "true", false);
    mr_result few = predict(trace, "true", true);
    size_t longer = 0, changed = 0;
    assert_int_equal(all.race_count, as_found.race_count);
    assert_int_equal(few.race_count, as_found.race_count);
    assert_true(few.race_count > 100);
    for (size_t i = 0; i < few.race_count; i++) {
        mr_witness expected = shortened(trace, &as_found.races[i].witness), room;
        assert_false(as_found.races[i].is_long);
        assert_false(all.races[i].is_long);
        compare(trace, &all.races[i].witness, &expected);
        if (few.races[i].is_long) {
            const mr_witness *open =
                mr_witness_open_long(trace, MR_OPAQUE_IGNORE, &few.races[i].witness, &room);
            assert_non_null(open);
            assert_true(is_same(open, &expected));
            compare(trace, &few.races[i].witness, &as_found.races[i].witness);
            longer++;
            mr_witness_free(&room);
        } else {
            compare(trace, &few.races[i].witness, &expected);
        }
        const mr_witness *open = mr_witness_open(trace, &as_found.races[i].witness, &room);
        changed += !is_same(open, &expected);
        mr_witness_free(&room);
        mr_witness_free(&expected);
    }
    assert_true(longer > 100);
    assert_true(changed > 10);
    mr_result_free(&as_found);
    mr_result_free(&all);
    mr_result_free(&few);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_witnesses_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
