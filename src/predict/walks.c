#include "walks.h"

#include "base/seconds.h"
#include "solver/walk.h"

/* What a walk may spend, and all walks of a window together: events run, for each event of the window. */
enum { EFFORT_OF_WALK = 16, EFFORT_OF_WINDOW = 256 };

/* Leads, in 128ths of the window; each is a fresh start for what the others did not find. The first ones find most. */
static const uint32_t leads[] = {1, 4, 16, 32, 8, 2, 24, 12, 6, 20, 10, 28};

enum { LEADS = sizeof leads / sizeof *leads, LEAD_PARTS = 128 };

/* What a walk with a lead may spend: one way through the first leads after the other. */
static const struct {
    uint32_t effort, leads;
} ways[] = {{32000, LEADS}, {256000, LEADS}, {3072000, 2}};

/* What all of a window may spend together, for each of its events. */
enum { WAYS = sizeof ways / sizeof *ways, EFFORT_OF_WINDOW_WITH_LEADS = 4096 };

typedef struct walks {
    mr_open_races open;
    uint32_t *first_group, *groups; /* of event e: groups[first_group[e] … first_group[e + 1]) */
    uint32_t (*last)[2];            /* one a group: its last access at either place, plus one */
    uint32_t *asking;    /* one a group: the last walk that looked for its race; 0: none */
    uint32_t *marks;     /* one an event: the last walk that looked for a race of it; 0: none */
    uint64_t effort;     /* that is left for walks */
    uint32_t walk, left; /* its number, from 1; groups for whose races it looks */
    uint32_t lead;       /* events; 0: none */
    uint64_t most;       /* that a walk may spend */
    mr_walker walker;
} walks;

bool mr_walks_are_used(const mr_predict_settings *settings)
{
    return settings->decide.steps & MR_STEP_BIT(MR_STEP_EXPLORE) &&
           settings->candidates.weakest == MR_STRENGTH_BEYOND_WCP;
}

/* ---- the groups of an access ---- */

/* Is the access at the second place of the group? */
static bool is_second(const walks *s, uint32_t group, uint32_t event)
{
    const mr_window *w = s->open.problem->window;
    return w->trace->location[w->start + event] == s->open.candidates->groups[group].location_2;
}

/* False: no memory. */
static bool list_groups(walks *s)
{
    mr_open_races *open = &s->open;
    mr_arena *arena = &open->worker->arena;
    uint32_t size = open->problem->window->size, count = open->candidates->group_count;
    s->first_group = mr_arena_zalloc(arena, (size_t)size + 2, sizeof *s->first_group);
    s->groups = mr_arena_alloc(arena, open->events.count + 1, sizeof *s->groups);
    s->last = mr_arena_zalloc(arena, count, sizeof *s->last);
    s->asking = mr_arena_zalloc(arena, count, sizeof *s->asking);
    s->marks = mr_arena_zalloc(arena, size, sizeof *s->marks);
    if (!s->first_group || !s->groups || !s->last || !s->asking || !s->marks)
        return false;
    for (uint32_t i = 0; i < size; i++)
        s->first_group[i + 2] = s->first_group[i + 1] + open->stops[i];
    for (uint32_t g = 0; g < count; g++)
        for (size_t i = open->first[g]; i < open->first[g + 1]; i++) {
            uint32_t event = open->events.items[i], *last = &s->last[g][is_second(s, g, event)];
            s->groups[s->first_group[event + 1]++] = g;
            *last = *last > event ? *last : event + 1;
        }
    return true;
}

/* Notes the groups of an access that may have a race with an access from `base` on. */
static void ask_for(walks *s, uint32_t event, uint32_t base)
{
    for (uint32_t i = s->first_group[event]; i < s->first_group[event + 1]; i++) {
        uint32_t g = s->groups[i];
        bool same =
            s->open.candidates->groups[g].location_1 == s->open.candidates->groups[g].location_2;
        uint32_t last = s->last[g][same || !is_second(s, g, event)];
        if (s->open.settled[g] || last <= base || s->asking[g] == s->walk)
            continue;
        s->asking[g] = s->walk;
        s->left++;
        for (size_t k = s->open.first[g]; k < s->open.first[g + 1]; k++)
            s->marks[s->open.events.items[k]] = s->walk;
    }
}

/* ---- walking ---- */

/* mr_survey.wanted */
static bool is_wanted(void *context, uint32_t a, uint32_t b)
{
    walks *s = context;
    return mr_open_races_wanted(&s->open, a, b);
}

/* mr_survey.found */
static bool keep(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count)
{
    walks *s = context;
    uint32_t g = mr_open_races_group(&s->open, a, b);
    if (!mr_open_races_keep(&s->open, a, b, events, count))
        return false;
    s->left -= s->asking[g] == s->walk;
    return s->left > 0;
}

/* The events before it happen as observed. */
static uint32_t base_of(const walks *s, uint32_t begin)
{
    return begin > s->lead ? begin - s->lead : 0;
}

/* Begins the next walk: notes the groups that may have a race of the stretch with an access that it may come to. */
static void ask_for_stretch(walks *s, uint32_t begin, uint32_t end)
{
    const mr_window *w = s->open.problem->window;
    uint32_t base = base_of(s, begin);
    s->left = 0;
    s->walk++;
    for (uint32_t p = w->position[begin]; p < end; p++)
        ask_for(s, mr_window_at(w, w->thread[begin], p), base);
}

/* Walks from the stretch of an event, when it begins one. False: no memory. */
static bool walk_from(walks *s, uint32_t begin, mr_arena *arena)
{
    const mr_window *w = s->open.problem->window;
    uint64_t spent = 0, most = s->most < s->effort ? s->most : s->effort;
    if (!mr_walk_begins(&s->walker, begin))
        return true;
    uint32_t end = mr_walk_end(&s->walker, begin), base = base_of(s, begin);
    bool is_section = end > w->position[begin] + 1;
    if (s->lead && (is_section || !s->open.stops[begin]))
        return true;
    ask_for_stretch(s, begin, end);
    if (!s->left)
        return true;
    s->open.observed = s->lead ? base : 0;
    s->walker.marks = s->marks;
    s->walker.mark = s->walk;
    mr_explored result = mr_walk(&s->walker, base, begin, end, most, &spent, arena);
    s->effort -= spent < s->effort ? spent : s->effort;
    return result != MR_EXPLORED_NO_MEMORY;
}

/* Walks from each stretch in [first, end). A short walk does not look whether the run is to end. False: no memory. */
static bool walk_all(walks *s, uint32_t first, uint32_t end, mr_arena *arena)
{
    bool done = true;
    for (uint32_t i = first; i < end && done && s->effort && s->open.status == MR_OK; i++)
        done = !mr_arena_is_halted(arena) && walk_from(s, i, arena);
    return done;
}

/* Windows overlap by half: what is not in the middle of this one is in the middle of another. */
static bool walk_with_leads(walks *s, mr_arena *arena)
{
    const mr_window *w = s->open.problem->window;
    uint32_t first = w->start ? w->size / 4 : 0;
    uint32_t end = w->end < w->trace->event_count ? w->size - w->size / 4 : w->size;
    bool done = true;
    for (uint32_t i = 0; i < WAYS * LEADS && done; i++) {
        if (i % LEADS >= ways[i / LEADS].leads)
            continue;
        s->most = ways[i / LEADS].effort;
        s->lead = (uint32_t)((uint64_t)w->size * leads[i % LEADS] / LEAD_PARTS);
        done = !s->lead || walk_all(s, first, end, arena);
    }
    return done;
}

static bool walk(walks *s, bool with_leads, mr_arena *arena)
{
    const mr_window *w = s->open.problem->window;
    uint32_t each = with_leads ? EFFORT_OF_WINDOW_WITH_LEADS : EFFORT_OF_WINDOW;
    s->effort = (uint64_t)w->size * each;
    s->most = (uint64_t)w->size * EFFORT_OF_WALK;
    return with_leads ? walk_with_leads(s, arena) : walk_all(s, 0, w->size, arena);
}

mr_status mr_walks_search(mr_worker *worker, const mr_problem *problem,
                          const mr_candidates *candidates, bool *settled, bool with_leads,
                          const mr_races_elsewhere *elsewhere, mr_outcome *outcome)
{
    walks s = {.open = {.worker = worker,
                        .problem = problem,
                        .candidates = candidates,
                        .settled = settled,
                        .elsewhere = elsewhere,
                        .outcome = outcome}};
    mr_arena *arena = &worker->arena;
    mr_status status = MR_OK;
    if (!mr_walks_are_used(worker->settings) || problem->window->model == MR_MODEL_BRANCH ||
        !candidates->group_count)
        return MR_OK;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    double begin = mr_seconds();
    if (mr_open_races_list(&s.open) && list_groups(&s)) {
        const mr_survey survey = {.window = problem->window,
                                  .stops = s.open.stops,
                                  .wanted = is_wanted,
                                  .found = keep,
                                  .context = &s};
        bool done = mr_walk_init(&s.walker, &survey, arena) && walk(&s, with_leads, arena);
        status = done ? s.open.status : mr_worker_out_of_memory(worker);
        mr_walk_free(&s.walker);
    } else {
        status = mr_worker_out_of_memory(worker);
    }
    worker->run.step_seconds[MR_STEP_EXPLORE] += mr_seconds() - begin;
    mr_arena_release(arena, mark);
    mr_open_races_free(&s.open);
    return status;
}
