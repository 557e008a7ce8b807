/*
 * exclude invents no race: on random traces with random locations taken out, every race that the
 * exhaustive search finds in what remains, in each model, is one of the full trace. Without (1),
 * (2) and (3) of exclude.h that is not so, as one trace for each shows.
 *
 * EXCLUDE_TRACES and EXCLUDE_SEED choose others; EXCLUDE_SHAPE one shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exclude/choose.h"
#include "exclude/take.h"
#include "formats/text/text_write.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/trace_reading.h"
#include "trace/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    mr_trace *full, *remaining;
    bool *chosen;
    uint32_t *origin;   /* by event of `remaining`; MR_NONE: of a call that stands for others */
    size_t races, more; /* of `remaining`; of these, those that are none of `full` */
} trial;

static void find_origins(trial *self, const mr_exclude_options *options)
{
    bool *taken = calloc((size_t)self->full->event_count + 1, sizeof *taken);
    self->origin = calloc((size_t)self->remaining->event_count + 1, sizeof *self->origin);
    assert_non_null(taken);
    assert_non_null(self->origin);
    assert_true(mr_take_events(self->full, options, taken));
    uint32_t from = 0, number;
    for (uint32_t event = 0; event < self->remaining->event_count; event++) {
        const mr_trace *trace = self->remaining;
        const mr_name *call = &trace->calls.items[trace->operand[event]];
        self->origin[event] = MR_NONE;
        if (mr_op_operand_kind((mr_op)trace->op[event]) == MR_OPERAND_CALL &&
            !mr_names_find(&self->full->calls, call->text, call->length, &number))
            continue;
        while (taken[from])
            from++;
        assert_int_equal(trace->op[event], self->full->op[from]);
        self->origin[event] = from++;
    }
    free(taken);
}

static void begin(trial *self, const char *text, bool whole_runs)
{
    mr_error error = {0};
    mr_exclude_options options = {.chosen = self->chosen, .whole_runs = whole_runs};
    self->full = mr_test_read(text, false);
    if (self->chosen == NULL) {
        self->chosen = calloc((size_t)self->full->locations.count + 1, sizeof *self->chosen);
        assert_non_null(self->chosen);
        assert_int_equal(mr_places_match(self->full, "x*", self->chosen, &(bool){0}, NULL), MR_OK);
        options.chosen = self->chosen;
    }
    if (mr_exclude(self->full, &options, &self->remaining, NULL, &error) != MR_OK)
        fail_msg("%s", error.text);
    find_origins(self, &options);
}

static void compare(trial *self, mr_model model)
{
    mr_exhaustive full = {0}, remaining = {0};
    if (mr_exhaustive_find(self->full, model, 0, self->full->event_count, &full) &&
        mr_exhaustive_find(self->remaining, model, 0, self->remaining->event_count, &remaining)) {
        for (size_t i = 0; i < remaining.race_count; i++) {
            mr_pair race = remaining.races[i];
            self->races++;
            self->more +=
                !mr_exhaustive_has(&full, self->origin[race.first], self->origin[race.second]);
        }
    }
    mr_exhaustive_free(&full);
    mr_exhaustive_free(&remaining);
}

static void end(trial *self)
{
    mr_trace_free(self->full);
    mr_trace_free(self->remaining);
    free(self->chosen);
    free(self->origin);
}

static void show(const trial *self, const char *text, uint64_t seed, mr_shape shape)
{
    mr_error error;
    print_message("EXCLUDE_SEED=%llu EXCLUDE_SHAPE=%d EXCLUDE_TRACES=1\n%s-- remains:\n",
                  (unsigned long long)seed, (int)shape, text);
    mr_text_write(stdout, MR_PACKING_NONE, self->remaining, NULL, &error);
}

static size_t try_one(uint64_t seed, mr_shape shape)
{
    trial self = {0};
    char *text = mr_generate_trace(seed, shape);
    assert_non_null(text);
    mr_trace *trace = mr_test_read(text, false);
    self.chosen = calloc((size_t)trace->locations.count + 1, sizeof *self.chosen);
    assert_non_null(self.chosen);
    assert_true(mr_choose_random(trace, 1 + (uint32_t)(seed % 5), seed, self.chosen));
    mr_trace_free(trace);
    begin(&self, text, false);
    for (int model = MR_MODEL_RF; model <= MR_MODEL_BRANCH && self.more == 0; model++) {
        compare(&self, (mr_model)model);
        if (self.more > 0)
            show(&self, text, seed, shape);
    }
    size_t races = self.races;
    assert_int_equal(self.more, 0);
    end(&self);
    free(text);
    return races;
}

static void test_random(void **state)
{
    (void)state;
    uint64_t traces = mr_number_from_environment("EXCLUDE_TRACES", 3000),
             seed = mr_number_from_environment("EXCLUDE_SEED", 1);
    uint64_t shape = mr_number_from_environment("EXCLUDE_SHAPE", MR_SHAPE_ALL);
    size_t races = 0;
    for (uint64_t i = 0; i < traces; i++) {
        uint64_t which = shape < MR_SHAPE_ALL ? shape : (seed + i) % MR_SHAPE_ALL;
        if (which != MR_SHAPE_COUNT || MR_SHAPE_COUNT == MR_SHAPE_ALL)
            races += try_one(seed + i, (mr_shape)which);
    }
    print_message("%zu races\n", races);
    assert_true(traces < 1000 || races > traces / 4);
}

/* What goes wrong with whole runs, and not without. */
static const struct {
    const char *name, *text;
} needs[] = {
    {"(1) the call hands on from y to x what keeps a before b",
     "A|r(v)|a\nC|r(z)|x\nA|w(y=1)|1\nC|r(y=1)|x\nC|aw(x=1)|x\nB|ar(x=1)|2\nB|w(v)|b\nC|r(y=1)|"
     "x\n"},
    {"(2) the call read the second of two writes, which the race needs first",
     "A|acq(l)|1\nA|w(x=1)|2\nA|w(y=1)|2\nA|w(v)|a\nA|rel(l)|3\nB|acq(l)|4\nB|w(x=2)|5\nB|rel(l)|"
     "6\n"
     "C|r(y=1)|7\nC|r(x=2)|x\nC|r(v)|b\n"},
    {"(3) the call has overwritten the old equal value",
     "A|w(x=5)|1\nA|w(z=1)|1\nC|r(z=1)|1\nC|w(x=7)|x\nC|w(y=1)|1\nA|w(v)|a\nA|w(x=5)|2\n"
     "B|r(y=1)|3\nB|r(x=5)|3\nB|r(v)|b\n"},
};

static void test_each_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        for (int whole_runs = 0; whole_runs <= 1; whole_runs++) {
            trial self = {0};
            begin(&self, needs[i].text, whole_runs);
            compare(&self, MR_MODEL_VALUE);
            print_message("%s: %zu of %zu\n", needs[i].name, self.more, self.races);
            assert_true(whole_runs ? self.more > 0 : self.more == 0);
            end(&self);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_each_is_needed),
    };
    return cmocka_run_group_tests_name("exclude_sound", tests, NULL, NULL);
}
