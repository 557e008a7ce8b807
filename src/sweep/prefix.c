#include "prefix.h"

#include "base/seconds.h"
#include "beside.h"
#include "lean.h"

/* Behind the last second access of these races' first examples. */
static uint64_t end_of(const mr_race_list *list)
{
    uint64_t end = 0;
    for (size_t i = 0; i < list->race_count; i++) {
        uint64_t second = list->examples[list->races[i].first_example].second.event;
        end = second >= end ? second + 1 : end;
    }
    return end;
}

/* How many of the first static races of the order has the detector found, too? `*found` is what the
 * call before this one said. */
static bool has_all(const mr_detector *detector, const mr_race_list *races, size_t *found)
{
    while (*found < races->race_count &&
           mr_detector_has(detector, races->races[*found].low, races->races[*found].high))
        ++*found;
    return *found == races->race_count;
}

/* Feeds the events of the stream until all races are found, or to the end. */
static mr_status feed(const mr_sweep_job *job, mr_detector *detector)
{
    mr_events events;
    size_t found = 0;
    mr_status status;
    do {
        status = mr_stream_next(job->sweep->stream, &events, job->error);
        if (status == MR_OK && events.count > 0)
            status = mr_detector_feed(detector, &events, job->error);
    } while (status == MR_OK && events.count > 0 &&
             !has_all(detector, &job->sweep->result.list, &found));
    return status;
}

/* The races of shb, as far as they are wanted, from the stream, which is at its first event. */
static mr_status find_shb(const mr_sweep_job *job, mr_race_list *found)
{
    mr_detect_options options = {.most_examples = 1,
                                 .outlook = mr_stream_outlook(job->sweep->stream),
                                 .opaque = (mr_opaque)mr_config_choice(job->config, "opaque"),
                                 .halt = job->halt};
    mr_detector *detector = mr_detector_new(MR_RELATION_SHB, &options);
    mr_status status =
        detector != NULL ? feed(job, detector) : mr_error_memory(job->error, "proving races");
    if (status == MR_OK)
        status = mr_detector_finish(detector, found, job->error);
    mr_detector_free(detector);
    return status;
}

/* Behind the last event that a proof by one of these races needs; all events, when one of the
 * order's own has none. */
static uint64_t end_of_proofs(const mr_sweep_job *job, const mr_race_list *found)
{
    const mr_race_list *races = &job->sweep->result.list;
    uint64_t end = end_of(races);
    for (size_t i = 0; i < races->race_count; i++) {
        uint32_t number = mr_race_list_find(found, races->races[i].low, races->races[i].high);
        if (number == UINT32_MAX)
            return job->sweep->names->event_count;
        uint64_t second = found->examples[found->races[number].first_example].second.event;
        end = second >= end ? second + 1 : end;
    }
    return end;
}

mr_status mr_sweep_prefix(const mr_sweep_job *job, uint64_t *end)
{
    mr_sweep *sweep = job->sweep;
    mr_race_list found = {0};
    *end = sweep->names->event_count;
    if (mr_relation_sound(job->relation)) {
        if (mr_lean_is_enough(job))
            *end = end_of(&sweep->result.list);
        return MR_OK;
    }
    if (!job->mark || !mr_lean_is_enough(job) || !mr_stream_rewind(sweep->stream))
        return MR_OK;
    double begin = mr_seconds();
    mr_status status = find_shb(job, &found);
    sweep->result.stats.mark_seconds += mr_seconds() - begin;
    if (status == MR_OK) {
        *end = end_of_proofs(job, &found);
        mr_beside_give(&job->shared->shb, MR_RELATION_SHB, &found);
        return MR_OK;
    }
    mr_race_list_free(&found);
    return status == MR_ERR_HALTED ? mr_halt_fail(job->halt, NULL, "proving races", job->error)
                                   : status;
}
