#include "settings.h"

#include "trace/columns.h"
#include "trace/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks the locations that candidates.only_locations leaves out and candidates.ignore_locations
 * names: comma-separated lists of patterns. */
static mr_status read_ignored(mr_predict_settings *settings, const mr_config *config,
                              mr_error *error)
{
    const mr_trace *trace = settings->trace;
    const char *only = mr_config_text(config, "candidates.only_locations");
    const char *ignored = mr_config_text(config, "candidates.ignore_locations");
    mr_status status = MR_OK;
    if (!*only && !*ignored)
        return MR_OK;
    bool *marked = mr_calloc(trace->locations.count + 1ull, sizeof *marked);
    settings->ignored_locations = marked;
    if (!marked)
        return mr_error_memory(error, "reading the patterns of places");
    if (*only) {
        status = mr_places_match_list(trace, only, marked, NULL, NULL, error);
        for (uint32_t i = 0; i < trace->locations.count; i++)
            marked[i] = !marked[i];
    }
    return status == MR_OK ? mr_places_match_list(trace, ignored, marked, NULL, NULL, error)
                           : status;
}

mr_decide_options mr_predict_limits(const mr_config *config)
{
    bool eager = mr_config_choice(config, "solver.strategy") == MR_STRATEGY_EAGER;
    return (mr_decide_options){
        .limits = {.units = (uint32_t)mr_config_int(config, "solver.rlimit"),
                   .timeout_ms = (uint32_t)mr_config_int(config, "solver.timeout_ms"),
                   .memory_bytes = (uint64_t)mr_config_int(config, "solver.memory_mb") << 20},
        .max_clauses = (size_t)mr_config_int(config, "solver.max_clauses"),
        .steps = eager ? MR_STEP_BIT(MR_STEP_Z3) : mr_config_set_of(config, "solver.steps"),
        .eager = eager,
        .saturate_steps = (uint64_t)mr_config_int(config, "solver.saturate_steps")};
}

bool mr_predict_settings_ask_sites(const mr_predict_settings *settings)
{
    return !settings->by_event && !settings->decide.eager &&
           settings->candidates.weakest == MR_STRENGTH_BEYOND_WCP;
}

static void read_candidates(mr_predict_settings *settings, const mr_config *config)
{
    static const mr_strength weakest[] = {MR_STRENGTH_BEYOND_WCP, MR_STRENGTH_WCP, MR_STRENGTH_HB};
    unsigned steps = settings->decide.steps;
    settings->candidates =
        (mr_candidate_options){.keep_filtered = !(steps & MR_STEP_BIT(MR_STEP_FILTER)),
                               .keep_coned = !(steps & MR_STEP_BIT(MR_STEP_CONE)),
                               .weakest = weakest[mr_config_choice(config, "candidates.prefilter")],
                               .representatives = !settings->by_event && !settings->decide.eager,
                               .event_groups = settings->by_event,
                               .ignored_locations = settings->ignored_locations};
    settings->candidates.stop_when_full = mr_predict_settings_ask_sites(settings);
    if (!settings->by_event)
        settings->candidates.max_per_group =
            mr_predict_settings_ask_sites(settings) ? MR_PAIRS_TRIED : MR_PAIRS_CHOSEN;
}

mr_window_plan mr_predict_settings_plan(const mr_trace *trace, const mr_config *config)
{
    return (mr_window_plan){.event_count = trace->event_count,
                            .size = (uint32_t)mr_config_int(config, "window.size"),
                            .overlap = (uint32_t)mr_config_overlap(config)};
}

mr_far mr_predict_settings_far(const mr_config *config)
{
    return mr_config_choice(config, "candidates.report") == MR_REPORT_EVENT
               ? MR_FAR_NONE
               : (mr_far)mr_config_choice(config, "candidates.far");
}

static void read_far(mr_predict_settings *settings, const mr_config *config)
{
    mr_far_limits *limits = &settings->far_limits;
    settings->far = mr_predict_settings_far(config);
    *limits = (mr_far_limits){.size = (uint32_t)mr_config_int(config, "window.far_size"),
                              .per_race = (uint64_t)mr_config_int(config, "window.far_race_work"),
                              .all = (uint64_t)mr_config_int(config, "window.far_work"),
                              .weakest = settings->far == MR_FAR_HB    ? MR_STRENGTH_HB
                                         : settings->far == MR_FAR_WCP ? MR_STRENGTH_WCP
                                                                       : MR_STRENGTH_BEYOND_WCP};
    if (settings->candidates.weakest < limits->weakest)
        limits->weakest = settings->candidates.weakest;
}

static mr_status make_room(mr_predict_settings *settings, const mr_config *config, mr_error *error)
{
    const mr_room_options options = {.limit_bytes = mr_config_memory_bytes(config)};
    if (!options.limit_bytes)
        return MR_OK;
    settings->room = mr_room_new(&options);
    settings->decide.limits.room = settings->room;
    if (!settings->room)
        return mr_error_memory(error, "starting the prediction");
    if (settings->trace->spill.pager)
        mr_room_hold(settings->room, MR_ROOM_STORE, mr_columns_memory_bytes(settings->trace));
    return MR_OK;
}

/* Is the memory of the checker (checker.h) a small part of the memory that is left? */
static bool has_plenty(const mr_predict_settings *settings)
{
    enum { EVENT_BYTES = 12, PARTS = 16 };
    uint64_t bytes = (uint64_t)settings->trace->event_count * EVENT_BYTES;
    return !settings->room || bytes <= mr_room_left(settings->room) / PARTS;
}

/* Makes the facts. Where memory is short, the checker is made at once, before workers look how much
 * memory is left. */
static mr_status learn(mr_predict_settings *settings, mr_error *error)
{
    settings->facts = mr_facts_new(settings->trace, settings->calls);
    bool checks = !settings->trace->runs; /* a part of a trace has no checker */
    if (!settings->facts || (checks && !has_plenty(settings) && !mr_facts_checker(settings->facts)))
        return mr_error_memory(error, "starting the prediction");
    return MR_OK;
}

static mr_status sees_error(const char *text, const char *why, mr_error *error)
{
    return mr_error_set(error, MR_ERR_CONFIG, NULL, 0, "sees: '%.40s': %s", text, why);
}

/* A value that no event of the trace has. */
#define NO_SUCH_VALUE UINT32_MAX

static mr_status read_sees_value(mr_predict_settings *settings, const char *text,
                                 const char *digits, mr_error *error)
{
    const mr_trace *trace = settings->trace;
    char *end;
    errno = 0;
    int64_t value = strtoll(digits, &end, 10);
    if (end == digits || *end || errno)
        return sees_error(text, "the value is not a number", error);
    if (trace->variable_info[trace->operand[settings->sees.read]].by_source)
        return sees_error(text, "the values of this variable are not known", error);
    settings->sees.write = MR_NONE;
    settings->sees.value = NO_SUCH_VALUE;
    for (uint32_t i = 1; i < trace->value_count; i++)
        if (trace->values[i] == value)
            settings->sees.value = i;
    return MR_OK;
}

/* "READ WRITE" or "READ =VALUE" */
static mr_status read_sees(mr_predict_settings *settings, const char *text, mr_error *error)
{
    const mr_trace *trace = settings->trace;
    char *end;
    if (!*text)
        return MR_OK;
    unsigned long long read = strtoull(text, &end, 10);
    if (end == text || *end != ' ' || read >= trace->event_count || !mr_op_reads(trace->op[read]))
        return sees_error(text, "expected the number of a read, then that of a write or =VALUE",
                          error);
    settings->asks_sees = true;
    settings->find = 0;
    settings->sees.read = (uint32_t)read;
    const char *second = end + strspn(end, " ");
    if (*second == '=')
        return read_sees_value(settings, text, second + 1, error);
    unsigned long long write = strtoull(second, &end, 10);
    if (end == second || *end || write >= trace->event_count || !mr_op_writes(trace->op[write]) ||
        trace->operand[write] != trace->operand[read])
        return sees_error(text, "the second event is no write of the variable that is read", error);
    settings->sees.write = (uint32_t)write;
    return MR_OK;
}

/* With many chains of threads the steps that may decide a question take seconds each. Then a window may spend so many steps for
 * each of its events. */
enum { STEPS_OF_EVENT = 1 << 14 };

static void bound_windows(mr_predict_settings *settings)
{
    uint64_t size = settings->trace->event_count;
    if (settings->plan.size && settings->plan.size < size)
        size = settings->plan.size;
    if (settings->trace->chain_count > MR_MANY_CHAINS &&
        settings->max_window_steps > size * STEPS_OF_EVENT)
        settings->max_window_steps = size * STEPS_OF_EVENT;
}

mr_status mr_predict_settings_read(mr_predict_settings *settings, const mr_trace *trace,
                                   const mr_config *config, mr_error *error)
{
    *settings = (mr_predict_settings){
        .trace = trace,
        .calls = (mr_opaque)mr_config_choice(config, "opaque"),
        .plan = mr_predict_settings_plan(trace, config),
        .model = (mr_model)mr_config_choice(config, "model"),
        .find = mr_config_set_of(config, "find"),
        .explain_cycles = mr_config_bool(config, "explain_cycles"),
        .by_event = mr_config_choice(config, "candidates.report") == MR_REPORT_EVENT,
        .minimise = mr_config_bool(config, "witness.minimise"),
        .crowded = (uint64_t)mr_config_int(config, "candidates.crowded"),
        .defer = (uint64_t)mr_config_int(config, "candidates.defer"),
        .max_unanswered = (uint64_t)mr_config_int(config, "candidates.max_unanswered"),
        .max_window_steps = (uint64_t)mr_config_int(config, "candidates.max_window_steps"),
        .decide = mr_predict_limits(config)};
    mr_status status = read_ignored(settings, config, error);
    if (status == MR_OK)
        status = read_sees(settings, mr_config_text(config, "sees"), error);
    if (status == MR_OK)
        status = make_room(settings, config, error);
    if (status != MR_OK)
        return status;
    read_candidates(settings, config);
    read_far(settings, config);
    bound_windows(settings);
    status = mr_barrier_edges_find(trace, settings->calls, &settings->opaque, error);
    return status == MR_OK ? learn(settings, error) : status;
}

void mr_predict_settings_free(mr_predict_settings *settings)
{
    mr_barrier_edges_free(&settings->opaque);
    free(settings->ignored_locations);
    mr_facts_free(settings->facts);
    mr_room_free(settings->room);
}
