/*
 * Proofs spot by spot (src/far/spots.h) against exhaustive search: on random traces with all kinds of
 * operations, in windows cut at random, for pairs of accesses and for lists. Spots are as short as they
 * can be, so that lists of a few accesses are divided.
 *
 *   SPOTS_TRACES, SPOTS_SEED, SPOTS_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "far/spots.h"
#include "support/window_trials.h"

#include <inttypes.h>

enum { DEFAULT_TRACES = 3000, SHARE_TRACES = 1200, DEFAULT_SEED = 27182818, STEPS = 100000 };

/* Without saturation of the whole cone, or with it. */
enum {
    PROVES =
        MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_ELIMINATE)
};
enum { SEARCHES = PROVES | MR_STEP_BIT(MR_STEP_SATURATE) };

typedef struct examination {
    mr_window_trials trials;
    mr_worker worker;
    uint64_t questions, lists, without, proven, proven_lists, by_saturation;
} examination;

/* Does a witness end in an access of each list? */
static bool race(const examination *x, const mr_stops *a, const mr_stops *b)
{
    const mr_exhaustive *search = &x->trials.search;
    for (size_t i = 0; i < search->hit_count; i++)
        if (mr_window_trials_is_between(&x->trials, &search->hits[i].race, a, b))
            return true;
    return false;
}

static bool is_proven(examination *x, mr_stops a, mr_stops b, uint32_t stretch, unsigned steps)
{
    const mr_setup *setup = &x->trials.setup;
    mr_problem problem = {.window = setup->window,
                          .hard = setup->hard,
                          .forced = setup->forced,
                          .source = setup->source};
    mr_far_spots spots = {.worker = &x->worker,
                          .problem = &problem,
                          .options = {.steps = steps, .saturate_steps = STEPS},
                          .stretch = stretch,
                          /* as after a spot that needed a large region */
                          .region = x->questions % 2 ? 1 << 15 : 0};
    bool proven = false;
    assert_int_equal(mr_far_spots_prove(&spots, a, b, &proven), MR_OK);
    x->by_saturation += proven && spots.step == MR_STEP_SATURATE;
    mr_arena_reset(&x->worker.arena);
    return proven;
}

static void ask(void *context, mr_stops a, mr_stops b)
{
    examination *x = context;
    uint32_t stretch = 1 + x->questions % 3;
    bool races = race(x, &a, &b), is_list = a.count > 1 || b.count > 1;
    x->questions++;
    x->lists += is_list;
    x->without += !races;
    for (int search = 0; search < 2; search++) {
        bool proven = is_proven(x, a, b, stretch, search ? SEARCHES : PROVES);
        x->proven += proven && search;
        x->proven_lists += proven && search && is_list;
        if (proven && races)
            mr_window_trials_wrong(&x->trials,
                                   "lists of %" PRIu32 " and %" PRIu32 " accesses from %" PRIu32
                                   " and %" PRIu32 ": proven in spots of %" PRIu32
                                   ", and they race",
                                   a.count, b.count, a.events[0], b.events[0], stretch);
    }
}

static void proofs_agree_with_exhaustive_search(void **state)
{
    (void)state;
    mr_error error = {0};
    examination x = {.trials = {.context = &x,
                                .ask = ask,
                                .lists = true,
                                .bundles = true,
                                .every_witness = true},
                     .worker = {.session = mr_session_new(), .error = &error}};
    const mr_trials trials = {.prefix = "SPOTS",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    assert_non_null(x.worker.session);
    mr_arena_init(&x.worker.arena);
    uint64_t traces = mr_trials_run(&trials, mr_window_trials_trial, &x.trials);
    mr_arena_free(&x.worker.arena);
    mr_session_free(x.worker.session);
    print_message("%" PRIu64 " questions, %" PRIu64 " about lists: %" PRIu64
                  " without a race, %" PRIu64 " proven (%" PRIu64 " about lists), %" PRIu64
                  " by saturation\n",
                  x.questions, x.lists, x.without, x.proven, x.proven_lists, x.by_saturation);
    if (traces >= DEFAULT_TRACES)
        assert_true(x.proven > x.without / 10 * 9 && x.proven_lists > 1000 &&
                    x.by_saturation > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_agree_with_exhaustive_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
