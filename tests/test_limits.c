/*
 * Limits: a query that is too large, too slow or too big is unknown, with its reason, and never a
 * wrong verdict; everything works on afterwards. On large random windows, where exhaustive search
 * cannot go, saturation and Z3 agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "solver/decide.h"
#include "support/exhaustive.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/sample.h"
#include "support/setup.h"
#include "windows/candidates.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 14, SHARE_PAIRS = 7, SATURATE_STEPS = 1500000, Z3_TIMEOUT_MS = 100 };

/* One step, with those that only drop pairs before it. */
#define ALONE(step) (MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) | MR_STEP_BIT(step))

/* A window with a whole large trace, and pairs that filter and cone cannot settle. */
typedef struct large {
    char *text;
    mr_setup setup;
    mr_problem problem;
    mr_checker *checker;
    mr_candidates candidates;
    mr_session *session;
} large;

static void open_large(large *l, const mr_large *shape, uint64_t seed, uint32_t events,
                       mr_model model)
{
    mr_error error = {0};
    l->text = mr_generate_large(seed, shape, events);
    assert_non_null(l->text);
    mr_setup_open(&l->setup, l->text);
    mr_trace *trace = l->setup.trace;
    mr_setup_window(&l->setup, 0, trace->event_count, model);
    assert_true(mr_problem_init(&l->problem, l->setup.window, &l->setup.arena));
    mr_order *hb = mr_order_new(trace, MR_RELATION_HB), *wcp = mr_order_new(trace, MR_RELATION_WCP);
    assert_true(hb && wcp);
    assert_int_equal(mr_order_slide(hb, 0, trace->event_count, &error), MR_OK);
    assert_int_equal(mr_order_slide(wcp, 0, trace->event_count, &error), MR_OK);
    mr_candidate_options options = {.weakest = MR_STRENGTH_BEYOND_WCP, .event_groups = true};
    assert_true(mr_candidates_find(&l->candidates, l->setup.window, &l->problem.hard,
                                   &l->problem.forced, hb, wcp, &options, &l->setup.arena));
    mr_order_free(hb);
    mr_order_free(wcp);
    l->checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
    l->session = mr_session_new();
    assert_true(l->checker && l->session);
}

static void close_large(large *l)
{
    mr_session_free(l->session);
    mr_checker_free(l->checker);
    mr_setup_close(&l->setup);
    free(l->text);
}

static void check_race(const large *l, const mr_candidate *c, const mr_decision *decision)
{
    mr_witness witness = {.first = c->first,
                          .second = c->second,
                          .window_end = l->setup.window->end,
                          .model = l->setup.window->model,
                          .events = decision->events,
                          .event_count = decision->event_count};
    mr_error error = {0};
    if (mr_checker_check(l->checker, &witness, &error) != MR_OK)
        fail_msg("%" PRIu32 "-%" PRIu32 ": %s\n%s", c->first, c->second, error.text, l->text);
}

static mr_decision decide(large *l, const mr_decide_options *options, const mr_candidate *c)
{
    mr_decision decision;
    mr_error error = {0};
    assert_int_equal(mr_decide(&l->problem, l->session, options, c->first, c->second,
                               &l->setup.arena, &decision, &error),
                     MR_OK);
    if (decision.verdict == MR_VERDICT_RACE)
        check_race(l, c, &decision);
    return decision;
}

/* ---- saturation and Z3 agree ---- */

typedef struct agreement {
    size_t both, races, unknown;
} agreement;

static void compare_pair(large *l, const mr_candidate *c, agreement *sum)
{
    static const mr_decide_options linearise = {.steps = ALONE(MR_STEP_LINEARISE)};
    static const mr_decide_options saturate = {.steps = ALONE(MR_STEP_SATURATE),
                                               .saturate_steps = SATURATE_STEPS};
    static const mr_decide_options z3 = {.steps = ALONE(MR_STEP_Z3),
                                         .limits = {.timeout_ms = Z3_TIMEOUT_MS}};
    mr_decision one = decide(l, &saturate, c), two = decide(l, &z3, c);
    mr_decision easy = decide(l, &linearise, c);
    bool both = one.verdict != MR_VERDICT_UNKNOWN && two.verdict != MR_VERDICT_UNKNOWN;
    if ((both && one.verdict != two.verdict) ||
        (easy.verdict == MR_VERDICT_RACE &&
         (one.verdict == MR_VERDICT_NO_RACE || two.verdict == MR_VERDICT_NO_RACE)))
        fail_msg("%" PRIu32 "-%" PRIu32 ", %s: linearise %d, saturate %d, Z3 %d\n%s", c->first,
                 c->second, mr_model_name(l->setup.window->model), easy.verdict, one.verdict,
                 two.verdict, l->text);
    sum->both += both;
    sum->races += both && one.verdict == MR_VERDICT_RACE;
    sum->unknown += !both;
}

/* A pair, most of the times one that trace order does not settle. */
static const mr_candidate *pick(large *l, mr_random *random)
{
    static const mr_decide_options linearise = {.steps = ALONE(MR_STEP_LINEARISE)};
    const mr_candidate *c = NULL;
    for (uint32_t tries = 0; tries < 60; tries++) {
        c = &l->candidates.items[mr_random_below(random, l->candidates.count)];
        if (decide(l, &linearise, c).verdict == MR_VERDICT_UNKNOWN || mr_random_percent(random, 1))
            break;
    }
    return c;
}

static void test_saturate_and_z3_agree(void **state)
{
    static const uint32_t events[] = {600, 200}; /* by model: both decide most of the pairs */
    const uint64_t pairs = mr_length("LIMITS_PAIRS", SHARE_PAIRS, PAIRS);
    (void)state;
    agreement all = {0};
    for (size_t s = 0; s < mr_large_shape_count; s++) {
        agreement sum = {0};
        for (int model = 0; model < 2; model++) {
            large l;
            mr_random random = {s};
            open_large(&l, &mr_large_shapes[s], 4 + s, events[model], (mr_model)model);
            assert_true(l.candidates.count > 0);
            for (uint64_t k = 0; k < pairs; k++)
                compare_pair(&l, pick(&l, &random), &sum);
            close_large(&l);
        }
        print_message("%s: %zu decided by both, %zu races, %zu by one at most\n",
                      mr_large_shapes[s].name, sum.both, sum.races, sum.unknown);
        all.both += sum.both;
        all.races += sum.races;
    }
    assert_true(all.both > 60 * pairs / PAIRS && all.races > 20 * pairs / PAIRS &&
                all.both - all.races > 5 * pairs / PAIRS);
}

/* ---- the limits of one query ---- */

/* The verdict without limits, by both ways. */
static mr_verdict reference(large *l, const mr_candidate *c)
{
    mr_decide_options options = {.steps = MR_ALL_STEPS, .saturate_steps = 200000000};
    return decide(l, &options, c).verdict;
}

/* An unknown decision says which of Z3's bounds was in the way. */
static void check_stopped(const mr_decision *decision, const mr_limits *limits)
{
    assert_int_equal(decision->stopped_by_time, limits->timeout_ms > 0);
    assert_int_equal(decision->stopped_by_memory, limits->memory_bytes > 0);
    assert_int_equal(strcmp(decision->detail, "solver.rlimit") == 0, limits->units > 0);
}

/* A limit that is too small for most pairs. */
typedef struct limit_case {
    const char *name;
    mr_decide_options options;
    mr_unknown_reason reason;
    bool always; /* no pair is decided by the formula */
} limit_case;

static const limit_case too_small[] = {
    {"size", {.steps = ALONE(MR_STEP_Z3), .max_clauses = 1}, MR_UNKNOWN_SIZE, true},
    {"size, with saturation",
     {.steps = ALONE(MR_STEP_SATURATE), .max_clauses = 20, .saturate_steps = 1000000},
     MR_UNKNOWN_SIZE,
     false},
    {"time", {.steps = ALONE(MR_STEP_Z3), .limits = {.timeout_ms = 1}}, MR_UNKNOWN_TIME, false},
    {"memory",
     {.steps = ALONE(MR_STEP_Z3), .limits = {.memory_bytes = 1}},
     MR_UNKNOWN_MEMORY,
     false},
    {"units", {.steps = ALONE(MR_STEP_Z3), .limits = {.units = 100}}, MR_UNKNOWN_STEPS, false},
    {"units, lazily",
     {.steps = ALONE(MR_STEP_LAZY), .limits = {.units = 100}},
     MR_UNKNOWN_STEPS,
     false},
    {"units, eager",
     {.steps = MR_STEP_BIT(MR_STEP_Z3), .eager = true, .limits = {.units = 100}},
     MR_UNKNOWN_STEPS,
     true},
    {"size, lazily", {.steps = ALONE(MR_STEP_LAZY), .max_clauses = 20}, MR_UNKNOWN_SIZE, false},
    {"time, lazily",
     {.steps = ALONE(MR_STEP_LAZY), .limits = {.timeout_ms = 1}},
     MR_UNKNOWN_TIME,
     false},
    {"memory, lazily",
     {.steps = ALONE(MR_STEP_LAZY), .limits = {.memory_bytes = 1}},
     MR_UNKNOWN_MEMORY,
     false},
    {"steps", {.steps = ALONE(MR_STEP_SATURATE), .saturate_steps = 10}, MR_UNKNOWN_STEPS, false},
    {"no step", {.steps = ALONE(MR_STEP_LINEARISE)}, MR_UNKNOWN_STEPS, false},
    {"time, eager",
     {.steps = MR_STEP_BIT(MR_STEP_Z3), .eager = true, .limits = {.timeout_ms = 1}},
     MR_UNKNOWN_TIME,
     true},
    {"time after few steps",
     {.steps = ALONE(MR_STEP_SATURATE) | MR_STEP_BIT(MR_STEP_Z3),
      .saturate_steps = 10,
      .limits = {.timeout_ms = 1}},
     MR_UNKNOWN_TIME,
     false},
};

/* Asks about some pairs: each is unknown for the reason, or decided right. How many are unknown. */
static size_t ask_limited(large *l, const limit_case *row, uint64_t seed)
{
    mr_random random = {seed};
    size_t unknown = 0;
    for (uint32_t k = 0; k < 6; k++) {
        const mr_candidate *c = &l->candidates.items[mr_random_below(&random, l->candidates.count)];
        mr_decision decision = decide(l, &row->options, c);
        if (decision.verdict == MR_VERDICT_UNKNOWN) {
            unknown++;
            assert_int_equal(decision.reason, row->reason);
            check_stopped(&decision, &row->options.limits);
        } else {
            mr_verdict right = reference(l, c);
            assert_true(right == MR_VERDICT_UNKNOWN || right == decision.verdict);
            assert_true(!row->always || decision.verdict == MR_VERDICT_NO_RACE);
        }
    }
    return unknown;
}

static void test_limits_of_a_query(void **state)
{
    (void)state;
    large l;
    open_large(&l, &mr_large_shapes[2], 1, 2000, MR_MODEL_VALUE);
    for (size_t i = 0; i < sizeof too_small / sizeof *too_small; i++)
        if (!ask_limited(&l, &too_small[i], i))
            fail_msg("%s: every pair was decided", too_small[i].name);
    close_large(&l);
}

static const mr_decide_options by_saturation = {.steps = ALONE(MR_STEP_ELIMINATE) |
                                                         MR_STEP_BIT(MR_STEP_SATURATE),
                                                .saturate_steps = SATURATE_STEPS};

static uint64_t nothing(void *context)
{
    (void)context;
    return 0;
}

enum { QUESTIONS = 8 };

/* Asks them within the limit; how many are unknown. `foreseen`: the steps know the limit and leave
 * out what will not fit; else it is all the arena's to refuse. */
static size_t ask_within(large *l, uint64_t limit_bytes, bool foreseen,
                         const mr_candidate *const *questions, const mr_verdict *right)
{
    mr_room *room = mr_room_new(&(mr_room_options){.limit_bytes = limit_bytes, .measure = nothing});
    mr_room_share share;
    mr_arena arena;
    size_t unknown = 0;
    assert_non_null(room);
    mr_room_share_open(&share, room, MR_ROOM_WINDOWS, 0);
    mr_arena_init(&arena);
    arena.share = &share;
    arena.waits = true; /* as for a window; questions do not */
    mr_decide_options options = by_saturation;
    options.limits.room = foreseen ? room : NULL;
    for (uint32_t k = 0; k < QUESTIONS; k++) {
        mr_decision decision;
        assert_int_equal(mr_decide(&l->problem, l->session, &options, questions[k]->first,
                                   questions[k]->second, &arena, &decision, NULL),
                         MR_OK);
        assert_true(arena.waits && !arena.refused);
        if (decision.verdict == MR_VERDICT_UNKNOWN)
            assert_int_equal(decision.reason, MR_UNKNOWN_MEMORY);
        else
            assert_int_equal(decision.verdict, right[k]);
        unknown += decision.verdict == MR_VERDICT_UNKNOWN;
        mr_arena_reset(&arena);
        mr_arena_trim(&arena, 0);
    }
    mr_arena_free(&arena);
    mr_room_share_close(&share);
    mr_room_free(room);
    return unknown;
}

/* Questions whose arena has a share: what does not fit is unknown, and nothing is an error. */
static void test_share_of_a_question(void **state)
{
    (void)state;
    static const uint64_t limits[] = {1, 1 << 17, 1 << 19, 1 << 21, 1 << 26};
    enum { LIMITS = sizeof limits / sizeof *limits };
    const mr_candidate *questions[QUESTIONS];
    mr_verdict right[QUESTIONS];
    size_t unknown[2][LIMITS];
    large l;
    open_large(&l, &mr_large_shapes[2], 1, 2000, MR_MODEL_VALUE);
    for (uint32_t count = 0, k = 0; count < QUESTIONS; k++) { /* such that have a verdict */
        questions[count] = &l.candidates.items[k * 97 % l.candidates.count];
        right[count] = decide(&l, &by_saturation, questions[count]).verdict;
        count += right[count] != MR_VERDICT_UNKNOWN;
        assert_true(k < 100);
    }
    for (int foreseen = 0; foreseen < 2; foreseen++) {
        size_t *counts = unknown[foreseen];
        for (size_t i = 0; i < LIMITS; i++) {
            counts[i] = ask_within(&l, limits[i], foreseen, questions, right);
            print_message("%" PRIu64 " bytes: %zu unknown\n", limits[i], counts[i]);
            assert_true(!i || counts[i] <= counts[i - 1]);
        }
        assert_true(counts[0] == QUESTIONS && counts[1] > 0 && !counts[LIMITS - 1]);
    }
    close_large(&l);
}

/* After each interrupt the session decides an easy query, and gets it right. */
static void test_session_after_interrupt(void **state)
{
    (void)state;
    large hard, easy;
    open_large(&hard, &mr_large_shapes[2], 1, 2000, MR_MODEL_VALUE);
    open_large(&easy, &mr_large_shapes[0], 1, 60, MR_MODEL_RF);
    mr_session_free(easy.session);
    easy.session = hard.session;
    static const mr_decide_options limited[] = {
        {.steps = ALONE(MR_STEP_Z3), .limits = {.timeout_ms = 1}},
        {.steps = ALONE(MR_STEP_Z3), .limits = {.memory_bytes = 1}}};
    static const mr_decide_options unlimited = {.steps = ALONE(MR_STEP_Z3)};
    for (uint32_t k = 0; k < 8; k++) {
        decide(&hard, &limited[k % 2], &hard.candidates.items[k * 97 % hard.candidates.count]);
        const mr_candidate *c = &easy.candidates.items[k * 31 % easy.candidates.count];
        mr_decision decision = decide(&easy, &unlimited, c);
        assert_int_not_equal(decision.verdict, MR_VERDICT_UNKNOWN);
        assert_int_equal(decision.verdict, reference(&easy, c));
    }
    easy.session = NULL;
    close_large(&easy);
    close_large(&hard);
}

/* The same question has the same answer and costs the same work, whatever was asked in between and
 * however it ended. */
static void test_same_each_time(void **state)
{
    (void)state;
    static const mr_decide_options options[] = {
        {.steps = ALONE(MR_STEP_Z3), .limits = {.units = 200000}},
        {.steps = ALONE(MR_STEP_LAZY), .limits = {.units = 20000}},
        {.steps = ALONE(MR_STEP_LAZY) | MR_STEP_BIT(MR_STEP_Z3), .limits = {.units = 2000}}};
    enum { OPTIONS = sizeof options / sizeof *options };
    size_t unknown = 0, known = 0;
    large l;
    open_large(&l, &mr_large_shapes[2], 1, 200, MR_MODEL_VALUE);
    for (uint32_t k = 0; k < 12; k++) {
        mr_random random = {k};
        const mr_candidate *c = pick(&l, &random), *other = pick(&l, &random);
        mr_decision one = decide(&l, &options[k % OPTIONS], c);
        decide(&l, &options[(k + 1) % OPTIONS], other);
        mr_decision two = decide(&l, &options[k % OPTIONS], c);
        assert_int_equal(one.verdict, two.verdict);
        assert_int_equal(one.effort, two.effort);
        assert_int_equal(one.event_count, two.event_count);
        if (one.verdict == MR_VERDICT_RACE)
            assert_memory_equal(one.events, two.events, one.event_count * sizeof *one.events);
        unknown += one.verdict == MR_VERDICT_UNKNOWN;
        known += one.verdict != MR_VERDICT_UNKNOWN;
    }
    print_message("%zu questions cut off, %zu answered\n", unknown, known);
    assert_true(unknown > 0 && known > 0);
    close_large(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saturate_and_z3_agree),
        cmocka_unit_test(test_limits_of_a_query),
        cmocka_unit_test(test_share_of_a_question),
        cmocka_unit_test(test_session_after_interrupt),
        cmocka_unit_test(test_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
