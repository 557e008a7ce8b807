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
    if (driver->ignored_locations && (driver->ignored_locations[location[race->first]] ||
                                      driver->ignored_locations[location[race->second]]))
        return false;
    const mr_ledger_entry *entry =
        mr_ledger_find_static(&driver->ledger, driver->trace, race->first, race->second);
    return !entry || !entry->race;
}

/* The window [first, second + 1) of a race, ready for questions, in the driver's arena. */
static mr_status build_problem(mr_driver *driver, const mr_shb_race *race, mr_problem *problem)
{
    mr_window *window;
    mr_arena_reset(&driver->arena);
    mr_carried_move(&driver->carried, race->first);
    mr_status status = mr_window_build(&driver->carried, race->second + 1, driver->model,
                                       &driver->arena, &window, driver->error);
    if (status == MR_OK && !mr_problem_init(problem, window, &driver->arena))
        return mr_error_memory(driver->error, "deciding a far candidate");
    return status;
}

/* SHB is sound, so trace order has a witness; should there be none after all, the race is unknown,
 * not lost. */
static mr_status decide_far(mr_driver *driver, const mr_shb_race *race)
{
    mr_problem problem;
    mr_decision decision;
    mr_decide_options options = driver->decide;
    options.linearise_only = true;
    mr_status status = build_problem(driver, race, &problem);
    if (status == MR_OK)
        status = mr_decide(&problem, driver->session, &options, 0, race->second - race->first,
                           &driver->arena, &decision, driver->error);
    if (status != MR_OK)
        return status;
    mr_ledger_entry *entry =
        mr_ledger_get_static(&driver->ledger, driver->trace, race->first, race->second);
    if (!entry)
        return mr_error_memory(driver->error, "recording a race");
    if (decision.verdict == MR_VERDICT_RACE) {
        decision.step = MR_STEP_FAR;
        status = mr_driver_confirm(driver, problem.window, MR_STRENGTH_HB, &decision, &entry->race);
    }
    if (status != MR_OK)
        return status;
    if (!entry->race) {
        driver->result->stats.unknown[decision.reason]++;
        return mr_driver_note_unknown(driver, entry, problem.window, race->first, race->second,
                                      MR_STRENGTH_HB, &decision);
    }
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
    for (size_t i = 0; i < races.count && status == MR_OK; i++) {
        mr_progress_tell(driver->progress, "far races", i, races.count);
        if (wanted(driver, &races.items[i]))
            status = decide_far(driver, &races.items[i]);
    }
    mr_shb_races_free(&races);
    driver->result->stats.far_seconds += mr_seconds() - begin;
    return status;
}
