/* A prediction by several ranks: the same report as by one process, and one clear end whatever
 * happens to a rank. The ranks are processes of the test (support/star.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "dispatch/dispatch.h"
#include "engine/identity.h"
#include "engine/part.h"
#include "formats/mrt/mrt_part.h"
#include "formats/mrt/mrt_write.h"
#include "support/generate_far.h"
#include "support/generate_large.h"
#include "support/predicted.h"
#include "support/random_walk.h"
#include "support/sample.h"
#include "support/scratch.h"
#include "support/star.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* No test takes that long; one that hangs is ended. */
enum { LIMIT_SECONDS = 300 };

/* What goes wrong on a rank. */
typedef enum mishap {
    NONE,
    NO_MEMORY,   /* the n-th allocation of its prediction fails */
    DIES,        /* at its n-th message */
    LEAVES,      /* rank 0 is gone at its n-th message */
    TALKS,       /* its n-th message makes no sense */
    OTHER_TRACE, /* it reads another trace */
    OTHER_CONFIG,
    NO_TRACE, /* it cannot read the trace */
    HALTS,    /* rank 0 is asked to end after n units */
    ENDS,     /* it is asked to end at its n-th message */
} mishap;

typedef struct play {
    const mr_trace *trace, *other;
    mr_config *config;
    mishap mishap;
    unsigned rank; /* to which it happens */
    uint64_t n;
    const char *file; /* checkpoint; NULL: none */
    uint32_t shard, shards;
    const char *
        mrt; /* ranks other than 0 read a part of this file, when they can; NULL: they have the trace */
    bool lies; /* it is another trace, and says that it is this one */
    /* of rank 0 */
    unsigned parts; /* ranks that have a part */
    mr_halt halt;
    mr_status status;
    mr_error error;
    mr_result result;
} play;

static mr_trace *read_trace(char *text)
{
    assert_non_null(text);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    free(text);
    return trace;
}

static mr_config *make_config(const char *const *settings)
{
    mr_config *config = mr_settings_of(settings);
    mr_settings_set(config, "report.run", "false");
    mr_settings_set(config, "format", "json");
    mr_settings_set(config, "solver.timeout_ms",
                    "600000"); /* no bound on time may end a question */
    mr_config_resolve(config);
    return config;
}

static char *report_of(const play *p)
{
    return mr_predicted_report(p->trace, p->config, &p->result);
}

/* ---- a rank ---- */

/* The cluster of the rank to which something happens at its n-th message. Processes are few and
 * have one thread that sends. */
static struct {
    mr_cluster inner;
    mishap mishap;
    uint64_t left;
    mr_halt *halt;
} bent;

static bool bent_send(void *context, unsigned to, const uint8_t *bytes, size_t count)
{
    (void)context;
    static const uint8_t nonsense[] = {5, 1, 200, 200, 200, 200, 1};
    bool now = bent.left && --bent.left == 0;
    if (now && bent.mishap == DIES)
        raise(SIGKILL);
    if (now && bent.mishap == LEAVES)
        bent.inner.end(bent.inner.context, false);
    if (now && bent.mishap == ENDS)
        mr_halt_ask(bent.halt, MR_HALT_SIGNAL);
    if (now && bent.mishap == TALKS)
        return bent.inner.send(bent.inner.context, to, nonsense, sizeof nonsense);
    return bent.inner.send(bent.inner.context, to, bytes, count);
}

static void prepare(play *p, mr_cluster *cluster)
{
    if (p->rank != cluster->rank || !p->n || p->mishap == NO_MEMORY || p->mishap == HALTS)
        return;
    bent.halt = &p->halt;
    bent.inner = *cluster;
    bent.mishap = p->mishap;
    bent.left = p->n;
    cluster->send = bent_send;
}

/* The progress of rank 0. It begins when the others have had time to come, too. */
static void attend(void *context, const char *stage, uint64_t done, uint64_t total)
{
    play *p = context;
    const struct timespec nap = {0, 100000000};
    if (p->mishap != NONE && !done && total)
        nanosleep(&nap, NULL);
    if (p->mishap == HALTS && strcmp(stage, "windows") == 0 && done >= p->n)
        mr_halt_ask(&p->halt, MR_HALT_SIGNAL);
}

/* The part of the file that the rank needs; NULL: it cannot be read so. */
static mr_mrt_part *read_part(const play *p, const mr_cluster *cluster)
{
    mr_predict_shard share;
    const mr_part_wish wish = {.context = &share, .wants = mr_predict_part_wants, .always = true};
    if (!p->mrt || cluster->rank == 0 ||
        !mr_predict_part_of_rank(&share, p->config, cluster->rank, cluster->size))
        return NULL;
    mr_mrt_part *part = mr_mrt_part_open(p->mrt, NULL, &wish);
    if (part && p->lies) {
        mr_trace *trace = (mr_trace *)mr_mrt_part_trace(part);
        mr_identity identity;
        mr_error error;
        assert_int_equal(mr_identity_of(&identity, p->trace, p->config, &error), MR_OK);
        trace->fingerprint = identity.trace;
        mr_identity_free(&identity);
    }
    return part;
}

/* What every rank does. False: there was no orderly end. */
static bool take_part(play *p, mr_cluster *cluster)
{
    mr_team team;
    bool mine = p->rank == cluster->rank, clean = true;
    mr_status own = MR_OK;
    prepare(p, cluster);
    if (mine && p->mishap == OTHER_CONFIG)
        assert_int_equal(mr_config_set(p->config, "model", "rf", NULL, 0, NULL), MR_OK);
    if (mine && p->mishap == NO_TRACE)
        own = mr_error_set(&p->error, MR_ERR_TRACE, "race.std", 7, "bad line");
    mr_mrt_part *part = read_part(p, cluster);
    const mr_trace *read = part ? mr_mrt_part_trace(part) : p->trace;
    const mr_trace *trace = mine && p->mishap == OTHER_TRACE ? p->other : read;
    mr_checkpoint *checkpoint = NULL;
    if (cluster->rank == 0 && p->file) {
        const mr_checkpoint_request request = {
            .file = p->file, .resume = true, .shard = p->shard, .shards = p->shards};
        own = mr_predict_open_checkpoint(&request, p->trace, p->config, &checkpoint, &p->error);
    }
    p->status = mr_predict_meet(&team, cluster, &p->halt, trace, p->config, own, &p->error);
    for (unsigned rank = 1; p->status == MR_OK && rank < cluster->size; rank++)
        p->parts += team.members[rank].has_part;
    if (p->status == MR_OK && !team.over) {
        const mr_progress progress = {.report = attend, .context = p};
        const mr_predict_run run = {.progress = &progress,
                                    .halt = &p->halt,
                                    .checkpoint = checkpoint,
                                    .shard = p->shard,
                                    .shards = p->shards,
                                    .team = &team};
        if (mine && p->mishap == NO_MEMORY)
            mr_memory_fail_after(p->n);
        p->status = mr_predict(read, p->config, &run, &p->result, &p->error);
        mr_memory_fail_after(0);
        clean = mr_predict_part(&team, p->status, &p->error, &p->result.run);
    }
    mr_error close_error;
    assert_int_equal(mr_checkpoint_close(checkpoint, &close_error), MR_OK);
    mr_team_free(&team);
    mr_mrt_part_close(part);
    return clean && !team.broken;
}

static void be_rank(mr_cluster *cluster, void *context)
{
    play *p = context;
    if (!take_part(p, cluster))
        _exit(3);
    mr_result_free(&p->result);
}

/* Plays it with `size` ranks. How many of the others had no orderly end. */
static unsigned perform(play *p, unsigned size)
{
    mr_cluster cluster, own;
    alarm(LIMIT_SECONDS);
    mr_star_start(&cluster, size, be_rank, p);
    own = cluster;
    take_part(p, &own);
    unsigned bad = mr_star_end(&cluster);
    alarm(0);
    return bad;
}

static void forget(play *p)
{
    mr_result_free(&p->result);
    p->halt = (mr_halt){0};
    p->parts = 0;
    p->error = (mr_error){0};
}

/* ---- the same report ---- */

static void check_same(mr_trace *trace, const char *const *settings)
{
    static const unsigned sizes[] = {1, 2, 4};
    play alone = {.trace = trace, .config = make_config(settings)};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = report_of(&alone);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        play together = {.trace = trace, .config = make_config(settings)};
        if (i == 2)
            mr_config_set(together.config, "jobs", "2", NULL, 0, NULL);
        assert_int_equal(perform(&together, sizes[i]), 0);
        if (together.status != MR_OK)
            fail_msg("%u ranks: %s", sizes[i], together.error.text);
        char *report = report_of(&together);
        assert_string_equal(report, expected);
        free(report);
        forget(&together);
        mr_config_free(together.config);
    }
    free(expected);
    forget(&alone);
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

/* Blocks are short, so that parts leave out something. */
static void write_blocks(const mr_trace *trace, const char *path)
{
    enum { BLOCK = 64 };
    mr_error error;
    mr_mrt_writer *writer;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(mr_mrt_writer_new(file, &writer, &error), MR_OK);
    for (uint32_t first = 0; first < trace->event_count; first += BLOCK) {
        uint32_t left = (uint32_t)trace->event_count - first;
        mr_events block = mr_events_of_trace(trace, first, left < BLOCK ? left : BLOCK);
        assert_int_equal(
            mr_mrt_writer_add(writer, trace, &block, trace->value + first, NULL, &error), MR_OK);
    }
    assert_int_equal(mr_mrt_writer_finish(writer, trace, &error), MR_OK);
    mr_mrt_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

/* How many ranks had a part. */
static unsigned check_parts(const mr_trace *trace, const char *const *settings)
{
    char path[512];
    mr_scratch scratch;
    unsigned parts = 0;
    play alone = {.trace = trace, .config = make_config(settings)};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = report_of(&alone);
    mr_scratch_make(&scratch);
    write_blocks(trace, mr_scratch_path(&scratch, "trace.mrt", path));
    for (unsigned size = 3; size < 6; size++) {
        play together = {.trace = trace, .config = make_config(settings), .mrt = path};
        assert_int_equal(perform(&together, size), 0);
        if (together.status != MR_OK)
            fail_msg("%u ranks: %s", size, together.error.text);
        assert_true(together.parts == 0 || together.parts == size - 1);
        parts += together.parts;
        char *report = report_of(&together);
        assert_string_equal(report, expected);
        free(report);
        forget(&together);
        mr_config_free(together.config);
    }
    mr_scratch_remove(&scratch);
    free(expected);
    forget(&alone);
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
    assert_true(parts > 20);
}

/* The same trace, but all acquires and releases of locks are branches. Places and numbers of events stay. */
static mr_trace *without_locks(char *text)
{
    char *other = malloc(2 * strlen(text) + 1), *to = other;
    assert_non_null(other);
    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const char *op = memchr(line, '|', (size_t)(end - line)) + 1;
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
    play p = {.trace = trace, .config = make_config(windows_only), .mrt = path, .lies = true};
    mr_scratch_make(&scratch);
    write_blocks(other, mr_scratch_path(&scratch, "trace.mrt", path));
    assert_int_equal(perform(&p, 4), 0);
    if (p.status != MR_OK)
        fail_msg("%s", p.error.text);
    assert_int_equal(p.parts, 3);
    mr_predicted_check(trace, &p.result);
    print_message("races %zu, units decided %llu\n", p.result.race_count,
                  (unsigned long long)p.result.run.units_decided);
    mr_scratch_remove(&scratch);
    forget(&p);
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
    play p = {.trace = trace, .config = make_config(slow), .mishap = HALTS, .n = UINT64_MAX};
    assert_int_equal(perform(&p, 3), 0);
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
    forget(&p);
    mr_config_free(p.config);
    mr_trace_free(trace);
}

/* ---- mishaps ---- */

typedef struct mishap_row {
    mishap mishap;
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
    write_blocks(trace, mr_scratch_path(&scratch, "trace.mrt", path));
    for (size_t i = 0; i < count; i++) {
        const mishap_row *row = &rows[i];
        play p = {.trace = trace,
                  .other = other,
                  .config = make_config(in_parts ? windows_only : slow),
                  .mrt = in_parts ? path : NULL,
                  .mishap = row->mishap,
                  .rank = row->rank,
                  .n = row->n};
        /* Should the others have done all the work before, there is no mishap. */
        unsigned bad = perform(&p, 4);
        for (int tries = 0; p.status == MR_OK && tries < 5; tries++) {
            forget(&p);
            bad = perform(&p, 4);
        }
        if (p.status != row->status || (row->text && !strstr(p.error.text, row->text)))
            fail_msg("row %zu: status %d, %s", i, (int)p.status, p.error.text);
        assert_int_equal(bad > 0, !orderly);
        forget(&p);
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
        {OTHER_TRACE, 2, 0, MR_ERR_TRACE, "rank 2 on star has read another trace than rank 0"},
        {OTHER_CONFIG, 3, 0, MR_ERR_CONFIG, "rank 3 on star has other settings than rank 0"},
        {NO_TRACE, 1, 0, MR_ERR_TRACE, "rank 1 on star: bad line"},
        {NO_TRACE, 0, 0, MR_ERR_TRACE, "bad line"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, true, true);
}

static void test_failing_rank(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {NO_MEMORY, 1, 1, MR_ERR_MEMORY, "rank 1 on star: out of memory"},
        {NO_MEMORY, 2, 40, MR_ERR_MEMORY, "rank 2 on star: out of memory"},
        {NO_MEMORY, 0, 40, MR_ERR_MEMORY, "out of memory"},
        {ENDS, 2, 3, MR_ERR_IO, "rank 2 on star was asked to end"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    /* A rank with a part may have sent everything when it is asked to end. */
    check_mishaps(rows, sizeof rows / sizeof *rows - 1, true, true);
}

static void test_dead_rank(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {DIES, 1, 1, MR_ERR_IO, "rank 1 on star has died"}, /* before its greeting */
        {DIES, 2, 2, MR_ERR_IO, "rank 2 on star has died"},
        {DIES, 3, 3, MR_ERR_IO, "rank 3 on star has died"},
        {DIES, 2, 6, MR_ERR_IO, "rank 2 on star has died"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, false, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, false, true);
}

static void test_nonsense(void **state)
{
    (void)state;
    static const mishap_row rows[] = {
        {TALKS, 1, 1, MR_ERR_INTERNAL, "rank 1 on star sent what makes no sense"},
        {TALKS, 1, 3, MR_ERR_INTERNAL, "rank 1 on star sent what makes no sense"},
        {TALKS, 0, 8, MR_ERR_INTERNAL, "rank 0 on star sent what makes no sense"},
    };
    check_mishaps(rows, sizeof rows / sizeof *rows, true, false);
    check_mishaps(rows, sizeof rows / sizeof *rows, true, true);
}

/* Without rank 0 the others end, too; what becomes of it is of no interest. */
static void test_dead_rank_0(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(2);
    for (uint64_t n = 1; n < 20; n += 6) {
        play p = {.trace = trace, .config = make_config(slow), .mishap = LEAVES, .n = n};
        assert_int_equal(perform(&p, 3), 2);
        assert_true(p.status != MR_OK);
        forget(&p);
        mr_config_free(p.config);
    }
    mr_trace_free(trace);
}

static void test_halt(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(4);
    for (uint64_t n = 0; n < 40; n += 13) {
        play p = {.trace = trace, .config = make_config(slow), .mishap = HALTS, .n = n};
        assert_int_equal(perform(&p, 3), 0);
        assert_int_equal(p.status, MR_OK);
        assert_true(p.result.stats.windows < SLOW_WINDOWS);
        forget(&p);
        mr_config_free(p.config);
    }
    mr_trace_free(trace);
}

/* What a run that came to an early end has saved is not decided again, and the report is the same.
 */
static void check_resume(mr_trace *trace, const char *const *settings, mishap how, uint64_t n)
{
    char path[512];
    mr_scratch scratch;
    play alone = {.trace = trace, .config = make_config(settings)};
    play ends = {.trace = trace,
                 .config = make_config(settings),
                 .mishap = how,
                 .rank = how == DIES,
                 .n = n};
    assert_int_equal(mr_predict(trace, alone.config, NULL, &alone.result, &alone.error), MR_OK);
    char *expected = report_of(&alone);
    mr_scratch_make(&scratch);
    ends.file = mr_scratch_path(&scratch, "checkpoint", path);
    assert_int_equal(perform(&ends, 3) > 0, how == DIES);
    assert_int_equal(ends.status, how == DIES ? MR_ERR_IO : MR_OK);
    assert_true(ends.result.run.units_decided > 0);
    for (int again = 0; again < 2; again++) {
        play resumes = {.trace = trace, .config = make_config(settings), .file = path};
        assert_int_equal(perform(&resumes, 3), 0);
        assert_int_equal(resumes.status, MR_OK);
        assert_true(resumes.result.run.units_saved >= ends.result.run.units_decided);
        assert_int_equal(resumes.result.run.units_decided > 0, !again);
        char *report = report_of(&resumes);
        assert_string_equal(report, expected);
        free(report);
        forget(&resumes);
        mr_config_free(resumes.config);
    }
    mr_scratch_remove(&scratch);
    free(expected);
    forget(&alone);
    forget(&ends);
    mr_config_free(alone.config);
    mr_config_free(ends.config);
}

static void test_resume(void **state)
{
    (void)state;
    mr_trace *trace = slow_trace(5), *far = far_trace();
    check_resume(trace, slow, DIES, 4);
    check_resume(far, far_settings, HALTS, 1);
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
        play p = {.trace = trace,
                  .config = make_config(settings),
                  .mishap = halted && run == 0 ? HALTS : NONE,
                  .n = 2,
                  .file = file,
                  .shard = shard,
                  .shards = SHARDS};
        uint64_t units = mr_predict_unit_count(trace, p.config);
        uint64_t mine = 0;
        for (uint64_t unit = 0; unit < units; unit++)
            mine += mr_shard_of(unit, units, SHARDS) == shard;
        assert_int_equal(perform(&p, 3), 0);
        assert_int_equal(p.status, MR_OK);
        assert_int_equal(p.result.race_count, 0); /* that is for who merges */
        assert_true(!p.result.stats.incomplete ||
                    p.mishap == HALTS); /* it may have come too late */
        assert_int_equal(p.result.stats.windows_missing,
                         mine - p.result.run.units_saved - p.result.run.units_decided);
        assert_int_equal(p.result.run.units_saved > 0, run > 0);
        forget(&p);
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
    play alone = {.trace = trace, .config = make_config(settings)};
    play merged = {.trace = trace, .config = make_config(settings)};
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
    char *expected = report_of(&alone), *report = report_of(&merged);
    assert_string_equal(report, expected);
    assert_int_equal(mr_checkpoint_close(checkpoint, &merged.error), MR_OK);
    mr_scratch_remove(&scratch);
    free(expected);
    free(report);
    forget(&alone);
    forget(&merged);
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
        cmocka_unit_test(test_same_report),    cmocka_unit_test(test_same_far),
        cmocka_unit_test(test_same_fresh),     cmocka_unit_test(test_empty_trace),
        cmocka_unit_test(test_parts),          cmocka_unit_test(test_part_that_lies),
        cmocka_unit_test(test_work_is_shared), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failing_rank),   cmocka_unit_test(test_dead_rank),
        cmocka_unit_test(test_nonsense),       cmocka_unit_test(test_dead_rank_0),
        cmocka_unit_test(test_halt),           cmocka_unit_test(test_resume),
        cmocka_unit_test(test_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
