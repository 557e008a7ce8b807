/* Values that a variable does not have while a thread is inside a value lock: in windows of random traces, against all reorderings that
 * exhaustive search finds. What elimination makes of it: test_eliminate.
 *
 *   OCCUPIED_TRACES chooses how many */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate_flags.h"
#include "support/length.h"
#include "support/random.h"
#include "support/setup.h"
#include "windows/occupied.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEFAULT_TRACES = 4000 };

/* How often a read came while another thread was in a stretch that does not exclude it, and how often before or after one that does. */
typedef struct tally {
    uint64_t beside, apart;
} tally;

/* The event that is done from one state to the next. */
static uint32_t event_of(const mr_window *w, const mr_exhaustive *search, mr_exhaustive_step step)
{
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t count = mr_exhaustive_done(search, step.from, w->threads[t].number);
        if (mr_exhaustive_done(search, step.to, w->threads[t].number) != count)
            return mr_window_at(w, t, count);
    }
    fail_msg("a step without an event");
    return MR_NONE;
}

/* Is no thread in a stretch that excludes the read which the step does? */
static bool check_step(const mr_window *w, const mr_exhaustive *search, mr_exhaustive_step step,
                       tally *count)
{
    uint32_t read = event_of(w, search, step);
    uint8_t op = mr_window_op(w, read);
    if (!mr_op_is_access(op) || !mr_op_reads(op) || !mr_occupied_has(w, w->object[read]))
        return true;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        uint32_t done = mr_exhaustive_done(search, step.from, w->threads[t].number);
        mr_stretches all = mr_occupied_of(w, w->object[read], t);
        for (uint32_t i = 0; t != w->thread[read] && i < all.count; i++) {
            const mr_stretch *it = &all.items[i];
            bool begun = it->first == MR_NONE || w->position[it->first] < done;
            bool ended = it->end != MR_NONE && w->position[it->end] < done;
            bool excludes = mr_occupied_excludes(w, it, read);
            assert_int_equal(it->thread, t);
            assert_true(begun || !ended);
            if (begun && !ended && excludes)
                return false;
            count->beside += begun && !ended;
            count->apart += ended == begun && excludes;
        }
    }
    return true;
}

static void check_window(const char *text, uint64_t seed, tally *count)
{
    mr_setup setup;
    mr_exhaustive search;
    mr_random random = {seed};
    const mr_exhaustive_options options = {.model = MR_MODEL_VALUE, .whole = true};
    mr_setup_open(&setup, text);
    uint32_t size = setup.trace->event_count;
    uint32_t start = mr_random_below(&random, 2) ? 0 : mr_random_below(&random, size / 2);
    uint32_t end = mr_random_below(&random, 2) ? size : mr_random_range(&random, start + 1, size);
    mr_setup_window(&setup, start, end, MR_MODEL_VALUE);
    if (setup.window->occupied) {
        assert_true(mr_exhaustive_find_with(setup.trace, &options, start, end, &search));
        for (size_t i = 0; i < search.step_count; i++)
            if (!check_step(setup.window, &search, search.steps[i], count))
                fail_msg("seed %" PRIu64 ", [%" PRIu32 ", %" PRIu32 "): %" PRIu32
                         " comes inside a stretch:\n%s",
                         seed, start, end, start + event_of(setup.window, &search, search.steps[i]),
                         text);
        mr_exhaustive_free(&search);
    }
    mr_setup_close(&setup);
}

static void test_random_traces(void **state)
{
    (void)state;
    tally count = {0};
    uint64_t traces = mr_number_from_environment("OCCUPIED_TRACES", DEFAULT_TRACES);
    for (uint64_t seed = 1; seed <= traces; seed++) {
        char text[MR_FLAGS_TEXT];
        mr_generate_flags(seed, text);
        check_window(text, seed, &count);
    }
    print_message("%" PRIu64 " reads beside, %" PRIu64 " apart\n", count.beside, count.apart);
    if (traces >= DEFAULT_TRACES)
        assert_true(count.beside > 1000 && count.apart > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
