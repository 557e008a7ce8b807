#include "far_window.h"

#include "base/assert.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The steps that raising the precedence of a far window may take: some seconds. */
#define REFINE_STEPS UINT64_C(4000000000)

/* ---- the pairs of places ---- */

static void free_places(mr_place_pairs *places)
{
    free(places->items);
    mr_ledger_free(&places->numbers);
    *places = (mr_place_pairs){0};
}

static mr_place_pair *find_in(const mr_place_pairs *places, uint32_t location_1,
                              uint32_t location_2)
{
    const mr_ledger_entry *entry = mr_ledger_find(&places->numbers, location_1, location_2);
    if (!entry)
        return NULL;
    MR_ASSERT(entry->unknown_index < places->count);
    return &places->items[entry->unknown_index];
}

const mr_place_pair *mr_far_window_find(const mr_far_window *window, uint32_t location_1,
                                        uint32_t location_2)
{
    return find_in(&window->places, location_1, location_2);
}

static bool has_race(const mr_far_window *window, uint32_t location_1, uint32_t location_2)
{
    const mr_ledger_entry *entry = mr_ledger_find(window->ledger, location_1, location_2);
    return entry && entry->race;
}

bool mr_far_window_is_settled(const mr_far_window *window, const mr_place_pair *places)
{
    return has_race(window, places->group->location_1, places->group->location_2);
}

/* mr_candidate_options.wanted */
static bool has_no_race(void *context, uint32_t location_1, uint32_t location_2)
{
    return !has_race(context, location_1, location_2);
}

/* Finds the races of WCP or HB on the full trace, once: those of pairs of places that have no race yet. */
static mr_status list_reported(mr_far_window *window, mr_error *error)
{
    const mr_predict_settings *settings = window->settings;
    mr_relation relation =
        settings->far_limits.weakest == MR_STRENGTH_HB ? MR_RELATION_HB : MR_RELATION_WCP;
    mr_wanted open = {0};
    const mr_detect_options options = {.most_examples = 1,
                                       .edges = &settings->opaque,
                                       .wanted = &open,
                                       .progress = window->progress,
                                       .halt = settings->halt};
    window->listed = true;
    mr_status status =
        mr_ledger_list_open(window->ledger, settings->trace, &open)
            ? mr_detect(relation, settings->trace, &options, &window->reported, error)
            : mr_error_memory(error, "looking for far races");
    mr_wanted_free(&open);
    return status;
}

/* Puts the pairs that WCP or HB reports in front of the other close pairs. A far window is to find
 * the races that those orders only suspect. */
static void add_reported(mr_far_window *window)
{
    const mr_race_list *list = &window->reported;
    const mr_trace *full = window->settings->trace;
    const mr_window *bounds = window->problem.window;
    for (size_t i = 0; i < list->race_count; i++) {
        const mr_race_example *example = &list->examples[list->races[i].first_example];
        const mr_ledger_entry *entry = mr_ledger_find_static(
            &window->places.numbers, full, example->first.event, example->second.event);
        uint32_t first = mr_reduction_at(&window->reduction, example->first.event);
        uint32_t second = mr_reduction_at(&window->reduction, example->second.event);
        if (entry && first >= bounds->start && second < bounds->end)
            mr_close_pairs_add(&window->places.items[entry->unknown_index].close, first, second);
    }
}

mr_status mr_far_window_add_reported(mr_far_window *window, mr_error *error)
{
    mr_status status = MR_OK;
    if (window->listed) /* before this window: places have them */
        return MR_OK;
    status = list_reported(window, error);
    if (status == MR_OK)
        add_reported(window);
    return status;
}

/* Adds the pair of places of a group; its account goes on where it stood in `before`. */
static mr_status add_places(mr_far_window *window, const mr_candidate_group *group,
                            const mr_place_pairs *before, mr_error *error)
{
    mr_place_pairs *all = &window->places;
    const mr_place_pair *old = find_in(before, group->location_1, group->location_2);
    mr_ledger_entry *entry = mr_ledger_get(&all->numbers, group->location_1, group->location_2);
    if (!entry)
        return mr_error_memory(error, "deciding far races");
    MR_ASSERT(all->numbers.count == all->count + 1); /* no two groups of the same places */
    MR_ASSERT(!has_race(window, group->location_1, group->location_2));
    entry->unknown_index = all->count;
    mr_place_pair *places = &all->items[all->count++];
    places->group = group;
    places->spent = old ? old->spent : 0;
    places->refused = old && old->refused;
    mr_close_pairs_find(&places->close, &window->problem, &window->candidates, group);
    return MR_OK;
}

static mr_status list_places(mr_far_window *window, const mr_place_pairs *before, mr_error *error)
{
    mr_candidates *candidates = &window->candidates;
    const mr_problem *problem = &window->problem;
    window->places = (mr_place_pairs){0};
    free(window->unsettled);
    window->unsettled = NULL;
    window->unsettled_count = 0;
    if (!mr_candidates_find(candidates, problem->window, &problem->hard, &problem->forced,
                            window->hb, window->wcp, &window->candidate, &window->arena))
        return mr_error_memory(error, "collecting candidates");
    window->places.items = mr_calloc(candidates->group_count, sizeof *window->places.items);
    window->unsettled = mr_calloc(candidates->group_count, sizeof *window->unsettled);
    window->proven =
        mr_arena_zalloc(&window->arena, candidates->site_pair_count, sizeof *window->proven);
    if (!window->places.items || !window->unsettled || !window->proven)
        return mr_error_memory(error, "deciding far races");
    mr_status status = MR_OK;
    for (uint32_t g = 0; status == MR_OK && g < candidates->group_count; g++)
        if (candidates->groups[g].site_pair_count)
            status = add_places(window, &candidates->groups[g], before, error);
    if (status == MR_OK && window->listed)
        add_reported(window);
    return status;
}

mr_status mr_far_window_find_places(mr_far_window *window, mr_error *error)
{
    MR_REQUIRE(window->problem.window); /* it was built */
    mr_place_pairs before = window->places;
    mr_status status = list_places(window, &before, error);
    free_places(&before);
    return status;
}

uint32_t mr_far_window_list_unsettled(mr_far_window *window)
{
    window->unsettled_count = 0;
    for (uint32_t i = 0; i < window->places.count; i++)
        if (!window->places.items[i].no_race &&
            !mr_far_window_is_settled(window, &window->places.items[i]))
            window->unsettled[window->unsettled_count++] = i;
    return window->unsettled_count;
}

/* ---- the window ---- */

mr_status mr_reduced_window_build(mr_carried *carried, uint32_t start, uint32_t end, mr_model model,
                                  mr_arena *arena, mr_window **window, mr_error *error)
{
    MR_REQUIRE(start < end && end <= carried->trace->event_count);
    mr_arena_reset(arena);
    mr_carried_move(carried, start);
    mr_status status = mr_window_build(carried, end, model, arena, window, error);
    MR_ASSERT(status != MR_OK || ((*window)->start == start && (*window)->end == end));
    return status;
}

mr_status mr_far_window_move(mr_far_window *window, uint32_t start, uint32_t end, mr_error *error)
{
    MR_REQUIRE(start < end && end <= window->reduction.trace.event_count);
    if (!window->hb)
        return MR_OK;
    mr_status status = mr_order_slide(window->hb, start, end, error);
    return status == MR_OK ? mr_order_slide(window->wcp, start, end, error) : status;
}

mr_status mr_far_window_build(mr_far_window *window, uint32_t start, uint32_t end, mr_model model,
                              mr_error *error)
{
    mr_window *built;
    MR_REQUIRE(model <= window->settings->model);
    window->model = model;
    window->problem = (mr_problem){0};
    mr_status status =
        mr_reduced_window_build(&window->carried, start, end, model, &window->arena, &built, error);
    if (status == MR_OK && !mr_problem_init(&window->problem, built, &window->arena))
        status = mr_error_memory(error, "building a far window");
    return status;
}

/* Tells which pairs of places of `before` are no races, because they have no candidates now. */
static void tell_no_races(const mr_far_window *window, const mr_place_pairs *before)
{
    if (!mr_debug_on(window->settings->debug, MR_DEBUG_FAR) ||
        window->model != window->settings->model)
        return;
    for (uint32_t i = 0; i < before->count; i++) {
        const mr_place_pair *places = &before->items[i];
        if (!places->no_race && !mr_far_window_is_settled(window, places) &&
            !mr_far_window_find(window, places->group->location_1, places->group->location_2))
            mr_far_window_tell(window, places, "no-race", "precedence");
    }
}

/* The pairs of places that are looked for again. */
typedef struct narrowing {
    const mr_far_window *window;
    const mr_place_pairs *before;
} narrowing;

/* mr_candidate_options.wanted */
static bool is_unsettled(void *context, uint32_t location_1, uint32_t location_2)
{
    const narrowing *n = context;
    const mr_place_pair *places = find_in(n->before, location_1, location_2);
    return places && !places->no_race && !has_race(n->window, location_1, location_2);
}

/* Lists the pairs of places of `before` again that are unsettled and have candidates still. Only
 * accesses at these places are looked at. */
static mr_status list_again(mr_far_window *window, const mr_place_pairs *before, mr_error *error)
{
    const mr_candidate_options all = window->candidate;
    narrowing n = {.window = window, .before = before};
    uint32_t locations = window->settings->trace->locations.count;
    bool *ignored = mr_calloc(locations, sizeof *ignored);
    if (!ignored)
        return mr_error_memory(error, "collecting candidates");
    memset(ignored, true, locations * sizeof *ignored);
    for (uint32_t i = 0; i < before->count; i++) {
        const mr_candidate_group *group = before->items[i].group;
        bool open = is_unsettled(&n, group->location_1, group->location_2);
        ignored[group->location_1] &= !open;
        ignored[group->location_2] &= !open;
    }
    window->candidate.ignored_locations = ignored;
    window->candidate.wanted = is_unsettled;
    window->candidate.context = &n;
    mr_status status = list_places(window, before, error);
    window->candidate = all;
    free(ignored);
    return status;
}

mr_status mr_far_window_list_again(mr_far_window *window, uint32_t *no_race, mr_error *error)
{
    uint32_t unsettled = mr_far_window_list_unsettled(window);
    mr_place_pairs before = window->places;
    mr_status status = list_again(window, &before, error);
    *no_race = 0;
    if (status == MR_OK) {
        MR_ASSERT(window->places.count <= unsettled); /* more precedence: no new candidates */
        *no_race = unsettled - window->places.count;
        tell_no_races(window, &before);
    }
    free_places(&before);
    return status;
}

bool mr_far_problem_refine(mr_problem *problem, const mr_decide_options *decide, mr_arena *arena)
{
    return mr_problem_list_rows(problem, decide, arena) &&
           mr_problem_refine(problem, decide, REFINE_STEPS, arena);
}

mr_status mr_far_window_refine(mr_far_window *window, const mr_decide_options *decide,
                               uint32_t *no_race, mr_error *error)
{
    *no_race = 0;
    if (!mr_far_problem_refine(&window->problem, decide, &window->arena))
        return mr_error_memory(error, "deciding far races");
    return window->problem.refined ? mr_far_window_list_again(window, no_race, error) : MR_OK;
}

/* ---- what is said of a pair of places ---- */

/* The pair of events that stands for a pair of places. */
static mr_close_pair pair_of(const mr_far_window *window, const mr_place_pair *places)
{
    const mr_site_pair *sites = &window->candidates.site_pairs[places->group->first_site_pair];
    uint32_t start = window->problem.window->start;
    uint32_t one = start + sites->one->events[0], two = start + sites->two->events[0];
    if (places->close.count)
        return places->close.items[0];
    return (mr_close_pair){one < two ? one : two, one < two ? two : one};
}

mr_unknown mr_far_window_unknown(const mr_far_window *window, const mr_place_pair *places,
                                 const mr_decision *decision)
{
    const mr_window *bounds = window->problem.window;
    const uint32_t *full = window->reduction.events;
    mr_close_pair pair = pair_of(window, places);
    MR_ASSERT(bounds->start <= pair.first && pair.first < pair.second && pair.second < bounds->end);
    mr_unknown unknown = {.first = full[pair.first],
                          .second = full[pair.second],
                          .window_start = full[bounds->start],
                          .window_end = full[bounds->end - 1] + 1,
                          .strength = MR_STRENGTH_BEYOND_WCP,
                          .reason = decision->reason};
    memcpy(unknown.detail, decision->detail, sizeof unknown.detail);
    return unknown;
}

void mr_far_window_tell(const mr_far_window *window, const mr_place_pair *places,
                        const char *verdict, const char *reason)
{
    const mr_name *names = window->settings->trace->locations.items;
    MR_DEBUG(window->settings->debug, FAR,
             "place_1=%.400s place_2=%.400s verdict=%s%s%s effort=%" PRIu64,
             names[places->group->location_1].text, names[places->group->location_2].text, verdict,
             reason ? " reason=" : "", reason ? reason : "", places->spent);
}

/* ---- life ---- */

static mr_status start_orders(mr_far_window *window, mr_error *error)
{
    const mr_barrier_edges *opaque = &window->reduction.opaque;
    window->hb = mr_order_new(&window->reduction.trace, MR_RELATION_HB);
    window->wcp = mr_order_new(&window->reduction.trace, MR_RELATION_WCP);
    return window->hb && window->wcp && mr_order_use_edges(window->hb, opaque) &&
                   mr_order_use_edges(window->wcp, opaque)
               ? MR_OK
               : mr_error_memory(error, "ordering the accesses of far races");
}

mr_status mr_far_window_init(mr_far_window *window, const mr_predict_settings *settings,
                             const mr_ledger *ledger, const mr_progress *progress, mr_error *error)
{
    *window = (mr_far_window){.settings = settings, .ledger = ledger, .progress = progress};
    mr_arena_init(&window->arena);
    window->arena.halt = settings->halt;
    window->candidate = settings->candidates;
    window->candidate.context = window;
    window->candidate.wanted = has_no_race;
    window->candidate.weakest = settings->far_limits.weakest;
    window->candidate.max_per_group = 1; /* questions are about places, not about candidates */
    window->candidate.stop_when_full = false;
    window->candidate.uncounted = true;
    mr_status status = mr_reduce(&window->reduction, settings->trace, &settings->opaque,
                                 settings->model, NULL, error);
    if (status == MR_OK)
        status = mr_carried_init(&window->carried, &window->reduction.trace, error);
    window->carried.barrier_edges = &window->reduction.opaque;
    return status == MR_OK && settings->far_limits.weakest != MR_STRENGTH_BEYOND_WCP
               ? start_orders(window, error)
               : status;
}

void mr_far_window_free(mr_far_window *window)
{
    mr_arena_free(&window->arena);
    mr_carried_free(&window->carried);
    mr_order_free(window->hb);
    mr_order_free(window->wcp);
    mr_reduction_free(&window->reduction);
    mr_race_list_free(&window->reported);
    free_places(&window->places);
    free(window->unsettled);
    *window = (mr_far_window){0};
}
