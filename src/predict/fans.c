#include "fans.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "solver/partial.h"
#include "windows/lockset.h"

#include <stdlib.h>
#include <string.h>

/* Two lists of accesses of two sites, as seen from one of them. */
typedef struct spoke {
    mr_stops hub, list;
    uint32_t thread; /* of `list` */
    uint32_t end;    /* of life of its accesses */
    uint32_t group;  /* of the candidates */
    uint32_t pair;   /* of sites: its number */
    uint32_t number; /* of the two lists */
    uint32_t degree; /* how many spokes have this hub, and these accesses' thread and end */
} spoke;

/* The accesses of some spokes, with the spoke of each. */
typedef struct rim {
    uint32_t *events;
    uint32_t *spokes;
    uint32_t count;
} rim;

typedef struct fans {
    mr_worker *worker;
    const mr_problem *problem;
    const mr_candidates *candidates;
    bool *settled;
    uint8_t *proven; /* NULL: nobody asks */
    mr_outcome *outcome;
    uint64_t unanswered; /* effort of questions without an answer */
    mr_partial partial;
    spoke *spokes;
    uint32_t *open; /* one a site pair: spokes without a proof */
    uint32_t count;
    rim all; /* of the hub */
} fans;

/* ---- making fans ---- */

/* Lists with the same first access and length are the same: an access is of one site only, but for a
 * free, which is alone in its list. */
static int compare_lists(mr_stops x, mr_stops y)
{
    if (x.events[0] != y.events[0])
        return x.events[0] < y.events[0] ? -1 : 1;
    return (x.count > y.count) - (x.count < y.count);
}

static int compare_fans(const spoke *x, const spoke *y)
{
    int hub = compare_lists(x->hub, y->hub);
    if (hub)
        return hub;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int compare_spokes(const void *one, const void *two)
{
    const spoke *x = one, *y = two;
    int fan = compare_fans(x, y);
    if (fan)
        return fan;
    uint32_t a = x->list.events[0], b = y->list.events[0];
    return a != b ? (a > b) - (a < b) : (x->number > y->number) - (x->number < y->number);
}

static int compare_numbers(const void *one, const void *two)
{
    const spoke *x = one, *y = two;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return compare_lists(x->hub, y->hub);
}

/* One list as seen from the other, and back. Without memory for spokes nothing happens. */
static void add_spokes(fans *f, spoke s, mr_stops one, mr_stops two)
{
    const mr_window *w = f->problem->window;
    for (int side = 0; side < 2 && f->spokes; side++) {
        s.hub = side ? two : one;
        s.list = side ? one : two;
        s.thread = w->thread[s.list.events[0]];
        s.end = mr_window_end_of_life(w, s.list.events[0]);
        f->spokes[f->count++] = s;
    }
}

/* Each two lists of the sites that have no lock in common; where the sites have many lists, all of their
 * accesses. `first`: the number of the first two lists. Returns how many there are; without memory for
 * spokes they are only counted. */
static uint32_t add_lists(fans *f, uint32_t group, uint32_t number, uint32_t first)
{
    const mr_site_pair *pair = &f->candidates->site_pairs[number];
    const mr_access_site *one = pair->one, *two = pair->two;
    spoke s = {.group = group, .pair = number, .number = first};
    if (!mr_access_lists_are_few(one, two)) {
        add_spokes(f, s, (mr_stops){one->events, one->count}, (mr_stops){two->events, two->count});
        return 1;
    }
    for (uint32_t i = 0; i < one->list_count; i++)
        for (uint32_t k = 0; k < two->list_count; k++) {
            const mr_access_list *x = &one->lists[i], *y = &two->lists[k];
            if (mr_locksets_meet(f->problem->window, x->lockset, y->lockset))
                continue;
            add_spokes(f, s, (mr_stops){x->events, x->count}, (mr_stops){y->events, y->count});
            s.number++;
        }
    return s.number - first;
}

/* Of all site pairs that are not settled. */
static uint32_t add_all_lists(fans *f)
{
    const mr_candidates *candidates = f->candidates;
    uint32_t count = 0;
    for (uint32_t g = 0; g < candidates->group_count; g++) {
        const mr_candidate_group *group = &candidates->groups[g];
        for (uint32_t i = 0; i < group->site_pair_count && !f->settled[g]; i++) {
            uint32_t number = group->first_site_pair + i;
            f->open[number] = add_lists(f, g, number, count);
            count += f->open[number];
        }
    }
    return count;
}

/* False: no memory. */
static bool list_spokes(fans *f)
{
    mr_arena *arena = &f->worker->arena;
    f->open = mr_arena_zalloc(arena, f->candidates->site_pair_count, sizeof *f->open);
    if (!f->open)
        return false;
    size_t most = 2 * (size_t)add_all_lists(f);
    spoke *spokes = mr_arena_alloc(arena, most + 1, sizeof *spokes);
    if (!spokes || most > UINT32_MAX)
        return false;
    f->spokes = spokes;
    add_all_lists(f);
    return true;
}

static uint32_t end_of_fan(const fans *f, uint32_t first)
{
    uint32_t next = first + 1;
    while (next < f->count && !compare_fans(&f->spokes[first], &f->spokes[next]))
        next++;
    return next;
}

/* Keeps of each two lists the side with more spokes. */
static void choose_hubs(fans *f)
{
    uint32_t kept = 0;
    qsort(f->spokes, f->count, sizeof *f->spokes, compare_spokes);
    for (uint32_t i = 0, next; i < f->count; i = next) {
        next = end_of_fan(f, i);
        for (uint32_t k = i; k < next; k++)
            f->spokes[k].degree = next - i;
    }
    qsort(f->spokes, f->count, sizeof *f->spokes, compare_numbers);
    for (uint32_t i = 0; i + 1 < f->count; i += 2) {
        MR_ASSERT(f->spokes[i].number == f->spokes[i + 1].number);
        f->spokes[kept++] = f->spokes[i + (f->spokes[i + 1].degree > f->spokes[i].degree)];
    }
    f->count = kept;
    qsort(f->spokes, f->count, sizeof *f->spokes, compare_spokes);
}

/* ---- asking ---- */

/* The accesses of those of the spokes that have no race, in program order. False: no memory. */
static bool unite(const fans *f, uint32_t first, uint32_t end, rim *r)
{
    mr_arena *arena = &f->worker->arena;
    uint32_t total = 0, filled = 0;
    typedef uint32_t entry[2];
    for (uint32_t i = first; i < end; i++)
        total += f->settled[f->spokes[i].group] ? 0 : f->spokes[i].list.count;
    entry *entries = mr_arena_alloc(arena, total, sizeof *entries);
    r->events = mr_arena_alloc(arena, total, sizeof *r->events);
    r->spokes = mr_arena_alloc(arena, total, sizeof *r->spokes);
    r->count = total;
    if (!entries || !r->events || !r->spokes)
        return false;
    for (uint32_t i = first; i < end; i++) {
        const spoke *s = &f->spokes[i];
        for (uint32_t k = 0; k < s->list.count && !f->settled[s->group]; k++) {
            entries[filled][0] = s->list.events[k];
            entries[filled++][1] = i;
        }
    }
    if (total)
        qsort(entries, total, sizeof *entries, mr_compare_u32); /* by the event */
    for (uint32_t i = 0; i < total; i++) {
        r->events[i] = entries[i][0];
        r->spokes[i] = entries[i][1];
    }
    return true;
}

/* The spoke of an access; NULL: it has none, or it has a race. */
static const spoke *spoke_of(const fans *f, uint32_t event)
{
    const rim *r = &f->all;
    const uint32_t *at =
        r->count ? bsearch(&event, r->events, r->count, sizeof *r->events, mr_compare_u32) : NULL;
    const spoke *s = at ? &f->spokes[r->spokes[at - r->events]] : NULL;
    return s && !f->settled[s->group] ? s : NULL;
}

static mr_status decide(fans *f, mr_stops hub, const rim *r, mr_decision *decision)
{
    mr_worker *worker = f->worker;
    mr_status status =
        mr_decide_any(f->problem, worker->session, &worker->decide, hub,
                      (mr_stops){r->events, r->count}, &worker->arena, decision, worker->error);
    for (int step = 0; step < MR_STEP_COUNT; step++)
        worker->run.step_seconds[step] += decision->seconds[step];
    worker->run.queries_stopped_by_time += decision->stopped_by_time;
    worker->run.queries_stopped_by_memory += decision->stopped_by_memory;
    return status;
}

/* ---- keeping races ---- */

/* Keeps the race of a spoke, once the checker has accepted it. */
static mr_status keep(fans *f, const spoke *s, const mr_decision *decision)
{
    mr_worker *worker = f->worker;
    const mr_window *w = f->problem->window;
    const mr_candidate_group *group = &f->candidates->groups[s->group];
    mr_decision race = *decision;
    mr_pair_verdict *verdict = mr_outcome_add(f->outcome);
    if (!verdict)
        return mr_error_memory(worker->error, "recording a candidate");
    verdict->key_1 = group->location_1;
    verdict->key_2 = group->location_2;
    mr_strength strength =
        mr_pair_strength(worker->hb, worker->wcp, w->start + race.first, w->start + race.second);
    mr_status status = mr_worker_confirm(worker, w, strength, &race, verdict);
    f->settled[s->group] |= verdict->has_race;
    if (verdict->has_race)
        verdict->settled[race.step]++;
    else
        mr_worker_drop(worker, f->outcome);
    return status;
}

static void set_stops(mr_decision *decision, uint32_t one, uint32_t two)
{
    decision->first = one < two ? one : two;
    decision->second = one < two ? two : one;
}

/* Events after the last race after which a witness is not tried any further. */
enum { EVENTS_WITHOUT = 1024 };

/* Runs a sequence. False: the rules do not allow it. */
static bool play(fans *f, const mr_decision *decision)
{
    bool diverges;
    mr_partial_reset(&f->partial);
    for (uint32_t i = 0; i < decision->event_count; i++) {
        if (!mr_partial_allows(&f->partial, decision->events[i], &diverges))
            return false;
        mr_partial_run(&f->partial, decision->events[i], diverges);
    }
    return true;
}

/* The first event of the window from `*at` on that is the next of its thread, which is another one than that of
 * the hub. False: there is none. */
static bool step(fans *f, uint32_t thread, uint32_t *at, uint32_t *event)
{
    const mr_window *w = f->problem->window;
    for (; *at < w->size; ++*at) {
        uint32_t t = w->thread[*at];
        if (t != thread && w->position[*at] == f->partial.next[t]) {
            *event = *at;
            return true;
        }
    }
    return false;
}

/* Accesses of other threads that can be reached while the hub is next. The threads go on in trace order; one
 * whose next event is not allowed then waits to the end. */
static mr_status go_on(fans *f, const mr_decision *decision, uint32_t hub)
{
    const mr_window *w = f->problem->window;
    uint32_t at = 0, event;
    mr_decision longer = *decision;
    mr_status status = MR_OK;
    bool diverges;
    longer.events = mr_arena_alloc(&f->worker->arena, w->size, sizeof *longer.events);
    if (!longer.events)
        return mr_worker_out_of_memory(f->worker);
    if (!play(f, decision))
        return MR_OK;
    if (decision->event_count)
        memcpy(longer.events, decision->events, decision->event_count * sizeof *longer.events);
    for (uint32_t idle = 0; idle < EVENTS_WITHOUT && step(f, w->thread[hub], &at, &event); at++) {
        const spoke *s = spoke_of(f, event);
        idle++;
        if (s && mr_partial_may_stop(&f->partial, event)) {
            set_stops(&longer, hub, event);
            status = keep(f, s, &longer);
            if (status != MR_OK)
                break;
            idle = f->settled[s->group] ? 0 : idle;
        }
        if (mr_window_op(w, event) == MR_OP_FREE ||
            !mr_partial_allows(&f->partial, event, &diverges))
            continue;
        mr_partial_run(&f->partial, event, diverges);
        longer.events[longer.event_count++] = event;
    }
    return status;
}

/* Takes a race of the hub, and what else its witness shows. */
static mr_status take(fans *f, uint32_t hub_thread, const mr_decision *decision)
{
    const mr_window *w = f->problem->window;
    bool first = w->thread[decision->first] == hub_thread;
    uint32_t hub = first ? decision->first : decision->second;
    const spoke *s = spoke_of(f, first ? decision->second : decision->first);
    MR_REQUIRE(s != NULL);
    mr_status status = keep(f, s, decision);
    if (status != MR_OK || !f->settled[s->group] || w->model == MR_MODEL_BRANCH)
        return status;
    return go_on(f, decision, hub);
}

/* ---- a fan ---- */

static bool halted(fans *f)
{
    f->worker->halted |= mr_halt_asked(f->worker->settings->halt) != MR_HALT_NONE;
    return f->worker->halted;
}

/* One question. `*again`: there was a race that is kept. */
static mr_status ask(fans *f, uint32_t first, uint32_t end, mr_decision *decision, bool *again)
{
    mr_arena *arena = &f->worker->arena;
    rim r;
    size_t before = f->outcome->count;
    mr_status status = MR_OK;
    mr_arena_mark mark = mr_arena_get_mark(arena);
    *decision = (mr_decision){.verdict = MR_VERDICT_UNKNOWN};
    if (!unite(f, first, end, &r)) {
        status = mr_worker_out_of_memory(f->worker);
    } else if (r.count) {
        status = decide(f, f->spokes[first].hub, &r, decision);
        if (status == MR_OK && decision->verdict == MR_VERDICT_RACE)
            status = take(f, f->problem->window->thread[f->spokes[first].hub.events[0]], decision);
    }
    *again = f->outcome->count > before;
    mr_arena_release(arena, mark);
    return status;
}

static void note_proof(fans *f, uint32_t first, uint32_t end, mr_step step)
{
    for (uint32_t i = first; f->proven && i < end; i++) {
        const spoke *s = &f->spokes[i];
        if (!f->settled[s->group] && --f->open[s->pair] == 0)
            f->proven[s->pair] = (uint8_t)(step + 1);
    }
}

/* How often spokes are asked about in halves. */
enum { DEPTH = 4 };

/* Questions without an answer may spend so many quarters of candidates.max_window_steps. After walks with leads they seldom have one,
 * and such walks find more in the same time. */
enum { UNANSWERED_QUARTERS = 16, UNANSWERED_AFTER_WALKS = 1 };

static bool is_spent(const fans *f)
{
    const mr_predict_settings *settings = f->worker->settings;
    uint64_t quarters = settings->is_walked ? UNANSWERED_AFTER_WALKS : UNANSWERED_QUARTERS;
    uint64_t most = (settings->max_window_steps * quarters + 3) / 4;
    return most && f->unanswered >= most;
}

/* Asks until the answer is no race, or there is none. */
static mr_status solve(fans *f, uint32_t first, uint32_t end, uint32_t depth)
{
    bool again = true;
    mr_decision decision;
    mr_status status = MR_OK;
    while (status == MR_OK && again && !is_spent(f) && !halted(f))
        status = ask(f, first, end, &decision, &again);
    if (status != MR_OK || again)
        return status;
    if (decision.verdict == MR_VERDICT_UNKNOWN)
        f->unanswered += decision.effort;
    if (decision.verdict == MR_VERDICT_NO_RACE)
        note_proof(f, first, end, decision.step);
    if (decision.verdict != MR_VERDICT_UNKNOWN || !f->proven || depth == DEPTH || end - first == 1)
        return MR_OK;
    uint32_t middle = first + (end - first) / 2;
    status = solve(f, first, middle, depth + 1);
    return status == MR_OK ? solve(f, middle, end, depth + 1) : status;
}

static mr_status solve_hub(fans *f, uint32_t first, uint32_t end)
{
    mr_arena_mark mark = mr_arena_get_mark(&f->worker->arena);
    bool united = unite(f, first, end, &f->all);
    mr_status status = united ? MR_OK : mr_worker_out_of_memory(f->worker);
    for (uint32_t i = first, next; united && i < end && status == MR_OK; i = next) {
        next = end_of_fan(f, i);
        status = solve(f, i, next, 0);
    }
    mr_arena_release(&f->worker->arena, mark);
    return status;
}

mr_status mr_fans_search(mr_worker *worker, const mr_problem *problem,
                         const mr_candidates *candidates, bool *settled, uint8_t *proven,
                         mr_outcome *outcome)
{
    fans f = {.worker = worker,
              .problem = problem,
              .candidates = candidates,
              .settled = settled,
              .proven = proven,
              .outcome = outcome};
    mr_status status = MR_OK;
    if (!list_spokes(&f) || !mr_partial_init(&f.partial, problem->window, &worker->arena))
        return mr_worker_out_of_memory(f.worker);
    choose_hubs(&f);
    for (uint32_t i = 0, next; i < f.count && status == MR_OK; i = next) {
        for (next = i + 1; next < f.count && !compare_lists(f.spokes[next].hub, f.spokes[i].hub);)
            next++;
        status = solve_hub(&f, i, next);
    }
    return status;
}
