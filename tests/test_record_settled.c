/* Random logs: reads of settled pieces that have no event (record/settled.h) change no pair of places, in no
 * model and in no order. */
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
#include <stdlib.h>
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

static void object(program *self, unsigned kind, unsigned role, uint64_t address)
{
    mr_log_object(&self->log, kind, role, address, 0x4000 + kind, 0, 0);
}

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
        object(self, MR_LOG_RELEASE, MR_LOG_ROLE_RWLOCK, address);
    } else if (self->reads_of[lock][thread]) {
        self->reads_of[lock][thread] = false;
        object(self, MR_LOG_SHARED_RELEASE, MR_LOG_ROLE_RWLOCK, address);
    } else if (is_free(self, lock) && mr_random_percent(&self->random, 50)) {
        self->holder[lock] = thread + 1;
        object(self, MR_LOG_ACQUIRE, MR_LOG_ROLE_RWLOCK, address);
    } else if (!self->holder[lock]) {
        self->reads_of[lock][thread] = true;
        object(self, MR_LOG_SHARED_ACQUIRE, MR_LOG_ROLE_RWLOCK, address);
    }
}

static void run_message(program *self)
{
    if (mr_random_percent(&self->random, 50)) {
        self->units++;
        object(self, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, 0xa000);
    } else if (self->units) {
        self->units--;
        object(self, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, 0xa000);
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
            run_message(self);
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
    static const char *const models[] = {"rf", "value", "branch"};
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

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_settled(void **state)
{
    (void)state;
    uint64_t races = 0, left_out = 0, count = mr_length("RECORD_SETTLED_LOGS", 60, 1000);
    uint64_t first = number("RECORD_SETTLED_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program self;
        mr_record_summary summary;
        run_program(&self, seed, 60);
        mr_trace *part = mr_log_converted(&self.log, false, &summary);
        mr_trace *all = mr_log_converted(&self.log, true, &summary);
        compare(part, all, (uint32_t)(seed % 3), seed, &races);
        for (uint32_t relation = 0; relation < MR_RELATION_COUNT; relation++)
            if (relation != MR_RELATION_FHB || !releases(seed))
                compare(part, all, 3 + relation, seed, &races);
        left_out += all->event_count - part->event_count;
        mr_trace_free(part);
        mr_trace_free(all);
        mr_log_build_free(&self.log);
    }
    assert_true(races > count && left_out > count);
}

/* Thread 1 writes while it holds M, and needs a unit of thread 2, which takes N for it. Thread 0 has had M
 * while it holds N. So its first read cannot be next beside the write; the second one can, in model branch,
 * when N is free in between, or a unit comes. */
static void test_second_read(void **state)
{
    (void)state;
    enum { M = 0x9000, N = 0x9040, S = 0xa000, ASKED = 0xa040, MUTEX = MR_LOG_ROLE_MUTEX };
    for (int posts = 0; posts < 2; posts++) {
        program self = {.given = false};
        mr_record_summary summary;
        uint64_t races = 0;
        mr_log_switch(&self.log, 1);
        object(&self, MR_LOG_ACQUIRE, MUTEX, M);
        object(&self, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, ASKED);
        mr_log_switch(&self.log, 2);
        object(&self, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, ASKED);
        object(&self, MR_LOG_ACQUIRE, MUTEX, N);
        object(&self, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, S);
        object(&self, MR_LOG_RELEASE, MUTEX, N);
        mr_log_switch(&self.log, 1);
        object(&self, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, S);
        mr_log_access(&self.log, MR_LOG_WRITE, STATIC, 8, 0x1000, 5);
        object(&self, MR_LOG_RELEASE, MUTEX, M);
        mr_log_switch(&self.log, 0);
        object(&self, MR_LOG_ACQUIRE, MUTEX, N);
        object(&self, MR_LOG_ACQUIRE, MUTEX, M);
        object(&self, MR_LOG_RELEASE, MUTEX, M);
        mr_log_access(&self.log, MR_LOG_READ, STATIC, 8, 0x1100, 5);
        if (posts) {
            object(&self, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, S);
        } else {
            object(&self, MR_LOG_RELEASE, MUTEX, N);
            object(&self, MR_LOG_ACQUIRE, MUTEX, N);
        }
        mr_log_access(&self.log, MR_LOG_READ, STATIC, 8, 0x1100, 5);
        object(&self, MR_LOG_RELEASE, MUTEX, N);
        if (posts) /* a post that nobody waits for has no event */
            object(&self, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, S);
        mr_trace *part = mr_log_converted(&self.log, false, &summary);
        mr_trace *all = mr_log_converted(&self.log, true, &summary);
        compare(part, all, 2, (uint64_t)posts, &races);
        assert_int_equal(races, 1);
        mr_trace_free(part);
        mr_trace_free(all);
        mr_log_build_free(&self.log);
    }
}

/* A step of a log: a lock or an access of the cell of that number, by the thread. */
typedef struct step {
    uint32_t thread;
    unsigned kind, number;
    uint64_t code;
} step;

static void compare_steps(const step *steps, size_t count, mr_relation relation)
{
    program self = {.given = false};
    mr_record_summary summary;
    uint64_t races = 0;
    for (size_t i = 0; i < count; i++) {
        mr_log_switch(&self.log, steps[i].thread);
        if (steps[i].kind == MR_LOG_READ || steps[i].kind == MR_LOG_WRITE)
            mr_log_access(&self.log, steps[i].kind, STATIC + 64 * (uint64_t)steps[i].number, 8,
                          steps[i].code, 5);
        else
            object(&self, steps[i].kind, MR_LOG_ROLE_RWLOCK, 0x9000 + 64 * steps[i].number);
    }
    mr_trace *part = mr_log_converted(&self.log, false, &summary);
    mr_trace *all = mr_log_converted(&self.log, true, &summary);
    compare(part, all, 3 + (uint32_t)relation, 0, &races);
    mr_trace_free(part);
    mr_trace_free(all);
    mr_log_build_free(&self.log);
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
    compare_steps(steps + 2, count - 2, MR_RELATION_HYBRID);
    /* The empty section stands before the first read. */
    memcpy(other, steps + 2, 5 * sizeof *steps);
    memcpy(other + 5, steps, 2 * sizeof *steps);
    memcpy(other + 7, steps + 7, 4 * sizeof *steps);
    compare_steps(other, count, MR_RELATION_HYBRID);
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
    compare_steps(steps, sizeof steps / sizeof *steps, MR_RELATION_WCP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settled), cmocka_unit_test(test_second_read),
        cmocka_unit_test(test_outer_lock), cmocka_unit_test(test_shared_lock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
