/* Candidates: nothing that races is dropped, with and without representatives; labels, order and
 * limits are as asked for. Against exhaustive search and direct definitions on random traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/order_reference.h"
#include "support/setup.h"
#include "windows/candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One window of one trace, and its candidates. */
typedef struct examination {
    const char *text;
    mr_setup setup;
    mr_order *hb, *wcp;
    mr_order_reference orders;
    mr_exhaustive races;
    mr_candidates found;
    mr_precedence late; /* FORCED, once it was asked for */
    size_t finds[2];    /* where it was not, where it was */
} examination;

static const mr_candidate_options every_pair = {.weakest = MR_STRENGTH_BEYOND_WCP,
                                                .event_groups = true};

static void wrong(const examination *x, const char *what, uint32_t a, uint32_t b)
{
    const mr_window *w = x->setup.window;
    fail_msg("%s: %" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s:\n%s", what, a, b,
             w->start, w->end, mr_model_name(w->model), x->text);
}

static void open_window(examination *x, const char *text, uint32_t start, uint32_t end,
                        mr_model model)
{
    mr_error error = {0};
    x->text = text;
    mr_setup_open(&x->setup, text);
    mr_trace *trace = x->setup.trace;
    if (end > trace->event_count)
        end = trace->event_count;
    mr_setup_window(&x->setup, start, end, model);
    x->hb = mr_order_new(trace, MR_RELATION_HB);
    x->wcp = mr_order_new(trace, MR_RELATION_WCP);
    assert_non_null(x->hb);
    assert_non_null(x->wcp);
    assert_int_equal(mr_order_slide(x->hb, start, end, &error), MR_OK);
    assert_int_equal(mr_order_slide(x->wcp, start, end, &error), MR_OK);
    mr_order_reference_build(&x->orders, trace);
    assert_true(mr_exhaustive_find(trace, model, start, end, &x->races));
}

static void close_window(examination *x)
{
    mr_exhaustive_free(&x->races);
    mr_order_free(x->hb);
    mr_order_free(x->wcp);
    mr_setup_close(&x->setup);
}

/* FORCED is made when it is asked for, and not before. */
static bool force(void *problem)
{
    examination *x = problem;
    assert_null(x->late.window);
    x->late = x->setup.forced;
    return true;
}

static void find(examination *x, const mr_candidate_options *options)
{
    mr_setup *s = &x->setup;
    mr_candidate_options own = *options;
    own.force = force;
    own.problem = x;
    x->late = (mr_precedence){0};
    assert_true(mr_candidates_find(&x->found, s->window, &s->hard, &x->late, x->hb, x->wcp, &own,
                                   &s->arena));
    x->finds[x->late.window != NULL]++;
    assert_true(x->late.window || !x->found.group_count || own.keep_coned);
}

static bool is_race(const examination *x, const mr_candidate *candidate)
{
    uint32_t start = x->setup.window->start;
    return mr_exhaustive_has(&x->races, start + candidate->first, start + candidate->second);
}

static mr_strength right_strength(const examination *x, uint32_t first, uint32_t second)
{
    if (!mr_order_matrix_has(&x->orders.hb, first, second))
        return MR_STRENGTH_HB;
    return mr_order_matrix_has(&x->orders.wcp, first, second) ? MR_STRENGTH_BEYOND_WCP
                                                              : MR_STRENGTH_WCP;
}

/* The group of an unordered pair of locations, or NULL. */
static const mr_candidate_group *group_of(const examination *x, uint32_t one, uint32_t two)
{
    for (uint32_t g = 0; g < x->found.group_count; g++) {
        const mr_candidate_group *group = &x->found.groups[g];
        if (group->location_1 == (one < two ? one : two) &&
            group->location_2 == (one < two ? two : one))
            return group;
    }
    return NULL;
}

static bool has_pair(const examination *x, uint32_t first, uint32_t second)
{
    uint32_t start = x->setup.window->start;
    for (uint32_t i = 0; i < x->found.count; i++)
        if (start + x->found.items[i].first == first && start + x->found.items[i].second == second)
            return true;
    return false;
}

/* ---- what holds of every result ---- */

static void check_candidate(const examination *x, const mr_candidate_group *group,
                            const mr_candidate *candidate)
{
    const mr_window *w = x->setup.window;
    uint32_t first = w->start + candidate->first, second = w->start + candidate->second;
    uint32_t one = w->trace->location[first], two = w->trace->location[second];
    if (first >= second || !mr_exhaustive_conflict(w->trace, first, second))
        wrong(x, "a candidate that does not conflict", first, second);
    if (candidate->strength != right_strength(x, first, second))
        wrong(x, "wrong strength", first, second);
    if (candidate->strength != mr_pair_strength(x->hb, x->wcp, first, second))
        wrong(x, "strength differs from mr_order", first, second);
    if (group->location_1 != (one < two ? one : two) ||
        group->location_2 != (one < two ? two : one))
        wrong(x, "in the wrong group", first, second);
}

/* Stronger first, then nearer, then earlier. */
static bool in_order(const mr_candidate *x, const mr_candidate *y)
{
    if (x->strength != y->strength)
        return x->strength < y->strength;
    uint32_t distance_x = x->second - x->first, distance_y = y->second - y->first;
    return distance_x != distance_y ? distance_x < distance_y : x->first < y->first;
}

/* A site holds accesses of one variable, thread, operation and location, in program order. */
static void check_site(const examination *x, const mr_access_site *site)
{
    const mr_window *w = x->setup.window;
    assert_true(site->count > 0);
    for (uint32_t i = 0; i < site->count; i++) {
        uint32_t event = site->events[i];
        assert_true(!i || site->events[i - 1] < event);
        assert_int_equal(w->thread[event], site->thread);
        if (mr_op_ends_life(site->op))
            assert_int_equal(mr_trace_object(w->trace, w->variables[site->variable].number),
                             w->trace->operand[w->start + event]);
        else
            assert_int_equal(w->object[event], site->variable);
        assert_int_equal(mr_window_end_of_life(w, event),
                         mr_window_end_of_life(w, site->events[0]));
        assert_int_equal(w->trace->location[w->start + event], site->location);
        assert_int_equal(mr_window_op(w, event), site->op);
    }
}

static bool site_has(const mr_access_site *site, uint32_t event)
{
    for (uint32_t i = 0; i < site->count; i++)
        if (site->events[i] == event)
            return true;
    return false;
}

/* The pairs of sites of a group: their numbers of candidates add up, and each kept one is in one.
 */
static void check_site_pairs(const examination *x, const mr_candidate_options *options,
                             const mr_candidate_group *group, uint32_t *next)
{
    uint64_t pairs = 0;
    if (options->event_groups) {
        assert_int_equal(group->site_pair_count, 0);
        return;
    }
    assert_int_equal(group->first_site_pair, *next);
    *next += group->site_pair_count;
    for (uint32_t s = group->first_site_pair; s < *next; s++) {
        const mr_site_pair *pair = &x->found.site_pairs[s];
        check_site(x, pair->one);
        check_site(x, pair->two);
        assert_true(pair->pairs > 0);
        pairs += pair->pairs;
    }
    assert_int_equal(pairs, group->count + group->left_out);
    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        const mr_candidate *c = &x->found.items[i];
        uint32_t places = 0;
        for (uint32_t s = group->first_site_pair; s < *next; s++) {
            const mr_site_pair *pair = &x->found.site_pairs[s];
            places += (site_has(pair->one, c->first) && site_has(pair->two, c->second)) ||
                      (site_has(pair->one, c->second) && site_has(pair->two, c->first));
        }
        assert_int_equal(places, 1);
    }
}

static void check_groups(const examination *x, const mr_candidate_options *options)
{
    uint32_t next = 0, next_site_pair = 0;
    for (uint32_t g = 0; g < x->found.group_count; g++) {
        const mr_candidate_group *group = &x->found.groups[g];
        assert_true(group->location_1 <= group->location_2);
        assert_int_equal(group->first, next);
        assert_true(group->count > 0);
        next += group->count;
        check_site_pairs(x, options, group, &next_site_pair);
        if (options->max_per_group)
            assert_true(group->count <= options->max_per_group);
        else
            assert_int_equal(group->left_out, 0);
        if (options->event_groups)
            assert_int_equal(group->count, 1);
        else
            assert_ptr_equal(group_of(x, group->location_1, group->location_2), group);
        for (uint32_t i = 0; i < group->count; i++) {
            const mr_candidate *candidate = &x->found.items[group->first + i];
            assert_true(candidate->strength <= options->weakest);
            check_candidate(x, group, candidate);
            assert_true(!i || in_order(candidate - 1, candidate));
        }
    }
    assert_int_equal(next, x->found.count);
    assert_int_equal(next_site_pair, x->found.site_pair_count);
}

/* ---- every pair ---- */

static void kept_when_race(examination *x, mr_strength weakest, uint32_t first, uint32_t second)
{
    if (right_strength(x, first, second) <= weakest &&
        mr_exhaustive_has(&x->races, first, second) && !has_pair(x, first, second))
        wrong(x, "a race is no candidate", first, second);
}

/* Nothing of this strength that races is dropped. Returns the number of conflicting pairs. */
static size_t check_conflicts(examination *x, mr_strength weakest)
{
    const mr_window *w = x->setup.window;
    size_t count = 0;
    for (uint32_t a = w->start; a < w->end; a++) {
        for (uint32_t b = a + 1; b < w->end; b++) {
            if (!mr_exhaustive_conflict(w->trace, a, b))
                continue;
            count++;
            kept_when_race(x, weakest, a, b);
        }
    }
    return count;
}

static void check_every_pair(examination *x)
{
    for (int weakest = MR_STRENGTH_HB; weakest <= MR_STRENGTH_BEYOND_WCP; weakest++) {
        mr_candidate_options options = every_pair;
        options.weakest = (mr_strength)weakest;
        find(x, &options);
        check_groups(x, &options);
        size_t conflicts = check_conflicts(x, options.weakest);
        if (weakest == MR_STRENGTH_BEYOND_WCP)
            assert_int_equal(x->found.count + x->found.dropped_by_filter + x->found.dropped_by_cone,
                             conflicts);
    }
}

/* ---- representatives ---- */

/* Does the static pair of each race of this strength keep a candidate that is such a race? */
static void check_static_pairs(examination *x, mr_strength weakest)
{
    const uint32_t *location = x->setup.trace->location;
    for (size_t i = 0; i < x->races.race_count; i++) {
        mr_pair race = x->races.races[i];
        if (right_strength(x, race.first, race.second) > weakest)
            continue;
        const mr_candidate_group *group = group_of(x, location[race.first], location[race.second]);
        bool kept = false;
        for (uint32_t k = 0; group && k < group->count; k++)
            kept = kept || is_race(x, &x->found.items[group->first + k]);
        if (!kept)
            wrong(x, "no representative is a race", race.first, race.second);
    }
}

static size_t check_representatives(examination *x)
{
    size_t fewer = 0;
    for (int weakest = MR_STRENGTH_HB; weakest <= MR_STRENGTH_BEYOND_WCP; weakest++) {
        mr_candidate_options options = {.weakest = (mr_strength)weakest};
        find(x, &options);
        uint32_t all = x->found.count;
        check_groups(x, &options);
        check_static_pairs(x, (mr_strength)weakest);
        options.representatives = true;
        find(x, &options);
        check_groups(x, &options);
        check_static_pairs(x, (mr_strength)weakest);
        assert_true(x->found.count <= all);
        fewer += all - x->found.count;
    }
    return fewer;
}

/* ---- limits ---- */

/* Some candidates of each group are kept, the others counted. */
static void check_limit(examination *x)
{
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP};
    find(x, &options);
    mr_candidates all = x->found;
    for (options.max_per_group = 1; options.max_per_group < 4; options.max_per_group++) {
        find(x, &options);
        check_groups(x, &options);
        assert_int_equal(x->found.group_count, all.group_count);
        for (uint32_t g = 0; g < all.group_count; g++) {
            const mr_candidate_group *one = &x->found.groups[g], *full = &all.groups[g];
            assert_int_equal(one->location_1, full->location_1);
            assert_int_equal(one->location_2, full->location_2);
            assert_int_equal(one->count + one->left_out, full->count);
            assert_int_equal(one->count, full->count < options.max_per_group
                                             ? full->count
                                             : options.max_per_group);
        }
    }
}

/* A full group is left as it is; one that says nothing of being stopped is complete. */
static void check_stopped(examination *x)
{
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP};
    find(x, &options);
    mr_candidates all = x->found;
    options.stop_when_full = true;
    for (options.max_per_group = 1; options.max_per_group < 4; options.max_per_group++) {
        find(x, &options);
        check_groups(x, &options);
        assert_int_equal(x->found.group_count, all.group_count);
        for (uint32_t g = 0; g < all.group_count; g++) {
            const mr_candidate_group *one = &x->found.groups[g], *full = &all.groups[g];
            assert_int_equal(one->location_1, full->location_1);
            assert_int_equal(one->location_2, full->location_2);
            if (one->stopped)
                assert_int_equal(one->count, options.max_per_group);
            else
                assert_int_equal(one->count + one->left_out, full->count);
            assert_true(one->stopped || one->site_pair_count == full->site_pair_count);
            assert_true(one->count <= full->count);
        }
    }
}

/* Filter and cone may be told to drop nothing. */
static void check_kept(examination *x)
{
    mr_candidate_options options = every_pair;
    find(x, &options);
    uint64_t filter = x->found.dropped_by_filter, cone = x->found.dropped_by_cone;
    uint32_t count = x->found.count;
    options.keep_coned = true;
    find(x, &options);
    assert_int_equal(x->found.dropped_by_filter, filter);
    assert_int_equal(x->found.dropped_by_cone, 0);
    assert_int_equal(x->found.count, count + cone);
    options.keep_filtered = true;
    find(x, &options);
    assert_int_equal(x->found.dropped_by_filter + x->found.dropped_by_cone, 0);
    assert_int_equal(x->found.count, count + cone + filter);
}

/* Where nobody counts what is dropped, all that is kept is the same. */
static void check_uncounted(examination *x, const mr_candidate_options *counted)
{
    mr_candidate_options options = *counted;
    find(x, &options);
    mr_candidates all = x->found;
    options.uncounted = true;
    find(x, &options);
    assert_int_equal(x->found.count, all.count);
    assert_int_equal(x->found.group_count, all.group_count);
    assert_int_equal(x->found.site_pair_count, all.site_pair_count);
    assert_true(x->found.dropped_by_filter <= all.dropped_by_filter &&
                x->found.dropped_by_cone <= all.dropped_by_cone);
    for (uint32_t i = 0; i < all.count; i++) {
        assert_int_equal(x->found.items[i].first, all.items[i].first);
        assert_int_equal(x->found.items[i].second, all.items[i].second);
        assert_int_equal(x->found.items[i].strength, all.items[i].strength);
    }
    for (uint32_t g = 0; g < all.group_count; g++) {
        assert_int_equal(x->found.groups[g].location_1, all.groups[g].location_1);
        assert_int_equal(x->found.groups[g].location_2, all.groups[g].location_2);
        assert_int_equal(x->found.groups[g].count, all.groups[g].count);
    }
    for (uint32_t i = 0; i < all.site_pair_count; i++) {
        const mr_site_pair *one = &x->found.site_pairs[i], *other = &all.site_pairs[i];
        assert_int_equal(one->pairs, other->pairs);
        assert_int_equal(one->one->events[0], other->one->events[0]);
        assert_int_equal(one->one->count, other->one->count);
        assert_int_equal(one->two->events[0], other->two->events[0]);
        assert_int_equal(one->two->count, other->two->count);
    }
}

static void check_ways_to_count(examination *x)
{
    mr_candidate_options options = every_pair;
    check_uncounted(x, &options);
    options.keep_coned = true;
    check_uncounted(x, &options);
    options = (mr_candidate_options){.weakest = MR_STRENGTH_BEYOND_WCP, .representatives = true};
    check_uncounted(x, &options);
    options.max_per_group = 1;
    check_uncounted(x, &options);
}

static void check_ignored(examination *x)
{
    const mr_trace *trace = x->setup.trace;
    bool ignored[64] = {0};
    assert_true(trace->locations.count <= sizeof ignored);
    for (uint32_t l = 0; l < trace->locations.count; l += 2)
        ignored[l] = true;
    mr_candidate_options options = every_pair;
    find(x, &options);
    mr_candidates all = x->found;
    options.ignored_locations = ignored;
    find(x, &options);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const mr_candidate *c = &all.items[i];
        const uint32_t *location = trace->location + x->setup.window->start;
        bool keep = !ignored[location[c->first]] && !ignored[location[c->second]];
        kept += keep;
        assert_int_equal(keep, has_pair(x, x->setup.window->start + c->first,
                                        x->setup.window->start + c->second));
    }
    assert_int_equal(kept, x->found.count);
}

static bool not_settled(void *context, uint32_t location_1, uint32_t location_2)
{
    assert_true(location_1 <= location_2);
    return (location_1 + location_2) % 2 == *(const uint32_t *)context;
}

static void check_wanted(examination *x)
{
    uint32_t parity = 1;
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP};
    find(x, &options);
    mr_candidates all = x->found;
    options.wanted = not_settled;
    options.context = &parity;
    find(x, &options);
    check_groups(x, &options);
    uint32_t groups = 0;
    for (uint32_t g = 0; g < all.group_count; g++) {
        const mr_candidate_group *group = &all.groups[g];
        bool keep = (group->location_1 + group->location_2) % 2 == parity;
        const mr_candidate_group *same = group_of(x, group->location_1, group->location_2);
        groups += keep;
        assert_int_equal(keep, same != NULL);
        assert_true(!same || same->count == group->count);
    }
    assert_int_equal(groups, x->found.group_count);
}

/* ---- running ---- */

static void test_random_traces(void **state)
{
    (void)state;
    size_t fewer = 0, races = 0, finds[2] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 40000, (mr_shape)shape);
            assert_non_null(text);
            examination x = {0};
            open_window(&x, text, seed % 3 ? 0 : (uint32_t)(seed % 4),
                        seed % 2 ? UINT32_MAX : (uint32_t)(seed % 13) + 4,
                        (mr_model)(seed / 2 % (MR_MODEL_BRANCH + 1)));
            check_every_pair(&x);
            fewer += check_representatives(&x);
            check_limit(&x);
            check_stopped(&x);
            check_kept(&x);
            check_ways_to_count(&x);
            check_ignored(&x);
            check_wanted(&x);
            races += x.races.race_count;
            finds[0] += x.finds[0];
            finds[1] += x.finds[1];
            close_window(&x);
            free(text);
        }
    }
    print_message(
        "%zu races, representatives save %zu candidates; without FORCED %zu, with it %zu\n", races,
        fewer, finds[0], finds[1]);
    assert_true(races > 3000 && fewer > 300 && finds[0] > 1000 && finds[1] > 1000);
}

/* ---- by hand: with representatives, all pairs wanted ---- */

typedef struct known {
    const char *name, *text;
    const char *pairs; /* "first-second", groups separated by blanks, in the order to be tried */
    bool hb_only;      /* the prefilter */
} known;

static const known table[] = {
    {"a later access at the same location is represented", "A|w(x)|1\nA|w(x)|1\nB|w(x)|2\n", "0-2",
     false},
    {"at another location it is not", "A|w(x)|1\nA|w(x)|3\nB|w(x)|2\n", "0-2 1-2", false},
    {"nor with another operation", "A|w(x)|1\nA|r(x)|1\nB|w(x)|2\n", "1-2 0-2", false},
    {"nor when a read of another thread may need the first",
     "A|w(x=2)|1\nA|w(x=2)|1\nB|w(x=2)|2\nC|r(x=2)|3\n", "1-2 0-2 1-3 0-3 2-3", false},
    {"a fork in between", "A|w(x)|1\nA|fork(B)|3\nA|w(x)|1\nB|w(x)|2\n", "2-3", false},
    {"a release of a lock held at the first",
     "A|acq(l)|9\nA|w(x)|1\nA|rel(l)|9\nA|w(x)|1\nB|w(x)|2\nB|acq(l)|9\nB|rel(l)|9\n", "3-4 1-4",
     false},
    {"a section in between",
     "A|w(x)|1\nA|acq(l)|9\nA|rel(l)|9\nA|w(x)|1\nB|w(x)|2\nB|acq(l)|9\nB|rel(l)|9\n", "0-4",
     false},
    {"a common lock", "A|acq(l)|9\nA|w(x)|1\nA|rel(l)|9\nB|acq(l)|9\nB|w(x)|2\nB|rel(l)|9\n", "",
     false},
    {"fork and join", "A|w(x)|1\nA|fork(B)|2\nB|w(x)|3\nA|join(B)|4\nA|w(x)|5\n", "", false},
    {"a read that must see the other thread", "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(x=2)|4\n",
     "1-2", false},
    {"a section in between, of which HB can order only the first access",
     "A|w(x)|1\nA|acq(l)|8\nA|rel(l)|8\nA|w(x)|1\nB|acq(l)|9\nB|rel(l)|9\nB|w(x)|2\n", "3-6", true},
    {"only one thread", "A|w(x)|1\nA|r(x)|2\nA|w(x)|3\n", "", false},
    {"only reads", "A|r(x)|1\nB|r(x)|2\n", "", false},
};

static void test_known(void **state)
{
    (void)state;
    int mistakes = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        examination x = {0};
        char found[256] = "";
        open_window(&x, table[i].text, 0, UINT32_MAX, MR_MODEL_VALUE);
        mr_candidate_options options = {.representatives = true};
        options.weakest = table[i].hb_only ? MR_STRENGTH_HB : MR_STRENGTH_BEYOND_WCP;
        find(&x, &options);
        for (uint32_t k = 0; k < x.found.count; k++)
            sprintf(found + strlen(found), "%s%" PRIu32 "-%" PRIu32, k ? " " : "",
                    x.found.items[k].first, x.found.items[k].second);
        if (strcmp(found, table[i].pairs) != 0) {
            print_error("%s: '%s', expected '%s'\n", table[i].name, found, table[i].pairs);
            mistakes++;
        }
        close_window(&x);
    }
    assert_int_equal(mistakes, 0);
}

/* ---- one variable, everywhere ---- */

enum { HOT_ACCESSES = 200, HOT_LOCATIONS = 10 };

/* Two threads write a variable at the same locations in turn: all pairs are unordered, and there
 * are so many that sites are compared. Returns the number of candidates that are kept. */
static uint32_t find_hot(examination *x, const mr_candidate_options *options)
{
    find(x, options);
    assert_int_equal(x->found.group_count, HOT_LOCATIONS * (HOT_LOCATIONS + 1) / 2);
    for (uint32_t g = 0; g < x->found.group_count; g++) {
        const mr_candidate_group *group = &x->found.groups[g];
        uint32_t each = HOT_ACCESSES / HOT_LOCATIONS * (HOT_ACCESSES / HOT_LOCATIONS);
        uint32_t all = group->location_1 == group->location_2 ? each : 2 * each;
        if (options->max_per_group)
            assert_int_equal(group->count, options->max_per_group);
        if (!options->stop_when_full)
            assert_int_equal(group->count + group->left_out, all);
        assert_int_equal(group->stopped, options->stop_when_full);
    }
    return x->found.count;
}

static void test_hot_variable(void **state)
{
    (void)state;
    static char text[2 * HOT_ACCESSES * 16];
    size_t length = 0;
    for (int i = 0; i < 2 * HOT_ACCESSES; i++)
        length += (size_t)sprintf(text + length, "%c|w(x)|%d\n", i % 2 ? 'A' : 'B',
                                  i / 2 % HOT_LOCATIONS);
    examination x = {0};
    mr_error error = {0};
    x.text = text;
    mr_setup_open(&x.setup, text);
    mr_setup_window(&x.setup, 0, x.setup.trace->event_count, MR_MODEL_RF);
    x.hb = mr_order_new(x.setup.trace, MR_RELATION_HB);
    x.wcp = mr_order_new(x.setup.trace, MR_RELATION_WCP);
    assert_non_null(x.hb);
    assert_non_null(x.wcp);
    assert_int_equal(mr_order_slide(x.hb, 0, x.setup.window->end, &error), MR_OK);
    assert_int_equal(mr_order_slide(x.wcp, 0, x.setup.window->end, &error), MR_OK);
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP};
    assert_int_equal(find_hot(&x, &options), HOT_ACCESSES * HOT_ACCESSES);
    options.max_per_group = 7;
    uint32_t groups = HOT_LOCATIONS * (HOT_LOCATIONS + 1) / 2;
    assert_int_equal(find_hot(&x, &options), 7 * groups);
    options.stop_when_full = true;
    assert_int_equal(find_hot(&x, &options), 7 * groups);
    mr_order_free(x.hb);
    mr_order_free(x.wcp);
    mr_setup_close(&x.setup);
}

static void test_no_memory(void **state)
{
    (void)state;
    examination x = {0};
    open_window(&x, table[3].text, 0, UINT32_MAX, MR_MODEL_VALUE);
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP, .representatives = true};
    bool complete = false;
    for (uint64_t fail_at = 1; !complete; fail_at++) {
        mr_arena arena;
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        complete = mr_candidates_find(&x.found, x.setup.window, &x.setup.hard, &x.setup.forced,
                                      x.hb, x.wcp, &options, &arena);
        mr_memory_fail_after(0);
        mr_arena_free(&arena);
        assert_true(complete || fail_at < 100);
        assert_true(!complete || fail_at > 2);
    }
    close_window(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_hot_variable),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
