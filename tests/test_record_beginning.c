/* Random logs: accesses before the fork of the threads that could meet them, which have no event (record/beginning.h), change
 * no pair of places, in no model and in no order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/left_out.h"
#include "support/length.h"
#include "support/random.h"

#include "runtime/log.h"

#include <string.h>

enum { THREADS = 3, LOCKS = 2, CELLS = 6, STATIC = 0x800, BLOCK = 0x10000, OTHER = 0x20000 };
enum { CELL_BYTES = 32 };

typedef struct program {
    mr_random random;
    mr_log_build log;
    int64_t values[CELLS][CELL_BYTES / 8];
    uint32_t holder[LOCKS]; /* plus 1 */
    uint32_t units;
    bool given; /* OTHER */
} program;

static void run_lock(program *self, uint32_t thread)
{
    uint32_t lock = mr_random_below(&self->random, LOCKS);
    uint64_t address = 0x9000 + 64 * (uint64_t)lock;
    if (self->holder[lock] == thread + 1) {
        self->holder[lock] = 0;
        mr_log_use(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_RWLOCK, address);
    } else if (!self->holder[lock]) {
        self->holder[lock] = thread + 1;
        mr_log_use(&self->log, MR_LOG_ACQUIRE, MR_LOG_ROLE_RWLOCK, address);
    }
}

/* A block that comes and goes, at one address. */
static void run_block(program *self)
{
    self->given = !self->given;
    mr_log_object(&self->log, self->given ? MR_LOG_GIVEN : MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, OTHER,
                  0x2000, 0, 32);
}

/* Cells with an even number are in static memory, the others in a block. The last one is copied as a whole; its first bytes
 * are used apart in some logs. What is used apart has no atomic accesses, which have locks of their own then. */
static void run_cell(program *self, uint32_t cell, bool writes, uint64_t code, bool is_odd)
{
    uint64_t at = (cell % 2 ? BLOCK : STATIC) + CELL_BYTES * (uint64_t)cell;
    mr_random *random = &self->random;
    int64_t *value = self->values[cell];
    bool whole = cell == CELLS - 1;
    if (writes)
        for (uint32_t i = 0; i < (whole ? CELL_BYTES / 8 : 1); i++)
            value[i] = mr_random_percent(random, 20) ? OTHER
                       : mr_random_percent(random, 20)
                           ? 0
                           : (int64_t)mr_random_below(random, 4) * ((INT64_C(1) << 32) + 1);
    uint32_t form = is_odd ? mr_random_below(random, 10) : 9;
    if (whole)
        mr_log_range(&self->log, writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ, at, code, value,
                     CELL_BYTES);
    else if (form == 0 && cell % 3 == 0)
        mr_log_access(&self->log, writes ? MR_LOG_ATOMIC_WRITE : MR_LOG_ATOMIC_READ, at, 8, code,
                      *value);
    else if (form == 1)
        mr_log_range(&self->log, writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ, at, code, value,
                     8);
    else if (form == 2 && cell % 3 && !writes)
        mr_log_access(&self->log, MR_LOG_READ, at + 4, 4, code, *value >> 32);
    else if (form == 3 && !writes)
        mr_log_access(&self->log, MR_LOG_READ, at, 8, code, 77); /* nobody wrote that */
    else
        mr_log_access(&self->log, writes ? MR_LOG_WRITE : MR_LOG_READ, at, 8, code, *value);
}

/* Is the block released? */
static bool releases(uint64_t seed)
{
    return seed % 3 == 0;
}

static void run_threads(program *self, uint64_t seed, uint32_t steps, uint32_t first)
{
    mr_random *random = &self->random;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS), what = mr_random_below(random, 16);
        uint32_t cell = mr_random_below(random, CELLS);
        mr_log_switch(&self->log, thread ? first + thread : 0);
        if (what < 4)
            run_lock(self, thread);
        else if (what == 4)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        else if (what == 5)
            run_block(self);
        else
            run_cell(self, cell, mr_random_percent(random, 25),
                     0x1200 + 16 * cell + mr_random_below(random, 2), seed % 2);
    }
}

/* Thread 1 runs already; it mostly has other cells than thread 0. */
static void run_between(program *self, uint32_t steps, bool meets)
{
    mr_random *random = &self->random;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_percent(random, 25), what = mr_random_below(random, 16);
        uint32_t cell = mr_random_below(random, CELLS / 2);
        mr_log_switch(&self->log, thread);
        cell += !thread == !(meets && mr_random_percent(random, 20)) ? CELLS / 2 : 0;
        if (what < 3)
            run_lock(self, thread);
        else if (what == 3)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        else if (what == 4)
            run_block(self);
        else
            run_cell(self, cell, mr_random_percent(random, 40),
                     0x1400 + 16 * thread + mr_random_below(random, 3), false);
    }
}

/* Much is done by thread 0 before it starts the others, in some logs while it holds a lock. In some the others end, and thread
 * 0 is alone again. */
static void run_program(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed}};
    mr_random *random = &self->random;
    bool stays = seed % 4 == 1; /* locks may be held at the fork */
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x2100, 0,
                  CELLS * CELL_BYTES);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t what = mr_random_below(random, 16);
        if (what < 3)
            run_lock(self, 0);
        else if (what == 3)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        else if (what == 4)
            run_block(self);
        else
            run_cell(self, mr_random_below(random, CELLS), mr_random_percent(random, 40),
                     0x1000 + mr_random_below(random, 3), seed % 5 == 1 && what < 8);
    }
    for (uint32_t i = 1; i < THREADS; i++) {
        if (i > 1)
            run_between(self, steps / 2, seed % 7 == 0);
        mr_log_switch(&self->log, 0);
        while (!stays && (self->holder[0] == 1 || self->holder[1] == 1))
            run_lock(self, 0);
        mr_log_switch(&self->log, i > 1 && seed % 6 == 2 ? 1 : 0);
        mr_log_object(&self->log, MR_LOG_FORK, 0, 0, 0x5000, 0, i);
    }
    run_threads(self, seed, steps / 2, 0);
    if (seed % 5 == 2) {
        for (uint32_t lock = 0; lock < LOCKS; lock++)
            if (self->holder[lock] > 1) {
                mr_log_switch(&self->log, self->holder[lock] - 1);
                self->holder[lock] = 0;
                mr_log_use(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_RWLOCK,
                           0x9000 + 64 * (uint64_t)lock);
            }
        mr_log_switch(&self->log, 0);
        for (uint32_t i = 1; i < THREADS; i++)
            mr_log_object(&self->log, MR_LOG_JOIN, 0, 0, 0x5001, 0, i);
        for (uint32_t i = 0; i < 6; i++)
            run_cell(self, mr_random_below(random, CELLS), mr_random_percent(random, 40), 0x1300,
                     false);
        for (uint32_t i = 1; i < THREADS; i++)
            mr_log_object(&self->log, MR_LOG_FORK, 0, 0, 0x5002, 0, THREADS - 1 + i);
        run_threads(self, seed, steps / 4, THREADS - 1);
    }
    if (releases(seed)) {
        mr_log_switch(&self->log, mr_random_below(random, seed % 5 == 2 ? 1 : THREADS));
        mr_log_object(&self->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x3100, 0,
                      CELLS * CELL_BYTES);
    }
}

static void test_random(void **state)
{
    (void)state;
    mr_left_out_counts counts = {0};
    uint64_t count = mr_length("RECORD_BEGINNING_LOGS", 60, 500);
    uint64_t first = mr_number_from_environment("RECORD_BEGINNING_SEED", 1);
    const uint32_t fhb = UINT32_C(1) << MR_RELATION_FHB;
    for (uint64_t seed = first; seed < first + count; seed++) {
        program self;
        run_program(&self, seed, 60);
        mr_left_out_compare(&self.log, (enum mr_left_out_by)(seed / 2 % 2),
                            releases(seed) ? ~fhb : UINT32_MAX, seed, &counts);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d events kept, %d left out\n", (int)counts.races, (int)counts.kept,
                  (int)counts.left_out);
    assert_true(counts.races > count && counts.left_out > 10 * count);
}

typedef struct step {
    uint32_t thread;
    unsigned kind;
    uint64_t at; /* address, semaphore or thread */
    uint64_t code;
    int64_t value;
} step;

/* By the model value and by all orders. */
static void compare_steps(const step *steps, size_t count)
{
    program self = {.given = false};
    mr_left_out_counts counts = {0};
    for (size_t i = 0; i < count; i++) {
        const step *at = &steps[i];
        mr_log_switch(&self.log, at->thread);
        if (mr_log_is_access(at->kind))
            mr_log_access(&self.log, at->kind, at->at, 8, at->code, at->value);
        else if (at->kind == MR_LOG_FORK)
            mr_log_object(&self.log, MR_LOG_FORK, 0, 0, 0x5000, 0, at->at);
        else
            mr_log_use(&self.log, at->kind,
                       at->kind == MR_LOG_POST || at->kind == MR_LOG_WAIT ? MR_LOG_ROLE_SEMAPHORE
                                                                          : MR_LOG_ROLE_RWLOCK,
                       at->at);
    }
    mr_left_out_compare(&self.log, MR_BY_VALUE, UINT32_MAX, 0, &counts);
    mr_log_build_free(&self.log);
}

/* The section in which thread 0 reads goes on behind the fork. By that read wcp orders all that comes before its release
 * before the write of thread 2: the write of thread 1, too. The last write has the variable kept. */
static void test_held_at_fork(void **state)
{
    (void)state;
    enum { X = STATIC, Y = STATIC + 64, L = 0x9000, S = 0xa000 };
    static const step steps[] = {
        {0, MR_LOG_WRITE, X, 0x1000, 5}, {0, MR_LOG_READ, X, 0x1001, 5},
        {0, MR_LOG_ACQUIRE, L, 0, 0},    {0, MR_LOG_READ, X, 0x1001, 5},
        {0, MR_LOG_FORK, 1, 0, 0},       {0, MR_LOG_FORK, 2, 0, 0},
        {1, MR_LOG_WRITE, Y, 0x1100, 5}, {1, MR_LOG_POST, S, 0, 0},
        {0, MR_LOG_WAIT, S, 0, 0},       {0, MR_LOG_RELEASE, L, 0, 0},
        {2, MR_LOG_ACQUIRE, L, 0, 0},    {2, MR_LOG_WRITE, X, 0x1200, 5},
        {2, MR_LOG_WRITE, Y, 0x1201, 5}, {2, MR_LOG_RELEASE, L, 0, 0},
        {1, MR_LOG_WRITE, X, 0x1101, 5},
    };
    compare_steps(steps, sizeof steps / sizeof *steps);
}

/* Thread 2 may read what thread 0 left, so its write of Y may come first: what thread 0 left is known by its first
 * read, or by its last write. An access that is kept in the beginning has others kept. */
static void test_values(void **state)
{
    (void)state;
    enum { X = STATIC, Y = STATIC + 64 };
    enum { R = MR_LOG_READ, W = MR_LOG_WRITE, ATOMIC = MR_LOG_ATOMIC_READ };
    static const step begins[][3] = {
        {{0, R, X, 0x1000, 5}, {0, R, X, 0x1001, 5}, {0, R, X, 0x1002, 5}},
        {{0, W, X, 0x1000, 6}, {0, R, X, 0x1001, 6}, {0, W, X, 0x1002, 5}},
        {{0, W, X, 0x1000, 6}, {0, ATOMIC, X, 0x1001, 6}, {0, W, X, 0x1002, 5}},
        {{0, W, X, 0x1000, 6}, {0, R, X, 0x1001, 4}, {0, W, X, 0x1002, 5}},
        {{0, R, X, 0x1000, 7}, {0, W, X, 0x1001, 5}, {0, R, X, 0x1002, 5}},
    };
    static const step steps[] = {
        {0, MR_LOG_FORK, 1, 0, 0}, {0, MR_LOG_FORK, 2, 0, 0}, {1, W, Y, 0x1100, 5},
        {1, W, X, 0x1101, 7},      {1, W, X, 0x1102, 5},      {2, R, X, 0x1200, 5},
        {2, W, Y, 0x1201, 5},
    };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        step all[3 + sizeof steps / sizeof *steps];
        memcpy(all, begins[i], sizeof begins[i]);
        memcpy(all + 3, steps, sizeof steps);
        compare_steps(all, sizeof all / sizeof *all);
    }
}

/* What has an event: the first read where nothing was written, the last write, and all of a block that is released. */
static void test_events(void **state)
{
    (void)state;
    enum { X = STATIC, Y = STATIC + 64 };
    mr_log_build log = {0};
    mr_record_summary summary;
    mr_log_switch(&log, 0);
    for (uint32_t i = 0; i < 3; i++)
        mr_log_access(&log, MR_LOG_READ, X, 8, 0x1000, 5);
    for (uint32_t i = 0; i < 3; i++) {
        mr_log_access(&log, MR_LOG_WRITE, Y, 8, 0x1001, i);
        mr_log_access(&log, MR_LOG_READ, Y, 8, 0x1002, i);
    }
    mr_log_object(&log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, OTHER, 0x2000, 0, 32);
    mr_log_access(&log, MR_LOG_WRITE, OTHER, 8, 0x1003, 1);
    mr_log_object(&log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, OTHER, 0x2001, MR_LOG_TAKEN_KEPT, 32);
    mr_log_access(&log, MR_LOG_READ, OTHER, 8, 0x1004, 1);
    mr_log_access(&log, MR_LOG_WRITE, OTHER, 8, 0x1005, 2);
    mr_log_access(&log, MR_LOG_WRITE, OTHER, 8, 0x1006, 3);
    mr_log_object(&log, MR_LOG_FORK, 0, 0, 0x5000, 0, 1);
    mr_log_access(&log, MR_LOG_WRITE, X, 8, 0x1007, 6);
    mr_log_access(&log, MR_LOG_WRITE, Y, 8, 0x1008, 6);
    mr_log_switch(&log, 1);
    mr_log_access(&log, MR_LOG_READ, X, 8, 0x1100, 6);
    mr_log_access(&log, MR_LOG_READ, Y, 8, 0x1101, 6);
    mr_trace *trace = mr_log_converted(&log, false, &summary);
    mr_log_expect(trace, "T0|r(0x800=5)\nT0|w(0x840=2)\n"
                         "T0|alloc(0x1fff#1=0x20000+32)\nT0|w(0x1fff#1=1)\nT0|free(0x1fff#1)\n"
                         "T0|r(0x1fff#1=1)\nT0|w(0x1fff#1=2)\nT0|w(0x1fff#1=3)\n"
                         "T0|fork(T1)\nT0|w(0x800=6)\nT0|w(0x840=6)\n"
                         "T1|r(0x800=6)\nT1|r(0x840=6)\n");
    mr_trace_free(trace);
    mr_log_build_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_events),
                                       cmocka_unit_test(test_held_at_fork),
                                       cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
