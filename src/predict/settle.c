/* From the candidates of a static race, or a pair of events, to its verdict in a window. */
#include "driver.h"

/* The steps that look for a witness in trace order only. */
enum {
    TRACE_ORDER =
        MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_LINEARISE)
};
#include <stdio.h>

/* One group on its way. */
typedef struct settler {
    mr_driver *driver;
    const mr_problem *problem;
    mr_ledger_entry *entry;
    mr_decision latest; /* what the last query said */
} settler;

/* Asks one question, by those of `steps` that are used; a race is confirmed and recorded. A refused
 * witness makes the verdict unknown.
 */
static mr_status ask(settler *s, unsigned steps, mr_stops a, mr_stops b)
{
    mr_driver *driver = s->driver;
    const mr_window *window = s->problem->window;
    mr_decision *decision = &s->latest;
    mr_decide_options options = driver->decide;
    options.steps &= steps;
    mr_arena_mark mark = mr_arena_get_mark(&driver->arena);
    mr_status status = mr_decide_any(s->problem, driver->session, &options, a, b, &driver->arena,
                                     decision, driver->error);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        driver->result->run.step_seconds[step] += decision->seconds[step];
    driver->result->run.queries_stopped_by_time += decision->stopped_by_time;
    driver->result->run.queries_stopped_by_memory += decision->stopped_by_memory;
    driver->window_steps += decision->work;
    if (decision->verdict == MR_VERDICT_UNKNOWN && steps == MR_ALL_STEPS)
        s->entry->unanswered++;
    if (status == MR_OK && decision->verdict == MR_VERDICT_RACE) {
        mr_strength strength =
            mr_pair_strength(driver->hb, driver->wcp, window->start + decision->first,
                             window->start + decision->second);
        status = mr_driver_confirm(driver, window, strength, decision, &s->entry->race);
    }
    mr_arena_release(&driver->arena, mark);
    return status;
}

mr_status mr_driver_ask(mr_driver *driver, const mr_problem *problem, mr_ledger_entry *entry,
                        mr_stops a, mr_stops b, mr_decision *decision)
{
    settler s = {.driver = driver, .problem = problem, .entry = entry};
    mr_status status = ask(&s, MR_ALL_STEPS, a, b);
    *decision = s.latest;
    return status;
}

/* Counts a verdict for `pairs` event pairs. */
static void count(settler *s, uint64_t pairs)
{
    mr_stats *stats = &s->driver->result->stats;
    const mr_decision *decision = &s->latest;
    stats->candidates += pairs;
    if (decision->verdict == MR_VERDICT_UNKNOWN)
        stats->unknown[decision->reason] += pairs;
    else
        stats->settled[decision->step] += pairs;
    if (decision->verdict == MR_VERDICT_RACE)
        stats->races[decision->step] += pairs;
}

/* Remembers that the pair (window events) has no verdict. */
static mr_status note_unknown(settler *s, uint32_t one, uint32_t two)
{
    const mr_driver *driver = s->driver;
    const mr_window *window = s->problem->window;
    uint32_t first = window->start + (one < two ? one : two);
    uint32_t second = window->start + (one < two ? two : one);
    return mr_driver_note_unknown(s->driver, s->entry, window, first, second,
                                  mr_pair_strength(driver->hb, driver->wcp, first, second),
                                  &s->latest);
}

/* What was asked for last stays unknown because of a budget. */
static void stop(settler *s, const char *budget)
{
    s->latest = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    snprintf(s->latest.detail, sizeof s->latest.detail, "%s", budget);
}

/* Has the static race had its share of queries without an answer, or the window its steps? Then
 * `latest` says so. */
static bool out_of_budget(settler *s)
{
    mr_driver *driver = s->driver;
    if (driver->max_unanswered && s->entry->unanswered >= driver->max_unanswered) {
        stop(s, "candidates.max_unanswered");
        return true;
    }
    if (driver->max_window_steps && driver->window_steps >= driver->max_window_steps) {
        driver->result->stats.windows_stopped += !driver->window_stopped;
        driver->window_stopped = true;
        stop(s, "candidates.max_window_steps");
        return true;
    }
    return false;
}

/* Decides one pair by all steps; in trace order only when a budget is used up. */
static mr_status decide_pair(settler *s, const mr_candidate *candidate)
{
    bool budget = out_of_budget(s);
    const mr_decision stopped = s->latest;
    mr_status status = ask(s, budget ? TRACE_ORDER : MR_ALL_STEPS, (mr_stops){&candidate->first, 1},
                           (mr_stops){&candidate->second, 1});
    if (status != MR_OK)
        return status;
    if (budget && s->latest.verdict == MR_VERDICT_UNKNOWN)
        s->latest = stopped;
    count(s, 1);
    return s->latest.verdict == MR_VERDICT_UNKNOWN
               ? note_unknown(s, candidate->first, candidate->second)
               : MR_OK;
}

/* Is there a witness in trace order for one of the kept pairs? Nothing is counted but a race. */
static mr_status try_trace_order(settler *s, const mr_candidate *candidates, uint32_t length)
{
    if (!(s->driver->decide.steps & MR_STEP_BIT(MR_STEP_LINEARISE)))
        return MR_OK;
    for (uint32_t i = 0; i < length && !s->entry->race; i++) {
        mr_status status = ask(s, TRACE_ORDER, (mr_stops){&candidates[i].first, 1},
                               (mr_stops){&candidates[i].second, 1});
        if (status != MR_OK)
            return status;
    }
    if (s->entry->race)
        count(s, 1);
    return MR_OK;
}

/*
 * Decides all accesses of two sites at once; where that has no verdict, halves of the longer list.
 * `open` becomes the first decision without a verdict of a part that stays unknown.
 */
static mr_status decide_sites(settler *s, mr_stops one, mr_stops two, mr_decision *open)
{
    mr_status status = MR_OK;
    bool budget = out_of_budget(s);
    if (!budget)
        status = ask(s, MR_ALL_STEPS, one, two);
    if (status != MR_OK || s->latest.verdict != MR_VERDICT_UNKNOWN)
        return status;
    if (budget || s->latest.reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2) {
        if (open->verdict != MR_VERDICT_UNKNOWN)
            *open = s->latest;
        return note_unknown(s, one.events[0], two.events[0]);
    }
    mr_stops *longer = one.count >= two.count ? &one : &two;
    uint32_t half = longer->count / 2, length = longer->count;
    longer->count = half;
    status = decide_sites(s, one, two, open);
    if (status != MR_OK || s->entry->race)
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(s, one, two, open);
}

static mr_status decide_all_sites(settler *s, const mr_site_pair *pairs, uint32_t length)
{
    for (uint32_t i = 0; i < length && !s->entry->race; i++) {
        mr_decision open = {.verdict = MR_VERDICT_NO_RACE};
        mr_status status =
            decide_sites(s, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                         (mr_stops){pairs[i].two->events, pairs[i].two->count}, &open);
        if (status != MR_OK)
            return status;
        if (open.verdict == MR_VERDICT_UNKNOWN && !s->entry->race)
            s->latest = open; /* a later half may have had a verdict */
        count(s, s->entry->race ? 1 : pairs[i].pairs);
    }
    return MR_OK;
}

bool mr_driver_asks_sites(const mr_driver *driver)
{
    return !driver->by_event && !driver->decide.eager &&
           driver->candidates.weakest == MR_STRENGTH_BEYOND_WCP;
}
/* Two locations (mr_candidate_options.wanted). */
typedef struct location_pair {
    uint32_t location_1, location_2;
} location_pair;

static bool is_pair(void *context, uint32_t location_1, uint32_t location_2)
{
    const location_pair *pair = context;
    return pair->location_1 == location_1 && pair->location_2 == location_2;
}

/* Decides all accesses of the group's sites; a group that was not collected to its end is
 * collected again, alone. */
static mr_status decide_group(settler *s, const mr_candidates *candidates,
                              const mr_candidate_group *group)
{
    mr_driver *driver = s->driver;
    if (!group->stopped)
        return decide_all_sites(s, &candidates->site_pairs[group->first_site_pair],
                                group->site_pair_count);
    location_pair pair = {group->location_1, group->location_2};
    mr_candidate_options options = driver->candidates;
    options.stop_when_full = false;
    options.wanted = is_pair;
    options.context = &pair;
    mr_candidates all;
    mr_arena_mark mark = mr_arena_get_mark(&driver->arena);
    if (!mr_candidates_find(&all, s->problem->window, &s->problem->hard, &s->problem->forced,
                            driver->hb, driver->wcp, &options, &driver->arena))
        return mr_error_memory(driver->error, "collecting candidates");
    mr_status status = decide_all_sites(s, all.site_pairs, all.site_pair_count);
    mr_arena_release(&driver->arena, mark);
    return status;
}

mr_status mr_driver_settle(mr_driver *driver, mr_problem *problem, const mr_candidates *candidates,
                           const mr_candidate_group *group)
{
    const mr_window *window = problem->window;
    const mr_candidate *first = &candidates->items[group->first];
    settler s = {.driver = driver, .problem = problem};
    if (!group->count)
        return MR_OK;
    s.entry = driver->by_event
                  ? mr_ledger_get(&driver->ledger, window->start + first->first,
                                  window->start + first->second)
                  : mr_ledger_get(&driver->ledger, group->location_1, group->location_2);
    if (!s.entry)
        return mr_error_memory(driver->error, "recording a candidate");
    if (s.entry->race)
        return MR_OK;
    if (mr_driver_asks_sites(driver)) {
        mr_status status = try_trace_order(&s, first, group->count);
        if (status != MR_OK || s.entry->race)
            return status;
        if (!mr_problem_refine(problem, &driver->decide, 0, &driver->arena))
            return mr_error_memory(driver->error, "deciding a candidate");
        return decide_group(&s, candidates, group);
    }
    for (uint32_t i = 0; i < group->count && !s.entry->race; i++) {
        mr_status status = decide_pair(&s, &first[i]);
        if (status != MR_OK)
            return status;
    }
    if (!group->left_out || s.entry->race)
        return MR_OK;
    stop(&s, "more pairs than are kept");
    count(&s, group->left_out);
    return note_unknown(&s, first->first, first->second);
}
