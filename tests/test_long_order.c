/* Event numbers beyond 32 bits: the streaming orders give the same races when the numbers of the
 * events begin later, before, at and beyond 2^32, and those of the same events in an .mrt file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "order/detect/detect.h"
#include "support/crowd.h"
#include "support/length.h"
#include "support/random_walk.h"

#include "formats/read.h"

#include <inttypes.h>
#include <string.h>

enum { EVENTS = 1500, SHARE_TRACES = 60, FULL_TRACES = 1000, BLOCK = 97, EXAMPLES = 3 };

static const mr_relation relations[] = {MR_RELATION_HB,  MR_RELATION_FHB, MR_RELATION_SHB,
                                        MR_RELATION_WCP, MR_RELATION_C17, MR_RELATION_HYBRID};
enum { RELATIONS = sizeof relations / sizeof relations[0] };

static char text[EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];

static mr_trace *make_trace(uint64_t seed)
{
    mr_trace *trace = NULL;
    mr_error error;
    switch (seed % 4) {
    case 0:
        mr_random_walk(seed, EVENTS, text);
        break;
    case 1:
        mr_random_walk_hot(seed, EVENTS, text);
        break;
    case 2:
        mr_random_walk_lives(seed, EVENTS, text);
        break;
    default:
        mr_crowd(seed, EVENTS, text);
        break;
    }
    assert_int_equal(mr_trace_read_text("test", text, strlen(text), NULL, &trace, &error), MR_OK);
    return trace;
}

/* The races of the trace, whose first event has the number `start`. */
static mr_status find(mr_relation relation, const mr_trace *trace, uint64_t start,
                      mr_race_list *list, mr_error *error)
{
    mr_detect_options options = {.most_examples = EXAMPLES, .opaque = MR_OPAQUE_IGNORE};
    mr_detector *detector = mr_detector_new(relation, &options);
    mr_status status = MR_OK;
    assert_non_null(detector);
    mr_race_list_init(list, 0, false);
    for (uint32_t first = 0; first < trace->event_count && !status; first += BLOCK) {
        uint32_t left = (uint32_t)trace->event_count - first;
        mr_events events = mr_events_of_trace(trace, first, left < BLOCK ? left : BLOCK);
        events.first += start;
        status = mr_detector_feed(detector, &events, error);
    }
    if (!status)
        status = mr_detector_finish(detector, list, error);
    mr_detector_free(detector);
    return status;
}

static void compare(const mr_race_list *here, const mr_race_list *there, uint64_t start)
{

    assert_int_equal(here->racy_event_count, there->racy_event_count);
    assert_int_equal(here->race_count, there->race_count);
    assert_int_equal(here->example_count, there->example_count);
    for (size_t i = 0; i < here->race_count; i++) {
        assert_int_equal(here->races[i].low, there->races[i].low);
        assert_int_equal(here->races[i].high, there->races[i].high);
    }
    for (size_t i = 0; i < here->example_count; i++) {
        assert_true(here->examples[i].first.event + start == there->examples[i].first.event);
        assert_true(here->examples[i].second.event + start == there->examples[i].second.event);
    }
}

static void test_offsets(void **state)
{
    (void)state;
    const uint64_t two_32 = UINT64_C(1) << 32;
    const uint64_t starts[] = {two_32 - 700, two_32 - 1, two_32, 3 * two_32 + 12345,
                               255 * two_32 + 17};
    uint64_t traces = mr_length("LONG_TRACES", SHARE_TRACES, FULL_TRACES), races = 0;
    uint64_t seed = mr_number_from_environment("LONG_SEED", 0);
    for (uint64_t i = 0; i < traces; i++) {
        mr_trace *trace = make_trace(seed + i);
        for (int r = 0; r < RELATIONS; r++) {
            mr_race_list here, there;
            mr_error error;
            assert_int_equal(find(relations[r], trace, 0, &here, &error), MR_OK);
            races += here.race_count;
            for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
                if (relations[r] == MR_RELATION_WCP && starts[k] > 2 * two_32 - EVENTS)
                    continue; /* its sections are counted in 32 bits */
                if (find(relations[r], trace, starts[k], &there, &error) != MR_OK)
                    fail_msg("seed %" PRIu64 ": %s", seed + i, error.text);
                compare(&here, &there, starts[k]);
                mr_race_list_free(&there);
            }
            mr_race_list_free(&here);
        }
        mr_trace_free(trace);
    }
    assert_true(races > traces);
}

/* What has more events than the numbers have room for is refused. */
static void test_too_long(void **state)
{
    (void)state;
    const uint64_t two_40 = UINT64_C(1) << 40, two_33 = UINT64_C(1) << 33;
    mr_trace *trace = make_trace(0);
    mr_race_list list;
    mr_error error;
    assert_int_equal(find(MR_RELATION_HB, trace, two_40 - 10, &list, &error), MR_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "too long"));
    assert_int_equal(find(MR_RELATION_WCP, trace, two_33, &list, &error), MR_ERR_UNSUPPORTED);
    assert_int_equal(find(MR_RELATION_HB, trace, two_33, &list, &error), MR_OK);
    mr_race_list_free(&list);
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
