/* dispatch: which saved outcomes a later run takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "dispatch/dispatch.h"

#include <stdlib.h>

enum { UNITS = 3, MOST_RECORDS = 40 };

struct mr_outcome {
    uint8_t value;
};

static bool encode(void *context, const mr_outcome *outcome, mr_bytes *bytes)
{
    (void)context;
    mr_bytes_raw(bytes, &outcome->value, sizeof outcome->value);
    return true;
}

static mr_outcome *outcome_of(uint8_t value)
{
    mr_outcome *outcome = mr_malloc(sizeof *outcome, 0);
    assert_non_null(outcome);
    outcome->value = value;
    return outcome;
}

static mr_outcome *decode(void *context, uint64_t unit, const uint8_t *bytes, size_t count,
                          bool *damaged)
{
    (void)context;
    (void)unit;
    *damaged = count != 1;
    return outcome_of(bytes[0]);
}

static void free_outcome(mr_outcome *outcome)
{
    free(outcome);
}

/* ---- a store in memory ---- */

typedef struct record {
    mr_store_phase phase;
    uint64_t unit;
    uint8_t byte;
} record;

typedef struct memory {
    record records[MOST_RECORDS];
    size_t count;
} memory;

static const record *find(const memory *m, const mr_store_phase *phase, uint64_t unit)
{
    for (size_t i = 0; i < m->count; i++) {
        const record *it = &m->records[i];
        if (it->phase.number == phase->number && it->phase.units == phase->units &&
            it->phase.before == phase->before && it->unit == unit)
            return it;
    }
    return NULL;
}

static bool has(void *context, const mr_store_phase *phase, uint64_t unit)
{
    return find(context, phase, unit) != NULL;
}

static const uint8_t *get(void *context, const mr_store_phase *phase, uint64_t unit, size_t *count)
{
    const record *it = find(context, phase, unit);
    *count = it != NULL;
    return it ? &it->byte : NULL;
}

static void refuse(void *context, const mr_store_phase *phase, uint64_t unit, const char *why)
{
    (void)context;
    (void)phase;
    (void)unit;
    fail_msg("refused: %s", why);
}

static mr_status put(void *context, const mr_store_phase *phase, uint64_t unit,
                     const uint8_t *bytes, size_t count, mr_error *error)
{
    memory *m = context;
    (void)error;
    assert_true(m->count < MOST_RECORDS && count == 1);
    m->records[m->count++] = (record){*phase, unit, bytes[0]};
    return MR_OK;
}

/* ---- a run of two phases ---- */

typedef struct run {
    uint8_t value;             /* of the outcomes it decides … */
    uint8_t merged[2 * UNITS]; /* … and of those it merges */
    unsigned merged_count;
} run;

static mr_status decide(void *context, unsigned worker, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    const run *self = context;
    (void)worker;
    (void)unit;
    (void)error;
    *outcome = outcome_of(self->value);
    return MR_OK;
}

static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    run *self = context;
    (void)error;
    self->merged[self->merged_count++] = outcome->value;
    return MR_OK;
}

/* Between the phases `note` is noted. The number of outcomes that were taken from the store. */
static uint64_t perform(memory *m, run *self, uint32_t note)
{
    const mr_outcome_kind kind = {.encode = encode, .decode = decode, .free = free_outcome};
    const mr_store store = {m, has, get, refuse, put};
    const mr_phase phase = {
        .context = self, .stage = "testing", .count = UNITS, .decide = decide, .merge = merge};
    mr_dispatch dispatch = {.kind = &kind, .jobs = 1, .store = &store};
    mr_error error = {0};
    assert_int_equal(mr_dispatch_run(&dispatch, &phase, &error), MR_OK);
    mr_dispatch_note(&dispatch, &note, sizeof note);
    assert_int_equal(mr_dispatch_run(&dispatch, &phase, &error), MR_OK);
    assert_int_equal(self->merged_count, 2 * UNITS);
    assert_int_equal(dispatch.units_saved + dispatch.units_decided, 2 * UNITS);
    return dispatch.units_saved;
}

/* A later run that has planned the second phase otherwise takes no outcome of it: unit 0 of the one is not unit 0 of the other. */
static void test_other_plan(void **state)
{
    (void)state;
    memory m = {0};
    run first = {.value = 1}, same = {.value = 2}, other = {.value = 3}, again = {.value = 4};
    assert_int_equal(perform(&m, &first, 7), 0);
    assert_int_equal(perform(&m, &same, 7), 2 * UNITS);
    assert_int_equal(perform(&m, &other, 8), UNITS);
    for (unsigned i = 0; i < 2 * UNITS; i++) {
        assert_int_equal(first.merged[i], 1);
        assert_int_equal(same.merged[i], 1);
        assert_int_equal(other.merged[i], i < UNITS ? 1 : 3);
    }
    assert_int_equal(perform(&m, &again, 8), 2 * UNITS);
    assert_int_equal(again.merged[UNITS], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
