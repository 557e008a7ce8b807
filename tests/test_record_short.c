/* Random logs of loops: with short records (runtime/log_short.h) a log gives the trace that it gives with
 * long ones of which none follow each other, whatever the passes remember of a run (record/log_reader.h),
 * leave out or jump over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/length.h"
#include "support/log_build.h"
#include "support/random.h"

#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, BASE = 0x1000, OWN_BYTES = 64, BYTES = 192, CODES = 12, LOCK = 0x9000 };

/* Thread t has bytes of its own behind those that all share. */
typedef struct program {
    mr_random random;
    mr_log_build log;
    uint32_t thread, holder; /* of the mutex, plus 1 */
    uint32_t shared;         /* per cent of the accesses that are of shared bytes */
    uint32_t places, first_code, codes;
    bool dead;  /* the shared bytes are freed, and nobody else has got them */
    bool apart; /* a record that says nothing stands behind each access */
    unsigned char memory[BYTES + THREADS * OWN_BYTES];
} program;

/* The code says whether it reads or writes, and how many bytes. */
static void run_access(program *self)
{
    uint32_t code = (self->first_code + mr_random_below(&self->random, self->codes)) % CODES;
    uint32_t bytes = 1u << code % 4;
    bool is_shared = mr_random_percent(&self->random, self->shared);
    uint32_t start = is_shared ? 0 : BYTES + self->thread * OWN_BYTES;
    uint32_t at = start + 4 * mr_random_below(&self->random, self->places) + code / 6,
             shift = 64 - 8 * bytes;
    bool writes = code % 3 == 0;
    uint64_t value = mr_random_below(&self->random, 3);
    if (writes)
        memcpy(self->memory + at, &value, bytes);
    value = 0;
    memcpy(&value, self->memory + at, bytes);
    mr_log_access(&self->log, writes ? MR_LOG_WRITE : MR_LOG_READ, BASE + at, bytes,
                  0x100000 + 16 * (uint64_t)code, (int64_t)(value << shift) >> shift);
    if (self->apart)
        mr_log_object(&self->log, MR_LOG_FORGOTTEN, 0, 1, 0x400000, 0, 0);
}

/* A range of as many bytes as a vector has, or of fewer. */
static void run_range(program *self)
{
    bool is_shared = mr_random_percent(&self->random, self->shared);
    uint32_t start = is_shared ? 0 : BYTES + self->thread * OWN_BYTES;
    uint32_t at = start + 4 * mr_random_below(&self->random, self->places);
    uint32_t bytes = mr_random_percent(&self->random, 80) ? 16 : 12;
    bool writes = mr_random_percent(&self->random, 40);
    if (writes)
        memset(self->memory + at, (int)mr_random_below(&self->random, 3), bytes);
    mr_log_range(&self->log, writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ, BASE + at,
                 0x500000 + writes, self->memory + at, bytes);
    if (self->apart)
        mr_log_object(&self->log, MR_LOG_FORGOTTEN, 0, 1, 0x400000, 0, 0);
}

/* Calls of functions, and their ends. */
static void run_call(program *self)
{
    uint64_t code = 0x200000 + 16 * (uint64_t)mr_random_below(&self->random, 4);
    if (mr_random_percent(&self->random, 55))
        mr_log_enter(&self->log, code + 0x1000, code, BASE, 0);
    else
        mr_log_put(&self->log, mr_log_head(MR_LOG_LEAVE, 0, 1 + mr_random_below(&self->random, 2)));
}

/* The shared bytes are freed, or new ones. */
static void run_block(program *self)
{
    mr_log_build *log = &self->log;
    bool dies = !self->dead && mr_random_percent(&self->random, 50);
    if (self->dead)
        mr_log_object(log, MR_LOG_FORGOTTEN, MR_LOG_MEMORY_HEAP, BASE, 0, 0, 0);
    else
        mr_log_object(log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BASE, 0x300020,
                      dies ? MR_LOG_TAKEN_KEPT : MR_LOG_TAKEN_GONE, BYTES);
    if (!dies)
        mr_log_object(log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BASE, 0x300030, 0, BYTES);
    self->dead = dies;
}

static void run_other(program *self)
{
    uint32_t kind = mr_random_below(&self->random, 5);
    if (kind == 0 && !self->holder) {
        self->holder = self->thread + 1;
        mr_log_object(&self->log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, LOCK, 0x300000, 0, 0);
    } else if (kind == 1 && self->holder == self->thread + 1) {
        self->holder = 0;
        mr_log_object(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, LOCK, 0x300010, 0, 0);
    } else if (kind == 2 && mr_random_percent(&self->random, 40)) {
        run_block(self);
    } else if (kind == 3) {
        mr_log_access(&self->log, MR_LOG_ATOMIC_WRITE,
                      BASE + 8 * (uint64_t)mr_random_below(&self->random, 3), 8, 0x300040, 1);
    } else {
        self->thread = mr_random_below(&self->random, THREADS);
        mr_log_switch(&self->log, self->thread);
    }
}

static void run_program(program *self, uint64_t seed, bool apart)
{
    *self = (program){.random = {seed}, .apart = apart};
    static const uint32_t shares[] = {2, 10, 60};
    self->shared = shares[mr_random_below(&self->random, 3)];
    self->places = 1 + mr_random_below(&self->random, 6);
    self->first_code = mr_random_below(&self->random, CODES);
    self->codes = 1 + mr_random_below(&self->random, CODES);
    uint32_t runs = mr_random_below(&self->random, mr_random_percent(&self->random, 50) ? 60 : 12);
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BASE, 0x300030, 0, BYTES);
    for (uint32_t t = 1; t < THREADS; t++)
        mr_log_object(&self->log, MR_LOG_FORK, 0, 0x400000, 0x400000, 0, t);
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t count = mr_random_below(&self->random, 40);
        for (uint32_t k = 0; k < count; k++)
            if (mr_random_percent(&self->random, 15))
                run_call(self);
            else if (mr_random_percent(&self->random, 10))
                run_range(self);
            else
                run_access(self);
        run_other(self);
    }
}

/* The two logs say the same, the second one in short records where there are such. They give one trace; the second one is read in
 * parts of so many units. Frees both. Returns the bytes of the trace. */
static size_t compare_traces(void *apart, size_t apart_bytes, void *together, size_t together_bytes,
                             mr_record_options options, uint64_t part_units, uint64_t seed)
{
    size_t sizes[2];
    void *wanted = mr_log_trace(apart, apart_bytes, options, &sizes[0]);
    void *shortened = mr_log_shorten(together, &together_bytes);
    assert_non_null(shortened);
    options.part_units = part_units;
    void *found = mr_log_trace(shortened, together_bytes, options, &sizes[1]);
    if (sizes[0] != sizes[1] || memcmp(wanted, found, sizes[0]) != 0)
        fail_msg("seed %llu: the traces differ%s", (unsigned long long)seed,
                 options.leave_ordered ? ", without what is ordered" : "");
    free(wanted);
    free(found);
    free(apart);
    free(together);
    free(shortened);
    return sizes[0];
}

static void test_short(void **state)
{
    (void)state;
    static const uint64_t parts[] = {0, 32, 256};
    static program self;
    uint64_t count = mr_length("SHORT_LOGS", 200, 3000);
    for (uint64_t i = 0; i < 2 * count; i++) {
        uint64_t seed = i / 2 + 1;
        size_t long_bytes, short_bytes;
        run_program(&self, seed, true);
        void *apart = mr_log_file(&self.log, &long_bytes);
        mr_log_build_free(&self.log);
        run_program(&self, seed, false);
        void *together = mr_log_file(&self.log, &short_bytes);
        mr_log_build_free(&self.log);
        compare_traces(apart, long_bytes, together, short_bytes,
                       (mr_record_options){.leave_ordered = i % 2}, parts[seed % 3], seed);
    }
}

/* A thread fills a row of words from `first` on, another one reads it, each in a loop. */
static void run_words(program *self, int64_t first, bool apart)
{
    *self = (program){.apart = apart};
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BASE, 0x300030, 0, BYTES);
    for (uint32_t t = 1; t < THREADS; t++)
        mr_log_object(&self->log, MR_LOG_FORK, 0, 0x400000, 0x400000, 0, t);
    for (uint32_t t = 1; t < THREADS; t++) {
        mr_log_switch(&self->log, t);
        for (uint32_t at = 0; at < BYTES; at += 8) {
            mr_log_access(&self->log, t == 1 ? MR_LOG_WRITE : MR_LOG_READ, BASE + at, 8,
                          0x100000 + 16 * (uint64_t)t, first + at);
            if (apart)
                mr_log_object(&self->log, MR_LOG_FORGOTTEN, 0, 1, 0x400000, 0, 0);
        }
    }
}

/* Words that are read as a row are one variable (twins.h), unless they may be addresses. */
static void test_words(void **state)
{
    (void)state;
    static const int64_t firsts[] = {1, BASE};
    static program self;
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        size_t long_bytes, short_bytes;
        run_words(&self, firsts[i], true);
        void *apart = mr_log_file(&self.log, &long_bytes);
        mr_log_build_free(&self.log);
        run_words(&self, firsts[i], false);
        void *together = mr_log_file(&self.log, &short_bytes);
        mr_log_build_free(&self.log);
        sizes[i] = compare_traces(apart, long_bytes, together, short_bytes, (mr_record_options){0},
                                  0, (uint64_t)i);
    }
    assert_true(sizes[0] + (BYTES / 8 - 1) * 21 < sizes[1]);
}

/* The first pass beside a program that still writes the log (early.h) gives the same trace. */
static void test_beside(void **state)
{
    (void)state;
    static const uint64_t parts[] = {0, 32, 256};
    static program self;
    uint64_t count = mr_length("SHORT_LOGS_BESIDE", 40, 400);
    for (uint64_t seed = 1; seed <= count; seed++) {
        mr_record_options options = {.leave_ordered = seed % 4 == 0,
                                     .keep_local = seed % 8 == 1,
                                     .part_units = parts[seed % 3]};
        size_t bytes, sizes[2];
        run_program(&self, seed, false);
        void *file = mr_log_file(&self.log, &bytes);
        void *shortened = mr_log_shorten(file, &bytes);
        assert_non_null(shortened);
        void *wanted = mr_log_trace(shortened, bytes, options, &sizes[0]);
        void *found =
            mr_log_trace_beside(shortened, bytes, options, 2 + (uint32_t)seed % 4, &sizes[1]);
        if (sizes[0] != sizes[1] || memcmp(wanted, found, sizes[0]) != 0)
            fail_msg("seed %llu: the traces differ", (unsigned long long)seed);
        mr_log_build_free(&self.log);
        free(wanted);
        free(found);
        free(file);
        free(shortened);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
