#include "crowded.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "fans.h"
#include "near.h"
#include "walks.h"

#include <stdlib.h>

/* A variable of a crowded trace has a conflicting pair of places for so many events: going through an
 * event costs some microseconds, and a pair of places in a window some hundred times as much. */
enum { EVENTS_PER_PAIR = 64 };

/* Events of a unit, at least: two units that end at the same time keep two workers busy longer than one of twice the length. */
enum { UNIT_EVENTS = 1 << 12 };

/* Rounds of a kind go on from smaller to larger windows, as long as they find something. Walks with leads go on from attempts in
 * trace order. */
typedef enum round_kind {
    IN_ORDER,         /* attempts in trace order, in rf */
    QUESTIONS_IN_RF,  /* walks (walks.h), then questions (fans.h) */
    QUESTIONS,        /* the same in the model of the settings, if that is not rf */
    WALKS,            /* walks alone in that model */
    WALKS_WITH_LEADS, /* the same, without attempts in trace order */
} round_kind;

typedef struct round_row {
    uint32_t size; /* of its small windows */
    round_kind kind;
} round_row;

/* In the order in which a race costs more and more. */
static const round_row rows[] = {
    {128, IN_ORDER},  {512, IN_ORDER},           {1024, IN_ORDER},        {2048, IN_ORDER},
    {4096, IN_ORDER}, {32768, WALKS_WITH_LEADS}, {512, QUESTIONS_IN_RF},  {1024, QUESTIONS_IN_RF},
    {512, QUESTIONS}, {1024, QUESTIONS},         {2048, WALKS},           {4096, WALKS},
    {8192, WALKS},    {2048, QUESTIONS_IN_RF},   {4096, QUESTIONS_IN_RF}, {2048, QUESTIONS},
};

/* Is a round in the model of the settings? */
static bool is_in_model(round_kind kind)
{
    return kind == QUESTIONS || kind == WALKS || kind == WALKS_WITH_LEADS;
}

static bool has_questions(round_kind kind)
{
    return kind == QUESTIONS || kind == QUESTIONS_IN_RF;
}

/* A round that finds less than a race for so many events ends its kind. */
enum { EVENTS_PER_RACE = 1024 };

enum { ROUNDS = sizeof rows / sizeof *rows };

/* Windows of fewer events need no search before them. */
enum { LEAST_WINDOW = 4096 };

uint32_t mr_crowded_rounds(void)
{
    return ROUNDS;
}

bool mr_crowded_needs(const mr_predict_settings *settings, uint32_t round, const uint64_t *races)
{
    round_kind kind = rows[round].kind;
    if (is_in_model(kind) && settings->model == MR_MODEL_RF)
        return false;
    if (kind == WALKS_WITH_LEADS && !mr_walks_are_used(settings))
        return false;
    round_kind follows = kind == WALKS_WITH_LEADS ? IN_ORDER : kind;
    for (uint32_t before = round; before-- > 0;)
        if (rows[before].kind == follows)
            return races[before] * EVENTS_PER_RACE >= settings->trace->event_count;
    return true;
}

bool mr_crowded_is_walk(uint32_t round)
{
    return rows[round].kind == WALKS_WITH_LEADS;
}

/* Of each unit of a round. Small windows start at every half of their size. */
static uint32_t unit_events(uint32_t round)
{
    uint32_t step = rows[round].size / 2;
    return step > UNIT_EVENTS ? step : UNIT_EVENTS;
}

uint64_t mr_crowded_units(const mr_trace *trace, uint32_t round)
{
    return ((uint64_t)trace->event_count + unit_events(round) - 1) / unit_events(round);
}

/* ---- is a trace crowded? ---- */

enum { RECENT = 4096 };

/* The places of the variables so far. */
typedef struct census {
    uint64_t recent[RECENT]; /* accesses that were counted lately, by hash */
    mr_map seen;             /* (variable, place): how it is accessed there */
    uint32_t *all, *written; /* one a variable: how many places, and how many with a write */
} census;

/* False: no memory. */
static bool count_access(census *c, uint32_t variable, uint32_t location, bool writes)
{
    enum { SEEN = 1, WRITTEN = 2 };
    uint64_t key = mr_map_key(variable, location), access = (key << 1 | writes) + 1;
    uint64_t *recent = &c->recent[(access * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
    if (*recent == access)
        return true;
    *recent = access;
    uint32_t *known = mr_map_at(&c->seen, key, 0);
    if (!known)
        return false;
    c->all[variable] += !*known;
    c->written[variable] += writes && !(*known & WRITTEN);
    *known |= SEEN | (writes ? WRITTEN : 0u);
    return true;
}

static bool count_accesses(census *c, const mr_predict_settings *settings,
                           const mr_outlook *outlook)
{
    const mr_trace *trace = settings->trace;
    const bool *ignored = settings->ignored_locations;
    for (uint32_t i = 0; i < trace->event_count; i++) {
        uint32_t variable = trace->operand[i], location = trace->location[i];
        if (!mr_op_is_access(trace->op[i]) || !outlook->contended[variable] ||
            (ignored && ignored[location]))
            continue;
        if (!count_access(c, variable, location, mr_op_writes(trace->op[i])))
            return false;
    }
    return true;
}

/* The most pairs of places that conflict on one variable. 0 also for want of memory. */
static uint64_t most_pairs(census *c, const mr_predict_settings *settings)
{
    uint32_t variables = settings->trace->variables.count;
    const mr_outlook *outlook = mr_facts_outlook(settings->facts);
    uint64_t most = 0;
    c->all = mr_calloc(variables, sizeof *c->all);
    c->written = mr_calloc(variables, sizeof *c->written);
    if (!outlook || !c->all || !c->written || !count_accesses(c, settings, outlook))
        return 0;
    for (uint32_t v = 0; v < variables; v++) {
        uint64_t written = c->written[v], read = c->all[v] - written;
        uint64_t pairs = written * read + written * (written + 1) / 2;
        most = pairs > most ? pairs : most;
    }
    return most;
}

static bool are_many(uint64_t pairs, uint64_t event_count, uint64_t crowded)
{
    return pairs >= crowded && pairs >= event_count / EVENTS_PER_PAIR;
}

bool mr_crowded_may_be(uint64_t places, uint64_t event_count, uint64_t crowded)
{
    return crowded && are_many(places * (places + 1) / 2, event_count, crowded);
}

bool mr_crowded_is(const mr_predict_settings *settings)
{
    const unsigned needed = MR_STEP_BIT(MR_STEP_LINEARISE) | MR_STEP_BIT(MR_STEP_SATURATE);
    const mr_trace *trace = settings->trace;
    if (!mr_predict_settings_ask_sites(settings) || !settings->decide.saturate_steps ||
        (settings->decide.steps & needed) != needed || !settings->crowded ||
        (settings->plan.size && settings->plan.size < LEAST_WINDOW) ||
        (trace->most_places &&
         !mr_crowded_may_be(trace->most_places, trace->event_count, settings->crowded)))
        return false;
    census *c = mr_calloc(1, sizeof *c);
    uint64_t pairs = c ? most_pairs(c, settings) : 0;
    if (c) {
        mr_map_free(&c->seen);
        free(c->all);
        free(c->written);
    }
    free(c);
    return are_many(pairs, trace->event_count, settings->crowded);
}

/* Steps for each event of a window, and effort of far races for each event of the trace. By value, walks with leads have
 * found nearly all that races, and hardly any of the rest has a proof. */
enum { STEPS_OF_EVENT = 1024, STEPS_BY_VALUE = 128, FAR_WORK_BY_VALUE = 256 };

/* 0: no limit. */
static void lower(uint64_t *limit, uint64_t most)
{
    if (*limit > most)
        *limit = most;
}

void mr_crowded_limit(mr_predict_settings *settings)
{
    uint64_t size = settings->trace->event_count;
    if (settings->plan.size && settings->plan.size < size)
        size = settings->plan.size;
    bool by_value = settings->model == MR_MODEL_VALUE;
    lower(&settings->max_window_steps, size * (by_value ? STEPS_BY_VALUE : STEPS_OF_EVENT));
    if (by_value)
        lower(&settings->far_limits.all,
              (uint64_t)settings->trace->event_count * FAR_WORK_BY_VALUE);
}

/* ---- the search ---- */

typedef struct unit {
    mr_worker *worker;
    const round_row *row;
    const mr_crowded_known *known;
    mr_known_races *own; /* owned; what the unit has found */
    mr_outcome *outcome;
    uint32_t round;
} unit;

/* mr_candidate_options.wanted: no round before has a race of the two places, nor a small window of the unit before, nor,
 * where nothing is asked, a lower unit. A question is about many pairs of places: what other units have found by now must
 * not change it. */
static bool is_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const unit *u = context;
    return !mr_known_races_below(u->known->earlier, location_1, location_2, u->round) &&
           !mr_known_races_below(u->own, location_1, location_2, 1) &&
           (u->row->kind != IN_ORDER ||
            !mr_known_races_below(u->known->round, location_1, location_2, u->outcome->unit));
}

/* Tries the candidates of two places; keeps a race. */
static mr_status try_group(unit *u, mr_problem *problem, const mr_candidates *candidates,
                           const mr_candidate_group *group, bool *has_race)
{
    mr_worker *worker = u->worker;
    mr_pair_verdict *verdict = mr_outcome_add(u->outcome);
    if (!verdict)
        return mr_error_memory(worker->error, "recording a candidate");
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_status status = mr_worker_try_group(worker, problem, candidates, group, verdict);
    *has_race = verdict->has_race;
    if (!verdict->has_race)
        mr_worker_drop(worker, u->outcome);
    return status;
}

/* mr_races_elsewhere.is_proven: a lower unit has. It is merged first, so the race is that of this unit in no case. What the unit looks for
 * later is the same. */
static bool is_proven_below(void *context, uint32_t location_1, uint32_t location_2)
{
    const unit *u = context;
    return mr_known_races_below(u->known->round, location_1, location_2, u->outcome->unit) &&
           mr_known_races_add(u->own, location_1, location_2, 0);
}

/* Tells the windows and units that come later. */
static bool tell_race(void *context, uint32_t location_1, uint32_t location_2)
{
    const unit *u = context;
    return mr_known_races_add(u->own, location_1, location_2, 0) &&
           mr_known_races_add(u->known->round, location_1, location_2, u->outcome->unit);
}

static mr_status tell_races(unit *u, size_t from)
{
    for (size_t i = from; i < u->outcome->count; i++) {
        const mr_pair_verdict *verdict = &u->outcome->verdicts[i];
        if (!tell_race(u, verdict->key_1, verdict->key_2))
            return mr_error_memory(u->worker->error, "recording a candidate");
    }
    return MR_OK;
}

/* The attempts in trace order for each pair of places, then walks and questions. `settled`: of all groups; false. */
static mr_status search_groups(unit *u, mr_small_window *small, bool *settled)
{
    mr_worker *worker = u->worker;
    const mr_candidates *candidates = &small->candidates;
    const mr_races_elsewhere elsewhere = {is_proven_below, tell_race, u};
    mr_status status = MR_OK;
    size_t before = u->outcome->count;
    bool tries = u->row->kind != WALKS_WITH_LEADS; /* the rounds before have */
    for (uint32_t g = 0; tries && status == MR_OK && g < candidates->group_count && !worker->halted;
         g++)
        status = try_group(u, &small->problem, candidates, &candidates->groups[g], &settled[g]);
    if (status == MR_OK && u->row->kind != IN_ORDER && !worker->halted)
        status = mr_walks_search(worker, &small->problem, candidates, settled,
                                 u->row->kind == WALKS_WITH_LEADS, &elsewhere, u->outcome);
    if (status == MR_OK && has_questions(u->row->kind) && !worker->halted)
        status = mr_fans_search(worker, &small->problem, candidates, settled, NULL, u->outcome);
    return status == MR_OK ? tell_races(u, before) : status;
}

static mr_status search_small_window(unit *u, uint32_t start, uint32_t end)
{
    mr_worker *worker = u->worker;
    mr_small_window small;
    mr_candidate_options options = worker->settings->candidates;
    options.wanted = is_open;
    options.context = u;
    options.stop_when_full &= u->row->kind == IN_ORDER; /* a walk is about all pairs of sites */
    mr_model model = is_in_model(u->row->kind) ? worker->settings->model : MR_MODEL_RF;
    mr_status status = mr_small_window_build(worker, start, end, model, &options,
                                             has_questions(u->row->kind), &small);
    if (status != MR_OK)
        return status;
    bool *settled = mr_arena_zalloc(&worker->arena, small.candidates.group_count, sizeof *settled);
    if (!settled)
        return mr_error_memory(worker->error, "recording a candidate");
    mr_worker_asks(worker, true);
    status = search_groups(u, &small, settled);
    mr_worker_asks(worker, false);
    return status;
}

/* All small windows that start in the unit. The last ones may end after it. */
static mr_status search_unit(unit *u)
{
    mr_worker *worker = u->worker;
    uint32_t events = worker->trace->event_count, size = u->row->size;
    uint32_t each = unit_events(u->round), first = (uint32_t)u->outcome->unit * each;
    uint32_t end = events - first > each ? first + each : events;
    uint32_t last = events - end > size / 2 ? end + size / 2 : events;
    mr_status status = mr_worker_order(worker, first, last);
    for (uint32_t start = first; status == MR_OK && start < end && !worker->halted;
         start += size / 2) {
        mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
        status = search_small_window(u, start, last - start > size ? start + size : last);
        mr_arena_release(&worker->arena, mark);
    }
    return status;
}

mr_status mr_crowded_search(mr_worker *worker, uint32_t round, const mr_crowded_known *known,
                            mr_outcome *outcome, mr_error *error)
{
    unit u = {
        .worker = worker, .row = &rows[round], .known = known, .outcome = outcome, .round = round};
    const mr_decide_options decide = worker->decide;
    double begin = mr_seconds();
    worker->error = error;
    worker->halted = mr_halt_asked(worker->settings->halt) != MR_HALT_NONE;
    if (worker->halted)
        return MR_OK;
    mr_arena_reset(&worker->arena);
    mr_worker_begin(worker, MR_ROOM_WINDOWS);
    u.own = mr_known_races_new();
    worker->decide = mr_near_options(&decide);
    worker->leaves_long = worker->trace->runs == NULL; /* else there is no checker */
    mr_status status = u.own ? mr_worker_ended(worker, search_unit(&u))
                             : mr_error_memory(error, "starting the prediction");
    worker->decide = decide;
    worker->leaves_long = false;
    mr_known_races_free(u.own);
    mr_worker_end(worker);
    outcome->cut = status == MR_OK && worker->halted;
    worker->run.window_seconds += mr_seconds() - begin;
    return status;
}
