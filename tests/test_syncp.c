/* Sync-preserving races against exhaustive search and against the closure of each pair, made event
 * by event; their witnesses against the checker. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/read.h"
#include "order/syncp/syncp.h"
#include "support/exhaustive.h"
#include "support/figures.h"
#include "support/generate.h"
#include "support/generate_large.h"
#include "support/length.h"
#include "support/random.h"
#include "support/random_walk.h"
#include "support/sample.h"
#include "support/syncp_reference.h"
#include "witness/checker.h"

enum {
    SMALL_SEEDS = 120, /* of each shape */
    LIVES_SEEDS = 600, /* of those with objects */
    WALKS = 400,
    LONG_WALKS = 12,
    WALK_EVENTS = 220,
    LONG_EVENTS = 2500,
    EXAMPLES = 3,
};

static char walk_text[LONG_EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];

/* One trace, what is right for it, and what was found. */
typedef struct subject {
    const char *name; /* for messages */
    uint64_t seed;
    const mr_trace *trace;
    mr_syncp_reference reference;
    mr_syncp_index *index;
    mr_race_list list;
    const mr_exhaustive *search; /* NULL: too large */
    bool all_pairs;              /* ask the index about all of them */
} subject;

/* What the checked traces hold, to see that they are worth something. */
typedef struct totals {
    size_t races, examples;
} totals;

static void find(const mr_trace *trace, uint32_t most_examples, mr_race_list *list)
{
    mr_error error = {0};
    mr_detect_options options = {.most_examples = most_examples, .keep_events = true};
    if (mr_syncp_find(trace, &options, list, NULL, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static bool expected(subject *s, uint32_t a, uint32_t b)
{
    bool is_race = mr_syncp_reference_race(&s->reference, a, b, 0);
    if (s->search && mr_exhaustive_has(s->search, a, b) != is_race)
        fail_msg("%s, seed %d: the closure and the search disagree on %u %u", s->name, (int)s->seed,
                 a, b);
    if (s->all_pairs && mr_syncp_is_race(s->index, a, b) != is_race)
        fail_msg("%s, seed %d: %u %u should %s a race", s->name, (int)s->seed, a, b,
                 is_race ? "be" : "not be");
    return is_race;
}

/* A race of two locations that is not known yet: is it the example? */
static void check_example(const subject *s, uint32_t number, uint32_t a, uint32_t b)
{
    const mr_race_example *example = &s->list.examples[s->list.races[number].first_example];
    if (example->first.event != a || example->second.event != b)
        fail_msg("%s, seed %d: %u %u is reported as %u %u", s->name, (int)s->seed, a, b,
                 (unsigned)example->first.event, (unsigned)example->second.event);
    assert_int_equal(example->variable, s->trace->operand[s->trace->op[a] == MR_OP_FREE ? b : a]);
    assert_int_equal(example->first.thread, s->trace->thread[a]);
    assert_int_equal(example->second.location, s->trace->location[b]);
}

/* Goes through the pairs of one second event; is it racy? */
static bool check_second(subject *s, uint32_t b, bool *known)
{
    const mr_trace *trace = s->trace;
    bool racy = false;
    for (uint32_t a = b; a-- > 0;) {
        if (!mr_exhaustive_conflict(trace, a, b))
            continue;
        uint32_t number = mr_race_list_find(&s->list, trace->location[a], trace->location[b]);
        bool is_known = number != UINT32_MAX && known[number];
        if ((racy && is_known && !s->all_pairs) || !expected(s, a, b))
            continue;
        racy = true;
        if (number == UINT32_MAX)
            fail_msg("%s, seed %d: %u %u is not reported", s->name, (int)s->seed, a, b);
        if (!is_known)
            check_example(s, number, a, b);
        known[number] = true;
    }
    return racy;
}

/* Racy events, static races and their first examples, and with all_pairs each pair. */
static void check_races(subject *s)
{
    size_t racy_count = 0, known_count = 0;
    bool *known = calloc(s->list.race_count + 1, sizeof *known);
    bool *location_racy = calloc(s->trace->locations.count + 1, sizeof *known);
    uint32_t location_count = 0;
    assert_true(known && location_racy);
    for (uint32_t b = 0; b < s->trace->event_count; b++) {
        bool told = racy_count < s->list.events.count && s->list.events.items[racy_count] == b;
        bool racy = check_second(s, b, known);
        if (racy != told)
            fail_msg("%s, seed %d: event %u should %s racy", s->name, (int)s->seed, b,
                     racy ? "be" : "not be");
        racy_count += racy;
        location_count += racy && !location_racy[s->trace->location[b]];
        location_racy[s->trace->location[b]] |= racy;
    }
    for (size_t i = 0; i < s->list.race_count; i++)
        known_count += known[i];
    free(known);
    free(location_racy);
    assert_int_equal(known_count, s->list.race_count);
    assert_int_equal(racy_count, s->list.racy_event_count);
    assert_int_equal(racy_count, s->list.events.count);
    assert_int_equal(location_count, s->list.racy_location_count);
}

/* The window starts as late as it may, and the checker accepts the schedule from there. */
static void check_witness(subject *s, mr_checker *checker, uint32_t a, uint32_t b)
{
    uint32_t start = mr_syncp_window(s->index, a, b);
    if (!mr_syncp_reference_race(&s->reference, a, b, start) ||
        (start < a && mr_syncp_reference_race(&s->reference, a, b, start + 1)))
        fail_msg("%s, seed %d: %u %u: the window starts at %u", s->name, (int)s->seed, a, b, start);
    for (int whole = 0; whole < 2; whole++) {
        mr_error error = {0};
        mr_u32s events = {0};
        uint32_t from = whole ? 0 : start;
        assert_true(mr_syncp_schedule(s->index, a, b, from, &events));
        mr_witness witness = {.first = a,
                              .second = b,
                              .window_start = from,
                              .window_end = b + 1,
                              .model = MR_MODEL_RF,
                              .events = events.items,
                              .event_count = (uint32_t)events.count};
        if (mr_checker_check(checker, &witness, &error) != MR_OK)
            fail_msg("%s, seed %d: %u %u from %u: %s", s->name, (int)s->seed, a, b, from,
                     error.text);
        uint32_t count = 0;
        assert_true(mr_syncp_reference_race(&s->reference, a, b, from));
        for (uint32_t event = from; event < b; event++)
            count += s->reference.included[event];
        assert_int_equal(events.count, count);
        mr_u32s_free(&events);
    }
}

/* All examples are races, at different second events, and have witnesses. Returns their number. */
static size_t check_examples(subject *s)
{
    mr_race_list list;
    size_t count = 0;
    mr_checker *checker = mr_checker_new(s->trace, MR_OPAQUE_PAIR);
    assert_non_null(checker);
    find(s->trace, EXAMPLES, &list);
    assert_int_equal(list.race_count, s->list.race_count);
    assert_int_equal(list.racy_event_count, s->list.racy_event_count);
    for (size_t i = 0; i < list.race_count; i++) {
        const mr_static_race *race = &list.races[i];
        assert_in_range(race->example_count, 1, EXAMPLES);
        for (uint32_t k = 0; k < race->example_count; k++, count++) {
            const mr_race_example *example = &list.examples[race->first_example + k];
            uint32_t a = example->first.event, b = example->second.event;
            if (k == 0)
                check_example(s, (uint32_t)i, a, b);
            else
                assert_true(b > example[-1].second.event);
            assert_true(mr_exhaustive_conflict(s->trace, a, b) && expected(s, a, b));
            check_witness(s, checker, a, b);
        }
    }
    mr_race_list_free(&list);
    mr_checker_free(checker);
    return count;
}

/* Adds about half of the races, and pairs of locations that may be none: these are asked about, or all but these. */
static void choose_wanted(const subject *s, mr_wanted *wanted)
{
    mr_random random = {s->seed + 77};
    wanted->all_but = s->seed % 2;
    uint32_t locations = s->trace->locations.count;
    for (size_t i = 0; i < s->list.race_count; i++)
        if (mr_random_below(&random, 2))
            assert_true(
                mr_wanted_add(wanted, locations, s->list.races[i].low, s->list.races[i].high));
    for (int i = 0; i < 3; i++)
        assert_true(mr_wanted_add(wanted, locations, mr_random_below(&random, locations),
                                  mr_random_below(&random, locations)));
}

/* When only some pairs of locations are asked about, their races are found as before, and the index
 * answers about them as the whole one does. */
static void check_wanted(subject *s)
{
    mr_wanted wanted = {0};
    mr_race_list list;
    mr_syncp_index *index;
    choose_wanted(s, &wanted);
    mr_detect_options options = {.most_examples = 1, .wanted = &wanted};
    assert_int_equal(mr_syncp_find(s->trace, &options, &list, &index, NULL), MR_OK);
    for (size_t i = 0; i < s->list.race_count; i++) {
        const mr_static_race *race = &s->list.races[i];
        if (!mr_wanted_pair(&wanted, race->low, race->high))
            continue;
        const mr_race_example *pair = &s->list.examples[race->first_example];
        uint32_t number = mr_race_list_find(&list, race->low, race->high);
        if (number == UINT32_MAX)
            fail_msg("%s, seed %d: race %zu is not found", s->name, (int)s->seed, i);
        const mr_race_example *found = &list.examples[list.races[number].first_example];
        uint32_t first = (uint32_t)found->first.event, second = (uint32_t)found->second.event;
        assert_true(first == pair->first.event && second == pair->second.event);
        assert_int_equal(mr_syncp_window(index, first, second),
                         mr_syncp_window(s->index, first, second));
    }
    for (size_t i = 0; i < list.race_count; i++)
        assert_true(mr_race_list_find(&s->list, list.races[i].low, list.races[i].high) !=
                    UINT32_MAX);
    mr_syncp_index_free(index);
    mr_race_list_free(&list);
    mr_wanted_free(&wanted);
}

static totals check_trace(const char *name, uint64_t seed, const mr_trace *trace,
                          const mr_exhaustive *search, bool all_pairs)
{
    subject s = {
        .name = name, .seed = seed, .trace = trace, .search = search, .all_pairs = all_pairs};
    mr_detect_options options = {0};
    assert_true(mr_syncp_reference_init(&s.reference, trace));
    assert_int_equal(mr_syncp_index_new(trace, &options, &s.index, NULL), MR_OK);
    find(trace, 1, &s.list);
    check_races(&s);
    if (trace->locations.count)
        check_wanted(&s);
    totals sum = {s.list.race_count, check_examples(&s)};
    mr_race_list_free(&s.list);
    mr_syncp_index_free(s.index);
    mr_syncp_reference_free(&s.reference);
    return sum;
}

static size_t check_exhaustively(const char *name, uint64_t seed, const mr_trace *trace,
                                 size_t *lost)
{
    mr_exhaustive search = {0}, all = {0};
    assert_true(mr_exhaustive_find_sync_preserving(trace, 0, trace->event_count, &search));
    assert_true(mr_exhaustive_find(trace, MR_MODEL_RF, 0, trace->event_count, &all));
    size_t count = check_trace(name, seed, trace, &search, true).races;
    *lost += all.race_count - search.race_count;
    mr_exhaustive_free(&search);
    mr_exhaustive_free(&all);
    return count;
}

static void test_against_exhaustive_search(void **state)
{
    (void)state;
    size_t count = 0, lost = 0;
    for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
        if (shape >= MR_SHAPE_COUNT && (shape < MR_SHAPE_LIVES || shape > MR_SHAPE_LIVES_FORKS))
            continue; /* operations that the reference does not know */
        uint64_t seeds = shape < MR_SHAPE_COUNT ? SMALL_SEEDS : LIVES_SEEDS;
        for (uint64_t seed = 0; seed < seeds; seed++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            mr_trace *trace = mr_sample_trace(text);
            assert_non_null(trace);
            count += check_exhaustively(mr_shape_name((mr_shape)shape), seed, trace, &lost);
            mr_trace_free(trace);
            free(text);
        }
    }
    /* Worth something: there are races, and some of all races are not sync-preserving. */
    assert_true(count > 2000 && lost > 50);
}

static void test_against_closure(void **state)
{
    (void)state;
    totals sum = {0};
    for (uint64_t seed = 0; seed < WALKS; seed++) {
        mr_random random = {seed};
        uint32_t events = mr_random_range(&random, 60, WALK_EVENTS);
        if (seed % 4)
            mr_random_walk(seed, events, walk_text);
        else
            mr_random_walk_hot(seed, events, walk_text);
        mr_trace *trace = mr_sample_trace(walk_text);
        assert_non_null(trace);
        totals found = check_trace("walk", seed, trace, NULL, true);
        sum.races += found.races;
        sum.examples += found.examples;
        mr_trace_free(trace);
    }
    assert_true(sum.races > 10 * WALKS && sum.examples > sum.races + WALKS);
}

static void test_long_traces(void **state)
{
    (void)state;
    const uint32_t events = mr_length_full() ? LONG_EVENTS : LONG_EVENTS / 2;
    const uint64_t step = mr_length("SYNCP_STEP", 2, 1);
    for (uint64_t seed = 0; seed < LONG_WALKS; seed += step) {
        if (seed % 3)
            mr_random_walk(seed, events, walk_text);
        else
            mr_random_walk_hot(seed, events, walk_text);
        mr_trace *trace = mr_sample_trace(walk_text);
        assert_non_null(trace);
        check_trace("long walk", seed, trace, NULL, false);
        mr_trace_free(trace);
    }
    for (size_t shape = 0; shape < mr_large_shape_count; shape += step) {
        char *text = mr_generate_large(shape, &mr_large_shapes[shape], events);
        assert_non_null(text);
        mr_trace *trace = mr_sample_trace(text);
        assert_non_null(trace);
        check_trace(mr_large_shapes[shape].name, shape, trace, NULL, false);
        mr_trace_free(trace);
        free(text);
    }
}

/* A thread of a tree of forks. */
typedef struct tree_thread {
    uint32_t parent, children; /* `children`: that are not joined */
    uint32_t holds;            /* a lock, + 1 */
    bool is_joined;
} tree_thread;

enum { TREE_THREADS = 2200, TREE_LOCKS = 3 };

/* One event, or two, of thread `t`: mostly of its own variable, in `percent` of 100 of one of all. */
static void tree_access(FILE *out, tree_thread *threads, bool *held, uint32_t t, uint32_t percent,
                        mr_random *random)
{
    uint32_t lock = mr_random_below(random, TREE_LOCKS);
    if (!mr_random_percent(random, percent)) {
        fprintf(out, "T%u|w(O%u)|1\n", t, t);
        return;
    }
    if (threads[t].holds) {
        held[threads[t].holds - 1] = false;
        fprintf(out, "T%u|rel(L%u)|2\n", t, threads[t].holds - 1);
        threads[t].holds = 0;
    } else if (!held[lock] && mr_random_percent(random, 50)) {
        held[lock] = true;
        threads[t].holds = lock + 1;
        fprintf(out, "T%u|acq(L%u)|3\n", t, lock);
    }
    fprintf(out, "T%u|%c(V%u)|%u\n", t, mr_random_percent(random, 30) ? 'w' : 'r',
            mr_random_below(random, 4), mr_random_range(random, 4, 7));
}

/* Threads that fork others, of which some are joined. */
static char *make_tree(uint64_t seed, uint32_t most_threads, uint32_t percent)
{
    static tree_thread threads[TREE_THREADS];
    bool held[TREE_LOCKS] = {false};
    mr_random random = {seed};
    uint32_t count = 1;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    memset(threads, 0, sizeof threads);
    while (count < most_threads) {
        uint32_t t = mr_random_below(&random, 3) ? count - 1 - mr_random_below(&random, count) / 8
                                                 : mr_random_below(&random, count);
        tree_thread *of = &threads[t];
        if (of->is_joined)
            continue;
        fprintf(out, "T%u|w(O%u)|1\n", t, t);
        if (mr_random_percent(&random, 40)) {
            fprintf(out, "T%u|fork(T%u)|8\n", t, count);
            threads[count++].parent = t;
            of->children++;
        } else if (t && !of->children && !of->holds && !threads[of->parent].is_joined &&
                   mr_random_percent(&random, 40)) {
            fprintf(out, "T%u|join(T%u)|9\n", of->parent, t);
            threads[of->parent].children--;
            of->is_joined = true;
        } else {
            tree_access(out, threads, held, t, percent, &random);
        }
    }
    fclose(out);
    return text;
}

/* With more than 128 threads rows share nodes, and with more than 2048 some are packed. */
static void test_many_threads(void **state)
{
    (void)state;
    static const struct {
        uint32_t threads, percent, seeds;
        bool all_pairs;
    } sizes[] = {{150, 70, 20, true}, {300, 50, 6, true}, {TREE_THREADS, 4, 1, false}};
    totals sum = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t seed = 0; seed < sizes[i].seeds; seed++) {
            char *text = make_tree(seed, sizes[i].threads, sizes[i].percent);
            mr_trace *trace = mr_sample_trace(text);
            assert_non_null(trace);
            assert_true(trace->chain_count > sizes[i].threads / 2);
            sum.races += check_trace("tree", seed, trace, NULL, sizes[i].all_pairs).races;
            mr_trace_free(trace);
            free(text);
        }
    assert_true(sum.races > 200);
}

/* A variable of more than 64 threads that never races. C knows that B was in the section after that of A; so the write of A, of which
 * C knows nothing, comes before all that C does. */
static void test_many_threads_in_turn(void **state)
{
    (void)state;
    enum { ROUNDS = 50 };
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    for (int i = 0; i < 3 * ROUNDS; i++)
        fprintf(out, "M|fork(T%d)|1\n", i);
    for (int i = 0; i < 3 * ROUNDS; i += 3) {
        int a = i, b = i + 1, c = i + 2;
        fprintf(out, "T%d|r(h)|2\nT%d|acq(L)|3\nT%d|w(x)|4\nT%d|rel(L)|5\n", a, a, a, a);
        fprintf(out, "T%d|r(h)|6\nT%d|acq(L)|7\nT%d|w(g)|8\nT%d|rel(L)|9\n", b, b, b, b);
        fprintf(out, "T%d|r(g)|10\nT%d|w(x)|11\nT%d|w(h)|12\n", c, c, c);
    }
    fclose(out);
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    uint32_t variable = 0;
    assert_true(mr_names_find(&trace->variables, "x", 1, &variable));
    check_trace("in turn", 0, trace, NULL, true);
    mr_race_list list;
    find(trace, 1, &list);
    for (size_t i = 0; i < list.race_count; i++)
        assert_int_not_equal(list.examples[list.races[i].first_example].variable, variable);
    mr_race_list_free(&list);
    mr_trace_free(trace);
    free(text);
}

static uint32_t find_access(const mr_trace *trace, const char *location)
{
    uint32_t number, event = 0;
    assert_true(mr_names_find(&trace->locations, location, (uint32_t)strlen(location), &number));
    while (trace->location[event] != number)
        event++;
    return event;
}

/* SHB races are sync-preserving, and these are predictable; and all pairs by exhaustive search. */
static void test_figures(void **state)
{
    (void)state;
    for (size_t i = 0; i < mr_figure_count; i++) {
        const mr_figure *figure = &mr_figures[i];
        char path[128];
        mr_trace *trace = NULL;
        mr_error error = {0};
        mr_read_options options = {0};
        mr_exhaustive search = {0};
        size_t lost = 0;
        snprintf(path, sizeof path, "tests/figures/%s.std", figure->file);
        if (mr_trace_read(path, &options, &trace, &error) != MR_OK)
            fail_msg("%s: %s", path, error.text);
        check_exhaustively(figure->file, 0, trace, &lost);
        assert_true(mr_exhaustive_find_sync_preserving(trace, 0, trace->event_count, &search));
        bool is_race = mr_exhaustive_has(&search, find_access(trace, figure->first),
                                         find_access(trace, figure->second));
        if (is_race < figure->shb_race || is_race > figure->rf_race)
            fail_msg("%s: %s %s", figure->file, figure->first, figure->second);
        mr_exhaustive_free(&search);
        mr_trace_free(trace);
    }
}

/* Races by hand; locations count the lines from 1. */
static const struct decision {
    const char *name, *trace, *races; /* "1<4 2<3": pairs of locations */
} decisions[] = {
    {"a section skipped whole",
     "A|w(x)|1\nA|acq(l)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n", "1<6"},
    {"a section that must be closed",
     "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\n", ""},
    {"only with sections the other way round",
     "A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\nB|acq(l)|4\nB|rel(l)|5\nB|w(x)|6\nA|acq(l)|7\nA|rel(l)|8\n",
     ""},
    {"a section left open", "B|acq(l)|1\nB|rel(l)|2\nB|w(x)|3\nA|acq(l)|4\nA|w(x)|5\n", "3<5"},
    {"closing one section needs another",
     "C|acq(m)|1\nC|w(x)|2\nC|acq(l)|3\nC|rel(l)|4\nC|rel(m)|5\nA|acq(m)|6\nA|rel(m)|7\n"
     "A|w(y)|8\nB|r(y)|9\nB|w(x)|10\n",
     "8<9"},
    {"two reads do not conflict", "A|r(x)|1\nB|r(x)|2\n", ""},
    {"the fork of a first event", "A|w(x)|1\nA|fork(B)|2\nB|w(x)|3\n", ""},
    {"an inner release closes nothing",
     "A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|w(x)|4\nA|rel(l)|5\nB|acq(l)|6\nB|rel(l)|7\nB|w(x)|8\n",
     ""},
    {"hand over hand",
     "A|acq(k)|1\nA|acq(l)|2\nA|rel(k)|3\nA|w(x)|4\nA|rel(l)|5\nB|acq(k)|6\nB|rel(k)|7\nB|w(x)|8\n"
     "B|acq(l)|9\nB|rel(l)|10\nB|w(x)|11\n",
     "4<8"},
};

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        mr_trace *trace = mr_sample_trace(decisions[i].trace);
        mr_race_list list;
        char found[128] = "";
        size_t length = 0;
        assert_non_null(trace);
        find(trace, 1, &list);
        for (size_t k = 0; k < list.race_count; k++) {
            const mr_race_example *example = &list.examples[list.races[k].first_example];
            length +=
                (size_t)snprintf(found + length, sizeof found - length, "%s%" PRIu64 "<%" PRIu64,
                                 k ? " " : "", example->first.event + 1, example->second.event + 1);
        }
        if (strcmp(found, decisions[i].races) != 0)
            fail_msg("%s: found '%s'", decisions[i].name, found);
        mr_race_list_free(&list);
        mr_trace_free(trace);
    }
}

/* With a given outlook the same is found, and progress is told. */
static void count_reports(void *context, const char *stage, uint64_t done, uint64_t total)
{
    assert_true(done <= total && strcmp(stage, "syncp") == 0);
    ++*(int *)context;
}

static void test_options(void **state)
{
    (void)state;
    int reports = 0;
    uint8_t contended[] = {true}, lock_shared[] = {false};
    mr_progress progress = {count_reports, &reports};
    mr_outlook outlook = {.contended = contended, .lock_shared = lock_shared};
    mr_detect_options options = {.outlook = &outlook, .progress = &progress};
    mr_race_list list;
    mr_trace *trace = mr_sample_trace("A|w(x)|1\nB|w(x)|2\nB|w(x)|3\n");
    assert_non_null(trace);
    assert_int_equal(mr_syncp_find(trace, &options, &list, NULL, NULL), MR_OK);
    assert_int_equal(list.race_count, 2);
    assert_int_equal(list.racy_event_count, 2);
    assert_int_equal(list.events.count, 0);
    assert_int_equal(reports, 1);
    mr_race_list_free(&list);
    mr_trace_free(trace);
}

/* With the n-th allocation failing; true when none failed. */
static bool find_survives(const mr_trace *trace, uint64_t n)
{
    mr_race_list list;
    mr_error error = {0};
    mr_detect_options options = {.most_examples = 2, .keep_events = true};
    mr_memory_fail_after(n);
    mr_status status = mr_syncp_find(trace, &options, &list, NULL, &error);
    mr_memory_fail_after(0);
    mr_race_list_free(&list);
    assert_true(status == MR_OK || (status == MR_ERR_MEMORY && error.status == status));
    return status == MR_OK;
}

static bool index_survives(const mr_trace *trace, uint64_t n)
{
    mr_syncp_index *index;
    mr_detect_options options = {0};
    mr_memory_fail_after(n);
    mr_status status = mr_syncp_index_new(trace, &options, &index, NULL);
    mr_memory_fail_after(0);
    assert_true((status == MR_OK && index) || (status == MR_ERR_MEMORY && !index));
    mr_syncp_index_free(index);
    return status == MR_OK;
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    uint64_t traces = mr_length("SYNCP_TRACES", 3, 20);
    for (uint64_t seed = 0; seed < traces; seed++) {
        uint64_t n = 1;
        mr_random_walk(seed, 100, walk_text);
        mr_trace *trace = mr_sample_trace(walk_text);
        assert_non_null(trace);
        while (!find_survives(trace, n))
            n++;
        assert_true(n > 10);
        for (n = 1; !index_survives(trace, n); n++)
            ;
        mr_trace_free(trace);
    }
}

static void test_empty_trace(void **state)
{
    (void)state;
    mr_trace *trace = mr_sample_trace("");
    assert_non_null(trace);
    assert_true(find_survives(trace, 0));
    assert_true(index_survives(trace, 0));
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_exhaustive_search),
        cmocka_unit_test(test_against_closure),
        cmocka_unit_test(test_long_traces),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_many_threads_in_turn),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_lack_of_memory),
        cmocka_unit_test(test_empty_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
