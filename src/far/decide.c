/*
 * decide: mr_far_decide (far.h), the order of the phases for each far window and each model.
 */
#include "around.h"
#include "base/assert.h"
#include "bundles.h"
#include "estimate.h"
#include "parts.h"
#include "states.h"
#include "whole.h"

#include <inttypes.h>

/* A call of mr_far_decide. */
typedef struct decider {
    const mr_far_context *context;
    mr_error *error;
    mr_far_window window;
    mr_far_budget budget;
    mr_far_asker asker;
    bool asked_left;             /* what the windows have left was asked */
    size_t left_begin, left_end; /* the unknowns of that */
} decider;

static mr_stats *stats_of(const decider *d)
{
    return &d->context->merge->result->stats;
}

/* ---- one model ---- */

/* Has nothing gone wrong, and is there a pair of places left to ask about? */
static bool goes_on(decider *d, mr_status status)
{
    return status == MR_OK && !mr_far_is_halted(&d->asker) &&
           mr_far_window_list_unsettled(&d->window);
}

/* For no more pairs of places than so many, proofs are looked for before all races at once: a look within one of so many
 * parts of the budget of elimination; then, where the search for all races may take seconds, spot by spot, all of
 * them together within one of so many parts of what one may take. */
enum { FEW_PLACES = 16, FEW_PART = 16, FEW_SPOTS_PART = 32 };

/* When more pairs of places than so many are left, proofs that settle many at once come before the closest pairs are tried
 * at large: most of the pairs of places have no race then. */
enum { MANY_PLACES = 64 };

/* When that was given up, and there are many chains of threads, a question takes seconds and hardly ever tells anything: one of
 * so many parts of what is left of the budget is for them. */
enum { OPEN_PART = 64 };

static bool has_many_left(const decider *d)
{
    return d->window.model == d->context->settings->model && mr_far_survey_is_used(&d->asker) &&
           d->window.unsettled_count > MANY_PLACES;
}

/* Tries the closest pairs in large windows around them, then in the whole far window. */
static mr_status try_at_large(decider *d, mr_status status)
{
    if (goes_on(d, status))
        status = mr_far_try_around(&d->asker, MR_FAR_CHEAP, MR_FAR_LARGE_SIZES, d->error);
    return goes_on(d, status) ? mr_far_try_whole(&d->asker, d->error) : status;
}

/* mr_deferred_drop: has the whole trace a race of the pair of places, or none? */
static bool is_decided(const void *context, uint32_t key_1, uint32_t key_2)
{
    const decider *d = context;
    const mr_ledger_entry *entry = mr_ledger_find(&d->context->merge->ledger, key_1, key_2);
    const mr_place_pair *places = mr_far_window_find(&d->window, key_1, key_2);
    return (entry && entry->race) || !places || places->no_race;
}

/* Asks what the windows have left. What they leave unknown is one of theirs. */
static mr_status ask_left(decider *d)
{
    if (!d->context->ask_left || d->asked_left)
        return MR_OK;
    d->asked_left = true;
    mr_deferred_drop(&d->context->merge->deferred, is_decided, d);
    d->left_begin = d->context->merge->result->unknown_count;
    mr_status status = d->context->ask_left(d->context->context, d->error);
    d->left_end = d->context->merge->result->unknown_count;
    return status;
}

/* In the model of the settings: looks for all races at once, and for proofs about bundles.
 * `untried`: many pairs of places are left, and the closest pairs of events were not tried at
 * large. */
static mr_status search_and_prove(decider *d, bool untried)
{
    mr_status status = MR_OK;
    mr_far_met met = MR_FAR_MET_LITTLE;
    if (d->window.unsettled_count <= FEW_PLACES) {
        status = mr_far_look_at_bundles(&d->asker, FEW_PART, d->error);
        if (goes_on(d, status) && mr_far_survey_is_used(&d->asker))
            status = mr_far_prove_bundles(&d->asker, FEW_SPOTS_PART * d->window.unsettled_count,
                                          d->error);
    }
    if (goes_on(d, status))
        status = mr_far_survey(&d->asker, d->error);
    if (goes_on(d, status))
        status = mr_far_meet(&d->asker, &met, d->error);
    if (goes_on(d, status))
        status = ask_left(d);
    if (untried && met == MR_FAR_MET_GAVE_UP &&
        d->window.problem.window->chain_count > MR_MANY_CHAINS)
        mr_far_budget_lower(d->asker.budget, OPEN_PART);
    if (untried && goes_on(d, status))
        status = mr_far_survey_together(&d->asker, d->error);
    if (goes_on(d, status) && mr_far_survey_is_used(&d->asker))
        mr_far_bound_questions(&d->asker);
    if (untried)
        status = try_at_large(d, status);
    if (met == MR_FAR_MET_RAISED && goes_on(d, status)) /* needs little now */
        status = mr_far_look_at_bundles(&d->asker, 0, d->error);
    return goes_on(d, status) ? mr_far_prove_bundles(&d->asker, 1, d->error) : status;
}

/* Looks for proofs, then asks by formulas. The survey of what may be together settles many pairs of
 * places at once, or costs more than all the rest: it comes first where many are left
 * (search_and_prove), else before formulas about the whole far window. In models with reads by value
 * a mixture comes before the model itself. It is stricter: only the variables that the two threads
 * use close to the accesses are treated by value. */
static mr_status prove_or_ask(decider *d, bool untried)
{
    bool last = d->window.model == d->context->settings->model;
    mr_status status = last ? search_and_prove(d, untried) : MR_OK;
    if (d->window.model != MR_MODEL_RF && goes_on(d, status))
        status = mr_far_try_around(&d->asker, MR_FAR_MIXED, MR_FAR_ALL_SIZES, d->error);
    for (uint32_t i = 0; i < d->window.places.count; i++)
        d->window.places.items[i].unanswered = 0;
    if (goes_on(d, status))
        status = mr_far_try_around(&d->asker, MR_FAR_PLAIN, MR_FAR_ALL_SIZES, d->error);
    if (last && goes_on(d, status))
        status = mr_far_survey_together(&d->asker, d->error);
    if (last && goes_on(d, status) && d->window.unsettled_count <= FEW_PLACES)
        status = mr_far_decide_soon(&d->asker, d->error);
    if (last && goes_on(d, status))
        status = mr_far_search_bundles(&d->asker, d->error);
    return goes_on(d, status) ? mr_far_decide_whole(&d->asker, d->error) : status;
}

/* Raises the precedence of the far window. A pair of places without candidates after that is no
 * race. How far that comes depends on the memory that is left, too, and the candidates are what later phases are
 * planned by. */
static mr_status refine(decider *d)
{
    uint32_t no_race;
    mr_status status = mr_far_window_refine(&d->window, &d->asker.decide, &no_race, d->error);
    if (status == MR_OK && d->window.model == d->context->settings->model)
        stats_of(d)->far_no_race += no_race;
    const mr_candidates *candidates = &d->window.candidates;
    const uint64_t left[] = {candidates->group_count, candidates->site_pair_count,
                             candidates->dropped_by_cone};
    mr_dispatch_note(d->context->dispatch, left, sizeof left);
    return status;
}

static void tell_far_window(const decider *d)
{
    const mr_far_window *window = &d->window;
    const mr_window *bounds = window->problem.window;
    const uint32_t *full = window->reduction.events;
    MR_DEBUG(window->settings->debug, FAR,
             "window=far events=%" PRIu32 "-%" PRIu32 " size=%" PRIu32 " model=%s places=%" PRIu32,
             full[bounds->start], full[bounds->end - 1], bounds->size, mr_model_name(window->model),
             window->places.count);
}

/* Rounds of proofs near the accesses: each has one of so many parts of the budget of elimination, when
 * no more pairs of places are left than so many. The fewer are left, the longer a look takes less
 * than raising the precedence of the far window. */
static const struct {
    uint32_t part, most;
} near_rounds[] = {{128, UINT32_MAX}, {16, 16}, {1, 4}};

/* In a smaller far window raising the precedence takes less than asking twice about those places that
 * have a long proof. */
enum { LARGE_FAR_WINDOW = 1 << 18 };

/* Rounds `from` up to `to`. */
static mr_status prove_near(decider *d, size_t from, size_t to)
{
    mr_status status = MR_OK;
    if (d->window.model != d->context->settings->model ||
        d->window.problem.window->size < LARGE_FAR_WINDOW)
        return MR_OK;
    if (!mr_problem_list_rows(&d->window.problem, &d->asker.decide, &d->window.arena))
        return mr_error_memory(d->error, "deciding far races");
    for (size_t i = from;
         i < to && goes_on(d, status) && d->window.unsettled_count <= near_rounds[i].most; i++)
        status = mr_far_look_at_bundles(&d->asker, near_rounds[i].part, d->error);
    return status;
}

/* Decides the far window in one model. The shortest proofs come first, for a trial takes more when there is no race.
 * Then comes what needs no formula, on small windows around close pairs, then the other short proofs. On many traces no
 * pair of places is left by then. Raising the precedence costs about as much as the large windows around pairs, or as
 * trying a few pairs on the whole far window, and most pairs of places that are left are no races, so it comes before those. */
static mr_status decide_model(decider *d, uint32_t start, uint32_t end, mr_model model)
{
    mr_stats *stats = stats_of(d);
    d->asker.looked = false;
    d->budget.most = 0; /* a bound is of one far window */
    mr_far_use_settings(&d->asker);
    mr_far_forget_together(&d->asker);
    stats->far_windows++;
    stats->far_events += end - start;
    mr_status status = mr_far_window_build(&d->window, start, end, model, d->error);
    if (status == MR_OK)
        status = mr_far_window_find_places(&d->window, d->error);
    if (status != MR_OK)
        return status;
    tell_far_window(d);
    if (model == d->context->settings->model)
        stats->far_pairs += d->window.places.count;
    if (goes_on(d, status))
        status = prove_near(d, 0, 1);
    if (goes_on(d, status))
        status = mr_far_window_add_reported(&d->window, d->error);
    if (goes_on(d, status))
        status = mr_far_try_around(&d->asker, MR_FAR_CHEAP, MR_FAR_SMALL_SIZES, d->error);
    if (goes_on(d, status))
        status = prove_near(d, 1, sizeof near_rounds / sizeof *near_rounds);
    if (goes_on(d, status))
        status = refine(d);
    bool many = goes_on(d, status) && has_many_left(d);
    if (!many)
        status = try_at_large(d, status);
    return goes_on(d, status) ? prove_or_ask(d, many) : status;
}

/* ---- one far window after the other ---- */

/* Model branch comes after model value: a race there is one of branch, too (docs/semantics.md 2.6), and
 * the reads have fewer choices. Model rf has no far window of its own before value: building it takes
 * as long, and where it has races those are decided by value as well. */
static mr_status decide_far_window(decider *d, uint32_t start, uint32_t end)
{
    int weakest = (int)d->context->settings->model;
    int model = weakest < MR_MODEL_VALUE ? weakest : MR_MODEL_VALUE;
    mr_status status = mr_far_window_move(&d->window, start, end, d->error);
    for (; status == MR_OK && model <= weakest && !mr_far_is_halted(&d->asker); model++)
        status = decide_model(d, start, end, (mr_model)model);
    return status;
}

uint64_t mr_far_size(uint64_t most, uint64_t window_size, uint64_t chains)
{
    if (!most)
        return 0;
    if (chains > MR_MANY_CHAINS)
        most = most * MR_MANY_CHAINS / chains;
    return most < window_size ? window_size : most;
}

static uint64_t far_size(const mr_predict_settings *settings, uint64_t chains)
{
    return mr_far_size(settings->far_limits.size, settings->plan.size, chains);
}

bool mr_far_sees_all(const mr_predict_settings *settings)
{
    uint64_t size = far_size(settings, settings->trace->chain_count);
    return settings->far_limits.weakest == MR_STRENGTH_BEYOND_WCP &&
           (!size || settings->trace->event_count <= size);
}

/* The far windows over the reduced trace. */
static mr_window_plan plan_far_windows(const decider *d)
{
    const mr_trace *reduced = &d->window.reduction.trace;
    uint64_t size = far_size(d->context->settings, reduced->chain_count);
    MR_ASSERT(size <= UINT32_MAX);
    return (mr_window_plan){
        .event_count = reduced->event_count, .size = (uint32_t)size, .overlap = (uint32_t)size / 2};
}

/* Drops the unknowns of windows whose pair of places is no race in the whole trace. Unknowns from
 * `first_unknown` on are those of the far window itself, but for those of what the windows had left. */
static void drop_unknowns(decider *d, size_t first_unknown)
{
    const mr_ledger *ledger = &d->context->merge->ledger;
    mr_result *result = d->context->merge->result;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const mr_ledger_entry *entry = &ledger->entries[i];
        const size_t index = entry->unknown_index;
        const bool left = index >= d->left_begin && index < d->left_end;
        if (!entry->unknown || entry->race || (index >= first_unknown && !left))
            continue;
        MR_ASSERT(entry->unknown_index < result->unknown_count);
        const mr_place_pair *places = mr_far_window_find(&d->window, entry->key_1, entry->key_2);
        if (!places || places->no_race)
            result->unknowns[entry->unknown_index].window_end = 0; /* mr_merge_finish drops it */
    }
}

static mr_status decide_far_windows(decider *d)
{
    const mr_merge *merge = d->context->merge;
    const mr_trace *reduced = &d->window.reduction.trace;
    size_t first_unknown = merge->result->unknown_count;
    mr_window_plan plan = plan_far_windows(d);
    mr_status status = MR_OK;
    uint32_t start, end;
    for (uint32_t k = 0; status == MR_OK && mr_window_plan_get(&plan, k, &start, &end); k++)
        status = decide_far_window(d, start, end);
    if (status != MR_OK || mr_far_is_halted(&d->asker)) /* then not everything was looked at */
        return status;
    if (mr_window_plan_count(&plan) == 1 &&
        d->context->settings->far_limits.weakest == MR_STRENGTH_BEYOND_WCP) {
        drop_unknowns(d, first_unknown);
        if (!d->asked_left)
            mr_deferred_drop(&d->context->merge->deferred, is_decided, d);
    }
    if (mr_window_plan_count(&plan) > 1 &&
        !mr_far_parts_count(reduced, &plan, &merge->ledger, &stats_of(d)->far_parts))
        return mr_error_memory(d->error, "counting what far windows have not seen");
    return MR_OK;
}

/* ---- all of it ---- */

/* Takes from the room the memory of the reduction and the far window. Questions have the rest. */
static mr_status hold_memory(const mr_predict_settings *settings, uint64_t *bytes, mr_error *error)
{
    mr_far_bytes far;
    *bytes = 0;
    if (!settings->room)
        return MR_OK;
    if (!mr_far_bytes_find(&far, settings->trace, settings->model, settings->far_limits.size))
        return mr_error_memory(error, "deciding far races");
    *bytes = mr_far_bytes_peak(&far);
    mr_room_hold(settings->room, MR_ROOM_FAR, *bytes);
    return MR_OK;
}

mr_status mr_far_decide(mr_far_context *far, mr_error *error)
{
    decider d = {.context = far, .error = error};
    uint64_t bytes;
    mr_status status = hold_memory(far->settings, &bytes, error);
    if (status != MR_OK)
        return status;
    mr_far_budget_init(&d.budget, &d.window, far->merge);
    status = mr_far_window_init(&d.window, far->settings, &far->merge->ledger,
                                far->dispatch->progress, error);
    if (status == MR_OK)
        status = mr_far_asker_init(&d.asker, far, &d.window, &d.budget, error);
    if (status == MR_OK)
        status = decide_far_windows(&d);
    if (mr_halt_explains(far->settings->halt, status))
        status = MR_OK;
    mr_far_asker_free(&d.asker);
    mr_far_window_free(&d.window);
    mr_far_budget_free(&d.budget);
    mr_room_give(far->settings->room, MR_ROOM_FAR, bytes);
    return status;
}
