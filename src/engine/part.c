#include "part.h"

#include "dispatch/dispatch.h"
#include "far/far.h"
#include "predict/crowded.h"
#include "predict/settings.h"

/* An option with the name of places is checked, and a note about it printed, when the whole trace is read. */
static bool has_text(const mr_config *config, const char *key)
{
    return *mr_config_text(config, key) != '\0';
}

bool mr_predict_part_allows(const mr_predict_shard *shard)
{
    const mr_config *config = shard->config;
    bool slides = mr_config_choice(config, "candidates.prefilter") == MR_PREFILTER_WCP;
    return shard->shards > 1 && (mr_config_set_of(config, "find") & MR_FIND_RACES) && !slides &&
           mr_config_int(config, "window.size") && !has_text(config, "sees") &&
           !has_text(config, "candidates.only_locations") &&
           !has_text(config, "candidates.ignore_locations");
}

bool mr_predict_part_of_rank(mr_predict_shard *shard, const mr_config *config, unsigned rank,
                             unsigned size)
{
    *shard = (mr_predict_shard){config, rank, size, true};
    return mr_predict_settings_far(config) == MR_FAR_NONE &&
           mr_config_set_of(config, "find") == MR_FIND_RACES && mr_predict_part_allows(shard);
}

static bool has_unit(const mr_predict_shard *shard, uint64_t unit, uint64_t units)
{
    return shard->of_rank ? mr_is_of_rank(unit, units, shard->shard, shard->shards)
                          : mr_shard_of(unit, units, shard->shards) == shard->shard;
}

/* The events of the windows of the shard take much less than this. */
static bool has_plenty(const mr_config *config, uint32_t event_count)
{
    enum { EVENT_BYTES = 32 };
    uint64_t limit = mr_config_memory_bytes(config);
    return !limit || (uint64_t)event_count * EVENT_BYTES <= limit / 2;
}

bool mr_predict_part_wants(void *context, uint32_t event_count, uint32_t first, uint32_t end)
{
    const mr_predict_shard *shard = context;
    const mr_trace trace = {.event_count = event_count};
    mr_window_plan plan = mr_predict_settings_plan(&trace, shard->config);
    uint32_t windows = mr_window_plan_count(&plan), stride = plan.size - plan.overlap;
    uint64_t units = (uint64_t)windows + (mr_predict_settings_far(shard->config) != MR_FAR_NONE);
    if (!has_plenty(shard->config, event_count))
        return true;
    for (uint32_t k = first > plan.size ? (first - plan.size) / stride : 0; k < windows; k++) {
        uint32_t begin = 0, stop = 0;
        if (!mr_window_plan_get(&plan, k, &begin, &stop) || begin >= end)
            break;
        if (stop > first && has_unit(shard, k, units))
            return true;
    }
    return false;
}

/* The trace has at least so many chains of threads: each but the first thread of a chain follows one that is joined. It may have fewer than a
 * part, which has not all forks and joins, and neither has more than there are threads. */
static uint64_t least_chains(const mr_trace *part)
{
    uint64_t joins = part->op_counts[MR_OP_JOIN];
    return part->threads.count > joins ? part->threads.count - joins : 1;
}

/* Whether they are many decides how much a window may ask. */
static bool may_have_many_otherwise(const mr_trace *part)
{
    return part->threads.count > MR_MANY_CHAINS && least_chains(part) <= MR_MANY_CHAINS;
}

/* Whether windows leave their questions (predict/deferred.h) depends on their number, too. */
static bool may_defer_otherwise(const mr_config *config, const mr_trace *part)
{
    uint64_t defer = (uint64_t)mr_config_int(config, "candidates.defer");
    uint64_t most = (uint64_t)mr_config_int(config, "window.far_size");
    uint64_t window = (uint64_t)mr_config_int(config, "window.size");
    uint64_t least = mr_far_size(most, window, part->threads.count);
    bool may_defer = part->event_count >= defer || part->threads.count > MR_MANY_CHAINS;
    return defer && may_defer && mr_predict_settings_far(config) == MR_FAR_ALL &&
           part->event_count > least &&
           part->event_count <= mr_far_size(most, window, least_chains(part));
}

bool mr_predict_part_fits(const mr_predict_shard *shard, const mr_trace *part)
{
    const mr_config *config = shard->config;
    uint64_t crowded = (uint64_t)mr_config_int(config, "candidates.crowded");
    bool noted = mr_config_choice(config, "model") == MR_MODEL_BRANCH &&
                 !part->op_counts[MR_OP_BRANCH]; /* a note is printed then */
    return !noted && !may_have_many_otherwise(part) && !may_defer_otherwise(config, part) &&
           !mr_crowded_may_be(part->most_places, part->event_count, crowded);
}
