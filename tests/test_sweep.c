/* A whole-trace order run on a file: on random traces, what is proven is a race by exhaustive
 * search, what is no race is none, sound orders prove all they report; lack of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/pack/pack.h"
#include "formats/read.h"
#include "order/detect/detect.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/mrt_bytes.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "sweep/sweep.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ROUNDS = 30,
    SHARE_ROUNDS = 12
}; /* of each shape, with each relation; SWEEP_ROUNDS: others */

static mr_scratch scratch;

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

static mr_config *config_of(mr_relation relation, const char *confirm, const char *check)
{
    mr_config *config = mr_config_new();
    assert_non_null(config);
    const char *const settings[][2] = {
        {"relation", mr_relation_name(relation)},
        {"confirm", confirm},
        {"witness.check", check},
        {"model", "rf"},
        {"window.size", "0"},
        {"examples", "3"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        assert_int_equal(mr_config_set(config, settings[i][0], settings[i][1], NULL, 0, NULL),
                         MR_OK);
    return config;
}

/* A packed file is a stream, and read again to prove something; a short text is read once. */
static void write_file(const char *name, const char *text, mr_packing packing, char path[512])
{
    mr_error error = {0};
    mr_scratch_write(&scratch, name, text, path);
    FILE *file = fopen(path, "wb");
    mr_packer *packer = file ? mr_packer_new(packing, file) : NULL;
    assert_true(packer && mr_packer_write(packer, text, strlen(text), &error) == MR_OK &&
                mr_packer_finish(packer, &error) == MR_OK);
    mr_packer_free(packer);
    assert_int_equal(fclose(file), 0);
}

/* One run on one trace. */
typedef struct trial {
    const char *text;
    const mr_exhaustive *truth;
    mr_relation relation;
    bool confirm;
} trial;

static void expect(bool good, const trial *of, const char *what)
{
    if (!good)
        fail_msg("%s, %s:\n%s", mr_relation_name(of->relation), what, of->text);
}

static void check_race(const trial *of, const mr_sweep *sweep, size_t index)
{
    const mr_race_list *list = &sweep->result.list;
    const mr_order_race *known = &sweep->result.races[index];
    bool sound = mr_relation_sound(of->relation);
    if (known->standing == MR_STANDING_RACE) {
        const mr_witness *witness = &known->witness;
        expect(witness->kind == MR_WITNESS_MEMORY_ORDER ||
                   mr_exhaustive_has(of->truth, witness->first, witness->second),
               of, "not a race");
        uint32_t one = sweep->trace->location[witness->first];
        uint32_t two = sweep->trace->location[witness->second];
        uint32_t low = list->races[index].low, high = list->races[index].high;
        expect((one == low && two == high) || (one == high && two == low), of,
               "a witness for other locations");
    }
    expect(known->standing != MR_STANDING_UNKNOWN, of, "not decided");
    expect(known->standing == MR_STANDING_RACE || !sound, of, "sound and not proven");
    expect(known->standing != MR_STANDING_CANDIDATE || !of->confirm, of, "not confirmed");
    for (uint32_t i = list->races[index].first_example;
         known->standing == MR_STANDING_NO_RACE && i != UINT32_MAX; i = list->examples[i].next)
        expect(!mr_exhaustive_has(of->truth, list->examples[i].first.event,
                                  list->examples[i].second.event),
               of, "a race called no race");
}

/* What is proven without being confirmed is a race of shb, or else of syncp, and all of these are proven. */
static void check_marks(const trial *of, const mr_sweep *sweep)
{
    const mr_race_list *list = &sweep->result.list;
    mr_race_list shb, syncp;
    mr_error error = {0};
    mr_detect_options options = {.most_examples = 1};
    if (of->confirm || mr_relation_sound(of->relation) || of->relation == MR_RELATION_C17 ||
        sweep->trace == NULL || sweep->trace->event_count < sweep->names->event_count)
        return;
    assert_int_equal(mr_detect(MR_RELATION_SHB, sweep->trace, &options, &shb, &error), MR_OK);
    assert_int_equal(mr_detect(MR_RELATION_SYNCP, sweep->trace, &options, &syncp, &error), MR_OK);
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *pair = &list->examples[list->races[i].first_example];
        uint32_t one = sweep->trace->location[pair->first.event],
                 two = sweep->trace->location[pair->second.event];
        mr_proof proof = mr_race_list_find(&shb, one, two) != UINT32_MAX     ? MR_PROOF_SHB
                         : mr_race_list_find(&syncp, one, two) != UINT32_MAX ? MR_PROOF_SYNCP
                                                                             : MR_PROOF_NONE;
        expect(sweep->result.races[i].proof == proof, of, "another proof than the orders have");
    }
    mr_race_list_free(&shb);
    mr_race_list_free(&syncp);
}

static void run_trial(const trial *of, const char *path)
{
    mr_sweep sweep;
    mr_error error = {0};
    uint64_t counted = 0;
    mr_config *config = config_of(of->relation, of->confirm ? "true" : "false", "true");
    expect(mr_sweep_run(&sweep, path, config, NULL, NULL, &error) == MR_OK, of, error.text);
    const mr_order_result *result = &sweep.result;
    expect(result->complete && result->stats.rejected_witnesses == 0, of, "rejected");
    for (size_t i = 0; i < result->list.race_count; i++)
        check_race(of, &sweep, i);
    check_marks(of, &sweep);
    for (int i = 0; i < MR_STANDING_COUNT; i++)
        counted += result->counts[i];
    expect(counted == result->list.race_count, of, "counts");
    expect(result->list.race_count == 0 || sweep.trace != NULL, of, "the trace is not there");
    if (of->relation == MR_RELATION_HB && result->list.race_count > 0)
        expect(result->races[0].standing == MR_STANDING_RACE &&
                   result->races[0].proof == MR_PROOF_SHB,
               of, "the first race of hb is not proven");
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

static void test_random(void **state)
{
    (void)state;
    size_t races = 0;
    uint64_t rounds = mr_length("SWEEP_ROUNDS", SHARE_ROUNDS, ROUNDS);
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        for (uint64_t seed = 1; seed <= rounds; seed++) {
            char path[512];
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            write_file("random.std", text, seed % 4 < 2 ? MR_PACKING_GZIP : MR_PACKING_NONE, path);
            mr_trace *trace = mr_sample_trace(text);
            assert_non_null(trace);
            mr_exhaustive truth = {0};
            assert_true(mr_exhaustive_find(trace, MR_MODEL_RF, 0, trace->event_count, &truth));
            races += truth.race_count;
            for (int relation = 0; relation < MR_RELATION_COUNT; relation++)
                run_trial(&(trial){text, &truth, (mr_relation)relation, seed % 2 == 0}, path);
            mr_exhaustive_free(&truth);
            mr_trace_free(trace);
            free(text);
        }
    }
    assert_true(races > 1000 * rounds / ROUNDS || rounds < SHARE_ROUNDS);
}

/* A race of SHB, one of SyncP, one that needs the decision procedure, and one that is none. */
static const char mixed_text[] =
    "T1|w(a)|1\nT2|w(a)|2\nT1|w(b)|3\nT1|acq(k)|4\nT1|rel(k)|5\nT2|acq(k)|6\nT2|rel(k)|7\n"
    "T2|w(b)|8\nT1|acq(l)|9\nT1|w(c)|10\nT1|rel(l)|11\nT2|acq(l)|12\nT2|rel(l)|13\nT2|w(c)|14\n"
    "T1|w(y)|15\nT1|w(x)|16\nT2|r(x)|17\nT2|r(y)|18\n";

static void test_proofs(void **state)
{
    (void)state;
    static const struct {
        mr_relation relation;
        const char *confirm, *check;
        const char *expected; /* standing:proof of each static race */
    } rows[] = {
        {MR_RELATION_WCP, "true", "true", "race:shb race:syncp race:decision race:shb no-race: "},
        {MR_RELATION_WCP, "false", "true", "race:shb race:syncp candidate: race:shb candidate: "},
        {MR_RELATION_WCP, "false", "false",
         "sound:shb sound:syncp candidate: sound:shb candidate: "},
        {MR_RELATION_CP, "true", "true", "race:shb race:syncp race:decision race:shb no-race: "},
        {MR_RELATION_HB, "false", "false", "sound:first sound:shb candidate: "},
        {MR_RELATION_HB, "false", "true", "race:shb race:shb candidate: "},
        {MR_RELATION_FHB, "true", "true", "race:fhb race:fhb "},
        {MR_RELATION_SHB, "true", "false", "sound:shb sound:shb "},
        {MR_RELATION_SYNCP, "true", "true", "race:syncp race:syncp race:syncp "},
    };
    char path[512];
    mr_scratch_write(&scratch, "mixed.std", mixed_text, path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_sweep sweep;
        mr_error error = {0};
        char text[512] = "";
        size_t used = 0;
        mr_config *config = config_of(rows[i].relation, rows[i].confirm, rows[i].check);
        assert_int_equal(mr_sweep_run(&sweep, path, config, NULL, NULL, &error), MR_OK);
        for (size_t k = 0; k < sweep.result.list.race_count; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s:%s ",
                                     mr_standing_name(sweep.result.races[k].standing),
                                     mr_proof_name(sweep.result.races[k].proof));
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("row %zu: '%s', not '%s'", i, text, rows[i].expected);
        mr_sweep_free(&sweep);
        mr_config_free(config);
    }
}

/* The trace is in memory only when something is to be proven of it; of a text that is not too long,
 * when something may have to be. */
static void test_loading(void **state)
{
    (void)state;
    enum { LINE = 10, LINES = 6000 };
    static char long_text[LINE * LINES + 1];
    static const struct {
        mr_relation relation;
        const char *check, *text, *limit_mb;
        mr_packing packing;
        bool loaded;
    } rows[] = {
        {MR_RELATION_SHB, "true", mixed_text, "0", MR_PACKING_GZIP, true},
        {MR_RELATION_SHB, "true", mixed_text, "0", MR_PACKING_NONE, true},
        {MR_RELATION_SHB, "false", mixed_text, "0", MR_PACKING_NONE, false},
        {MR_RELATION_SHB, "true", "T1|w(x)|1\n", "0", MR_PACKING_GZIP, false},
        {MR_RELATION_SHB, "true", "T1|w(x)|1\n", "0", MR_PACKING_NONE, true},
        {MR_RELATION_WCP, "true", "T1|w(x)|1\n", "1", MR_PACKING_ZSTD, false},
        {MR_RELATION_WCP, "true", "T1|w(x)|1\n", "1", MR_PACKING_NONE, true},
        {MR_RELATION_WCP, "true", long_text, "1", MR_PACKING_NONE, false},
        {MR_RELATION_WCP, "true", long_text, "100", MR_PACKING_NONE, true},
        {MR_RELATION_SYNCP, "false", "T1|w(x)|1\n", "0", MR_PACKING_GZIP, true},
    };
    for (size_t i = 0; i + 1 < sizeof long_text; i += LINE)
        memcpy(long_text + i, "T1|w(x)|1\n", LINE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mr_sweep sweep;
        mr_error error = {0};
        char path[512];
        write_file("some.std", rows[i].text, rows[i].packing, path);
        mr_config *config = config_of(rows[i].relation, "false", rows[i].check);
        assert_int_equal(mr_config_set(config, "memory.limit_mb", rows[i].limit_mb, NULL, 0, NULL),
                         MR_OK);
        assert_int_equal(mr_sweep_run(&sweep, path, config, NULL, NULL, &error), MR_OK);
        assert_non_null(sweep.names);
        if ((sweep.trace != NULL) != rows[i].loaded)
            fail_msg("row %zu", i);
        mr_sweep_free(&sweep);
        mr_config_free(config);
    }
}

static void check_same(const mr_sweep *one, const mr_sweep *other)
{
    assert_int_equal(one->result.list.race_count, other->result.list.race_count);
    assert_int_equal(one->result.list.racy_event_count, other->result.list.racy_event_count);
    for (size_t i = 0; i < one->result.list.race_count; i++) {
        const mr_order_race *a = &one->result.races[i], *b = &other->result.races[i];
        assert_int_equal(a->standing, b->standing);
        assert_int_equal(a->proof, b->proof);
        assert_int_equal(a->witness.first, b->witness.first);
        assert_int_equal(a->witness.second, b->witness.second);
        assert_int_equal(a->witness.event_count, b->witness.event_count);
        if (a->witness.event_count)
            assert_memory_equal(a->witness.events, b->witness.events,
                                a->witness.event_count * sizeof *a->witness.events);
    }
}

/* The result is the same when other threads read the text and look for what proves its races. */
static void test_threads(void **state)
{
    (void)state;
    enum { LINES = 90000, LINE = 19 }; /* more than a mebibyte */
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_WCP, MR_RELATION_HYBRID,
                                            MR_RELATION_C17};
    size_t proven = 0;
    char path[512], *text = malloc((size_t)LINES * LINE + sizeof mixed_text), *at = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++)
        at += sprintf(at, "T9|w(before)|%05d\n", i % 1000);
    memcpy(at, mixed_text, sizeof mixed_text);
    for (int round = 0; round < 8; round++) {
        mr_sweep sweeps[2];
        mr_error error = {0};
        mr_config *config = config_of(relations[round / 2], "false", "true");
        write_file("long.std", text, round % 2 ? MR_PACKING_ZSTD : MR_PACKING_NONE, path);
        for (int jobs = 1; jobs <= 2; jobs++) {
            char number[2] = {(char)('0' + jobs), '\0'};
            assert_int_equal(mr_config_set(config, "jobs", number, NULL, 0, NULL), MR_OK);
            assert_int_equal(mr_sweep_run(&sweeps[jobs - 1], path, config, NULL, NULL, &error),
                             MR_OK);
        }
        check_same(&sweeps[0], &sweeps[1]);
        proven += sweeps[0].result.counts[MR_STANDING_RACE];
        mr_sweep_free(&sweeps[0]);
        mr_sweep_free(&sweeps[1]);
        mr_config_free(config);
    }
    assert_true(proven > 8);
    free(text);
}

static void write_bytes(mr_bytes bytes, char path[512])
{
    mr_scratch_write(&scratch, "random.mrt", "", path);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes.items, 1, bytes.count, file) == bytes.count);
    assert_int_equal(fclose(file), 0);
}

/* The trace in an .mrt file, in blocks of so many events. */
static void write_mrt(const char *text, uint32_t block, char path[512])
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_bytes bytes = mr_test_mrt(trace, block);
    write_bytes(bytes, path);
    free(bytes.items);
    mr_trace_free(trace);
}

static mr_sweep sweep_of(const char *path, const mr_config *config)
{
    mr_sweep sweep;
    mr_error error = {0};
    if (mr_sweep_run(&sweep, path, config, NULL, NULL, &error) != MR_OK)
        fail_msg("%s", error.text);
    return sweep;
}

/* Of an .mrt file only as many events are in memory as the proofs need, from the blocks that were read already unless all
 * is asked; and the proofs are the same as those of a text, which is read whole. */
static void test_first_events(void **state)
{
    (void)state;
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_FHB, MR_RELATION_SHB,
                                            MR_RELATION_WCP, MR_RELATION_HYBRID};
    enum { RELATIONS = sizeof relations / sizeof relations[0] };
    size_t shorter[RELATIONS] = {0}, lean[RELATIONS] = {0};
    uint64_t rounds = mr_length("SWEEP_ROUNDS", SHARE_ROUNDS, ROUNDS);
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++)
        for (uint64_t seed = 1; seed <= rounds; seed += 3)
            for (int i = 0; i < RELATIONS; i++) {
                char text_path[512], mrt_path[512];
                char *text = mr_generate_trace(seed, (mr_shape)shape);
                assert_non_null(text);
                mr_scratch_write(&scratch, "random.std", text, text_path);
                write_mrt(text, 2, mrt_path);
                mr_config *config = config_of(relations[i], seed % 4 ? "false" : "true", "true");
                mr_sweep whole = sweep_of(text_path, config), first = sweep_of(mrt_path, config);
                check_same(&whole, &first);
                shorter[i] +=
                    first.trace != NULL && first.trace->event_count < first.names->event_count;
                lean[i] += first.lean != NULL;
                mr_sweep_free(&whole);
                mr_sweep_free(&first);
                mr_config_free(config);
                free(text);
            }
    for (int i = 0; i < RELATIONS; i++)
        assert_true((shorter[i] > 10 * rounds / ROUNDS && lean[i] > 10 * rounds / ROUNDS) ||
                    rounds < SHARE_ROUNDS);
}

/* The same for a trace that is long enough to be put into columns while shb goes on. */
static void test_long(void **state)
{
    (void)state;
    enum { EVENTS = 70000, BLOCK = 500 }; /* beside.h: from 65,536 on */
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_WCP};
    char text_path[512], mrt_path[512];
    size_t lean = 0;
    char *text = mr_generate_large(1, &mr_large_shapes[0], EVENTS);
    assert_non_null(text);
    mr_scratch_write(&scratch, "long.std", text, text_path);
    write_mrt(text, BLOCK, mrt_path);
    for (int i = 0; i < 4; i++) {
        mr_config *config = config_of(relations[i / 2], i % 2 ? "false" : "true", "true");
        mr_sweep whole = sweep_of(text_path, config), first = sweep_of(mrt_path, config);
        check_same(&whole, &first);
        lean += first.lean != NULL;
        mr_sweep_free(&whole);
        mr_sweep_free(&first);
        mr_config_free(config);
    }
    free(text);
    assert_true(lean > 1);
}

/* Two threads with an access each of x, both of them a race, at each of these lines, and nothing but accesses of their own elsewhere. */
static char *with_races(const int *lines, size_t count, int line_count)
{
    enum { LINE = 8 };
    char *text = malloc((size_t)line_count * (LINE + 1) + 1), *at = text;
    assert_non_null(text);
    for (int line = 0; line < line_count; line++) {
        char thread = line % 2 ? 'A' : 'B', name = line % 2 ? 'a' : 'b', place = '3';
        for (size_t i = 0; i < count; i++)
            if (line == lines[i] || line == lines[i] + 1) {
                name = 'x';
                place = (char)('4' + i);
            }
        at += sprintf(at, "%c|w(%c)|%c\n", thread, name, place);
    }
    return text;
}

/* The same where races come early, late, or both: from the first one on events are put into columns while the file is read, and more
 * of them when others follow. */
static void test_foreseen(void **state)
{
    (void)state;
    enum { LINES = 70000, BLOCK = 500, MOST = 3 }; /* beside.h: from 65,536 on */
    static const int places[][MOST] = {{100}, {69990}, {100, 69990}, {100, 20000, 69990}};
    static const size_t counts[] = {1, 1, 2, 3};
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_FHB, MR_RELATION_SHB};
    uint64_t most = 4 * mr_number_from_environment("SWEEP_ROUNDS", 3); /* all places at least */
    for (uint64_t i = 0; i < 12 && i < most; i++) {
        char text_path[512], mrt_path[512];
        char *text = with_races(places[i % 4], counts[i % 4], LINES);
        mr_scratch_write(&scratch, "foreseen.std", text, text_path);
        write_mrt(text, BLOCK, mrt_path);
        mr_config *config = config_of(relations[i % 3], "false", "true");
        mr_sweep whole = sweep_of(text_path, config), first = sweep_of(mrt_path, config);
        check_same(&whole, &first);
        assert_true(whole.result.counts[MR_STANDING_RACE] >= counts[i % 4]);
        mr_sweep_free(&whole);
        mr_sweep_free(&first);
        mr_config_free(config);
        free(text);
    }
}

/* The same where the columns are pages of the file. */
static void test_pages(void **state)
{
    (void)state;
    enum { LINES = (1 << 20) + 1000, BLOCK = 1 << 16 }; /* columns of 1 MiB are mapped */
    static const int places[] = {70000, LINES - 10};
    char text_path[512], mrt_path[512];
    char *text = with_races(places, 2, LINES);
    mr_scratch_write(&scratch, "pages.std", text, text_path);
    write_mrt(text, BLOCK, mrt_path);
    free(text);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    mr_sweep whole = sweep_of(text_path, config), mapped = sweep_of(mrt_path, config);
    check_same(&whole, &mapped);
    assert_non_null(mapped.lean);
    assert_int_equal(whole.trace->event_count, LINES);
    for (size_t event = 0; event < mapped.lean->event_count; event++)
        assert_true(whole.trace->op[event] == mapped.lean->op[event] &&
                    whole.trace->thread[event] == mapped.lean->thread[event] &&
                    whole.trace->link[event] == mapped.lean->link[event]);
    mr_sweep_free(&whole);
    mr_sweep_free(&mapped);
    mr_config_free(config);
}

/* Another program writes to the file when the first witness is made. */
static void touch(void *context, const char *stage, uint64_t done, uint64_t total)
{
    if (done < total && strcmp(stage, "witnesses") == 0)
        assert_int_equal(utimensat(AT_FDCWD, context, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
}

/* Columns that are pages of a file are not to be believed when it was written to. */
static void test_changed_pages(void **state)
{
    (void)state;
    enum { LINES = (1 << 20) + 1000, BLOCK = 1 << 16 };
    char path[512], *text = with_races(&(int){70000}, 1, LINES);
    write_mrt(text, BLOCK, path);
    free(text);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    const mr_progress told = {touch, path};
    mr_error error = {0};
    mr_sweep sweep;
    assert_int_equal(mr_sweep_run(&sweep, path, config, &told, NULL, &error), MR_ERR_IO);
    assert_string_equal(error.text, MR_STREAM_HAS_CHANGED);
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

/* The index says fewer events than there are. Columns have room for those. */
static void test_foreseen_too_few(void **state)
{
    (void)state;
    enum { LINES = 70000, BLOCK = 500, TOLD = 65536 };
    char path[512];
    mr_error error = {0};
    mr_sweep sweep;
    char *text = with_races(&(int){100}, 1, LINES);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    ((mr_mrt_index *)(void *)(mr_test_chunk(bytes, MR_MRT_INDEX, 0) + 1))->event_count = TOLD;
    mr_test_seal(bytes);
    write_bytes(bytes, path);
    assert_int_equal(mr_sweep_run(&sweep, path, config, NULL, NULL, &error), MR_ERR_TRACE);
    assert_non_null(strstr(error.text, "more events than the index says"));
    mr_sweep_free(&sweep);
    mr_config_free(config);
    mr_trace_free(trace);
    free(bytes.items);
    free(text);
}

/* The stream comes to a BarrierPair when its races so far have been shown to be shb's, and the trace is read whole after all. */
static void test_late_opaque(void **state)
{
    (void)state;
    enum { WRITES = 70000, BLOCK = 500, LINE = 8 }; /* beside.h: from 65,536 on */
    static const char head[] = "A|w(x)|1\nB|w(x)|2\n";
    static const char tail[] = "A|mbegin(m:*)|5\nA|mend(m)|5\nB|mbegin(m:*)|6\nB|mend(m)|6\n";
    char text_path[512], mrt_path[512];
    char *text = malloc(sizeof head + (size_t)WRITES * (LINE + 1) + sizeof tail), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (int i = 0; i < WRITES; i++)
        at += sprintf(at, i % 2 ? "A|w(a)|3\n" : "B|w(b)|4\n");
    memcpy(at, tail, sizeof tail);
    mr_scratch_write(&scratch, "late.std", text, text_path);
    write_mrt(text, BLOCK, mrt_path);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    mr_sweep whole = sweep_of(text_path, config);
    assert_int_equal(whole.result.counts[MR_STANDING_RACE], 1);
    for (int i = 0; i < 8; i++) { /* a thread looks for the races of shb, soon or late */
        mr_sweep late = sweep_of(mrt_path, config);
        check_same(&whole, &late);
        mr_sweep_free(&late);
    }
    mr_sweep_free(&whole);
    mr_config_free(config);
    free(text);
}

/* The first pair of x of hb is no race, and shb has none of x: the proof is about a later pair, far behind the first one. */
static void test_later_events(void **state)
{
    (void)state;
    static const char text[] = "A|w(x)|1\nA|w(y)|2\nB|r(y)|3\nB|w(x)|4\nB|acq(m)|5\nB|rel(m)|6\n"
                               "A|w(z)|7\nA|w(z)|7\nA|acq(m)|8\nA|rel(m)|9\nA|w(x)|1\n";
    char path[512];
    write_mrt(text, 2, path);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    mr_sweep sweep = sweep_of(path, config);
    assert_non_null(sweep.lean);
    assert_int_equal(sweep.result.list.race_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(sweep.result.races[i].standing, MR_STANDING_RACE);
    assert_int_equal(sweep.result.races[1].proof, MR_PROOF_SYNCP);
    assert_true(sweep.result.races[1].witness.second == 10);
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

/* A text that is read without the values of accesses is the same otherwise. */
static void test_without_values(void **state)
{
    (void)state;
    const mr_read_options without = {.without_values = true};
    uint64_t others = 0;
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            mr_trace *all = mr_sample_trace(text), *some;
            assert_int_equal(mr_trace_read_text("some", text, strlen(text), &without, &some, NULL),
                             MR_OK);
            assert_true(some->lacks_values && some->event_count == all->event_count);
            assert_memory_equal(some->link, all->link, all->event_count * sizeof *all->link);
            assert_memory_equal(some->operand, all->operand,
                                all->event_count * sizeof *all->operand);
            for (uint32_t event = 0; event < all->event_count; event++) {
                bool keeps = !mr_op_is_access(all->op[event]);
                assert_true((some->value[event] != 0) == (keeps && all->value[event] != 0));
                others += some->value[event] != 0;
            }
            for (uint32_t i = 0; i < all->objects.count; i++)
                assert_int_equal(some->object_info[i].bytes, all->object_info[i].bytes);
            assert_int_equal(some->reach_items.count, all->reach_items.count);
            mr_trace_free(some);
            mr_trace_free(all);
            free(text);
        }
    assert_true(others > 50); /* of calls and allocs */
}

/* An error that happened is told with values. */
static void test_values_of_errors(void **state)
{
    (void)state;
    static const char text[] = "#@in x o\nT0|alloc(o)|1\nT0|fork(T1)|2\nT0|w(x=7)|3\n"
                               "T0|free(o)|4\nT1|r(x=7)|5\n";
    char path[512];
    mr_scratch_write(&scratch, "error.std", text, path);
    mr_config *config = config_of(MR_RELATION_HB, "false", "true");
    mr_sweep sweep = sweep_of(path, config);
    assert_int_equal(sweep.result.observed.count, 1);
    assert_true(sweep.result.list.race_count > 0 && sweep.trace->lacks_values);
    assert_int_equal(sweep.names->values[sweep.names->value[4]], 7);
    mr_sweep_free(&sweep);
    mr_config_free(config);
}

/* Whichever allocation fails, the run says so, leaks nothing, and what it has is consistent. */
static void test_no_memory(void **state)
{
    (void)state;
    static const mr_relation relations[] = {MR_RELATION_WCP, MR_RELATION_SYNCP, MR_RELATION_HB};
    char text[512], blocks[512];
    write_file("mixed.std", mixed_text, MR_PACKING_GZIP, text);
    write_mrt(mixed_text, 2, blocks);
    for (size_t i = 0; i < 2 * sizeof relations / sizeof relations[0]; i++) {
        const char *path = i % 2 ? blocks : text;
        mr_config *config = config_of(relations[i / 2], i % 2 ? "false" : "true", "true");
        mr_status status = MR_ERR_MEMORY;
        uint64_t n;
        for (n = 1; status != MR_OK; n += 1 + n / 50) {
            mr_sweep sweep;
            mr_error error = {0};
            mr_memory_fail_after(n);
            status = mr_sweep_run(&sweep, path, config, NULL, NULL, &error);
            mr_memory_fail_after(0);
            assert_true(status == MR_OK || status == MR_ERR_MEMORY);
            if (sweep.names != NULL)
                for (size_t k = 0; k < sweep.result.list.race_count; k++)
                    assert_true(sweep.result.races[k].standing != MR_STANDING_RACE ||
                                sweep.result.races[k].witness.second > 0);
            mr_sweep_free(&sweep);
        }
        assert_true(n > 50);
        mr_config_free(config);
    }
}

/* A race that only SyncP proves, early in an .mrt file: what the accesses of its example need takes the first one, as long as all before
 * them has happened. The rest of the file is loaded for SyncP. */
static void test_rest(void **state)
{
    (void)state;
    static const mr_relation relations[] = {MR_RELATION_HB, MR_RELATION_WCP};
    char text[2048] = "T3|acq(m)|1\nT1|w(x)|2\nT1|w(y)|3\nT3|r(y)|4\nT3|rel(m)|5\n"
                      "T2|acq(m)|6\nT2|rel(m)|7\nT2|w(x)|8\n";
    for (int i = 0; i < 64; i++)
        strcat(text, "T1|w(z)|9\n");
    char text_path[512], mrt_path[512];
    mr_scratch_write(&scratch, "rest.std", text, text_path);
    write_mrt(text, 2, mrt_path);
    for (int i = 0; i < 2; i++) {
        mr_config *config = config_of(relations[i], "false", "true");
        mr_sweep whole = sweep_of(text_path, config), first = sweep_of(mrt_path, config);
        check_same(&whole, &first);
        assert_int_equal(first.result.list.race_count, 2);
        assert_int_equal(first.result.races[0].proof, MR_PROOF_SHB);
        assert_int_equal(first.result.races[1].proof, MR_PROOF_SYNCP);
        assert_int_equal(first.trace->event_count, first.names->event_count);
        mr_sweep_free(&whole);
        mr_sweep_free(&first);
        mr_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),         cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_loading),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_first_events),
        cmocka_unit_test(test_without_values), cmocka_unit_test(test_values_of_errors),
        cmocka_unit_test(test_later_events),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_late_opaque),    cmocka_unit_test(test_rest),
        cmocka_unit_test(test_foreseen),       cmocka_unit_test(test_foreseen_too_few),
        cmocka_unit_test(test_pages),          cmocka_unit_test(test_changed_pages),
    };
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
