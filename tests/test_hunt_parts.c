/* hunt: the parts that run no program. Ways are judged by the checker, which shares no code with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hunt/frontier/near.h"
#include "hunt/frontier/tasks.h"
#include "hunt/frontier/way.h"
#include "hunt/loop/shared.h"
#include "hunt/program/behaviour.h"
#include "support/scratch.h"
#include "support/trace_reading.h"
#include "witness/checker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The way to a read that sees the write, accepted by the checker as a witness of kind "sees". */
static mr_way_answer find_way(const mr_trace *trace, uint32_t read, uint32_t write, mr_u32s *events)
{
    mr_way_index index = {.number = NULL};
    assert_true(mr_way_index_make(&index, trace));
    const mr_way_goal goal = {.stops = {read},
                              .stop_count = 1,
                              .last = write == MR_NONE ? MR_WAY_INITIAL : MR_WAY_WRITE,
                              .write = write,
                              .barred = MR_NONE};
    mr_way_answer answer = mr_way(trace, &index, &goal, events);
    mr_way_index_free(&index);
    if (answer == MR_WAY_FOUND && write != MR_NONE) {
        mr_error error;
        const mr_witness witness = {.kind = MR_WITNESS_SEES,
                                    .first = write,
                                    .second = read,
                                    .freed = MR_NONE,
                                    .window_end = trace->event_count,
                                    .model = MR_MODEL_RF,
                                    .events = events->items,
                                    .event_count = (uint32_t)events->count};
        mr_checker *checker = mr_checker_new(trace, MR_OPAQUE_PAIR);
        assert_non_null(checker);
        if (mr_checker_check(checker, &witness, &error) != MR_OK)
            fail_msg("%s", error.text);
        mr_checker_free(checker);
    }
    return answer;
}

/* T1 writes 1 and 2 in two sections; T2 reads 2 in a section of its own. */
static const char sections[] = "T1|fork(T2)|0\n" /* 0 */
                               "T1|acq(l)|1\nT1|w(x=1)|2\nT1|rel(l)|3\n"
                               "T1|acq(l)|4\nT1|w(x=2)|5\nT1|rel(l)|6\n"
                               "T2|acq(l)|7\nT2|r(x=2)|8\nT2|rel(l)|9\n";

static void ways_end_sections(void **state)
{
    mr_trace *trace = mr_test_read(sections, false);
    mr_u32s events = {.count = 0};
    (void)state;
    assert_int_equal(find_way(trace, 8, 2, &events), MR_WAY_FOUND);
    assert_int_equal(events.count, 5); /* fork, one section, the acquire of the other */
    assert_int_equal(find_way(trace, 8, MR_NONE, &events), MR_WAY_FOUND);
    assert_int_equal(events.count, 2);
    assert_int_equal(find_way(trace, 8, 5, &events), MR_WAY_FOUND);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

/* T2 forks after the write, so it cannot see what was before. */
static void some_ways_are_none(void **state)
{
    mr_trace *trace =
        mr_test_read("T1|w(x=1)|0\nT1|w(x=2)|1\nT1|fork(T2)|2\nT2|r(x=2)|3\nT1|w(x=3)|4\n", false);
    mr_u32s events = {.count = 0};
    (void)state;
    assert_int_equal(find_way(trace, 3, 0, &events), MR_WAY_NONE);
    assert_int_equal(find_way(trace, 3, MR_NONE, &events), MR_WAY_NONE);
    assert_int_equal(find_way(trace, 3, 4, &events), MR_WAY_FOUND);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

/* A write that comes earlier in the trace than another one can be the last, when nobody minds. */
static void writes_change_places(void **state)
{
    mr_trace *trace = mr_test_read("T1|fork(T2)|0\nT1|fork(T3)|1\nT2|w(x=1)|2\nT2|w(z=1)|3\n"
                                   "T3|w(x=2)|4\nT3|w(y=1)|5\nT1|r(y=1)|6\nT1|r(x=2)|7\n",
                                   false);
    mr_u32s events = {.count = 0};
    (void)state;
    assert_int_equal(find_way(trace, 7, 2, &events), MR_WAY_FOUND);
    bool is_there = false;
    for (size_t i = 0; i < events.count; i++)
        is_there = is_there || events.items[i] == 2;
    assert_true(is_there);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

/* What comes, and before which event the second thread stands. */
static mr_way_answer find_near(const mr_trace *trace, uint32_t stays, uint32_t goes, uint32_t *at,
                               mr_u32s *events)
{
    mr_way_index index = {.number = NULL};
    assert_true(mr_way_index_make(&index, trace));
    mr_way_answer answer = mr_near_way(trace, &index, stays, goes, at, events);
    mr_way_index_free(&index);
    return answer;
}

/* T1 accesses x in its section and says that it is done; T2 looks in a section of its own, and accesses x behind it. */
static const char behind[] = "T1|fork(T2)|0\n"
                             "T1|acq(l)|1\nT1|w(x=1)|2\nT1|w(d=1)|3\nT1|rel(l)|4\n"
                             "T2|r(y=0)|5\nT2|acq(l)|6\nT2|r(d=1)|7\nT2|rel(l)|8\n"
                             "T2|r(x=1)|9\n";

static void near_is_before_what_is_impossible(void **state)
{
    mr_trace *trace = mr_test_read(behind, false);
    mr_u32s events = {.count = 0};
    mr_near_pairs pairs;
    mr_error error;
    uint32_t at;
    (void)state;
    assert_int_equal(mr_near_find(&pairs, trace, &error), MR_OK);
    assert_int_equal(pairs.count, 1);
    assert_int_equal(pairs.items[0].first, 2);
    assert_int_equal(pairs.items[0].second, 9);
    mr_near_free(&pairs);

    /* T1 is in its section, T2 before its own. */
    assert_int_equal(find_near(trace, 2, 9, &at, &events), MR_WAY_FOUND);
    assert_int_equal(at, 6);
    static const uint32_t wanted[] = {0, 1, 5};
    assert_int_equal(events.count, 3);
    assert_memory_equal(events.items, wanted, sizeof wanted);

    /* T2 stands at its place only when T1 has passed its own. */
    assert_int_equal(find_near(trace, 9, 2, &at, &events), MR_WAY_NONE);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

/* What is no matter of locks: T2 goes up to the read whose value would not be there. */
static void near_is_before_a_read(void **state)
{
    mr_trace *trace = mr_test_read("T1|fork(T2)|0\nT1|w(x=1)|1\nT1|w(d=1)|2\n"
                                   "T2|r(y=0)|3\nT2|r(z=0)|4\nT2|r(d=1)|5\nT2|r(x=1)|6\n",
                                   false);
    mr_u32s events = {.count = 0};
    uint32_t at;
    (void)state;
    assert_int_equal(find_near(trace, 1, 6, &at, &events), MR_WAY_FOUND);
    assert_int_equal(at, 5);
    assert_int_equal(events.count, 3);
    mr_u32s_free(&events);
    mr_trace_free(trace);
}

static uint64_t signature_of(const char *text)
{
    mr_trace *trace = mr_test_read(text, false);
    mr_behaviour behaviour = {.signature = 0};
    assert_true(mr_behaviour_make(&behaviour, trace));
    uint64_t signature = behaviour.signature;
    mr_behaviour_free(&behaviour);
    mr_trace_free(trace);
    return signature;
}

static void behaviours_are_what_reads_see(void **state)
{
    (void)state;
    uint64_t one = signature_of("T1|fork(T2)|0\nT1|w(x=1)|1\nT2|r(x=1)|2\nT2|r(x=1)|3\n");
    /* another order of what nobody sees */
    assert_true(
        one == signature_of("T1|fork(T2)|0\nT1|w(y=1)|9\nT1|w(x=1)|1\nT2|r(x=1)|2\nT2|r(x=1)|3\n"));
    /* another value */
    assert_true(one != signature_of("T1|fork(T2)|0\nT1|w(x=2)|1\nT2|r(x=2)|2\nT2|r(x=2)|3\n"));
    /* a loop that looks again */
    assert_true(
        one == signature_of("T1|fork(T2)|0\nT1|w(x=1)|1\nT2|r(x=1)|2\nT2|r(x=1)|2\nT2|r(x=1)|3\n"));
    /* another place */
    assert_true(one != signature_of("T1|fork(T2)|0\nT1|w(x=1)|1\nT2|r(x=1)|2\nT2|r(x=1)|4\n"));
}

static void add(mr_tasks *tasks, mr_task_kind kind, uint64_t key, uint64_t pair)
{
    mr_task task = {.kind = kind, .key = key, .pair = pair};
    assert_true(mr_tasks_add(tasks, &task));
}

static void new_pairs_come_first(void **state)
{
    mr_tasks tasks = {.random = 1};
    mr_task task;
    (void)state;
    add(&tasks, MR_TASK_SEES, 1, 10);
    add(&tasks, MR_TASK_SEES, 2, 20);
    add(&tasks, MR_TASK_SWAP, 3, 30);
    add(&tasks, MR_TASK_SEES, 2, 20); /* known */
    assert_int_equal(tasks.count, 3);
    assert_true(mr_tasks_saw_pair(&tasks, 10));
    assert_true(mr_tasks_take(&tasks, &task));
    assert_int_equal(task.key, 3);
    assert_true(mr_tasks_take(&tasks, &task));
    assert_int_equal(task.key, 2);
    assert_true(mr_tasks_take(&tasks, &task));
    assert_int_equal(task.key, 1);
    assert_false(mr_tasks_take(&tasks, &task));
    mr_tasks_free(&tasks);
}

/* Each candidate that makes no race puts off the others, and one that makes a race takes that back. */
static void near_gives_way(void **state)
{
    mr_tasks tasks = {.random = 1};
    mr_task task;
    (void)state;
    for (uint64_t i = 1; i <= 4; i++)
        add(&tasks, MR_TASK_NEAR, i, 100 + i);
    for (uint64_t i = 5; i <= 6; i++)
        add(&tasks, MR_TASK_SEES, i, 100 + i);
    add(&tasks, MR_TASK_SWAP, 7, 107);
    static const mr_task_kind wanted[] = {MR_TASK_SWAP, MR_TASK_NEAR, MR_TASK_SEES};
    uint64_t tried = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_true(mr_tasks_take(&tasks, &task));
        assert_int_equal(task.kind, wanted[i]);
        tried = task.kind == MR_TASK_NEAR ? task.pair : tried;
    }
    assert_true(mr_tasks_saw_race(&tasks, tried));
    assert_true(mr_tasks_take(&tasks, &task));
    assert_int_equal(task.kind, MR_TASK_NEAR);
    for (uint64_t i = 1; i <= 4; i++) /* no candidate is left */
        assert_true(mr_tasks_saw_race(&tasks, 100 + i));
    assert_true(mr_tasks_take(&tasks, &task));
    assert_int_equal(task.kind, MR_TASK_SEES);
    assert_false(mr_tasks_take(&tasks, &task));
    mr_tasks_free(&tasks);
}

/* How many questions, all answered by no, come before the next free run. */
static int questions_before_free(mr_hunting *hunt)
{
    mr_task task;
    for (int count = 0;; count++) {
        assert_true(mr_hunt_next(hunt, &task));
        if (task.kind == MR_TASK_FREE)
            return count;
        mr_hunt_impossible(hunt, &(mr_task){.was_asked = true});
    }
}

/* Questions that the engine has answered by no, one after the other, do not keep runs from being made. */
static void questions_give_way(void **state)
{
    const mr_hunt_options options = {.seed = 1};
    mr_hunting hunt = {.options = &options,
                       .store = {.journal = -1},
                       .claims = {.file = -1},
                       .has_reference = true};
    mr_task task = {.kind = MR_TASK_SEES};
    uint64_t number;
    mr_error error;
    (void)state;
    pthread_mutex_init(&hunt.lock, NULL);
    pthread_cond_init(&hunt.changed, NULL);
    for (uint64_t i = 1; i <= 900; i++)
        add(&hunt.tasks, MR_TASK_SEES, i, 1000 + i);
    for (int asked = 0; asked < 256; asked++) {
        assert_true(mr_hunt_next(&hunt, &task));
        assert_int_equal(task.kind, MR_TASK_SEES);
        task.was_asked =
            asked % 2 == 0 || asked >= 2; /* what is known without the engine is no question */
        mr_hunt_impossible(&hunt, &task);
    }
    assert_true(mr_hunt_next(&hunt, &task)); /* one was none */
    mr_hunt_impossible(&hunt, &(mr_task){.was_asked = true});
    assert_int_equal(task.kind, MR_TASK_SEES);
    assert_true(mr_hunt_next(&hunt, &task));
    assert_int_equal(task.kind, MR_TASK_FREE);
    assert_int_equal(questions_before_free(&hunt), 128); /* it is asked less … */
    assert_int_equal(questions_before_free(&hunt), 64);
    assert_true(mr_hunt_next(&hunt, &task));
    assert_int_equal(mr_hunt_begin(&hunt, &(mr_task){.was_asked = true}, &number, &error), MR_OK);
    assert_int_equal(number, 1); /* … up to the first yes */
    assert_int_equal(questions_before_free(&hunt), 256);
    mr_tasks_free(&hunt.tasks);
    pthread_mutex_destroy(&hunt.lock);
    pthread_cond_destroy(&hunt.changed);
}

/* The list of findings moves when it grows, after sixteen; what is seen again then is counted in the list that is there. */
static void findings_are_counted(void **state)
{
    enum { FINDINGS = 100 };
    const mr_hunt_options options = {.seed = 1};
    mr_hunting hunt = {.options = &options, .store = {.journal = -1}, .claims = {.file = -1}};
    mr_finding_line line;
    mr_error error;
    bool mine;
    (void)state;
    pthread_mutex_init(&hunt.lock, NULL);
    for (uint32_t i = 0; i < FINDINGS; i++) {
        mr_run_outcome outcome = {.kind = MR_RUN_MEMORY, .identity = 1000 + i};
        snprintf(outcome.text, sizeof outcome.text, "use after free at place %" PRIu32, i);
        assert_int_equal(mr_hunt_claim(&hunt, &outcome, i + 1, &line, &mine, &error), MR_OK);
        assert_true(mine);
        assert_int_equal(line.number, i + 1);
        for (uint32_t again = 0; again <= i; again++) {
            const mr_run_outcome known = {.kind = MR_RUN_MEMORY, .identity = 1000 + again};
            assert_int_equal(mr_hunt_claim(&hunt, &known, i + 1, &line, &mine, &error), MR_OK);
            assert_false(mine);
        }
    }
    assert_int_equal(hunt.state.finding_count, FINDINGS);
    for (uint32_t i = 0; i < FINDINGS; i++) {
        char text[64];
        snprintf(text, sizeof text, "use after free at place %" PRIu32, i);
        assert_int_equal(hunt.state.findings[i].number, i + 1);
        assert_int_equal(hunt.state.findings[i].run, i + 1);
        assert_int_equal(hunt.state.findings[i].count, 1 + FINDINGS - i);
        assert_string_equal(hunt.state.findings[i].text, text);
    }
    mr_hunt_state_free(&hunt.state);
    mr_map_free(&hunt.found);
    pthread_mutex_destroy(&hunt.lock);
}

/* Two openings of the file are two processes. */
static void claims_are_of_one(void **state)
{
    mr_scratch scratch;
    mr_claims one, two;
    mr_error error;
    (void)state;
    mr_scratch_make(&scratch);
    assert_int_equal(mr_claims_open(&one, scratch.dir, &error), MR_OK);
    assert_int_equal(mr_claims_open(&two, scratch.dir, &error), MR_OK);
    assert_true(mr_claims_take(&one, MR_CLAIM_TASK, UINT64_MAX));
    assert_false(mr_claims_take(&two, MR_CLAIM_TASK, UINT64_MAX));
    assert_true(mr_claims_take(&two, MR_CLAIM_IDENTITY, UINT64_MAX)); /* kinds are apart */
    assert_true(mr_claims_take(&two, MR_CLAIM_TASK, UINT64_MAX - 1));
    assert_int_equal(mr_claims_take_from(&one, MR_CLAIM_RUN, 7), 7);
    assert_true(mr_claims_are_ours(&one, MR_CLAIM_RUN));
    assert_false(mr_claims_are_ours(&two, MR_CLAIM_RUN));
    assert_int_equal(mr_claims_take_from(&two, MR_CLAIM_RUN, 7), 8);
    mr_claims_drop(&one, MR_CLAIM_TASK, UINT64_MAX);
    assert_true(mr_claims_take(&two, MR_CLAIM_TASK, UINT64_MAX));
    mr_claims_close(&two); /* as when the process ends */
    assert_true(mr_claims_are_ours(&one, MR_CLAIM_RUN));
    assert_true(mr_claims_take(&one, MR_CLAIM_TASK, UINT64_MAX));
    mr_claims_close(&one);
    mr_scratch_remove(&scratch);
}

/* What another process wrote under the lock of this one is told: the locks are not those of all machines. */
static void locks_must_hold(void **state)
{
    mr_scratch scratch;
    mr_store_folder one, two;
    mr_error error;
    char path[300];
    const mr_store_reader reader = {.context = NULL};
    (void)state;
    mr_scratch_make(&scratch);
    snprintf(path, sizeof path, "%s/hunt", scratch.dir);
    assert_int_equal(mr_store_make(&one, path, &error), MR_OK);
    mr_store_unlock(&one);
    assert_int_equal(mr_store_reopen(&two, path, &error), MR_OK);
    mr_store_unlock(&two);
    assert_int_equal(mr_store_read_on(&two, &reader, &error), MR_OK);
    assert_int_equal(mr_store_line(&two, "seed 1", &error), MR_OK);
    assert_int_equal(mr_store_read_on(&one, &reader, &error), MR_OK);
    assert_int_equal(mr_store_line(&one, "seed 2", &error), MR_OK);
    assert_int_equal(mr_store_line(&two, "seed 3", &error), MR_ERR_IO);
    assert_non_null(strstr(error.text, "locks of this file system"));
    mr_store_close(&one);
    mr_store_close(&two);
    snprintf(path, sizeof path, "rm -r %s/hunt", scratch.dir);
    assert_int_equal(system(path), 0);
    mr_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_end_sections),
        cmocka_unit_test(some_ways_are_none),
        cmocka_unit_test(writes_change_places),
        cmocka_unit_test(behaviours_are_what_reads_see),
        cmocka_unit_test(new_pairs_come_first),
        cmocka_unit_test(near_is_before_what_is_impossible),
        cmocka_unit_test(near_is_before_a_read),
        cmocka_unit_test(near_gives_way),
        cmocka_unit_test(questions_give_way),
        cmocka_unit_test(findings_are_counted),
        cmocka_unit_test(claims_are_of_one),
        cmocka_unit_test(locks_must_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
