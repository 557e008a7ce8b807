/* An .mrt file that says something wrong, with right checksums, does not end in a crash, whether a part of it or all of it
 * is read and decided. PART_WRONG_SEED and PART_WRONG_FILES try others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/part.h"
#include "engine/predict.h"
#include "formats/mrt/mrt_part.h"
#include "formats/read.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/mrt_wrong.h"
#include "support/predicted.h"
#include "support/sample.h"
#include "support/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 3 };

typedef struct tally {
    uint64_t parts, decided, whole, right;
} tally;

/* Decides a shard from a part of the file, when it can be read so. */
static void try_part(const char *path, const mr_config *config, uint32_t shard, tally *all)
{
    mr_predict_shard part_of = {config, shard, SHARDS, false};
    const mr_part_wish wish = {.context = &part_of, .wants = mr_predict_part_wants, .always = true};
    const mr_predict_run run = {.shard = shard, .shards = SHARDS};
    mr_result result = {0};
    mr_error error;
    mr_mrt_part *part = mr_mrt_part_open(path, NULL, &wish);
    all->parts += part != NULL;
    if (part && mr_predict_part_fits(&part_of, mr_mrt_part_trace(part))) {
        mr_predict(mr_mrt_part_trace(part), config, &run, &result, &error);
        all->decided++;
    }
    mr_result_free(&result);
    mr_mrt_part_close(part);
}

/* Reads it all, with STATE and FACTS and without, and decides it. */
static void try_whole(const char *path, const mr_config *config, bool checks, tally *all)
{
    const mr_read_options options = {.check_states = checks};
    mr_result result = {0};
    mr_error error;
    mr_trace *trace = NULL;
    if (mr_trace_read(path, &options, &trace, &error) == MR_OK) {
        all->whole++;
        all->right += checks;
        mr_predict(trace, config, NULL, &result, &error);
    }
    mr_result_free(&result);
    mr_trace_free(trace);
}

static const char *const settings[] = {"window.size",
                                       "6",
                                       "jobs",
                                       "1",
                                       "find",
                                       "races",
                                       "solver.steps",
                                       "filter,cone,linearise,eliminate,greedy",
                                       "candidates.far",
                                       "none",
                                       NULL};

static void try_seeds(uint64_t seed, uint64_t count, tally *all)
{
    char path[512];
    mr_scratch scratch;
    mr_config *config = mr_settings_of(settings);
    mr_config_resolve(config);
    mr_scratch_make(&scratch);
    mr_scratch_path(&scratch, "wrong.mrt", path);
    for (uint64_t i = seed; i < seed + count; i++) {
        char *text = mr_generate_longer_trace(i, (mr_shape)(i % MR_SHAPE_ALL));
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        mr_wrong_mrt(trace, 2 + (uint32_t)(i % 5), i, path);
        try_part(path, config, 1 + (uint32_t)(i % SHARDS), all);
        try_whole(path, config, i % 2, all);
        mr_trace_free(trace);
        free(text);
        if ((i - seed) % 1000 == 999) /* so that a crash can be found */
            print_message("up to seed %" PRIu64 "\n", i);
    }
    mr_scratch_remove(&scratch);
    mr_config_free(config);
}

static void test_wrong(void **state)
{
    (void)state;
    uint64_t count = mr_length("PART_WRONG_FILES", 700, 10000);
    tally all = {0};
    try_seeds(mr_number_from_environment("PART_WRONG_SEED", 1), count, &all);
    print_message("parts %" PRIu64 ", decided %" PRIu64 ", read whole %" PRIu64 " (%" PRIu64
                  " of them with right states)\n",
                  all.parts, all.decided, all.whole, all.right);
    assert_true(all.decided > count / 20 && all.parts < count && all.whole > count / 20);
}

/* A shared and an exclusive section of one lock are open side by side. */
static void test_sections_side_by_side(void **state)
{
    (void)state;
    tally all = {0};
    try_seeds(15266, 1, &all);
    assert_int_equal(all.decided, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_sections_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
