/*
 * part: a shard, or a rank other than rank 0, that reads only the part of the trace with its windows (formats/mrt/mrt_part.h). In it mr_predict decides the
 * windows as it would in the whole trace. The witnesses of their races are not checked: a checker needs the whole
 * trace. The run that takes the outcomes checks them, as it does with all saved races, and decides a window again when
 * the checker rejects one. For the search for sync-preserving races the caller reads the whole trace then.
 */
#ifndef MR_ENGINE_PART_H
#define MR_ENGINE_PART_H

#include "config/config.h"
#include "trace/trace.h"

typedef struct mr_predict_shard {
    const mr_config *config; /* borrowed */
    uint32_t shard, shards;
    bool of_rank; /* it is rank `shard` of so many ranks (mr_is_of_rank) */
} mr_predict_shard;

/* Do the settings allow it? */
bool mr_predict_part_allows(const mr_predict_shard *shard);

/* The same for a rank, which has to go through all phases: windows are all that there is. `shard` is for `rank` of a run of `size` ranks.
 * Rank 0 reads the whole trace, with check_states when a rank may read a part. */
bool mr_predict_part_of_rank(mr_predict_shard *shard, const mr_config *config, unsigned rank,
                             unsigned size);

/* Is an event of [first, end) in a window of the shard, in a trace with so many events? `context` is a mr_predict_shard. True
 * for all of a trace for which there is not plenty of memory. */
bool mr_predict_part_wants(void *context, uint32_t event_count, uint32_t first, uint32_t end);

/* The part was read: can its windows be decided? Those of a crowded trace (predict/crowded.h) cannot, nor those of a trace whose windows
 * might leave other questions for later than the whole says (predict/deferred.h). */
bool mr_predict_part_fits(const mr_predict_shard *shard, const mr_trace *part);

#endif
