/* Variables that are locks by their values, and semaphores that are by their units: what is one, which accesses are inside, and that two of
 * them inside are no race. That nothing else is dropped: test_exact, shape spin-locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/exhaustive.h"
#include "support/generate.h"
#include "support/random.h"
#include "support/setup.h"
#include "windows/lockset.h"
#include "windows/value_locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACQ(t)  #t "|au(l=0>1)|1\n"
#define REL(t)  #t "|w(l=0)|1\n"
#define MARK(t) #t "|au(l=1>2)|1\n"
#define X(t)    #t "|w(x=5)|1\n"

/* The same by a flag and a mutex, and a step that reads the flag and writes it. */
#define STEP(t, from, to)                                                                          \
#t "|acq(m)|1\n" #t "|r(l=" #from ")|1\n" #t "|w(l=" #to ")|1\n" #t "|rel(m)|1\n"
#define LOCK(t)   STEP(t, 0, 1)
#define UNLOCK(t) STEP(t, 1, 0)

/* Which events of the window are in a section of `l`, as a text: '+' inside, '-' not an access or
 * outside. NULL: `l` is no lock. */
typedef struct row {
    const char *name, *text;
    uint32_t start;
    const char *inside;
} row;

static const row rows[] = {
    {"two sections", ACQ(A) X(A) REL(A) ACQ(B) X(B) REL(B), 0, "-++-++"},
    {"reads of it are not looked at",
     ACQ(A) "B|r(l=1)|1\n" X(A) REL(A) "B|r(l=0)|1\n" ACQ(B) X(B) REL(B), 0, "--++--++"},
    {"a section that stays open", ACQ(A) X(A) REL(A) ACQ(B) X(B), 0, "-++-+"},
    {"other values when taken", "A|au(l=0>7)|1\n" X(A) REL(A) "B|au(l=0>9)|1\n" X(B) REL(B), 0,
     "-++-++"},
    {"released by an exchange", ACQ(A) X(A) "A|au(l=1>0)|1\n" ACQ(B) X(B) REL(B), 0, "-++-++"},
    {"held at the start", ACQ(A) X(A) REL(A) ACQ(B) X(B) REL(B), 1, "++-++"},
    {"begun by a write of the free value that is not there",
     REL(A) ACQ(A) X(A) REL(A) ACQ(B) X(B) REL(B), 0, "+-++-++"},
    {"… that is there, and a thread may take it before",
     "B|r(l=0)|1\n" REL(A) ACQ(A) X(A) REL(A) ACQ(B) X(B) REL(B), 0, NULL},
    {"released by another thread", ACQ(A) X(A) REL(B) ACQ(B) X(B) REL(B), 0, NULL},
    {"released twice", ACQ(A) X(A) REL(A) REL(A) ACQ(B) X(B) REL(B), 0, NULL},
    {"taken by a plain write", "A|w(l=1)|1\n" X(A) REL(A) ACQ(B) X(B) REL(B), 0, NULL},
    {"another value inside", ACQ(A) "A|w(l=2)|1\n" X(A) REL(A) ACQ(B) X(B) REL(B), 0, "-+++-++"},
    {"another value outside", ACQ(A) X(A) REL(A) ACQ(B) X(B) "A|w(l=2)|1\n" REL(B), 0, NULL},
    {"taken when it is taken", ACQ(A) X(A) "B|au(l=1>2)|1\n" REL(A) REL(B), 0, NULL},
    {"waited for, by a mark", ACQ(A) X(A) MARK(B) REL(A) "B|au(l=0>2)|1\n" X(B) REL(B), 0,
     "-+-+-++"},
    {"marked while it is held at the start", ACQ(A) X(A) MARK(B) REL(A) ACQ(B) X(B) REL(B), 2,
     "-+-++"},
    {"tried by an exchange", ACQ(A) X(A) "B|au(l=1>1)|1\n" REL(A) ACQ(B) X(B) REL(B), 0, "-+-+-++"},
    {"let go when it is free", ACQ(A) X(A) REL(A) "B|au(l=0>0)|1\n" ACQ(B) X(B) REL(B), 0,
     "-++--++"},
    {"marked by a write", ACQ(A) X(A) "B|w(l=2)|1\n" REL(A) ACQ(B) X(B) REL(B), 0, NULL},
    {"two threads let go that never took it", "A|w(l=2)|1\n" X(A) REL(A) ACQ(B) X(B) REL(B) REL(C),
     1, NULL},
    {"values that are not known", "A|au(l)|1\n" X(A) REL(A) ACQ(B) X(B) REL(B), 0, NULL},
    {"one thread", ACQ(A) X(A) REL(A), 0, NULL},
    {"a flag and a mutex", LOCK(A) X(A) UNLOCK(A) LOCK(B) X(B) UNLOCK(B), 0, "----+-++-----+-++-"},
    {"… with a second step inside", LOCK(A) STEP(A, 1, 2) X(A) STEP(A, 2, 0) LOCK(B) X(B) UNLOCK(B),
     0, "-----++-+-++-----+-++-"},
    {"… whose mutex is held at the start", LOCK(A) X(A) UNLOCK(A) LOCK(B) X(B) UNLOCK(B), 2,
     "--+-++-----+-++-"},
    {"… that is set before the threads are there",
     "C|w(l=0)|1\nC|fork(A)|1\nC|fork(B)|1\n" LOCK(A) X(A) UNLOCK(A) LOCK(B) X(B), 0,
     "+------+-++-----+"},
    {"… that is set when they may be there", "C|w(l=0)|1\n" LOCK(A) X(A) UNLOCK(A) LOCK(B) X(B), 0,
     NULL},
    {"… read in one section and written in another",
     "A|acq(m)|1\nA|r(l=0)|1\nA|rel(m)|1\nA|acq(m)|1\nA|w(l=1)|1\nA|rel(m)|1\n" X(A) UNLOCK(A)
         LOCK(B) X(B),
     0, NULL},
    {"… written without a read", "A|acq(m)|1\nA|w(l=1)|1\nA|rel(m)|1\n" X(A) UNLOCK(A) LOCK(B) X(B),
     0, NULL},
    {"… written without the mutex", LOCK(A) X(A) "A|w(l=0)|1\n" LOCK(B) X(B), 0, NULL},
    {"… in shared sections",
     "A|racq(m)|1\nA|r(l=0)|1\nA|w(l=1)|1\nA|rrel(m)|1\n" X(A) UNLOCK(A) LOCK(B) X(B), 0, NULL},
    {"an unrecorded writer", ACQ(A) X(A) REL(A) "B|r(l=3)|1\n" ACQ(B) X(B) REL(B), 0, NULL},
};

static bool is_inside(const mr_window *w, uint32_t event)
{
    const mr_lockset *set = &w->locksets[w->lockset[event]];
    return set->count && set->locks[set->count - 1] >= 2 * w->lock_count;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mr_setup setup;
        mr_setup_open(&setup, rows[i].text);
        mr_setup_window(&setup, rows[i].start, setup.trace->event_count, MR_MODEL_VALUE);
        const mr_window *w = setup.window;
        char inside[32] = "";
        bool any = false;
        for (uint32_t e = 0; e < w->size; e++) {
            inside[e] = is_inside(w, e) ? '+' : '-';
            any = any || inside[e] == '+';
        }
        inside[w->size] = '\0';
        if (!rows[i].inside ? any : strcmp(inside, rows[i].inside) != 0)
            fail_msg("%s: %s", rows[i].name, inside);
        mr_setup_close(&setup);
    }
}

#define USE(t, from, to) #t "|au(n=" #from ">" #to ")|1\n"

/* Of each pair of accesses of y: are they held apart? In the order of the trace, 'x' for yes. */
static const row counting_rows[] = {
    {"a use and the end",
     USE(A, 0, 1) "A|r(y=0)|1\n" USE(A, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n" USE(B, -2, -1), 0, "x"},
    {"two uses",
     USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, 2) "B|w(y=1)|1\n" USE(A, 2, 1) USE(B, 1, 0)
         USE(A, 0, -2),
     0, "-"},
    {"two ends, with a value for nobody",
     USE(A, 0, -2) "A|w(y=1)|1\n" USE(A, -2, -1) USE(B, -1, -2) "B|w(y=1)|1\n" USE(B, -2, 1), 0,
     "x"},
    {"who made it goes on to use it",
     USE(A, 0, -2) USE(A, -2, 1) "A|w(y=1)|1\n" USE(A, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n", 0, "x"},
    {"a use before the window, given back in it",
     USE(A, 0, 1) "A|w(y=1)|1\n" USE(A, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n", 1, "x"},
    {"the end begins before the window",
     USE(A, 0, -2) "A|w(y=1)|1\n" USE(A, -2, 0) USE(B, 0, 1) "B|w(y=1)|1\n", 1, "x"},
    {"set before the threads are there",
     "A|w(n=5)|1\nA|w(n=0)|1\nA|fork(B)|1\n" USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, 2) USE(B, 2, 1)
         USE(A, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n",
     0, "x"},
    {"set when they may be there",
     "A|w(n=5)|1\nA|fork(B)|1\nA|w(n=0)|1\n" USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, 2) USE(B, 2, 1)
         USE(A, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n",
     0, "-"},
    {"set again by a write",
     USE(A, 0, 1) "A|w(y=1)|1\n"
                  "B|w(n=0)|1\n" USE(B, 0, -2) "B|w(y=1)|1\n",
     0, "-"},
    {"given back by another thread",
     USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, 0) USE(B, 0, -2) "B|w(y=1)|1\n", 0, "-"},
    {"taken from a count that is not 0", USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, -2) "B|w(y=1)|1\n",
     0, "-"},
    {"upgraded by the only user",
     USE(A, 0, 1) USE(A, 1, -2) "A|w(y=1)|1\n" USE(A, -2, 0)
         USE(B, 0, 1) "B|r(y=1)|1\n" USE(B, 1, 0),
     0, "x"},
    {"before an upgrade",
     USE(A, 0, 1) "A|w(y=1)|1\n" USE(A, 1, -2) USE(A, -2, 0)
         USE(B, 0, 1) "B|r(y=1)|1\n" USE(B, 1, 0),
     0, "-"},
    {"upgraded when others may be there",
     USE(A, 0, 1) USE(B, 1, 2) USE(A, 2, -2) "A|w(y=1)|1\n" USE(A, -2, 0) "B|r(y=1)|1\n", 0, "-"},
    {"only counted",
     USE(A, 0, 1) "A|w(y=1)|1\n" USE(B, 1, 2) "B|w(y=1)|1\n" USE(A, 2, 1) USE(B, 1, 0), 0, "-"},
};

static void test_counting_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof counting_rows / sizeof *counting_rows; i++) {
        const row *its = &counting_rows[i];
        mr_setup setup;
        mr_setup_open(&setup, its->text);
        mr_setup_window(&setup, its->start, setup.trace->event_count, MR_MODEL_VALUE);
        const mr_window *w = setup.window;
        char apart[16] = "";
        for (uint32_t b = 0, count = 0; b < w->size; b++)
            for (uint32_t a = 0; a < b; a++) {
                bool asked = w->thread[a] != w->thread[b] && mr_op_is_access(mr_window_op(w, a)) &&
                             mr_op_is_access(mr_window_op(w, b)) &&
                             mr_window_op(w, a) != MR_OP_ATOMIC_UPDATE &&
                             mr_window_op(w, b) != MR_OP_ATOMIC_UPDATE &&
                             w->object[a] == w->object[b];
                if (asked)
                    apart[count++] = mr_locksets_meet(w, w->lockset[a], w->lockset[b]) ? 'x' : '-';
            }
        if (strcmp(apart, its->inside) != 0)
            fail_msg("%s: '%s'", its->name, apart);
        mr_setup_close(&setup);
    }
}

/* In the other models the values tell nothing. */
static void test_models(void **state)
{
    (void)state;
    for (mr_model model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++) {
        mr_setup setup;
        mr_setup_open(&setup, rows[0].text);
        mr_setup_window(&setup, 0, setup.trace->event_count, model);
        assert_int_equal(is_inside(setup.window, 1), model == MR_MODEL_VALUE);
        mr_setup_close(&setup);
    }
}

/* Accesses whose locksets meet are no race in the window from `start`, by exhaustive search. Returns how many meet. */
static uint32_t check_no_race(const char *text, uint32_t start, mr_model model, uint64_t seed)
{
    uint32_t meetings = 0;
    mr_setup setup;
    mr_setup_open(&setup, text);
    uint32_t end = setup.trace->event_count;
    mr_exhaustive races;
    start = start < end ? start : 0;
    mr_setup_window(&setup, start, end, model);
    assert_true(mr_exhaustive_find(setup.trace, model, start, end, &races));
    const mr_window *w = setup.window;
    for (uint32_t b = 0; b < w->size; b++)
        for (uint32_t a = 0; a < b; a++)
            if (w->thread[a] != w->thread[b] && mr_locksets_meet(w, w->lockset[a], w->lockset[b])) {
                meetings++;
                if (mr_exhaustive_has(&races, start + a, start + b))
                    fail_msg("seed %" PRIu64 ": %" PRIu32 "-%" PRIu32 " from %" PRIu32 ":\n%s",
                             seed, start + a, start + b, start, text);
            }
    mr_exhaustive_free(&races);
    mr_setup_close(&setup);
    return meetings;
}

/* In windows of random traces. */
static void test_no_race(void **state)
{
    (void)state;
    uint32_t meetings = 0;
    for (uint64_t seed = 1; seed <= 800; seed++) {
        char *text = mr_generate_trace(seed, MR_SHAPE_SPIN_LOCKS);
        assert_non_null(text);
        meetings += check_no_race(text, (uint32_t)(seed % 3) * 3, MR_MODEL_VALUE, seed);
        free(text);
    }
    assert_true(meetings > 2000);
}

/* Random writes of a variable and accesses of another, by threads that mostly treat the variable as a lock that says
 * whether it is waited for. */
static void generate_marks(uint64_t seed, char *text, size_t size)
{
    enum { EVENTS = 13, THREADS = 3 };
    mr_random random = {seed};
    uint32_t value = 0, holder = THREADS;
    size_t length = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t thread = mr_random_below(&random, THREADS), draw = mr_random_below(&random, 24);
        bool holds = holder == thread && draw < 18, plain = draw == 0 || (holds && draw < 12);
        uint32_t to = value ? 2 : 1 + mr_random_below(&random, 2);
        if (holds)
            to = draw < 16 ? 0 : 2;
        if (draw == 0) /* what no lock does */
            to = mr_random_below(&random, 3);
        text += length;
        size -= length;
        if (draw > 0 && draw < 8)
            length = (size_t)snprintf(text, size, "%c|w(x=5)|1\n", 'A' + (int)thread);
        else if (plain)
            length = (size_t)snprintf(text, size, "%c|w(l=%u)|1\n", 'A' + (int)thread, to);
        else
            length =
                (size_t)snprintf(text, size, "%c|au(l=%u>%u)|1\n", 'A' + (int)thread, value, to);
        if (draw > 0 && draw < 8)
            continue;
        holder = !value && to ? thread : holder;
        value = to;
    }
}

static void test_marks(void **state)
{
    (void)state;
    uint32_t meetings = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        char text[1024];
        generate_marks(seed, text, sizeof text);
        meetings += check_no_race(text, (uint32_t)(seed % 3) * 2, MR_MODEL_VALUE, seed);
    }
    assert_true(meetings > 2000);
}

/* Random steps of threads that mostly treat a flag and a mutex as a lock. A thread has a program of one letter an event. */
typedef struct walker {
    const char *next;
    bool inside;
    uint32_t seen;
} walker;

static const char *choose_steps(const walker *t, mr_random *random)
{
    /* The last ones are what no such lock does. */
    static const char *const enters[] = {"ARTL", "ARTL",   "AXRTL", "ARXTL", "ARTL",
                                         "ATL",  "ARLATL", "SRTU",  "T"};
    static const char *const leaves[] = {"AR0L", "A0L",    "0",    "AR2L", "XAR0L",
                                         "AR0L", "ARLA0L", "SR0U", "0"};
    uint32_t draw = mr_random_below(random, 60);
    if (draw < 24)
        return draw % 2 ? "X" : "Y";
    if (draw < 27)
        return t->inside ? enters[draw % 9] : leaves[draw % 9];
    if (draw < 30)
        return t->inside ? leaves[6 + draw % 3] : enters[6 + draw % 3];
    return t->inside ? leaves[draw % 6] : enters[draw % 5];
}

static void generate_guarded(uint64_t seed, char *text, size_t size)
{
    enum { EVENTS = 17, THREADS = 3 };
    mr_random random = {seed};
    walker walkers[THREADS] = {{.next = ""}, {.next = ""}, {.next = ""}};
    uint32_t flag = 0, holder = THREADS;
    for (uint32_t i = 0, tries = 0; i < EVENTS && tries < 200; tries++) {
        uint32_t thread = mr_random_below(&random, THREADS);
        walker *t = &walkers[thread];
        if (!*t->next)
            t->next = choose_steps(t, &random);
        char step = *t->next;
        bool enters = step == 'A' || step == 'S', leaves = step == 'L' || step == 'U',
             skips = step == 'T' && t->seen;
        if (enters && holder < THREADS)
            continue;
        t->next++;
        char what[16];
        if (step == 'T' || step == '0' || step == '2') {
            flag = skips         ? flag
                   : step == 'T' ? 1 + mr_random_below(&random, 2)
                   : step == '2' ? 2
                                 : 0;
            t->inside = skips ? t->inside : flag != 0;
        }
        holder = enters ? thread : leaves ? THREADS : holder;
        t->seen = step == 'R' ? flag : enters ? 0 : t->seen;
        snprintf(what, sizeof what, step == 'R' ? "r(l=%u)" : "w(l=%u)", flag);
        static const char *const names[] = {['A'] = "acq(m)",  ['L'] = "rel(m)", ['S'] = "racq(m)",
                                            ['U'] = "rrel(m)", ['X'] = "w(x=5)", ['Y'] = "r(x=5)"};
        if (skips)
            continue;
        const char *name = (size_t)step < sizeof names / sizeof *names && names[(size_t)step]
                               ? names[(size_t)step]
                               : what;
        size_t length = (size_t)snprintf(text, size, "%c|%s|1\n", 'A' + (int)thread, name);
        text += length;
        size -= length;
        i++;
    }
}

static void test_guarded(void **state)
{
    (void)state;
    uint32_t meetings = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        char text[1024];
        generate_guarded(seed, text, sizeof text);
        meetings += check_no_race(text, (uint32_t)(seed % 4) * 2, MR_MODEL_VALUE, seed);
    }
    assert_true(meetings > 2000);
}

/* Random updates of a count by threads that mostly treat it as one of users, which the only user may upgrade. */
static void generate_counts(uint64_t seed, char *text, size_t size)
{
    enum { EVENTS = 15, THREADS = 3, BUSY = -2 };
    mr_random random = {seed};
    int value = 0, units[THREADS] = {0};
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t thread = mr_random_below(&random, THREADS), draw = mr_random_below(&random, 30);
        int *own = &units[thread], to = value;
        bool inside = value == BUSY && *own == BUSY;
        if (draw < 9 || (value == BUSY && !inside)) {
            size_t length = (size_t)snprintf(text, size, "%c|%s|1\n", 'A' + (int)thread,
                                             draw % 3 ? "w(x=5)" : "r(x=5)");
            text += length;
            size -= length;
            continue;
        }
        if (draw == 9) /* what no lock does */
            to = (int)mr_random_below(&random, 4) + BUSY;
        else if (inside)
            to = draw < 12 ? BUSY : draw < 18;
        else if (value == *own && draw < 16)
            to = draw < 14 ? BUSY : draw == 14;
        else if (*own > 0 && draw < 22)
            to = value - 1;
        else
            to = value + 1;
        *own = inside || to == BUSY || value == *own ? to : *own + to - value;
        size_t length =
            (size_t)snprintf(text, size, "%c|au(n=%d>%d)|1\n", 'A' + (int)thread, value, to);
        text += length;
        size -= length;
        value = to;
    }
}

static void test_counts(void **state)
{
    (void)state;
    uint32_t meetings = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        char text[1024];
        generate_counts(seed, text, sizeof text);
        meetings += check_no_race(text, (uint32_t)(seed % 4) * 2, MR_MODEL_VALUE, seed);
    }
    assert_true(meetings > 500);
}

#define WAIT(t) #t "|wait(s)|1\n"
#define POST(t) #t "|post(s)|1\n"

/* Of each access: is it inside? */
static const row unit_rows[] = {
    {"taken and given back", POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B) POST(B) X(B), 0, "++-"},
    {"with a unit at the start", POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B) POST(B) X(B), 1, "++-"},
    {"inside at the start", POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B) POST(B), 2, "++"},
    {"handed over", X(A) POST(A) X(A) WAIT(B) X(B) POST(B), 0, "+-+"},
    {"given back by nobody", X(A) POST(A) X(A) WAIT(B) X(B), 0, "---"},
    {"two units", POST(A) POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B), 0, "--"},
    {"two units at the start", POST(C) POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B), 2, "--"},
    {"one more unit at the start", POST(C) POST(A) WAIT(A) X(A) POST(A) WAIT(B) X(B), 1, "--"},
    {"given back by another thread", POST(A) WAIT(A) X(A) POST(B) WAIT(B) X(B), 0, "--"},
    {"given twice", POST(A) WAIT(A) POST(A) POST(A) WAIT(B) X(B) WAIT(A) X(A), 0, "--"},
    {"taken twice", POST(A) WAIT(A) X(A) POST(B) WAIT(A) X(A), 0, "--"},
    {"one thread", POST(A) WAIT(A) X(A) POST(A) X(B), 0, "--"},
};

static void test_unit_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unit_rows / sizeof *unit_rows; i++)
        for (mr_model model = MR_MODEL_RF; model <= MR_MODEL_BRANCH; model++) {
            mr_setup setup;
            mr_setup_open(&setup, unit_rows[i].text);
            mr_setup_window(&setup, unit_rows[i].start, setup.trace->event_count, model);
            const mr_window *w = setup.window;
            char inside[16] = "";
            for (uint32_t e = 0, count = 0; e < w->size; e++)
                if (mr_op_is_access(mr_window_op(w, e)))
                    inside[count++] = is_inside(w, e) ? '+' : '-';
            if (strcmp(inside, unit_rows[i].inside) != 0)
                fail_msg("%s: %s", unit_rows[i].name, inside);
            mr_setup_close(&setup);
        }
}

/* Random accesses of a variable by threads that mostly treat a semaphore as a lock. */
static void generate_units(uint64_t seed, char *text, size_t size)
{
    enum { EVENTS = 16, THREADS = 3 };
    mr_random random = {seed};
    uint32_t units = 0;
    bool inside[THREADS] = {false}, made = false;
    size_t length = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t thread = mr_random_below(&random, THREADS), draw = mr_random_below(&random, 80);
        char name = (char)('A' + thread);
        bool takes = units && !inside[thread], gives = inside[thread] || !made;
        text += length;
        size -= length;
        if (draw > 1 && (draw < (inside[thread] ? 45u : 8u) || (!takes && !gives))) {
            length = (size_t)snprintf(text, size, "%c|%s|1\n", name,
                                      draw % 4 == 0 ? "r(x=1)" : (draw % 8 ? "w(x=1)" : "w(y=1)"));
            continue;
        }
        if (draw == 0 && units) /* what no lock does */
            takes = true;
        else if (draw == 1)
            takes = false;
        else if (draw < 2)
            takes = units > 0;
        length = (size_t)snprintf(text, size, "%c|%s(s)|1\n", name, takes ? "wait" : "post");
        units += takes ? UINT32_MAX : 1;
        inside[thread] = takes;
        made = true;
    }
}

static void test_units(void **state)
{
    (void)state;
    uint32_t meetings = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        char text[1024];
        generate_units(seed, text, sizeof text);
        meetings += check_no_race(text, (uint32_t)(seed % 4) * 2, (mr_model)(seed % 3), seed);
    }
    assert_true(meetings > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_counting_rows),
        cmocka_unit_test(test_models),  cmocka_unit_test(test_no_race),
        cmocka_unit_test(test_marks),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_guarded), cmocka_unit_test(test_unit_rows),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
