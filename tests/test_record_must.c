/* Random logs: what is left out because every reordering keeps its order (record/ordered.h, `must`) changes no
 * pair of places, by model or by order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/left_out.h"
#include "support/length.h"
#include "support/random.h"

#include "runtime/log.h"

enum { THREADS = 4, CELLS = 6, LOCKS = 2, STATIC = 0x800, BLOCK = 0x10000, SEMAPHORE = 0xa000 };

typedef struct program {
    mr_random random;
    mr_log_build log;
    int64_t values[CELLS];
    uint32_t owner[CELLS], holder[LOCKS]; /* of a lock: plus 1 */
    uint32_t sent[CELLS]; /* number of the unit that hands the cell over; 0: none does */
    uint32_t receiver[CELLS];
    uint32_t numbers, used; /* of units; barriers */
    uint32_t again,
        strays; /* per cent: units with a number that was used before, accesses by others */
    bool freed;
} program;

static void object(program *self, uint32_t thread, unsigned kind, unsigned role, uint64_t address,
                   unsigned count, uint64_t number)
{
    mr_log_switch(&self->log, thread);
    mr_log_object(&self->log, kind, role, address, 0x4000 + kind, count, number);
}

static void run_lock(program *self, uint32_t thread)
{
    uint32_t lock = mr_random_below(&self->random, LOCKS);
    if (self->holder[lock] && self->holder[lock] != thread + 1)
        return;
    object(self, thread, self->holder[lock] ? MR_LOG_RELEASE : MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX,
           0x9000 + 64 * (uint64_t)lock, 0, 0);
    self->holder[lock] = self->holder[lock] ? 0 : thread + 1;
}

/* The owner of a cell gives a unit, or another thread takes the one that is there, and has the cell. */
static void hand_over(program *self, uint32_t cell)
{
    uint32_t *number = &self->sent[cell];
    unsigned role = cell % 2 ? MR_LOG_ROLE_WAKE : MR_LOG_ROLE_ASLEEP;
    if (*number) {
        object(self, self->receiver[cell], MR_LOG_WAIT, role, SEMAPHORE, 1, *number);
        self->owner[cell] = self->receiver[cell];
        *number = 0;
        return;
    }
    bool is_again = self->numbers && mr_random_percent(&self->random, self->again);
    *number = is_again ? 1 + mr_random_below(&self->random, self->numbers) : ++self->numbers;
    self->receiver[cell] = mr_random_below(&self->random, THREADS);
    object(self, self->owner[cell], MR_LOG_POST, role, SEMAPHORE, 1, *number);
}

/* All threads but the last come in, which then lets them out. */
static void run_barrier(program *self)
{
    uint32_t last = mr_random_below(&self->random, THREADS);
    uint64_t use = ++self->used;
    for (uint32_t i = 0; i < THREADS; i++)
        if (i != last)
            object(self, i, MR_LOG_POST, MR_LOG_ROLE_BARRIER_IN, SEMAPHORE + 64, 1, use);
    object(self, last, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_IN, SEMAPHORE + 64, THREADS - 1, use);
    object(self, last, MR_LOG_POST, MR_LOG_ROLE_BARRIER_OUT, SEMAPHORE + 64, THREADS - 1, use);
    for (uint32_t i = 0; i < THREADS; i++)
        if (i != last)
            object(self, i, MR_LOG_WAIT, MR_LOG_ROLE_BARRIER_OUT, SEMAPHORE + 64, 1, use);
    for (uint32_t i = 0; i < CELLS; i++)
        self->owner[i] = mr_random_below(&self->random, THREADS);
    memset(self->sent, 0, sizeof self->sent);
}

/* Cells with an even number are in static memory, the others in a block. */
static void run_cell(program *self, uint32_t cell, uint32_t thread)
{
    mr_random *random = &self->random;
    uint64_t at = (cell % 2 ? BLOCK : STATIC) + (cell < 2 ? 0 : 64) + 8 * (uint64_t)cell;
    bool writes = mr_random_percent(random, 50);
    if (writes)
        self->values[cell] = mr_random_below(random, 6);
    unsigned kind = writes ? MR_LOG_WRITE : MR_LOG_READ;
    if (mr_random_percent(random, 3))
        kind = writes ? MR_LOG_ATOMIC_WRITE : MR_LOG_ATOMIC_READ;
    mr_log_switch(&self->log, thread);
    mr_log_access(&self->log, kind, at, 8, 0x1000 + 16 * writes + 4 * cell + thread,
                  self->values[cell]);
}

static void run_program(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){
        .random = {seed}, .again = seed % 7 == 0 ? 10 : 0, .strays = seed % 5 < 2 ? 0 : 4};
    mr_random *random = &self->random;
    object(self, 0, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0, 256);
    for (uint32_t i = 1; i < THREADS; i++)
        object(self, 0, MR_LOG_FORK, 0, 0, 0, i);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS), what = mr_random_below(random, 60);
        uint32_t cell = mr_random_below(random, CELLS);
        bool strays = mr_random_percent(random, self->strays);
        if (what < 10)
            run_lock(self, thread);
        else if (what < 22)
            hand_over(self, cell);
        else if (what == 22)
            run_barrier(self);
        else if (!self->sent[cell] || strays)
            run_cell(self, cell, strays ? thread : self->owner[cell]);
    }
    if (seed % 3 == 0)
        object(self, mr_random_below(random, THREADS), MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BLOCK, 0,
               256);
}

static void test_random(void **state)
{
    (void)state;
    mr_left_out_counts counts = {0};
    uint64_t count = mr_length("RECORD_MUST_LOGS", 60, 1000);
    uint64_t first = mr_number_from_environment("RECORD_MUST_SEED", 1);
    const uint32_t fhb = UINT32_C(1) << MR_RELATION_FHB;
    for (uint64_t seed = first; seed < first + count; seed++) {
        program self;
        run_program(&self, seed, 70);
        mr_left_out_compare(&self.log, seed % 2 ? MR_BY_VALUE : MR_BY_RF,
                            seed % 3 ? UINT32_MAX : ~fhb, seed, &counts);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d events left out, %d not\n", (int)counts.races, (int)counts.left_out,
                  (int)counts.kept);
    assert_true(counts.races > count && counts.left_out > count);
}

/* A step of a log: an access of the cell of that number, at a place of its own, or a record of an object. Cell
 * 2 is all of a block that thread 0 gets. */
typedef struct step {
    uint32_t thread;
    unsigned kind, role;
    uint64_t number;
} step;

static void put(mr_log_build *log, const step *steps, size_t count)
{
    mr_log_switch(log, 0);
    mr_log_object(log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x4000, 0, 8);
    for (uint32_t i = 1; i < THREADS; i++) {
        mr_log_object(log, MR_LOG_FORK, 0, 0, 0x4000, 0, i);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t at = steps[i].number == 2 ? BLOCK : STATIC + 64 * steps[i].number;
        mr_log_switch(log, steps[i].thread);
        if (steps[i].kind == MR_LOG_READ || steps[i].kind == MR_LOG_WRITE)
            mr_log_access(log, steps[i].kind, at, 8, 0x1000 + i, 5);
        else if (steps[i].kind == MR_LOG_TAKEN)
            mr_log_object(log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, at, 0x1000 + i, 0, 8);
        else
            mr_log_object(log, steps[i].kind, steps[i].role, 0x9000, 0x4000, 1, steps[i].number);
    }
}

/* How many plain accesses are left out. */
static uint64_t compare_steps(const step *steps, size_t count, mr_relation relation)
{
    mr_log_build log = {0};
    mr_left_out_counts in_rf = {0}, counts = {0};
    put(&log, steps, count);
    mr_left_out_compare(&log, MR_BY_RF, 0, 0, &in_rf);
    mr_left_out_compare(&log, MR_BY_VALUE, UINT32_C(1) << relation, 0, &counts);
    mr_log_build_free(&log);
    return counts.plain_left_out;
}

enum { MUTEX = MR_LOG_ROLE_MUTEX, WAKE = MR_LOG_ROLE_WAKE };

/* Accesses in sections of two threads: wcp orders what comes after the second one behind the first section,
 * also behind what that has after the unit. */
static void test_sections(void **state)
{
    (void)state;
    const step steps[] = {
        {1, MR_LOG_ACQUIRE, MUTEX, 0}, {1, MR_LOG_WRITE, 0, 0},       {1, MR_LOG_POST, WAKE, 1},
        {1, MR_LOG_WRITE, 0, 1},       {1, MR_LOG_RELEASE, MUTEX, 0}, {2, MR_LOG_WAIT, WAKE, 1},
        {2, MR_LOG_ACQUIRE, MUTEX, 0}, {2, MR_LOG_READ, 0, 0},        {2, MR_LOG_RELEASE, MUTEX, 0},
        {2, MR_LOG_WRITE, 0, 1},
    };
    assert_int_equal(compare_steps(steps, sizeof steps / sizeof *steps, MR_RELATION_WCP), 0);
    /* The same, with a write of a third thread between that is in order with both. */
    const step others[] = {
        {1, MR_LOG_ACQUIRE, MUTEX, 0}, {1, MR_LOG_WRITE, 0, 0},       {1, MR_LOG_POST, WAKE, 1},
        {1, MR_LOG_WRITE, 0, 1},       {1, MR_LOG_RELEASE, MUTEX, 0}, {3, MR_LOG_WAIT, WAKE, 1},
        {3, MR_LOG_WRITE, 0, 0},       {3, MR_LOG_POST, WAKE, 2},     {2, MR_LOG_WAIT, WAKE, 2},
        {2, MR_LOG_ACQUIRE, MUTEX, 0}, {2, MR_LOG_READ, 0, 0},        {2, MR_LOG_RELEASE, MUTEX, 0},
        {2, MR_LOG_WRITE, 0, 1},
    };
    assert_int_equal(compare_steps(others, sizeof others / sizeof *others, MR_RELATION_WCP), 0);
}

/* The same, and the second section releases the block that the first one accesses. */
static void test_release(void **state)
{
    (void)state;
    const step steps[] = {
        {1, MR_LOG_ACQUIRE, MUTEX, 0}, {1, MR_LOG_WRITE, 0, 2},       {1, MR_LOG_POST, WAKE, 1},
        {1, MR_LOG_WRITE, 0, 1},       {1, MR_LOG_RELEASE, MUTEX, 0}, {2, MR_LOG_WAIT, WAKE, 1},
        {2, MR_LOG_ACQUIRE, MUTEX, 0}, {2, MR_LOG_TAKEN, 0, 2},       {2, MR_LOG_RELEASE, MUTEX, 0},
        {2, MR_LOG_WRITE, 0, 1},
    };
    compare_steps(steps, sizeof steps / sizeof *steps, MR_RELATION_WCP);
}

/* A unit that one of two threads gave may come from the other one; a unit of which there is one must not. */
static void test_units(void **state)
{
    (void)state;
    const step steps[] = {
        {1, MR_LOG_WRITE, 0, 0}, {1, MR_LOG_POST, WAKE, 1}, {2, MR_LOG_WAIT, WAKE, 1},
        {2, MR_LOG_READ, 0, 0},  {3, MR_LOG_POST, WAKE, 1}, {2, MR_LOG_WAIT, WAKE, 1},
    };
    assert_int_equal(compare_steps(steps, 4, MR_RELATION_SHB), 2);
    assert_int_equal(compare_steps(steps, sizeof steps / sizeof *steps, MR_RELATION_SHB), 0);
    const step before[] = {
        {3, MR_LOG_POST, WAKE, 1}, {1, MR_LOG_WRITE, 0, 0},   {1, MR_LOG_POST, WAKE, 1},
        {2, MR_LOG_WAIT, WAKE, 1}, {2, MR_LOG_WAIT, WAKE, 1}, {2, MR_LOG_READ, 0, 0},
    };
    assert_int_equal(compare_steps(before, sizeof before / sizeof *before, MR_RELATION_SHB), 0);
}

/* The trace has no events of a thread after its end: what it waits for then orders nothing. */
static void test_ended(void **state)
{
    (void)state;
    const step units[] = {
        {1, MR_LOG_WRITE, 0, 0},   {1, MR_LOG_POST, WAKE, 1}, {2, MR_LOG_END, 0, 0},
        {2, MR_LOG_WAIT, WAKE, 1}, {3, MR_LOG_JOIN, 0, 2},    {3, MR_LOG_WRITE, 0, 0},
    };
    assert_int_equal(compare_steps(units, sizeof units / sizeof *units, MR_RELATION_SHB), 0);
    const step joins[] = {
        {1, MR_LOG_WRITE, 0, 0}, {1, MR_LOG_END, 0, 0},  {2, MR_LOG_END, 0, 0},
        {2, MR_LOG_JOIN, 0, 1},  {3, MR_LOG_JOIN, 0, 2}, {3, MR_LOG_WRITE, 0, 0},
    };
    assert_int_equal(compare_steps(joins, sizeof joins / sizeof *joins, MR_RELATION_SHB), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_sections),
        cmocka_unit_test(test_release), cmocka_unit_test(test_units), cmocka_unit_test(test_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
