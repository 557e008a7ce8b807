/* The orders against their definitions, on random traces and every pair of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/read.h"
#include "order/order.h"
#include "support/generate.h"
#include "support/order_reference.h"
#include "support/random_walk.h"
#include "support/shb_races.h"

#include <stdio.h>

enum { TRACES = 4000, HOT_TRACES = 200, LONG_EVENTS = 400 };

static char walk_text[LONG_EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];

static mr_trace *read_text(const char *text)
{
    mr_trace *trace = NULL;
    mr_error error = {0};
    mr_read_options options = {0};
    if (mr_trace_read_text("test", text, strlen(text), &options, &trace, &error) != MR_OK)
        fail_msg("%s: line %d: %s\n%s", error.file, (int)error.line, error.text, text);
    return trace;
}

/* Short ones and long ones. */
static mr_trace *random_trace(uint64_t seed)
{
    mr_random random = {seed};
    uint32_t events = mr_random_range(&random, 6, MR_REFERENCE_EVENTS);
    mr_random_walk(mr_random_next(&random), events, walk_text);
    return read_text(walk_text);
}

static void slide(mr_order *order, uint32_t start, uint32_t end)
{
    mr_error error = {0};
    if (mr_order_slide(order, start, end, &error) != MR_OK)
        fail_msg("%s", error.text);
}

static void check_pairs(const mr_order *order, const mr_order_matrix *expected, uint32_t start,
                        uint32_t end, const char *what, uint64_t seed)
{
    for (uint32_t a = start; a < end; a++)
        for (uint32_t b = a + 1; b < end; b++)
            if (mr_order_ordered(order, a, b) != mr_order_matrix_has(expected, a, b))
                fail_msg("%s, seed %d: events %u and %u: expected %s\n%s", what, (int)seed, a, b,
                         mr_order_matrix_has(expected, a, b) ? "ordered" : "unordered", walk_text);
}

/* With the edges of calls that were not recorded. */
static mr_order *new_order(const mr_trace *trace, mr_relation relation, mr_barrier_edges *edges)
{
    mr_order *order = mr_order_new(trace, relation);
    assert_non_null(order);
    assert_int_equal(mr_barrier_edges_find(trace, MR_OPAQUE_PAIR, edges, NULL), MR_OK);
    assert_true(mr_order_use_edges(order, edges));
    return order;
}

static void check_relation(const mr_trace *trace, mr_relation relation,
                           const mr_order_matrix *expected, const char *what, uint64_t seed)
{
    mr_barrier_edges edges;
    mr_order *order = new_order(trace, relation, &edges);
    slide(order, 0, trace->event_count);
    check_pairs(order, expected, 0, trace->event_count, what, seed);
    mr_order_free(order);
    mr_barrier_edges_free(&edges);

    /* Many windows: overlapping, touching, with gaps, empty. */
    mr_random random = {seed};
    order = new_order(trace, relation, &edges);
    for (uint32_t start = 0, end = 0; end < trace->event_count;) {
        end += mr_random_below(&random, 9);
        if (end > trace->event_count)
            end = trace->event_count;
        start += mr_random_below(&random, 9);
        if (start > end)
            start = end;
        slide(order, start, end);
        check_pairs(order, expected, start, end, what, seed);
    }
    mr_order_free(order);
    mr_barrier_edges_free(&edges);
}

/* Windows with gaps that the order passes over. Returns how many events it has not played. */
static uint64_t check_skips(const mr_trace *trace, mr_relation relation,
                            const mr_order_matrix *expected, const char *what, uint64_t seed)
{
    mr_barrier_edges edges;
    mr_order *order = new_order(trace, relation, &edges);
    mr_random random = {seed};
    uint64_t passed_over = 0;
    mr_error error = {0};
    for (uint32_t start = 0, end = 0; end < trace->event_count;) {
        start = end + mr_random_below(&random, 14);
        if (start > trace->event_count)
            start = trace->event_count;
        if (mr_order_skip(order, start, &error) != MR_OK)
            fail_msg("%s", error.text);
        passed_over += mr_order_end(order) - end;
        end = start + mr_random_below(&random, 16);
        if (end > trace->event_count)
            end = trace->event_count;
        slide(order, start, end);
        check_pairs(order, expected, start, end, what, seed);
    }
    mr_order_free(order);
    mr_barrier_edges_free(&edges);
    return passed_over;
}

static void test_orders_follow_definitions(void **state)
{
    (void)state;
    uint32_t ordered_by_hb_only = 0, ordered_by_wcp_across = 0;
    uint64_t passed_over = 0; /* by WCP */
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        mr_trace *trace = random_trace(seed);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_relation(trace, MR_RELATION_HB, &reference.hb, "hb", seed);
        check_relation(trace, MR_RELATION_WCP, &reference.wcp, "wcp", seed);
        passed_over += check_skips(trace, MR_RELATION_WCP, &reference.wcp, "wcp, skips", seed);
        check_skips(trace, MR_RELATION_HB, &reference.hb, "hb, skips", seed);
        for (uint32_t e = 0; e < trace->event_count; e++) {
            assert_true((reference.wcp.rows[e] & ~reference.hb.rows[e]) == 0);
            ordered_by_hb_only += (reference.hb.rows[e] & ~reference.wcp.rows[e]) != 0;
            ordered_by_wcp_across += (reference.wcp.rows[e] & ~reference.hard.rows[e]) != 0;
        }
        mr_trace_free(trace);
    }
    /* The traces are of use only when the orders differ on them. */
    assert_true(ordered_by_hb_only > TRACES && ordered_by_wcp_across > TRACES);
    assert_true(passed_over > TRACES);
}

/* Threads that hold many of 14 locks when they access one variable, so that it has touches of many logs
 * (order/wcp.h). */
static void write_many_locks(uint64_t seed)
{
    enum { WALKERS = 3, MANY_LOCKS = 14 };
    static const char *const take[] = {"", "acq", "racq"}, *const give[] = {"", "rel", "rrel"};
    mr_random random = {seed};
    int held[WALKERS][MANY_LOCKS] = {0};
    char *at = walk_text;
    for (int event = 0; event < MR_REFERENCE_EVENTS;) {
        uint32_t thread = mr_random_below(&random, WALKERS);
        uint32_t lock = mr_random_below(&random, MANY_LOCKS);
        int wanted = 1 + (int)mr_random_below(&random, 2), *own = &held[thread][lock];
        bool is_free = true;
        for (int other = 0; other < WALKERS; other++)
            is_free = is_free && !held[other][lock];
        if (mr_random_below(&random, 4) == 0) {
            at += sprintf(at, "T%u|%c(x)|%d\n", thread, "rw"[mr_random_below(&random, 2)], event);
        } else if (is_free) {
            at += sprintf(at, "T%u|%s(l%u)|%d\n", thread, take[wanted], lock, event);
            *own = wanted;
        } else if (*own) {
            at += sprintf(at, "T%u|%s(l%u)|%d\n", thread, give[*own], lock, event);
            *own = 0;
        } else {
            continue;
        }
        event++;
    }
}

static void test_many_locks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 4; seed++) {
        write_many_locks(seed);
        mr_trace *trace = read_text(walk_text);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_relation(trace, MR_RELATION_WCP, &reference.wcp, "wcp", seed);
        mr_trace_free(trace);
    }
}

/* One thread puts the acquire of its section of l before what another one reads, which then has that
 * section to pass at its own release of l: rule (b) alone orders the accesses of v. Some rounds
 * leave out the read, so that there is nothing to pass, or a later section to pass first. */
static void write_relays(uint64_t seed)
{
    enum { RELAYS = 3, ROUNDS = 5 };
    mr_random random = {seed};
    char *at = walk_text;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t a = mr_random_below(&random, RELAYS);
        uint32_t b = (a + 1 + mr_random_below(&random, RELAYS - 1)) % RELAYS;
        at += sprintf(at, "T%u|acq(l)|1\nT%u|acq(m)|2\nT%u|w(z%u)|3\nT%u|rel(m)|4\n", a, a, a,
                      round, a);
        at += sprintf(at, "T%u|w(v%u)|5\nT%u|rel(l)|6\n", a, round, a);
        if (mr_random_below(&random, 4))
            at += sprintf(at, "T%u|acq(m)|7\nT%u|r(z%u)|8\nT%u|rel(m)|9\n", b, b, round, b);
        at += sprintf(at, "T%u|acq(l)|10\nT%u|rel(l)|11\nT%u|r(v%u)|12\n", b, b, b, round);
    }
}

static void test_relays(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 4; seed++) {
        write_relays(seed);
        mr_trace *trace = read_text(walk_text);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_relation(trace, MR_RELATION_WCP, &reference.wcp, "wcp", seed);
        mr_trace_free(trace);
    }
}

static void test_every_kind_of_event(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        int shape = MR_SHAPE_COUNT + (int)(seed % (MR_SHAPE_ALL - MR_SHAPE_COUNT));
        char *generated = mr_generate_longer_trace(seed, (mr_shape)shape);
        assert_non_null(generated);
        assert_true(strlen(generated) < sizeof walk_text);
        strcpy(walk_text, generated);
        free(generated);
        mr_trace *trace = read_text(walk_text);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        check_relation(trace, MR_RELATION_HB, &reference.hb, "hb", seed);
        check_relation(trace, MR_RELATION_WCP, &reference.wcp, "wcp", seed);
        mr_trace_free(trace);
    }
}

/* Is `first`, `second` an SHB race? Some way to tell. */
typedef bool race_test(const void *definition, uint32_t first, uint32_t second);

typedef struct expected_races {
    const mr_trace *trace;
    race_test *is_race;
    const void *definition;
    uint64_t seed;
} expected_races;

static bool small_race(const void *definition, uint32_t first, uint32_t second)
{
    return mr_reference_shb_race(definition, first, second);
}

static size_t find_pair(const mr_trace *trace, const mr_shb_races *races, uint32_t a, uint32_t b)
{
    uint32_t location_a = trace->location[a], location_b = trace->location[b];
    for (size_t i = 0; i < races->count; i++) {
        uint32_t c = trace->location[races->items[i].first];
        uint32_t d = trace->location[races->items[i].second];
        if ((location_a == c && location_b == d) || (location_a == d && location_b == c))
            return i;
    }
    return SIZE_MAX;
}

/* Each static race is reported once, by its pair with the smallest `second`, then the latest
 * `first`. */
static void check_races(const expected_races *expected, const mr_shb_races *races)
{
    const mr_trace *trace = expected->trace;
    size_t found_count = 0;
    bool *found = calloc(races->count + 1, sizeof *found);
    assert_non_null(found);
    for (uint32_t b = 0; b < trace->event_count; b++)
        for (uint32_t a = b; a-- > 0;) {
            if (!expected->is_race(expected->definition, a, b))
                continue;
            size_t i = find_pair(trace, races, a, b);
            if (i == SIZE_MAX)
                fail_msg("seed %d: race %u %u is not reported\n%s", (int)expected->seed, a, b,
                         walk_text);
            if (found[i])
                continue;
            found[i] = true;
            found_count++;
            if (races->items[i].first != a || races->items[i].second != b)
                fail_msg("seed %d: race %u %u is reported as %u %u\n%s", (int)expected->seed, a, b,
                         races->items[i].first, races->items[i].second, walk_text);
        }
    free(found);
    if (found_count != races->count)
        fail_msg("seed %d: %d races too many\n%s", (int)expected->seed,
                 (int)(races->count - found_count), walk_text);
    for (size_t i = 1; i < races->count; i++)
        assert_true(races->items[i - 1].second <= races->items[i].second);
}

static void test_shb_races_follow_definition(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        mr_trace *trace = random_trace(seed);
        mr_order_reference reference;
        mr_order_reference_build(&reference, trace);
        expected_races expected = {trace, small_race, &reference, seed};
        mr_shb_races races = {0};
        assert_int_equal(mr_shb_find(trace, &races, NULL), MR_OK);
        check_races(&expected, &races);
        count += races.count;
        mr_shb_races_free(&races);
        mr_trace_free(trace);
    }
    assert_true(count > TRACES);
}

/* SHB on longer traces: before[b][a] says that a is before b or is b. */
typedef struct long_shb {
    const mr_trace *trace;
    bool before[LONG_EVENTS][LONG_EVENTS];
} long_shb;

static void add_before(long_shb *shb, uint32_t a, uint32_t b)
{
    if (!shb->before[b][a])
        for (uint32_t e = 0; e <= a; e++)
            shb->before[b][e] |= shb->before[a][e];
}

/* The direct edges into b from all earlier events; what is before those is known already. */
static void build_long_shb(long_shb *shb, const mr_trace *trace)
{
    memset(shb, 0, sizeof *shb);
    shb->trace = trace;
    for (uint32_t b = 0; b < trace->event_count; b++) {
        uint32_t thread = trace->thread[b], operand = trace->operand[b];
        shb->before[b][b] = true;
        for (uint32_t a = b; a-- > 0;) {
            bool edge = trace->thread[a] == thread ||
                        (trace->op[a] == MR_OP_FORK && trace->operand[a] == thread) ||
                        (trace->op[b] == MR_OP_JOIN &&
                         (trace->thread[a] == operand ||
                          (trace->op[a] == MR_OP_FORK && trace->operand[a] == operand))) ||
                        (trace->op[b] == MR_OP_ACQUIRE && trace->link[b] != MR_NESTED &&
                         trace->op[a] == MR_OP_RELEASE && trace->link[a] != MR_NESTED &&
                         trace->operand[a] == operand);
            if (edge)
                add_before(shb, a, b);
        }
        if (trace->op[b] == MR_OP_READ && trace->link[b] != MR_NONE)
            add_before(shb, trace->link[b], b);
    }
}

static bool long_race(const void *definition, uint32_t first, uint32_t second)
{
    const long_shb *shb = definition;
    const mr_trace *trace = shb->trace;
    if (!mr_reference_conflict(trace, first, second))
        return false;
    for (uint32_t e = second; e-- > 0;)
        if (trace->thread[e] == trace->thread[second] ||
            (trace->op[e] == MR_OP_FORK && trace->operand[e] == trace->thread[second]))
            return !shb->before[e][first];
    return true;
}

static void test_shb_races_of_hot_variables(void **state)
{
    (void)state;
    long_shb *shb = malloc(sizeof *shb);
    assert_non_null(shb);
    for (uint64_t seed = 0; seed < HOT_TRACES; seed++) {
        mr_random_walk_hot(seed, LONG_EVENTS, walk_text);
        mr_trace *trace = read_text(walk_text);
        build_long_shb(shb, trace);
        expected_races expected = {trace, long_race, shb, seed};
        mr_shb_races races = {0};
        assert_int_equal(mr_shb_find(trace, &races, NULL), MR_OK);
        check_races(&expected, &races);
        mr_shb_races_free(&races);
        mr_trace_free(trace);
    }
    free(shb);
}

/* Small traces for what the orders decide about forks, joins and locks. Locations number the events
 * that are asked about, in trace order; every earlier-later pair that is not listed is unordered.
 */
typedef struct decision {
    const char *name;
    const char *trace;
    const char *hb, *wcp; /* ordered pairs, e.g. "1<2 1<3" */
} decision;

static const decision decisions[] = {
    {"program order", "a|w(x)|1\na|w(x)|2\n", "1<2", "1<2"},
    {"threads alone", "a|w(x)|1\nb|w(x)|2\n", "", ""},
    {"fork orders its past before the child", "a|w(x)|1\na|fork(b)|\na|w(x)|2\nb|w(x)|3\n",
     "1<2 1<3", "1<2 1<3"},
    {"join orders the child before what follows",
     "a|fork(b)|\nb|w(x)|1\na|w(x)|2\na|join(b)|\na|w(x)|3\n", "1<3 2<3", "1<3 2<3"},
    {"fork and join of a thread that does nothing", "a|w(x)|1\na|fork(b)|\nc|join(b)|\nc|w(x)|2\n",
     "1<2", "1<2"},
    {"two joins of a thread do not order each other",
     "b|w(x)|1\na|w(x)|2\na|join(b)|\nc|join(b)|\nc|w(x)|3\n", "1<3", "1<3"},
    {"fork of a fork", "a|w(x)|1\na|fork(b)|\nb|fork(c)|\nc|w(x)|2\n", "1<2", "1<2"},
    {"sections without conflict: HB only",
     "a|w(x)|1\na|acq(l)|\na|rel(l)|\nb|acq(l)|\nb|rel(l)|\nb|w(x)|2\n", "1<2", ""},
    {"rule (a): after the conflicting access, not before",
     "a|w(x)|1\na|acq(l)|\na|w(y)|\na|rel(l)|\nb|acq(l)|\nb|r(x)|2\nb|r(y)|\nb|r(x)|3\n",
     "1<2 1<3 2<3", "1<3 2<3"},
    {"two reads do not conflict",
     "a|w(x)|1\na|acq(l)|\na|r(y)|\na|rel(l)|\nb|acq(l)|\nb|r(y)|\nb|r(x)|2\nc|w(y)|\n", "1<2", ""},
    {"inner sections are no sections",
     "a|acq(l)|\na|acq(l)|\na|w(y)|\na|rel(l)|\na|w(x)|1\na|rel(l)|\n"
     "b|acq(l)|\nb|w(y)|\nb|w(x)|2\n",
     "1<2", "1<2"},
    {"inner release publishes nothing",
     "b|w(z)|\na|acq(l)|\na|acq(l)|\na|rel(l)|\na|w(x)|1\na|rel(l)|\na|w(x)|2\n"
     "b|acq(l)|\nb|w(x)|3\n",
     "1<2 1<3", "1<2 1<3"},
    {"a section left open takes part as the later one",
     "a|w(x)|1\na|acq(l)|\na|w(y)|\na|rel(l)|\nb|acq(l)|\nb|w(y)|\nb|w(x)|2\n", "1<2", "1<2"},
    {"a fork passes on nothing that locks alone ordered",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\na|acq(l)|\na|rel(l)|\na|w(x)|2\na|fork(b)|\nb|w(x)|3\n",
     "1<2 1<3 2<3", "2<3"},
    {"a join passes on nothing that locks alone ordered",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\nb|acq(l)|\nb|rel(l)|\nb|w(x)|2\na|join(b)|\na|w(x)|3\n",
     "1<2 1<3 2<3", "2<3"},
    {"a lock after a fork passes on nothing that the fork ordered",
     "a|w(x)|1\na|fork(b)|\nb|acq(l)|\nb|rel(l)|\nc|acq(l)|\nc|rel(l)|\nc|w(x)|2\n", "1<2", ""},
    {"what is before by rule (a) goes on through a fork",
     "c|w(x)|1\nc|acq(l)|\nc|w(y)|\nc|rel(l)|\na|acq(l)|\na|w(y)|\na|rel(l)|\na|fork(b)|\n"
     "b|w(x)|2\n",
     "1<2", "1<2"},
    {"sections of parent and child: no rule (b)",
     "c|w(x)|1\nc|acq(l)|\nc|rel(l)|\na|acq(l)|\na|rel(l)|\na|fork(b)|\nb|acq(l)|\nb|rel(l)|\n"
     "b|w(x)|2\n",
     "1<2", ""},
    {"a section that forks a thread which takes the lock",
     "a|acq(l)|\na|fork(b)|\na|w(x)|1\na|rel(l)|\nb|acq(l)|\nb|rel(l)|\nb|w(x)|2\n", "1<2", ""},
    {"a lock of one thread orders nothing",
     "c|w(x)|1\nc|acq(n)|\nc|rel(n)|\n"
     "a|acq(l)|\na|acq(m)|\na|w(y)|\na|rel(m)|\na|acq(n)|\na|rel(n)|\na|rel(l)|\n"
     "b|acq(m)|\nb|w(y)|\nb|w(z)|\nb|rel(m)|\n"
     "a|acq(l)|\na|acq(m)|\na|w(z)|\na|rel(m)|\na|rel(l)|\na|w(x)|2\n",
     "1<2", ""},
    {"rule (b): release before release",
     "a|acq(l)|\na|acq(m)|\na|w(y)|\na|rel(m)|\na|w(x)|1\na|rel(l)|\n"
     "b|acq(m)|\nb|w(y)|\nb|rel(m)|\nb|acq(l)|\nb|w(z)|2\nb|rel(l)|\nb|w(x)|3\n",
     "1<2 1<3 2<3", "1<3 2<3"},
    {"a post orders what is before it and after the wait that takes its unit",
     "a|w(x)|1\na|post(s)|\na|w(x)|2\nb|wait(s)|\nb|w(x)|3\n", "1<2 1<3", "1<2 1<3"},
    {"the oldest unit is taken first",
     "a|w(x)|1\na|post(s)|\nc|w(x)|2\nc|post(s)|\nb|wait(s)|\nb|w(x)|3\n", "1<3", "1<3"},
    {"an atomic write and the atomic read that sees it", "a|w(x)|1\na|aw(y)|\nb|ar(y)|\nb|w(x)|2\n",
     "1<2", "1<2"},
    {"an atomic read that sees another write", "a|w(x)|1\na|aw(y)|\nc|aw(y)|\nb|ar(y)|\nb|w(x)|2\n",
     "", ""},
    {"a plain read of an atomic write", "a|w(x)|1\na|aw(y)|\nb|r(y)|\nb|w(x)|2\n", "", ""},
    {"an atomic read of a plain write", "a|w(x)|1\na|w(y)|\nb|ar(y)|\nb|w(x)|2\n", "", ""},
    {"an update passes on what it has read", "a|w(x)|1\na|aw(y)|\nc|au(y)|\nb|ar(y)|\nb|w(x)|2\n",
     "1<2", "1<2"},
    {"what an atomic read sees is not before the read itself",
     "a|w(y)|1\na|aw(y)|\nb|ar(y)|2\nb|w(x)|3\n", "1<3 2<3", "1<3 2<3"},
    {"shared sections do not order each other",
     "a|w(x)|1\na|racq(l)|\na|rrel(l)|\nb|racq(l)|\nb|rrel(l)|\nb|w(x)|2\n", "", ""},
    {"a shared section after an exclusive one",
     "a|w(x)|1\na|acq(l)|\na|rel(l)|\nb|racq(l)|\nb|rrel(l)|\nb|w(x)|2\n", "1<2", ""},
    {"an exclusive section after two shared ones that overlap",
     "a|w(x)|1\na|racq(l)|\nb|w(x)|2\nb|racq(l)|\nb|rrel(l)|\na|rrel(l)|\nc|acq(l)|\n"
     "c|w(x)|3\n",
     "1<3 2<3", ""},
    {"rule (a) for the sections of both readers",
     "a|w(x)|1\na|racq(l)|\nb|w(x)|2\nb|racq(l)|\na|r(y)|\nb|r(y)|\nb|rrel(l)|\na|rrel(l)|\n"
     "c|acq(l)|\nc|w(y)|\nc|w(x)|3\n",
     "1<3 2<3", "1<3 2<3"},
    {"no rule (a) between shared sections",
     "a|w(x)|1\na|racq(l)|\na|w(y)|\na|rrel(l)|\nb|racq(l)|\nb|w(y)|\nb|w(x)|2\n", "", ""},
    {"a thread that holds a lock shared and exclusively",
     "a|racq(l)|\na|acq(l)|\na|w(y)|\na|rel(l)|\na|w(x)|1\na|rrel(l)|\nb|racq(l)|\nb|r(y)|\n"
     "b|w(x)|2\nb|rrel(l)|\nc|acq(l)|\nc|w(x)|3\n",
     "1<3 2<3", "1<3 2<3"},
    {"inner shared sections are no sections",
     "a|racq(l)|\na|racq(l)|\na|rrel(l)|\na|w(x)|1\na|rrel(l)|\nb|acq(l)|\nb|w(x)|2\n", "1<2",
     "1<2"},
    {"a branch orders nothing", "a|w(x)|1\na|branch()|\nb|branch()|\nb|w(x)|2\n", "", ""},
    {"a call and what may touch what it reaches",
     "a|w(x)|1\na|mbegin(m:y)|\na|mend(m)|\nb|r(y)|\nb|w(x)|2\n", "1<2", "1<2"},
    {"a call that reaches something else",
     "a|w(x)|1\na|mbegin(m:z)|\na|mend(m)|\nb|r(y)|\nb|w(x)|2\n", "", ""},
    {"the edge of a call counts for the access itself",
     "a|w(x)|1\na|mbegin(m:x)|\na|mend(m)|\nb|w(x)|2\n", "1<2", "1<2"},
};

static uint32_t event_at(const mr_trace *trace, char location)
{
    for (uint32_t event = 0; event < trace->event_count; event++)
        if (trace->locations.items[trace->location[event]].text[0] == location)
            return event;
    return MR_NONE;
}

static void check_decision(const decision *d, const mr_trace *trace, mr_relation relation,
                           const char *pairs)
{
    mr_barrier_edges edges;
    mr_order *order = new_order(trace, relation, &edges);
    slide(order, 0, trace->event_count);
    for (char first = '1'; event_at(trace, first) != MR_NONE; first++)
        for (char second = first + 1; event_at(trace, second) != MR_NONE; second++) {
            const char pair[] = {first, '<', second, '\0'};
            bool expected = strstr(pairs, pair) != NULL;
            if (mr_order_ordered(order, event_at(trace, first), event_at(trace, second)) !=
                expected)
                fail_msg("%s, %s: %s should be %s", d->name,
                         relation == MR_RELATION_HB ? "hb" : "wcp", pair,
                         expected ? "ordered" : "unordered");
        }
    mr_order_free(order);
    mr_barrier_edges_free(&edges);
}

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decisions / sizeof decisions[0]; i++) {
        mr_trace *trace = read_text(decisions[i].trace);
        check_decision(&decisions[i], trace, MR_RELATION_HB, decisions[i].hb);
        check_decision(&decisions[i], trace, MR_RELATION_WCP, decisions[i].wcp);
        mr_trace_free(trace);
    }
}

/* Who slides from one event of a pair to the other is told what a window over both says. */
static void check_knows(const mr_trace *trace, mr_relation relation)
{
    mr_order *all = mr_order_new(trace, relation);
    assert_non_null(all);
    assert_int_equal(mr_order_slide(all, 0, trace->event_count, NULL), MR_OK);
    for (uint32_t first = 0; first + 1 < trace->event_count; first += 7) {
        mr_order *order = mr_order_new(trace, relation);
        assert_non_null(order);
        assert_int_equal(mr_order_slide(order, first, first + 1, NULL), MR_OK);
        uint32_t local = mr_order_local(order, first);
        for (uint32_t second = first + 1; second < trace->event_count; second += 3) {
            assert_int_equal(mr_order_slide(order, second, second + 1, NULL), MR_OK);
            if (mr_order_knows(order, first, local, second) != mr_order_ordered(all, first, second))
                fail_msg("events %u and %u", first, second);
        }
        mr_order_free(order);
    }
    mr_order_free(all);
}

static void test_single_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mr_trace *trace = random_trace(seed);
        check_knows(trace, MR_RELATION_HB);
        check_knows(trace, MR_RELATION_WCP);
        mr_trace_free(trace);
    }
}

/* Windows over the whole trace with the n-th allocation failing; true when none failed. */
static bool order_survives(const mr_trace *trace, mr_relation relation, uint64_t n)
{
    mr_status status = MR_ERR_MEMORY;
    mr_memory_fail_after(n);
    mr_order *order = mr_order_new(trace, relation);
    for (uint32_t start = 0; order && start < trace->event_count; start += 10) {
        uint32_t left = trace->event_count - start;
        status = mr_order_slide(order, start, start + (left < 20 ? left : 20), NULL);
        if (status != MR_OK)
            break;
    }
    mr_order_free(order);
    mr_memory_fail_after(0);
    assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    return status == MR_OK;
}

static bool shb_survives(const mr_trace *trace, uint64_t n)
{
    mr_shb_races races = {0};
    mr_memory_fail_after(n);
    mr_status status = mr_shb_find(trace, &races, NULL);
    mr_memory_fail_after(0);
    mr_shb_races_free(&races);
    assert_true(status == MR_OK || status == MR_ERR_MEMORY);
    return status == MR_OK;
}

static void test_lack_of_memory(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mr_trace *trace = random_trace(seed);
        uint64_t n = 1;
        while (!order_survives(trace, MR_RELATION_HB, n))
            n++;
        assert_true(n > 1);
        for (n = 1; !order_survives(trace, MR_RELATION_WCP, n); n++)
            ;
        for (n = 1; !shb_survives(trace, n); n++)
            ;
        mr_trace_free(trace);
        mr_random_walk_hot(seed, LONG_EVENTS, walk_text);
        trace = read_text(walk_text);
        for (n = 1; !shb_survives(trace, n); n++)
            ;
        mr_trace_free(trace);
    }
}

static void test_empty_trace(void **state)
{
    (void)state;
    mr_trace *trace = read_text("");
    for (int relation = MR_RELATION_HB; relation <= MR_RELATION_WCP; relation++) {
        mr_order *order = mr_order_new(trace, (mr_relation)relation);
        assert_non_null(order);
        slide(order, 0, 0);
        mr_order_free(order);
    }
    assert_true(shb_survives(trace, 0));
    mr_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_follow_definitions),
        cmocka_unit_test(test_many_locks),
        cmocka_unit_test(test_relays),
        cmocka_unit_test(test_every_kind_of_event),
        cmocka_unit_test(test_shb_races_follow_definition),
        cmocka_unit_test(test_shb_races_of_hot_variables),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_single_pairs),
        cmocka_unit_test(test_lack_of_memory),
        cmocka_unit_test(test_empty_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
