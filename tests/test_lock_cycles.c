/*
 * The candidates for deadlocks (goals/lock_cycles.h): against brute force over all sets of acquires
 * of random traces, against the deadlocks that exhaustive search finds, and on long traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "goals/lock_cycles.h"
#include "support/generate.h"
#include "support/goal_search.h"
#include "support/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 4096, MOST_THREADS = 8 };

/* Sets of acquires, as bits of events. */
typedef struct sets {
    uint64_t items[MOST_SETS];
    size_t count;
} sets;

static bool has(const sets *all, uint64_t set)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i] == set)
            return true;
    return false;
}

static void put(sets *all, uint64_t set)
{
    if (has(all, set))
        return;
    assert_true(all->count < MOST_SETS);
    all->items[all->count++] = set;
}

/* ---- brute force, from the raw columns ---- */

static int depth(const mr_trace *trace, uint32_t event, uint32_t lock, bool shared)
{
    int count = 0;
    for (uint32_t e = 0; e < event; e++) {
        if (trace->thread[e] != trace->thread[event] || trace->operand[e] != lock)
            continue;
        count += trace->op[e] == (shared ? MR_OP_SHARED_ACQUIRE : MR_OP_ACQUIRE);
        count -= trace->op[e] == (shared ? MR_OP_SHARED_RELEASE : MR_OP_RELEASE);
    }
    return count;
}

/* Does the thread of `event` hold the lock before it in a way that excludes holding it so? */
static bool excludes(const mr_trace *trace, uint32_t event, uint32_t lock, bool shared)
{
    return depth(trace, event, lock, false) > 0 || (!shared && depth(trace, event, lock, true) > 0);
}

static bool have_guard(const mr_trace *trace, uint32_t one, uint32_t other)
{
    for (uint32_t lock = 0; lock < trace->locks.count; lock++)
        if ((depth(trace, one, lock, false) > 0 && excludes(trace, other, lock, true)) ||
            (depth(trace, one, lock, false) > 0 && excludes(trace, other, lock, false)) ||
            (depth(trace, one, lock, true) > 0 && excludes(trace, other, lock, true)))
            return true;
    return false;
}

typedef struct brute {
    const mr_trace *trace;
    uint32_t path[MOST_THREADS], count;
    sets *plain, *guarded;
} brute;

static bool is_shared(const mr_trace *trace, uint32_t acquire)
{
    return trace->op[acquire] == MR_OP_SHARED_ACQUIRE;
}

/* An acquire, and no try, of a lock that its thread holds neither exclusively nor in the same way. */
static bool is_outermost(const mr_trace *trace, uint32_t e)
{
    uint32_t lock = trace->operand[e];
    return (trace->op[e] == MR_OP_ACQUIRE || is_shared(trace, e)) &&
           mr_trace_memory_order(trace, e) != MR_ORDER_TRY && depth(trace, e, lock, false) == 0 &&
           !(is_shared(trace, e) && depth(trace, e, lock, true) > 0);
}

static void keep(brute *b)
{
    uint64_t set = 0;
    bool guarded = false;
    for (uint32_t i = 0; i < b->count; i++) {
        set |= UINT64_C(1) << b->path[i];
        for (uint32_t j = 0; j < i; j++)
            guarded |= have_guard(b->trace, b->path[i], b->path[j]);
    }
    put(guarded ? b->guarded : b->plain, set);
}

static void extend(brute *b)
{
    const mr_trace *trace = b->trace;
    uint32_t last = b->path[b->count - 1];
    if (b->count > 1 && excludes(trace, b->path[0], trace->operand[last], is_shared(trace, last)))
        keep(b);
    for (uint32_t e = 0; e < trace->event_count && b->count < MOST_THREADS; e++) {
        bool other = is_outermost(trace, e) &&
                     excludes(trace, e, trace->operand[last], is_shared(trace, last));
        for (uint32_t i = 0; i < b->count; i++)
            other &= trace->thread[b->path[i]] != trace->thread[e] &&
                     trace->operand[b->path[i]] != trace->operand[e];
        if (!other)
            continue;
        b->path[b->count++] = e;
        extend(b);
        b->count--;
    }
}

static void find_by_brute_force(const mr_trace *trace, sets *plain, sets *guarded)
{
    brute b = {.trace = trace, .count = 1, .plain = plain, .guarded = guarded};
    for (uint32_t e = 0; e < trace->event_count; e++) {
        b.path[0] = e;
        if (is_outermost(trace, e))
            extend(&b);
    }
}

/* ---- what the candidates stand for ---- */

typedef struct expansion {
    const mr_lock_waits *waits;
    sets *plain, *guarded;
} expansion;

static void expand(const expansion *x, const mr_lock_cycle *cycle, uint32_t place, uint64_t set)
{
    if (place == cycle->count) {
        put(cycle->guard == MR_NONE ? x->plain : x->guarded, set);
        return;
    }
    const mr_lock_wait *wait = &x->waits->items[cycle->waits[place]];
    for (uint32_t i = 0; i < wait->event_count; i++)
        expand(x, cycle, place + 1, set | UINT64_C(1) << x->waits->events[wait->first_event + i]);
}

static bool expand_cycle(void *context, const mr_lock_cycle *cycle)
{
    expand(context, cycle, 0, 0);
    return true;
}

static void assert_same(const sets *right, const sets *found, const char *what, const char *text)
{
    for (size_t i = 0; i < right->count; i++)
        if (!has(found, right->items[i]))
            fail_msg("%s cycle of events %" PRIx64 " is missing:\n%s", what, right->items[i], text);
    for (size_t i = 0; i < found->count; i++)
        if (!has(right, found->items[i]))
            fail_msg("%s cycle of events %" PRIx64 " is none:\n%s", what, found->items[i], text);
}

static void compare(const char *text, size_t *cycles, size_t *guards, size_t *deadlocks)
{
    static sets right, right_guarded, found, found_guarded, unguarded;
    right.count = right_guarded.count = found.count = found_guarded.count = unguarded.count = 0;
    mr_trace *trace = mr_sample_trace(text);
    mr_lock_waits waits;
    assert_non_null(trace);
    assert_true(mr_lock_waits_find(&waits, trace));
    expansion all = {&waits, &found, &found_guarded}, few = {&waits, &unguarded, NULL};
    assert_int_equal(mr_lock_cycles_each(&waits, true, expand_cycle, &all), MR_CYCLES_ALL);
    assert_int_equal(mr_lock_cycles_each(&waits, false, expand_cycle, &few), MR_CYCLES_ALL);
    find_by_brute_force(trace, &right, &right_guarded);
    assert_same(&right, &found, "a", text);
    assert_same(&right, &unguarded, "an unguarded", text);
    assert_same(&right_guarded, &found_guarded, "a guarded", text);
    mr_right_goals *goals =
        mr_goal_search(trace, MR_MODEL_BRANCH, MR_OPAQUE_IGNORE, 0, trace->event_count);
    assert_non_null(goals);
    for (uint32_t i = 0; i < goals->deadlock_count; i++)
        if (!has(&found, goals->deadlocks[i].acquires))
            fail_msg("a deadlock is no candidate:\n%s", text);
    *cycles += right.count;
    *guards += right_guarded.count;
    *deadlocks += goals->deadlock_count;
    mr_goal_search_free(goals);
    mr_lock_waits_free(&waits);
    mr_trace_free(trace);
}

static void test_against_brute_force(void **state)
{
    (void)state;
    static const mr_shape shapes[] = {
        MR_SHAPE_NESTED_LOCKS,   MR_SHAPE_HAND_OVER_HAND, MR_SHAPE_REENTRANT,
        MR_SHAPE_DEADLOCK,       MR_SHAPE_SHARED_LOCKS,   MR_SHAPE_ALL_KINDS,
        MR_SHAPE_LOCK_CYCLES,    MR_SHAPE_SHARED_CYCLES,  MR_SHAPE_GUARDED_CYCLES,
        MR_SHAPE_GUARDED_CYCLES, MR_SHAPE_GOALS,
    };
    size_t cycles = 0, guards = 0, deadlocks = 0;
    for (uint64_t seed = 0; seed < 1100; seed++) {
        char *text = mr_generate_trace(seed, shapes[seed % (sizeof shapes / sizeof *shapes)]);
        assert_non_null(text);
        compare(text, &cycles, &guards, &deadlocks);
        free(text);
    }
    print_message("%zu cycles, %zu with a guard, %zu deadlocks\n", cycles, guards, deadlocks);
    assert_true(deadlocks > 100 && cycles > deadlocks && guards > 20);
}

/* ---- long traces ---- */

static bool count_cycle(void *context, const mr_lock_cycle *cycle)
{
    size_t *counts = context;
    counts[cycle->guard == MR_NONE ? 0 : 1]++;
    return true;
}

/* `rounds` times: thread A takes a then b, B takes b then a, C and D the same under a guard. */
static char *long_text(uint32_t rounds)
{
    static const char *const round =
        "A|acq(a)|1\nA|acq(b)|2\nA|rel(b)|3\nA|rel(a)|4\nB|acq(b)|5\nB|acq(a)|6\nB|rel(a)|7\nB|rel("
        "b)|8\nC|acq(g)|9\nC|acq(c)|10\nC|acq(d)|11\nC|rel(d)|12\nC|rel(c)|13\nC|rel(g)|14\nD|acq("
        "g)|15\nD|acq(d)|16\nD|acq(c)|17\nD|rel(c)|18\nD|rel(d)|19\nD|rel(g)|20\n";
    size_t length = strlen(round);
    char *text = malloc(rounds * length + 1);
    assert_non_null(text);
    for (uint32_t i = 0; i < rounds; i++)
        memcpy(text + i * length, round, length + 1);
    return text;
}

/* Acquires that are alike are one wait, however many there are. */
static void test_alike_acquires_are_one_wait(void **state)
{
    (void)state;
    for (uint32_t rounds = 1; rounds <= 10000; rounds *= 100) {
        char *text = long_text(rounds);
        mr_trace *trace = mr_sample_trace(text);
        mr_lock_waits waits;
        size_t counts[2] = {0}, unguarded[2] = {0};
        assert_non_null(trace);
        assert_true(mr_lock_waits_find(&waits, trace));
        assert_int_equal(waits.count, 4);
        for (size_t w = 0; w < waits.count; w++)
            assert_int_equal(waits.items[w].event_count, rounds);
        mr_lock_cycles_each(&waits, true, count_cycle, counts);
        mr_lock_cycles_each(&waits, false, count_cycle, unguarded);
        assert_int_equal(counts[0], 1);
        assert_int_equal(counts[1], 1);
        assert_int_equal(unguarded[0], 1);
        assert_int_equal(unguarded[1], 0);
        mr_lock_waits_free(&waits);
        mr_trace_free(trace);
        free(text);
    }
}

/* Many locks that all threads take in one order: nothing is kept. */
static void test_one_order_of_locks_has_no_waits(void **state)
{
    (void)state;
    enum { LOCKS = 300, LINE = 64 };
    char *text = malloc(4 * LOCKS * LINE);
    size_t used = 0;
    assert_non_null(text);
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t lock = 0; lock < LOCKS; lock++)
            used += (size_t)sprintf(text + used, "T%" PRIu32 "|acq(l%" PRIu32 ")|1\n", t, lock);
        for (uint32_t lock = 0; lock < LOCKS; lock++)
            used += (size_t)sprintf(text + used, "T%" PRIu32 "|rel(l%" PRIu32 ")|1\n", t, lock);
    }
    mr_trace *trace = mr_sample_trace(text);
    mr_lock_waits waits;
    assert_non_null(trace);
    assert_true(mr_lock_waits_find(&waits, trace));
    assert_int_equal(waits.count, 0);
    mr_lock_waits_free(&waits);
    mr_trace_free(trace);
    free(text);
}

/* A thread that holds a lock in both ways is one holder. */
static void test_held_in_both_ways(void **state)
{
    (void)state;
    size_t counts[2] = {0};
    mr_trace *trace =
        mr_sample_trace("A|racq(l)|1\nA|acq(l)|2\nA|acq(m)|3\nA|rel(m)|4\nA|rel(l)|5\nA|"
                        "rrel(l)|6\nB|acq(m)|7\nB|racq(l)|8\n");
    mr_lock_waits waits;
    assert_non_null(trace);
    assert_true(mr_lock_waits_find(&waits, trace));
    mr_lock_cycles_each(&waits, false, count_cycle, counts);
    assert_int_equal(counts[0], 1);
    mr_lock_waits_free(&waits);
    mr_trace_free(trace);
}

/* A cycle of eight is found, one of nine is beyond the bound. */
static void test_longest_cycle(void **state)
{
    (void)state;
    for (uint32_t n = MR_CYCLE_WAITS; n <= MR_CYCLE_WAITS + 1; n++) {
        char text[2048];
        size_t used = 0, counts[2] = {0};
        for (uint32_t t = 0; t < n; t++)
            used += (size_t)sprintf(text + used,
                                    "T%" PRIu32 "|acq(l%" PRIu32 ")|1\nT%" PRIu32 "|acq(l%" PRIu32
                                    ")|2\nT%" PRIu32 "|rel(l%" PRIu32 ")|3\nT%" PRIu32
                                    "|rel(l%" PRIu32 ")|4\n",
                                    t, t, t, (t + 1) % n, t, (t + 1) % n, t, t);
        mr_trace *trace = mr_sample_trace(text);
        mr_lock_waits waits;
        assert_non_null(trace);
        assert_true(mr_lock_waits_find(&waits, trace));
        assert_int_equal(waits.count, n);
        mr_lock_cycles_each(&waits, false, count_cycle, counts);
        assert_int_equal(counts[0], n == MR_CYCLE_WAITS);
        mr_lock_waits_free(&waits);
        mr_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_alike_acquires_are_one_wait),
        cmocka_unit_test(test_one_order_of_locks_has_no_waits),
        cmocka_unit_test(test_longest_cycle),
        cmocka_unit_test(test_held_in_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
