/* From the candidates of two places, or one pair of events, to a verdict. */
#include "base/seconds.h"
#include "deferred.h"
#include "near.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The steps that look for a witness in trace order only. */
enum {
    TRACE_ORDER =
        MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_LINEARISE)
};

/* The steps by Z3, and those that have been tried when Z3 is asked. */
enum {
    BY_Z3 = MR_STEP_BIT(MR_STEP_LAZY) | MR_STEP_BIT(MR_STEP_Z3),
    SEARCHES = MR_STEP_BIT(MR_STEP_LINEARISE) | MR_STEP_BIT(MR_STEP_GREEDY) |
               MR_STEP_BIT(MR_STEP_EXPLORE) | MR_STEP_BIT(MR_STEP_SATURATE)
};

/* A first attempt has one of so many parts of the budget of saturation: what is hard for one question of a window is
 * hard for many, and the search that follows (near.h) settles them at once. */
enum { FIRST_PART = 64 };

/* The steps that a window of a trace with `defers` asks its first questions by. */
enum { CHEAP = TRACE_ORDER | MR_STEP_BIT(MR_STEP_ELIMINATE) | MR_STEP_BIT(MR_STEP_GREEDY) };

/* A group that is being decided. */
typedef struct group_state {
    mr_worker *worker;
    const mr_problem *problem;
    mr_pair_verdict *verdict;
    mr_decision latest; /* the answer to the last question */
    mr_stops left[2];   /* where it is unknown: what is left of the lists */
    bool refused;       /* some question was refused for want of memory */
    bool tried_near;    /* close races were looked for; there was none */
    bool no_race;       /* and it was proven that the window has none */
    bool
        cheaply; /* questions are asked by CHEAP alone; what they leave unknown is asked later (deferred.h): */
    bool deferred;
    bool put_off;   /* the question waits for what lower windows say */
    unsigned steps; /* for questions about all accesses of two sites */
} group_state;

static bool halted(mr_worker *worker)
{
    worker->halted |= mr_halt_asked(worker->settings->halt) != MR_HALT_NONE;
    return worker->halted;
}

/* Far events have the numbers of the reduced trace (reduce.h). */
static void tell_answer(const group_state *s, mr_stops a, mr_stops b)
{
    static const char *const verdicts[] = {"race", "no-race", "unknown"};
    const mr_debug *debug = s->worker->settings->debug;
    const mr_debug_topic topic = s->worker->expand ? MR_DEBUG_FAR : MR_DEBUG_CANDIDATES;
    if (!mr_debug_on(debug, topic))
        return;
    const mr_decision *decision = &s->latest;
    bool unknown = decision->verdict == MR_VERDICT_UNKNOWN;
    uint32_t start = s->problem->window->start;
    mr_debug_write(debug, topic,
                   "first=%" PRIu32 " of=%" PRIu32 " second=%" PRIu32 " of=%" PRIu32
                   " verdict=%s %s=%s effort=%" PRIu64,
                   start + a.events[0], a.count, start + b.events[0], b.count,
                   verdicts[decision->verdict], unknown ? "reason" : "step",
                   unknown ? mr_unknown_reason_name(decision->reason)
                           : mr_step_name(decision->step),
                   decision->effort);
}

/* In a window that leads to too many states, long questions settle little more than short ones do: saturation has a quarter of its budget,
 * which is twice what `saturate_steps` says, and explore no more than half of that. */
static void shorten_question(mr_decide_options *options)
{
    enum { PART = 8 };
    options->many_states = true;
    options->saturate_steps = options->saturate_steps / PART + 1;
    options->explore_most = options->saturate_steps;
}

/* Asks one question, by those of `steps` that the settings allow; a race is confirmed and put into
 * the verdict. A rejected witness makes the answer unknown. */
static mr_status ask(group_state *s, unsigned steps, mr_stops a, mr_stops b)
{
    mr_worker *worker = s->worker;
    const mr_window *window = s->problem->window;
    mr_decision *decision = &s->latest;
    mr_decide_options options = worker->decide;
    s->left[0] = a;
    s->left[1] = b;
    options.steps &= steps;
    if (!options.first_attempt && mr_near_has_many_states(worker))
        shorten_question(&options);
    if (halted(worker)) {
        *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
        return MR_OK;
    }
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_status status = mr_decide_any(s->problem, worker->session, &options, a, b, &worker->arena,
                                     decision, worker->error);
    tell_answer(s, a, b);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision->seconds[step];
    worker->run.queries_stopped_by_time += decision->stopped_by_time;
    worker->run.queries_stopped_by_memory += decision->stopped_by_memory;
    worker->window_steps += decision->effort;
    if (steps == TRACE_ORDER)
        s->verdict->steps_in_order += decision->effort;
    else
        s->verdict->steps += decision->effort;
    if (decision->verdict == MR_VERDICT_UNKNOWN && steps != TRACE_ORDER) {
        s->verdict->unanswered++;
        s->refused |= decision->reason == MR_UNKNOWN_MEMORY;
    }
    if (status == MR_OK && decision->verdict == MR_VERDICT_RACE) {
        mr_strength strength =
            mr_pair_strength(worker->hb, worker->wcp, window->start + decision->first,
                             window->start + decision->second);
        status = mr_worker_confirm(worker, window, strength, decision, s->verdict);
    }
    if (status == MR_OK && decision->verdict == MR_VERDICT_UNKNOWN && decision->left) {
        s->left[0] = decision->left[0];
        s->left[1] = decision->left[1];
    }
    decision->left = NULL;
    mr_arena_release(&worker->arena, mark);
    return status;
}

mr_status mr_worker_ask(mr_worker *worker, const mr_problem *problem, mr_pair_verdict *verdict,
                        mr_stops a, mr_stops b, mr_decision *decision)
{
    group_state s = {.worker = worker, .problem = problem, .verdict = verdict};
    mr_status status = ask(&s, MR_ALL_STEPS, a, b);
    *decision = s.latest;
    return status;
}

/* Counts the last answer for `pairs` event pairs. */
static void count(group_state *s, uint64_t pairs)
{
    if (s->latest.verdict == MR_VERDICT_UNKNOWN)
        s->verdict->unknown[s->latest.reason] += pairs;
    else
        s->verdict->settled[s->latest.step] += pairs;
}

/* Notes that the pair (window events) is unknown. */
static void note_unknown(group_state *s, uint32_t one, uint32_t two)
{
    mr_worker *worker = s->worker;
    const mr_window *window = s->problem->window;
    uint32_t first = window->start + (one < two ? one : two);
    uint32_t second = window->start + (one < two ? two : one);
    mr_pair_verdict_note_unknown(window, first, second,
                                 mr_pair_strength(worker->hb, worker->wcp, first, second),
                                 &s->latest, s->verdict);
}

/* Makes the last answer unknown, as a budget is spent. */
static void stop(group_state *s, const char *budget)
{
    s->latest = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_BUDGET};
    snprintf(s->latest.detail, sizeof s->latest.detail, "%s", budget);
}

/* Has the group had its questions without an answer, or spent as many steps as a whole window may?
 * Then `latest` says so. Both counts begin with the group, so the verdict does not depend on what
 * other windows, or other groups, have cost. */
static bool out_of_budget(group_state *s)
{
    const mr_predict_settings *settings = s->worker->settings;
    if (settings->max_unanswered && s->verdict->unanswered >= settings->max_unanswered) {
        stop(s, "candidates.max_unanswered");
        if (s->refused)
            s->latest.reason = MR_UNKNOWN_MEMORY;
        return true;
    }
    if (settings->max_window_steps && s->verdict->steps >= settings->max_window_steps) {
        stop(s, "candidates.max_window_steps");
        return true;
    }
    return halted(s->worker);
}

/* Decides one pair, for which trace order has been tried. */
static mr_status decide_pair(group_state *s, const mr_candidate *candidate)
{
    if (!out_of_budget(s)) {
        mr_status status = ask(s, MR_ALL_STEPS & ~(unsigned)MR_STEP_BIT(MR_STEP_LINEARISE),
                               (mr_stops){&candidate->first, 1}, (mr_stops){&candidate->second, 1});
        if (status != MR_OK)
            return status;
    }
    count(s, 1);
    if (s->latest.verdict == MR_VERDICT_UNKNOWN)
        note_unknown(s, candidate->first, candidate->second);
    return MR_OK;
}

/* Looks for a witness in trace order of one of the kept pairs. Only a race is counted. */
static mr_status try_trace_order(group_state *s, const mr_candidate *candidates, uint32_t length)
{
    if (!(s->worker->decide.steps & MR_STEP_BIT(MR_STEP_LINEARISE)))
        return MR_OK;
    for (uint32_t i = 0; i < length && !s->verdict->has_race; i++) {
        mr_status status = ask(s, TRACE_ORDER, (mr_stops){&candidates[i].first, 1},
                               (mr_stops){&candidates[i].second, 1});
        if (status != MR_OK)
            return status;
    }
    s->verdict->in_trace_order = s->verdict->has_race;
    if (s->verdict->has_race)
        count(s, 1);
    return MR_OK;
}

/* So many pairs of a group are tried with sections held back. What is found that way is mostly found by the first of them. */
enum { PAIRS_REORDERED = 4 };

/* The same with sections held back, which takes a hundredth of what elimination takes in a large cone.
 * Crowded traces have too many groups for that. */
static mr_status try_reorder(group_state *s, const mr_candidate *candidates, uint32_t length)
{
    mr_worker *worker = s->worker;
    const mr_problem *problem = s->problem;
    mr_status status = MR_OK;
    mr_foreign_reads foreign;
    if (!(worker->decide.steps & MR_STEP_BIT(MR_STEP_GREEDY)) || worker->settings->is_crowded)
        return MR_OK;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    bool listed = mr_foreign_reads_list(&foreign, problem->window, &worker->arena);
    if (!listed)
        status = mr_worker_out_of_memory(worker);
    for (uint32_t i = 0; listed && status == MR_OK && i < length && i < PAIRS_REORDERED &&
                         !s->verdict->has_race && !halted(worker);
         i++)
        status = mr_worker_try_reorder(worker, problem, &foreign, candidates[i].strength,
                                       candidates[i].first, candidates[i].second, s->verdict);
    mr_arena_release(&worker->arena, mark);
    if (s->verdict->has_race)
        s->verdict->settled[MR_STEP_GREEDY]++;
    return status;
}

static mr_said_below below_says(mr_worker *worker, const mr_pair_verdict *verdict)
{
    return worker->trusts && mr_near_is_used(worker)
               ? mr_known_races_below_says(worker->known, verdict->key_1, verdict->key_2,
                                           worker->window, worker->settings->max_unanswered)
               : MR_BELOW_NOTHING;
}

/* A first attempt at a question, by what costs little; when it fails, a race of the two places that
 * was found in a small window is taken. SETTLED: `latest` is the answer. */
static mr_status ask_first(group_state *s, mr_stops one, mr_stops two)
{
    mr_worker *worker = s->worker;
    mr_pair_verdict *race;
    mr_decide_options all = worker->decide;
    uint64_t unanswered = s->verdict->unanswered;
    bool refused = s->refused;
    worker->decide = mr_near_options(&all);
    worker->decide.saturate_steps = all.saturate_steps / FIRST_PART + 1;
    /* The whole of elimination costs less than the search that follows. */
    worker->decide.eliminate_part = all.eliminate_part;
    mr_status status = ask(s, MR_ALL_STEPS, one, two);
    worker->decide = all;
    if (status != MR_OK || s->latest.verdict != MR_VERDICT_UNKNOWN ||
        s->latest.reason == MR_UNKNOWN_REJECTED || halted(worker))
        return status;
    if (worker->puts_off && !worker->near && below_says(worker, s->verdict) != MR_BELOW_NOTHING) {
        s->put_off = true;
        return status;
    }
    s->verdict->unanswered = unanswered;
    s->refused = refused;
    s->tried_near = true;
    status =
        mr_near_race(worker, s->problem, s->verdict->key_1, s->verdict->key_2, &race, &s->no_race);
    if (mr_near_problem(worker))
        s->problem = mr_near_problem(worker);
    if (s->no_race)
        s->latest = (mr_decision){.verdict = MR_VERDICT_NO_RACE, .step = MR_STEP_EXPLORE};
    if (status != MR_OK || !race)
        return status;
    s->verdict->has_race = true;
    s->verdict->race = race->race;
    race->has_race = false;
    s->latest = (mr_decision){.verdict = MR_VERDICT_RACE, .step = race->race.confirmed_by};
    return MR_OK;
}

/*
 * Decides all accesses of two sites by one question; when that is unknown, asks about each half of
 * the longer list of what the question has left. `open` becomes the first unknown answer about a part that stays unknown.
 */
static mr_status decide_sites(group_state *s, mr_stops one, mr_stops two, mr_decision *open)
{
    mr_status status = MR_OK;
    if (s->no_race) {
        s->latest = (mr_decision){.verdict = MR_VERDICT_NO_RACE, .step = MR_STEP_EXPLORE};
        return MR_OK;
    }
    if (s->cheaply) {
        status = ask(s, CHEAP, one, two);
        s->deferred |= s->latest.verdict == MR_VERDICT_UNKNOWN;
        return status;
    }
    bool budget = out_of_budget(s);
    if (!budget && !s->tried_near && mr_near_is_used(s->worker)) {
        status = ask_first(s, one, two);
        if (status == MR_OK && s->tried_near && s->latest.verdict == MR_VERDICT_UNKNOWN)
            status = ask(s, s->steps, one, two);
    } else if (!budget) {
        status = ask(s, s->steps, one, two);
    }
    if (status != MR_OK || s->latest.verdict != MR_VERDICT_UNKNOWN || s->put_off)
        return status;
    if (!budget) {
        one = s->left[0];
        two = s->left[1];
    }
    if (budget || s->latest.reason == MR_UNKNOWN_REJECTED || one.count + two.count == 2) {
        if (open->verdict != MR_VERDICT_UNKNOWN)
            *open = s->latest;
        note_unknown(s, one.events[0], two.events[0]);
        return MR_OK;
    }
    mr_stops *longer = one.count >= two.count ? &one : &two;
    uint32_t half = longer->count / 2, length = longer->count;
    longer->count = half;
    status = decide_sites(s, one, two, open);
    if (status != MR_OK || s->verdict->has_race)
        return status;
    longer->events += half;
    longer->count = length - half;
    return decide_sites(s, one, two, open);
}

/* Decides all accesses of two sites without Z3, in parts where that is needed; when some part stays
 * unknown, Z3 is asked about the whole, once. Of what the other steps give up it settles little, and
 * it works on that for long. In a window that leads to more states than can be gone through it settles nothing. */
static mr_status decide_two_sites(group_state *s, mr_stops one, mr_stops two, mr_decision *open)
{
    const unsigned by_z3 = BY_Z3 & s->worker->decide.steps;
    const uint64_t unanswered = s->verdict->unanswered;
    bool noted = s->verdict->has_unknown, begun = !out_of_budget(s);
    s->steps = by_z3 ? MR_ALL_STEPS & ~(unsigned)BY_Z3 : MR_ALL_STEPS;
    mr_status status = decide_sites(s, one, two, open);
    if (status != MR_OK || s->verdict->has_race || open->verdict != MR_VERDICT_UNKNOWN ||
        open->reason == MR_UNKNOWN_REJECTED || !by_z3 || !begun ||
        mr_near_has_many_states(s->worker) || halted(s->worker))
        return status;
    status = ask(s, MR_ALL_STEPS & ~(unsigned)SEARCHES, one, two);
    *open = s->latest;
    if (status != MR_OK)
        return status;
    s->verdict->has_unknown = noted;
    if (open->verdict == MR_VERDICT_UNKNOWN)
        note_unknown(s, one.events[0], two.events[0]);
    else
        s->verdict->unanswered = unanswered; /* what had no answer has one now */
    return MR_OK;
}

static mr_status decide_all_sites(group_state *s, const mr_site_pair *pairs, uint32_t length)
{
    for (uint32_t i = 0; i < length && !s->verdict->has_race && !s->deferred && !s->put_off; i++) {
        mr_decision open = {.verdict = MR_VERDICT_NO_RACE};
        mr_status status =
            decide_two_sites(s, (mr_stops){pairs[i].one->events, pairs[i].one->count},
                             (mr_stops){pairs[i].two->events, pairs[i].two->count}, &open);
        if (status != MR_OK)
            return status;
        if (open.verdict == MR_VERDICT_UNKNOWN && !s->verdict->has_race)
            s->latest = open; /* a later half may have been answered */
        count(s, s->verdict->has_race ? 1 : pairs[i].pairs);
    }
    return MR_OK;
}

/* Two places, for is_pair. */
typedef struct location_pair {
    uint32_t location_1, location_2;
} location_pair;

/* mr_candidate_options.wanted: only these two places. */
static bool is_pair(void *context, uint32_t location_1, uint32_t location_2)
{
    const location_pair *pair = context;
    return pair->location_1 == location_1 && pair->location_2 == location_2;
}

/* Collects the candidates of two places alone: all other places are ignored. False: no memory. */
static bool find_pair(mr_worker *worker, const mr_problem *problem, location_pair *pair,
                      mr_candidates *all)
{
    mr_candidate_options options = worker->candidates;
    const bool *given = options.ignored_locations;
    uint32_t locations = worker->trace->locations.count;
    bool *ignored = mr_arena_alloc(&worker->arena, locations, sizeof *ignored);
    if (!ignored)
        return false;
    memset(ignored, true, locations * sizeof *ignored);
    ignored[pair->location_1] = given && given[pair->location_1];
    ignored[pair->location_2] = given && given[pair->location_2];
    options.ignored_locations = ignored;
    options.stop_when_full = false;
    options.wanted = is_pair;
    options.context = pair;
    return mr_candidates_find(all, problem->window, &problem->hard, &problem->forced, worker->hb,
                              worker->wcp, &options, &worker->arena);
}

/* Decides all accesses of the sites of the group. When the candidates of the group were not all
 * collected, they are collected again, without other groups. */
static mr_status decide_group(group_state *s, const mr_candidates *candidates,
                              const mr_candidate_group *group)
{
    mr_worker *worker = s->worker;
    if (!group->stopped)
        return decide_all_sites(s, &candidates->site_pairs[group->first_site_pair],
                                group->site_pair_count);
    location_pair pair = {group->location_1, group->location_2};
    mr_candidates all;
    mr_arena_mark mark = mr_arena_get_mark(&worker->arena);
    mr_worker_asks(worker, false);
    bool found = find_pair(worker, s->problem, &pair, &all);
    mr_worker_asks(worker, true);
    if (!found)
        return mr_error_memory(worker->error, "collecting candidates");
    mr_status status = decide_all_sites(s, all.site_pairs, all.site_pair_count);
    mr_arena_release(&worker->arena, mark);
    return status;
}

static mr_status decide_pairs(group_state *s, const mr_candidate *candidates,
                              const mr_candidate_group *group)
{
    for (uint32_t i = 0; i < group->count && !s->verdict->has_race; i++) {
        mr_status status = decide_pair(s, &candidates[i]);
        if (status != MR_OK)
            return status;
    }
    if (!group->left_out || s->verdict->has_race)
        return MR_OK;
    stop(s, "more pairs than are kept");
    count(s, group->left_out);
    note_unknown(s, candidates->first, candidates->second);
    return MR_OK;
}

mr_status mr_worker_try_group(mr_worker *worker, const mr_problem *problem,
                              const mr_candidates *candidates, const mr_candidate_group *group,
                              mr_pair_verdict *verdict)
{
    group_state s = {.worker = worker, .problem = problem, .verdict = verdict};
    return try_trace_order(&s, &candidates->items[group->first], group->count);
}

/* In a small window of near.h all are asked about, as what is found there must not depend on what is known by now. */
static bool is_foreseen(const mr_worker *worker, const mr_pair_verdict *verdict)
{
    return worker->known && !worker->near_in &&
           mr_known_races_is_foreseen(worker->known, verdict->key_1, verdict->key_2);
}

/* Asks a group of a trace with `defers` by what costs little, as long as the window has not spent much. Else, and when the
 * answer is unknown, its questions come later. */
static mr_status decide_cheaply(group_state *s, const mr_candidates *candidates,
                                const mr_candidate_group *group)
{
    mr_pair_verdict *verdict = s->verdict;
    mr_status status = MR_OK;
    s->cheaply = true;
    const mr_predict_settings *settings = s->worker->settings;
    if (!settings->is_wide && s->worker->window_steps < settings->plan.size)
        status = decide_group(s, candidates, group);
    else
        verdict->asked = false;
    verdict->deferred = !verdict->asked || s->deferred;
    if (!verdict->deferred)
        return status;
    verdict->unanswered = 0;
    memset(verdict->settled, 0, sizeof verdict->settled);
    memset(verdict->unknown, 0, sizeof verdict->unknown);
    return status;
}

mr_status mr_worker_decide_group(mr_worker *worker, mr_problem *problem,
                                 const mr_candidates *candidates, const mr_candidate_group *group,
                                 mr_pair_verdict *verdict)
{
    const mr_predict_settings *settings = worker->settings;
    const mr_candidate *first = &candidates->items[group->first];
    group_state s = {.worker = worker, .problem = problem, .verdict = verdict};
    verdict->pairs = group->count + group->left_out;
    verdict->first = problem->window->start + first->first;
    verdict->second = problem->window->start + first->second;
    verdict->strength = first->strength;
    mr_status status = try_trace_order(&s, first, group->count);
    verdict->promised =
        status == MR_OK && !verdict->has_race && below_says(worker, verdict) == MR_BELOW_PROMISED;
    if (status == MR_OK && !verdict->has_race &&
        (verdict->promised || is_foreseen(worker, verdict))) {
        worker->window_steps -= verdict->steps_in_order; /* the merge drops the verdict */
        return MR_OK;
    }
    if (status != MR_OK || verdict->has_race ||
        (settings->max_window_steps && worker->window_steps >= settings->max_window_steps))
        return status;
    verdict->asked = true;
    if (!mr_predict_settings_ask_sites(settings))
        return decide_pairs(&s, first, group);
    mr_worker_asks(worker, false);
    bool refined = mr_problem_refine(problem, &worker->decide, 0, &worker->arena);
    mr_worker_asks(worker, true);
    if (!refined)
        return mr_error_memory(worker->error, "deciding a candidate");
    status = try_reorder(&s, first, group->count);
    if (status != MR_OK || verdict->has_race)
        return status;
    status = settings->defers ? decide_cheaply(&s, candidates, group)
                              : decide_group(&s, candidates, group);
    worker->has_put_off = s.put_off;
    return status;
}
