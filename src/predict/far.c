/*
 * SHB races whose accesses are farther apart than a window. A race (e1, e2) of SHB has a witness in
 * trace order on the window [e1, e2 + 1): everything before e1 as observed, then what e2 needs.
 */
#include "driver.h"

#include "order/shb.h"

#include <stdlib.h>

static int compare_first(const void *one, const void *two)
{
    const mr_shb_race *x = one, *y = two;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static bool wanted(const mr_driver *driver, const mr_shb_race *race)
{
    const uint32_t *location = driver->trace->location;
    uint32_t one = location[race->first], two = location[race->second];
    if (driver->ignored_locations &&
        (driver->ignored_locations[one] || driver->ignored_locations[two]))
        return false;
    const mr_ledger_entry *entry =
        mr_ledger_find(&driver->ledger, one < two ? one : two, one < two ? two : one);
    return !entry || !entry->race;
}

static mr_status decide_far(mr_driver *driver, const mr_shb_race *race)
{
    const uint32_t *location = driver->trace->location;
    uint32_t one = location[race->first], two = location[race->second];
    mr_window *window;
    mr_problem problem;
    mr_decision decision;
    mr_arena_reset(&driver->arena);
    mr_carried_move(&driver->carried, race->first);
    mr_status status = mr_window_build(&driver->carried, race->second + 1, driver->model,
                                       &driver->arena, &window, driver->error);
    if (status != MR_OK)
        return status;
    if (!mr_problem_init(&problem, window, &driver->arena))
        return mr_error_memory(driver->error, "deciding a far candidate");
    mr_decide_options options = driver->decide;
    options.linearise_only = true;
    status = mr_decide(&problem, driver->session, &options, 0, window->size - 1, &driver->arena,
                       &decision, driver->error);
    if (status != MR_OK || decision.verdict != MR_VERDICT_RACE)
        return status;
    decision.step = MR_STEP_FAR;
    bool accepted;
    status = mr_driver_confirm(driver, window, MR_STRENGTH_HB, &decision, &accepted);
    if (status != MR_OK || !accepted)
        return status;
    mr_ledger_entry *entry =
        mr_ledger_get(&driver->ledger, one < two ? one : two, one < two ? two : one);
    if (!entry)
        return mr_error_memory(driver->error, "recording a race");
    entry->race = true;
    driver->result->stats.settled[MR_STEP_FAR]++;
    driver->result->stats.races[MR_STEP_FAR]++;
    return MR_OK;
}

mr_status mr_driver_find_far(mr_driver *driver)
{
    double begin = mr_seconds();
    mr_shb_races races = {0};
    mr_status status = mr_shb_find(driver->trace, &races, driver->error);
    if (status == MR_OK && races.count)
        qsort(races.items, races.count, sizeof *races.items, compare_first);
    for (size_t i = 0; i < races.count && status == MR_OK; i++)
        if (wanted(driver, &races.items[i]))
            status = decide_far(driver, &races.items[i]);
    mr_shb_races_free(&races);
    driver->result->stats.far_seconds += mr_seconds() - begin;
    return status;
}
