/*
 * The candidates for what is asked beside races (goals/candidates.h): whatever exhaustive search finds
 * in a random trace is asked, by events and by places, and no question is asked twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "goals/candidates.h"
#include "support/goal_search.h"
#include "support/sample.h"
#include "support/trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_questions candidates(const mr_trace *trace, bool by_event)
{
    mr_questions all = {0};
    bool complete = false;
    assert_true(mr_memory_candidates(&all, trace, by_event) &&
                mr_deadlock_candidates(&all, trace, by_event, &complete) &&
                mr_pointer_candidates(&all, trace, by_event));
    assert_true(complete);
    return all;
}

static const uint32_t *list_of(const mr_questions *all, const mr_question *q, uint32_t i,
                               uint32_t *count)
{
    mr_question_list list = all->lists[q->first_list + i];
    *count = list.count;
    return all->events.items + list.first;
}

static bool has_event(const mr_questions *all, const mr_question *q, uint32_t i, uint32_t event)
{
    uint32_t count;
    const uint32_t *events = list_of(all, q, i, &count);
    for (uint32_t k = 0; k < count; k++)
        if (events[k] == event)
            return true;
    return false;
}

/* ---- what is found is asked ---- */

typedef struct finding {
    mr_witness_kind kind;
    uint32_t read;     /* or the use */
    uint32_t other;    /* use-after-free: the free; null: the write, or MR_NONE */
    uint64_t acquires; /* deadlock */
} finding;

static bool asks_for_deadlock(const mr_questions *all, const mr_question *q, uint64_t acquires)
{
    uint32_t covered = 0;
    for (uint32_t i = 0; i < q->list_count; i++) {
        bool has = false;
        for (uint32_t e = 0; e < MR_GOAL_EVENTS; e++)
            has |= acquires >> e & 1 && has_event(all, q, i, e);
        covered += has;
    }
    return covered == q->list_count &&
           covered == (uint32_t)__builtin_popcountll((unsigned long long)acquires);
}

static bool asks(const mr_questions *all, const mr_trace *trace, const mr_question *q,
                 const finding *f)
{
    if (q->kind != f->kind)
        return false;
    if (f->kind == MR_WITNESS_DEADLOCK)
        return asks_for_deadlock(all, q, f->acquires);
    if (!has_event(all, q, 0, f->read))
        return false;
    if (f->kind == MR_WITNESS_USE_AFTER_FREE)
        return q->required == f->other;
    if (f->kind != MR_WITNESS_NULL)
        return q->required == MR_NONE || trace->op[q->required] == MR_OP_FREE;
    if (f->other == MR_NONE)
        return q->may_be_initial;
    return q->value && trace->values[q->value] == 0 &&
           (q->write_place == MR_NONE || q->write_place == trace->location[f->other]);
}

static void expect(mr_trial *trial, const mr_questions *all, const char *what, const finding *f)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (asks(all, trial->trace, &all->items[i], f))
            return;
    mr_trial_wrong(trial, "%s: %s of %" PRIu32 ", %" PRIu32 ", %" PRIx64 " is not asked for", what,
                   mr_witness_kind_name(f->kind), f->read, f->other, f->acquires);
}

static void expect_read(mr_trial *trial, const mr_questions *all, const char *what,
                        const mr_right_goals *right, uint32_t r)
{
    if (right->null[r]) {
        bool known;
        uint32_t write = mr_exhaustive_last_write(&right->search, right->null[r] - 1,
                                                  trial->trace->operand[r], &known);
        expect(trial, all, what, &(finding){.kind = MR_WITNESS_NULL, .read = r, .other = write});
    }
    if (right->dangling[r])
        expect(trial, all, what, &(finding){.kind = MR_WITNESS_DANGLING, .read = r});
    if (right->double_free[r])
        expect(trial, all, what, &(finding){.kind = MR_WITNESS_DOUBLE_FREE, .read = r});
}

static void expect_all(mr_trial *trial, const mr_questions *all, const char *what,
                       const mr_right_goals *right)
{
    for (uint32_t a = 0; a < trial->trace->event_count; a++) {
        expect_read(trial, all, what, right, a);
        for (uint32_t b = 0; b < trial->trace->event_count; b++)
            if (right->use_after_free[a][b])
                expect(trial, all, what,
                       &(finding){.kind = MR_WITNESS_USE_AFTER_FREE, .read = b, .other = a});
    }
    for (uint32_t i = 0; i < right->deadlock_count; i++)
        expect(trial, all, what,
               &(finding){.kind = MR_WITNESS_DEADLOCK, .acquires = right->deadlocks[i].acquires});
}

/* ---- what is asked makes sense ---- */

static void check_lists(mr_trial *trial, const mr_questions *all, const mr_question *q,
                        bool by_event)
{
    const mr_trace *trace = trial->trace;
    for (uint32_t i = 0; i < q->list_count; i++) {
        uint32_t count;
        const uint32_t *events = list_of(all, q, i, &count);
        if (by_event && count != 1)
            mr_trial_wrong(trial, "a list of %" PRIu32 " events", count);
        for (uint32_t k = 1; k < count; k++)
            if (trace->thread[events[k]] != trace->thread[events[0]] ||
                trace->location[events[k]] != trace->location[events[0]])
                mr_trial_wrong(trial, "events %" PRIu32 " and %" PRIu32 " are not alike", events[0],
                               events[k]);
    }
}

/* No event is in two questions that are the same otherwise. */
static void check_twice(mr_trial *trial, const mr_questions *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const mr_question *p = &all->items[i], *q = &all->items[j];
            bool same = p->kind == q->kind && p->list_count == q->list_count &&
                        p->required == q->required && p->value == q->value &&
                        p->write_place == q->write_place;
            for (uint32_t k = 0; same && k < p->list_count; k++) {
                uint32_t count;
                same = has_event(all, q, k, *list_of(all, p, k, &count));
            }
            if (same)
                mr_trial_wrong(trial, "question %" PRIu32 " is asked again as %" PRIu32, j, i);
        }
    }
}

static size_t asked[MR_WITNESS_SEES + 1];

static void examine(mr_trial *trial, void *context)
{
    (void)context;
    const mr_trace *trace = trial->trace;
    mr_questions by_event = candidates(trace, true), by_place = candidates(trace, false);
    mr_right_goals *right =
        mr_goal_search(trace, MR_MODEL_BRANCH, MR_OPAQUE_IGNORE, 0, trace->event_count);
    assert_non_null(right);
    expect_all(trial, &by_event, "by event", right);
    expect_all(trial, &by_place, "by place", right);
    for (uint32_t i = 0; i < by_event.count; i++)
        check_lists(trial, &by_event, &by_event.items[i], true);
    for (uint32_t i = 0; i < by_place.count; i++)
        check_lists(trial, &by_place, &by_place.items[i], false);
    check_twice(trial, &by_event);
    check_twice(trial, &by_place);
    for (uint32_t i = 0; i < by_event.count; i++)
        asked[by_event.items[i].kind]++;
    mr_goal_search_free(right);
    mr_questions_free(&by_event);
    mr_questions_free(&by_place);
}

static void test_all_that_is_found_is_asked(void **state)
{
    (void)state;
    const mr_trials trials = {.prefix = "CANDIDATES",
                              .traces = 6000,
                              .share = 3000,
                              .seed = 20230617,
                              .all_kinds = true,
                              .goals = true};
    mr_trials_run(&trials, examine, NULL);
    for (int kind = MR_WITNESS_USE_AFTER_FREE; kind < MR_WITNESS_SEES; kind++) {
        print_message("%s: %zu asked\n", mr_witness_kind_name((mr_witness_kind)kind), asked[kind]);
        assert_true(asked[kind] > 0);
    }
}

/* ---- by places ---- */

/* The questions of a trace, one a line: "kind list;list required" with numbers of events. */
static void print_questions(const char *text, char *out, size_t size)
{
    mr_trace *trace = mr_sample_trace(text);
    assert_non_null(trace);
    mr_questions all = candidates(trace, false);
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < all.count; i++) {
        const mr_question *q = &all.items[i];
        used += (size_t)snprintf(out + used, size - used, "%s%s g%" PRIu32, i ? " | " : "",
                                 mr_witness_kind_name(q->kind), q->group);
        for (uint32_t k = 0; k < q->list_count; k++) {
            uint32_t count;
            const uint32_t *events = list_of(&all, q, k, &count);
            for (uint32_t e = 0; e < count; e++)
                used += (size_t)snprintf(out + used, size - used, "%c%" PRIu32, e ? ',' : ' ',
                                         events[e]);
        }
        if (q->required != MR_NONE)
            used += (size_t)snprintf(out + used, size - used, " free %" PRIu32, q->required);
    }
    mr_questions_free(&all);
    mr_trace_free(trace);
}

static void test_known_questions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *questions;
    } known[] = {
        {"#@in y o\n#@in z o\nA|w(y)|1\nA|w(z)|1\nA|w(z)|2\nB|r(y)|1\nC|free(o)|3\n",
         "use-after-free g0 0,1 free 4 | use-after-free g1 2 free 4 | use-after-free g0 3 free 4"},
        {"#@in y o\nA|w(y)|1\nA|free(o)|2\nB|w(y)|3\n", ""},
        {"A|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|rel(l)|4\nA|acq(l)|1\nA|acq(m)|2\nA|rel(m)|3\nA|"
         "rel(l)|4\nB|acq(m)|5\nB|acq(l)|6\nB|rel(l)|7\nB|rel(m)|8\nC|acq(m)|5\nC|acq(l)|6\n",
         "deadlock g0 1,5 9 | deadlock g0 1,5 13"},
        {"A|w(p=8)|1\nB|r(p=8)|2\nB|deref(p)|3\nB|r(p=8)|2\nB|deref(p)|4\nB|r(p=8)|2\nA|w(p=0)|5\n"
         "A|w(p=0)|5\nA|w(p=0)|6\n",
         "null g0 1,3 | null g1 1,3"},
        {"A|alloc(o=4096+16)|1\nA|w(p=4096)|2\nB|r(p=4096)|3\nB|deref(p)|4\nB|free(n)|5\nA|free(o)|"
         "6\nA|alloc(q=4096+8)|7\nA|free(q)|8\n",
         "double-free g0 2 free 7 | double-free g1 2 free 5"},
        {"A|w(p)|1\nB|r(p=8)|2\nB|deref(p)|3\nA|w(p=0)|5\n", ""},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[1024];
        print_questions(known[i].text, text, sizeof text);
        assert_string_equal(text, known[i].questions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_is_found_is_asked),
        cmocka_unit_test(test_known_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
