/*
 * The twin of the engine for the questions of docs/semantics.md 7 (support/goal_search.h): traces
 * with known answers, and the definition at its word on random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/definition.h"
#include "support/generate.h"
#include "support/goal_search.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 4096, DEFINED_EVENTS = 7 };

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TEXT_BYTES - used, format, arguments);
    va_end(arguments);
}

/* Everything but `sees`: "free 3<2 null 4 dangling 5 double 6 deadlock 1,4". */
static void print_goals(const mr_right_goals *found, uint32_t count, char *text)
{
    text[0] = '\0';
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t u = 0; u < count; u++)
            if (found->use_after_free[f][u])
                append(text, " free %" PRIu32 "<%" PRIu32, f, u);
    for (uint32_t r = 0; r < count; r++) {
        if (found->null[r])
            append(text, " null %" PRIu32, r);
        if (found->dangling[r])
            append(text, " dangling %" PRIu32, r);
        if (found->double_free[r])
            append(text, " double %" PRIu32, r);
    }
    for (uint32_t i = 0; i < found->deadlock_count; i++) {
        append(text, " deadlock");
        for (uint32_t e = 0, first = 1; e < count; e++)
            if (found->deadlocks[i].acquires >> e & 1) {
                append(text, "%c%" PRIu32, first ? ' ' : ',', e);
                first = 0;
            }
    }
    if (text[0])
        memmove(text, text + 1, strlen(text));
}

typedef struct known {
    const char *name, *text;
    uint32_t start;
    const char *rf, *value, *branch; /* NULL: as before */
} known;

/* A block at 4096 of 16 bytes with the variable y, and a pointer p. */
#define OBJECT "#@in y o\n"

static const known traces[] = {
    {"a use before the free", OBJECT "A|alloc(o)|1\nA|fork(B)|2\nB|w(y)|3\nA|free(o)|4\n", 0,
     "free 3<2", NULL, NULL},
    {"joined before the free",
     OBJECT "A|alloc(o)|1\nA|fork(B)|2\nB|w(y)|3\nA|join(B)|4\nA|free(o)|5\n", 0, "", NULL, NULL},
    {"both in sections of one lock",
     OBJECT "A|acq(l)|1\nA|w(y)|2\nA|rel(l)|3\nB|acq(l)|4\nB|free(o)|5\nB|rel(l)|6\n", 0,
     "free 4<1", NULL, NULL},
    {"a flag that is read in the section keeps them in order",
     OBJECT "A|acq(l)|1\nA|w(y)|2\nA|w(f=1)|3\nA|rel(l)|4\nB|acq(l)|5\nB|r(f=1)|6\nB|free(o)|7\nB|"
            "rel(l)|8\n",
     0, "", NULL, "free 6<1"},
    {"observed already", OBJECT "A|free(o)|1\nB|w(y)|2\n", 0, "", NULL, NULL},
    {"the same thread", OBJECT "A|w(y)|1\nA|free(o)|2\nB|w(z)|3\n", 0, "", NULL, NULL},
    {"an atomic use", OBJECT "A|ar(y)|1\nB|free(o)|2\n", 0, "free 1<0", NULL, NULL},
    {"a use that is not next before the free's own thread goes on",
     OBJECT "A|w(y)|1\nA|post(s)|2\nB|wait(s)|3\nB|free(o)|4\n", 0, "", NULL, NULL},
    {"two locks, opposite",
     "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nB|acq(m)|5\nB|acq(l)|6\nB|rel(l)|7\nB|rel(m)|"
     "8\n",
     0, "deadlock 1,5", NULL, NULL},
    {"with a guard lock",
     "A|acq(g)|0\nA|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nA|rel(g)|5\nB|acq(g)|6\nB|acq(m)|"
     "7\nB|acq(l)|8\nB|rel(l)|9\nB|rel(m)|10\nB|rel(g)|11\n",
     0, "", NULL, NULL},
    {"a guard lock held shared guards nothing",
     "A|racq(g)|0\nA|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nA|rrel(g)|5\nB|racq(g)|6\nB|acq("
     "m)|7\nB|acq(l)|8\nB|rel(l)|9\nB|rel(m)|10\nB|rrel(g)|11\n",
     0, "deadlock 2,8", NULL, NULL},
    {"a try waits for nothing",
     "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nB|acq(m)|5\nB|acq.try(l)|6\nB|rel(l)|7\nB|"
     "rel("
     "m)|8\n",
     0, "", NULL, NULL},
    {"what was taken by a try is held as any other lock",
     "A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nB|acq.try(m)|5\nB|acq(l)|6\nB|rel(l)|7\nB|"
     "rel("
     "m)|8\n",
     0, "deadlock 1,5", NULL, NULL},
    {"ordered by a join",
     "A|fork(B)|0\nB|acq(l)|1\nB|acq(m)|2\nB|rel(m)|3\nB|rel(l)|4\nA|join(B)|5\nA|acq(m)|6\nA|acq("
     "l)|7\n",
     0, "", NULL, NULL},
    {"three threads",
     "A|acq(k)|0\nA|acq(l)|1\nA|rel(l)|2\nA|rel(k)|3\nB|acq(l)|4\nB|acq(m)|5\nB|rel(m)|6\nB|rel(l)|"
     "7\nC|acq(m)|8\nC|acq(k)|9\nC|rel(k)|10\nC|rel(m)|11\n",
     0, "deadlock 1,5,9", NULL, NULL},
    {"shared holds that exclude nobody",
     "A|racq(l)|1\nA|racq(m)|2\nA|rrel(m)|3\nA|rrel(l)|4\nB|racq(m)|5\nB|racq(l)|6\nB|rrel(l)|7\nB|"
     "rrel(m)|8\n",
     0, "", NULL, NULL},
    {"shared holds, exclusive waits",
     "A|racq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rrel(l)|4\nB|racq(m)|5\nB|acq(l)|6\nB|rel(l)|7\nB|"
     "rrel(m)|8\n",
     0, "deadlock 1,5", NULL, NULL},
    {"two upgrades of one lock: the locks are not different",
     "A|racq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rrel(l)|4\nB|racq(l)|5\nB|acq(l)|6\nB|rel(l)|7\nB|"
     "rrel(l)|8\n",
     0, "", NULL, NULL},
    {"an inner acquire waits for nobody",
     "A|acq(l)|1\nA|acq(m)|2\nA|acq(l)|3\nA|rel(l)|4\nA|rel(m)|5\nA|rel(l)|6\nB|acq(l)|7\nB|acq(m)|"
     "8\nB|rel(m)|9\nB|rel(l)|10\n",
     0, "", NULL, NULL},
    {"held since before the window",
     "A|acq(l)|1\nB|acq(m)|2\nB|rel(m)|3\nA|acq(m)|4\nA|rel(m)|5\nA|rel(l)|6\nB|acq(m)|7\nB|acq(l)|"
     "8\n",
     1, "deadlock 3,7", NULL, NULL},
    {"a reset pointer", "A|w(p=8)|1\nA|fork(B)|2\nB|r(p=8)|3\nB|deref(p)|4\nB|w(y)|5\nA|w(p=0)|6\n",
     0, "null 2", NULL, NULL},
    {"the initial value is 0",
     "A|r(p=0)|0\nA|w(p=8)|1\nA|fork(C)|2\nC|w(q)|3\nB|r(p=8)|3\nB|deref(p)|4\n", 0, "null 4", NULL,
     NULL},
    {"it was null in the trace", "A|w(p=0)|1\nB|r(p=0)|2\nB|deref(p)|3\nA|w(p=8)|4\n", 0, "", NULL,
     NULL},
    {"checked by another read before: the value is not the same one",
     "A|w(p=8)|1\nA|fork(B)|2\nB|r(p=8)|3\nB|branch()|4\nB|r(p=8)|5\nB|deref(p)|6\nA|w(p=0)|7\n", 0,
     "null 4", NULL, NULL},
    {"checked, and the same read is used: the value cannot be null then",
     "A|w(p=8)|1\nA|fork(B)|2\nB|r(p=8)|3\nB|w(z)|4\nA|w(p=0)|7\n", 0, "", NULL, NULL},
    {"without values", "A|w(p)|1\nA|fork(B)|2\nB|r(p=8)|3\nB|deref(p)|4\nA|w(p=0)|6\n", 0, "", NULL,
     NULL},
    {"the block that a pointer points to is freed first",
     "A|alloc(o=4096+16)|1\nA|w(p=4104)|2\nA|fork(B)|3\nB|r(p=4104)|4\nB|deref(p)|5\nB|w(z)|6\nA|"
     "free(o)|7\n",
     0, "dangling 3", NULL, NULL},
    {"it points behind the block",
     "A|alloc(o=4096+16)|1\nA|w(p=4112)|2\nA|fork(B)|3\nB|r(p=4112)|4\nB|deref(p)|5\nB|w(z)|6\nA|"
     "free(o)|7\n",
     0, "", NULL, NULL},
    {"another block is there by then, or not yet",
     "A|alloc(o=4096+16)|1\nA|w(p=4096)|2\nA|fork(B)|3\nB|r(p=4096)|4\nB|deref(p)|5\nB|w(z)|6\nA|"
     "free(o)|7\nA|alloc(n=4096+32)|8\n",
     0, "dangling 3", NULL, NULL},
    {"two owners free",
     "A|alloc(o=4096+16)|1\nA|w(p=4096)|2\nA|fork(B)|3\nB|r(p=4096)|4\nB|deref(p)|5\nB|free(n)|6\n"
     "A|free(o)|7\n",
     0, "double 3", NULL, NULL},
    {"an access and a free of one read",
     "A|alloc(o=4096+16)|1\nA|w(p=4096)|2\nA|fork(B)|3\nB|r(p=4096)|4\nB|deref(p)|5\nB|w(z)|6\nB|"
     "deref(p)|7\nB|free(n)|8\nA|free(o)|9\n",
     0, "dangling 3 double 3", NULL, NULL},
    {"freed before the window",
     "A|alloc(o=4096+16)|1\nA|w(p=4096)|2\nA|w(q=4096)|2\nA|free(o)|3\nA|w(p=8192)|4\nB|r(q=4096)|"
     "5\nC|r(p=8192)|6\nC|deref(p)|7\n",
     4, "dangling 6", NULL, NULL},
};

static void check_known(const known *k, int *wrong)
{
    const char *expected[] = {k->rf, k->value, k->branch};
    mr_trace *trace = mr_sample_trace(k->text);
    if (!trace)
        fail_msg("%s: no trace", k->name);
    for (int model = 0; model < 3; model++) {
        char text[TEXT_BYTES];
        if (!expected[model])
            expected[model] = expected[model - 1];
        mr_right_goals *found =
            mr_goal_search(trace, (mr_model)model, MR_OPAQUE_PAIR, k->start, trace->event_count);
        assert_non_null(found);
        print_goals(found, trace->event_count, text);
        if (strcmp(text, expected[model]) != 0) {
            print_error("%s, %s: found '%s', expected '%s'\n", k->name,
                        mr_model_name((mr_model)model), text, expected[model]);
            ++*wrong;
        }
        mr_goal_search_free(found);
    }
    mr_trace_free(trace);
}

static void test_known_answers(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
        check_known(&traces[i], &wrong);
    assert_int_equal(wrong, 0);
}

/* Which writes, and values, a read can see. */
static void test_known_sees(void **state)
{
    (void)state;
    const char *text = "A|w(x=1)|1\nB|w(x=2)|2\nC|r(x=2)|3\nD|w(x=1)|4\n";
    mr_trace *trace = mr_sample_trace(text);
    mr_right_goals *found = mr_goal_search(trace, MR_MODEL_RF, MR_OPAQUE_PAIR, 0, 4);
    assert_non_null(found);
    uint32_t one = trace->value[0], two = trace->value[1];
    assert_true(found->sees[2][0] && found->sees[2][1] && found->sees[2][3]);
    assert_true(found->sees_value[2][one] && found->sees_value[2][two]);
    mr_goal_search_free(found);
    mr_trace_free(trace);
}

/* ---- the definition at its word ---- */

typedef struct enumeration {
    const mr_trace *trace;
    mr_opaque opaque;
    mr_witness sequence;
    mr_claim *claims;
    bool *found;
    size_t count;
} enumeration;

static void enumerate(enumeration *all)
{
    mr_witness *w = &all->sequence;
    for (size_t i = 0; i < all->count; i++)
        if (!all->found[i])
            all->found[i] = mr_definition_ends_in(all->trace, w, &all->claims[i], all->opaque);
    uint32_t place = w->event_count++;
    for (uint32_t e = w->window_start; e < w->window_end; e++) {
        w->events[place] = e;
        if (mr_definition_reordering(all->trace, w, all->opaque))
            enumerate(all);
    }
    w->event_count = place;
}

static void add_claim(enumeration *all, mr_claim claim)
{
    all->claims[all->count++] = claim;
}

static void add_claims(enumeration *all, uint32_t start, uint32_t end)
{
    for (uint32_t a = start; a < end; a++) {
        for (mr_claim_kind kind = MR_CLAIM_NULL; kind <= MR_CLAIM_DOUBLE_FREE; kind++)
            add_claim(all, (mr_claim){.kind = kind, .events = {a}, .count = 1});
        for (uint32_t b = start; b < end; b++)
            if (a != b) {
                add_claim(all, (mr_claim){MR_CLAIM_USE_AFTER_FREE, {a, b}, 2});
            }
        for (uint32_t b = 0; b < end; b++)
            if (a != b)
                add_claim(all, (mr_claim){MR_CLAIM_SEES, {a, b}, 2});
    }
    for (uint32_t set = 0; set < 1u << (end - start); set++) {
        mr_claim claim = {.kind = MR_CLAIM_DEADLOCK};
        bool all_acquire = true;
        for (uint32_t i = 0; i < end - start; i++) {
            if (!(set >> i & 1))
                continue;
            claim.events[claim.count++] = start + i;
            all_acquire &= mr_op_acquires(all->trace->op[start + i]);
        }
        if (claim.count >= 2 && all_acquire)
            add_claim(all, claim);
    }
}

static bool is_found(const mr_right_goals *found, const mr_claim *claim)
{
    uint32_t first = claim->events[0], second = claim->events[1];
    uint64_t acquires = 0;
    switch (claim->kind) {
    case MR_CLAIM_USE_AFTER_FREE:
        return found->use_after_free[first][second];
    case MR_CLAIM_NULL:
        return found->null[first];
    case MR_CLAIM_DANGLING:
        return found->dangling[first];
    case MR_CLAIM_DOUBLE_FREE:
        return found->double_free[first];
    case MR_CLAIM_SEES:
        return found->sees[first][second];
    case MR_CLAIM_DEADLOCK:
        for (uint32_t i = 0; i < claim->count; i++)
            acquires |= UINT64_C(1) << claim->events[i];
        return mr_goal_search_has_deadlock(found, acquires);
    }
    return false;
}

/* Counts what is found, by kind. */
static void compare_with_definition(const char *text, mr_model model, mr_opaque opaque,
                                    uint32_t start, size_t *counts)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    uint32_t end =
        trace->event_count < start + DEFINED_EVENTS ? trace->event_count : start + DEFINED_EVENTS;
    uint32_t events[DEFINED_EVENTS + 1];
    static mr_claim claims[2048];
    bool held[2048] = {false};
    enumeration all = {
        .trace = trace,
        .opaque = opaque,
        .sequence = {.model = model, .window_start = start, .window_end = end, .events = events},
        .claims = claims,
        .found = held};
    if (start > end) {
        mr_trace_free(trace);
        return;
    }
    add_claims(&all, start, end);
    enumerate(&all);
    mr_right_goals *found = mr_goal_search(trace, model, opaque, start, end);
    assert_non_null(found);
    for (size_t i = 0; i < all.count; i++) {
        const mr_claim *c = &claims[i];
        counts[c->kind] += held[i];
        if (held[i] != is_found(found, c))
            fail_msg("%s, opaque %d: claim %d of %" PRIu32 " %" PRIu32 " in [%" PRIu32 ", %" PRIu32
                     ") is %s by definition:\n%s",
                     mr_model_name(model), (int)opaque, (int)c->kind, c->events[0], c->events[1],
                     start, end, held[i] ? "found" : "impossible", text);
    }
    mr_goal_search_free(found);
    mr_trace_free(trace);
}

static void test_same_as_the_definition(void **state)
{
    (void)state;
    size_t counts[MR_CLAIM_DEADLOCK + 1] = {0};
    for (uint64_t seed = 0; seed < 6000; seed++) {
        int shape = seed % 3 ? MR_SHAPE_ALL + (int)(seed / 3 % (MR_SHAPE_WITH_GOALS - MR_SHAPE_ALL))
                             : (int)(seed / 3 % MR_SHAPE_ALL);
        char *text = mr_generate_trace(seed, (mr_shape)shape);
        assert_non_null(text);
        compare_with_definition(text, (mr_model)(seed % 3), (mr_opaque)(seed / 9 % 3),
                                (uint32_t)(seed / 5 % 12), counts);
        free(text);
    }
    for (int kind = 0; kind <= MR_CLAIM_DEADLOCK; kind++)
        assert_true(counts[kind] > 0);
}

/* ---- the traces are worth something ---- */

typedef struct tally {
    size_t free, null, dangling, double_free, sees, deadlock, deadlock_of_three;
} tally;

static void assert_within(bool small, bool big, const char *what, uint32_t a, uint32_t b,
                          const char *text)
{
    if (small && !big)
        fail_msg("%s %" PRIu32 " %" PRIu32 " is lost:\n%s", what, a, b, text);
}

/* Whatever is found with less is found with more: rf ⊆ value ⊆ branch, window ⊆ whole trace. */
static void compare_sets(const mr_right_goals *small, const mr_right_goals *big, const char *text)
{
    for (uint32_t a = 0; a < MR_GOAL_EVENTS; a++) {
        assert_within(small->null[a], big->null[a], "null", a, 0, text);
        assert_within(small->dangling[a], big->dangling[a], "dangling", a, 0, text);
        assert_within(small->double_free[a], big->double_free[a], "double free", a, 0, text);
        for (uint32_t b = 0; b < MR_GOAL_EVENTS; b++) {
            assert_within(small->use_after_free[a][b], big->use_after_free[a][b], "free", a, b,
                          text);
            assert_within(small->sees[a][b], big->sees[a][b], "sees", a, b, text);
        }
        for (uint32_t v = 0; v < MR_GOAL_VALUES; v++)
            assert_within(small->sees_value[a][v], big->sees_value[a][v], "value", a, v, text);
    }
    for (uint32_t i = 0; i < small->deadlock_count; i++)
        assert_within(true, mr_goal_search_has_deadlock(big, small->deadlocks[i].acquires),
                      "deadlock", i, 0, text);
}

static void count_goals(const mr_right_goals *found, tally *sum)
{
    for (uint32_t a = 0; a < MR_GOAL_EVENTS; a++) {
        sum->null += found->null[a] != 0;
        sum->dangling += found->dangling[a] != 0;
        sum->double_free += found->double_free[a] != 0;
        for (uint32_t b = 0; b < MR_GOAL_EVENTS; b++) {
            sum->free += found->use_after_free[a][b] != 0;
            sum->sees += found->sees[a][b] != 0;
        }
    }
    sum->deadlock += found->deadlock_count;
    for (uint32_t i = 0; i < found->deadlock_count; i++)
        sum->deadlock_of_three += __builtin_popcountll(found->deadlocks[i].acquires) >= 3;
}

static void check_trace(const char *text, uint64_t seed, tally *sums)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    uint32_t count = trace->event_count, start = (uint32_t)(seed % 7);
    mr_right_goals *found[3], *window;
    for (int model = 0; model < 3; model++) {
        found[model] = mr_goal_search(trace, (mr_model)model, MR_OPAQUE_PAIR, 0, count);
        assert_non_null(found[model]);
        count_goals(found[model], &sums[model]);
        if (model)
            compare_sets(found[model - 1], found[model], text);
    }
    if (start < count) {
        window = mr_goal_search(trace, (mr_model)(seed % 3), MR_OPAQUE_PAIR, start, count);
        assert_non_null(window);
        compare_sets(window, found[seed % 3], text);
        mr_goal_search_free(window);
    }
    for (int model = 0; model < 3; model++)
        mr_goal_search_free(found[model]);
    mr_trace_free(trace);
}

static void test_containments(void **state)
{
    (void)state;
    tally sums[3] = {{0}};
    for (uint64_t seed = 0; seed < 60; seed++) {
        for (int shape = MR_SHAPE_ALL; shape < MR_SHAPE_WITH_GOALS; shape++) {
            char *text = mr_generate_trace(seed, (mr_shape)shape);
            assert_non_null(text);
            check_trace(text, seed, sums);
            free(text);
        }
    }
    for (int model = 0; model < 3; model++) {
        const tally *t = &sums[model];
        print_message("%s: %zu uses, %zu null, %zu dangling, %zu double frees, %zu sees, %zu "
                      "deadlocks, %zu of three\n",
                      mr_model_name((mr_model)model), t->free, t->null, t->dangling, t->double_free,
                      t->sees, t->deadlock, t->deadlock_of_three);
        assert_true(t->free > 10 && t->null > 10 && t->dangling > 10 && t->double_free > 3 &&
                    t->sees > 100 && t->deadlock > 20 && t->deadlock_of_three > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_known_sees),
        cmocka_unit_test(test_same_as_the_definition),
        cmocka_unit_test(test_containments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
