#include "survey.h"

#include "base/assert.h"
#include "base/map.h"
#include "solver/explore.h"
#include "windows/lockset.h"

#include <string.h>

typedef struct survey {
    mr_worker *worker;
    const mr_problem *problem;
    const mr_candidates *candidates;
    bool *settled;
    mr_outcome *outcome;
    mr_map groups;   /* owned; by two places: number of their group */
    uint32_t *stops; /* one an event: how many open groups have it */
    mr_u32s events;  /* owned; of group g: [first[g], first[g + 1]) */
    size_t *first;
    uint32_t *noted; /* one an event: the group that has noted it, plus one */
    mr_status status;
} survey;

bool mr_survey_is_used(const mr_worker *worker, const mr_problem *problem)
{
    return worker->decide.steps & MR_STEP_BIT(MR_STEP_EXPLORE) &&
           problem->window->model != MR_MODEL_BRANCH &&
           worker->candidates.weakest == MR_STRENGTH_BEYOND_WCP && !worker->settings->is_crowded;
}

uint64_t mr_survey_effort(const mr_decide_options *options)
{
    enum { TIMES = 3 };
    return TIMES * options->saturate_steps;
}

/* ---- where threads may stop ---- */

/* False: no memory. */
static bool note_list(survey *s, uint32_t group, const mr_access_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t event = list->events[i];
        if (s->noted[event] == group + 1)
            continue;
        s->noted[event] = group + 1;
        s->stops[event]++;
        if (!mr_u32s_push(&s->events, event))
            return false;
    }
    return true;
}

/* Two sites with more pairs of lists are not compared: threads may stop at all their accesses. */
enum { MOST_LIST_PAIRS = 1 << 16 };

/* The lists of one site that have a list of the other without a common lock. */
static bool note_site(survey *s, uint32_t group, const mr_access_site *one,
                      const mr_access_site *other)
{
    bool many = (uint64_t)one->list_count * other->list_count > MOST_LIST_PAIRS;
    for (uint32_t i = 0; i < one->list_count; i++) {
        uint32_t k = 0;
        while (k < other->list_count && !many &&
               mr_locksets_meet(s->problem->window, one->lists[i].lockset, other->lists[k].lockset))
            k++;
        if (k < other->list_count && !note_list(s, group, &one->lists[i]))
            return false;
    }
    return true;
}

static bool note_group(survey *s, uint32_t g)
{
    const mr_candidate_group *group = &s->candidates->groups[g];
    uint32_t *number = mr_map_at(&s->groups, mr_map_key(group->location_1, group->location_2), g);
    MR_REQUIRE(!group->stopped);
    for (uint32_t i = 0; i < group->site_pair_count && number && !s->settled[g]; i++) {
        const mr_site_pair *pair = &s->candidates->site_pairs[group->first_site_pair + i];
        if (!note_site(s, g, pair->one, pair->two) || !note_site(s, g, pair->two, pair->one))
            return false;
    }
    return number;
}

/* False: no memory. */
static bool note_groups(survey *s)
{
    mr_arena *arena = &s->worker->arena;
    uint32_t size = s->problem->window->size, count = s->candidates->group_count;
    s->stops = mr_arena_zalloc(arena, size, sizeof *s->stops);
    s->noted = mr_arena_zalloc(arena, size, sizeof *s->noted);
    s->first = mr_arena_alloc(arena, (size_t)count + 1, sizeof *s->first);
    if (!s->stops || !s->noted || !s->first)
        return false;
    for (uint32_t g = 0; g < count; g++) {
        s->first[g] = s->events.count;
        if (!note_group(s, g))
            return false;
    }
    s->first[count] = s->events.count;
    return true;
}

/* ---- races ---- */

static uint32_t group_of(const survey *s, uint32_t a, uint32_t b)
{
    const mr_window *w = s->problem->window;
    uint32_t x = w->trace->location[w->start + a], y = w->trace->location[w->start + b];
    return mr_map_get(&s->groups, mr_map_key(x < y ? x : y, x < y ? y : x), MR_NONE);
}

/* Do they access the same variable? A free accesses those of its object. */
static bool same_variable(const mr_window *w, uint32_t a, uint32_t b)
{
    bool a_frees = mr_op_ends_life(mr_window_op(w, a)),
         b_frees = mr_op_ends_life(mr_window_op(w, b));
    if (a_frees || b_frees)
        return a_frees != b_frees &&
               w->variables[w->object[a_frees ? b : a]].free == (a_frees ? a : b);
    return w->object[a] == w->object[b];
}

/* mr_survey.wanted */
static bool is_wanted(void *context, uint32_t a, uint32_t b)
{
    const survey *s = context;
    const mr_window *w = s->problem->window;
    if (!mr_ops_conflict(mr_window_op(w, a), mr_window_op(w, b)) || !same_variable(w, a, b))
        return false;
    uint32_t g = group_of(s, a, b);
    return g != MR_NONE && !s->settled[g];
}

/* The verdict of a race that the checker has accepted; NULL: it has not, or there is no memory. */
static mr_pair_verdict *confirm(survey *s, const mr_candidate_group *group, mr_decision *race)
{
    mr_worker *worker = s->worker;
    uint32_t start = s->problem->window->start;
    mr_pair_verdict *verdict = mr_outcome_add(s->outcome);
    if (!verdict) {
        s->status = mr_error_memory(worker->error, "recording a candidate");
        return NULL;
    }
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_strength strength =
        mr_pair_strength(worker->hb, worker->wcp, start + race->first, start + race->second);
    s->status = mr_worker_confirm(worker, s->problem->window, strength, race, verdict);
    if (verdict->has_race)
        return verdict;
    mr_worker_drop(worker, s->outcome);
    return NULL;
}

/* mr_survey.found */
static bool keep(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count)
{
    survey *s = context;
    uint32_t g = group_of(s, a, b);
    mr_decision race = {.verdict = MR_VERDICT_RACE,
                        .step = MR_STEP_EXPLORE,
                        .first = a < b ? a : b,
                        .second = a < b ? b : a,
                        .events = events,
                        .event_count = count};
    mr_pair_verdict *verdict = confirm(s, &s->candidates->groups[g], &race);
    if (!verdict)
        return false;
    verdict->settled[race.step]++;
    s->settled[g] = true;
    for (size_t i = s->first[g]; i < s->first[g + 1]; i++)
        s->stops[s->events.items[i]]--;
    return s->status == MR_OK;
}

/* Memory that was refused ends the search. The system does not lack memory. */
static mr_status out_of_memory(mr_worker *worker)
{
    bool refused = worker->arena.refused && !worker->arena.waits;
    worker->arena.refused = refused ? false : worker->arena.refused;
    return refused ? MR_OK : mr_error_memory(worker->error, "deciding a candidate");
}

static mr_status search(survey *s, uint64_t effort, bool *complete)
{
    mr_worker *worker = s->worker;
    const mr_survey window = {.window = s->problem->window,
                              .stops = s->stops,
                              .wanted = is_wanted,
                              .found = keep,
                              .context = s};
    const mr_explore_limits limits = {
        .effort = effort, .memory_bytes = mr_limits_memory_bytes(&worker->decide.limits)};
    uint64_t spent = 0;
    mr_explored result =
        mr_explore_window(&window, &limits, &spent, worker->settings->debug, &worker->arena);
    *complete = result == MR_EXPLORED_ALL;
    return result == MR_EXPLORED_NO_MEMORY ? out_of_memory(worker) : s->status;
}

mr_status mr_survey_search(mr_worker *worker, const mr_problem *problem,
                           const mr_candidates *candidates, uint64_t effort, bool *settled,
                           mr_outcome *outcome, bool *complete)
{
    survey s = {.worker = worker,
                .problem = problem,
                .candidates = candidates,
                .settled = settled,
                .outcome = outcome,
                .status = MR_OK};
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    *complete = false;
    mr_status status = note_groups(&s) ? search(&s, effort, complete) : out_of_memory(worker);
    mr_arena_release(&worker->arena, mark);
    mr_map_free(&s.groups);
    mr_u32s_free(&s.events);
    return status;
}
