#include "predict.h"

#include "driver.h"
#include "windows/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Is a pair of locations still open? (mr_candidate_options.wanted) */
static bool still_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const mr_driver *driver = context;
    const mr_ledger_entry *entry = mr_ledger_find(&driver->ledger, location_1, location_2);
    return !entry || !entry->race;
}

/* Marks the locations in a comma-separated list; names that the trace does not have mark nothing.
 */
static mr_status read_ignored(mr_driver *driver, const char *list)
{
    if (!*list)
        return MR_OK;
    driver->ignored_locations = mr_calloc(driver->trace->locations.count, 1);
    if (!driver->ignored_locations)
        return mr_error_memory(driver->error, "reading candidates.ignore_locations");
    while (*list) {
        size_t length = strcspn(list, ",");
        uint32_t number;
        if (mr_names_find(&driver->trace->locations, list, (uint32_t)length, &number))
            driver->ignored_locations[number] = 1;
        list += length + (list[length] == ',');
    }
    return MR_OK;
}

mr_decide_options mr_predict_limits(const mr_config *config)
{
    bool eager = mr_config_choice(config, "solver.strategy") == MR_STRATEGY_EAGER;
    return (mr_decide_options){
        .limits = {.units = (uint32_t)mr_config_int(config, "solver.rlimit"),
                   .timeout_ms = (uint32_t)mr_config_int(config, "solver.timeout_ms"),
                   .memory_bytes = (uint64_t)mr_config_int(config, "solver.memory_mb") << 20},
        .max_clauses = (size_t)mr_config_int(config, "solver.max_clauses"),
        .steps = eager ? MR_STEP_BIT(MR_STEP_SOLVER) : mr_config_set_of(config, "solver.steps"),
        .eager = eager,
        .saturate_steps = (uint64_t)mr_config_int(config, "solver.saturate_steps")};
}

static void read_options(mr_driver *driver, const mr_config *config)
{
    static const mr_strength weakest[] = {MR_STRENGTH_BEYOND_WCP, MR_STRENGTH_WCP, MR_STRENGTH_HB};
    driver->model = (mr_model)mr_config_choice(config, "model");
    driver->by_event = mr_config_choice(config, "candidates.report") == 1;
    driver->minimise = mr_config_bool(config, "witness.minimise");
    driver->decide = mr_predict_limits(config);
    driver->max_unanswered = (uint64_t)mr_config_int(config, "candidates.max_unanswered");
    driver->max_window_steps = (uint64_t)mr_config_int(config, "candidates.max_window_steps");
    driver->candidates = (mr_candidate_options){
        .keep_filtered = !(driver->decide.steps & MR_STEP_BIT(MR_STEP_FILTER)),
        .keep_coned = !(driver->decide.steps & MR_STEP_BIT(MR_STEP_CONE)),
        .weakest = weakest[mr_config_choice(config, "candidates.prefilter")],
        .representatives = !driver->by_event && !driver->decide.eager,
        .event_groups = driver->by_event,
        .ignored_locations = driver->ignored_locations,
        .wanted = driver->by_event ? NULL : still_open,
        .context = driver};
    driver->candidates.stop_when_full = mr_driver_asks_sites(driver);
    if (!driver->by_event)
        driver->candidates.max_per_group =
            mr_driver_asks_sites(driver) ? MR_DRIVER_PAIRS_TRIED : MR_DRIVER_PAIRS_CHOSEN;
}

static mr_status driver_init(mr_driver *driver, const mr_trace *trace, const mr_config *config,
                             mr_result *result, mr_error *error)
{
    *driver = (mr_driver){.trace = trace, .result = result, .error = error};
    mr_arena_init(&driver->arena);
    mr_status status = read_ignored(driver, mr_config_text(config, "candidates.ignore_locations"));
    if (status != MR_OK)
        return status;
    read_options(driver, config);
    status = mr_carried_init(&driver->carried, trace, error);
    if (status != MR_OK)
        return status;
    status = mr_opaque_edges_find(trace, (mr_opaque)mr_config_choice(config, "opaque"),
                                  &driver->opaque, error);
    if (status != MR_OK)
        return status;
    driver->carried.opaque = &driver->opaque;
    driver->hb = mr_order_new(trace, MR_RELATION_HB);
    driver->wcp = mr_order_new(trace, MR_RELATION_WCP);
    driver->session = mr_session_new();
    driver->checker = mr_checker_new(trace, (mr_opaque)mr_config_choice(config, "opaque"));
    if (!driver->hb || !driver->wcp || !driver->session || !driver->checker ||
        !mr_order_use_edges(driver->hb, &driver->opaque) ||
        !mr_order_use_edges(driver->wcp, &driver->opaque))
        return mr_error_memory(error, "starting the prediction");
    return MR_OK;
}

static void driver_free(mr_driver *driver)
{
    mr_arena_free(&driver->arena);
    mr_carried_free(&driver->carried);
    mr_opaque_edges_free(&driver->opaque);
    mr_order_free(driver->hb);
    mr_order_free(driver->wcp);
    mr_session_free(driver->session);
    mr_checker_free(driver->checker);
    mr_ledger_free(&driver->ledger);
    free(driver->ignored_locations);
}

static mr_status find_candidates(mr_driver *driver, const mr_problem *problem,
                                 mr_candidates *candidates)
{
    const mr_window *window = problem->window;
    double begin = mr_seconds();
    mr_status status = mr_order_slide(driver->hb, window->start, window->end, driver->error);
    if (status == MR_OK)
        status = mr_order_slide(driver->wcp, window->start, window->end, driver->error);
    driver->result->run.order_seconds += mr_seconds() - begin;
    if (status != MR_OK)
        return status;
    begin = mr_seconds();
    if (!mr_candidates_find(candidates, window, &problem->hard, &problem->forced, driver->hb,
                            driver->wcp, &driver->candidates, &driver->arena))
        return mr_error_memory(driver->error, "collecting candidates");
    driver->result->run.step_seconds[MR_STEP_FILTER] += mr_seconds() - begin;
    mr_stats *stats = &driver->result->stats;
    stats->candidates += candidates->dropped_by_filter + candidates->dropped_by_cone;
    stats->settled[MR_STEP_FILTER] += candidates->dropped_by_filter;
    stats->settled[MR_STEP_CONE] += candidates->dropped_by_cone;
    return MR_OK;
}

static mr_status do_window(mr_driver *driver, uint32_t start, uint32_t end)
{
    double begin = mr_seconds();
    mr_window *window;
    mr_problem problem;
    mr_candidates candidates;
    mr_arena_reset(&driver->arena);
    driver->window_steps = 0;
    driver->window_stopped = false;
    mr_carried_move(&driver->carried, start);
    mr_status status = mr_window_build(&driver->carried, end, driver->model, &driver->arena,
                                       &window, driver->error);
    if (status != MR_OK)
        return status;
    if (!mr_problem_init(&problem, window, &driver->arena))
        return mr_error_memory(driver->error, "building a window");
    status = find_candidates(driver, &problem, &candidates);
    double ready = mr_seconds();
    for (uint32_t g = 0; status == MR_OK && g < candidates.group_count; g++)
        status = mr_driver_settle(driver, &problem, &candidates, &candidates.groups[g]);
    driver->result->stats.windows++;
    driver->result->run.window_seconds += ready - begin;
    driver->result->run.decide_seconds += mr_seconds() - ready;
    return status;
}

static int compare_events(uint32_t second_1, uint32_t first_1, uint32_t second_2, uint32_t first_2)
{
    if (second_1 != second_2)
        return second_1 < second_2 ? -1 : 1;
    return (first_1 > first_2) - (first_1 < first_2);
}

static int compare_races(const void *one, const void *two)
{
    const mr_witness *x = &((const mr_race *)one)->witness, *y = &((const mr_race *)two)->witness;
    return compare_events(x->second, x->first, y->second, y->first);
}

static int compare_unknowns(const void *one, const void *two)
{
    const mr_unknown *x = one, *y = two;
    return compare_events(x->second, x->first, y->second, y->first);
}

/* Drops the unknowns that a later window settled, counts and sorts. Runs also after a failure. */
static void finish(mr_driver *driver)
{
    mr_result *result = driver->result;
    size_t kept = 0;
    result->run.solver_seconds = 0;
    for (int step = MR_STEP_ELIMINATE; step <= MR_STEP_SOLVER; step++)
        result->run.solver_seconds += result->run.step_seconds[step];
    for (size_t s = 0; s < driver->ledger.slot_count; s++) {
        const mr_ledger_entry *entry = &driver->ledger.slots[s];
        if (entry->used && entry->unknown && entry->race)
            result->unknowns[entry->unknown_index].window_end = 0; /* settled after all */
    }
    for (size_t i = 0; i < result->unknown_count; i++)
        if (result->unknowns[i].window_end)
            result->unknowns[kept++] = result->unknowns[i];
    result->unknown_count = kept;
    if (result->race_count)
        qsort(result->races, result->race_count, sizeof *result->races, compare_races);
    if (kept)
        qsort(result->unknowns, kept, sizeof *result->unknowns, compare_unknowns);
    struct rusage usage;
    if (!getrusage(RUSAGE_SELF, &usage))
        result->run.peak_memory_bytes = (uint64_t)usage.ru_maxrss << 10;
}

/* Distinct pairs of locations among the races. */
static mr_status count_static_races(mr_driver *driver)
{
    mr_result *result = driver->result;
    mr_ledger pairs = {0};
    for (size_t i = 0; i < result->race_count; i++) {
        const mr_witness *witness = &result->races[i].witness;
        if (!mr_ledger_get_static(&pairs, driver->trace, witness->first, witness->second)) {
            mr_ledger_free(&pairs);
            return mr_error_memory(driver->error, "counting the races");
        }
    }
    result->stats.static_races = pairs.count;
    mr_ledger_free(&pairs);
    return MR_OK;
}

/* The races that are farther apart than a window. */
static mr_status find_far(mr_driver *driver, const mr_window_plan *plan, const mr_config *config)
{
    mr_far far = (mr_far)mr_config_choice(config, "candidates.far");
    if (far == MR_FAR_NONE)
        return MR_OK;
    mr_status status =
        mr_driver_find_far(driver, far == MR_FAR_SHB ? MR_RELATION_SHB : MR_RELATION_SYNCP);
    if (status != MR_OK || far < MR_FAR_HB || mr_window_plan_count(plan) <= 1)
        return status;
    mr_far_limits limits = {.size = (uint32_t)mr_config_int(config, "window.far_size"),
                            .per_race = (uint64_t)mr_config_int(config, "window.far_race_work"),
                            .all = (uint64_t)mr_config_int(config, "window.far_work"),
                            .window_size = plan->size,
                            .weakest = far == MR_FAR_HB    ? MR_STRENGTH_HB
                                       : far == MR_FAR_WCP ? MR_STRENGTH_WCP
                                                           : MR_STRENGTH_BEYOND_WCP};
    if (driver->candidates.weakest < limits.weakest)
        limits.weakest = driver->candidates.weakest;
    return mr_driver_decide_far(driver, &limits);
}

mr_status mr_predict(const mr_trace *trace, const mr_config *config, mr_result *result,
                     mr_error *error)
{
    return mr_predict_telling(trace, config, NULL, result, error);
}

mr_status mr_predict_telling(const mr_trace *trace, const mr_config *config,
                             const mr_progress *progress, mr_result *result, mr_error *error)
{
    double begin = mr_seconds();
    mr_status status = mr_config_check(config, error);
    if (status != MR_OK)
        return status;
    mr_driver driver;
    mr_window_plan plan = {.event_count = trace->event_count,
                           .size = (uint32_t)mr_config_int(config, "window.size"),
                           .overlap = (uint32_t)mr_config_overlap(config)};
    status = driver_init(&driver, trace, config, result, error);
    driver.progress = progress;
    uint32_t start, end, windows = mr_window_plan_count(&plan);
    for (uint32_t k = 0; status == MR_OK && mr_window_plan_get(&plan, k, &start, &end); k++) {
        mr_progress_tell(progress, "windows", k, windows);
        status = do_window(&driver, start, end);
    }
    if (status == MR_OK && !driver.by_event)
        status = find_far(&driver, &plan, config);
    finish(&driver);
    mr_status counted = count_static_races(&driver);
    driver_free(&driver);
    result->run.total_seconds += mr_seconds() - begin;
    return status != MR_OK ? status : counted;
}
