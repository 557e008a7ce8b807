/*
 * Is the yardstick of the whole-trace orders right? What support/order_reference.h reports, against
 * exhaustive search and against the containments of docs/semantics.md 6, on random traces.
 *
 * ORDERS_TRACES, ORDERS_SEED, ORDERS_SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/order_races.h"
#include "support/trials.h"

#include <inttypes.h>

enum {
    DEFAULT_TRACES = 4000,
    SHARE_TRACES = 2000,
    DEFAULT_SEED = 20181022,
    LEAST_TRACES_FOR_COUNTS = 2000,
};

/* All that the first reports, the second reports. */
static const struct {
    mr_relation small, big;
} containments[] = {
    {MR_RELATION_FHB, MR_RELATION_SHB},    {MR_RELATION_SHB, MR_RELATION_HB},
    {MR_RELATION_HB, MR_RELATION_CP},      {MR_RELATION_CP, MR_RELATION_WCP},
    {MR_RELATION_SHB, MR_RELATION_SYNCP},  {MR_RELATION_WCP, MR_RELATION_HYBRID},
    {MR_RELATION_C17, MR_RELATION_HYBRID}, {MR_RELATION_SYNCP, MR_RELATION_HYBRID},
};

enum { CONTAINMENTS = sizeof containments / sizeof *containments };

typedef struct examination {
    mr_order_reference reference;
    mr_order_races races[MR_RELATION_COUNT];
    uint64_t strict[CONTAINMENTS];    /* traces in which the big one reports more */
    uint64_t beyond_syncp, beyond_rf; /* traces with a race of rf that is none of SyncP, … */
} examination;

static void find_all(examination *x, const mr_trace *trace)
{
    mr_order_reference_build(&x->reference, trace);
    for (int relation = 0; relation < MR_RELATION_COUNT; relation++)
        mr_order_races_find(&x->races[relation], &x->reference, (mr_relation)relation);
}

static void examine_containments(mr_trial *trial, examination *x)
{
    uint32_t first, second;
    for (int i = 0; i < CONTAINMENTS; i++) {
        const mr_order_races *small = &x->races[containments[i].small];
        const mr_order_races *big = &x->races[containments[i].big];
        if (!mr_order_races_within(small, big, &first, &second))
            mr_trial_wrong(trial, "%" PRIu32 "-%" PRIu32 " is reported by %s, not by %s", first,
                           second, mr_relation_name(containments[i].small),
                           mr_relation_name(containments[i].big));
        x->strict[i] += !mr_order_races_within(big, small, &first, &second);
    }
}

/* The set of races of a search: bit b of row a. */
static mr_order_matrix pairs_of(const mr_exhaustive *search)
{
    mr_order_matrix pairs = {{0}};
    for (size_t i = 0; i < search->race_count; i++)
        pairs.rows[search->races[i].first] |= UINT64_C(1) << search->races[i].second;
    return pairs;
}

/* The pairs that are in one and not in the other are said to be wrong; `why` of the ones that the
 * relation reports. */
static void examine_difference(mr_trial *trial, const mr_order_matrix *one,
                               const mr_order_matrix *other, mr_relation relation, const char *why)
{
    for (uint32_t a = 0; a < MR_REFERENCE_EVENTS; a++)
        for (uint32_t b = 0; b < MR_REFERENCE_EVENTS; b++)
            if (mr_order_matrix_has(one, a, b) && !mr_order_matrix_has(other, a, b))
                mr_trial_wrong(trial, "%s, %" PRIu32 "-%" PRIu32 ": %s", mr_relation_name(relation),
                               a, b, why);
}

/* Without waits, hybrid reports the races of the model that has the most. */
static void examine_hybrid(mr_trial *trial, examination *x)
{
    mr_exhaustive all = {0};
    if (trial->trace->op_counts[MR_OP_WAIT])
        return;
    assert_true(
        mr_exhaustive_find(trial->trace, MR_MODEL_BRANCH, 0, trial->trace->event_count, &all));
    mr_order_matrix branch = pairs_of(&all);
    examine_difference(trial, &branch, &x->races[MR_RELATION_HYBRID].pairs, MR_RELATION_HYBRID,
                       "it is a race, and not reported");
    mr_exhaustive_free(&all);
}

static void examine_search(mr_trial *trial, examination *x)
{
    mr_exhaustive all = {0}, preserving = {0};
    uint32_t count = trial->trace->event_count;
    assert_true(mr_exhaustive_find(trial->trace, MR_MODEL_RF, 0, count, &all));
    assert_true(mr_exhaustive_find_sync_preserving(trial->trace, 0, count, &preserving));
    mr_order_matrix rf = pairs_of(&all), right = pairs_of(&preserving);
    const mr_order_matrix *syncp = &x->races[MR_RELATION_SYNCP].pairs;
    examine_difference(trial, syncp, &right, MR_RELATION_SYNCP, "no search finds it");
    examine_difference(trial, &right, syncp, MR_RELATION_SYNCP, "only search finds it");
    for (int relation = 0; relation < MR_RELATION_COUNT; relation++)
        if (mr_relation_sound((mr_relation)relation))
            examine_difference(trial, &x->races[relation].pairs, &rf, (mr_relation)relation,
                               "it is no race");
    for (uint32_t a = 0; a < count; a++) {
        if (rf.rows[a] & ~right.rows[a]) {
            x->beyond_syncp++;
            break;
        }
    }
    for (uint32_t a = 0; a < count; a++) {
        if (x->races[MR_RELATION_WCP].pairs.rows[a] & ~rf.rows[a]) {
            x->beyond_rf++;
            break;
        }
    }
    mr_exhaustive_free(&all);
    mr_exhaustive_free(&preserving);
}

static void examine_small(mr_trial *trial, void *context)
{
    find_all(context, trial->trace);
    examine_containments(trial, context);
    examine_search(trial, context);
    examine_hybrid(trial, context);
}

static void examine_longer(mr_trial *trial, void *context)
{
    find_all(context, trial->trace);
    examine_containments(trial, context);
}

/* Runs the trials; the traces must tell all relations apart. */
static void run(mr_trial_examine *examine, bool longer)
{
    const mr_trials trials = {.prefix = "ORDERS",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .longer = longer,
                              .all_kinds = true};
    examination x = {.beyond_syncp = 0};
    uint64_t traces = mr_trials_run(&trials, examine, &x);
    for (int i = 0; i < CONTAINMENTS; i++) {
        print_message("  %-5s reports more than %-5s in %" PRIu64 " traces\n",
                      mr_relation_name(containments[i].big),
                      mr_relation_name(containments[i].small), x.strict[i]);
        assert_true(traces < LEAST_TRACES_FOR_COUNTS || x.strict[i] > 0);
    }
    if (longer)
        return;
    print_message("  rf has more than syncp in %" PRIu64 " traces, wcp more than rf in %" PRIu64
                  "\n",
                  x.beyond_syncp, x.beyond_rf);
    assert_true(traces < LEAST_TRACES_FOR_COUNTS || (x.beyond_syncp > 0 && x.beyond_rf > 0));
}

static void test_small_traces(void **state)
{
    (void)state;
    run(examine_small, false);
}

static void test_longer_traces(void **state)
{
    (void)state;
    run(examine_longer, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_traces),
        cmocka_unit_test(test_longer_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
