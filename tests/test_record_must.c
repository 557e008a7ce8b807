/* Random logs: what is left out because every reordering keeps its order (record/ordered.h, `must`) changes no
 * pair of places, by model or by order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/length.h"
#include "support/log_build.h"
#include "support/place_pairs.h"
#include "support/random.h"

#include "engine/predict.h"
#include "order/detect/detect.h"
#include "runtime/log.h"

#include <inttypes.h>
#include <string.h>

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

/* The pairs of places of races and of uses after free. */
static void predicted(const mr_trace *trace, const char *model, mr_pairs *pairs)
{
    mr_config *config = mr_config_new();
    mr_result result = {0};
    mr_error error;
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "candidates.report", "static", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "find", "races,memory", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "model", model, NULL, 0, &error), MR_OK);
    mr_config_resolve(config);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count + result.finding_unknown_count, 0);
    for (size_t i = 0; i < result.race_count; i++)
        mr_place_pairs_add(pairs, trace, result.races[i].witness.first,
                           result.races[i].witness.second);
    for (size_t i = 0; i < result.finding_count; i++)
        mr_place_pairs_add(pairs, trace, result.findings[i].witness.first,
                           result.findings[i].witness.second);
    mr_result_free(&result);
    mr_config_free(config);
}

static void ordered(const mr_trace *trace, mr_relation relation, mr_pairs *pairs)
{
    mr_race_list list;
    mr_error error;
    assert_int_equal(mr_detect(relation, trace, &(mr_detect_options){0}, &list, &error), MR_OK);
    for (size_t i = 0; i < list.race_count; i++) {
        const mr_race_example *example = &list.examples[list.races[i].first_example];
        mr_place_pairs_add(pairs, trace, (uint32_t)example->first.event,
                           (uint32_t)example->second.event);
    }
    mr_race_list_free(&list);
}

/* By the model, or by the order behind the models. */
static void compare(const mr_trace *part, const mr_trace *all, uint32_t by, uint64_t seed,
                    uint64_t *races)
{
    static const char *const models[] = {"rf", "value"};
    enum { MODELS = sizeof models / sizeof *models };
    mr_pairs some = {0}, every = {0};
    char leaves[32], adds[32];
    snprintf(leaves, sizeof leaves, "by %" PRIu32 " leaves out", by);
    snprintf(adds, sizeof adds, "by %" PRIu32 " adds", by);
    if (by < MODELS) {
        predicted(part, models[by], &some);
        predicted(all, models[by], &every);
    } else {
        ordered(part, (mr_relation)(by - MODELS), &some);
        ordered(all, (mr_relation)(by - MODELS), &every);
    }
    mr_place_pairs_expect(&some, &every, seed, leaves);
    mr_place_pairs_expect(&every, &some, seed, adds);
    *races += every.count;
    mr_pairs_free(&some);
    mr_pairs_free(&every);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t races = 0, left_out = 0, kept = 0, count = mr_length("RECORD_MUST_LOGS", 60, 1000);
    uint64_t first = mr_number_from_environment("RECORD_MUST_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program self;
        mr_record_summary summary;
        run_program(&self, seed, 70);
        mr_trace *part = mr_log_converted(&self.log, false, &summary);
        mr_trace *all = mr_log_converted(&self.log, true, &summary);
        compare(part, all, (uint32_t)(seed % 2), seed, &races);
        for (uint32_t relation = 0; relation < MR_RELATION_COUNT; relation++)
            if (relation != MR_RELATION_FHB || seed % 3 != 0)
                compare(part, all, 2 + relation, seed, &races);
        left_out += all->event_count - part->event_count;
        kept += part->event_count;
        mr_trace_free(part);
        mr_trace_free(all);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d events left out, %d not\n", (int)races, (int)left_out, (int)kept);
    assert_true(races > count && left_out > count);
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

static uint64_t plain_of(const mr_trace *trace)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        count += trace->op[i] == MR_OP_READ || trace->op[i] == MR_OP_WRITE;
    return count;
}

/* How many plain accesses are left out. */
static uint64_t compare_steps(const step *steps, size_t count, mr_relation relation)
{
    mr_log_build log = {0};
    mr_record_summary summary;
    uint64_t races = 0;
    put(&log, steps, count);
    mr_trace *part = mr_log_converted(&log, false, &summary);
    mr_trace *all = mr_log_converted(&log, true, &summary);
    for (uint32_t model = 0; model < 2; model++)
        compare(part, all, model, 0, &races);
    compare(part, all, 2 + (uint32_t)relation, 0, &races);
    uint64_t left_out = plain_of(all) - plain_of(part);
    mr_trace_free(part);
    mr_trace_free(all);
    mr_log_build_free(&log);
    return left_out;
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
