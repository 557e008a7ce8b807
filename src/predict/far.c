/*
 * Races of a whole-trace order whose accesses are farther apart than a window: SHB races, or all
 * sync-preserving ones, which contain them. The theory gives each a witness in trace order
 * (order/syncp.h), on a window that starts as late as it can and ends after the second access.
 */
#include "far_label.h"

#include "order/detect.h"
#include "order/syncp.h"

#include <stdlib.h>

typedef struct far_races {
    mr_far_pair *items;
    size_t count;
} far_races;

/* In this order what is before a window is played once. */
static int compare_start(const void *one, const void *two)
{
    const mr_far_pair *x = one, *y = two;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return mr_far_compare(one, two);
}

static bool wanted(const mr_driver *driver, uint32_t first, uint32_t second)
{
    const uint32_t *location = driver->trace->location;
    if (driver->ignored_locations &&
        (driver->ignored_locations[location[first]] || driver->ignored_locations[location[second]]))
        return false;
    const mr_ledger_entry *entry =
        mr_ledger_find_static(&driver->ledger, driver->trace, first, second);
    return !entry || !entry->race;
}

/* The wanted ones of the relation's static races. */
static mr_status find(mr_driver *driver, mr_relation relation, far_races *races)
{
    mr_race_list list;
    mr_detect_options options = {
        .most_examples = 1, .edges = &driver->opaque, .progress = driver->progress};
    mr_status status = mr_detect(relation, driver->trace, &options, &list, driver->error);
    mr_far_pair *items = status == MR_OK ? mr_calloc(list.race_count, sizeof *items) : NULL;
    if (status == MR_OK && !items)
        status = mr_error_memory(driver->error, "looking for far races");
    for (size_t i = 0; items && i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        uint32_t first = example->first.event, second = example->second.event;
        if (wanted(driver, first, second))
            items[races->count++] = (mr_far_pair){.first = first, .second = second};
    }
    races->items = items;
    mr_race_list_free(&list);
    return status;
}

/* The race and its witness; should the checker refuse it, it is unknown, not lost. */
static mr_status confirm(mr_driver *driver, mr_syncp_index *index, const mr_far_pair *race)
{
    mr_decision decision = {.step = MR_STEP_FAR};
    mr_u32s events = {0};
    mr_ledger_entry *entry =
        mr_ledger_get_static(&driver->ledger, driver->trace, race->first, race->second);
    if (!entry || !mr_syncp_schedule(index, race->first, race->second, race->start, &events)) {
        mr_u32s_free(&events);
        return mr_error_memory(driver->error, "building the witness of a far race");
    }
    mr_witness witness = {.first = race->first,
                          .second = race->second,
                          .window_start = race->start,
                          .window_end = race->second + 1,
                          .model = driver->model,
                          .events = events.items,
                          .event_count = (uint32_t)events.count};
    mr_status status =
        mr_driver_confirm_witness(driver, &witness, race->strength, &decision, &entry->race);
    if (status != MR_OK)
        return status;
    if (!entry->race) {
        mr_window window = {.start = race->start, .end = race->second + 1};
        driver->result->stats.unknown[decision.reason]++;
        return mr_driver_note_unknown(driver, entry, &window, race->first, race->second,
                                      race->strength, &decision);
    }
    driver->result->stats.settled[MR_STEP_FAR]++;
    driver->result->stats.races[MR_STEP_FAR]++;
    return MR_OK;
}

static mr_status confirm_all(mr_driver *driver, far_races *races)
{
    mr_syncp_index *index = NULL;
    mr_detect_options options = {.edges = &driver->opaque, .progress = driver->progress};
    mr_status status = mr_far_label(driver, races->items, races->count);
    if (status == MR_OK)
        status = mr_syncp_index_new(driver->trace, &options, &index, driver->error);
    for (size_t i = 0; status == MR_OK && i < races->count; i++)
        races->items[i].start =
            mr_syncp_window(index, races->items[i].first, races->items[i].second);
    if (status == MR_OK)
        qsort(races->items, races->count, sizeof *races->items, compare_start);
    for (size_t i = 0; status == MR_OK && i < races->count; i++) {
        mr_progress_tell(driver->progress, "far races", i, races->count);
        status = confirm(driver, index, &races->items[i]);
    }
    mr_syncp_index_free(index);
    return status;
}

mr_status mr_driver_find_far(mr_driver *driver, mr_relation relation)
{
    double begin = mr_seconds();
    far_races races = {0};
    mr_status status = find(driver, relation, &races);
    if (status == MR_OK && races.count)
        status = confirm_all(driver, &races);
    free(races.items);
    driver->result->run.far_seconds += mr_seconds() - begin;
    driver->result->run.step_seconds[MR_STEP_FAR] = driver->result->run.far_seconds;
    return status;
}
