#include "play.h"

#include "base/memory.h"
#include "engine/identity.h"
#include "engine/part.h"
#include "formats/mrt/mrt_part.h"
#include "formats/mrt/mrt_write.h"
#include "predicted.h"
#include "star.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* No test takes that long; one that hangs is ended. */
enum { LIMIT_SECONDS = 300 };

mr_config *mr_play_config(const char *const *settings)
{
    mr_config *config = mr_settings_of(settings);
    mr_settings_set(config, "report.run", "false");
    mr_settings_set(config, "format", "json");
    mr_settings_set(config, "solver.timeout_ms",
                    "600000"); /* no bound on time may end a question */
    mr_config_resolve(config);
    return config;
}

char *mr_play_report(const mr_play *p)
{
    return mr_predicted_report(p->trace, p->config, &p->result);
}

/* ---- a rank ---- */

/* The cluster of the rank to which something happens at its n-th message. Processes are few and
 * have one thread that sends. */
static struct {
    mr_cluster inner;
    mr_mishap mishap;
    uint64_t left;
    mr_halt *halt;
} bent;

static bool bent_send(void *context, unsigned to, const uint8_t *bytes, size_t count)
{
    (void)context;
    static const uint8_t nonsense[] = {5, 1, 200, 200, 200, 200, 1};
    bool now = bent.left && --bent.left == 0;
    if (now && bent.mishap == MR_RANK_DIES)
        raise(SIGKILL);
    if (now && bent.mishap == MR_RANK_LEAVES)
        bent.inner.end(bent.inner.context, false);
    if (now && bent.mishap == MR_RANK_ENDS)
        mr_halt_ask(bent.halt, MR_HALT_SIGNAL);
    if (now && bent.mishap == MR_RANK_TALKS)
        return bent.inner.send(bent.inner.context, to, nonsense, sizeof nonsense);
    return bent.inner.send(bent.inner.context, to, bytes, count);
}

static void prepare(mr_play *p, mr_cluster *cluster)
{
    if (p->rank != cluster->rank || !p->n || p->mishap == MR_RANK_NO_MEMORY ||
        p->mishap == MR_RANK_HALTS)
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
    mr_play *p = context;
    const struct timespec nap = {0, 100000000};
    if (p->mishap != MR_RANK_FINE && !done && total)
        nanosleep(&nap, NULL);
    if (p->mishap == MR_RANK_HALTS && strcmp(stage, "windows") == 0 && done >= p->n)
        mr_halt_ask(&p->halt, MR_HALT_SIGNAL);
}

/* The part of the file that the rank needs; NULL: it cannot be read so. */
static mr_mrt_part *read_part(const mr_play *p, const mr_cluster *cluster)
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
static bool take_part(mr_play *p, mr_cluster *cluster)
{
    mr_team team;
    bool mine = p->rank == cluster->rank, clean = true;
    mr_status own = MR_OK;
    prepare(p, cluster);
    if (mine && p->mishap == MR_RANK_OTHER_CONFIG)
        assert_int_equal(mr_config_set(p->config, "model", "rf", NULL, 0, NULL), MR_OK);
    if (mine && p->mishap == MR_RANK_IS_POOR)
        assert_int_equal(mr_config_set(p->config, "memory.limit_mb", "1", NULL, 0, NULL), MR_OK);
    if (mine && p->mishap == MR_RANK_NO_TRACE)
        own = mr_error_set(&p->error, MR_ERR_TRACE, "race.std", 7, "bad line");
    mr_mrt_part *part = read_part(p, cluster);
    const mr_trace *read = part ? mr_mrt_part_trace(part) : p->trace;
    const mr_trace *trace = mine && p->mishap == MR_RANK_OTHER_TRACE ? p->other : read;
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
        if (mine && p->mishap == MR_RANK_NO_MEMORY)
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
    mr_play *p = context;
    if (!take_part(p, cluster))
        _exit(3);
    mr_result_free(&p->result);
}

unsigned mr_play_perform(mr_play *p, unsigned size)
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

void mr_play_forget(mr_play *p)
{
    mr_result_free(&p->result);
    p->halt = (mr_halt){0};
    p->parts = 0;
    p->error = (mr_error){0};
}

void mr_play_write(const mr_trace *trace, const char *path)
{
    enum { BLOCK = 64 };
    mr_error error;
    mr_mrt_writer *writer;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(mr_mrt_writer_new(file, &writer, &error), MR_OK);
    for (uint32_t first = 0; first < trace->event_count; first += BLOCK) {
        uint32_t left = (uint32_t)trace->event_count - first;
        mr_events events = mr_events_of_trace(trace, first, left < BLOCK ? left : BLOCK);
        assert_int_equal(
            mr_mrt_writer_add(writer, trace, &events, trace->value + first, NULL, &error), MR_OK);
    }
    assert_int_equal(mr_mrt_writer_finish(writer, trace, &error), MR_OK);
    mr_mrt_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}
