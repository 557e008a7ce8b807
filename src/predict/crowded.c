#include "crowded.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "near.h"

#include <stdlib.h>

/* A variable of a crowded trace has a conflicting pair of places for so many events: going through an
 * event costs some microseconds, and a pair of places in a window some hundred times as much. */
enum { EVENTS_PER_PAIR = 64 };

/* Events of a unit. */
enum { UNIT_EVENTS = 1 << 14 };

/* The small windows of a round, and whether questions are asked after the attempts in trace order. */
typedef struct round_row {
    uint32_t size;
    bool in_rf; /* false: in the model of the settings */
    bool asks;
} round_row;

/* The last one is left out in model rf. */
static const round_row rows[] = {{128, true, false},  {512, true, false}, {1024, true, false},
                                 {4096, true, false}, {512, true, true},  {1024, true, true},
                                 {512, false, true}};

enum { ROUNDS = sizeof rows / sizeof *rows, LARGEST = 4096 };

uint32_t mr_crowded_rounds(const mr_predict_settings *settings)
{
    return settings->model == MR_MODEL_RF ? ROUNDS - 1 : ROUNDS;
}

uint64_t mr_crowded_units(const mr_trace *trace)
{
    return (trace->event_count + (uint64_t)UNIT_EVENTS - 1) / UNIT_EVENTS;
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

bool mr_crowded_is(const mr_predict_settings *settings)
{
    const unsigned needed = MR_STEP_BIT(MR_STEP_LINEARISE) | MR_STEP_BIT(MR_STEP_SATURATE);
    const mr_trace *trace = settings->trace;
    if (!mr_predict_settings_ask_sites(settings) || !settings->decide.saturate_steps ||
        (settings->decide.steps & needed) != needed || !settings->crowded ||
        (settings->plan.size && settings->plan.size < LARGEST))
        return false;
    census *c = mr_calloc(1, sizeof *c);
    uint64_t pairs = c ? most_pairs(c, settings) : 0;
    if (c) {
        mr_map_free(&c->seen);
        free(c->all);
        free(c->written);
    }
    free(c);
    return pairs >= settings->crowded && pairs >= trace->event_count / EVENTS_PER_PAIR;
}

/* ---- the search ---- */

typedef struct unit {
    mr_worker *worker;
    const round_row *row;
    mr_known_races *known;
    mr_outcome *outcome;
} unit;

/* mr_candidate_options.wanted: no round before, no lower unit and no small window before has a race
 * of the two places. */
static bool is_open(void *context, uint32_t location_1, uint32_t location_2)
{
    const unit *u = context;
    return !mr_known_races_below(u->worker->known, location_1, location_2, 0) &&
           !mr_known_races_below(u->known, location_1, location_2, u->outcome->unit + 1);
}

/* Tries the candidates of two places; keeps a race. */
static mr_status try_group(unit *u, mr_problem *problem, const mr_candidates *candidates,
                           const mr_candidate_group *group)
{
    mr_worker *worker = u->worker;
    mr_pair_verdict *verdict = mr_outcome_add(u->outcome);
    if (!verdict)
        return mr_error_memory(worker->error, "recording a candidate");
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_status status =
        mr_worker_try_group(worker, problem, candidates, group, u->row->asks, verdict);
    if (verdict->has_race && status == MR_OK &&
        !mr_known_races_add(u->known, verdict->key_1, verdict->key_2, u->outcome->unit))
        status = mr_error_memory(worker->error, "recording a candidate");
    if (!verdict->has_race)
        u->outcome->count--;
    return status;
}

static mr_status search_small_window(unit *u, uint32_t start, uint32_t end)
{
    mr_worker *worker = u->worker;
    mr_small_window small;
    mr_candidate_options options = worker->settings->candidates;
    options.wanted = is_open;
    options.context = u;
    mr_model model = u->row->in_rf ? MR_MODEL_RF : worker->settings->model;
    mr_status status =
        mr_small_window_build(worker, start, end, model, &options, u->row->asks, &small);
    if (status != MR_OK)
        return status;
    mr_worker_asks(worker, true);
    for (uint32_t g = 0; status == MR_OK && g < small.candidates.group_count && !worker->halted;
         g++)
        status = try_group(u, &small.problem, &small.candidates, &small.candidates.groups[g]);
    mr_worker_asks(worker, false);
    return status;
}

/* All small windows that start in the unit. The last ones may end after it. */
static mr_status search_unit(unit *u)
{
    mr_worker *worker = u->worker;
    uint32_t events = worker->trace->event_count, size = u->row->size;
    uint32_t first = (uint32_t)u->outcome->unit * UNIT_EVENTS;
    uint32_t end = events - first > UNIT_EVENTS ? first + UNIT_EVENTS : events;
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

mr_status mr_crowded_search(mr_worker *worker, uint32_t round, mr_known_races *known,
                            mr_outcome *outcome, mr_error *error)
{
    unit u = {.worker = worker, .row = &rows[round], .known = known, .outcome = outcome};
    const mr_decide_options decide = worker->decide;
    double begin = mr_seconds();
    worker->error = error;
    worker->halted = mr_halt_asked(worker->settings->halt) != MR_HALT_NONE;
    if (worker->halted)
        return MR_OK;
    mr_arena_reset(&worker->arena);
    mr_worker_begin(worker, MR_ROOM_WINDOWS);
    worker->decide = mr_near_options(&decide);
    mr_status status = mr_worker_ended(worker, search_unit(&u));
    worker->decide = decide;
    mr_worker_end(worker);
    outcome->cut = status == MR_OK && worker->halted;
    worker->run.window_seconds += mr_seconds() - begin;
    return status;
}
