/*
 * Memory-order races (docs/semantics.md 8): the litmus cases of the literature with their verdicts;
 * then random traces, where what a prediction reports is compared with the definition
 * (support/c17_reference.h) on the recorded order and on the order of each witness.
 *
 * MEMORY_ORDER_TRACES, _SEED, _SHAPE choose other traces (support/trials.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/order_reference.h"
#include "support/predicted.h"
#include "support/trace_reading.h"
#include "support/trials.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRACES = 3000, SHARE = 750, DEFAULT_SEED = 51241, TEXT_BYTES = 8192 };

/* ---- litmus cases ---- */

static size_t memory_order_races(const mr_trace *trace)
{
    static const char *const settings[] = {NULL};
    mr_result result = mr_predicted_right(trace, settings);
    size_t count = 0;
    for (size_t i = 0; i < result.race_count; i++)
        count += result.races[i].witness.kind == MR_WITNESS_MEMORY_ORDER;
    assert_int_equal(count, result.stats.memory_order_races);
    mr_result_free(&result);
    return count;
}

/* Message passing: is the payload ordered? */
static void test_message_passing(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool works;
    } writes[] = {{"aw.rlx", false},   {"aw.rel", true},  {"aw.sc", true},
                  {"aw", true},        {"au.rlx", false}, {"au.acq", false},
                  {"au.acqrel", true}, {"au.rel", true},  {"au", true}},
      reads[] = {{"ar.rlx", false},   {"ar.acq", true},  {"ar.sc", true},
                 {"ar", true},        {"au.rlx", false}, {"au.rel", false},
                 {"au.acqrel", true}, {"au.acq", true},  {"au", true}};
    for (size_t w = 0; w < sizeof writes / sizeof *writes; w++) {
        for (size_t r = 0; r < sizeof reads / sizeof *reads; r++) {
            char text[256];
            snprintf(text, sizeof text, "T1|w(x)|1\nT1|%s(f)|2\nT2|%s(f)|3\nT2|r(x)|4\n",
                     writes[w].name, reads[r].name);
            mr_trace *trace = mr_test_read(text, false);
            size_t expected = writes[w].works && reads[r].works ? 0 : 1;
            if (memory_order_races(trace) != expected)
                fail_msg("%s, %s: should have %zu memory-order races", writes[w].name,
                         reads[r].name, expected);
            mr_trace_free(trace);
        }
    }
}

typedef struct litmus {
    const char *name, *text;
    size_t races; /* of the kind memory-order */
} litmus;

static const litmus litmuses[] = {
    {"release fence, acquire read",
     "T1|w(x)|1\nT1|fence.rel()|2\nT1|aw.rlx(f)|3\nT2|ar.acq(f)|4\nT2|r(x)|5\n", 0},
    {"release write, acquire fence",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.rlx(f)|3\nT2|fence.acq()|4\nT2|r(x)|5\n", 0},
    {"two fences",
     "T1|w(x)|1\nT1|fence.rel()|2\nT1|aw.rlx(f)|3\nT2|ar.rlx(f)|4\nT2|fence.acq()|5\nT2|r(x)|6\n",
     0},
    {"two fences that are sc",
     "T1|w(x)|1\nT1|fence.sc()|2\nT1|aw.rlx(f)|3\nT2|ar.rlx(f)|4\nT2|fence.sc()|5\nT2|r(x)|6\n", 0},
    {"an acquire fence does not release",
     "T1|w(x)|1\nT1|fence.acq()|2\nT1|aw.rlx(f)|3\nT2|ar.acq(f)|4\nT2|r(x)|5\n", 1},
    {"a release fence does not acquire",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.rlx(f)|3\nT2|fence.rel()|4\nT2|r(x)|5\n", 1},
    {"the fence comes before the payload",
     "T1|fence.rel()|1\nT1|w(x)|2\nT1|aw.rlx(f)|3\nT2|ar.acq(f)|4\nT2|r(x)|5\n", 1},
    {"the fence comes before the read",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|fence.acq()|3\nT2|ar.rlx(f)|4\nT2|r(x)|5\n", 1},
    {"a fence alone, of another variable",
     "T1|w(x)|1\nT1|fence.sc()|2\nT1|aw.rlx(f)|3\nT2|ar.rlx(g)|4\nT2|fence.sc()|5\nT2|ar.rlx(f)|6\n"
     "T2|r(x)|7\n",
     1},
    {"sequence through an update of another thread",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|au.rlx(f)|3\nT3|ar.acq(f)|4\nT3|r(x)|5\n", 0},
    {"the updating thread has acquired nothing",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|au.rlx(f)|3\nT2|r(x)|4\n", 1},
    {"sequence through two updates",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|au.rlx(f)|3\nT3|au.rlx(f)|4\nT4|ar.acq(f)|5\nT4|r(x)|6\n", 0},
    {"sequence ended by a relaxed write of another thread",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.rlx(f)|3\nT2|aw.rlx(f)|4\nT3|ar.acq(f)|5\nT3|r(x)|6\n", 1},
    {"a release write of another thread ends it, too",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.rlx(f)|3\nT2|aw.rel(f)|4\nT3|ar.acq(f)|5\nT3|r(x)|6\n", 1},
    {"sequence continued by a relaxed write of its own thread",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT1|aw.rlx(f)|3\nT3|ar.acq(f)|4\nT3|r(x)|5\n", 0},
    {"its own thread goes on behind an update",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|au.rlx(f)|3\nT1|aw.rlx(f)|4\nT3|ar.acq(f)|5\nT3|r(x)|6\n", 0},
    {"what comes after the head is not in its sequence",
     "T1|aw.rel(f)|1\nT1|w(x)|2\nT1|aw.rlx(f)|3\nT3|ar.acq(f)|4\nT3|r(x)|5\n", 1},
    {"a head that a fence makes",
     "T1|w(x)|1\nT1|fence.rel()|2\nT1|aw.rlx(f)|3\nT2|au.rlx(f)|4\nT3|ar.acq(f)|5\nT3|r(x)|6\n", 0},
    {"two heads",
     "T1|w(x)|1\nT1|au.rel(f)|2\nT2|w(y)|3\nT2|au.rel(f)|4\nT3|ar.acq(f)|5\nT3|r(x)|6\nT3|r(y)|7\n",
     0},
    {"acquire of an older write in a chain",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.acq(f)|3\nT2|aw.rel(g)|4\nT3|ar.acq(g)|5\nT3|r(x)|6\n", 0},
    {"a chain with a relaxed link",
     "T1|w(x)|1\nT1|aw.rel(f)|2\nT2|ar.acq(f)|3\nT2|aw.rlx(g)|4\nT3|ar.acq(g)|5\nT3|r(x)|6\n", 1},
    {"publication of a pointer (consume counts as acquire)",
     "T1|w(o.field=7)|1\nT1|aw.rel(head=1)|2\nT2|ar.acq(head=1)|3\nT2|r(o.field=7)|4\n", 0},
    {"publication without release",
     "T1|w(o.field=7)|1\nT1|aw.rlx(head=1)|2\nT2|ar.acq(head=1)|3\nT2|r(o.field=7)|4\n", 1},
    {"double-checked locking, relaxed flag",
     "T1|acq(l)|1\nT1|ar.rlx(f=0)|2\nT1|w(x=1)|3\nT1|aw.rlx(f=1)|4\nT1|rel(l)|5\n"
     "T2|ar.rlx(f=1)|6\nT2|r(x=1)|7\n",
     1},
    {"double-checked locking, right",
     "T1|acq(l)|1\nT1|ar.rlx(f=0)|2\nT1|w(x=1)|3\nT1|aw.rel(f=1)|4\nT1|rel(l)|5\n"
     "T2|ar.acq(f=1)|6\nT2|r(x=1)|7\n",
     0},
    {"double-checked locking that takes the lock",
     "T1|acq(l)|1\nT1|w(x=1)|2\nT1|aw.rlx(f=1)|3\nT1|rel(l)|4\n"
     "T2|acq(l)|5\nT2|ar.rlx(f=1)|6\nT2|r(x=1)|7\nT2|rel(l)|8\n",
     0},
    {"seqlock whose data are atomic",
     "T1|au.rlx(s=0>1)|1\nT1|fence.rel()|2\nT1|aw.rlx(d=5)|3\nT1|aw.rel(s=2)|4\n"
     "T2|ar.acq(s=2)|5\nT2|ar.rlx(d=5)|6\nT2|fence.acq()|7\nT2|ar.rlx(s=2)|8\n",
     0},
    {"seqlock: the next writer may overtake the reader of plain data",
     "T1|aw.rlx(s=1)|1\nT1|fence.rel()|2\nT1|w(d=5)|3\nT1|aw.rel(s=2)|4\n"
     "T2|ar.acq(s=2)|5\nT2|r(d=5)|6\nT2|ar.rlx(s=2)|7\nT1|aw.rlx(s=3)|8\nT1|fence.rel()|9\n"
     "T1|w(d=6)|10\nT1|aw.rel(s=4)|11\n",
     0}, /* a race of section 3: the write comes before the read as well */
    {"reference count: relaxed decrement, acquire fence",
     "T1|w(x)|1\nT1|au.rel(n=2>1)|2\nT2|au.rlx(n=1>0)|3\nT2|fence.acq()|4\nT2|w(x)|5\n", 0},
    {"reference count: nothing acquires",
     "T1|w(x)|1\nT1|au.rel(n=2>1)|2\nT2|au.rel(n=1>0)|3\nT2|w(x)|4\n", 1},
    {"reference count: relaxed in the thread that goes first",
     "T1|w(x)|1\nT1|au.rlx(n=2>1)|2\nT2|au.acqrel(n=1>0)|3\nT2|w(x)|4\n", 1},
    {"reference count, as shared_ptr has it",
     "T1|w(x)|1\nT1|au.rlx(n=1>2)|2\nT1|fork(T2)|3\nT2|r(x)|4\nT2|au.acqrel(n=2>1)|5\n"
     "T1|au.acqrel(n=1>0)|6\nT1|w(x)|7\n",
     0},
    {"reference count: the free of the block",
     "#@in x "
     "o\nT1|alloc(o)|0\nT1|fork(T2)|0\nT2|r(x)|1\nT2|au.rlx(n=2>1)|2\nT1|au.acqrel(n=1>0)|3\n"
     "T1|free(o)|4\n",
     1},
    {"reference count: the free of the block, right",
     "#@in x o\nT1|alloc(o)|0\nT1|fork(T2)|0\nT2|r(x)|1\nT2|au.rel(n=2>1)|2\nT1|au.acq(n=1>0)|3\n"
     "T1|free(o)|4\n",
     0},
    {"spin lock that reads before it updates",
     "T1|au.acq(l=0>1)|1\nT1|w(x)|2\nT1|aw.rel(l=0)|3\nT2|ar.rlx(l=0)|4\nT2|au.acq(l=0>1)|5\n"
     "T2|w(x)|6\nT2|aw.rel(l=0)|7\n",
     0},
    {"a plain read of the lock by its holder",
     "T1|au.acq(l=0>1)|1\nT1|r(l=1)|2\nT1|aw.rel(l=0)|3\nT2|ar.rlx(l=0)|4\nT2|au.acq(l=0>1)|5\n",
     0},
    {"a plain write that an atomic read sees orders as in shb",
     "T1|w(y)|1\nT1|w(f=1)|2\nT2|ar.rlx(f=1)|3\nT2|r(y)|4\n", 0},
};

static void test_litmus(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof litmuses / sizeof *litmuses; i++) {
        mr_trace *trace = mr_test_read(litmuses[i].text, false);
        size_t found = memory_order_races(trace);
        if (found != litmuses[i].races)
            fail_msg("%s: %zu memory-order races, should be %zu", litmuses[i].name, found,
                     litmuses[i].races);
        mr_trace_free(trace);
    }
}

/* ---- random traces ---- */

typedef struct examination {
    mr_trial *trial;
    mr_result result;
    uint64_t recorded, tried; /* memory-order races of all traces */
} examination;

static bool same_places(const mr_trace *trace, const mr_witness *witness, uint32_t a, uint32_t b)
{
    const uint32_t *location = trace->location;
    uint32_t first = location[witness->first], second = location[witness->second];
    return (first == location[a] && second == location[b]) ||
           (first == location[b] && second == location[a]);
}

static bool is_told(const examination *x, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < x->result.race_count; i++)
        if (same_places(x->trial->trace, &x->result.races[i].witness, a, b))
            return true;
    return false;
}

/* The events as a trace of its own. */
static mr_trace *trace_of(const mr_trace *trace, const uint32_t *events, uint32_t count)
{
    char text[TEXT_BYTES], line[MR_TEST_LINE_SIZE];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t v = 0; v < trace->variables.count; v++)
        if (mr_trace_object(trace, v) != MR_NONE)
            used += (size_t)snprintf(text + used, sizeof text - used, "#@in %s %s\n",
                                     trace->variables.items[v].text,
                                     trace->objects.items[mr_trace_object(trace, v)].text);
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\n",
                                 mr_test_event(trace, events[i], line));
    assert_true(used < sizeof text);
    return mr_test_read(text, false);
}

/* Everything that the definition says of a sequence is told, when the second is `from` or later. */
static void examine_sequence(examination *x, const uint32_t *events, uint32_t count, uint32_t from)
{
    mr_order_reference reference;
    mr_trace *trace = trace_of(x->trial->trace, events, count);
    mr_order_reference_build(&reference, trace);
    for (uint32_t b = from; b < count; b++)
        for (uint32_t a = 0; a < b; a++)
            if (mr_reference_c17_race(&reference, a, b) && !is_told(x, events[a], events[b]))
                mr_trial_wrong(x->trial, "events %" PRIu32 ", %" PRIu32 " are not told", events[a],
                               events[b]);
    mr_trace_free(trace);
}

/* The events before the window and the listed ones. */
static uint32_t sequence_of(const mr_witness *witness, uint32_t *events)
{
    uint32_t count = 0;
    for (; count < witness->window_start; count++)
        events[count] = count;
    for (uint32_t i = 0; i < witness->event_count; i++)
        events[count++] = witness->events[i];
    return count;
}

static void examine_race(examination *x, const mr_witness *witness)
{
    uint32_t events[MR_REFERENCE_EVENTS + 1], count = sequence_of(witness, events);
    const uint32_t accesses[] = {witness->first, witness->second};
    examine_sequence(x, events, count, 0);
    for (int i = 0; i < 2; i++) {
        events[count] = accesses[i];
        examine_sequence(x, events, count + 1, count);
    }
}

/* Is it one by the definition? */
static void examine_memory_order(examination *x, const mr_witness *witness)
{
    mr_order_reference reference;
    uint32_t events[MR_REFERENCE_EVENTS], count = sequence_of(witness, events), first = 0;
    events[count] = witness->second;
    while (events[first] != witness->first)
        first++;
    mr_trace *trace = trace_of(x->trial->trace, events, count + 1);
    mr_order_reference_build(&reference, trace);
    if (!mr_reference_c17_race(&reference, first, count))
        mr_trial_wrong(x->trial, "events %" PRIu32 ", %" PRIu32 " are none", witness->first,
                       witness->second);
    mr_trace_free(trace);
    bool recorded = true;
    for (uint32_t i = 0; i <= count; i++)
        recorded = recorded && events[i] == i;
    *(recorded ? &x->recorded : &x->tried) += 1;
}

static void examine(mr_trial *trial, void *context)
{
    static const char *const windows[][5] = {
        {NULL},
        {"window.size", "6", "window.overlap", "3", NULL},
        {"model", "rf", NULL},
        {"witness.minimise", "false", NULL},
    };
    examination *x = context;
    uint32_t all[MR_REFERENCE_EVENTS];
    x->trial = trial;
    x->result = mr_predicted_right(trial->trace, windows[trial->choice % 4]);
    for (uint32_t e = 0; e < trial->trace->event_count; e++)
        all[e] = e;
    size_t races = x->result.race_count - x->result.stats.memory_order_races;
    if (trial->trace->memory_order)
        examine_sequence(x, all, trial->trace->event_count, 0);
    else if (races != x->result.race_count)
        mr_trial_wrong(trial, "memory-order races without memory orders");
    for (size_t i = 0; i < x->result.race_count; i++) {
        const mr_witness *witness = &x->result.races[i].witness;
        if (i >= races)
            examine_memory_order(x, witness);
        else if (trial->trace->memory_order)
            examine_race(x, witness);
    }
    mr_result_free(&x->result);
}

static void test_random_traces(void **state)
{
    (void)state;
    examination x = {0};
    mr_trials_run(&(mr_trials){.prefix = "MEMORY_ORDER",
                               .traces = DEFAULT_TRACES,
                               .share = SHARE,
                               .seed = DEFAULT_SEED,
                               .shape = "memory-orders"},
                  examine, &x);
    mr_trials_run(&(mr_trials){.prefix = "MEMORY_ORDER",
                               .traces = DEFAULT_TRACES / 10,
                               .share = SHARE / 10,
                               .seed = DEFAULT_SEED,
                               .all_kinds = true},
                  examine, &x);
    print_message("%" PRIu64 " in the recorded order, %" PRIu64 " in another\n", x.recorded,
                  x.tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_passing),
        cmocka_unit_test(test_litmus),
        cmocka_unit_test(test_random_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
