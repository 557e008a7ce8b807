/*
 * hunt/guide: models made by hand. The fold takes nodes for one that differ in words that decide nothing, and tells them apart by words
 * that do, or by all words (MR_FOLD_EQUAL); what others have shown is taken to hold where they agree; the search asks by the way with the fewest preemptions, and asks a
 * question twice at most by one way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hunt/guide/fold.h"
#include "hunt/guide/guide_search.h"

enum { X = 0x1000, Y = 0x2000, Z = 0x3000, WORDS = 4 };

typedef struct learner {
    mr_pmodel *model;
    mr_pmodel_run run;
} learner;

static learner begin(mr_pmodel *model)
{
    model->merges = true;
    return (learner){.model = model};
}

static uint64_t fingerprint(const uint64_t *words, uint64_t code)
{
    uint64_t hash = code;
    for (int i = 0; i < WORDS; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

static void see(learner *self, uint32_t thread, mr_pmodel_kind kind, uint64_t address,
                uint64_t code, int32_t value, const uint64_t *words)
{
    const mr_pmodel_event event = {.op = {.kind = (uint8_t)kind,
                                          .is_atomic = true,
                                          .address = address,
                                          .bytes = 4,
                                          .code = code},
                                   .thread = thread,
                                   .has_state = true,
                                   .state = fingerprint(words, code),
                                   .words = words,
                                   .word_count = WORDS,
                                   .seen = kind == MR_PMODEL_READ ? &value : NULL,
                                   .written = kind == MR_PMODEL_WRITE ? &value : NULL,
                                   .records = 1};
    assert_int_equal(mr_pmodel_see(self->model, &self->run, &event), MR_PMODEL_FITS);
}

static void see_plain(learner *self, uint32_t thread, mr_pmodel_kind kind, uint32_t object)
{
    const mr_pmodel_event event = {.op = {.kind = (uint8_t)kind, .object = object, .code = 0x77},
                                   .thread = thread,
                                   .records = 1};
    assert_int_equal(mr_pmodel_see(self->model, &self->run, &event), MR_PMODEL_FITS);
}

/* The node that the thread comes to from its root by what Z holds. */
static uint32_t after(const mr_pmodel *model, int32_t value)
{
    uint32_t blob = mr_pmodel_bytes((mr_pmodel *)model, &value, sizeof value);
    uint32_t edge = mr_pmodel_edge_of(model, model->threads[0].root, blob);
    assert_int_not_equal(edge, MR_PMODEL_NONE);
    return model->edges[edge].to;
}

/* Reads Z, keeps what it saw in its second word, reads X, and writes to Y: its third word, or what it saw. */
static void run_once(mr_pmodel *model, int32_t seen, bool decides)
{
    learner self = begin(model);
    uint32_t thread = mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0);
    const uint64_t first[WORDS] = {9, 0, 5, 9}, second[WORDS] = {9, (uint64_t)seen, 5, 9};
    see(&self, thread, MR_PMODEL_READ, Z, 0x10, seen, first);
    see(&self, thread, MR_PMODEL_READ, X, 0x20, seen, second);
    see(&self, thread, MR_PMODEL_WRITE, Y, 0x30, decides ? seen : 5, second);
    see_plain(&self, thread, MR_PMODEL_EXIT, 0);
    mr_pmodel_run_free(&self.run);
}

/* Other threads use the variables, so that they are not taken for memory of one thread. */
static void run_other(mr_pmodel *model)
{
    learner self = begin(model);
    uint32_t thread = mr_pmodel_thread_of(model, 0, 9);
    const uint64_t words[WORDS] = {0};
    see(&self, thread, MR_PMODEL_WRITE, X, 0x50, 0, words);
    see(&self, thread, MR_PMODEL_WRITE, Y, 0x51, 0, words);
    see(&self, thread, MR_PMODEL_WRITE, Z, 0x52, 0, words);
    mr_pmodel_run_free(&self.run);
}

static void test_what_decides_nothing_is_left_out(void **state)
{
    (void)state;
    mr_pmodel model = {.nodes = NULL}, folded;
    mr_error error;
    run_once(&model, 1, false);
    run_once(&model, 2, false);
    run_other(&model);
    assert_int_not_equal(after(&model, 1), after(&model, 2));
    assert_int_equal(mr_fold_make(&folded, &model, MR_FOLD_ALIKE, &error), MR_OK);
    assert_int_equal(after(&folded, 1), after(&folded, 2));
    /* What one of the two was seen with is known of both. */
    int edges = 0;
    for (uint32_t e = folded.nodes[after(&folded, 1)].edges; e != MR_PMODEL_NONE;
         e = folded.edges[e].next)
        edges++;
    assert_int_equal(edges, 2);
    mr_fold_free(&folded);
    mr_pmodel_free(&model);
}

/* When all words count, what one local state was not seen with is not known of it. */
static void test_equal_states_alone_are_one(void **state)
{
    (void)state;
    mr_pmodel model = {.nodes = NULL}, folded;
    mr_error error;
    run_once(&model, 1, false);
    run_once(&model, 2, false);
    run_other(&model);
    assert_int_equal(mr_fold_make(&folded, &model, MR_FOLD_EQUAL, &error), MR_OK);
    assert_int_not_equal(after(&folded, 1), after(&folded, 2));
    for (int32_t seen = 1; seen <= 2; seen++) {
        uint32_t only = folded.nodes[after(&folded, seen)].edges;
        assert_int_not_equal(only, MR_PMODEL_NONE);
        assert_int_equal(folded.edges[only].next, MR_PMODEL_NONE);
    }
    mr_fold_free(&folded);
    mr_pmodel_free(&model);
}

static void test_what_decides_tells_apart(void **state)
{
    (void)state;
    mr_pmodel model = {.nodes = NULL}, folded;
    mr_error error;
    /* Both see 7 in X, so that what they write is after the same outcome. */
    for (int32_t seen = 1; seen <= 2; seen++) {
        learner self = begin(&model);
        uint32_t thread = mr_pmodel_thread_of(&model, MR_PMODEL_NONE, 0);
        const uint64_t first[WORDS] = {9, 0, 5, 9}, second[WORDS] = {9, (uint64_t)seen, 5, 9};
        see(&self, thread, MR_PMODEL_READ, Z, 0x10, seen, first);
        see(&self, thread, MR_PMODEL_READ, X, 0x20, 7, second);
        see(&self, thread, MR_PMODEL_WRITE, Y, 0x30, seen, second);
        see_plain(&self, thread, MR_PMODEL_EXIT, 0);
        mr_pmodel_run_free(&self.run);
    }
    run_other(&model);
    assert_int_equal(mr_fold_make(&folded, &model, MR_FOLD_ALIKE, &error), MR_OK);
    assert_int_not_equal(after(&folded, 1), after(&folded, 2));
    mr_fold_free(&folded);
    mr_pmodel_free(&model);
}

/* Reads Y and keeps it in the upper half of its second word, reads Z and keeps it in the lower half and in its first word, and writes the former. */
static void walk(mr_pmodel *model, uint32_t nth, int32_t y, int32_t z, uint64_t code)
{
    learner self = begin(model);
    uint32_t parent = mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0);
    uint32_t thread = mr_pmodel_thread_of(model, parent, nth);
    const uint64_t first[WORDS] = {9, 0, 5, 9}, second[WORDS] = {9, (uint64_t)y << 32, 5, 9};
    const uint64_t third[WORDS] = {(uint64_t)z, (uint64_t)y << 32 | (uint64_t)z, 5, 9};
    see(&self, thread, MR_PMODEL_READ, Y, 0x10, y, first);
    see(&self, thread, MR_PMODEL_READ, Z, 0x20, z, second);
    see(&self, thread, MR_PMODEL_WRITE, X, code, y, third);
    see_plain(&self, thread, MR_PMODEL_END, 0);
    mr_pmodel_run_free(&self.run);
}

/* Where a thread is when it has seen `y` and `z`; MR_PMODEL_NONE: that is not known. `z` 0: only `y`. */
static uint32_t place_of(mr_pmodel *model, const mr_pmodel *folded, uint32_t nth, int32_t y,
                         int32_t z)
{
    uint32_t node = folded->threads[mr_pmodel_thread_of(model, 0, nth)].root;
    uint32_t edge = mr_pmodel_edge_of(folded, node, mr_pmodel_bytes(model, &y, sizeof y));
    assert_int_not_equal(edge, MR_PMODEL_NONE);
    if (!z)
        return folded->edges[edge].to;
    edge = mr_pmodel_edge_of(folded, folded->edges[edge].to, mr_pmodel_bytes(model, &z, sizeof z));
    return edge == MR_PMODEL_NONE ? edge : folded->edges[edge].to;
}

static void test_the_word_with_fewer_values_decides(void **state)
{
    (void)state;
    mr_pmodel model = {.nodes = NULL}, folded;
    mr_error error;
    walk(&model, 1, 1, 1, 0x30);
    walk(&model, 1, 2, 2, 0x30);
    walk(&model, 1, 1, 3, 0x30);
    run_other(&model);
    assert_int_equal(mr_fold_make(&folded, &model, MR_FOLD_ALIKE, &error), MR_OK);
    assert_int_equal(place_of(&model, &folded, 1, 1, 1), place_of(&model, &folded, 1, 1, 3));
    assert_int_not_equal(place_of(&model, &folded, 1, 1, 1), place_of(&model, &folded, 1, 2, 2));
    mr_fold_free(&folded);
    mr_pmodel_free(&model);
}

/* Where the second thread, or the third y of the first one, is guessed to come to after the Z that it has not seen. */
static uint32_t guess(bool from_other_thread, uint64_t code, mr_fold_degree degree,
                      uint32_t *expected)
{
    mr_pmodel model = {.nodes = NULL}, folded;
    mr_error error;
    uint32_t nth = from_other_thread ? 2 : 1;
    int32_t y = from_other_thread ? 1 : 3;
    walk(&model, 1, 1, 1, 0x30);
    walk(&model, 1, 1, 2, 0x30);
    if (from_other_thread)
        walk(&model, 2, 1, 1, 0x30);
    else
        walk(&model, 1, 3, 1, 0x30);
    walk(&model, nth, 2, 1, 0x30);
    if (!from_other_thread)
        walk(&model, 1, 2, 2, code);
    run_other(&model);
    assert_int_equal(mr_fold_make(&folded, &model, degree, &error), MR_OK);
    uint32_t node = place_of(&model, &folded, nth, y, 2);
    *expected = place_of(&model, &folded, nth, y, 1);
    mr_fold_free(&folded);
    mr_pmodel_free(&model);
    return node;
}

static void test_what_others_have_shown_is_guessed(void **state)
{
    (void)state;
    uint32_t expected;
    assert_int_equal(guess(true, 0x30, MR_FOLD_ALIKE, &expected), MR_PMODEL_NONE);
    assert_int_equal(guess(true, 0x30, MR_FOLD_GUESS, &expected), expected);
    assert_int_equal(guess(false, 0x30, MR_FOLD_ALIKE, &expected), MR_PMODEL_NONE);
    assert_int_equal(guess(false, 0x30, MR_FOLD_GUESS, &expected), expected);
    /* One of two goes on elsewhere. */
    assert_int_equal(guess(false, 0x31, MR_FOLD_GUESS, &expected), MR_PMODEL_NONE);
}

/* Two threads after their creation: the first writes 1 and 0 to X, the second has read 0. */
static void learn_pair(mr_pmodel *model)
{
    learner self = begin(model);
    const uint64_t words[WORDS] = {0};
    uint32_t parent = mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0);
    uint32_t writer = mr_pmodel_thread_of(model, parent, 1);
    uint32_t reader = mr_pmodel_thread_of(model, parent, 2);
    see_plain(&self, parent, MR_PMODEL_FORK, writer);
    see_plain(&self, parent, MR_PMODEL_FORK, reader);
    see(&self, reader, MR_PMODEL_READ, X, 0x40, 0, words);
    see_plain(&self, reader, MR_PMODEL_END, 0);
    see(&self, writer, MR_PMODEL_WRITE, X, 0x50, 1, words);
    see(&self, writer, MR_PMODEL_WRITE, X, 0x51, 0, words);
    see_plain(&self, writer, MR_PMODEL_END, 0);
    see_plain(&self, parent, MR_PMODEL_END, 0);
    mr_pmodel_run_free(&self.run);
}

/* A search of what a model knows. */
typedef struct seeker {
    mr_pmodel model, folded;
    mr_graph graph;
    mr_seek search;
    mr_map tried;
} seeker;

static void open_seeker(seeker *self, void (*learn)(mr_pmodel *))
{
    mr_error error;
    *self = (seeker){.tried.count = 0};
    learn(&self->model);
    assert_int_equal(mr_fold_make(&self->folded, &self->model, MR_FOLD_ALIKE, &error), MR_OK);
    assert_int_equal(mr_graph_make(&self->graph, &self->folded, &error), MR_OK);
}

/* Returns the number of questions. */
static uint32_t seek(seeker *self)
{
    mr_error error;
    const mr_seek_limits limits = {.states = 1000};
    mr_seek_free(&self->search);
    assert_int_equal(mr_guide_seek(&self->search, &self->graph, &self->tried, &limits, &error),
                     MR_OK);
    return self->search.question_count;
}

/* Steps of the thread on the way to the first question. */
static uint32_t steps_of(const seeker *self, uint32_t thread)
{
    const mr_seek_question *question = &self->search.questions[0];
    const mr_seek_step *steps = self->search.steps + question->way.first;
    uint32_t count = 0;
    for (uint32_t i = 0; i < question->way.count; i++)
        count += steps[i].thread == thread;
    return count;
}

static void close_seeker(seeker *self)
{
    mr_seek_free(&self->search);
    mr_map_free(&self->tried);
    mr_graph_free(&self->graph);
    mr_fold_free(&self->folded);
    mr_pmodel_free(&self->model);
}

static void test_a_value_between_is_asked_for_twice(void **state)
{
    (void)state;
    seeker self;
    uint64_t key = 0;
    open_seeker(&self, learn_pair);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(seek(&self), round < 2);
        assert_int_equal(self.search.stop, MR_SEEK_COMPLETE);
        if (round < 2) {
            const mr_seek_question *question = &self.search.questions[0];
            assert_int_equal(question->thread, 2);
            assert_int_equal(steps_of(&self, 1), 1); /* its first write, and not the second */
            ++*mr_map_at(&self.tried, question->way_key, 0);
            key = question->key;
            ++*mr_map_at(&self.tried, key, 0);
        }
    }
    /* By another way it would be asked again, though not for ever. */
    mr_map_free(&self.tried);
    self.tried = (mr_map){.count = 0};
    for (int most = 2; most <= 16; most += 14) {
        *mr_map_at(&self.tried, key, 0) = (uint32_t)most;
        assert_int_equal(seek(&self), most == 2);
    }
    close_seeker(&self);
}

/* Four threads: the first creates the others. The second writes 1 and 0 to X; the third writes to Y three times, and then 1 to X; the last one
 * has read 0 in Y and in X. */
static void learn_two_ways(mr_pmodel *model)
{
    learner self = begin(model);
    const uint64_t words[WORDS] = {0};
    uint32_t parent = mr_pmodel_thread_of(model, MR_PMODEL_NONE, 0), threads[3];
    for (uint32_t i = 0; i < 3; i++)
        threads[i] = mr_pmodel_thread_of(model, parent, i + 1);
    for (uint32_t i = 0; i < 3; i++)
        see_plain(&self, parent, MR_PMODEL_FORK, threads[i]);
    see_plain(&self, parent, MR_PMODEL_END, 0);
    see(&self, threads[2], MR_PMODEL_READ, Y, 0x40, 0, words);
    see(&self, threads[2], MR_PMODEL_READ, X, 0x41, 0, words);
    see_plain(&self, threads[2], MR_PMODEL_END, 0);
    see(&self, threads[0], MR_PMODEL_WRITE, X, 0x50, 1, words);
    see(&self, threads[0], MR_PMODEL_WRITE, X, 0x51, 0, words);
    see_plain(&self, threads[0], MR_PMODEL_END, 0);
    for (uint64_t i = 0; i < 3; i++)
        see(&self, threads[1], MR_PMODEL_WRITE, Y, 0x60 + i, 0, words);
    see(&self, threads[1], MR_PMODEL_WRITE, X, 0x63, 1, words);
    see_plain(&self, threads[1], MR_PMODEL_END, 0);
    mr_pmodel_run_free(&self.run);
}

/* The last thread can see 1 in X after few steps, when the second one is preempted between its writes, or after more, when the third one has
 * ended. The second way is asked for, as it preempts nobody. */
static void test_few_preemptions_come_before_few_steps(void **state)
{
    (void)state;
    seeker self;
    open_seeker(&self, learn_two_ways);
    assert_int_equal(seek(&self), 1);
    assert_int_equal(self.search.questions[0].thread, 3);
    assert_int_equal(steps_of(&self, 1), 0);
    assert_int_equal(steps_of(&self, 2), 5); /* its writes and its end */
    close_seeker(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_decides_nothing_is_left_out),
        cmocka_unit_test(test_equal_states_alone_are_one),
        cmocka_unit_test(test_what_decides_tells_apart),
        cmocka_unit_test(test_the_word_with_fewer_values_decides),
        cmocka_unit_test(test_what_others_have_shown_is_guessed),
        cmocka_unit_test(test_a_value_between_is_asked_for_twice),
        cmocka_unit_test(test_few_preemptions_come_before_few_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
