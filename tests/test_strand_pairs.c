/* Candidates of variables with many lock sets: strands are passed over (windows/strand_pairs.h) only
 * where no two of their accesses are a candidate. Against the definition of what is dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/setup.h"
#include "windows/candidates.h"
#include "windows/lockset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 6, WORKERS = 3, STEPS = 400, SEEDS = 60 };

/* A trace whose threads hold up to all locks, shared or not, lock 0 the most often. */
typedef struct crowd {
    mr_random random;
    int mode[WORKERS + 1][LOCKS]; /* 0: not held, 1: exclusively, 2: shared */
    char text[(STEPS + 64) * 32];
    size_t length;
} crowd;

static uint32_t draw(crowd *c, uint32_t below)
{
    return mr_random_below(&c->random, below);
}

static void add_event(crowd *c, int thread, const char *op, const char *operand, int place)
{
    c->length +=
        (size_t)sprintf(c->text + c->length, "T%d|%s(%s)|%d\n", thread, op, operand, place);
}

static bool can_take(const crowd *c, int lock, int mode)
{
    for (int t = 0; t <= WORKERS; t++)
        if (c->mode[t][lock] == 1 || (c->mode[t][lock] && mode == 1))
            return false;
    return true;
}

static void change_lock(crowd *c, int thread)
{
    static const char *const take[] = {"", "acq", "racq"}, *const give[] = {"", "rel", "rrel"};
    int lock = draw(c, 2) ? 0 : (int)draw(c, LOCKS), mode = 1 + (int)draw(c, 2);
    int *held = &c->mode[thread][lock];
    char name[16];
    sprintf(name, "l%d", lock);
    if (!*held && can_take(c, lock, mode)) {
        add_event(c, thread, take[mode], name, 900);
        *held = mode;
    } else if (*held && !draw(c, 3)) {
        add_event(c, thread, give[*held], name, 901);
        *held = 0;
    }
}

static void give_all(crowd *c, int thread)
{
    for (int lock = 0; lock < LOCKS; lock++)
        if (c->mode[thread][lock]) {
            char name[16];
            sprintf(name, "l%d", lock);
            add_event(c, thread, c->mode[thread][lock] == 1 ? "rel" : "rrel", name, 902);
            c->mode[thread][lock] = 0;
        }
}

/* Threads first … last take steps. Variable v0 is used in every way, v1 atomically for the most
 * part, v2 under lock 0. */
static void take_steps(crowd *c, int first, int last, int steps)
{
    static const char *const ops[] = {"r", "w", "ar", "aw", "au"};
    static const char *const variables[] = {"v0", "v1", "v2"};
    for (int i = 0; i < steps; i++) {
        int thread = first + (int)draw(c, (uint32_t)(last - first + 1)), variable = (int)draw(c, 3);
        const char *op = ops[variable == 1 && draw(c, 8) ? 2 + draw(c, 3) : draw(c, 5)];
        if (draw(c, 3))
            change_lock(c, thread);
        else if (variable < 2 || c->mode[thread][0])
            add_event(c, thread, op, variables[variable], (int)draw(c, 5));
    }
}

/* Thread 1 ends before thread 3 starts. */
static void make_crowd(crowd *c, uint64_t seed)
{
    *c = (crowd){.random = {seed}};
    take_steps(c, 0, 0, STEPS / 8);
    add_event(c, 0, "fork", "T1", 903);
    add_event(c, 0, "fork", "T2", 903);
    take_steps(c, 0, 2, STEPS / 2);
    give_all(c, 1);
    add_event(c, 0, "join", "T1", 903);
    add_event(c, 0, "fork", "T3", 903);
    take_steps(c, 2, 3, STEPS / 4);
}

/* For each two window events, whether they are a candidate. The caller frees it. */
static bool *kept_pairs(const mr_candidates *found, uint32_t size)
{
    bool *kept = calloc((size_t)size * size, sizeof *kept);
    assert_non_null(kept);
    for (uint32_t i = 0; i < found->count; i++)
        kept[(size_t)found->items[i].first * size + found->items[i].second] = true;
    return kept;
}

/* Pairs by different threads are dropped when lock sets or an order keep them apart, and no others. */
static mr_candidates check(mr_setup *s, bool keep_filtered, bool keep_coned)
{
    const mr_window *w = s->window;
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP,
                                    .event_groups = true,
                                    .keep_filtered = keep_filtered,
                                    .keep_coned = keep_coned};
    mr_candidates found;
    uint64_t filter = 0, cone = 0, kept = 0;
    assert_true(
        mr_candidates_find(&found, w, &s->hard, &s->forced, NULL, NULL, &options, &s->arena));
    bool *pairs = kept_pairs(&found, w->size);
    for (uint32_t a = 0; a < w->size; a++)
        for (uint32_t b = a + 1; b < w->size; b++) {
            if (!mr_events_conflict(w->trace, a, b))
                continue;
            bool filtered = !keep_filtered && (mr_locksets_meet(w, w->lockset[a], w->lockset[b]) ||
                                               mr_precedence_enables(&s->hard, a, b));
            bool coned = !keep_coned && mr_precedence_enables(&s->forced, a, b);
            filter += filtered;
            cone += !filtered && coned;
            kept += !filtered && !coned;
            if (pairs[(size_t)a * w->size + b] != (!filtered && !coned))
                fail_msg("%" PRIu32 "-%" PRIu32 " is kept or dropped by mistake", a, b);
        }
    free(pairs);
    assert_int_equal(found.dropped_by_filter, filter);
    assert_int_equal(found.dropped_by_cone, cone);
    assert_int_equal(found.count, kept);
    return found;
}

static void test_many_locksets(void **state)
{
    (void)state;
    static crowd c;
    uint64_t kept = 0, filtered = 0, coned = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        mr_setup setup;
        make_crowd(&c, seed);
        mr_setup_open(&setup, c.text);
        mr_setup_window(&setup, 0, setup.trace->event_count, (mr_model)(seed % 2));
        check(&setup, true, true);
        check(&setup, true, false);
        check(&setup, false, true);
        mr_candidates found = check(&setup, false, false);
        kept += found.count;
        filtered += found.dropped_by_filter;
        coned += found.dropped_by_cone;
        mr_setup_close(&setup);
    }
    print_message("%" PRIu64 " kept, %" PRIu64 " and %" PRIu64 " dropped\n", kept, filtered, coned);
    assert_true(kept > 1000 && filtered > 10000 && coned > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_locksets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
