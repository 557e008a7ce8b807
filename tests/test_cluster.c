/* A prediction by several ranks: the same report as by one process, and one clear end whatever
 * happens to a rank. The ranks are processes of the test (support/star.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dispatch/dispatch.h"
#include "engine/identity.h"
#include "support/generate_far.h"
#include "support/generate_large.h"
#include "support/play.h"
#include "support/predicted.h"
#include "support/random_walk.h"
#include "support/sample.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static mr_trace *read_trace(char *text)
{
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

/* ---- the same report ---- */

static void check_same(mr_trace *trace, const char *const *settings)
{
    static const unsigned sizes[] = {1, 2, 4};
    mr_play alone = {.trace = trace, .config = mr_play_config(settings)};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = mr_play_report(&alone);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mr_play together = {.trace = trace, .config = mr_play_config(settings)};
        if (i == 2)
            mr_config_set(together.config, "jobs", "2", NULL, 0, NULL);
        assert_int_equal(mr_play_perform(&together, sizes[i]), 0);
        if (together.status != MR_OK)
            fail_msg("%u ranks: %s", sizes[i], together.error.text);
        char *report = mr_play_report(&together);
        assert_string_equal(report, expected);
        free(report);
        mr_play_forget(&together);
        mr_config_free(together.config);
    }
    free(expected);
    mr_play_forget(&alone);
    mr_config_free(alone.config);
}

static const char *const plain[] = {"window.size", "40", NULL};
static const char *const rf_small[] = {"model", "rf", "window.size", "20", "jobs", "1", NULL};
/* Budgets make windows stop early, and some have to be decided again. */
static const char *const meagre[] = {
    "window.size", "60", "candidates.max_window_steps", "200", "candidates.max_unanswered",
    "2",           NULL};
static const char *const events[] = {"window.size", "30", "candidates.report", "event", NULL};

static mr_trace *walk(uint64_t seed, uint32_t count, bool hot)
{
    char *text = malloc((size_t)count * MR_RANDOM_WALK_LINE_BYTES + 1);
    assert_non_null(text);
    if (hot)
        mr_random_walk_hot(seed, count, text);
    else
        mr_random_walk(seed, count, text);
    return read_trace(text);
}

static void test_same_report(void **state)
{
    (void)state;
    const char *const *const settings[] = {plain, rf_small, meagre, events};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        mr_trace *trace =
            read_trace(mr_generate_large(s + 1, &mr_large_shapes[s % mr_large_shape_count], 400));
        check_same(trace, settings[s]);
        mr_trace_free(trace);
    }
}

static const char *const far_settings[] = {"window.size", "100", NULL};

static mr_trace *far_trace(void)
{
    const mr_plant plants[] = {{MR_PLANT_FREE, 100, 1900},
                               {MR_PLANT_REVERSED, 200, 1700},
                               {MR_PLANT_SAME, 300, 1500},
                               {MR_PLANT_TAKEN, 400, 1600},
                               {MR_PLANT_LOCKED, 400, 600}};
    return read_trace(mr_generate_far(5, 2000, plants, 5));
}

static void test_same_far(void **state)
{
    (void)state;
    mr_trace *trace = far_trace();
    check_same(trace, far_settings);
    mr_trace_free(trace);
}

static void test_same_fresh(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < 6; i++) {
        mr_trace *trace = walk(seed + i, 600, i % 2);
        check_same(trace, i % 3 ? plain : meagre);
        mr_trace_free(trace);
    }
}

static void test_empty_trace(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace("");
    assert_non_null(trace);
    check_same(trace, plain);
    mr_trace_free(trace);
}

/* ---- ranks that have a part of the trace ---- */

static const char *const windows_only[] = {
    "window.size", "30", "candidates.report", "event", "candidates.far", "none", "find",
    "races",       NULL};
static const char *const windows_meagre[] = {"window.size",
                                             "60",
                                             "candidates.max_window_steps",
                                             "200",
                                             "candidates.max_unanswered",
                                             "2",
                                             "find",
                                             "races",
                                             "candidates.far",
                                             "none",
                                             NULL};

/* How many ranks had a part. */
static unsigned check_parts(const mr_trace *trace, const char *const *settings)
{
    char path[512];
    mr_scratch scratch;
    unsigned parts = 0;
    mr_play alone = {.trace = trace, .config = mr_play_config(settings)};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = mr_play_report(&alone);
    mr_scratch_make(&scratch);
    mr_play_write(trace, mr_scratch_path(&scratch, "trace.mrt", path));
    for (unsigned size = 2; size < 6; size++) {
        mr_play together = {.trace = trace, .config = mr_play_config(settings), .mrt = path};
        assert_int_equal(mr_play_perform(&together, size), 0);
        if (together.status != MR_OK)
            fail_msg("%u ranks: %s", size, together.error.text);
        assert_true(together.parts == 0 || together.parts == size - 1);
        parts += together.parts;
        char *report = mr_play_report(&together);
        assert_string_equal(report, expected);
        free(report);
        mr_play_forget(&together);
        mr_config_free(together.config);
    }
    mr_scratch_remove(&scratch);
    free(expected);
    mr_play_forget(&alone);
    mr_config_free(alone.config);
    return parts;
}

static void test_parts(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    unsigned parts = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < 6; i++) {
        mr_trace *trace =
            i % 3 ? walk(seed + i, 600, i % 2)
                  : read_trace(mr_generate_large(seed + i, &mr_large_shapes[i / 3 * 2], 400));
        parts += check_parts(trace, i % 2 ? windows_only : windows_meagre);
        mr_trace_free(trace);
    }
    print_message("%u ranks had a part\n", parts);
    assert_true(parts > 24);
}

/* The same trace, but all acquires and releases of locks are branches. Places and numbers of events stay. */
static mr_trace *without_locks(char *text)
{
    char *other = malloc(2 * strlen(text) + 1), *to = other;
    assert_non_null(other);
    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *op = strchr(line, '|') + 1;
        const char *place = strchr(op, '|');
        bool is_lock = strncmp(op, "acq(", 4) == 0 || strncmp(op, "rel(", 4) == 0;
        const char *copied = is_lock ? op : end + 1;
        memcpy(to, line, (size_t)(copied - line));
        to += copied - line;
        if (is_lock)
            to += sprintf(to, "branch()%.*s", (int)(end + 1 - place), place);
    }
    *to = '\0';
    return read_trace(other);
}

/* Ranks decide the windows of a trace without the locks. Rank 0 refuses their races that are none, and decides these windows
 * itself. */
static void test_part_that_lies(void **state)
{
    (void)state;
    char path[512], *text = mr_generate_large(7, &mr_large_shapes[0], 600);
    mr_scratch scratch;
    assert_non_null(text);
    mr_trace *other = without_locks(text), *trace = read_trace(text);
    mr_play p = {.trace = trace, .config = mr_play_config(windows_only), .mrt = path, .lies = true};
    mr_scratch_make(&scratch);
    mr_play_write(other, mr_scratch_path(&scratch, "trace.mrt", path));
    assert_int_equal(mr_play_perform(&p, 4), 0);
    if (p.status != MR_OK)
        fail_msg("%s", p.error.text);
    assert_int_equal(p.parts, 3);
    mr_predicted_check(trace, &p.result);
    print_message("races %zu, units decided %llu\n", p.result.race_count,
                  (unsigned long long)p.result.run.units_decided);
    mr_scratch_remove(&scratch);
    mr_play_forget(&p);
    mr_config_free(p.config);
    mr_trace_free(trace);
    mr_trace_free(other);
}

/* ---- who has done what ---- */

/* A hundred windows that take a millisecond or more each, so that all ranks get some. */
enum { SLOW_WINDOWS = 99 };

static const char *const slow[] = {
    "window.size", "100", "candidates.report", "event", "candidates.far", "none", NULL};

static mr_trace *slow_trace(uint64_t seed)
{
    return read_trace(mr_generate_large(seed, &mr_large_shapes[2], 5000));
}

static void test_work_is_shared(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(1);
    mr_play p = {
        .trace = trace, .config = mr_play_config(slow), .mishap = MR_RANK_HALTS, .n = UINT64_MAX};
    assert_int_equal(mr_play_perform(&p, 3), 0);
    assert_int_equal(p.status, MR_OK);
    uint64_t units = 0, by_rank[3] = {0};
    for (size_t i = 0; i < p.result.run.share_count; i++) {
        const mr_share *share = &p.result.run.shares[i];
        assert_true(share->rank < 3 && share->worker == 0 && share->units);
        units += share->units;
        by_rank[share->rank] += share->units;
    }
    assert_int_equal(units, SLOW_WINDOWS);
    assert_true(by_rank[1] > 0 && by_rank[2] > 0);
    mr_play_forget(&p);
    mr_config_free(p.config);
    mr_trace_free(trace);
}

/* ---- mishaps ---- */

typedef struct mishap_row {
    mr_mishap mishap;
    unsigned rank;
    uint64_t n;
    mr_status status;
    const char *text; /* a part of rank 0's error; NULL: it has none */
} mishap_row;

static void check_mishaps(const mishap_row *rows, size_t count, bool orderly, bool in_parts)
{
    char path[512];
    mr_scratch scratch;
    mr_trace *trace = slow_trace(2), *other = slow_trace(3);
    mr_scratch_make(&scratch);
    mr_play_write(trace, mr_scratch_path(&scratch, "trace.mrt", path));
    for (size_t i = 0; i < count; i++) {
        const mishap_row *row = &rows[i];
        mr_play p = {.trace = trace,
                     .other = other,
                     .config = mr_play_config(in_parts ? windows_only : slow),
                     .mrt = in_parts ? path : NULL,
                     .mishap = row->mishap,
                     .rank = row->rank,
                     .n = row->n};
        /* Should the others have done all the work before, there is no mishap. */
        unsigned bad = mr_play_perform(&p, 4);
        for (int tries = 0; p.status == MR_OK && tries < 5; tries++) {
            mr_play_forget(&p);
            bad = mr_play_perform(&p, 4);
        }
        if (p.status != row->status || (row->text && !strstr(p.error.text, row->text)))
            fail_msg("row %zu: status %d, %s", i, (int)p.status, p.error.text);
        assert_int_equal(bad > 0, !orderly);
        mr_play_forget(&p);
        mr_config_free(p.config);
    }
    mr_scratch_remove(&scratch);
    mr_trace_free(trace);
    mr_trace_free(other);
}

static void test_refused(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {MR_RANK_OTHER_TRACE, 2, 0, MR_ERR_TRACE,
         "rank 2 on star has read another trace than rank 0"},
        {MR_RANK_OTHER_CONFIG, 3, 0, MR_ERR_CONFIG,
         "rank 3 on star has other settings than rank 0"},
        {MR_RANK_NO_TRACE, 1, 0, MR_ERR_TRACE, "rank 1 on star: bad line"},
        {MR_RANK_NO_TRACE, 0, 0, MR_ERR_TRACE, "bad line"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, true, true);
}

static void test_failing_rank(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {MR_RANK_NO_MEMORY, 1, 1, MR_ERR_MEMORY, "rank 1 on star: out of memory"},
        {MR_RANK_NO_MEMORY, 2, 40, MR_ERR_MEMORY, "rank 2 on star: out of memory"},
        {MR_RANK_NO_MEMORY, 0, 40, MR_ERR_MEMORY, "out of memory"},
        {MR_RANK_ENDS, 2, 3, MR_ERR_IO, "rank 2 on star was asked to end"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    /* A rank with a part may have sent everything when it is asked to end. */
    check_mishaps(rows, sizeof rows / sizeof *rows - 1, true, true);
}

static void test_dead_rank(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {MR_RANK_DIES, 1, 1, MR_ERR_IO, "rank 1 on star has died"}, /* before its greeting */
        {MR_RANK_DIES, 2, 2, MR_ERR_IO, "rank 2 on star has died"},
        {MR_RANK_DIES, 3, 3, MR_ERR_IO, "rank 3 on star has died"},
        {MR_RANK_DIES, 2, 6, MR_ERR_IO, "rank 2 on star has died"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, false, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, false, true);
}

static void test_nonsense(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {MR_RANK_TALKS, 1, 1, MR_ERR_INTERNAL, "rank 1 on star sent what makes no sense"},
        {MR_RANK_TALKS, 1, 3, MR_ERR_INTERNAL, "rank 1 on star sent what makes no sense"},
        {MR_RANK_TALKS, 0, 8, MR_ERR_INTERNAL, "rank 0 on star sent what makes no sense"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, true, true);
}

/* A rank on which the search for the states of each two threads gives up would take other units for the same. */
static void test_poor_rank(void **state)
{
    (void)state;
    static const char *const settings[] = {"model",
                                           "value",
                                           "window.size",
                                           "100",
                                           "solver.steps",
                                           "filter,cone,saturate,explore",
                                           "solver.saturate_steps",
                                           "200",
                                           NULL};
    static const uint64_t seeds[] = {0, 14};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        mr_trace *trace = walk(seeds[i], 600, false);
        mr_config *config = mr_play_config(settings);
        bool told = false;
        /* On a busy machine the other rank may have done everything before this one began. */
        for (int play = 0; play < 10 && !told; play++) {
            mr_play p = {.trace = trace, .config = config, .mishap = MR_RANK_IS_POOR, .rank = 1};
            mr_play_perform(&p, 2);
            told = p.status != MR_OK;
            assert_int_equal(p.status, told ? MR_ERR_MEMORY : MR_OK);
            assert_true(!told || strstr(p.error.text, "has come further than rank 0, or less far"));
            mr_play_forget(&p);
        }
        assert_true(told);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

/* Without rank 0 the others end, too; what becomes of it is of no interest. */
static void test_dead_rank_0(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(2);
    for (uint64_t n = 1; n < 20; n += 6) {
        mr_play p = {
            .trace = trace, .config = mr_play_config(slow), .mishap = MR_RANK_LEAVES, .n = n};
        assert_int_equal(mr_play_perform(&p, 3), 2);
        assert_true(p.status != MR_OK);
        mr_play_forget(&p);
        mr_config_free(p.config);
    }
    mr_trace_free(trace);
}

static void test_halt(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(4);
    for (uint64_t n = 0; n < 40; n += 13) {
        mr_play p = {
            .trace = trace, .config = mr_play_config(slow), .mishap = MR_RANK_HALTS, .n = n};
        assert_int_equal(mr_play_perform(&p, 3), 0);
        assert_int_equal(p.status, MR_OK);
        assert_true(p.result.stats.windows < SLOW_WINDOWS);
        mr_play_forget(&p);
        mr_config_free(p.config);
    }
    mr_trace_free(trace);
}

/* What a run that came to an early end has saved is not decided again, and the report is the same.
 */
static void check_resume(mr_trace *trace, const char *const *settings, mr_mishap how, uint64_t n)
{
    char path[512];
    mr_scratch scratch;
    mr_play alone = {.trace = trace, .config = mr_play_config(settings)};
    mr_play ends = {.trace = trace,
                    .config = mr_play_config(settings),
                    .mishap = how,
                    .rank = how == MR_RANK_DIES,
                    .n = n};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = mr_play_report(&alone);
    mr_scratch_make(&scratch);
    ends.file = mr_scratch_path(&scratch, "checkpoint", path);
    assert_int_equal(mr_play_perform(&ends, 3) > 0, how == MR_RANK_DIES);
    assert_int_equal(ends.status, how == MR_RANK_DIES ? MR_ERR_IO : MR_OK);
    assert_true(ends.result.run.units_decided > 0);
    for (int again = 0; again < 2; again++) {
        mr_play resumes = {.trace = trace, .config = mr_play_config(settings), .file = path};
        assert_int_equal(mr_play_perform(&resumes, 3), 0);
        assert_int_equal(resumes.status, MR_OK);
        assert_true(resumes.result.run.units_saved >= ends.result.run.units_decided);
        assert_int_equal(resumes.result.run.units_decided > 0, !again);
        char *report = mr_play_report(&resumes);
        assert_string_equal(report, expected);
        free(report);
        mr_play_forget(&resumes);
        mr_config_free(resumes.config);
    }
    mr_scratch_remove(&scratch);
    free(expected);
    mr_play_forget(&alone);
    mr_play_forget(&ends);
    mr_config_free(alone.config);
    mr_config_free(ends.config);
}

static void test_resume(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(5), *far = far_trace();
    check_resume(trace, slow, MR_RANK_DIES, 4);
    check_resume(far, far_settings, MR_RANK_HALTS, 1);
    mr_trace_free(trace);
    mr_trace_free(far);
}

/* ---- shards of a job array, each by several ranks ---- */

enum { SHARDS = 3 };

/* Decides a shard; one that is halted on its way goes on in a second run. */
static void run_shard(mr_trace *trace, const char *const *settings, const char *file,
                      uint32_t shard, bool halted)
{
    for (int run = 0; run < 1 + halted; run++) {
        mr_play p = {.trace = trace,
                     .config = mr_play_config(settings),
                     .mishap = halted && run == 0 ? MR_RANK_HALTS : MR_RANK_FINE,
                     .n = 2,
                     .file = file,
                     .shard = shard,
                     .shards = SHARDS};
        uint64_t units = mr_predict_unit_count(trace, p.config);
        uint64_t mine = 0;
        for (uint64_t unit = 0; unit < units; unit++)
            mine += mr_shard_of(unit, units, SHARDS) == shard;
        assert_int_equal(mr_play_perform(&p, 3), 0);
        assert_int_equal(p.status, MR_OK);
        assert_int_equal(p.result.race_count, 0); /* that is for who merges */
        assert_true(!p.result.stats.incomplete ||
                    p.mishap == MR_RANK_HALTS); /* it may have come too late */
        assert_int_equal(p.result.stats.windows_missing,
                         mine - p.result.run.units_saved - p.result.run.units_decided);
        assert_int_equal(p.result.run.units_saved > 0, run > 0);
        mr_play_forget(&p);
        mr_config_free(p.config);
    }
}

/* The outcomes of all shards are merged by one process: the same report. */
static void check_shards(mr_trace *trace, const char *const *settings)
{
    char paths[SHARDS][512], name[] = "1";
    const char *parts[SHARDS];
    mr_scratch scratch;
    mr_checkpoint *checkpoint;
    mr_play alone = {.trace = trace, .config = mr_play_config(settings)};
    mr_play merged = {.trace = trace, .config = mr_play_config(settings)};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    mr_scratch_make(&scratch);
    for (uint32_t i = 0; i < SHARDS; i++, name[0]++) {
        parts[i] = mr_scratch_path(&scratch, name, paths[i]);
        run_shard(trace, settings, parts[i], i + 1, i == 1);
    }
    const mr_checkpoint_request request = {.parts = parts, .part_count = SHARDS};
    assert_int_equal(
        mr_predict_open_checkpoint(&request, trace, merged.config, &checkpoint, &merged.error),
        MR_OK);
    const mr_predict_run run = {.checkpoint = checkpoint};
    assert_int_equal(mr_predict(trace, merged.config, &run, &merged.result, &merged.error), MR_OK);
    assert_int_equal(merged.result.run.units_saved, mr_predict_unit_count(trace, merged.config));
    char *expected = mr_play_report(&alone), *report = mr_play_report(&merged);
    assert_string_equal(report, expected);
    assert_int_equal(mr_checkpoint_close(checkpoint, &merged.error), MR_OK);
    mr_scratch_remove(&scratch);
    free(expected);
    free(report);
    mr_play_forget(&alone);
    mr_play_forget(&merged);
    mr_config_free(alone.config);
    mr_config_free(merged.config);
}

static void test_shards(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(6), *far = far_trace();
    check_shards(trace, slow);
    check_shards(far, far_settings);
    mr_trace_free(trace);
    mr_trace_free(far);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poor_rank),      cmocka_unit_test(test_same_report),
        cmocka_unit_test(test_same_far),       cmocka_unit_test(test_same_fresh),
        cmocka_unit_test(test_empty_trace),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_part_that_lies), cmocka_unit_test(test_work_is_shared),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_failing_rank),
        cmocka_unit_test(test_dead_rank),      cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_dead_rank_0),    cmocka_unit_test(test_halt),
        cmocka_unit_test(test_resume),         cmocka_unit_test(test_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
