/* Held: the open sections of a thread at every place, and who enters a lock later, against a walk
 * over all sections; on random programs that release locks in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/setup.h"
#include "windows/held.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LOCKS = 5, EVENTS = 160 };

typedef struct program {
    char text[EVENTS * 48 + THREADS * 24];
    size_t length;
    uint32_t generation
        [THREADS]; /* threads that have been joined; thread and generation make the name */
    bool exclusive[THREADS][LOCKS], shared[THREADS][LOCKS];
} program;

static void line(program *p, uint32_t thread, const char *op, uint32_t lock)
{
    p->length += (size_t)snprintf(p->text + p->length, sizeof p->text - p->length,
                                  "T%" PRIu32 "|%s(L%" PRIu32 ")|1\n",
                                  thread + THREADS * p->generation[thread], op, lock);
}

static void main_line(program *p, const char *op, uint32_t thread)
{
    p->length +=
        (size_t)snprintf(p->text + p->length, sizeof p->text - p->length, "M|%s(T%" PRIu32 ")|1\n",
                         op, thread + THREADS * p->generation[thread]);
}

static bool holds_something(const program *p, uint32_t thread)
{
    for (uint32_t lock = 0; lock < LOCKS; lock++)
        if (p->exclusive[thread][lock] || p->shared[thread][lock])
            return true;
    return false;
}

/* The main thread joins the thread and forks another one, which goes on with its chain. */
static void renew(program *p, uint32_t thread)
{
    main_line(p, "join", thread);
    p->generation[thread]++;
    main_line(p, "fork", thread);
}

static bool is_free(const program *p, uint32_t thread, uint32_t lock, bool shared)
{
    for (uint32_t t = 0; t < THREADS; t++)
        if (t != thread && (p->exclusive[t][lock] || (!shared && p->shared[t][lock])))
            return false;
    return true;
}

/* Takes a lock that is free, or gives back one that is held, whichever it is. */
static void step(program *p, mr_random *random)
{
    uint32_t thread = mr_random_below(random, THREADS), lock = mr_random_below(random, LOCKS);
    bool shared = mr_random_below(random, 3) == 0;
    bool *held = shared ? &p->shared[thread][lock] : &p->exclusive[thread][lock];
    if (!holds_something(p, thread) && mr_random_below(random, 4) == 0) {
        renew(p, thread);
    } else if (*held) {
        line(p, thread, shared ? "rrel" : "rel", lock);
        *held = false;
    } else if (is_free(p, thread, lock, shared)) {
        line(p, thread, shared ? "racq" : "acq", lock);
        *held = true;
    } else {
        line(p, thread, "r", lock);
    }
}

static bool entered(const mr_window *w, const mr_section *section, uint32_t length)
{
    return section->acquire == MR_NONE || w->position[section->acquire] < length;
}

/* The list is the open sections of contended locks, each once, and not longer than promised. */
static void check_list(const mr_window *w, uint32_t thread, uint32_t length)
{
    bool *listed = calloc(w->section_count + 1, sizeof *listed);
    uint32_t entries = 0, open = 0;
    assert_non_null(listed);
    for (uint32_t e = mr_held_at(w->held, thread, length); e != MR_NONE;
         e = w->held->entries[e].next) {
        uint32_t s = w->held->entries[e].section;
        entries++;
        if (mr_held_is_left(w, &w->sections[s], length))
            continue;
        assert_false(listed[s]);
        listed[s] = true;
    }
    for (uint32_t s = 0; s < w->section_count; s++) {
        const mr_section *section = &w->sections[s];
        bool is_open = section->thread == thread && w->locks[section->lock].contended &&
                       entered(w, section, length) && !mr_held_is_left(w, section, length);
        assert_int_equal(listed[s], is_open);
        open += is_open;
    }
    assert_true(entries <= 2 * open);
    free(listed);
}

static bool enters_after(const mr_window *w, const mr_section *of, const mr_lock_user *user,
                         uint32_t length, uint32_t after)
{
    for (uint32_t s = after + 1; s < w->locks[of->lock].sections_end; s++)
        if (w->sections[s].thread == user->thread && w->sections[s].shared == user->shared &&
            entered(w, &w->sections[s], length))
            return true;
    return false;
}

static void check_users(const mr_window *w, uint32_t number, mr_random *random)
{
    const mr_section *section = &w->sections[number];
    uint32_t first = w->held->by_thread.first[section->lock], found = 0;
    uint32_t end = w->held->by_thread.first[section->lock + 1];
    for (uint32_t u = first; u < end; u++) {
        const mr_lock_user *user = &w->held->by_thread.of[u];
        uint32_t length = mr_random_below(random, mr_window_length(w, user->thread) + 1);
        assert_int_equal(mr_held_enters_after(w, user, length, number),
                         enters_after(w, section, user, length, number));
        found += user->thread == section->thread && user->shared == section->shared;
        assert_true(mr_held_user_from(w->held, section->lock, user->thread) <= u);
        assert_true(u == first || user[-1].thread < user->thread || !user[-1].shared);
    }
    assert_int_equal(found, w->locks[section->lock].contended);
    assert_int_equal(mr_held_user_from(w->held, section->lock, w->thread_count), end);
}

/* The users of the lock in by_chain are its chains, each with all their sections, in trace order. */
static void check_chains(const mr_window *w, uint32_t lock)
{
    const mr_lock_users *users = &w->held->by_chain;
    uint32_t found = 0;
    for (uint32_t u = users->first[lock]; u < users->first[lock + 1]; u++) {
        const mr_lock_user *user = &users->of[u];
        uint32_t at = user->first;
        for (uint32_t s = w->locks[lock].sections_first; s < w->locks[lock].sections_end; s++)
            if (mr_window_same_chain(w, w->sections[s].thread, user->thread) &&
                w->sections[s].shared == user->shared) {
                assert_true(at < user->end);
                assert_int_equal(users->entered[at++], s);
            }
        assert_int_equal(at, user->end);
        found += user->end - user->first;
    }
    if (w->locks[lock].contended)
        assert_int_equal(found, w->locks[lock].sections_end - w->locks[lock].sections_first);
    else
        assert_int_equal(found, 0);
}

static void check_window(const mr_window *w, mr_random *random)
{
    for (uint32_t t = 0; t < w->thread_count; t++)
        for (uint32_t length = 0; length <= mr_window_length(w, t); length++)
            check_list(w, t, length);
    for (uint32_t s = 0; s < w->section_count; s++)
        check_users(w, s, random);
    for (uint32_t lock = 0; lock < w->lock_count; lock++)
        check_chains(w, lock);
}

static void test_random_programs(void **state)
{
    (void)state;
    uint32_t with_chains = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        program p = {.length = 0};
        mr_random random = {seed + 1};
        mr_setup setup;
        for (uint32_t thread = 0; thread < THREADS; thread++)
            main_line(&p, "fork", thread);
        for (int i = 0; i < EVENTS; i++)
            step(&p, &random);
        mr_setup_open(&setup, p.text);
        for (uint32_t start = 0; start < EVENTS; start += 60) {
            mr_setup_window(&setup, start, EVENTS, MR_MODEL_RF);
            check_window(setup.window, &random);
            with_chains += setup.window->chain_count < setup.window->thread_count;
        }
        mr_setup_close(&setup);
    }
    assert_true(with_chains > 300);
}

/* First in, first out: the lists are written anew now and then, and stay linear in memory. */
static void test_many_open(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    char *text = malloc(MANY * 2 * 24 + MANY * 48);
    size_t length = 0;
    assert_non_null(text);
    for (int i = 0; i < MANY; i++)
        length += (size_t)sprintf(text + length, "A|acq(L%d)|1\n", i);
    for (int i = 0; i < MANY; i++)
        length += (size_t)sprintf(text + length, "A|rel(L%d)|1\n", i);
    for (int i = 0; i < MANY; i++)
        length += (size_t)sprintf(text + length, "B|acq(L%d)|1\nB|rel(L%d)|1\n", i, i);
    mr_setup setup;
    mr_setup_open(&setup, text);
    mr_setup_window(&setup, 0, setup.trace->event_count, MR_MODEL_RF);
    for (uint32_t at = 0; at <= 2 * MANY; at += 97)
        check_list(setup.window, 0, at);
    mr_setup_close(&setup);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_many_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
