/* Random logs: reads of settled pieces that have no event (record/settled.h) change no pair of places, in no
 * model and in no order. */
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

typedef struct program {
    mr_random random;
    mr_log_build log;
    int64_t values[CELLS];
    uint32_t writes;
    uint32_t holder[LOCKS];        /* plus 1 */
    bool reads_of[LOCKS][THREADS]; /* shared holders */
    uint32_t units;
    bool given, divides;
} program;

static bool is_free(const program *self, uint32_t lock)
{
    bool is_free = !self->holder[lock];
    for (uint32_t i = 0; i < THREADS; i++)
        is_free = is_free && !self->reads_of[lock][i];
    return is_free;
}

static void run_lock(program *self, uint32_t thread)
{
    uint32_t lock = mr_random_below(&self->random, LOCKS);
    uint64_t address = 0x9000 + 64 * (uint64_t)lock;
    if (self->holder[lock] == thread + 1) {
        self->holder[lock] = 0;
        mr_log_use(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_RWLOCK, address);
    } else if (self->reads_of[lock][thread]) {
        self->reads_of[lock][thread] = false;
        mr_log_use(&self->log, MR_LOG_SHARED_RELEASE, MR_LOG_ROLE_RWLOCK, address);
    } else if (is_free(self, lock) && mr_random_percent(&self->random, 50)) {
        self->holder[lock] = thread + 1;
        mr_log_use(&self->log, MR_LOG_ACQUIRE, MR_LOG_ROLE_RWLOCK, address);
    } else if (!self->holder[lock]) {
        self->reads_of[lock][thread] = true;
        mr_log_use(&self->log, MR_LOG_SHARED_ACQUIRE, MR_LOG_ROLE_RWLOCK, address);
    }
}

/* Another block, whose begin others need. */
static void run_block(program *self)
{
    if (self->given && mr_random_percent(&self->random, 80)) {
        mr_log_access(&self->log, MR_LOG_READ, OTHER, 4, 0x3000, 0);
        return;
    }
    self->given = !self->given;
    mr_log_object(&self->log, self->given ? MR_LOG_GIVEN : MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, OTHER,
                  0x2000, 0, 32);
}

/* Cells with an even number are in static memory, the others in a block. */
static void run_cell(program *self, uint32_t cell, bool writes, uint64_t code)
{
    uint64_t at = (cell % 2 ? BLOCK : STATIC) + 8 * (uint64_t)cell;
    bool fresh = mr_random_percent(&self->random, 90);
    uint32_t form = mr_random_below(&self->random, 10);
    if (writes)
        self->values[cell] = fresh ? (2 + self->writes++) * ((INT64_C(1) << 32) + 1)
                                   : mr_random_below(&self->random, 2);
    /* Some accesses divide a cell. It has no atomic ones, which then have locks of their own. */
    bool divided = self->divides && cell >= CELLS - 2;
    if (divided && form == 0 && !writes)
        mr_log_access(&self->log, MR_LOG_READ, at + 4, 4, code, self->values[cell] >> 32);
    else if (form == 0 && !writes)
        mr_log_access(&self->log, MR_LOG_ATOMIC_READ, at, 8, code, self->values[cell]);
    else if (form == 1)
        mr_log_range(&self->log, writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ, at, code,
                     &self->values[cell], 8);
    else
        mr_log_access(&self->log, writes ? MR_LOG_WRITE : MR_LOG_READ, at, 8, code,
                      self->values[cell]);
}

/* Is the block released? Then fhb has fewer races (record/settled.h). */
static bool releases(uint64_t seed)
{
    return seed / 3 % 3 == 0;
}

static void run_program(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed}, .divides = seed % 2};
    mr_random *random = &self->random;
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x2100, 0, 64);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS), what = mr_random_below(random, 24);
        uint32_t cell = mr_random_below(random, CELLS);
        uint32_t writer = mr_random_percent(random, 95) ? cell % THREADS : thread;
        bool writes = what < 12 && mr_random_percent(random, i < steps / 2 ? 70 : 5);
        mr_log_switch(&self->log, writes ? writer : thread);
        if (writes)
            run_cell(self, cell, true, 0x1000 + cell);
        else if (what < 6)
            run_lock(self, thread);
        else if (what == 6)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        else if (what == 7)
            run_block(self);
        else
            run_cell(self, cell, false, 0x1100 + mr_random_below(random, 2));
    }
    if (releases(seed)) {
        mr_log_switch(&self->log, mr_random_below(random, THREADS));
        mr_log_object(&self->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x3100, 0, 64);
    }
}

/* The logs that `run` makes, compared by one of `models` models and by all orders. */
static void compare_random(void (*run)(program *self, uint64_t seed, uint32_t steps),
                           uint32_t steps, uint32_t models)
{
    mr_left_out_counts counts = {0};
    uint64_t count = mr_length("RECORD_SETTLED_LOGS", 60, 500);
    uint64_t first = mr_number_from_environment("RECORD_SETTLED_SEED", 1);
    const uint32_t fhb = UINT32_C(1) << MR_RELATION_FHB;
    for (uint64_t seed = first; seed < first + count; seed++) {
        program self;
        run(&self, seed, steps);
        mr_left_out_compare(&self.log, (enum mr_left_out_by)(seed % models),
                            releases(seed) ? ~fhb : UINT32_MAX, seed, &counts);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d events left out\n", (int)counts.races, (int)counts.left_out);
    assert_true(counts.races > count && counts.left_out > count);
}

static void test_settled(void **state)
{
    (void)state;
    compare_random(run_program, 60, 2);
}

/* Each cell is written by one thread, mostly with the lock of the cell, and mostly with one value. */
static void run_guarded(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed}};
    mr_random *random = &self->random;
    uint32_t careless = seed % 4 ? 0 : 4, fresh = seed % 3 ? 0 : 30;
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x2100, 0, 64);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS), what = mr_random_below(random, 20);
        uint32_t cell = mr_random_below(random, CELLS), lock = cell % LOCKS;
        bool writes = mr_random_percent(random, i < steps / 2 ? 50 : 2);
        bool cares = !mr_random_percent(random, careless);
        thread = writes ? cell % THREADS : thread;
        mr_log_switch(&self->log, thread);
        if (what < 5)
            run_lock(self, thread);
        else if (what == 5)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        else if (what == 6)
            run_block(self);
        if (what < 7 || (cares && self->holder[lock] != thread + 1 &&
                         (writes || !self->reads_of[lock][thread])))
            continue;
        uint64_t code = writes ? 0x1000 + cell : 0x1100 + mr_random_below(random, 2);
        if (writes && mr_random_percent(random, fresh))
            self->values[cell] = mr_random_below(random, 3);
        mr_log_access(&self->log, writes ? MR_LOG_WRITE : MR_LOG_READ,
                      (cell % 2 ? BLOCK : STATIC) + 8 * (uint64_t)cell, 8, code,
                      self->values[cell]);
    }
    if (releases(seed)) {
        mr_log_switch(&self->log, mr_random_below(random, THREADS));
        mr_log_object(&self->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x3100, 0, 64);
    }
}

static void test_guarded(void **state)
{
    (void)state;
    compare_random(run_guarded, 160, 2);
}

/* Is it the first time that the thread accesses the cell since the last write? Notes it. */
static bool comes_first(bool (*seen)[THREADS], uint32_t cell, uint32_t thread, bool writes)
{
    bool first = !seen[cell][thread];
    for (uint32_t i = 0; writes && i < THREADS; i++)
        seen[cell][i] = false;
    seen[cell][thread] = true;
    return first;
}

/* All threads write each cell, mostly after they have read what is there. In some logs the others are joined and
 * started again. */
static void run_rows(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed}};
    mr_random *random = &self->random;
    bool seen[CELLS][THREADS] = {{false}}, joins = seed % 2;
    uint32_t careless = seed % 4 < 2 ? 5 : 40, started = THREADS;
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x2100, 0, 64);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS), what = mr_random_below(random, 16);
        uint32_t cell = mr_random_below(random, CELLS), number = thread;
        bool writes = mr_random_percent(random, i % (steps / 2) < steps / 4 ? 40 : 5);
        bool holds = self->holder[0] || self->holder[1];
        for (uint32_t lock = 0; lock < LOCKS; lock++)
            for (uint32_t other = 0; other < THREADS; other++)
                holds = holds || self->reads_of[lock][other];
        if (joins && (started == THREADS || (mr_random_percent(random, 5) && !holds))) {
            mr_log_switch(&self->log, 0);
            for (uint32_t other = 1; other < THREADS && started > THREADS; other++)
                mr_log_object(&self->log, MR_LOG_JOIN, 0, 0, 0x5000, 0, started - other);
            for (uint32_t other = 1; other < THREADS; other++)
                mr_log_object(&self->log, MR_LOG_FORK, 0, 0, 0x5001, 0, started++);
        }
        if (joins && thread)
            number = started - thread;
        mr_log_switch(&self->log, number);
        if (what < 3)
            run_lock(self, thread);
        else if (what == 3)
            mr_log_message(&self->log, mr_random_percent(&self->random, 50), &self->units);
        if (what < 4)
            continue;
        if (writes && comes_first(seen, cell, thread, true) && !mr_random_percent(random, careless))
            run_cell(self, cell, false, 0x1100);
        comes_first(seen, cell, thread, writes);
        run_cell(self, cell, writes, writes ? 0x1000 + cell : 0x1101);
    }
}

static void test_rows(void **state)
{
    (void)state;
    compare_random(run_rows, 60, 2);
}

/* A step of a log: a lock, a semaphore or an access of the cell of that number, by the thread. */
typedef struct step {
    uint32_t thread;
    unsigned kind, number;
    uint64_t code; /* its place, and from bit 20 on the value; 0: 5 */
} step;

/* By the model value, and by the orders whose bits are set. Cell 8 is a block of its own. */
static void compare_steps(const step *steps, size_t count, uint32_t orders)
{
    program self = {.given = false};
    mr_left_out_counts counts = {0};
    mr_log_switch(&self.log, 0);
    mr_log_object(&self.log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BLOCK, 0x2100, 0, 8);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = steps[i].number == 8 ? BLOCK : STATIC + 64 * (uint64_t)steps[i].number;
        mr_log_switch(&self.log, steps[i].thread);
        if (steps[i].kind == MR_LOG_READ || steps[i].kind == MR_LOG_WRITE)
            mr_log_access(&self.log, steps[i].kind, at, 8, steps[i].code & 0xfffff,
                          steps[i].code >> 20 ? (int64_t)(steps[i].code >> 20) : 5);
        else if (steps[i].kind == MR_LOG_FORK || steps[i].kind == MR_LOG_JOIN)
            mr_log_object(&self.log, steps[i].kind, 0, 0, steps[i].code, 0, steps[i].number);
        else if (steps[i].kind == MR_LOG_TAKEN)
            mr_log_object(&self.log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, at, steps[i].code, 0, 8);
        else if (steps[i].kind == MR_LOG_POST || steps[i].kind == MR_LOG_WAIT)
            mr_log_use(&self.log, steps[i].kind, MR_LOG_ROLE_SEMAPHORE,
                       0xa000 + 64 * steps[i].number);
        else
            mr_log_use(&self.log, steps[i].kind, MR_LOG_ROLE_RWLOCK, 0x9000 + 64 * steps[i].number);
    }
    mr_left_out_compare(&self.log, MR_BY_VALUE, orders, 0, &counts);
    mr_log_build_free(&self.log);
}

/* Guarded reads of which the second one is needed: the first one may see an earlier write of its value; not all
 * writes hold the lock, or not alone; another thread releases the memory. */
static void test_guarded_needed(void **state)
{
    (void)state;
    enum { ACQ = MR_LOG_ACQUIRE, REL = MR_LOG_RELEASE, W = MR_LOG_WRITE };
    enum { R = MR_LOG_READ, POST = MR_LOG_POST, WAIT = MR_LOG_WAIT };
    const step values[] = {
        {1, ACQ, 0, 0},
        {1, W, 0, 1 << 20 | 0x1000},
        {1, REL, 0, 0},
        {1, ACQ, 0, 0},
        {1, W, 0, 2 << 20 | 0x1001},
        {1, REL, 0, 0},
        {1, W, 1, 0x1002},
        {1, W, 2, 0x1003},
        {1, ACQ, 0, 0},
        {1, W, 0, 1 << 20 | 0x1004},
        {1, REL, 0, 0},
        {2, ACQ, 0, 0},
        {2, R, 0, 1 << 20 | 0x1100},
        {2, REL, 0, 0},
        {2, R, 1, 0x1101},
        {2, ACQ, 0, 0},
        {2, R, 0, 1 << 20 | 0x1100},
        {2, REL, 0, 0},
        {2, W, 2, 0x1102},
    };
    compare_steps(values, sizeof values / sizeof *values, 0);
    /* The first write has no lock that the reads have. */
    step writes[] = {
        {1, ACQ, 0, 0},  {1, W, 0, 0x1000}, {1, REL, 0, 0},    {1, ACQ, 1, 0},    {1, POST, 0, 0},
        {2, WAIT, 0, 0}, {2, ACQ, 2, 0},    {2, POST, 1, 0},   {2, REL, 2, 0},    {1, WAIT, 1, 0},
        {1, ACQ, 3, 0},  {1, W, 0, 0x1001}, {1, REL, 3, 0},    {1, REL, 1, 0},    {0, ACQ, 2, 0},
        {0, ACQ, 1, 0},  {0, REL, 1, 0},    {0, ACQ, 0, 0},    {0, R, 0, 0x1100}, {0, REL, 0, 0},
        {0, POST, 1, 0}, {0, ACQ, 0, 0},    {0, R, 0, 0x1100}, {0, REL, 0, 0},    {0, REL, 2, 0},
        {0, WAIT, 1, 0},
    };
    size_t count = sizeof writes / sizeof *writes;
    compare_steps(writes, count, 0);
    for (size_t i = 10; i < count; i++) {
        bool changes = i == 10 || i == 12 || writes[i].number == 0;
        if (changes && writes[i].kind == ACQ)
            writes[i] = (step){writes[i].thread, MR_LOG_SHARED_ACQUIRE, 0, 0};
        else if (changes && writes[i].kind == REL)
            writes[i] = (step){writes[i].thread, MR_LOG_SHARED_RELEASE, 0, 0};
    }
    compare_steps(writes, count, 0);
    const step release[] = {
        {1, ACQ, 0, 0},    {1, W, 8, 0x1000}, {1, REL, 0, 0},  {2, ACQ, 0, 0},
        {2, R, 8, 0x1100}, {2, REL, 0, 0},    {2, POST, 0, 0}, {2, ACQ, 0, 0},
        {2, R, 8, 0x1100}, {2, REL, 0, 0},    {1, WAIT, 0, 0}, {1, MR_LOG_TAKEN, 8, 0x1001},
    };
    compare_steps(release, sizeof release / sizeof *release, 0);
}

/* Writes of two threads that come in either order: the second one has not read what the first one left, or reads
 * what may be the value before, or has read before the first one; that a thread is joined in between changes nothing.
 * The first write is made while its thread holds M (lock 1), and needs a unit that is posted while N (lock 2) is
 * held. Thread 0 has had M while it holds N. So its first read cannot be next beside that write; the second one
 * can, after N was free. */
static void test_rows_needed(void **state)
{
    (void)state;
    enum { ACQ = MR_LOG_ACQUIRE, REL = MR_LOG_RELEASE, W = MR_LOG_WRITE };
    enum { R = MR_LOG_READ, POST = MR_LOG_POST, WAIT = MR_LOG_WAIT };
    enum { FORK = MR_LOG_FORK, JOIN = MR_LOG_JOIN, SIX = 6 << 20, SEVEN = 7 << 20 };
    const step forks[] = {
        {0, FORK, 1, 0x5000}, {0, FORK, 2, 0x5001}, {0, FORK, 3, 0x5002}, {0, FORK, 4, 0x5003}};
    const step before[][2] = {
        {{4, W, 1, 0x2000}, {4, W, 1, 0x2000}},
        {{1, W, 0, SEVEN | 0x1002}, {4, W, 1, 0x2000}},
        {{1, W, 0, SIX | 0x1002}, {3, R, 0, SIX | 0x1101}},
        {{4, W, 1, 0x2000}, {4, W, 1, 0x2000}},
    };
    const step between[] = {
        {4, W, 1, 0x2000}, {3, R, 0, SEVEN | 0x1101}, {4, W, 1, 0x2000}, {0, JOIN, 4, 0x5004}};
    const step steps[] = {
        {1, ACQ, 1, 0},    {1, POST, 0, 0},
        {2, WAIT, 0, 0},   {2, ACQ, 2, 0},
        {2, POST, 1, 0},   {2, REL, 2, 0},
        {1, WAIT, 1, 0},   {1, W, 0, SEVEN | 0x1000},
        {1, REL, 1, 0},    {4, W, 1, 0x2000} /* one of `between` */,
        {3, W, 0, 0x1001}, {0, ACQ, 2, 0},
        {0, ACQ, 1, 0},    {0, REL, 1, 0},
        {0, R, 0, 0x1100}, {0, REL, 2, 0},
        {0, ACQ, 2, 0},    {0, R, 0, 0x1100},
        {0, REL, 2, 0},
    };
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        step all[6 + sizeof steps / sizeof *steps];
        memcpy(all, forks, sizeof forks);
        memcpy(all + 4, before[i], sizeof before[i]);
        memcpy(all + 6, steps, sizeof steps);
        all[6 + 9] = between[i];
        compare_steps(all, sizeof all / sizeof *all, 0);
    }
}

/* The second read is in a section that goes on without the other lock, with a clean row of sections and without. */
static void test_outer_lock(void **state)
{
    (void)state;
    static const step steps[] = {
        {0, MR_LOG_ACQUIRE, 2, 0},    {0, MR_LOG_RELEASE, 2, 0},   {1, MR_LOG_ACQUIRE, 0, 0},
        {1, MR_LOG_WRITE, 0, 0x1000}, {1, MR_LOG_RELEASE, 0, 0},   {0, MR_LOG_ACQUIRE, 0, 0},
        {0, MR_LOG_ACQUIRE, 1, 0},    {0, MR_LOG_READ, 0, 0x1100}, {0, MR_LOG_RELEASE, 0, 0},
        {0, MR_LOG_READ, 0, 0x1100},  {0, MR_LOG_RELEASE, 1, 0},
    };
    step other[sizeof steps / sizeof *steps];
    size_t count = sizeof steps / sizeof *steps;
    compare_steps(steps + 2, count - 2, UINT32_C(1) << MR_RELATION_HYBRID);
    /* The empty section stands before the first read. */
    memcpy(other, steps + 2, 5 * sizeof *steps);
    memcpy(other + 5, steps, 2 * sizeof *steps);
    memcpy(other + 7, steps + 7, 4 * sizeof *steps);
    compare_steps(other, count, UINT32_C(1) << MR_RELATION_HYBRID);
}

/* The second read is in an exclusive section, which wcp orders behind the shared one of the write. */
static void test_shared_lock(void **state)
{
    (void)state;
    static const step steps[] = {
        {1, MR_LOG_SHARED_ACQUIRE, 0, 0}, {1, MR_LOG_WRITE, 0, 0x1000},
        {1, MR_LOG_WRITE, 1, 0x1200},     {1, MR_LOG_SHARED_RELEASE, 0, 0},
        {0, MR_LOG_SHARED_ACQUIRE, 0, 0}, {0, MR_LOG_READ, 0, 0x1100},
        {0, MR_LOG_SHARED_RELEASE, 0, 0}, {0, MR_LOG_ACQUIRE, 0, 0},
        {0, MR_LOG_READ, 0, 0x1100},      {0, MR_LOG_RELEASE, 0, 0},
        {0, MR_LOG_WRITE, 1, 0x1300},
    };
    compare_steps(steps, sizeof steps / sizeof *steps, UINT32_C(1) << MR_RELATION_WCP);
}

/* The second read holds a lock more, as the write does: wcp orders all of the write's section before what is posted
 * behind that read. */
static void test_guarded_lock(void **state)
{
    (void)state;
    static const step steps[] = {
        {1, MR_LOG_ACQUIRE, 1, 0}, {1, MR_LOG_ACQUIRE, 0, 0},    {1, MR_LOG_WRITE, 0, 0x1000},
        {1, MR_LOG_RELEASE, 0, 0}, {1, MR_LOG_WRITE, 1, 0x1001}, {1, MR_LOG_RELEASE, 1, 0},
        {2, MR_LOG_ACQUIRE, 0, 0}, {2, MR_LOG_READ, 0, 0x1100},  {2, MR_LOG_RELEASE, 0, 0},
        {2, MR_LOG_ACQUIRE, 1, 0}, {2, MR_LOG_ACQUIRE, 0, 0},    {2, MR_LOG_READ, 0, 0x1100},
        {2, MR_LOG_RELEASE, 0, 0}, {2, MR_LOG_POST, 0, 0},       {2, MR_LOG_RELEASE, 1, 0},
        {0, MR_LOG_WAIT, 0, 0},    {0, MR_LOG_WRITE, 1, 0x1200},
    };
    compare_steps(steps, sizeof steps / sizeof *steps, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settled),        cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_guarded_needed), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_needed),    cmocka_unit_test(test_outer_lock),
        cmocka_unit_test(test_shared_lock),    cmocka_unit_test(test_guarded_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
