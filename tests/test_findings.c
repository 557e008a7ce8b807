/*
 * Is what is found beside races (docs/semantics.md 7) exact? Compared with exhaustive search
 * (support/goal_search.h) on random traces with objects, frees, pointers and locks: every free and use,
 * set of acquires and read, in all models, without windows and with small ones, by the whole ladder and
 * by steps alone; then what is found by places, over the whole trace.
 *
 * FINDINGS_TRACES, FINDINGS_SEED and FINDINGS_SHAPE in the environment choose other traces
 * (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/predict.h"
#include "support/goal_search.h"
#include "support/length.h"
#include "support/predicted.h"
#include "support/sample.h"
#include "support/trials.h"
#include "support/yardstick.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 5000, SHARE_TRACES = 600, DEFAULT_SEED = 20261123, PLANS = 4 };

static const mr_test_windows plans[PLANS] = {{0, 0}, {6, 3}, {5, 0}, {8, 4}};

/* What is found, by events; by places: of each set the first events with the same places. */
typedef struct goal_set {
    bool uses[MR_GOAL_EVENTS][MR_GOAL_EVENTS]; /* of the free, of the use */
    bool reads[MR_WITNESS_KINDS][MR_GOAL_EVENTS];
    uint64_t deadlocks[MR_GOAL_DEADLOCKS]; /* ascending */
    uint32_t deadlock_count;
} goal_set;

typedef struct examination {
    mr_trial *trial;
    const char *steps; /* or "eager" */
    const char *report, *far;
    mr_model model;
    mr_test_windows plan;
    uint64_t found[MR_WITNESS_KINDS];
} examination;

static void wrong(examination *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(examination *x, const char *format, ...)
{
    char what[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    mr_trial_wrong(x->trial,
                   "--model %s --window-size %" PRIu32 " --window-overlap %" PRIu32
                   " --candidates-report %s --candidates-far %s --solver-steps %s: %s",
                   mr_model_name(x->model), x->plan.size, x->plan.overlap, x->report, x->far,
                   x->steps, what);
}

/* ---- sets ---- */

static void add_deadlock(goal_set *set, uint64_t acquires)
{
    uint32_t at = 0;
    while (at < set->deadlock_count && set->deadlocks[at] < acquires)
        at++;
    if (at < set->deadlock_count && set->deadlocks[at] == acquires)
        return;
    assert_true(set->deadlock_count < MR_GOAL_DEADLOCKS);
    memmove(set->deadlocks + at + 1, set->deadlocks + at,
            (set->deadlock_count - at) * sizeof *set->deadlocks);
    set->deadlocks[at] = acquires;
    set->deadlock_count++;
}

/* Events, or in a set by places the first event of the trace at their place. */
static uint32_t named(const examination *x, uint32_t event)
{
    const uint32_t *location = x->trial->trace->location;
    if (!strcmp(x->report, "event"))
        return event;
    for (uint32_t e = 0;; e++)
        if (location[e] == location[event])
            return e;
}

static uint64_t named_all(const examination *x, uint64_t events)
{
    uint64_t all = 0;
    for (uint32_t e = 0; e < MR_GOAL_EVENTS; e++)
        if (events >> e & 1)
            all |= UINT64_C(1) << named(x, e);
    return all;
}

static void add_right(const examination *x, const mr_right_goals *right, goal_set *set)
{
    uint32_t count = x->trial->trace->event_count;
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++)
            if (right->use_after_free[a][b])
                set->uses[named(x, a)][named(x, b)] = true;
        uint32_t at = named(x, a);
        set->reads[MR_WITNESS_NULL][at] |= right->null[a] != 0;
        set->reads[MR_WITNESS_DANGLING][at] |= right->dangling[a] != 0;
        set->reads[MR_WITNESS_DOUBLE_FREE][at] |= right->double_free[a] != 0;
    }
    for (uint32_t i = 0; i < right->deadlock_count; i++)
        add_deadlock(set, named_all(x, right->deadlocks[i].acquires));
}

static void add_found(examination *x, const mr_witness *w, goal_set *set)
{
    uint64_t acquires = 0;
    bool twice = false, *at = NULL;
    x->found[w->kind]++;
    switch (w->kind) {
    case MR_WITNESS_USE_AFTER_FREE:
        at = &set->uses[named(x, w->first)][named(x, w->second)];
        break;
    case MR_WITNESS_NULL:
    case MR_WITNESS_DANGLING:
    case MR_WITNESS_DOUBLE_FREE:
        at = &set->reads[w->kind][named(x, w->second)];
        break;
    case MR_WITNESS_DEADLOCK:
        for (uint32_t i = 0; i < w->wait_count; i++)
            acquires |= UINT64_C(1) << w->waits[i];
        uint32_t before = set->deadlock_count;
        add_deadlock(set, named_all(x, acquires));
        twice = set->deadlock_count == before;
        break;
    case MR_WITNESS_RACE:
    case MR_WITNESS_MEMORY_ORDER:
    case MR_WITNESS_SEES:
    case MR_WITNESS_KINDS:
        wrong(x, "a finding of the kind %d", (int)w->kind);
        return;
    }
    twice |= at && *at;
    if (at)
        *at = true;
    if (twice && !strcmp(x->report, "event"))
        wrong(x, "%s %" PRIu32 "-%" PRIu32 " is reported twice", mr_witness_kind_name(w->kind),
              w->first, w->second);
}

static bool has_deadlock(const goal_set *set, uint64_t acquires)
{
    for (uint32_t i = 0; i < set->deadlock_count; i++)
        if (set->deadlocks[i] == acquires)
            return true;
    return false;
}

/* Is all of `small` in `big`? */
static bool contained(examination *x, const goal_set *small, const goal_set *big, const char *what)
{
    for (uint32_t a = 0; a < MR_GOAL_EVENTS; a++) {
        for (uint32_t b = 0; b < MR_GOAL_EVENTS; b++)
            if (small->uses[a][b] && !big->uses[a][b])
                wrong(x, "use-after-free %" PRIu32 "-%" PRIu32 " %s", a, b, what);
        for (int kind = 0; kind < MR_WITNESS_KINDS; kind++)
            if (small->reads[kind][a] && !big->reads[kind][a])
                wrong(x, "%s %" PRIu32 " %s", mr_witness_kind_name((mr_witness_kind)kind), a, what);
    }
    for (uint32_t i = 0; i < small->deadlock_count; i++)
        if (!has_deadlock(big, small->deadlocks[i]))
            wrong(x, "deadlock %" PRIx64 " %s", small->deadlocks[i], what);
    return !x->trial->wrong[0];
}

/* ---- what is right, what is found ---- */

static bool find_right(examination *x, goal_set *set)
{
    uint32_t start, end;
    bool event = !strcmp(x->report, "event") || !strcmp(x->far, "none");
    mr_test_windows plan = event ? x->plan : plans[0];
    *set = (goal_set){0};
    for (uint32_t k = 0; mr_test_window(x->trial->trace, plan, k, &start, &end); k++) {
        mr_right_goals *right =
            mr_goal_search(x->trial->trace, x->model, MR_OPAQUE_PAIR, start, end);
        if (!right)
            return false;
        add_right(x, right, set);
        mr_goal_search_free(right);
    }
    return true;
}

static void examine_result(examination *x, const mr_result *result, goal_set *set)
{
    mr_checker *checker = mr_checker_new(x->trial->trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    if (result->stats.rejected_witnesses)
        wrong(x, "a witness is rejected");
    if (result->finding_unknown_count)
        wrong(x, "%s %" PRIu32 "-%" PRIu32 " is unknown: %s",
              mr_witness_kind_name(result->finding_unknowns[0].kind),
              result->finding_unknowns[0].first, result->finding_unknowns[0].second,
              mr_unknown_reason_name(result->finding_unknowns[0].reason));
    for (size_t i = 0; i < result->finding_count && !x->trial->wrong[0]; i++) {
        const mr_witness *w = &result->findings[i].witness;
        mr_error error = {0};
        if (mr_checker_check(checker, w, &error) != MR_OK)
            wrong(x, "the witness of %s %" PRIu32 "-%" PRIu32 " is rejected: %s",
                  mr_witness_kind_name(w->kind), w->first, w->second, error.text);
        else if (w->model != x->model)
            wrong(x, "a witness for another model");
        else
            add_found(x, w, set);
    }
    mr_checker_free(checker);
}

static mr_config *configure(const examination *x)
{
    char size[16], overlap[16];
    mr_config *config = mr_config_new();
    assert_non_null(config);
    snprintf(size, sizeof size, "%" PRIu32, x->plan.size);
    snprintf(overlap, sizeof overlap, "%" PRIu32, x->plan.overlap);
    mr_settings_set(config, "find", "memory,deadlocks,pointers");
    mr_settings_set(config, "model", mr_model_name(x->model));
    mr_settings_set(config, "window.size", size);
    mr_settings_set(config, "window.overlap", overlap);
    mr_settings_set(config, "candidates.report", x->report);
    mr_settings_set(config, "candidates.far", x->far);
    if (strcmp(x->steps, "eager") != 0)
        mr_settings_set(config, "solver.steps", x->steps);
    else
        mr_settings_set(config, "solver.strategy", "eager");
    mr_settings_set(config, "solver.saturate_steps", "1000000000");
    mr_settings_set(config, "jobs", x->trial->choice / 3 % 16 ? "1" : "2");
    mr_settings_set(config, "solver.timeout_ms", "0");
    mr_settings_set(config, "solver.memory_mb", "0");
    mr_settings_set(config, "witness.minimise", x->trial->choice / 5 % 3 ? "true" : "false");
    return config;
}

static void predict(examination *x, goal_set *set)
{
    mr_config *config = configure(x);
    mr_result result = {0};
    mr_error error = {0};
    *set = (goal_set){0};
    if (mr_predict(x->trial->trace, config, NULL, &result, &error) != MR_OK)
        wrong(x, "error: %s", error.text);
    else
        examine_result(x, &result, set);
    mr_result_free(&result);
    mr_config_free(config);
}

static void compare(examination *x)
{
    static goal_set right, found; /* too large for the stack */
    if (x->trial->wrong[0] || !find_right(x, &right))
        return;
    predict(x, &found);
    if (!x->trial->wrong[0] &&
        contained(x, &found, &right, "is predicted, exhaustive search does not find it"))
        contained(x, &right, &found, "is not predicted, exhaustive search finds it");
}

/* ---- sees ---- */

/* Can the read see the write, or the value when that is not 0? */
static bool right_sees(const examination *x, uint32_t read, uint32_t write, uint32_t value)
{
    uint32_t start, end;
    bool found = false;
    mr_test_windows plan = !strcmp(x->far, "none") ? x->plan : plans[0];
    for (uint32_t k = 0; !found && mr_test_window(x->trial->trace, plan, k, &start, &end); k++) {
        mr_right_goals *right =
            mr_goal_search(x->trial->trace, x->model, MR_OPAQUE_PAIR, start, end);
        assert_non_null(right);
        found = read >= start && read < end &&
                (value ? right->sees_value[read][value] : right->sees[read][write]);
        mr_goal_search_free(right);
    }
    return found;
}

static void ask_sees(examination *x, uint32_t read, uint32_t write, uint32_t value)
{
    char text[64];
    mr_config *config = configure(x);
    mr_result result = {0};
    mr_error error = {0};
    const mr_trace *trace = x->trial->trace;
    if (value)
        snprintf(text, sizeof text, "%" PRIu32 " =%" PRId64, read, trace->values[value]);
    else
        snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32, read, write);
    mr_settings_set(config, "sees", text);
    mr_status status = mr_predict(trace, config, NULL, &result, &error);
    bool right = right_sees(x, read, write, value);
    uint64_t told = result.stats.findings[MR_WITNESS_SEES].found +
                    result.stats.findings[MR_WITNESS_SEES].impossible;
    if (status != MR_OK)
        wrong(x, "--sees %s: error: %s", text, error.text);
    else if (result.stats.rejected_witnesses || told != 1)
        wrong(x, "--sees %s: rejected or unknown", text);
    else if ((result.finding_count == 1) != right)
        wrong(x, "--sees %s: predicted %zu, exhaustive search: %d", text, result.finding_count,
              right);
    else if (right && (result.findings[0].witness.second != read ||
                       (!value && result.findings[0].witness.first != write)))
        wrong(x, "--sees %s: a witness of something else", text);
    x->found[MR_WITNESS_SEES] += right;
    mr_result_free(&result);
    mr_config_free(config);
}

/* A few reads with a few writes. */
static void examine_sees(examination *x)
{
    const mr_trace *trace = x->trial->trace;
    uint64_t choice = x->trial->choice;
    for (uint32_t read = 0; read < trace->event_count && !x->trial->wrong[0]; read++) {
        if (!mr_op_reads(trace->op[read]))
            continue;
        for (uint32_t write = 0; write < trace->event_count && !x->trial->wrong[0]; write++) {
            if (!mr_op_writes(trace->op[write]) || trace->operand[write] != trace->operand[read])
                continue;
            choice = choice * 6364136223846793005u + 1442695040888963407u;
            uint32_t value = mr_trace_written_value(trace, write);
            bool by_value =
                choice >> 40 & 1 && value && !trace->variable_info[trace->operand[read]].by_source;
            if ((choice >> 33) % 8 == 0)
                ask_sees(x, read, write, by_value ? value : 0);
        }
    }
}

/* ---- the examinations ---- */

static const char *const ways[] = {
    "filter,cone,linearise,eliminate,greedy,saturate,explore,lazy,z3",
    "saturate",
    "explore,z3",
    "z3",
    "lazy,z3",
    "filter,cone,saturate",
    "filter,z3",
    "cone,z3",
    "filter,cone,linearise,z3",
    "filter,cone,greedy,saturate",
    "filter,cone,eliminate,saturate",
    "filter,cone,eliminate,z3",
    "filter,greedy,eliminate,saturate",
    "eager",
};
enum { WAYS = sizeof ways / sizeof *ways };

static void examine(mr_trial *trial, void *context)
{
    examination *x = context;
    uint64_t choice = trial->choice;
    x->trial = trial;
    for (int model = 0; model <= MR_MODEL_BRANCH && !trial->wrong[0]; model++) {
        x->model = (mr_model)model;
        x->report = "event";
        x->far = "none";
        x->steps = ways[0];
        x->plan = plans[0];
        compare(x);
        x->plan = plans[1 + choice % (PLANS - 1)];
        compare(x);
        x->steps = ways[1 + choice / 4 % (WAYS - 1)];
        x->plan = plans[choice / 64 % PLANS];
        compare(x);
        x->report = "static";
        x->far = choice / 256 % 4 ? "all" : "none";
        compare(x);
        x->steps = ways[0];
        x->far = "all";
        compare(x);
    }
    x->model = (mr_model)(choice % (MR_MODEL_BRANCH + 1));
    x->steps = ways[choice / 4 % WAYS];
    x->far = choice / 8 % 2 ? "all" : "none";
    examine_sees(x);
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {0};
    const mr_trials trials = {.prefix = "FINDINGS",
                              .traces = DEFAULT_TRACES,
                              .share = SHARE_TRACES,
                              .seed = DEFAULT_SEED,
                              .goals = true};
    mr_trials_run(&trials, examine, &x);
    for (int kind = MR_WITNESS_USE_AFTER_FREE; kind < MR_WITNESS_KINDS; kind++) {
        print_message("%s: %" PRIu64 "\n", mr_witness_kind_name((mr_witness_kind)kind),
                      x.found[kind]);
        if (!getenv("FINDINGS_TRACES"))
            assert_true(x.found[kind] > 20 || mr_length_few());
    }
}

/* ---- by hand ---- */

#define POINTER                                                                                    \
    "M|alloc(o=4096+64)|1\nM|w(y=0)|2\nM|w(p=4096)|3\nM|fork(R)|4\nM|fork(T)|5\n"                  \
    "R|r(p=4096)|6\nR|deref(p)|7\nR|w(y=1)|8\n"

static const struct {
    const char *name, *text;
    mr_model model;
    mr_witness_kind kind;
    uint64_t found, impossible;
} by_hand[] = {
    {"the pointer is written again before the free", POINTER "T|w(p=4096)|10\nT|free(o)|11\n",
     MR_MODEL_BRANCH, MR_WITNESS_DANGLING, 1, 0},
    /* T reads what R writes only after its read of p. So T has diverged, and wrote who knows what. */
    {"... by a thread that has diverged", POINTER "T|r(y=1)|9\nT|w(p=4096)|10\nT|free(o)|11\n",
     MR_MODEL_BRANCH, MR_WITNESS_DANGLING, 0, 1},
    {"... where it must read what it did", POINTER "T|r(y=1)|9\nT|w(p=4096)|10\nT|free(o)|11\n",
     MR_MODEL_VALUE, MR_WITNESS_DANGLING, 0, 1},
    {"three philosophers",
     "A|acq(k)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rel(k)|4\nB|acq(l)|5\nB|acq(m)|6\nB|rel(m)|7\nB|rel(l)|"
     "8\n"
     "C|acq(m)|9\nC|acq(k)|10\nC|rel(k)|11\nC|rel(m)|12\n",
     MR_MODEL_VALUE, MR_WITNESS_DEADLOCK, 1, 0},
    {"three philosophers, two of them in turn",
     "A|acq(g)|0\nA|acq(k)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rel(k)|4\nA|w(x=1)|4\nA|rel(g)|4\n"
     "B|acq(g)|0\nB|r(x=1)|5\nB|acq(l)|5\nB|acq(m)|6\nB|rel(m)|7\nB|rel(l)|8\nB|rel(g)|8\n"
     "C|acq(m)|9\nC|acq(k)|10\nC|rel(k)|11\nC|rel(m)|12\n",
     MR_MODEL_VALUE, MR_WITNESS_DEADLOCK, 0, 0},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        mr_trace *trace = mr_sample_trace(by_hand[i].text);
        mr_config *config = mr_config_new();
        mr_result result = {0};
        mr_error error = {0};
        assert_true(trace && config);
        mr_settings_set(config, "model", mr_model_name(by_hand[i].model));
        if (mr_predict(trace, config, NULL, &result, &error) != MR_OK)
            fail_msg("%s: %s", by_hand[i].name, error.text);
        const mr_finding_stats *stats = &result.stats.findings[by_hand[i].kind];
        if (stats->found != by_hand[i].found || stats->impossible != by_hand[i].impossible ||
            stats->unknown)
            fail_msg("%s: %" PRIu64 " found, %" PRIu64 " impossible, %" PRIu64 " unknown",
                     by_hand[i].name, stats->found, stats->impossible, stats->unknown);
        mr_result_free(&result);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

/* ---- windows that are not built ---- */

#define SAME_ADDRESS                                                                               \
    "M|alloc(o=4096+64)|1\nM|w(y=0)|2\nM|free(o)|3\nM|alloc(q=4096+64)|4\nM|w(p=4096)|5\nM|fork("  \
    "R)|6\n"

static const struct {
    const char *name, *before, *repeated, *after;
    mr_witness_kind kind;
} long_ones[] = {
    {"the free comes late", "#@in x o\nM|alloc(o=4096+64)|1\nM|w(x=1)|2\nM|fork(R)|3\n",
     "R|r(x=1)|4\n", "M|join(R)|5\nM|free(o)|6\n", MR_WITNESS_USE_AFTER_FREE},
    {"null is written early", "M|w(p=0)|1\nM|w(y=0)|2\nM|w(p=4096)|2\nM|fork(R)|3\n",
     "R|r(p=4096)|4\nR|deref(p)|5\nR|r(y=0)|6\n", "", MR_WITNESS_NULL},
    {"the address is used again", SAME_ADDRESS, "R|r(p=4096)|7\nR|deref(p)|8\nR|r(y=0)|9\n", "",
     MR_WITNESS_DANGLING},
};

/* With an effort for a few windows a question about many is settled, when most of them cannot have
 * what it asks for. */
static void test_windows_left_out(void **state)
{
    (void)state;
    enum { REPEATED = 200, TEXT_BYTES = 16384 };
    static const char *const settings[] = {
        "candidates.far",       "none", "window.size", "10",
        "window.overlap",       "0",    "find",        "memory,pointers",
        "window.far_race_work", "100",  NULL};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        char text[TEXT_BYTES];
        strcpy(text, long_ones[i].before);
        for (int k = 0; k < REPEATED; k++)
            strcat(text, long_ones[i].repeated);
        strcat(text, long_ones[i].after);
        mr_trace *trace = mr_sample_trace(text);
        mr_config *config = mr_settings_of(settings);
        assert_non_null(trace);
        mr_result result = mr_predicted(trace, config);
        const mr_finding_stats *stats = &result.stats.findings[long_ones[i].kind];
        if (stats->candidates != 1 || stats->impossible != 1)
            fail_msg("%s: of %" PRIu64 " candidates %" PRIu64 " impossible", long_ones[i].name,
                     stats->candidates, stats->impossible);
        mr_result_free(&result);
        mr_config_free(config);
        mr_trace_free(trace);
    }
}

static void count_elimination(void *context, const char *line)
{
    int *count = context;
    *count += strstr(line, "step=eliminate ") != NULL;
}

/* A question that only a formula settles, in a trace too short for windows around it: the whole trace is looked at by
 * elimination once. */
static void test_asked_once(void **state)
{
    (void)state;
    static const char *const settings[] = {"window.size", "0", "find", "pointers",
                                           "jobs",        "1", NULL};
    mr_trace *trace = mr_sample_trace("A|aw(p=5)|1\nA|fork(B)|2\nB|ar(p=5)|3\nB|deref(p)|4\n"
                                      "B|r(y=0)|5\nB|w(p=0)|6\n");
    mr_config *config = mr_settings_of(settings);
    int eliminations = 0;
    const mr_debug debug = {1u << MR_DEBUG_STEPS, count_elimination, &eliminations};
    const mr_predict_run run = {.debug = &debug};
    mr_result result = {0};
    mr_error error = {0};
    assert_non_null(trace);
    assert_int_equal(mr_predict(trace, config, &run, &result, &error), MR_OK);
    assert_int_equal(result.stats.findings[MR_WITNESS_NULL].impossible, 1);
    assert_int_equal(eliminations, 1);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
}

/* Two circles at the same places. The waits of the first are far apart, and a look at the trace between them costs more than the
 * group may; the second is found near its waits, so it is asked about first. */
static void test_easy_questions_first(void **state)
{
    (void)state;
    enum { TEXT_BYTES = 1 << 17, EVENTS_BETWEEN = 6000 };
    static const char *const settings[] = {"find", "deadlocks", "window.far_race_work", "1000",
                                           NULL};
    char *text = malloc(TEXT_BYTES);
    assert_non_null(text);
    strcpy(text, "A|racq(k)|1\nA|r(x=0)|9\nA|acq(l)|2\nA|rel(l)|3\nA|rrel(k)|3\n");
    size_t used = strlen(text);
    int y = 0;
    for (unsigned i = 0, random = 1; i < EVENTS_BETWEEN; i++) {
        random = random * 1103515245 + 12345;
        bool writes = random >> 16 & 1;
        y = writes ? (int)(random >> 20) % 3 : y;
        used += (size_t)sprintf(text + used, "%c|%c(y=%d)|9\n", "CDE"[(random >> 24) % 3],
                                writes ? 'w' : 'r', y);
    }
    strcpy(text + used, "E|w(e=1)|9\nB|r(e=1)|9\nB|w(x=1)|9\n"
                        "B|racq(l)|1\nB|acq(k)|2\nB|rel(k)|3\nB|rrel(l)|3\n"
                        "A|racq(m)|1\nA|acq(n)|2\nA|rel(n)|3\nA|rrel(m)|3\n"
                        "B|racq(n)|1\nB|acq(m)|2\nB|rel(m)|3\nB|rrel(n)|3\n");
    mr_trace *trace = mr_sample_trace(text);
    mr_config *config = mr_settings_of(settings);
    assert_non_null(trace);
    mr_result result = mr_predicted(trace, config);
    const mr_finding_stats *stats = &result.stats.findings[MR_WITNESS_DEADLOCK];
    assert_int_equal(stats->candidates, 1);
    assert_int_equal(stats->found, 1);
    assert_int_equal(stats->questions, 2);
    mr_result_free(&result);
    mr_config_free(config);
    mr_trace_free(trace);
    free(text);
}

/* One address, used again forty times, and its pointer in a slot under a lock: one question is about all the blocks that are freed
 * at one place, one about each where there are two such places. The verdicts are the same. */
static void test_address_used_again(void **state)
{
    (void)state;
    enum { BLOCKS = 40, BLOCK_BYTES = 256 };
    static const char *const settings[] = {"find", "pointers", NULL};
    for (uint64_t places = 1; places <= 2; places++)
        for (uint64_t race = 0; race < 2; race++) {
            char text[BLOCKS * BLOCK_BYTES], *at = text;
            at += sprintf(at, "M|w(p=0)|1\nM|w(y=0)|1\nM|fork(W)|2\nM|fork(R)|3\n");
            for (int i = 0; i < BLOCKS; i++) {
                at += sprintf(at, "W|alloc(o%d=4096+16)|4\nW|acq(l)|5\nW|w(p=4096)|6\nW|rel(l)|7\n",
                              i);
                at += sprintf(
                    at, "R|acq(l)|8\nR|r(p=4096)|9\nR|deref(p)|10\nR|r(y=0)|11\nR|rel(l)|12\n");
                at +=
                    sprintf(at, "W|acq(l)|13\nW|w(p=%d)|14\nW|rel(l)|15\nW|free(o%d)|%d\n",
                            race && i == BLOCKS / 2 ? 4096 : 0, i, i % 2 && places == 2 ? 17 : 16);
            }
            mr_trace *trace = mr_sample_trace(text);
            mr_config *config = mr_settings_of(settings);
            assert_non_null(trace);
            mr_result result = mr_predicted(trace, config);
            const mr_finding_stats *stats = &result.stats.findings[MR_WITNESS_DANGLING];
            assert_int_equal(stats->candidates, places);
            assert_int_equal(stats->found, race ? places : 0);
            assert_int_equal(stats->impossible, race ? 0 : places);
            if (!race)
                assert_int_equal(stats->questions, places == 1 ? 1 : BLOCKS);
            mr_result_free(&result);
            mr_config_free(config);
            mr_trace_free(trace);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                       cmocka_unit_test(test_asked_once),
                                       cmocka_unit_test(test_address_used_again),
                                       cmocka_unit_test(test_easy_questions_first),
                                       cmocka_unit_test(test_windows_left_out),
                                       cmocka_unit_test(test_random_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
