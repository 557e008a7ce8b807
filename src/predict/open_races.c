#include "open_races.h"

#include "base/assert.h"
#include "windows/lockset.h"

/* ---- where threads may stop ---- */

/* False: no memory. */
static bool note_list(mr_open_races *open, uint32_t group, const mr_access_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t event = list->events[i];
        if (open->noted[event] == group + 1 || (open->pairs && !open->paired[event]))
            continue;
        open->noted[event] = group + 1;
        open->stops[event]++;
        if (!mr_u32s_push(&open->events, event))
            return false;
    }
    return true;
}

/* Two sites with more pairs of lists are not compared: threads may stop at all their accesses. */
enum { MOST_LIST_PAIRS = 1 << 16 };

/* The lists of one site that have a list of the other without a common lock. */
static bool note_site(mr_open_races *open, uint32_t group, const mr_access_site *one,
                      const mr_access_site *other)
{
    bool many = (uint64_t)one->list_count * other->list_count > MOST_LIST_PAIRS;
    for (uint32_t i = 0; i < one->list_count; i++) {
        uint32_t k = 0;
        while (
            k < other->list_count && !many &&
            mr_locksets_meet(open->problem->window, one->lists[i].lockset, other->lists[k].lockset))
            k++;
        if (k < other->list_count && !note_list(open, group, &one->lists[i]))
            return false;
    }
    return true;
}

static bool note_group(mr_open_races *open, uint32_t g)
{
    const mr_candidate_group *group = &open->candidates->groups[g];
    uint32_t *number =
        mr_map_at(&open->groups, mr_map_key(group->location_1, group->location_2), g);
    MR_REQUIRE(!group->stopped);
    for (uint32_t i = 0; i < group->site_pair_count && number && !open->settled[g]; i++) {
        const mr_site_pair *pair = &open->candidates->site_pairs[group->first_site_pair + i];
        if (!note_site(open, g, pair->one, pair->two) || !note_site(open, g, pair->two, pair->one))
            return false;
    }
    return number;
}

/* False: no memory. */
static bool note_paired(mr_open_races *open)
{
    open->paired =
        mr_arena_zalloc(&open->worker->arena, open->problem->window->size, sizeof *open->paired);
    for (uint32_t i = 0; open->paired && i < open->pairs->count; i++) {
        open->paired[open->pairs->items[i].key >> 32] = true;
        open->paired[(uint32_t)open->pairs->items[i].key] = true;
    }
    return open->paired;
}

bool mr_open_races_list(mr_open_races *open)
{
    mr_arena *arena = &open->worker->arena;
    uint32_t size = open->problem->window->size, count = open->candidates->group_count;
    open->stops = mr_arena_zalloc(arena, size, sizeof *open->stops);
    open->noted = mr_arena_zalloc(arena, size, sizeof *open->noted);
    open->first = mr_arena_alloc(arena, (size_t)count + 1, sizeof *open->first);
    if (!open->stops || !open->noted || !open->first || (open->pairs && !note_paired(open)))
        return false;
    for (uint32_t g = 0; g < count; g++) {
        open->first[g] = open->events.count;
        if (!note_group(open, g))
            return false;
    }
    open->first[count] = open->events.count;
    return true;
}

/* ---- races ---- */

uint32_t mr_open_races_group(const mr_open_races *open, uint32_t a, uint32_t b)
{
    const mr_window *w = open->problem->window;
    uint32_t x = w->trace->location[w->start + a], y = w->trace->location[w->start + b];
    return mr_map_get(&open->groups, mr_map_key(x < y ? x : y, x < y ? y : x), MR_NONE);
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

bool mr_open_races_wanted(void *context, uint32_t a, uint32_t b)
{
    const mr_open_races *open = context;
    const mr_window *w = open->problem->window;
    if (!mr_ops_conflict(mr_window_op(w, a), mr_window_op(w, b)) || !same_variable(w, a, b))
        return false;
    if (open->pairs && !mr_map_get(open->pairs, mr_map_key_of_two(a, b), 0))
        return false;
    uint32_t g = mr_open_races_group(open, a, b);
    return g != MR_NONE && !open->settled[g];
}

/* The verdict of a race that the checker has accepted; NULL: it has not, or there is no memory. */
static mr_pair_verdict *confirm(mr_open_races *open, const mr_candidate_group *group,
                                mr_decision *race)
{
    mr_worker *worker = open->worker;
    uint32_t start = open->problem->window->start;
    mr_pair_verdict *verdict = mr_outcome_add(open->outcome);
    if (!verdict) {
        open->status = mr_error_memory(worker->error, "recording a candidate");
        return NULL;
    }
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_strength strength =
        mr_pair_strength(worker->hb, worker->wcp, start + race->first, start + race->second);
    open->status = mr_worker_confirm(worker, open->problem->window, strength, race, verdict);
    if (verdict->has_race)
        return verdict;
    mr_worker_drop(worker, open->outcome);
    return NULL;
}

static bool is_proven_elsewhere(const mr_open_races *open, const mr_candidate_group *group)
{
    const mr_races_elsewhere *e = open->elsewhere;
    return e && e->is_proven(e->context, group->location_1, group->location_2);
}

static void note_elsewhere(mr_open_races *open, const mr_candidate_group *group)
{
    const mr_races_elsewhere *e = open->elsewhere;
    if (e && !e->note(e->context, group->location_1, group->location_2))
        open->status = mr_error_memory(open->worker->error, "recording a candidate");
}

bool mr_open_races_keep(void *context, uint32_t a, uint32_t b, uint32_t *events, uint32_t count)
{
    mr_open_races *open = context;
    uint32_t g = mr_open_races_group(open, a, b);
    mr_decision race = {.verdict = MR_VERDICT_RACE,
                        .step = MR_STEP_EXPLORE,
                        .first = a < b ? a : b,
                        .second = a < b ? b : a,
                        .events = events,
                        .event_count = count,
                        .observed = open->observed};
    const mr_candidate_group *group = &open->candidates->groups[g];
    if (!is_proven_elsewhere(open, group)) {
        mr_pair_verdict *verdict = confirm(open, group, &race);
        if (!verdict)
            return false;
        verdict->settled[race.step]++;
        note_elsewhere(open, group);
    }
    open->settled[g] = true;
    for (size_t i = open->first[g]; i < open->first[g + 1]; i++)
        open->stops[open->events.items[i]]--;
    return open->status == MR_OK;
}

void mr_open_races_free(mr_open_races *open)
{
    mr_map_free(&open->groups);
    mr_u32s_free(&open->events);
}
