#include "bundles.h"

#include "base/assert.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* The steps that find proofs. */
enum {
    PROOF_STEPS =
        MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_ELIMINATE),
    SEARCH_STEPS = PROOF_STEPS | MR_STEP_BIT(MR_STEP_SATURATE)
};

/* What members of a bundle have in common: threads, ends of life, and stretches of the window. */
enum { KEYS = 8 };

/* A site pair that is not proven. `one` is of the lower thread. */
typedef struct member {
    const mr_access_site *one, *two;
    uint32_t key[KEYS];
    uint32_t site_pair; /* index in the candidates' site pairs */
    uint32_t places;    /* index in the far window's places */
} member;

/* The plan of a phase. It does not change while the phase runs. */
typedef struct plan {
    mr_far_asker *asker;
    uint32_t near_part;
    bool search;
    member *members; /* owned; those of a bundle side by side */
    uint32_t *first; /* owned; of each bundle, and the end */
    uint32_t member_count, bundle_count;
} plan;

/* ---- planning, by the calling thread ---- */

static member make_member(const mr_window *w, const mr_site_pair *pair)
{
    bool swap = pair->one->thread > pair->two->thread;
    member m = {.one = swap ? pair->two : pair->one, .two = swap ? pair->one : pair->two};
    const mr_access_site *sites[] = {m.one, m.two};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *events = sites[i]->events;
        uint32_t *key = &m.key[i * KEYS / 2];
        key[0] = sites[i]->thread;
        key[1] = mr_window_end_of_life(w, events[0]);
        key[2] = events[0] / MR_FAR_STRETCH;
        key[3] = events[sites[i]->count - 1] / MR_FAR_STRETCH;
    }
    return m;
}

static int compare_keys(const member *x, const member *y)
{
    for (uint32_t i = 0; i < KEYS; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static int compare_members(const void *one, const void *two)
{
    const member *x = one, *y = two;
    int keys = compare_keys(x, y);
    return keys ? keys : (x->site_pair > y->site_pair) - (x->site_pair < y->site_pair);
}

static void add_members(plan *p, uint32_t index)
{
    const mr_far_window *window = p->asker->window;
    const mr_candidate_group *group = window->places.items[index].group;
    for (uint32_t i = 0; i < group->site_pair_count; i++) {
        uint32_t number = group->first_site_pair + i;
        if (window->proven[number])
            continue;
        member m = make_member(window->problem.window, &window->candidates.site_pairs[number]);
        m.site_pair = number;
        m.places = index;
        p->members[p->member_count++] = m;
    }
}

/* Lists where bundles begin. A search leaves out those of one member. */
static void divide(plan *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, next; i < p->member_count; i = next) {
        for (next = i + 1; next < p->member_count; next++)
            if (compare_keys(&p->members[i], &p->members[next]))
                break;
        if (p->search && next - i == 1)
            continue;
        p->first[p->bundle_count++] = kept;
        for (uint32_t k = i; k < next; k++)
            p->members[kept++] = p->members[k];
    }
    p->first[p->bundle_count] = p->member_count = kept;
}

/* False: no memory. */
static bool make_plan(plan *p)
{
    mr_far_window *window = p->asker->window;
    uint32_t places = mr_far_window_list_unsettled(window);
    size_t most = 0;
    for (uint32_t u = 0; u < places; u++)
        most += window->places.items[window->unsettled[u]].group->site_pair_count;
    p->members = mr_calloc(most + 1, sizeof *p->members);
    p->first = mr_calloc(most + 1, sizeof *p->first);
    if (!p->members || !p->first)
        return false;
    for (uint32_t u = 0; u < places; u++) {
        window->places.items[window->unsettled[u]].open = false;
        add_members(p, window->unsettled[u]);
    }
    if (p->member_count)
        qsort(p->members, p->member_count, sizeof *p->members, compare_members);
    divide(p);
    return true;
}

static void free_plan(plan *p)
{
    free(p->members);
    free(p->first);
}

/* ---- asking, by a worker ---- */

static int compare_sites(const void *one, const void *two)
{
    const mr_access_site *const *x = one, *const *y = two;
    return (*x > *y) - (*x < *y);
}

/* Leaves one of equal numbers that stand side by side. Returns how many are left. */
static uint32_t leave_out_equal(uint32_t *numbers, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

/* The accesses of one thread of a bundle, in program order, each once: a `free` is an access of a site for
 * each variable of its object. In memory of `arena`. No events: there is no memory. */
static mr_stops unite(const member *members, uint32_t count, bool second, mr_arena *arena)
{
    mr_stops none = {0};
    uint32_t total = 0, filled = 0;
    const mr_access_site **sites = mr_arena_alloc(arena, count, sizeof *sites);
    if (!sites)
        return none;
    for (uint32_t i = 0; i < count; i++)
        sites[i] = second ? members[i].two : members[i].one;
    qsort(sites, count, sizeof *sites, compare_sites); /* equal ones side by side */
    for (uint32_t i = 0; i < count; i++)
        total += !i || sites[i] != sites[i - 1] ? sites[i]->count : 0;
    uint32_t *events = mr_arena_alloc(arena, total, sizeof *events);
    if (!events)
        return none;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < sites[i]->count && (!i || sites[i] != sites[i - 1]); k++)
            events[filled++] = sites[i]->events[k];
    MR_ASSERT(filled == total);
    qsort(events, total, sizeof *events, mr_compare_u32);
    return (mr_stops){events, leave_out_equal(events, total)};
}

static void tell(const plan *p, const member *members, uint32_t count, const mr_decision *decision)
{
    uint32_t start = p->asker->window->problem.window->start;
    bool proven = decision->verdict == MR_VERDICT_NO_RACE;
    MR_DEBUG(p->asker->window->settings->debug, FAR,
             "bundle=%" PRIu32 " first=%" PRIu32 " second=%" PRIu32
             " verdict=%s%s%s effort=%" PRIu64,
             count, start + members->one->events[0], start + members->two->events[0],
             proven ? "no-race" : "open", proven ? " step=" : "",
             proven ? mr_step_name(decision->step) : "", decision->effort);
}

/* A race of the two lists may be one of two accesses that do not conflict, so it says nothing. */
static mr_status ask(const plan *p, mr_far_worker *far, const member *members, uint32_t count,
                     mr_decision *decision)
{
    mr_worker *worker = &far->worker;
    mr_decide_options options = worker->decide;
    mr_status status = MR_OK;
    options.steps &= p->search ? SEARCH_STEPS : PROOF_STEPS;
    options.only_near_part = p->near_part;
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN, .reason = MR_UNKNOWN_MEMORY};
    mr_stops one = unite(members, count, false, &worker->arena);
    mr_stops two = unite(members, count, true, &worker->arena);
    if (one.events && two.events)
        status = mr_decide_any(&p->asker->window->problem, worker->session, &options, one, two,
                               &worker->arena, decision, worker->error);
    else if (!worker->arena.refused)
        return mr_error_memory(worker->error, "deciding far races");
    worker->arena.refused = false;
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision->seconds[step];
    if (status == MR_OK)
        tell(p, members, count, decision);
    return status;
}

/* One answer for each member, with its share of the effort. */
static mr_status answer(const plan *p, mr_far_worker *far, const member *members, uint32_t count,
                        const mr_decision *decision, mr_outcome *outcome)
{
    const mr_far_window *window = p->asker->window;
    uint32_t start = window->problem.window->start;
    bool proven = decision->verdict == MR_VERDICT_NO_RACE;
    uint64_t effort = p->search ? mr_far_effort(&far->worker, decision) : decision->cone_events;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = start + members[i].one->events[0], y = start + members[i].two->events[0];
        mr_close_pair pair = {x < y ? x : y, x < y ? y : x};
        mr_pair_verdict *verdict =
            mr_far_answer_new(p->asker, &window->places.items[members[i].places], pair, outcome);
        if (!verdict)
            return mr_error_memory(far->worker.error, "deciding far races");
        verdict->asked = true;
        verdict->steps = (effort + count - 1) / count;
        verdict->settled[decision->step] = proven;
    }
    return MR_OK;
}

/* Is there a member whose pair of places may still be proven in this phase? When there is none, that is
 * so in the merge as well. Needs the lock of the budget. */
static bool is_due(const plan *p, const member *members, uint32_t count)
{
    const mr_far_asker *asker = p->asker;
    for (uint32_t i = 0; i < count; i++) {
        const mr_place_pair *places = &asker->window->places.items[members[i].places];
        if (!places->open && mr_far_budget_may_ask(asker->budget, places, 0, 0))
            return true;
    }
    return false;
}

static bool is_due_now(const plan *p, const member *members, uint32_t count)
{
    pthread_mutex_lock(&p->asker->budget->lock);
    bool due = is_due(p, members, count);
    pthread_mutex_unlock(&p->asker->budget->lock);
    return due;
}

/* mr_phase.decide */
static mr_status decide(void *context, unsigned number, uint64_t unit, mr_outcome **outcome,
                        mr_error *error)
{
    const plan *p = context;
    const member *members = &p->members[p->first[unit]];
    uint32_t count = p->first[unit + 1] - p->first[unit];
    mr_far_worker *far = NULL;
    mr_decision decision;
    mr_status status = mr_far_unit_begin(p->asker, number, unit, &far, outcome, error);
    if (status != MR_OK)
        return status;
    mr_far_clear_arena(far);
    if (!far->worker.halted && is_due_now(p, members, count)) {
        status = ask(p, far, members, count, &decision);
        if (status == MR_OK && !mr_far_unit_is_halted(p->asker, far))
            status = answer(p, far, members, count, &decision, *outcome);
    }
    return mr_far_unit_end(far, outcome, status);
}

/* ---- merging ---- */

static bool is_proof(const mr_pair_verdict *verdict)
{
    uint64_t settled = 0;
    for (int step = 0; step < MR_STEP_COUNT; step++)
        settled += verdict->settled[step];
    return settled;
}

/* Are all site pairs of the pair of places proven? */
static bool is_proven(const mr_far_window *window, const mr_place_pair *places)
{
    for (uint32_t i = 0; i < places->group->site_pair_count; i++)
        if (!window->proven[places->group->first_site_pair + i])
            return false;
    return true;
}

static mr_status merge_member(const plan *p, const member *m, mr_pair_verdict *verdict,
                              mr_error *error)
{
    mr_far_asker *asker = p->asker;
    mr_place_pair *places = &asker->window->places.items[m->places];
    if (!mr_far_budget_may_ask(asker->budget, places, 0, 0))
        return MR_OK;
    bool proof = is_proof(verdict);
    mr_status status = mr_far_budget_count(asker->budget, places, verdict, error);
    places->open |= !proof;
    if (status != MR_OK || !proof)
        return status;
    asker->window->proven[m->site_pair] = true;
    return is_proven(asker->window, places)
               ? mr_far_budget_conclude(asker->budget, places, NULL, error)
               : MR_OK;
}

/* mr_phase.merge */
static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    const plan *p = context;
    const member *members = &p->members[p->first[outcome->unit]];
    uint32_t count = p->first[outcome->unit + 1] - p->first[outcome->unit];
    mr_status status = MR_OK;
    MR_ASSERT(outcome->count <= count);
    pthread_mutex_lock(&p->asker->budget->lock);
    bool due = is_due(p, members, count);
    for (size_t i = 0; due && status == MR_OK && i < outcome->count; i++)
        status = merge_member(p, &members[i], &outcome->verdicts[i], error);
    pthread_mutex_unlock(&p->asker->budget->lock);
    return status;
}

static mr_status run(plan *p, mr_error *error)
{
    MR_REQUIRE(p->asker->window->model == p->asker->context->settings->model);
    if (!make_plan(p)) {
        free_plan(p);
        return mr_error_memory(error, "deciding far races");
    }
    const mr_phase phase = {.context = p,
                            .stage = "far races",
                            .count = p->bundle_count,
                            .decide = decide,
                            .merge = merge};
    mr_status status =
        phase.count ? mr_dispatch_run(p->asker->context->dispatch, &phase, error) : MR_OK;
    free_plan(p);
    return status;
}

mr_status mr_far_prove_bundles(mr_far_asker *asker, uint32_t near_part, mr_error *error)
{
    plan p = {.asker = asker, .near_part = near_part};
    return run(&p, error);
}

mr_status mr_far_search_bundles(mr_far_asker *asker, mr_error *error)
{
    plan p = {.asker = asker, .search = true};
    return run(&p, error);
}
