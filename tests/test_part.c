/* Shards that read a part of an .mrt file decide their windows as in the whole trace: the same bytes. Merged, they give the
 * report of one run. And a file whose STATE or FACTS are wrong is refused by who merges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seconds.h"
#include "dispatch/dispatch.h"
#include "engine/part.h"
#include "far/far.h"
#include "formats/mrt/mrt_part.h"
#include "formats/mrt/mrt_write.h"
#include "formats/read.h"
#include "predict/crowded.h"
#include "predict/settings.h"
#include "support/generate.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/sample.h"
#include "support/saving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SHARDS = 9 };

/* How often something was tried. */
typedef struct tally {
    uint64_t parts, refused, windows, races, runs;
} tally;

typedef struct subject {
    mr_subject base;
    char path[512]; /* the trace as .mrt */
    uint64_t seed;
} subject;

/* ---- files ---- */

static void write_mrt(const mr_trace *trace, uint32_t block, const char *path)
{
    mr_error error;
    mr_mrt_writer *writer;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(mr_mrt_writer_new(file, &writer, &error), MR_OK);
    for (uint32_t first = 0; first < trace->event_count; first += block) {
        uint32_t left = (uint32_t)trace->event_count - first;
        mr_events events = mr_events_of_trace(trace, first, left < block ? left : block);
        assert_int_equal(
            mr_mrt_writer_add(writer, trace, &events, trace->value + first, NULL, &error), MR_OK);
    }
    assert_int_equal(mr_mrt_writer_finish(writer, trace, &error), MR_OK);
    mr_mrt_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

static const mr_checkpoint_record *record_of(const mr_checkpoint_file *file, uint64_t unit)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->records[i].phase == 0 && file->records[i].unit == unit)
            return &file->records[i];
    return NULL;
}

/* Each window in `part` is in `whole`, with the same bytes. All of them but the last unit, which is the search. */
static void compare_files(const subject *s, const char *part, const char *whole, uint32_t shard,
                          uint32_t shards, tally *all)
{
    mr_checkpoint_file one = {0}, two = {0};
    mr_error error;
    uint64_t units = s->base.units, windows = 0;
    bool searches = mr_config_choice(s->base.config, "candidates.far") != 0;
    assert_int_equal(mr_checkpoint_file_read(&one, part, &error), MR_OK);
    assert_int_equal(mr_checkpoint_file_read(&two, whole, &error), MR_OK);
    assert_int_equal(one.identity.trace, two.identity.trace);
    assert_int_equal(one.identity.event_count, two.identity.event_count);
    for (uint64_t unit = 0; unit < units - searches; unit++) {
        const mr_checkpoint_record *a = record_of(&one, unit), *b = record_of(&two, unit);
        bool own = mr_shard_of(unit, units, shards) == shard;
        assert_int_equal(a != NULL, own);
        assert_int_equal(b != NULL, own);
        windows += own;
        if (own && (a->length != b->length || memcmp(a->body, b->body, a->length) != 0))
            fail_msg("seed %" PRIu64 ", shard %" PRIu32 "/%" PRIu32 ", unit %" PRIu64
                     ": another outcome from %s",
                     s->seed, shard, shards, unit, s->path);
    }
    assert_int_equal(one.count, windows);
    all->windows += windows;
    mr_checkpoint_file_close(&one, &error);
    mr_checkpoint_file_close(&two, &error);
}

/* ---- shards ---- */

/* Decides the shard from a part of the file. False: it cannot be read so. */
static bool decide_part(const subject *s, uint32_t shard, uint32_t shards, const char *file,
                        tally *all)
{
    mr_predict_shard part_of = {s->base.config, shard, shards, false};
    const mr_part_wish wish = {.context = &part_of, .wants = mr_predict_part_wants, .always = true};
    const mr_checkpoint_request request = {.file = file, .shard = shard, .shards = shards};
    mr_predict_run run = {.shard = shard, .shards = shards};
    mr_result result = {0};
    mr_error error;
    mr_mrt_part *part = mr_mrt_part_open(s->path, NULL, &wish);
    const mr_trace *trace = part ? mr_mrt_part_trace(part) : NULL;
    if (!part || !mr_predict_part_fits(&part_of, trace)) {
        mr_mrt_part_close(part);
        return false;
    }
    all->runs += trace->run_count;
    assert_int_equal(trace->event_count, s->base.trace->event_count);
    assert_int_equal(
        mr_predict_open_checkpoint(&request, trace, s->base.config, &run.checkpoint, &error),
        MR_OK);
    assert_int_equal(mr_predict(trace, s->base.config, &run, &result, &error), MR_OK);
    assert_int_equal(mr_checkpoint_close(run.checkpoint, &error), MR_OK);
    mr_result_free(&result);
    mr_mrt_part_close(part);
    return true;
}

static void decide_whole(const subject *s, uint32_t shard, uint32_t shards, const char *file)
{
    mr_saving t = {.request = {.file = file}, .shard = shard, .shards = shards};
    mr_saving_run(&s->base, &t);
    assert_int_equal(t.status, MR_OK);
    mr_saving_end(&t);
}

/* The files of all shards, from parts where they can be, give the report of the whole. */
static void merge(const subject *s, const char *const *parts, uint32_t shards)
{
    mr_saving t = {.request = {.parts = parts, .part_count = shards}};
    mr_saving_same(&s->base, &t);
    assert_int_equal(t.notes, 0);
}

static void try_shards(const subject *s, uint32_t shards, tally *all)
{
    char files[MOST_SHARDS][512], whole[512], name[64];
    const char *parts[MOST_SHARDS];
    for (uint32_t i = 0; i < shards; i++) {
        snprintf(name, sizeof name, "part-%" PRIu32, i);
        parts[i] = mr_saving_path(name, files[i]);
        mr_saving_path("whole", whole);
        unlink(files[i]);
        unlink(whole);
        decide_whole(s, i + 1, shards, whole);
        if (decide_part(s, i + 1, shards, files[i], all)) {
            all->parts++;
            compare_files(s, files[i], whole, i + 1, shards, all);
        } else {
            all->refused++;
            assert_int_equal(rename(whole, files[i]), 0);
        }
    }
    merge(s, parts, shards);
}

/* Of the trace in blocks of so many events. */
static void try_trace(uint64_t seed, const char *text, const char *window, uint32_t block,
                      uint32_t shards, const char *model, tally *all)
{
    subject s = {.seed = seed};
    mr_subject_take(&s.base, text, window);
    free(s.base.report);
    mr_settings_set(s.base.config, "jobs", "1");
    mr_settings_set(s.base.config, "model", model);
    mr_settings_set(s.base.config, "solver.steps",
                    "filter,cone,linearise,eliminate,greedy,saturate");
    mr_settings_set(s.base.config, "solver.saturate_steps", "20000");
    if (seed % 4 || strcmp(window, "20") == 0)
        mr_settings_set(s.base.config, "candidates.far", "none");
    s.base.units = mr_predict_unit_count(s.base.trace, s.base.config);
    mr_saving t = {0};
    mr_saving_run(&s.base, &t);
    assert_int_equal(t.status, MR_OK);
    s.base.report = t.report;
    all->races += t.races;
    mr_saving_path("trace.mrt", s.path);
    write_mrt(s.base.trace, block, s.path);
    try_shards(&s, shards, all);
    mr_subject_close(&s.base);
}

static const char *const models[] = {"value", "rf", "branch"};

static void test_small(void **state)
{
    (void)state;
    const char *given = getenv("PART_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    uint64_t count = mr_length("PART_TRACES", 6, 20);
    tally all = {0};
    for (uint64_t i = 0; i < count * MR_SHAPE_ALL; i++) {
        char *text = mr_generate_longer_trace(seed + i, (mr_shape)(i % MR_SHAPE_ALL));
        assert_non_null(text);
        try_trace(seed + i, text, i % 3 ? "6" : "5", 2 + (uint32_t)(i % 4),
                  2 + (uint32_t)(i % (MOST_SHARDS - 1)), models[i % 3], &all);
        free(text);
    }
    printf("parts %" PRIu64 ", refused %" PRIu64 ", windows %" PRIu64 ", runs %" PRIu64
           ", races %" PRIu64 "\n",
           all.parts, all.refused, all.windows, all.runs, all.races);
    assert_true(all.parts > all.refused / 2 && all.windows > all.parts / 2 && all.races > count);
}

static void test_large(void **state)
{
    (void)state;
    enum { EVENTS = 500 };
    const char *given = getenv("PART_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    uint64_t count = mr_length("PART_LARGE", 3, 10);
    tally all = {0};
    for (uint64_t i = 0; i < count * mr_large_shape_count; i++) {
        const mr_large *shape = &mr_large_shapes[i % mr_large_shape_count];
        char *text = mr_generate_large(seed + i, shape, EVENTS);
        assert_non_null(text);
        try_trace(seed + i, text, "20", 8 + (uint32_t)(i % 5) * 5,
                  2 + (uint32_t)(i % (MOST_SHARDS - 1)), models[i % 3], &all);
        free(text);
    }
    printf("parts %" PRIu64 ", refused %" PRIu64 ", windows %" PRIu64 ", runs %" PRIu64
           ", races %" PRIu64 "\n",
           all.parts, all.refused, all.windows, all.runs, all.races);
    assert_true(all.parts > all.refused / 2 && all.runs > all.parts && all.races > count);
}

/* A part is not read to its end when the time is over, or the run is asked to end; and there is none where memory is short. */
static void test_limits(void **state)
{
    (void)state;
    enum { EVENTS = 5000, BLOCK = 50 };
    static const char *const settings[] = {"window.size", "50", "candidates.far", "none", NULL};
    char path[512];
    char *text = mr_generate_large(1, &mr_large_shapes[2], EVENTS);
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    mr_config *config = mr_settings_of(settings);
    assert_non_null(trace);
    mr_saving_path("limits.mrt", path);
    write_mrt(trace, BLOCK, path);
    mr_predict_shard part_of = {config, 1, 3, false};
    const mr_part_wish wish = {.context = &part_of, .wants = mr_predict_part_wants, .always = true};
    mr_halt asked = {0}, quiet = {0};
    mr_halt_ask(&asked, MR_HALT_SIGNAL);
    const mr_read_options options[] = {
        {.deadline_seconds = 1e6}, {.deadline_seconds = 1e-6}, {.halt = &quiet}, {.halt = &asked}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        mr_read_options own = options[i];
        if (i == 0)
            own.deadline_seconds += mr_seconds();
        mr_mrt_part *part = mr_mrt_part_open(path, &own, &wish);
        assert_int_equal(part != NULL, i % 2 == 0);
        mr_mrt_part_close(part);
    }
    mr_predict_shard one_of_two = {config, 1, 2, true};
    uint32_t wanted = 0, wanted_by_rank = 0, blocks = EVENTS / BLOCK;
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t first = block * BLOCK, end = first + BLOCK;
        wanted += mr_predict_part_wants(&part_of, EVENTS, first, end);
        wanted_by_rank += mr_predict_part_wants(&one_of_two, EVENTS, first, end);
    }
    assert_true(wanted > 0 && wanted < blocks / 2);
    assert_true(wanted_by_rank > blocks / 2 && wanted_by_rank < blocks);
    mr_settings_set(config, "memory.limit_mb", "1");
    enum { MANY = 1 << 20 };
    for (uint32_t block = 0; block < 16; block++)
        assert_true(mr_predict_part_wants(&part_of, MANY, block * BLOCK, (block + 1) * BLOCK));
    mr_config_free(config);
    mr_trace_free(trace);
    free(text);
}

/* The places that FACTS counts, once compared with the events, answer whether a trace is crowded as the events do. */
static void test_crowded(void **state)
{
    (void)state;
    static const char *const bounds[] = {"0", "1", "40", "41", "1000"};
    char text[4096], *to = text;
    for (unsigned i = 0; i < 64;
         i++) /* x at 8 places, each with a read and a write: 36 pairs of places */
        to += sprintf(to, "T%u|%s(%s)|p%u\n", i % 2, i / 8 % 2 ? "r" : "w", i % 9 ? "x" : "own",
                      i % 8);
    mr_trace *trace = mr_sample_trace(text), *read;
    mr_config *config = mr_settings_of((const char *const[]){NULL});
    mr_error error;
    char path[512];
    unsigned crowded = 0;
    mr_saving_path("crowded.mrt", path);
    write_mrt(trace, 16, path);
    const mr_read_options options = {.check_states = true};
    assert_int_equal(mr_trace_read(path, &options, &read, &error), MR_OK);
    assert_int_equal(read->most_places, 8);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        mr_predict_settings one, other;
        mr_settings_set(config, "candidates.crowded", bounds[i]);
        mr_config_resolve(config);
        assert_int_equal(mr_predict_settings_read(&one, trace, config, &error), MR_OK);
        assert_int_equal(mr_predict_settings_read(&other, read, config, &error), MR_OK);
        assert_int_equal(mr_crowded_is(&one), mr_crowded_is(&other));
        crowded += mr_crowded_is(&one);
        mr_predict_settings_free(&one);
        mr_predict_settings_free(&other);
    }
    assert_true(crowded > 0 && crowded < sizeof bounds / sizeof *bounds);
    mr_config_free(config);
    mr_trace_free(read);
    mr_trace_free(trace);
}

/* A part may have more chains of threads than its trace. Where the windows of one would leave questions that those of the other ask, or may
 * ask less, all of the trace is read. */
static void test_chains(void **state)
{
    (void)state;
    enum { EVENTS = 1000 };
    static const struct {
        const char *defer, *far_size, *far;
        uint32_t threads, joins;
        bool fits;
    } cases[] = {
        {"1000", "1031", "all", 64, 31, true},  /* 33 to 64 chains: no far window sees all */
        {"1000", "1032", "all", 64, 31, false}, /* one does of a trace with 33 */
        {"1000", "1999", "all", 64, 31, false},
        {"1000", "2000", "all", 64, 31, true}, /* one does, of a trace with 64, too */
        {"1000", "1500", "all", 64, 0, true},
        {"1000", "1000", "all", 32, 31, true},
        {"1000", "0", "all", 64, 31, true},
        {"1001", "1500", "all", 64, 31, false}, /* shorter, but it has many chains */
        {"1001", "1500", "all", 32, 31, true},
        {"0", "1500", "all", 64, 31, true},
        {"1000", "1500", "wcp", 64, 31, true},
        {"0", "0", "none", 33, 1, false}, /* 32 or 33 */
        {"0", "0", "none", 64, 32, false},
        {"0", "0", "none", 64, 64, false},
        {"0", "0", "none", 32, 32, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const settings[] = {"candidates.defer",
                                        cases[i].defer,
                                        "window.far_size",
                                        cases[i].far_size,
                                        "candidates.far",
                                        cases[i].far,
                                        "window.size",
                                        "100",
                                        NULL};
        mr_config *config = mr_settings_of(settings);
        const mr_predict_shard part_of = {config, 1, 2, false};
        const mr_trace part = {.event_count = EVENTS,
                               .threads = {.count = cases[i].threads},
                               .op_counts = {[MR_OP_JOIN] = cases[i].joins}};
        if (mr_predict_part_fits(&part_of, &part) != cases[i].fits)
            fail_msg("case %zu", i);
        mr_config_free(config);
    }
    assert_int_equal(mr_far_size(1, 100, 1000), 100); /* not all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),  cmocka_unit_test(test_large),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, mr_saving_setup, mr_saving_teardown);
}
