/* Minimisation of witnesses that hold more than the race needs: every reordering of random traces
 * that exhaustive search reaches with two conflicting accesses next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/sample.h"
#include "witness/checker.h"
#include "witness/minimise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct totals {
    size_t witnesses, shorter, fewer_switches;
} totals;

/* What the rules of minimise.h say about one event; the witness is `w`, minimised. */
typedef struct needs {
    const mr_trace *trace;
    const mr_facts *facts;
    const mr_witness *w;
    bool needed[64]; /* by place in the witness */
} needs;

static uint32_t place_of(const mr_witness *w, uint32_t event)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i] == event)
            return i;
    return MR_NONE;
}

static bool mark(needs *n, uint32_t place)
{
    if (place == MR_NONE || n->needed[place])
        return false;
    n->needed[place] = true;
    return true;
}

/* The last event of a thread among the first `count` places. */
static uint32_t last_of_thread(const needs *n, uint32_t thread, uint32_t count)
{
    while (count-- > 0)
        if (n->trace->thread[n->w->events[count]] == thread)
            return count;
    return MR_NONE;
}

static bool mark_fork(needs *n, uint32_t thread)
{
    uint32_t fork = n->trace->thread_info[thread].fork;
    return fork != MR_NONE && mark(n, place_of(n->w, fork));
}

/* What opaque calls put before the event. */
static bool mark_opaque(needs *n, uint32_t event)
{
    bool changed = false;
    for (uint32_t t = 0; t < n->trace->threads.count; t++)
        if (n->facts->need[event][t] != MR_NONE)
            changed |= mark(n, place_of(n->w, n->facts->need[event][t]));
    if (n->facts->alloc[event] != MR_NONE)
        changed |= mark(n, place_of(n->w, n->facts->alloc[event]));
    return changed;
}

/* The write that the read at a place sees. */
static uint32_t source_of(const needs *n, uint32_t place)
{
    uint32_t variable = n->trace->operand[n->w->events[place]];
    while (place-- > 0) {
        uint32_t event = n->w->events[place];
        if (mr_op_writes(n->trace->op[event]) && n->trace->operand[event] == variable)
            return place;
    }
    return MR_NONE;
}

/* The post that the wait at a place takes a unit of: the oldest one that no wait before took. */
static uint32_t post_of(const needs *n, uint32_t place)
{
    uint32_t semaphore = n->trace->operand[n->w->events[place]], queue[64] = {0}, first = 0,
             last = 0;
    for (uint32_t i = 0; i < place; i++) {
        uint32_t event = n->w->events[i];
        if (n->trace->op[event] == MR_OP_POST && n->trace->operand[event] == semaphore)
            queue[last++] = i;
        else if (n->trace->op[event] == MR_OP_WAIT && n->trace->operand[event] == semaphore)
            first += first < last;
    }
    return first < last ? queue[first] : MR_NONE;
}

/* The releases before an acquire that end a needed section which excludes its own. */
static bool mark_releases(needs *n, uint32_t place)
{
    const mr_trace *trace = n->trace;
    uint32_t acquire = n->w->events[place];
    bool changed = false;
    for (uint32_t i = 0; i < place; i++) {
        uint32_t release = n->w->events[i];
        bool excludes =
            trace->op[release] == MR_OP_RELEASE ||
            (trace->op[release] == MR_OP_SHARED_RELEASE && trace->op[acquire] == MR_OP_ACQUIRE);
        if (!excludes || trace->operand[release] != trace->operand[acquire] ||
            trace->link[release] == MR_NESTED)
            continue;
        uint32_t begin = place_of(n->w, trace->link[release]);
        if (begin == MR_NONE || n->needed[begin])
            changed |= mark(n, i);
    }
    return changed;
}

/* What the event at a needed place needs. */
static bool mark_needs(needs *n, uint32_t place)
{
    const mr_trace *trace = n->trace;
    uint32_t event = n->w->events[place];
    uint8_t op = trace->op[event];
    bool changed = mark(n, last_of_thread(n, trace->thread[event], place));
    changed |= mark_fork(n, trace->thread[event]);
    changed |= mark_opaque(n, event);
    if (op == MR_OP_JOIN)
        changed |= mark(n, last_of_thread(n, trace->operand[event], place));
    if (mr_op_reads(op))
        changed |= mark(n, source_of(n, place));
    if (op == MR_OP_WAIT)
        changed |= mark(n, post_of(n, place));
    if ((op == MR_OP_ACQUIRE || op == MR_OP_SHARED_ACQUIRE) && trace->link[event] != MR_NESTED)
        changed |= mark_releases(n, place);
    return changed;
}

/* Is every event of the witness needed by the rules? */
static bool all_needed(const mr_facts *facts, const mr_witness *w)
{
    const mr_trace *trace = facts->trace;
    needs n = {.trace = trace, .facts = facts, .w = w};
    const uint32_t accesses[] = {w->first, w->second};
    for (int i = 0; i < 2; i++) {
        mark(&n, last_of_thread(&n, trace->thread[accesses[i]], w->event_count));
        mark_fork(&n, trace->thread[accesses[i]]);
        mark_opaque(&n, accesses[i]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < w->event_count; i++)
            changed |= n.needed[i] && mark_needs(&n, i);
    }
    for (uint32_t i = 0; i < w->event_count; i++)
        if (!n.needed[i])
            return false;
    return true;
}

static void fail_witness(const char *what, const char *text, const mr_witness *before,
                         const mr_witness *after)
{
    const mr_witness *both[] = {before, after};
    for (int k = 0; k < 2; k++) {
        print_error("%s:", k ? "after" : "before");
        for (uint32_t i = 0; i < both[k]->event_count; i++)
            print_error(" %" PRIu32, both[k]->events[i]);
        print_error("\n");
    }
    fail_msg("%s, %s, %" PRIu32 "-%" PRIu32 " in [%" PRIu32 ", %" PRIu32 "):\n%s", what,
             mr_model_name(before->model), before->first, before->second, before->window_start,
             before->window_end, text);
}

static mr_witness copy(const mr_witness *w)
{
    mr_witness result = *w;
    result.events = malloc((w->event_count + 1) * sizeof *w->events);
    assert_non_null(result.events);
    memcpy(result.events, w->events, w->event_count * sizeof *w->events);
    return result;
}

static bool subset(const mr_witness *small, const mr_witness *big)
{
    for (uint32_t i = 0; i < small->event_count; i++)
        if (place_of(big, small->events[i]) == MR_NONE)
            return false;
    return true;
}

/* A trace, and what is asked of it. */
typedef struct subject {
    const char *text;
    mr_trace *trace;
    mr_checker *checker;
    mr_facts facts; /* of the window */
    mr_barrier_edges opaque;
    totals *sum;
} subject;

static void add_edge(subject *s, uint32_t from, uint32_t to)
{
    if (from == MR_NONE || s->trace->thread[from] == s->trace->thread[to])
        return;
    assert_true(mr_grow((void **)&s->opaque.items, &s->opaque.capacity, s->opaque.count + 1,
                        sizeof *s->opaque.items));
    s->opaque.items[s->opaque.count++] = (mr_edge){from, to};
}

/* The order that opaque calls and lives keep, as edges. */
static void find_edges(subject *s)
{
    for (uint32_t e = s->facts.start; e < s->facts.end; e++) {
        for (uint32_t t = 0; t < s->trace->threads.count; t++)
            add_edge(s, s->facts.need[e][t], e);
        add_edge(s, s->facts.alloc[e], e);
    }
}

/* Number of times that the running thread changes in the witness, the accesses not counted. */
static uint32_t switches_of(const mr_trace *trace, const mr_witness *witness)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < witness->event_count; i++)
        switches += trace->thread[witness->events[i]] != trace->thread[witness->events[i - 1]];
    return switches;
}

/* Minimises a valid witness and tests everything that is claimed of the result. */
static void examine(subject *s, const mr_witness *before)
{
    const mr_trace *trace = s->trace;
    const char *text = s->text;
    mr_error error = {0};
    mr_witness after = copy(before);
    assert_int_equal(mr_witness_minimise(trace, &s->opaque, &after, &error), MR_OK);
    if (mr_checker_check(s->checker, &after, &error) != MR_OK)
        fail_witness(error.text, text, before, &after);
    if (!subset(&after, before))
        fail_witness("new events", text, before, &after);
    if (!all_needed(&s->facts, &after))
        fail_witness("not all needed", text, before, &after);
    uint32_t switches = switches_of(trace, &after);
    if (switches > switches_of(trace, before))
        fail_witness("more switches", text, before, &after);
    mr_witness again = copy(&after);
    assert_int_equal(mr_witness_minimise(trace, &s->opaque, &again, &error), MR_OK);
    if (again.event_count != after.event_count || switches_of(trace, &again) > switches)
        fail_witness("not idempotent", text, &after, &again);
    s->sum->witnesses++;
    s->sum->shorter += after.event_count < before->event_count;
    s->sum->fewer_switches += switches < switches_of(trace, before);
    mr_witness_free(&again);
    mr_witness_free(&after);
}

/* The k-th event of a thread in the window, or MR_NONE. */
static uint32_t thread_event(const mr_trace *trace, const mr_exhaustive *search, uint32_t thread,
                             uint32_t k)
{
    for (uint32_t e = search->start; e < search->end; e++)
        if (trace->thread[e] == thread && k-- == 0)
            return e;
    return MR_NONE;
}

/* All pairs of accesses that are next in a state. */
static void examine_state(subject *s, const mr_exhaustive *search, size_t state)
{
    const mr_trace *trace = s->trace;
    uint32_t next[MR_EXHAUSTIVE_THREADS];
    for (uint32_t t = 0; t < trace->threads.count; t++)
        next[t] = thread_event(trace, search, t, mr_exhaustive_done(search, state, t));
    for (uint32_t one = 0; one < trace->threads.count; one++) {
        for (uint32_t two = 0; two < trace->threads.count; two++) {
            if (next[one] >= next[two] || next[two] == MR_NONE ||
                !mr_exhaustive_conflict(trace, next[one], next[two]))
                continue;
            mr_witness witness;
            mr_error error = {0};
            assert_true(mr_exhaustive_path(search, state, next[one], next[two], &witness));
            /* Refused: a thread is not forked yet, or an opaque call comes first. */
            if (mr_checker_check(s->checker, &witness, &error) == MR_OK)
                examine(s, &witness);
            mr_witness_free(&witness);
        }
    }
}

enum { STATES_PER_TRACE = 60 };

static void examine_trace(const char *text, uint64_t choice, totals *sum)
{
    subject s = {.text = text, .trace = mr_sample_trace(text), .sum = sum};
    mr_exhaustive_options options = {.model = (mr_model)(choice % 3),
                                     .opaque = (mr_opaque)(choice / 90 % 3)};
    assert_non_null(s.trace);
    s.checker = mr_checker_new(s.trace, options.opaque);
    assert_non_null(s.checker);
    mr_exhaustive search;
    uint32_t start = choice / 3 % 3 ? 0 : (uint32_t)(choice / 9 % 5), end = s.trace->event_count;
    if (start > end)
        start = 0;
    assert_true(mr_exhaustive_find_with(s.trace, &options, start, end, &search));
    assert_true(mr_facts_init(&s.facts, s.trace, options.model, options.opaque, start, end));
    find_edges(&s);
    size_t step = search.state_count / STATES_PER_TRACE + 1;
    for (size_t state = choice % step; state < search.state_count; state += step)
        examine_state(&s, &search, state);
    mr_exhaustive_free(&search);
    free(s.opaque.items);
    mr_checker_free(s.checker);
    mr_trace_free(s.trace);
}

static void examine_shapes(int first_shape, int last_shape, uint64_t traces, totals *sum)
{
    for (uint64_t seed = 0; seed < traces; seed++) {
        for (int shape = first_shape; shape < last_shape; shape++) {
            char *text = mr_generate_trace(seed + 5000, (mr_shape)shape);
            assert_non_null(text);
            mr_random random = {seed};
            examine_trace(text, mr_random_next(&random) >> 8, sum);
            free(text);
        }
    }
    /* The test is worth something: most inputs hold more than is needed. */
    print_message("%zu witnesses, %zu made shorter, %zu with fewer switches\n", sum->witnesses,
                  sum->shorter, sum->fewer_switches);
    assert_true(sum->witnesses > 10000);
    assert_true(sum->shorter > sum->witnesses / 4);
    assert_true(sum->fewer_switches > sum->witnesses / 4);
}

static void test_random_witnesses(void **state)
{
    (void)state;
    totals plain = {0}, kinds = {0};
    examine_shapes(0, MR_SHAPE_COUNT, 150, &plain);
    examine_shapes(MR_SHAPE_COUNT, MR_SHAPE_ALL, 300, &kinds);
}

typedef struct known {
    const char *name, *text;
    uint32_t first, second;
    const char *before, *after; /* events */
} known;

static const known table[] = {
    {"nothing to do", "A|w(x)|1\nB|w(x)|2\n", 0, 1, "", ""},
    {"a thread that nobody waits for", "A|w(x)|1\nB|w(x)|2\nC|w(y)|3\nC|r(y)|4\n", 0, 1, "2 3", ""},
    {"the write that a read sees", "C|w(y=1)|1\nC|w(z=1)|2\nA|r(y=1)|3\nA|w(x=1)|4\nB|w(x=2)|5\n",
     3, 4, "0 1 2", "0 2"},
    {"threads run on as long as they can",
     "A|w(a)|1\nB|w(b)|2\nA|w(c)|3\nB|w(d)|4\nA|w(x)|5\nB|w(x)|6\n", 4, 5, "0 1 2 3", "0 2 1 3"},
    {"but not past what they wait for",
     "A|w(a=1)|1\nB|r(a=1)|2\nA|w(a=2)|3\nA|w(x=1)|4\nB|w(x=2)|5\n", 3, 4, "0 1 2", "0 1 2"},
    {"the release before a needed acquire",
     "C|acq(l)|1\nC|rel(l)|2\nC|w(z)|3\nA|acq(l)|4\nA|rel(l)|5\nA|w(x)|6\nB|w(x)|7\n", 5, 6,
     "0 1 2 3 4", "3 4"},
    {"a section whose inside is needed",
     "C|acq(l)|1\nC|w(y=1)|2\nC|rel(l)|3\nC|w(z=1)|4\nA|acq(l)|5\nA|r(y=1)|6\nA|rel(l)|7\nA|w(x=1)|"
     "8\n"
     "B|w(x=2)|9\n",
     7, 8, "0 1 2 3 4 5 6", "0 1 2 4 5 6"},
    {"a write left out between a read and a later write",
     "B|w(z=1)|1\nA|r(y=0)|2\nC|w(y=1)|3\nB|w(y=2)|4\nA|w(x=1)|5\nB|w(x=2)|6\n", 4, 5, "0 1 2 3",
     "0 1 3"},
    {"a fork and a join", "A|fork(C)|1\nC|w(y)|2\nC|w(y)|3\nA|join(C)|4\nA|w(x)|5\nB|w(x)|6\n", 4,
     5, "0 1 2 3", "0 1 2 3"},
    {"the fork of an access's thread, which does nothing else",
     "A|w(z)|1\nA|fork(B)|2\nA|w(x)|3\nB|w(x)|4\n", 2, 3, "0 1", "0 1"},
};

static mr_witness parse(const known *k, const mr_trace *trace)
{
    mr_witness w = {.first = k->first,
                    .second = k->second,
                    .window_end = trace->event_count,
                    .model = MR_MODEL_VALUE,
                    .events = calloc(16, sizeof *w.events)};
    assert_non_null(w.events);
    for (const char *at = k->before; *at; at += *at == ' ')
        w.events[w.event_count++] = (uint32_t)strtoul(at, (char **)&at, 10);
    return w;
}

static void test_known(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        mr_trace *trace = mr_sample_trace(table[i].text);
        assert_non_null(trace);
        mr_witness w = parse(&table[i], trace);
        mr_error error = {0};
        assert_int_equal(mr_witness_minimise(trace, NULL, &w, &error), MR_OK);
        char found[128] = "";
        for (uint32_t k = 0; k < w.event_count; k++)
            sprintf(found + strlen(found), "%s%" PRIu32, k ? " " : "", w.events[k]);
        if (strcmp(found, table[i].after) != 0) {
            print_error("%s: '%s', expected '%s'\n", table[i].name, found, table[i].after);
            wrong++;
        }
        mr_witness_free(&w);
        mr_trace_free(trace);
    }
    assert_int_equal(wrong, 0);
}

/* Out of memory at any point leaves the witness as it was. */
static void test_no_memory(void **state)
{
    (void)state;
    const known *k = &table[6];
    mr_trace *trace = mr_sample_trace(k->text);
    assert_non_null(trace);
    mr_status status = MR_ERR_MEMORY;
    uint64_t fail_at = 1;
    for (; status == MR_ERR_MEMORY; fail_at++) {
        mr_witness w = parse(k, trace), same = copy(&w);
        mr_error error = {0};
        mr_memory_fail_after(fail_at);
        status = mr_witness_minimise(trace, NULL, &w, &error);
        mr_memory_fail_after(0);
        if (status == MR_ERR_MEMORY) {
            assert_int_equal(error.status, MR_ERR_MEMORY);
            assert_int_equal(w.event_count, same.event_count);
            assert_memory_equal(w.events, same.events, same.event_count * sizeof *w.events);
        }
        mr_witness_free(&w);
        mr_witness_free(&same);
    }
    assert_int_equal(status, MR_OK);
    assert_true(fail_at > 2);
    mr_trace_free(trace);
}

/* A long witness keeps its events and their order; those with which it begins as the trace does
 * are counted to what happens as observed. */
static void test_long(void **state)
{
    (void)state;
    enum { LENGTH = MR_MINIMISE_MOST + 20, SKIPPED = 10, START = 3 };
    mr_witness w = {.first = LENGTH + 8, .second = LENGTH + 9, .window_start = START};
    mr_error error = {0};
    w.events = mr_calloc(LENGTH, sizeof *w.events);
    assert_non_null(w.events);
    w.event_count = LENGTH;
    for (uint32_t i = 0; i < LENGTH; i++)
        w.events[i] = START + i + (i >= SKIPPED);
    assert_int_equal(mr_witness_minimise(NULL, NULL, &w, &error), MR_OK);
    assert_int_equal(w.event_count, LENGTH);
    mr_witness_observe(&w);
    assert_int_equal(w.window_start, START + SKIPPED);
    assert_int_equal(w.event_count, LENGTH - SKIPPED);
    for (uint32_t i = 0; i < w.event_count; i++)
        assert_int_equal(w.events[i], START + SKIPPED + 1 + i);
    w.event_count = MR_MINIMISE_MOST; /* a shorter one is left alone */
    w.window_start = w.events[0];
    mr_witness_observe(&w);
    assert_int_equal(w.event_count, MR_MINIMISE_MOST);
    mr_witness_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random_witnesses),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
