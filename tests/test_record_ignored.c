/* Random logs with reads that are ignored (record/ignored.h): each race is one of the same log in which they are recorded, and of those none is
 * lost, but for those of the reads themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/left_out.h"
#include "support/length.h"
#include "support/place_pairs.h"
#include "support/random.h"

#include "runtime/log.h"

#include <string.h>

enum { THREADS = 3, LOCKS = 2, CELLS = 4, STATIC = 0x800, BLOCK = 0x10000, IGNORED = 0x1100 };

typedef struct program {
    mr_random random;
    mr_log_build log;
    bool ignores; /* reads at the place IGNORED, and after it, are marked */
    int64_t values[CELLS];
    uint32_t holder[LOCKS]; /* plus 1 */
    bool given;
} program;

static void run_lock(program *self, uint32_t thread)
{
    uint32_t lock = mr_random_below(&self->random, LOCKS);
    uint64_t address = 0x9000 + 64 * (uint64_t)lock;
    if (self->holder[lock] && self->holder[lock] != thread + 1)
        return;
    mr_log_use(&self->log, self->holder[lock] ? MR_LOG_RELEASE : MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX,
               address);
    self->holder[lock] = self->holder[lock] ? 0 : thread + 1;
}

/* The last access is sequentially consistent. Else there are memory-order races, of which not all are asked for
 * (docs/semantics.md 8). */
static void make_strict(program *self, size_t first)
{
    self->log.words[first] |= UINT64_C(5) << MR_LOG_ORDER_SHIFT << 8;
}

/* A read that the program asked to ignore. */
static void run_ignored(program *self, uint64_t at, uint64_t code, int64_t value, bool as_range)
{
    size_t first = self->log.count;
    if (as_range)
        mr_log_range(&self->log, MR_LOG_RANGE_READ, at, code, &value, 8);
    else
        mr_log_access(&self->log, MR_LOG_READ, at, 8, code, value);
    self->log.words[first] |= self->ignores ? (uint64_t)MR_LOG_IGNORED << 8 : 0;
}

/* Cells with an even number are in static memory, the others in a block that is given and released. */
static void run_cell(program *self)
{
    uint32_t cell = mr_random_below(&self->random, CELLS),
             what = mr_random_below(&self->random, 20);
    uint64_t at = (cell % 2 ? BLOCK : STATIC) + 8 * (uint64_t)cell;
    int64_t old = self->values[cell], value = 1 + mr_random_below(&self->random, 3);
    bool in_block = cell % 2;
    if (in_block && (!self->given || what == 19)) {
        self->given = !self->given;
        mr_log_object(&self->log, self->given ? MR_LOG_GIVEN : MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP,
                      BLOCK, 0x2000 + self->given, 0, 64);
        for (uint32_t i = 1; i < CELLS && self->given; i += 2)
            self->values[i] = 0;
        return;
    }
    size_t start = self->log.count;
    self->values[cell] = what < 8 ? value : old;
    if (what < 5)
        mr_log_access(&self->log, MR_LOG_WRITE, at, 8, 0x1000 + cell, value);
    else if (what == 5)
        mr_log_range(&self->log, MR_LOG_RANGE_WRITE, at, 0x1010, &value, 8);
    else if (what == 6)
        mr_log_access(&self->log, MR_LOG_ATOMIC_WRITE, at, 8, 0x1020, value);
    else if (what == 7)
        mr_log_update(&self->log, at, 8, 0x1021, old, value);
    else if (what < 10)
        mr_log_access(&self->log, MR_LOG_READ, at, 8, 0x1030 + cell, old);
    else if (what == 10)
        mr_log_access(&self->log, MR_LOG_ATOMIC_READ, at, 8, 0x1040, old);
    else
        run_ignored(self, at, IGNORED + what, old, what < 13);
    if (what == 6 || what == 7 || what == 10)
        make_strict(self, start);
}

static void run_program(program *self, uint64_t seed, bool ignores, uint32_t steps)
{
    *self = (program){.random = {seed}, .ignores = ignores};
    mr_random *random = &self->random;
    uint32_t forks = seed % 2 ? steps / 3 : 0; /* the others are there from that step on */
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, THREADS);
        if (i < forks)
            thread = 0;
        for (uint32_t t = 1; t < THREADS && forks && i == forks; t++) {
            mr_log_switch(&self->log, 0);
            mr_log_object(&self->log, MR_LOG_FORK, 0, 0, 0x5000, 0, t);
        }
        mr_log_switch(&self->log, thread);
        if (mr_random_percent(random, 25))
            run_lock(self, thread);
        else
            run_cell(self);
    }
}

/* Takes out the pairs in which a read is that may be ignored. */
static mr_pairs without_ignored(const mr_pairs *pairs)
{
    mr_pairs rest = {.count = 0};
    for (uint32_t i = 0; i < pairs->count; i++) {
        mr_pair pair = pairs->items[i];
        bool is_ignored = (pair.high & 0xff00) == IGNORED || (pair.low & 0xff00) == IGNORED;
        if (!is_ignored)
            assert_int_not_equal(mr_pairs_add(&rest, pair), MR_PAIRS_NONE);
    }
    return rest;
}

/* Returns the number of races. */
static uint64_t compare(const program *ignored, const program *recorded, enum mr_left_out_by model,
                        uint64_t seed)
{
    mr_record_summary summary;
    mr_pairs some = {.count = 0}, every = {.count = 0};
    mr_trace *part = mr_log_converted(&ignored->log, false, &summary);
    assert_int_equal(summary.strange_reads + summary.dropped, 0);
    mr_trace *all = mr_log_converted(&recorded->log, true, &summary);
    mr_left_out_predicted(part, model, &some);
    mr_left_out_predicted(all, model, &every);
    mr_pairs rest = without_ignored(&every);
    mr_place_pairs_expect(&rest, &some, seed, "ignored reads add");
    mr_place_pairs_expect(&some, &rest, seed, "ignored reads lose");
    uint64_t count = rest.count;
    mr_pairs_free(&some);
    mr_pairs_free(&every);
    mr_pairs_free(&rest);
    mr_trace_free(part);
    mr_trace_free(all);
    return count;
}

static void test_ignored(void **state)
{
    (void)state;
    uint64_t count = mr_length("RECORD_IGNORED_LOGS", 200, 3000), races = 0;
    uint64_t first = mr_number_from_environment("RECORD_IGNORED_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program ignored, recorded;
        uint32_t steps = 10 + 10 * (seed % 3);
        run_program(&ignored, seed, true, steps);
        run_program(&recorded, seed, false, steps);
        races += compare(&ignored, &recorded, seed / 6 % 2 ? MR_BY_VALUE : MR_BY_RF, seed);
        mr_log_build_free(&ignored.log);
        mr_log_build_free(&recorded.log);
    }
    print_message("%d races\n", (int)races);
    assert_true(races > count / 2);
}

/* What has no event beside ignored reads changes no pair of places. */
static void test_left_out(void **state)
{
    (void)state;
    mr_left_out_counts counts = {0};
    uint64_t count = mr_length("RECORD_IGNORED_LOGS", 60, 600);
    /* In hybrid, alive alone orders an alloc before a read, and not each read comes with one. */
    const uint32_t others = UINT32_C(1) << MR_RELATION_FHB | UINT32_C(1) << MR_RELATION_HYBRID;
    for (uint64_t seed = 1; seed <= count; seed++) {
        program self;
        run_program(&self, seed, true, 60);
        mr_left_out_compare(&self.log, (enum mr_left_out_by)(seed % 2), ~others, seed, &counts);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d events left out\n", (int)counts.races, (int)counts.left_out);
    assert_true(counts.races > count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ignored),
                                       cmocka_unit_test(test_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
