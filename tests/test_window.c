/* Windows: every column of them against slow direct computations on
 * random traces, all windows of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/generate.h"
#include "support/random_walk.h"
#include "support/setup.h"
#include "support/slow.h"
#include "windows/lockset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 16 }; /* of a trace at most */

/* Window event to trace event and back; MR_NONE stays. */
static uint32_t outside(const mr_window *w, uint32_t i)
{
    return i == MR_NONE ? MR_NONE : w->start + i;
}

/* ---- the columns ---- */

static void check_threads(const mr_window *w)
{
    const mr_trace *trace = w->trace;
    uint32_t total = 0;
    for (uint32_t t = 0; t < w->thread_count; t++) {
        const mr_window_thread *thread = &w->threads[t];
        uint32_t fork = MR_NONE, length = 0;
        for (uint32_t i = 0; i < w->size; i++) {
            uint32_t e = w->start + i;
            if (trace->op[e] == MR_OP_FORK && trace->operand[e] == thread->number)
                fork = i;
            if (trace->thread[e] != thread->number)
                continue;
            assert_int_equal(w->thread[i], t);
            assert_int_equal(w->position[i], length);
            assert_int_equal(mr_window_at(w, t, length), i);
            length++;
        }
        assert_int_equal(thread->fork, fork);
        assert_int_equal(mr_window_length(w, t), length);
        assert_true(length > 0); /* dense: only threads with events */
        for (uint32_t other = 0; other < t; other++)
            assert_int_not_equal(w->threads[other].number, thread->number);
        total += length;
    }
    assert_int_equal(total, w->size);
}

static uint32_t thread_of_number(const mr_window *w, uint32_t number)
{
    for (uint32_t t = 0; t < w->thread_count; t++)
        if (w->threads[t].number == number)
            return t;
    return MR_NONE;
}

static bool shared(const mr_window *w, uint32_t variable)
{
    const mr_trace *trace = w->trace;
    bool written = false, several = false;
    uint32_t thread = MR_NONE;
    for (uint32_t e = w->start; e < w->end; e++) {
        if (!mr_slow_is_access(trace, e) || trace->operand[e] != variable)
            continue;
        written = written || mr_slow_is_write(trace, e);
        several = several || (thread != MR_NONE && thread != trace->thread[e]);
        thread = trace->thread[e];
    }
    return written && several;
}

/* The value that a read would see before any write of the window; 0: none is known. */
static uint32_t carried_value(const mr_window *w, uint32_t variable)
{
    const mr_trace *trace = w->trace;
    uint32_t source = mr_slow_last_write(trace, 0, w->start, variable, MR_NONE);
    if (source != MR_NONE)
        return mr_slow_written_value(trace, source);
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (!mr_slow_is_access(trace, e) || trace->operand[e] != variable)
            continue;
        return mr_slow_is_read(trace, e) ? mr_slow_read_value(trace, e) : 0;
    }
    return 0;
}

static void check_write_lists(const mr_window *w, const mr_window_variable *v)
{
    uint32_t count = 0, n = v->writes_end - v->writes_first;
    for (uint32_t i = 0; i < w->size; i++) {
        if (!mr_slow_is_write(w->trace, w->start + i) ||
            w->trace->operand[w->start + i] != v->number)
            continue;
        assert_true(count < n);
        assert_int_equal(w->writes[v->writes_first + count++], i);
    }
    assert_int_equal(count, n);
    /* The same writes, ascending by (value, event), or by event alone. */
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = w->writes_by_value[v->writes_first + k];
        assert_int_equal(w->object[i], v - w->variables);
        assert_true(mr_slow_is_write(w->trace, w->start + i));
        if (!k)
            continue;
        uint32_t before = w->writes_by_value[v->writes_first + k - 1];
        uint32_t value = v->by_source ? 0 : mr_slow_written_value(w->trace, w->start + i);
        uint32_t value_before =
            v->by_source ? 0 : mr_slow_written_value(w->trace, w->start + before);
        assert_true(value_before < value || (value_before == value && before < i));
    }
}

static void check_variables(const mr_window *w)
{
    for (uint32_t x = 0; x < w->variable_count; x++) {
        const mr_window_variable *v = &w->variables[x];
        const mr_variable_info *info = &w->trace->variable_info[v->number];
        assert_int_equal(v->shared, shared(w, v->number));
        assert_int_equal(v->by_source, w->model == MR_MODEL_RF || info->by_source);
        if (!v->by_source)
            assert_int_equal(v->carried_value, carried_value(w, v->number));
        check_write_lists(w, v);
        for (uint32_t other = 0; other < x; other++)
            assert_int_not_equal(w->variables[other].number, v->number);
    }
}

static void check_access(const mr_window *w, uint32_t i)
{
    const mr_trace *trace = w->trace;
    uint32_t e = w->start + i, variable = trace->operand[e], thread = trace->thread[e];
    assert_true(w->object[i] < w->variable_count);
    assert_int_equal(w->variables[w->object[i]].number, variable);
    assert_int_equal(mr_window_read_value(w, i), mr_slow_read_value(trace, e));
    assert_int_equal(mr_window_written_value(w, i), mr_slow_written_value(trace, e));
    assert_int_equal(outside(w, w->previous_write[i]),
                     mr_slow_last_write(trace, w->start, e, variable, thread));
    assert_int_equal(outside(w, w->next_write[i]),
                     mr_slow_next_write(trace, e + 1, w->end, variable, thread));
    if (mr_slow_is_read(trace, e))
        assert_int_equal(outside(w, w->source[i]),
                         mr_slow_last_write(trace, w->start, e, variable, MR_NONE));
    else
        assert_int_equal(w->source[i], MR_NONE);
}

static bool has_events(const mr_window *w, uint32_t thread)
{
    for (uint32_t e = w->start; e < w->end; e++)
        if (w->trace->thread[e] == thread)
            return true;
    return false;
}

/* Is there a section that begins at `e` and reaches into the window, of a thread that is there? */
static bool reaches(const mr_window *w, uint32_t e)
{
    const mr_trace *trace = w->trace;
    return mr_slow_begins(trace, e) && has_events(w, trace->thread[e]) &&
           mr_slow_release_after(trace, e + 1, w->start, trace->thread[e], trace->operand[e],
                                 trace->op[e] == MR_OP_SHARED_ACQUIRE) == MR_NONE;
}

/* Does the lock have sections that reach into the window and exclude each other? */
static bool contended(const mr_window *w, uint32_t lock)
{
    const mr_trace *trace = w->trace;
    for (uint32_t e = 0; e < w->end; e++)
        for (uint32_t f = 0; f < e; f++)
            if (reaches(w, e) && reaches(w, f) && trace->operand[e] == lock &&
                trace->operand[f] == lock && trace->thread[e] != trace->thread[f] &&
                (trace->op[e] == MR_OP_ACQUIRE || trace->op[f] == MR_OP_ACQUIRE))
                return true;
    return false;
}

static void check_lockset(const mr_window *w, uint32_t i, const bool *is_contended)
{
    const mr_trace *trace = w->trace;
    uint32_t e = w->start + i, thread = trace->thread[e], held = 0, region_end = MR_NONE;
    assert_true(w->lockset[i] < w->lockset_count);
    const mr_lockset *set = &w->locksets[w->lockset[i]];
    for (uint32_t l = 0; l < w->lock_count; l++) {
        uint32_t lock = w->locks[l].number;
        bool holds[2];
        for (int shared = 0; shared < 2; shared++) {
            holds[shared] = is_contended[l] && mr_slow_depth(trace, e, thread, lock, shared);
            uint32_t release = holds[shared]
                                   ? mr_slow_release_after(trace, e, w->end, thread, lock, shared)
                                   : MR_NONE;
            region_end = release < region_end ? release : region_end;
        }
        if (!holds[0] && !holds[1])
            continue;
        assert_true(held < set->count);
        assert_int_equal(set->locks[held++], 2 * l + !holds[0]);
    }
    while (held < set->count) /* value locks: test_value_locks.c */
        assert_true(set->locks[held++] >= 2 * w->lock_count);
    assert_int_equal(outside(w, w->region_end[i]), region_end);
}

static void check_locksets_meet(const mr_window *w)
{
    for (uint32_t one = 0; one < w->lockset_count; one++) {
        for (uint32_t two = 0; two < w->lockset_count; two++) {
            const mr_lockset *x = &w->locksets[one], *y = &w->locksets[two];
            bool meet = false, same = x->count == y->count;
            for (uint32_t i = 0; i < x->count; i++)
                for (uint32_t j = 0; j < y->count; j++)
                    meet = meet || (x->locks[i] / 2 == y->locks[j] / 2 &&
                                    (x->locks[i] % 2 == 0 || y->locks[j] % 2 == 0));
            for (uint32_t i = 0; i < x->count && same; i++)
                same = x->locks[i] == y->locks[i];
            assert_int_equal(mr_locksets_meet(w, one, two), meet);
            assert_int_equal(same, one == two); /* interned */
        }
    }
}

static uint32_t lock_of_number(const mr_window *w, uint32_t number)
{
    for (uint32_t l = 0; l < w->lock_count; l++)
        if (w->locks[l].number == number)
            return l;
    return MR_NONE;
}

/* The section of the lock that the window should have from `e` on. */
static void check_section(const mr_window *w, uint32_t l, uint32_t s, uint32_t e)
{
    const mr_trace *trace = w->trace;
    const mr_section *section = &w->sections[s];
    bool shared = trace->op[e] == MR_OP_SHARED_ACQUIRE;
    assert_int_equal(section->lock, l);
    assert_int_equal(section->shared, shared);
    assert_int_equal(w->threads[section->thread].number, trace->thread[e]);
    assert_int_equal(outside(w, section->acquire), e < w->start ? MR_NONE : e);
    assert_int_equal(outside(w, section->release),
                     mr_slow_release_after(trace, e < w->start ? w->start : e, w->end,
                                           trace->thread[e], trace->operand[e], shared));
    if (section->acquire != MR_NONE)
        assert_ptr_equal(mr_window_section(w, section->acquire), section);
    if (section->release != MR_NONE)
        assert_ptr_equal(mr_window_section(w, section->release), section);
}

/* The sections of a lock: those that the trace has from its outermost acquires; of the carried ones
 * the exclusive one first. */
static void check_sections(const mr_window *w, uint32_t l)
{
    const mr_trace *trace = w->trace;
    const mr_window_lock *lock = &w->locks[l];
    uint32_t s = lock->sections_first;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t e = 0; e < w->end; e++) {
            int part = e >= w->start ? 2 : trace->op[e] == MR_OP_SHARED_ACQUIRE;
            if (pass != part || trace->operand[e] != lock->number || !reaches(w, e))
                continue;
            assert_true(s < lock->sections_end);
            check_section(w, l, s++, e);
        }
        if (pass == 1)
            assert_int_equal(s, lock->carried_end);
    }
    assert_int_equal(s, lock->sections_end);
    assert_int_equal(lock->contended, contended(w, lock->number));
}

/* Posts or waits of a semaphore. */
static void check_operations(const mr_window *w, uint32_t l, mr_op op, const uint32_t *list,
                             uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < w->size; i++) {
        if (mr_window_op(w, i) != op || w->trace->operand[w->start + i] != w->locks[l].number)
            continue;
        assert_true(first < end);
        assert_int_equal(list[first++], i);
        assert_int_equal(w->object[i], l);
    }
    assert_int_equal(first, end);
}

static void check_semaphore(const mr_window *w, uint32_t l)
{
    const mr_trace *trace = w->trace;
    const mr_window_semaphore *s = &w->semaphores[l];
    uint32_t units = 0, user = MR_NONE;
    bool shared = false;
    for (uint32_t e = 0; e < w->end; e++) {
        uint8_t op = trace->op[e];
        if ((op != MR_OP_POST && op != MR_OP_WAIT) || trace->operand[e] != w->locks[l].number)
            continue;
        if (e < w->start) {
            units += op == MR_OP_POST ? 1 : UINT32_MAX;
            continue;
        }
        shared = shared || (user != MR_NONE && user != trace->thread[e]);
        user = trace->thread[e];
    }
    assert_int_equal(s->units, units);
    assert_int_equal(s->shared, shared);
    check_operations(w, l, MR_OP_POST, w->posts, s->posts_first, s->posts_end);
    check_operations(w, l, MR_OP_WAIT, w->waits, s->waits_first, s->waits_end);
}

/* The edges of the trace that lie in the window, in the same order. */
static void check_opaque(const mr_window *w, const mr_barrier_edges *edges)
{
    size_t count = 0;
    for (size_t k = 0; k < edges->count; k++) {
        mr_edge edge = edges->items[k];
        if (edge.from < w->start || edge.to >= w->end)
            continue;
        assert_true(count < w->barrier_edge_count);
        assert_int_equal(outside(w, w->barrier_edges[count].from), edge.from);
        assert_int_equal(outside(w, w->barrier_edges[count].to), edge.to);
        if (!count || w->barrier_edges[count - 1].to < w->barrier_edges[count].to)
            assert_int_equal(mr_window_barrier_edges_from(w, w->barrier_edges[count].to), count);
        count++;
    }
    assert_int_equal(count, w->barrier_edge_count);
}

static void check_object(const mr_window *w, uint32_t i, const bool *is_contended)
{
    const mr_trace *trace = w->trace;
    uint32_t e = w->start + i;
    switch ((mr_op)trace->op[e]) {
    case MR_OP_READ:
    case MR_OP_WRITE:
    case MR_OP_ATOMIC_READ:
    case MR_OP_ATOMIC_WRITE:
    case MR_OP_ATOMIC_UPDATE:
        check_access(w, i);
        check_lockset(w, i, is_contended);
        break;
    case MR_OP_ACQUIRE:
    case MR_OP_RELEASE:
    case MR_OP_SHARED_ACQUIRE:
    case MR_OP_SHARED_RELEASE:
        if (mr_slow_is_outermost(trace, e))
            assert_int_not_equal(lock_of_number(w, trace->operand[e]), MR_NONE);
        else
            assert_null(mr_window_section(w, i));
        break;
    case MR_OP_POST:
    case MR_OP_WAIT:
        assert_int_equal(w->object[i], lock_of_number(w, trace->operand[e]));
        break;
    case MR_OP_FORK:
    case MR_OP_JOIN:
        assert_int_equal(w->object[i], thread_of_number(w, trace->operand[e]));
        break;
    case MR_OP_BEGIN:
    case MR_OP_END:
    case MR_OP_CALL_BEGIN:
    case MR_OP_CALL_END:
    case MR_OP_BRANCH:
    case MR_OP_ALLOC:
    case MR_OP_FREE:
    case MR_OP_DEREF:
    case MR_OP_FENCE:
        assert_int_equal(w->object[i], MR_NONE);
        break;
    }
}

static void check_window(const mr_window *w, uint32_t start, uint32_t end, mr_model model)
{
    assert_int_equal(w->start, start);
    assert_int_equal(w->end, end);
    assert_int_equal(w->size, end - start);
    assert_int_equal(w->model, model);
    check_threads(w);
    check_variables(w);
    check_locksets_meet(w);
    bool is_contended[LOCKS];
    assert_true(w->lock_count <= LOCKS);
    for (uint32_t l = 0; l < w->lock_count; l++) {
        is_contended[l] = contended(w, w->locks[l].number);
        check_sections(w, l);
        check_semaphore(w, l);
    }
    for (uint32_t i = 0; i < w->size; i++)
        check_object(w, i, is_contended);
}

static void check_carried(const mr_carried *carried)
{
    const mr_trace *trace = carried->trace;
    for (uint32_t x = 0; x < trace->variables.count; x++) {
        assert_int_equal(carried->dense_variable[x], MR_NONE);
    }
    uint32_t shared = 0;
    for (uint32_t l = 0; l < trace->locks.count; l++) {
        uint32_t open = MR_NONE, units = 0;
        for (uint32_t e = 0; e < carried->next; e++) {
            if (trace->op[e] == MR_OP_ACQUIRE && trace->operand[e] == l &&
                mr_slow_is_outermost(trace, e) &&
                mr_slow_depth(trace, carried->next, trace->thread[e], l, false))
                open = e;
            units += trace->op[e] == MR_OP_POST && trace->operand[e] == l;
            units -= trace->op[e] == MR_OP_WAIT && trace->operand[e] == l;
        }
        assert_int_equal(carried->open_acquire[l], open);
        assert_int_equal(carried->units[l], units);
        assert_int_equal(carried->dense_lock[l], MR_NONE);
    }
    for (uint32_t e = 0; e < carried->next; e++) {
        if (trace->op[e] != MR_OP_SHARED_ACQUIRE || !mr_slow_is_outermost(trace, e) ||
            mr_slow_release_after(trace, e + 1, carried->next, trace->thread[e], trace->operand[e],
                                  true) != MR_NONE)
            continue;
        assert_true(shared < carried->open_shared_count);
        assert_int_equal(carried->open_shared[shared++], e);
    }
    assert_int_equal(shared, carried->open_shared_count);
    for (uint32_t t = 0; t < trace->threads.count; t++)
        assert_int_equal(carried->dense_thread[t], MR_NONE);
}

/* All windows of a trace, in an order that goes back and forth. */
static void check_all_windows(const char *text, mr_model model)
{
    mr_setup setup;
    mr_setup_open(&setup, text);
    uint32_t count = setup.trace->event_count;
    for (uint32_t k = 0; k <= count; k++) {
        uint32_t start = k % 2 ? count - k : k;
        for (uint32_t end = start; end <= count; end++) {
            mr_setup_window(&setup, start, end, model);
            check_carried(&setup.carried);
            check_window(setup.window, start, end, model);
            check_opaque(setup.window, &setup.opaque);
        }
    }
    mr_setup_close(&setup);
}

static void test_random_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 15; seed++) {
        for (int shape = 0; shape < MR_SHAPE_ALL; shape++) {
            char *text = mr_generate_trace(seed + 300, (mr_shape)shape);
            assert_non_null(text);
            check_all_windows(text, seed % 2 ? MR_MODEL_RF : MR_MODEL_VALUE);
            free(text);
        }
    }
}

/* More locks, more nesting and more threads than the traces above have. */
static void test_random_walks(void **state)
{
    (void)state;
    enum { EVENTS = 48 };
    static char text[EVENTS * MR_RANDOM_WALK_LINE_BYTES + 1];
    for (uint64_t seed = 0; seed < 12; seed++) {
        mr_random_walk(seed, EVENTS, text);
        check_all_windows(text, MR_MODEL_VALUE);
    }
}

/* ---- by hand ---- */

static const char reentrant[] =
    "A|acq(l)|1\nA|acq(l)|2\nA|w(x=1)|3\nA|rel(l)|4\nA|w(x=2)|5\nA|rel(l)|6\n"
    "B|acq(l)|7\nB|r(x=2)|8\nB|acq(k)|9\nA|w(x=3)|10\n";

static void test_reentrant_lock_held_at_the_start(void **state)
{
    (void)state;
    mr_setup setup;
    mr_setup_open(&setup, reentrant);
    mr_setup_window(&setup, 2, 10, MR_MODEL_VALUE);
    const mr_window *w = setup.window;
    assert_int_equal(w->lock_count, 2);
    assert_int_equal(w->section_count, 3);
    assert_int_equal(w->sections[0].acquire, MR_NONE); /* l of A */
    assert_int_equal(w->sections[0].release, 3);
    assert_int_equal(w->sections[1].acquire, 4); /* l of B, left open */
    assert_int_equal(w->sections[1].release, MR_NONE);
    assert_true(w->locks[0].contended);
    assert_false(w->locks[1].contended);
    assert_int_equal(w->object[1], MR_NONE); /* the inner release */
    assert_int_equal(w->region_end[0], 3);
    assert_int_equal(w->region_end[5], MR_NONE); /* B never releases */
    assert_int_equal(w->locksets[w->lockset[0]].count, 1);
    assert_int_equal(w->lockset[0], w->lockset[2]);
    assert_int_equal(w->lockset[0], w->lockset[5]);
    assert_int_equal(w->locksets[w->lockset[7]].count, 0); /* A after its release */
    assert_int_equal(w->source[5], 2);
    mr_setup_close(&setup);
}

/* No memory, at any point, for a window: an error, no more. */
static void test_no_memory(void **state)
{
    (void)state;
    mr_setup setup;
    mr_setup_open(&setup, reentrant);
    mr_status status = MR_ERR_MEMORY;
    for (uint64_t fail_at = 1; status != MR_OK; fail_at++) {
        mr_arena arena;
        mr_window *w;
        mr_error error = {0};
        mr_arena_init(&arena);
        mr_carried_move(&setup.carried, 2);
        mr_memory_fail_after(fail_at);
        status = mr_window_build(&setup.carried, 10, MR_MODEL_VALUE, &arena, &w, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || (status == MR_ERR_MEMORY && !w));
        check_carried(&setup.carried);
        mr_arena_free(&arena);
    }
    mr_setup_close(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_random_walks),
        cmocka_unit_test(test_reentrant_lock_held_at_the_start),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
