/*
 * Model branch below the predictor: for every conflicting pair of random windows, in all three
 * models, each decision step says what exhaustive search says, and precedence holds in it. Windows
 * are cut at random. BRANCH_TRACES and BRANCH_SEED in the environment choose other traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/decide.h"
#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/length.h"
#include "support/setup.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 3000, DEFAULT_SEED = 20180611, MOST_TEXT = 8192 };

typedef struct examination {
    mr_session *session;
    mr_setup setup;
    mr_exhaustive races;
    mr_checker *checker;
    const char *text;
    uint64_t seed;
    uint64_t settled[MR_STEP_COUNT], raced[MR_STEP_COUNT];
    uint64_t more; /* races of branch that value has not */
} examination;

/* ---- traces ---- */

/* Copies the trace and puts branches behind some of its events. */
static void add_branches(const char *text, mr_random *random, char *out)
{
    uint32_t percent = mr_random_below(random, 40);
    while (*text) {
        size_t length = (size_t)(strchr(text, '\n') + 1 - text), thread = strcspn(text, "|");
        memcpy(out, text, length);
        out += length;
        if (text[0] != '#' && strncmp(text + thread, "|end", 4) != 0 &&
            mr_random_percent(random, percent)) {
            memcpy(out, text, thread);
            out += thread;
            out += sprintf(out, "|branch()|0\n");
        }
        text += length;
    }
    *out = '\0';
}

/* ---- what is asked ---- */

static mr_decision decide(examination *x, uint32_t a, uint32_t b, bool linearise, uint64_t steps)
{
    mr_problem problem = {.window = x->setup.window,
                          .hard = x->setup.hard,
                          .forced = x->setup.forced,
                          .source = x->setup.source};
    mr_decide_options options = {.steps = MR_ALL_STEPS &
                                          ~(linearise ? 0 : MR_STEP_BIT(MR_STEP_LINEARISE)),
                                 .saturate_steps = steps};
    mr_decision decision;
    mr_error error = {0};
    assert_int_equal(
        mr_decide(&problem, x->session, &options, a, b, &x->setup.arena, &decision, &error), MR_OK);
    return decision;
}

static void wrong(const examination *x, uint32_t a, uint32_t b, const char *what)
{
    const mr_window *w = x->setup.window;
    fail_msg("%" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "), %s: %s\nBRANCH_SEED=%" PRIu64
             " BRANCH_TRACES=1\n%s",
             w->start + a, w->start + b, w->start, w->end, mr_model_name(w->model), what, x->seed,
             x->text);
}

/* Does the checker accept the decision's reordering? */
static bool is_witness(const examination *x, const mr_decision *decision)
{
    const mr_window *w = x->setup.window;
    uint32_t events[MR_EXHAUSTIVE_EVENTS];
    for (uint32_t i = 0; i < decision->event_count; i++)
        events[i] = w->start + decision->events[i];
    mr_witness witness = {.first = w->start + decision->first,
                          .second = w->start + decision->second,
                          .window_start = w->start,
                          .window_end = w->end,
                          .model = w->model,
                          .events = events,
                          .event_count = decision->event_count};
    mr_error error;
    return mr_checker_check(x->checker, &witness, &error) == MR_OK;
}

static void examine_pair(examination *x, uint32_t a, uint32_t b)
{
    static const struct {
        bool linearise;
        uint64_t steps;
    } ways[] = {{true, 1000000000}, {false, 1000000000}, {false, 0}, {false, 30}};
    const mr_window *w = x->setup.window;
    bool race = mr_exhaustive_has(&x->races, w->start + a, w->start + b);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (i > 1 && (x->seed + i) % 2)
            continue;
        mr_decision decision = decide(x, a, b, ways[i].linearise, ways[i].steps);
        if (decision.verdict == MR_VERDICT_UNKNOWN)
            wrong(x, a, b, "is unknown");
        if ((decision.verdict == MR_VERDICT_RACE) != race)
            wrong(x, a, b, race ? "is a race, decided otherwise" : "is no race, decided otherwise");
        if (race && !is_witness(x, &decision))
            wrong(x, a, b, "has a witness that is none");
        x->settled[decision.step]++;
        x->raced[decision.step] += race;
    }
}

/* Two lists: all accesses of two threads to one variable with the same operation; of a free, it
 * alone; and of accesses of an object's variable, those on the same side of its free. */
static void examine_lists(examination *x, uint32_t a, uint32_t b)
{
    const mr_window *w = x->setup.window;
    const uint32_t first[2] = {a, b};
    uint32_t events[2][64], counts[2] = {0, 0};
    bool race = false;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = first[side]; i < w->size; i++)
            if (i == first[side] ||
                (w->thread[i] == w->thread[first[side]] && mr_op_is_access(mr_window_op(w, i)) &&
                 w->object[i] == w->object[first[side]] &&
                 mr_window_end_of_life(w, i) == mr_window_end_of_life(w, first[side]) &&
                 mr_window_op(w, i) == mr_window_op(w, first[side])))
                events[side][counts[side]++] = i;
    for (uint32_t i = 0; i < counts[0]; i++)
        for (uint32_t j = 0; j < counts[1]; j++) {
            uint32_t one = events[0][i], two = events[1][j];
            race |= mr_exhaustive_has(&x->races, w->start + (one < two ? one : two),
                                      w->start + (one < two ? two : one));
        }
    mr_problem problem = {
        .window = w, .hard = x->setup.hard, .forced = x->setup.forced, .source = x->setup.source};
    mr_decide_options options = {.steps = MR_ALL_STEPS,
                                 .saturate_steps = x->seed % 3 ? 1000000000 : 0};
    mr_decision decision;
    mr_error error = {0};
    assert_int_equal(mr_decide_any(&problem, x->session, &options, (mr_stops){events[0], counts[0]},
                                   (mr_stops){events[1], counts[1]}, &x->setup.arena, &decision,
                                   &error),
                     MR_OK);
    if ((decision.verdict == MR_VERDICT_RACE) != race)
        wrong(x, a, b, race ? "lists race, decided otherwise" : "lists do not race");
    if (race && !is_witness(x, &decision))
        wrong(x, a, b, "lists have a witness that is none");
}

/* What precedence says of an access holds in every reordering after which it is next. */
static void examine_precedence(const examination *x)
{
    const mr_window *w = x->setup.window;
    for (size_t state = 0; state < x->races.state_count; state++) {
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t done = mr_exhaustive_done(&x->races, state, w->threads[t].number);
            if (!done)
                continue;
            const uint32_t *clock = x->setup.forced.clock[mr_window_at(w, t, done - 1)];
            for (uint32_t u = 0; u < w->thread_count; u++)
                if (u != t && mr_precedence_count(w, clock, t, u) >
                                  mr_exhaustive_done(&x->races, state, w->threads[u].number))
                    wrong(x, mr_window_at(w, t, done - 1), u, "precedence asks for too much");
        }
    }
}

static void examine_window(examination *x, uint32_t start, uint32_t end)
{
    size_t races[3];
    for (int model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++) {
        mr_setup_window(&x->setup, start, end, (mr_model)model);
        const mr_window *w = x->setup.window;
        assert_true(mr_exhaustive_find(x->setup.trace, (mr_model)model, start, end, &x->races));
        races[model] = x->races.race_count;
        assert_true(model == 0 || races[model - 1] <= races[model]);
        examine_precedence(x);
        for (uint32_t a = 0; a < w->size; a++)
            for (uint32_t b = a + 1; b < w->size; b++)
                if (mr_exhaustive_conflict(x->setup.trace, start + a, start + b)) {
                    examine_pair(x, a, b);
                    examine_lists(x, a, b);
                }
        mr_exhaustive_free(&x->races);
    }
    x->more += races[MR_MODEL_BRANCH] - races[MR_MODEL_VALUE];
}

/* ---- running ---- */

static void open_trace(examination *x)
{
    mr_setup_open(&x->setup, x->text);
    x->checker = mr_checker_new(x->setup.trace, MR_OPAQUE_PAIR);
    assert_non_null(x->checker);
}

static void test_steps(void **state)
{
    (void)state;
    uint64_t traces = mr_number_from_environment("BRANCH_TRACES", DEFAULT_TRACES);
    uint64_t seed = mr_number_from_environment("BRANCH_SEED", DEFAULT_SEED);
    static char text[MOST_TEXT];
    examination x = {.session = mr_session_new(), .text = text};
    assert_non_null(x.session);
    for (uint64_t i = 0; i < traces; i++) {
        x.seed = seed + i;
        mr_random random = {x.seed};
        mr_shape shape = (mr_shape)mr_random_below(&random, MR_SHAPE_ALL);
        char *generated = mr_generate_trace(x.seed, shape);
        assert_non_null(generated);
        add_branches(generated, &random, text);
        free(generated);
        open_trace(&x);
        uint32_t count = x.setup.trace->event_count;
        examine_window(&x, 0, count);
        uint32_t start = mr_random_below(&random, count),
                 end = mr_random_range(&random, start, count);
        examine_window(&x, start, end);
        mr_checker_free(x.checker);
        mr_setup_close(&x.setup);
    }
    for (int step = 0; step < MR_STEP_COUNT; step++)
        print_message("  %-9s settled %7" PRIu64 ", races %7" PRIu64 "\n",
                      mr_step_name((mr_step)step), x.settled[step], x.raced[step]);
    print_message("  races of branch that are none of value: %" PRIu64 "\n", x.more);
    mr_session_free(x.session);
}

/* ---- twins: a smallest trace with the race in model branch, and its neighbour without ---- */

typedef struct twin {
    const char *what, *text;
    uint32_t a, b;      /* the pair, events */
    bool value, branch; /* is it a race? */
} twin;

static const twin twins[] = {
    {"B may read another y, nothing depends on it",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(x=2)|4\n", 0, 3, false, true},
    {"but not when B decides by it",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|branch()|4\nB|w(x=2)|5\n", 0, 4, false, false},
    {"a decision before the read binds nothing",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|branch()|3\nB|r(y=1)|4\nB|w(x=2)|5\n", 0, 4, false, true},
    {"a fork is a decision",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|fork(C)|4\nB|w(x=2)|5\nC|begin()|6\n", 0, 4, false,
     false},
    {"a release is none",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|acq(l)|3\nB|r(y=1)|4\nB|rel(l)|5\nB|w(x=2)|6\n", 0, 5, false, true},
    {"C decides by what B wrote after divergence: nobody sees that",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(z=1)|4\nC|r(z=1)|5\nC|branch()|6\nC|w(x=2)|7\n", 0, 6,
     false, false},
    {"C decides by nothing",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|r(y=1)|3\nB|w(z=1)|4\nC|r(z=1)|5\nC|w(x=2)|6\n", 0, 5, false, true},
    {"C decides by what B wrote before divergence",
     "A|w(x=1)|1\nA|w(y=1)|2\nB|w(z=1)|3\nB|r(y=1)|4\nC|r(z=1)|5\nC|branch()|6\nC|w(x=2)|7\n", 0, 6,
     true, true},
    {"by source: the same, without values",
     "A|w(x)|1\nA|w(y)|2\nB|r(y)|3\nB|w(z)|4\nC|r(z)|5\nC|branch()|6\nC|w(x)|7\n", 0, 6, false,
     false},
    {"by source, C decides by nothing",
     "A|w(x)|1\nA|w(y)|2\nB|r(y)|3\nB|w(z)|4\nC|r(z)|5\nC|w(x)|6\n", 0, 5, false, true},
    {"P decides by z, and B, which it joined, wrote z last: an unknown value, if B had diverged",
     "P|w(z=1)|1\nP|fork(B)|2\nA|w(x=1)|3\nA|w(y=1)|4\nB|r(y=1)|5\nB|w(z=1)|6\nP|join(B)|7\n"
     "P|r(z=1)|8\nP|branch()|9\nP|w(x=2)|10\n",
     2, 9, false, false},
    {"the same value from B before it diverges",
     "P|w(z=1)|1\nP|fork(B)|2\nA|w(x=1)|3\nA|w(y=1)|4\nB|w(z=1)|5\nB|r(y=1)|6\nP|join(B)|7\n"
     "P|r(z=1)|8\nP|branch()|9\nP|w(x=2)|10\n",
     2, 9, false, true},
    {"B diverges and stands at x, and its z is none of those that C may see: D wrote another",
     "D|w(z=1)|1\nC|r(z=1)|2\nC|branch()|3\nC|w(x=1)|4\nC|w(q=1)|5\nA|r(q=1)|6\nA|branch()|7\n"
     "A|w(y=1)|8\nB|r(y=1)|9\nB|w(z=1)|10\nB|w(x=2)|11\n",
     3, 10, false, true},
    {"A has y only after D, and C may see z of B before that only when B has not diverged",
     "B|r(p=0)|1\nB|branch()|2\nA|w(x=1)|3\nA|w(y=1)|4\nB|r(y=1)|5\nB|w(z=1)|6\nC|r(z=1)|7\n"
     "C|branch()|8\nC|w(x=2)|9\n",
     2, 8, false, false},
    {"after a join and a read, a decision needs both",
     "P|fork(B)|1\nB|w(x=1)|2\nB|w(z=1)|3\nP|r(y=1)|4\nP|join(B)|5\nP|branch()|6\nP|w(x=2)|7\n", 1,
     6, false, false},
    {"B diverges between z, which C must see, and q, which C may have from D",
     "D|w(q=1)|1\nB|r(v=0)|2\nB|w(z=1)|3\nC|r(z=1)|4\nC|r(q=1)|5\nC|branch()|6\nC|w(x=1)|7\n"
     "C|w(s=1)|8\nA|r(s=1)|9\nA|branch()|10\nA|w(y=1)|11\nB|r(y=1)|12\nB|w(q=1)|13\nB|w(x=2)|14\n"
     "D|w(v=3)|15\n",
     6, 13, false, true},
    {"C has z from B, since D has it too late, and B must have u from E, by source",
     "E|w(u)|1\nB|r(u)|2\nB|w(z=1)|3\nC|r(z=1)|4\nC|branch()|5\nC|w(x=1)|6\nC|w(s=1)|7\n"
     "D|r(s=1)|8\nD|branch()|9\nD|w(z=1)|10\nF|w(x=2)|11\n",
     5, 10, true, true},
    {"the same with values",
     "E|w(u=1)|1\nB|r(u=1)|2\nB|w(z=1)|3\nC|r(z=1)|4\nC|branch()|5\nC|w(x=1)|6\nC|w(s=1)|7\n"
     "D|r(s=1)|8\nD|branch()|9\nD|w(z=1)|10\nF|w(x=2)|11\n",
     5, 10, true, true},
    {"an update that diverges writes an unknown value itself",
     "A|w(x=1)|1\nA|aw(y=1)|2\nB|au(y=1>2)|3\nC|ar(y=2)|4\nC|branch()|5\nC|w(x=2)|6\n", 0, 5, false,
     false},
    {"an update that reads what it read writes what it wrote",
     "A|w(x=1)|1\nB|au(y=1>2)|2\nC|ar(y=2)|3\nC|branch()|4\nC|w(x=2)|5\n", 0, 4, true, true},
};

static void test_twins(void **state)
{
    (void)state;
    examination x = {.session = mr_session_new()};
    assert_non_null(x.session);
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        x.text = twins[i].text;
        open_trace(&x);
        for (int model = MR_MODEL_VALUE; model <= MR_MODEL_BRANCH; model++) {
            uint32_t count = x.setup.trace->event_count;
            bool race = model == MR_MODEL_VALUE ? twins[i].value : twins[i].branch;
            mr_setup_window(&x.setup, 0, count, (mr_model)model);
            assert_true(mr_exhaustive_find(x.setup.trace, (mr_model)model, 0, count, &x.races));
            if (mr_exhaustive_has(&x.races, twins[i].a, twins[i].b) != race)
                fail_msg("%s, model %s: the search says otherwise", twins[i].what,
                         mr_model_name((mr_model)model));
            examine_pair(&x, twins[i].a, twins[i].b);
            mr_exhaustive_free(&x.races);
        }
        mr_checker_free(x.checker);
        mr_setup_close(&x.setup);
    }
    mr_session_free(x.session);
}

/* Precedences and decision with the n-th allocation failing, for every n. */
static void test_no_memory(void **state)
{
    (void)state;
    const twin *t = &twins[sizeof twins / sizeof *twins - 3]; /* needs the formula */
    examination x = {.session = mr_session_new(), .text = t->text};
    assert_non_null(x.session);
    open_trace(&x);
    mr_setup_window(&x.setup, 0, x.setup.trace->event_count, MR_MODEL_BRANCH);
    mr_decide_options options = {.steps = MR_ALL_STEPS & ~MR_STEP_BIT(MR_STEP_LINEARISE),
                                 .saturate_steps = 1000000};
    bool complete = false;
    for (uint64_t fail_at = 1; !complete; fail_at++) {
        mr_arena arena;
        mr_problem problem;
        mr_decision decision = {0};
        mr_error error = {0};
        mr_arena_init(&arena);
        mr_memory_fail_after(fail_at);
        bool built = mr_problem_init(&problem, x.setup.window, &arena);
        mr_status status =
            built ? mr_decide(&problem, x.session, &options, t->a, t->b, &arena, &decision, &error)
                  : MR_ERR_MEMORY;
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        complete = status == MR_OK;
        assert_true(!complete || decision.verdict == MR_VERDICT_RACE);
        assert_true(complete || fail_at < 200);
        mr_arena_free(&arena);
    }
    mr_checker_free(x.checker);
    mr_setup_close(&x.setup);
    mr_session_free(x.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins),
                                       cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
