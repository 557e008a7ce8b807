#include "bundles.h"

#include "base/assert.h"
#include "base/memory.h"
#include "spots.h"
#include "windows/lockset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The steps that find proofs. */
enum {
    PROOF_STEPS =
        MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(MR_STEP_ELIMINATE),
    SEARCH_STEPS = PROOF_STEPS | MR_STEP_BIT(MR_STEP_SATURATE)
};

/* Bundles of long stretches come first, as they need fewer questions. But one spot without a proof
 * leaves all of its bundle open, so what is left is asked about again in bundles of short ones. */
enum { LARGE_STRETCH = 4096 };

/* When so many bundles of a phase were asked about and none has a proof, the others are left to the search that comes later:
 * where most pairs of places race, proofs are looked for in vain. */
enum { MOST_IN_VAIN = 8 };

/* What members of a bundle have in common: threads, ends of life, and stretches of the window. */
enum { KEYS = 8 };

/* Two lists of accesses of a site pair that is not proven. `one` is of the lower thread. */
typedef struct member {
    mr_stops one, two;
    uint32_t key[KEYS];
    uint32_t site_pair; /* index in the candidates' site pairs */
    uint32_t places;    /* index in the far window's places */
    uint32_t number;    /* of the member of its site pair */
} member;

/* The plan of a phase. Only `asked` and `proofs` change while the phase runs, with the lock of the budget. */
typedef struct plan {
    mr_far_asker *asker;
    uint32_t near_part, stretch;
    uint32_t part; /* a proof spot by spot takes at most one of so many parts of what it may take */
    bool looks, search;
    member *members;    /* owned; those of a bundle side by side */
    uint32_t *left;     /* owned; one a site pair: its members that are not proven */
    uint32_t *first;    /* owned; of each bundle, and the end */
    struct turn *turns; /* owned; in which order bundles are asked about */
    uint32_t member_count, bundle_count;
    uint32_t most_in_vain;  /* bundles; 0: any number */
    uint32_t asked, proofs; /* bundles that are merged */
} plan;

/* ---- planning, by the calling thread ---- */

static void make_key(const mr_window *w, uint32_t stretch, member *m)
{
    const mr_stops lists[] = {m->one, m->two};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *events = lists[i].events;
        uint32_t *key = &m->key[i * KEYS / 2];
        key[0] = w->thread[events[0]];
        key[1] = mr_window_end_of_life(w, events[0]);
        key[2] = events[0] / stretch;
        key[3] = events[lists[i].count - 1] / stretch;
    }
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
    if (keys)
        return keys;
    if (x->site_pair != y->site_pair)
        return x->site_pair < y->site_pair ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Without room for members they are only counted. */
static void add_member(plan *p, member m)
{
    if (p->members) {
        make_key(p->asker->window->problem.window, p->stretch, &m);
        p->members[p->member_count] = m;
        p->left[m.site_pair]++;
    }
    p->member_count++;
}

/* Accesses that hold a common lock are no race, and no question about their sites needs to prove that
 * again. So there is a member for each two lists that hold no lock in common. */
static void add_site_pair(plan *p, uint32_t number, uint32_t places)
{
    const mr_far_window *window = p->asker->window;
    const mr_site_pair *pair = &window->candidates.site_pairs[number];
    bool swap = pair->one->thread > pair->two->thread;
    const mr_access_site *one = swap ? pair->two : pair->one, *two = swap ? pair->one : pair->two;
    member m = {.site_pair = number, .places = places};
    if (!mr_access_lists_are_few(one, two)) {
        m.one = (mr_stops){one->events, one->count};
        m.two = (mr_stops){two->events, two->count};
        add_member(p, m);
        return;
    }
    for (uint32_t i = 0; i < one->list_count; i++)
        for (uint32_t k = 0; k < two->list_count; k++) {
            const mr_access_list *x = &one->lists[i], *y = &two->lists[k];
            m.one = (mr_stops){x->events, x->count};
            m.two = (mr_stops){y->events, y->count};
            m.number++;
            if (!mr_locksets_meet(window->problem.window, x->lockset, y->lockset))
                add_member(p, m);
        }
}

/* Of all site pairs that are not settled. */
static void add_members(plan *p)
{
    const mr_far_window *window = p->asker->window;
    p->member_count = 0;
    for (uint32_t u = 0; u < window->unsettled_count; u++) {
        uint32_t index = window->unsettled[u];
        const mr_candidate_group *group = window->places.items[index].group;
        for (uint32_t i = 0; i < group->site_pair_count; i++)
            if (!window->proven[group->first_site_pair + i])
                add_site_pair(p, group->first_site_pair + i, index);
    }
}

/* When a bundle is asked about: after all with a lower round. */
typedef struct turn {
    uint32_t round, bundle;
} turn;

static int compare_turns(const void *one, const void *two)
{
    const turn *x = one, *y = two;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* Bundles that begin with the same access stand side by side, and what leaves one of them open
 * mostly leaves all of them open. Where the first ones without a proof end the phase, these begin
 * with different accesses. The others stay side by side: in another order jetty-large takes 13 %
 * more. */
static void order(plan *p)
{
    for (uint32_t b = 0; b < p->bundle_count; b++) {
        bool same =
            b && p->most_in_vain &&
            p->members[p->first[b]].one.events[0] == p->members[p->first[b - 1]].one.events[0];
        p->turns[b] = (turn){same ? p->turns[b - 1].round + 1 : 0, b};
    }
    if (!p->most_in_vain || p->bundle_count <= p->most_in_vain)
        return;
    qsort(p->turns, p->bundle_count, sizeof *p->turns, compare_turns);
    for (uint32_t b = p->most_in_vain; b < p->bundle_count; b++)
        p->turns[b].round = UINT32_MAX;
    qsort(&p->turns[p->most_in_vain], p->bundle_count - p->most_in_vain, sizeof *p->turns,
          compare_turns);
}

/* Lists where bundles begin. */
static void divide(plan *p)
{
    for (uint32_t i = 0; i < p->member_count; i++)
        if (!i || compare_keys(&p->members[i - 1], &p->members[i]))
            p->first[p->bundle_count++] = i;
    p->first[p->bundle_count] = p->member_count;
    order(p);
}

/* The members of the bundle of a unit. */
static const member *members_of(const plan *p, uint64_t unit, uint32_t *count)
{
    uint32_t bundle = p->turns[unit].bundle;
    *count = p->first[bundle + 1] - p->first[bundle];
    return &p->members[p->first[bundle]];
}

/* False: no memory. */
static bool make_plan(plan *p)
{
    mr_far_window *window = p->asker->window;
    uint32_t places = mr_far_window_list_unsettled(window);
    for (uint32_t u = 0; u < places; u++)
        window->places.items[window->unsettled[u]].open = false;
    add_members(p);
    size_t most = p->member_count;
    p->left = mr_calloc((size_t)window->candidates.site_pair_count + 1, sizeof *p->left);
    p->first = mr_calloc(most + 1, sizeof *p->first);
    p->turns = mr_calloc(most + 1, sizeof *p->turns);
    p->members = mr_calloc(most + 1, sizeof *p->members);
    if (!p->members || !p->first || !p->left || !p->turns)
        return false;
    add_members(p);
    if (p->member_count)
        qsort(p->members, p->member_count, sizeof *p->members, compare_members);
    divide(p);
    return true;
}

static void free_plan(plan *p)
{
    free(p->members);
    free(p->first);
    free(p->left);
    free(p->turns);
}

/* ---- asking, by a worker ---- */

/* What became of a question about a bundle. */
typedef struct finding {
    bool proven;
    mr_step step;    /* that proved it */
    uint64_t effort; /* as ask.h counts it */
} finding;

static mr_stops list_of(const member *m, bool second)
{
    return second ? m->two : m->one;
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
    uint32_t total = 0, filled = 0;
    for (uint32_t i = 0; i < count; i++)
        total += list_of(&members[i], second).count;
    uint32_t *events = mr_arena_alloc(arena, total, sizeof *events);
    if (!events)
        return (mr_stops){0};
    for (uint32_t i = 0; i < count; i++) {
        mr_stops list = list_of(&members[i], second);
        memcpy(events + filled, list.events, list.count * sizeof *events);
        filled += list.count;
    }
    MR_ASSERT(filled == total);
    qsort(events, total, sizeof *events, mr_compare_u32);
    return (mr_stops){events, leave_out_equal(events, total)};
}

static void tell(const plan *p, const member *members, uint32_t count, const finding *found)
{
    uint32_t start = p->asker->window->problem.window->start;
    MR_DEBUG(p->asker->window->settings->debug, FAR,
             "bundle=%" PRIu32 " first=%" PRIu32 " second=%" PRIu32
             " verdict=%s%s%s effort=%" PRIu64,
             count, start + members->one.events[0], start + members->two.events[0],
             found->proven ? "no-race" : "open", found->proven ? " step=" : "",
             found->proven ? mr_step_name(found->step) : "", found->effort);
}

/* One look near the accesses. A race of the two lists may be one of two accesses that do not conflict,
 * so it says nothing. */
static mr_status look(const plan *p, mr_worker *worker, mr_stops one, mr_stops two, finding *found)
{
    mr_decide_options options = worker->decide;
    mr_decision decision;
    options.steps &= PROOF_STEPS;
    options.only_near_part = p->near_part;
    mr_status status = mr_decide_any(&p->asker->window->problem, worker->session, &options, one,
                                     two, &worker->arena, &decision, worker->error);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision.seconds[step];
    *found = (finding){decision.verdict == MR_VERDICT_NO_RACE, decision.step, decision.cone_events};
    return status;
}

static mr_status prove(const plan *p, mr_worker *worker, mr_stops one, mr_stops two, finding *found)
{
    mr_far_spots spots = {.worker = worker,
                          .problem = &p->asker->window->problem,
                          .options = worker->decide,
                          .stretch = MR_FAR_STRETCH,
                          .most = p->asker->window->settings->far_limits.per_race,
                          .looked = p->asker->looked};
    bool proven;
    spots.most = (spots.most + p->part - 1) / p->part; /* 0: no limit */
    spots.options.saturate_steps /= p->part;
    if (!(worker->decide.steps & MR_STEP_BIT(MR_STEP_SATURATE)))
        spots.options.saturate_steps = 0; /* for regions, too */
    spots.options.steps &= p->search ? SEARCH_STEPS : PROOF_STEPS;
    mr_status status = mr_far_spots_prove(&spots, one, two, &proven);
    *found = (finding){proven, spots.step, spots.effort};
    return status;
}

static mr_status ask(const plan *p, mr_far_worker *far, const member *members, uint32_t count,
                     finding *found)
{
    mr_worker *worker = &far->worker;
    mr_status status = MR_OK;
    *found = (finding){.proven = false};
    mr_stops one = unite(members, count, false, &worker->arena);
    mr_stops two = unite(members, count, true, &worker->arena);
    if (one.events && two.events)
        status = p->looks ? look(p, worker, one, two, found) : prove(p, worker, one, two, found);
    else if (!worker->arena.refused)
        return mr_error_memory(worker->error, "deciding far races");
    worker->arena.refused = false;
    if (status == MR_OK)
        tell(p, members, count, found);
    return status;
}

/* One answer for each member, with its share of the effort. */
static mr_status answer(const plan *p, mr_far_worker *far, const member *members, uint32_t count,
                        const finding *found, mr_outcome *outcome)
{
    const mr_far_window *window = p->asker->window;
    uint32_t start = window->problem.window->start;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = start + members[i].one.events[0], y = start + members[i].two.events[0];
        mr_close_pair pair = {x < y ? x : y, x < y ? y : x};
        mr_pair_verdict *verdict =
            mr_far_answer_new(p->asker, &window->places.items[members[i].places], pair, outcome);
        if (!verdict)
            return mr_error_memory(far->worker.error, "deciding far races");
        verdict->asked = true;
        verdict->steps = (found->effort + count - 1) / count;
        verdict->settled[found->step] = found->proven;
    }
    return MR_OK;
}

/* Is there a member whose pair of places may still be proven in this phase? When there is none, that is
 * so in the merge as well. Needs the lock of the budget. */
static bool is_due(const plan *p, const member *members, uint32_t count)
{
    const mr_far_asker *asker = p->asker;
    if (p->most_in_vain && !p->proofs && p->asked >= p->most_in_vain)
        return false;
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
    uint32_t count;
    const member *members = members_of(p, unit, &count);
    mr_far_worker *far = NULL;
    finding found;
    mr_status status = mr_far_unit_begin(p->asker, number, unit, &far, outcome, error);
    if (status != MR_OK)
        return status;
    mr_far_clear_arena(far);
    if (!far->worker.halted && is_due_now(p, members, count)) {
        status = ask(p, far, members, count, &found);
        if (status == MR_OK && !mr_far_unit_is_halted(p->asker, far))
            status = answer(p, far, members, count, &found, *outcome);
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
    asker->window->proven[m->site_pair] = --p->left[m->site_pair] == 0;
    return is_proven(asker->window, places)
               ? mr_far_budget_conclude(asker->budget, places, NULL, error)
               : MR_OK;
}

/* mr_phase.merge */
static mr_status merge(void *context, mr_outcome *outcome, mr_error *error)
{
    plan *p = context;
    uint32_t count;
    const member *members = members_of(p, outcome->unit, &count);
    mr_status status = MR_OK;
    MR_ASSERT(outcome->count <= count);
    pthread_mutex_lock(&p->asker->budget->lock);
    bool due = is_due(p, members, count);
    if (due && outcome->count) {
        p->asked++;
        p->proofs += is_proof(&outcome->verdicts[0]);
    }
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

mr_status mr_far_look_at_bundles(mr_far_asker *asker, uint32_t near_part, mr_error *error)
{
    plan p = {.asker = asker, .looks = true, .near_part = near_part, .stretch = MR_FAR_STRETCH};
    asker->looked = true;
    return run(&p, error);
}

mr_status mr_far_prove_bundles(mr_far_asker *asker, uint32_t part, mr_error *error)
{
    uint32_t most = part == 1 ? MOST_IN_VAIN : 0;
    plan large = {.asker = asker, .part = part, .stretch = LARGE_STRETCH, .most_in_vain = most};
    plan small = {.asker = asker, .part = part, .stretch = MR_FAR_STRETCH, .most_in_vain = most};
    mr_status status = run(&large, error);
    return status == MR_OK && !mr_far_is_halted(asker) ? run(&small, error) : status;
}

mr_status mr_far_search_bundles(mr_far_asker *asker, mr_error *error)
{
    plan p = {.asker = asker, .part = 1, .stretch = MR_FAR_STRETCH, .search = true};
    return run(&p, error);
}
