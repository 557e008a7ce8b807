#include "budget.h"

#include "base/assert.h"
#include "far.h"

void mr_far_budget_init(mr_far_budget *budget, const mr_far_window *window, mr_merge *merge)
{
    *budget = (mr_far_budget){.window = window, .merge = merge};
    pthread_mutex_init(&budget->lock, NULL);
}

void mr_far_budget_free(mr_far_budget *budget)
{
    pthread_mutex_destroy(&budget->lock);
}

/* ---- what may be asked ---- */

/* Is `effort` at most what is left of the limit? 0: no limit. */
static bool is_left(uint64_t limit, uint64_t spent, uint64_t effort)
{
    return !limit || (spent <= limit && effort <= limit - spent);
}

/* The part of per_race that a stricter model may use up. */
enum { STRICTER_PART = 2 };

static bool can_pay(const mr_far_budget *budget, const mr_place_pair *places, uint64_t effort)
{
    const mr_far_limits *limits = &budget->window->settings->far_limits;
    bool stricter = budget->window->model != budget->window->settings->model;
    uint64_t per_race = limits->per_race;
    if (stricter && per_race >= STRICTER_PART)
        per_race /= STRICTER_PART;
    return is_left(per_race, places->spent, effort) &&
           is_left(limits->all, budget->spent, effort) &&
           is_left(budget->most, budget->spent, effort);
}

bool mr_far_budget_covers(const mr_far_budget *budget, const mr_place_pair *places, uint64_t effort)
{
    return !mr_far_window_is_settled(budget->window, places) && can_pay(budget, places, effort);
}

bool mr_far_budget_may_ask(const mr_far_budget *budget, const mr_place_pair *places,
                           uint64_t effort, uint64_t unanswered)
{
    uint64_t most = budget->window->settings->max_unanswered;
    return mr_far_budget_covers(budget, places, effort) &&
           (!most || places->unanswered + unanswered < most);
}

bool mr_far_budget_covers_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort)
{
    pthread_mutex_lock(&budget->lock);
    bool covers = mr_far_budget_covers(budget, places, effort);
    pthread_mutex_unlock(&budget->lock);
    return covers;
}

bool mr_far_budget_may_ask_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort,
                               uint64_t unanswered)
{
    pthread_mutex_lock(&budget->lock);
    bool may = mr_far_budget_may_ask(budget, places, effort, unanswered);
    pthread_mutex_unlock(&budget->lock);
    return may;
}

/* Of each limit a short question leaves one of so many parts to what comes after it. */
enum { LEFT_PART = 2 };

bool mr_far_budget_may_try(const mr_far_budget *budget, const mr_place_pair *places,
                           uint64_t effort)
{
    const mr_far_limits *limits = &budget->window->settings->far_limits;
    return mr_far_budget_may_ask(budget, places, effort, 0) &&
           is_left(limits->per_race, places->spent, effort + limits->per_race / LEFT_PART) &&
           is_left(limits->all, budget->spent, effort + limits->all / LEFT_PART);
}

bool mr_far_budget_may_try_now(mr_far_budget *budget, const mr_place_pair *places, uint64_t effort)
{
    pthread_mutex_lock(&budget->lock);
    bool may = mr_far_budget_may_try(budget, places, effort);
    pthread_mutex_unlock(&budget->lock);
    return may;
}

void mr_far_budget_lower(mr_far_budget *budget, uint64_t part)
{
    const uint64_t all = budget->window->settings->far_limits.all;
    if (all > budget->spent)
        budget->most = budget->spent + (all - budget->spent) / part + 1;
}

void mr_far_budget_bound(mr_far_budget *budget, uint64_t effort)
{
    if (!budget->window->settings->far_limits.all)
        return;
    if (!budget->most || budget->most > budget->spent + effort)
        budget->most = budget->spent + effort;
}

/* ---- what was found ---- */

void mr_far_budget_pay(mr_far_budget *budget, mr_place_pair *places, uint64_t effort)
{
    MR_REQUIRE(can_pay(budget, places, 0)); /* the budget that is left is not below zero */
    places->spent += effort;
    budget->spent += effort;
}

mr_status mr_far_budget_count(mr_far_budget *budget, mr_place_pair *places,
                              mr_pair_verdict *verdict, mr_error *error)
{
    mr_stats *stats = &budget->merge->result->stats;
    MR_REQUIRE(!mr_far_window_is_settled(budget->window, places));
    mr_far_budget_pay(budget, places, verdict->steps);
    places->unanswered += verdict->unanswered;
    places->refused |= verdict->unknown[MR_UNKNOWN_MEMORY] != 0;
    stats->settled[MR_STEP_FAR] += verdict->has_race;
    stats->races[MR_STEP_FAR] += verdict->has_race;
    if (verdict->has_race)
        mr_far_window_tell(budget->window, places, "race", NULL);
    return mr_merge_verdict(budget->merge, verdict, MR_FAR_WINDOW, error);
}

mr_status mr_far_budget_conclude(mr_far_budget *budget, mr_place_pair *places,
                                 const mr_unknown *unknown, mr_error *error)
{
    const mr_candidate_group *group = places->group;
    mr_stats *stats = &budget->merge->result->stats;
    MR_REQUIRE(budget->window->model == budget->window->settings->model);
    MR_REQUIRE(!places->no_race && !mr_far_window_is_settled(budget->window, places));
    if (!unknown) {
        places->no_race = true;
        stats->far_no_race++;
        stats->settled[MR_STEP_FAR]++;
        mr_far_window_tell(budget->window, places, "no-race", NULL);
        return MR_OK;
    }
    mr_pair_verdict verdict = {.key_1 = group->location_1,
                               .key_2 = group->location_2,
                               .has_unknown = true,
                               .open = *unknown};
    stats->far_unknown++;
    stats->unknown[unknown->reason]++;
    mr_far_window_tell(budget->window, places, "unknown", mr_unknown_reason_name(unknown->reason));
    return mr_merge_verdict(budget->merge, &verdict, MR_FAR_WINDOW, error);
}
