/*
 * survey: all races of a window at once, in windows of small random traces; against exhaustive search, place by place.
 * Then what near.h makes of it, the races that walks find, and which two accesses are never together.
 *
 *   SURVEY_TRACES, SURVEY_SEED, SURVEY_SHAPE choose other traces (support/trials.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/near.h"
#include "predict/survey.h"
#include "predict/walks.h"
#include "solver/together.h"
#include "support/exhaustive.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/random.h"
#include "support/trace_reading.h"
#include "support/trials.h"

#include "bench/hard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ANY_EFFORT 1000000000

enum { MOST_ASKED = 4 }; /* candidates of a window that are asked about with more precedence */

enum { SHARE_TRACES = 1400, DEFAULT_TRACES = 15000, DEFAULT_SEED = 1 };

/* The settings, and a worker that stands before a window. */
typedef struct surveyor {
    mr_config *config;
    mr_predict_settings settings;
    mr_worker worker;
    mr_window *window;
    mr_problem problem;
    mr_candidates candidates;
    bool *settled;
    mr_outcome *outcome;
} surveyor;

/* Without the steps filter and cone there are more pairs of places without a race. */
static void set_up(surveyor *s, const mr_trace *trace, mr_model model, uint32_t start, uint32_t end,
                   bool filtered)
{
    const char *const settings[] = {"model",
                                    mr_model_name(model),
                                    "window.size",
                                    "0",
                                    filtered ? NULL : "solver.steps",
                                    "saturate,explore",
                                    NULL};
    mr_error error = {0};
    s->config = mr_settings_of(settings);
    assert_int_equal(mr_predict_settings_read(&s->settings, trace, s->config, &error), MR_OK);
    assert_int_equal(mr_worker_init(&s->worker, &s->settings, NULL, &error), MR_OK);
    s->worker.error = &error;
    mr_arena *arena = &s->worker.arena;
    assert_int_equal(mr_worker_order(&s->worker, start, end), MR_OK);
    mr_carried_move(&s->worker.carried, start);
    assert_int_equal(mr_window_build(&s->worker.carried, end, model, arena, &s->window, &error),
                     MR_OK);
    assert_true(mr_problem_init(&s->problem, s->window, arena));
    mr_candidate_options options = s->worker.candidates;
    options.stop_when_full = false;
    assert_true(mr_candidates_find(&s->candidates, s->window, &s->problem.hard, &s->problem.forced,
                                   s->worker.hb, s->worker.wcp, &options, arena));
    s->settled = mr_arena_zalloc(arena, s->candidates.group_count + 1, sizeof *s->settled);
    s->outcome = mr_outcome_new(0);
    assert_non_null(s->settled);
    assert_non_null(s->outcome);
}

static void tear_down(surveyor *s)
{
    mr_near_forget(&s->worker);
    mr_outcome_free(s->outcome);
    mr_worker_free(&s->worker);
    mr_predict_settings_free(&s->settings);
    mr_config_free(s->config);
}

/* What is compared, and what went wrong. */
typedef struct examination {
    mr_trial *trial;
    const mr_trace *trace;
    mr_model model;
    uint32_t start, end;
    mr_exhaustive search;
    size_t races, proofs, walked, all; /* walks have found so many of all races */
    size_t apart, candidates;          /* so many of all candidates are never together */
    size_t raised;                     /* windows with more precedence by that */
    size_t asked, asked_raised; /* pairs of places that near left open; with more precedence */
    size_t gave_up;             /* searches in short memory that did not come to their end */
} examination;

static void wrong(examination *x, const char *what, uint32_t a, uint32_t b)
{
    mr_trial_wrong(x->trial, "in [%" PRIu32 ", %" PRIu32 "), %s: %" PRIu32 " and %" PRIu32 " %s",
                   x->start, x->end, mr_model_name(x->model), a, b, what);
}

static bool are_at(const mr_trace *trace, uint32_t a, uint32_t b, uint32_t x, uint32_t y)
{
    uint32_t at_a = trace->location[a], at_b = trace->location[b];
    return (at_a == x && at_b == y) || (at_a == y && at_b == x);
}

/* Has it a race that exhaustive search does not have, or at other places than it says? */
static bool is_false(const examination *x, const mr_pair_verdict *verdict)
{
    const mr_witness *it = &verdict->race.witness;
    return verdict->rejected_witnesses || !mr_exhaustive_has(&x->search, it->first, it->second) ||
           !are_at(x->trace, it->first, it->second, verdict->key_1, verdict->key_2);
}

static bool is_found(const mr_trace *trace, const mr_outcome *outcome, const mr_pair *race)
{
    for (size_t i = 0; i < outcome->count; i++)
        if (are_at(trace, race->first, race->second, outcome->verdicts[i].key_1,
                   outcome->verdicts[i].key_2))
            return true;
    return false;
}

/* Every pair of places with a race is found, and no other. With little effort only the second holds. */
static void examine_survey(examination *x, uint64_t effort)
{
    surveyor s = {0};
    bool complete;
    set_up(&s, x->trace, x->model, x->start, x->end, x->trial->choice % 3 == 0);
    assert_true(mr_survey_is_used(&s.worker, &s.problem));
    assert_int_equal(mr_survey_search(&s.worker, &s.problem, &s.candidates, NULL, effort, s.settled,
                                      s.outcome, &complete),
                     MR_OK);
    assert_true(complete || effort < ANY_EFFORT);
    for (size_t i = 0; i < s.outcome->count; i++) {
        const mr_witness *it = &s.outcome->verdicts[i].race.witness;
        if (is_false(x, &s.outcome->verdicts[i]))
            wrong(x, "are told, and are no race", it->first, it->second);
    }
    for (size_t r = 0; complete && r < x->search.race_count; r++)
        if (!is_found(x->trace, s.outcome, &x->search.races[r]))
            wrong(x, "race, and are not told", x->search.races[r].first, x->search.races[r].second);
    x->races += s.outcome->count;
    tear_down(&s);
}

/* Does exhaustive search have a race of the two places? */
static bool has_race(const examination *x, uint32_t location_1, uint32_t location_2)
{
    for (size_t r = 0; r < x->search.race_count; r++)
        if (are_at(x->trace, x->search.races[r].first, x->search.races[r].second, location_1,
                   location_2))
            return true;
    return false;
}

/* Questions are answered as without the precedence that near has found, also those about a pair of places that it leaves
 * open since many others are never together. */
static void ask_with_raised(examination *x, surveyor *s, const mr_candidate_group *group,
                            bool races)
{
    const mr_problem *raised = mr_near_problem(&s->worker);
    const mr_problem *problem = raised ? raised : &s->problem;
    mr_error error = {0};
    bool found = false;
    assert_int_equal(group->left_out, 0);
    for (uint32_t i = 0; i < group->count; i++) {
        const mr_candidate *it = &s->candidates.items[group->first + i];
        mr_decision decision;
        assert_int_equal(mr_decide(problem, s->worker.session, &s->settings.decide, it->first,
                                   it->second, &s->worker.arena, &decision, &error),
                         MR_OK);
        if (decision.verdict == MR_VERDICT_UNKNOWN)
            wrong(x, "are unknown with near's precedence", x->start + it->first,
                  x->start + it->second);
        found |= decision.verdict == MR_VERDICT_RACE;
    }
    if (found != races)
        wrong(x, "are decided wrongly with near's precedence",
              x->start + s->candidates.items[group->first].first,
              x->start + s->candidates.items[group->first].second);
    x->asked++;
    x->asked_raised += raised && raised->forced.refined;
}

/* The small windows and then the survey settle each pair of places, or they leave some with more precedence. */
static void examine_near(examination *x)
{
    surveyor s = {0};
    set_up(&s, x->trace, x->model, x->start, x->end, x->trial->choice % 3 == 0);
    for (uint32_t g = 0; g < s.candidates.group_count; g++) {
        const mr_candidate_group *group = &s.candidates.groups[g];
        uint32_t first = x->start + s.candidates.items[group->first].first;
        uint32_t second = x->start + s.candidates.items[group->first].second;
        mr_pair_verdict *race;
        bool no_race, races = has_race(x, group->location_1, group->location_2);
        assert_int_equal(mr_near_race(&s.worker, &s.problem, group->location_1, group->location_2,
                                      &race, &no_race),
                         MR_OK);
        if (race && is_false(x, race))
            wrong(x, "are said to race near", first, second);
        bool is_open = !race && !no_race && mr_near_has_many_states(&s.worker);
        if (is_open || mr_near_problem(&s.worker))
            ask_with_raised(x, &s, group, races);
        if (!is_open && (races ? no_race || !race : !no_race))
            wrong(x, races ? "race, and near does not tell" : "are open near", first, second);
        x->proofs += no_race;
    }
    tear_down(&s);
}

/* Walks find races only. */
static void examine_walks(examination *x)
{
    surveyor s = {0};
    set_up(&s, x->trace, x->model, x->start, x->end, x->trial->choice % 3 == 0);
    bool with_leads = x->trial->choice % 2;
    assert_int_equal(mr_walks_search(&s.worker, &s.problem, &s.candidates, s.settled, with_leads,
                                     NULL, s.outcome),
                     MR_OK);
    assert_int_equal(s.worker.rejected_witnesses, 0);
    for (size_t i = 0; i < s.outcome->count; i++) {
        const mr_witness *it = &s.outcome->verdicts[i].race.witness;
        if (is_false(x, &s.outcome->verdicts[i]))
            wrong(x, "are found by a walk, and are no race", it->first, it->second);
    }
    for (size_t r = 0; r < x->search.race_count; r++)
        x->walked += is_found(x->trace, s.outcome, &x->search.races[r]);
    x->all += x->search.race_count;
    tear_down(&s);
}

/* What is said of a list is what is said of one of its accesses. Lists: the last accesses, one or more, of the second one's
 * thread to its variable. */
static void ask_for_lists(examination *x, const surveyor *s, const mr_together *together,
                          uint32_t first, uint32_t second)
{
    const mr_window *w = s->window;
    uint32_t *events = malloc(w->size * sizeof *events), count = 0;
    assert_non_null(events);
    for (uint32_t event = 0; event < w->size; event++)
        if (w->thread[event] == w->thread[second] && w->object[event] == w->object[second] &&
            mr_op_is_access(mr_window_op(w, event)))
            events[count++] = event;
    bool any = false;
    for (uint32_t k = count; k-- > 0;) {
        any |= mr_together_may_be(together, first, &events[k], 1);
        if (any != mr_together_may_be(together, first, events + k, count - k))
            wrong(x, "list and its accesses say different things", first + x->start,
                  events[k] + x->start);
    }
    free(events);
}

/* Whoever has come to an event has all that is before it by precedence. */
static void examine_precedence(examination *x, const mr_window *w, const mr_precedence *forced)
{
    for (size_t state = 0; state < x->search.state_count; state++)
        for (uint32_t t = 0; t < w->thread_count; t++) {
            uint32_t done = mr_exhaustive_done(&x->search, state, w->threads[t].number);
            uint32_t event = done ? mr_window_at(w, t, done - 1) : 0;
            for (uint32_t u = 0; done && u < w->thread_count; u++)
                if (u != t && mr_precedence_count(w, forced->clock[event], t, u) >
                                  mr_exhaustive_done(&x->search, state, w->threads[u].number)) {
                    wrong(x, "has not all that is said to be before it", x->start + event, u);
                    return;
                }
        }
}

/* What two threads are never together at is before, and questions are answered as without that. */
static void examine_raised(examination *x, surveyor *s, const mr_together *together)
{
    mr_decide_options options = s->settings.decide;
    mr_error error = {0};
    options.steps = MR_STEP_BIT(MR_STEP_FILTER) | MR_STEP_BIT(MR_STEP_CONE) |
                    MR_STEP_BIT(MR_STEP_ELIMINATE) | MR_STEP_BIT(MR_STEP_SATURATE);
    assert_true(mr_together_raise(together, &s->problem.forced, &s->worker.arena));
    examine_precedence(x, s->window, &s->problem.forced);
    x->raised += s->problem.forced.refined;
    for (uint32_t c = 0; c < s->candidates.count && c < MOST_ASKED; c++) {
        const mr_candidate *it = &s->candidates.items[c];
        mr_decision decision;
        assert_int_equal(mr_decide(&s->problem, s->worker.session, &options, it->first, it->second,
                                   &s->worker.arena, &decision, &error),
                         MR_OK);
        bool races = mr_exhaustive_has(&x->search, x->start + it->first, x->start + it->second);
        if (decision.verdict != (races ? MR_VERDICT_RACE : MR_VERDICT_NO_RACE))
            wrong(x, "are decided wrongly with more precedence", x->start + it->first,
                  x->start + it->second);
    }
}

/* With less memory than the search takes, wherever it ends, it gives up: the run goes on. */
static void examine_short_memory(examination *x, surveyor *s, const mr_precedence *forced)
{
    mr_explore_limits limits = {.effort = ANY_EFFORT};
    mr_explored result = MR_EXPLORED_OUT_OF_EFFORT;
    mr_together *together;
    for (limits.memory_bytes = 8; result != MR_EXPLORED_ALL; limits.memory_bytes += 8) {
        uint64_t spent = 0;
        result = mr_together_search(s->window, &s->problem.hard, forced, &limits, &spent, NULL,
                                    &s->worker.arena, &together);
        assert_true(result == MR_EXPLORED_ALL || result == MR_EXPLORED_OUT_OF_EFFORT);
        x->gave_up += result == MR_EXPLORED_OUT_OF_EFFORT;
    }
}

/* The accesses of a race may be together. */
static void examine_together(examination *x)
{
    surveyor s = {0};
    const mr_explore_limits limits = {.effort = ANY_EFFORT};
    uint64_t spent = 0;
    mr_together *together;
    set_up(&s, x->trace, x->model, x->start, x->end, x->trial->choice % 3 == 0);
    const mr_precedence *forced = x->trial->choice % 2 ? &s.problem.forced : &s.problem.hard;
    assert_int_equal(mr_together_search(s.window, &s.problem.hard, forced, &limits, &spent, NULL,
                                        &s.worker.arena, &together),
                     MR_EXPLORED_ALL);
    for (size_t r = 0; r < x->search.race_count; r++) {
        const mr_pair *race = &x->search.races[r];
        const uint32_t second = race->second - x->start;
        if (!mr_together_may_be(together, race->first - x->start, &second, 1))
            wrong(x, "race, and are said to be never together", race->first, race->second);
    }
    for (uint32_t c = 0; c < s.candidates.count; c++) {
        const mr_candidate *candidate = &s.candidates.items[c];
        x->apart += !mr_together_may_be(together, candidate->first, &candidate->second, 1);
        ask_for_lists(x, &s, together, candidate->first, candidate->second);
    }
    if (x->trial->choice % 16 == 1)
        examine_short_memory(x, &s, forced);
    if (forced == &s.problem.forced)
        examine_raised(x, &s, together);
    x->candidates += s.candidates.count;
    tear_down(&s);
}

/* The trace as a whole, or a window of it by chance. */
static void examine(examination *x, mr_trial *trial, mr_model model, bool whole)
{
    mr_random random = {trial->choice + (uint64_t)model};
    uint32_t count = trial->trace->event_count;
    x->trial = trial;
    x->trace = trial->trace;
    x->model = model;
    x->start = whole ? 0 : mr_random_below(&random, count - 1);
    x->end = whole ? count : mr_random_range(&random, x->start + 2, count);
    assert_true(mr_exhaustive_find(x->trace, model, x->start, x->end, &x->search));
    examine_survey(x, ANY_EFFORT);
    examine_survey(x, 1 + trial->choice % 200);
    examine_near(x);
    examine_walks(x);
    examine_together(x);
    mr_exhaustive_free(&x->search);
}

static void examine_trial(mr_trial *trial, void *context)
{
    for (int model = MR_MODEL_RF; model <= MR_MODEL_VALUE && trial->trace->event_count > 1;
         model++) {
        examine(context, trial, (mr_model)model, true);
        examine(context, trial, (mr_model)model, false);
    }
}

static void agrees_with_exhaustive_search(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "SURVEY",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .all_kinds = true};
    examination x = {0};
    uint64_t traces = mr_trials_run(&trials, examine_trial, &x);
    print_message("%zu races, %zu proofs; walks find %zu of %zu pairs of events\n", x.races,
                  x.proofs, x.walked, x.all);
    print_message("%zu of %zu candidates are never together, %zu are races; %zu windows have more "
                  "precedence; %zu pairs of places are asked about, %zu with it\n",
                  x.apart, x.candidates, x.all, x.raised, x.asked, x.asked_raised);
    assert_true(x.walked >= x.all / 4 * 3); /* most, as the traces are small */
    if (traces >= SHARE_TRACES)
        assert_true(x.races > traces && x.proofs > traces / 4 && x.raised > traces / 400 &&
                    x.gave_up > traces);
}

/* Small nests and many threads, which is what it is for. */
static void hard_shapes_agree_with_exhaustive_search(void **state)
{
    (void)state;
    enum { EACH = 30, FULL = 250, SHAPES = 3 };
    static const size_t numbers[SHAPES] = {0, 1, 4};
    const char *given = getenv("SURVEY_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1,
             count = mr_length("SURVEY_NESTS", EACH, FULL);
    examination x = {0};
    for (uint64_t i = 0; i < SHAPES * count; i++) {
        mr_hard_shape shape = mr_hard_small[numbers[i % SHAPES]];
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        mr_trial trial = {.seed = seed + i, .choice = seed + i};
        assert_non_null(out);
        shape.seed = seed + i;
        assert_true(shape.family == MR_HARD_NESTED || shape.family == MR_HARD_WIDE);
        assert_true(mr_hard_write(&shape, out));
        assert_int_equal(fclose(out), 0);
        assert_true(mr_trial_text(&trial, text, examine_trial, &x));
        assert_string_equal(trial.wrong, "");
        free(text);
    }
    assert_true(x.races > 0);
}

/* An access without the lock waits while the others go on, one of them before the other in the trace that needs it, and
 * a section waits for accesses without the lock. */
static void a_walk_finds_all_that_is_reached(void **state)
{
    (void)state;
    static const char text[] = "T2|acq(L)|20\nT2|w(V=2)|21\nT2|rel(L)|22\n"
                               "T1|w(V=1)|11\n"
                               "T2|acq(L)|23\nT2|r(V=1)|24\nT2|w(V=5)|25\nT2|rel(L)|26\n"
                               "T3|acq(L)|30\nT3|w(V=1)|31\nT3|rel(L)|32\n"
                               "T2|acq(L)|27\nT2|r(V=1)|28\nT2|rel(L)|29\n"
                               "T1|r(V=1)|12\n";
    mr_trace *trace = mr_test_read(text, false);
    mr_trial trial = {0};
    examination x = {
        .trial = &trial, .trace = trace, .model = MR_MODEL_VALUE, .end = trace->event_count};
    assert_true(mr_exhaustive_find(trace, x.model, 0, x.end, &x.search));
    examine_walks(&x);
    assert_string_equal(trial.wrong, "");
    assert_int_equal(x.all, 8);
    assert_int_equal(x.walked, x.all);
    mr_exhaustive_free(&x.search);
    mr_trace_free(trace);
}

/* Sections that are not atomic where each of their parts looks as if they were (solver/atomic_sections.h), and one that is. */
static void sections_are_atomic_only_where_nothing_comes_between(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t races, apart;
    } cases[] = {
        /* Two sections of different locks access the same variables. */
        {"T1|acq(k)|1\nT1|w(X=1)|2\nT1|w(Y=1)|3\nT1|rel(k)|4\n"
         "T2|acq(l)|5\nT2|w(X=2)|6\nT2|w(Y=2)|7\nT2|rel(l)|8\n"
         "T3|acq(k)|9\nT3|rel(k)|10\nT3|acq(l)|11\nT3|rel(l)|12\n",
         2, 0},
        /* A call of opaque code comes after an access inside the section, and before the other access of the race. */
        {"T1|acq(l)|1\nT1|w(X=1)|2\nT1|w(Y=1)|3\nT1|rel(l)|4\n"
         "T2|mbegin(m:X)|5\nT2|mend(m)|6\nT2|w(Y=2)|7\n"
         "T3|acq(l)|8\nT3|rel(l)|9\n",
         1, 0},
        /* A section sees both of what another one writes. */
        {"T1|acq(l)|1\nT1|w(X=1)|2\nT1|w(Y=1)|3\nT1|rel(l)|4\n"
         "T2|acq(l)|5\nT2|r(X=1)|6\nT2|r(Y=1)|7\nT2|rel(l)|8\n"
         "T2|w(Z=1)|9\nT3|w(Z=2)|10\n",
         1, 0},
        /* The race is at 5 and 14: T2 reads Y=5 before T3 writes the second Y=1, which T1 reads then. Only from that write do the
         * two threads stand there together. It is found when all pairs of the state before T1's section are known; what wakes
         * the section is the state of Y, its second variable. */
        {"T3|acq(l)|0\nT3|w(X=0)|1\nT3|w(Y=1)|1\nT3|rel(l)|1\n"
         "T1|acq(l)|2\nT1|w(X=1)|3\nT1|r(Y=1)|4\nT1|rel(l)|4\n"
         "T1|w(Z=1)|5\n"
         "T1|acq(l)|6\nT1|w(X=0)|7\nT1|rel(l)|7\n"
         "T3|acq(l)|8\nT3|r(X=0)|8\nT3|w(Y=5)|9\nT3|rel(l)|9\n"
         "T3|acq(l)|10\nT3|w(Y=1)|10\nT3|rel(l)|10\n"
         "T3|acq(l)|11\nT3|r(X=0)|11\nT3|w(Y=5)|12\nT3|rel(l)|12\n"
         "T2|r(Y=5)|13\nT2|w(Z=2)|14\n",
         2, 0},
        /* What T1 reads comes before T3's second write, and its own write after the call that reads that: there is no one time
         * for its section. */
        {"T3|acq(l)|1\nT3|w(X=0)|2\nT3|rel(l)|3\n"
         "T1|acq(l)|4\nT1|r(X=0)|5\nT3|w(X=1)|6\n"
         "T2|r(X=1)|7\nT2|mbegin(m:Y)|8\nT2|mend(m)|9\n"
         "T1|w(Y=1)|10\nT1|rel(l)|11\nT1|w(Z=1)|12\nT4|w(Z=2)|13\n",
         4, 0},
        /* T2 enters no section while T1 is in a shared one, so T1 does not write Z beside T2. */
        {"T1|racq(l)|1\nT1|r(X=0)|2\nT1|w(Z=1)|3\nT1|rrel(l)|4\n"
         "T2|acq(l)|5\nT2|w(X=1)|6\nT2|rel(l)|7\nT2|w(Z=2)|8\n",
         0, 1},
        /* Another shared one it does enter. */
        {"T1|racq(l)|1\nT1|r(X=0)|2\nT1|w(Z=1)|3\nT1|rrel(l)|4\n"
         "T2|racq(l)|5\nT2|r(X=0)|6\nT2|rrel(l)|7\nT2|w(Z=2)|8\n"
         "T2|acq(l)|9\nT2|w(X=1)|10\nT2|rel(l)|11\n",
         1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_trial trial = {.choice = 1};
        examination x = {0};
        assert_true(mr_trial_text(&trial, cases[i].text, examine_trial, &x));
        assert_string_equal(trial.wrong, "");
        assert_true(x.all >= cases[i].races);
        assert_true(x.apart >= cases[i].apart);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_atomic_only_where_nothing_comes_between),
        cmocka_unit_test(agrees_with_exhaustive_search),
        cmocka_unit_test(hard_shapes_agree_with_exhaustive_search),
        cmocka_unit_test(a_walk_finds_all_that_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
