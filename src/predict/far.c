/*
 * Races of a whole-trace order whose accesses are farther apart than a window: SHB races, or all
 * sync-preserving ones, which contain them.
 */
#include "far.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "order/detect.h"
#include "order/syncp.h"

#include <stdlib.h>

/* A race to be confirmed. */
typedef struct far_race {
    uint32_t first, second, start;
} far_race;

/* In this order what is before a window is played once. */
static int compare_start(const void *one, const void *two)
{
    const far_race *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

mr_status mr_far_search(const mr_predict_settings *settings, mr_outcome *outcome, mr_error *error)
{
    double begin = mr_seconds();
    mr_race_list list;
    mr_detect_options options = {.most_examples = 1, .edges = &settings->opaque};
    mr_relation relation = settings->far == MR_FAR_SHB ? MR_RELATION_SHB : MR_RELATION_SYNCP;
    mr_status status = mr_detect(relation, settings->trace, &options, &list, error);
    if (status == MR_OK) {
        outcome->pairs = mr_calloc(list.race_count, sizeof *outcome->pairs);
        if (!outcome->pairs)
            status = mr_error_memory(error, "looking for far races");
    }
    for (size_t i = 0; status == MR_OK && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        outcome->pairs[outcome->pair_count++] =
            (mr_event_pair){example->first.event, example->second.event};
    }
    mr_race_list_free(&list);
    outcome->seconds = mr_seconds() - begin;
    return status;
}

static bool is_wanted(const mr_far_phase *phase, const mr_event_pair *pair)
{
    const mr_predict_settings *settings = phase->settings;
    const uint32_t *location = settings->trace->location;
    const uint8_t *ignored = settings->ignored_locations;
    if (ignored && (ignored[location[pair->first]] || ignored[location[pair->second]]))
        return false;
    const mr_ledger_entry *entry =
        mr_ledger_find_static(&phase->merge->ledger, settings->trace, pair->first, pair->second);
    return !entry || !entry->race;
}

/* The race and its witness; should the checker refuse it, it is unknown, not lost. */
static mr_status confirm(mr_far_phase *phase, mr_syncp_index *index, const far_race *race)
{
    const mr_trace *trace = phase->settings->trace;
    mr_worker *worker = phase->worker;
    mr_stats *stats = &phase->merge->result->stats;
    mr_decision decision = {.step = MR_STEP_FAR};
    mr_record record = {0};
    mr_u32s events = {0};
    uint32_t one = trace->location[race->first], two = trace->location[race->second];
    record.key_1 = one < two ? one : two;
    record.key_2 = one < two ? two : one;
    if (!mr_syncp_schedule(index, race->first, race->second, race->start, &events)) {
        mr_u32s_free(&events);
        return mr_error_memory(phase->error, "building the witness of a far race");
    }
    mr_witness witness = {.first = race->first,
                          .second = race->second,
                          .window_start = race->start,
                          .window_end = race->second + 1,
                          .model = phase->settings->model,
                          .events = events.items,
                          .event_count = (uint32_t)events.count};
    mr_status status =
        mr_worker_confirm_witness(worker, &witness, MR_STRENGTH_BEYOND_WCP, &decision, &record);
    if (status != MR_OK)
        return status;
    if (!record.has_race) {
        mr_window window = {.start = race->start, .end = race->second + 1};
        stats->unknown[decision.reason]++;
        mr_worker_note_unknown(worker, &window, race->first, race->second, MR_STRENGTH_BEYOND_WCP,
                               &decision, &record);
    } else {
        stats->settled[MR_STEP_FAR]++;
        stats->races[MR_STEP_FAR]++;
    }
    return mr_merge_record(phase->merge, &record, MR_FAR_WINDOW, phase->error);
}

static mr_status confirm_all(mr_far_phase *phase, far_race *races, size_t count)
{
    mr_syncp_index *index = NULL;
    mr_detect_options options = {.edges = &phase->settings->opaque, .progress = phase->progress};
    mr_status status = mr_syncp_index_new(phase->settings->trace, &options, &index, phase->error);
    for (size_t i = 0; status == MR_OK && i < count; i++)
        races[i].start = mr_syncp_window(index, races[i].first, races[i].second);
    if (status == MR_OK)
        qsort(races, count, sizeof *races, compare_start);
    for (size_t i = 0; status == MR_OK && i < count; i++) {
        if (mr_halt_asked(phase->settings->halt) != MR_HALT_NONE)
            break;
        mr_progress_tell(phase->progress, "far races", i, count);
        status = confirm(phase, index, &races[i]);
    }
    mr_syncp_index_free(index);
    return status;
}

mr_status mr_far_confirm(mr_far_phase *phase, const mr_event_pair *pairs, size_t count)
{
    size_t wanted = 0;
    far_race *races = mr_calloc(count, sizeof *races);
    phase->worker->error = phase->error;
    if (!races)
        return mr_error_memory(phase->error, "looking for far races");
    for (size_t i = 0; i < count; i++)
        if (is_wanted(phase, &pairs[i]))
            races[wanted++] = (far_race){.first = pairs[i].first, .second = pairs[i].second};
    mr_status status = wanted ? confirm_all(phase, races, wanted) : MR_OK;
    free(races);
    return status;
}
