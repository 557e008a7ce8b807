/* Files of outcomes that are damaged, or in use: nothing is lost that can be used, and nothing is
 * taken that is not whole. What the checksums do not see: test_saved_changed.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dispatch/dispatch.h"
#include "predict/outcome.h"
#include "support/length.h"
#include "support/sample.h"
#include "support/saving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TINY_EVENTS = 90 };

/* ---- files as bytes ---- */

typedef struct blob {
    uint8_t *bytes;
    size_t count;
} blob;

static blob read_blob(const char *path)
{
    FILE *file = fopen(path, "rb");
    blob b = {.bytes = malloc(1 << 24)};
    assert_true(file && b.bytes);
    b.count = fread(b.bytes, 1, 1 << 24, file);
    fclose(file);
    return b;
}

static void write_blob(const char *path, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* ---- tests ---- */

/* A run can be killed at any byte: at each seventh with TEST_LENGTH=few. */
static void test_prefixes(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_saving t = {.request = {.file = mr_saving_path("prefix", path), .resume = true}};
    mr_saving_same(&s, &t);
    blob whole = read_blob(path);
    uint64_t taken = 0;
    const size_t step = mr_length_few() ? 7 : 1;
    for (size_t length = (whole.count - 1) % step; length < whole.count; length += step) {
        write_blob(path, whole.bytes, length);
        mr_saving_same(&s, &t);
        assert_true(t.run.units_saved >= taken); /* what was whole is not lost */
        taken = t.run.units_saved;
        assert_true(t.run.units_decided > 0);
        mr_saving_same(&s, &t);
        assert_int_equal(t.run.units_decided, 0);
        assert_int_equal(t.notes, 0);
    }
    assert_true(taken >= s.units - 1);
    /* Or the machine goes down, and what was being written is anything. */
    uint8_t *more = calloc(whole.count + 5000, 1);
    assert_non_null(more);
    memcpy(more, whole.bytes, whole.count);
    for (unsigned i = 0; i < 2; i++) {
        write_blob(path, more, whole.count + 5000);
        mr_saving_same(&s, &t);
        assert_int_equal(t.notes, 1);
        mr_saving_same(&s, &t);
        assert_int_equal(t.notes, 0);
        memset(more + whole.count, 0x4D, 5000); /* as a record begins */
    }
    free(more);
    free(whole.bytes);
    mr_subject_close(&s);
}

/* Wherever a bit is wrong (in a share of the bytes, in `make test`): an error, or the same report, and all but one or two units are taken. */
static void test_flipped(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    unsigned refused = 0, healed = 0;
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_saving t = {.request = {.file = mr_saving_path("flip", path), .resume = true}};
    mr_saving_same(&s, &t);
    const uint64_t all = t.run.units_decided;
    blob whole = read_blob(path);
    const size_t step = mr_length("SAVED_DAMAGE_STEP", 3, 1);
    for (size_t at = 0; at < whole.count; at += step) {
        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
        write_blob(path, whole.bytes, whole.count);
        whole.bytes[at] ^= (uint8_t)(1u << at % 8);
        mr_saving_run(&s, &t);
        if (t.status != MR_OK) {
            assert_true(t.status == MR_ERR_IO || t.status == MR_ERR_CONFIG);
            refused++;
            continue;
        }
        assert_string_equal(t.report, s.report);
        mr_saving_end(&t);
        assert_int_equal(t.notes, 1);
        assert_int_equal(t.run.units_saved, all - 1);
        healed++;
    }
    assert_true(refused > 64 / step && healed > 64 / step);
    free(whole.bytes);
    mr_subject_close(&s);
}

/* A saved outcome is one of this unit of this phase, and of nothing else. */
static void test_phases(void **state)
{
    (void)state;
    static const mr_store_phase phases[] = {{1, 3, 5}, {0, 3, 5}, {1, 4, 5}, {1, 3, 6}};
    static const uint8_t bytes[] = {7, 0, 255};
    mr_error error;
    char path[512];
    mr_subject s = {.trace = mr_sample_trace("A|w(x=1)|1\n"), .config = mr_config_new()};
    mr_checkpoint_request request = {.file = mr_saving_path("phases", path)};
    for (int round = 0; round < 2; round++) {
        mr_checkpoint *checkpoint;
        size_t count = 1;
        request.resume = round > 0;
        assert_int_equal(
            mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error), MR_OK);
        for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
            assert_int_equal(mr_checkpoint_has(checkpoint, &phases[i], 2), round > 0 && i == 0);
        assert_false(mr_checkpoint_has(checkpoint, &phases[0], 1));
        const uint8_t *found = mr_checkpoint_get(checkpoint, &phases[0], 2, &count);
        assert_int_equal(found != NULL, round > 0);
        assert_int_equal(count, round > 0 ? sizeof bytes : 0);
        if (found)
            assert_memory_equal(found, bytes, sizeof bytes);
        assert_int_equal(mr_checkpoint_put(checkpoint, &phases[0], 2, bytes, sizeof bytes, &error),
                         MR_OK);
        mr_checkpoint_refuse(checkpoint, &phases[0], 2, "the test says so");
        assert_false(mr_checkpoint_has(checkpoint, &phases[0], 2));
        assert_int_equal(mr_checkpoint_close(checkpoint, &error), MR_OK);
    }
    mr_subject_close(&s);
}

enum { UNITS = 4, FAILING = 2 };

static bool encode(void *context, const mr_outcome *outcome, mr_bytes *bytes)
{
    return mr_outcome_write(context, outcome, bytes);
}

static mr_outcome *decode(void *context, uint64_t unit, const uint8_t *bytes, size_t count,
                          bool *damaged)
{
    (void)unit;
    return mr_outcome_read(context, bytes, count, damaged);
}

static mr_status decide_or_fail(void *context, unsigned worker, uint64_t unit, mr_outcome **outcome,
                                mr_error *error)
{
    (void)context;
    (void)worker;
    *outcome = mr_outcome_new(unit);
    return unit == FAILING ? mr_error_memory(error, "deciding a unit") : MR_OK;
}

static mr_status count_merged(void *context, mr_outcome *outcome, mr_error *error)
{
    (void)outcome;
    (void)error;
    ++*(unsigned *)context;
    return MR_OK;
}

/* What was found in a unit before it failed is merged, and not saved: it is not all. */
static void test_failed_unit(void **state)
{
    (void)state;
    mr_error error;
    char path[512];
    unsigned merged = 0;
    mr_checkpoint *checkpoint;
    mr_subject s = {.trace = mr_sample_trace("A|w(x=1)|1\n"), .config = mr_config_new()};
    mr_checkpoint_request request = {.file = mr_saving_path("unit", path)};
    assert_int_equal(mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error),
                     MR_OK);
    const mr_store store = mr_checkpoint_store(checkpoint);
    const mr_outcome_kind kind = {
        .context = s.trace, .encode = encode, .decode = decode, .free = mr_outcome_free};
    mr_dispatch dispatch = {.kind = &kind, .jobs = 1, .store = &store};
    const mr_phase phase = {.context = &merged,
                            .stage = "units",
                            .count = UNITS,
                            .decide = decide_or_fail,
                            .merge = count_merged};
    assert_int_equal(mr_dispatch_run(&dispatch, &phase, &error), MR_ERR_MEMORY);
    assert_int_equal(merged, FAILING + 1);
    assert_int_equal(dispatch.units_missing, UNITS - FAILING);
    assert_int_equal(mr_checkpoint_close(checkpoint, &error), MR_OK);
    request.resume = true;
    assert_int_equal(mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error),
                     MR_OK);
    const mr_store_phase known = {.units = UNITS};
    for (uint64_t unit = 0; unit < UNITS; unit++)
        assert_int_equal(mr_checkpoint_has(checkpoint, &known, unit), unit < FAILING);
    assert_int_equal(mr_checkpoint_close(checkpoint, &error), MR_OK);
    mr_subject_close(&s);
}

/* Two runs never write the same file, and nobody reads what is being written. */
static void test_locked(void **state)
{
    (void)state;
    mr_subject s;
    char path[512];
    mr_error error;
    mr_checkpoint *checkpoint;
    mr_subject_open(&s, 4, TINY_EVENTS, "30");
    mr_checkpoint_request request = {.file = mr_saving_path("locked", path), .resume = true};
    assert_int_equal(mr_predict_open_checkpoint(&request, s.trace, s.config, &checkpoint, &error),
                     MR_OK);
    mr_saving t = {.request = request};
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_IO);
    assert_non_null(strstr(t.error.text, "another run uses this checkpoint"));
    const char *parts[] = {path};
    t = (mr_saving){.request = {.parts = parts, .part_count = 1}};
    mr_saving_run(&s, &t);
    assert_int_equal(t.status, MR_ERR_IO);
    assert_int_equal(mr_checkpoint_close(checkpoint, &error), MR_OK);
    mr_saving_same(&s, &t);
    mr_subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_phases),   cmocka_unit_test(test_failed_unit),
        cmocka_unit_test(test_locked),
    };
    return cmocka_run_group_tests(tests, mr_saving_setup, mr_saving_teardown);
}
