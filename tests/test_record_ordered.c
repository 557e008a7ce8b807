/* Random logs: what is left out because happens-before orders it (record/ordered.h) changes no race of the
 * order shb. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/length.h"
#include "support/log_build.h"
#include "support/place_pairs.h"
#include "support/random.h"
#include "support/shb_races.h"

#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 3, BLOCK_BYTES = 128, BASE = 0x10000, STATIC = 0x800, LOCKS = 3 };

typedef struct program {
    mr_random random;
    mr_log_build log;
    uint64_t code; /* 0: each access has a place of its own */
    uint64_t step;
    uint32_t forked, joined;              /* bits */
    uint32_t holder[LOCKS];               /* plus 1 */
    uint32_t readers, reader_of[THREADS]; /* of a read-write lock */
    uint32_t writer;
    uint32_t units;
    uint32_t care; /* per cent of the accesses that are under the lock of their block */
    bool given[BLOCKS], locks_well;
    unsigned char memory[BLOCKS][BLOCK_BYTES], statics[64];
} program;

static uint64_t place(program *self, uint64_t kind)
{
    return self->code ? self->code * 0x100 + kind : 0x100000 + self->step * 0x100 + kind;
}

static bool runs(const program *self, uint32_t thread)
{
    return (self->forked & ~self->joined) >> thread & 1;
}

/* An access of a block that is there, or of static memory; plain or atomic, or of a range. */
static void run_access(program *self, uint32_t thread)
{
    static const uint32_t sizes[] = {1, 2, 4, 4, 8, 8};
    uint32_t block = mr_random_below(&self->random, BLOCKS + 1);
    if (self->holder[block % LOCKS] != thread + 1 && mr_random_percent(&self->random, self->care))
        return;
    bool is_static = block == BLOCKS || !self->given[block];
    unsigned char *memory = is_static ? self->statics : self->memory[block];
    uint64_t base = is_static ? STATIC : BASE + 0x1000 * (uint64_t)block;
    uint32_t room = is_static ? (uint32_t)sizeof self->statics : BLOCK_BYTES;
    uint32_t bytes = sizes[mr_random_below(&self->random, 6)];
    uint32_t at = mr_random_below(&self->random, 4) * 4 + (is_static ? 0 : 52);
    unsigned kind = MR_LOG_READ + mr_random_percent(&self->random, 35);
    if (mr_random_percent(&self->random, 15))
        at += mr_random_below(&self->random, 4);
    if (mr_random_percent(&self->random, self->care ? 1 : 15))
        kind = MR_LOG_ATOMIC_READ + mr_random_below(&self->random, 3);
    if (is_static && mr_random_percent(&self->random, 50)) { /* flags, which are mostly atomic */
        kind = mr_random_percent(&self->random, 95)
                   ? MR_LOG_ATOMIC_READ + mr_random_below(&self->random, 3)
                   : kind;
        at += 32;
    }
    uint64_t value = mr_random_below(&self->random, 3), before = 0, all = 0;
    if (mr_random_percent(&self->random, 10)) {
        bytes = 1 + mr_random_below(&self->random, room - at - 1);
        bool writes = kind == MR_LOG_WRITE;
        memset(memory + at, (int)value, writes ? bytes : 0);
        mr_log_range(&self->log, writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ, base + at,
                     place(self, kind), memory + at, bytes);
        return;
    }
    memcpy(&before, memory + at, bytes);
    if (kind == MR_LOG_WRITE || kind >= MR_LOG_ATOMIC_WRITE)
        memcpy(memory + at, &value, bytes);
    memcpy(&all, memory + at, bytes);
    unsigned shift = 64 - 8 * bytes;
    if (kind == MR_LOG_ATOMIC_UPDATE)
        mr_log_update(&self->log, base + at, bytes, place(self, kind),
                      (int64_t)(before << shift) >> shift, (int64_t)(all << shift) >> shift);
    else
        mr_log_access(&self->log, kind, base + at, bytes, place(self, kind),
                      (int64_t)(all << shift) >> shift);
}

static void object(program *self, unsigned kind, unsigned role, uint64_t address, uint64_t number)
{
    mr_log_object(&self->log, kind, role, address, place(self, kind), 0, number);
}

static void run_lock(program *self, uint32_t thread)
{
    uint32_t lock = mr_random_below(&self->random, LOCKS);
    uint64_t address = STATIC + 0x1000 + 64 * (uint64_t)lock;
    bool wrong = !self->locks_well && mr_random_percent(&self->random, 4);
    if (self->holder[lock] && (self->holder[lock] == thread + 1 || wrong)) {
        self->holder[lock] = 0;
        object(self, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, address, 0);
    } else if (!self->holder[lock] && mr_random_percent(&self->random, 8)) {
        mr_log_object(&self->log, MR_LOG_RETIRED, MR_LOG_ROLE_MUTEX, address,
                      place(self, MR_LOG_RETIRED), MR_LOG_RETIRED_INITIALISED, 0);
    } else if (!self->holder[lock] || wrong) {
        self->holder[lock] = thread + 1;
        object(self, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, address, 0);
    }
}

static void run_shared_lock(program *self, uint32_t thread)
{
    uint64_t address = STATIC + 0x2000;
    if (self->writer == thread + 1) {
        self->writer = 0;
        object(self, MR_LOG_RELEASE, MR_LOG_ROLE_RWLOCK, address, 0);
    } else if (self->reader_of[thread]) {
        self->reader_of[thread] = 0;
        self->readers--;
        object(self, MR_LOG_SHARED_RELEASE, MR_LOG_ROLE_RWLOCK, address, 0);
    } else if (!self->writer && mr_random_percent(&self->random, 50)) {
        self->reader_of[thread] = 1;
        self->readers++;
        object(self, MR_LOG_SHARED_ACQUIRE, MR_LOG_ROLE_RWLOCK, address, 0);
    } else if (!self->writer && !self->readers) {
        self->writer = thread + 1;
        object(self, MR_LOG_ACQUIRE, MR_LOG_ROLE_RWLOCK, address, 0);
    }
}

static void run_message(program *self)
{
    uint64_t address = STATIC + 0x3000;
    uint32_t what = mr_random_below(&self->random, 4);
    if (what == 0) {
        self->units++;
        object(self, MR_LOG_POST, MR_LOG_ROLE_SEMAPHORE, address, 0);
    } else if (what == 1 && (self->units || mr_random_percent(&self->random, 5))) {
        self->units -= self->units > 0;
        object(self, MR_LOG_WAIT, MR_LOG_ROLE_SEMAPHORE, address, 0);
    } else if (what == 2) {
        object(self, MR_LOG_BEFORE, MR_LOG_ROLE_NONE, address + 64, 0);
    } else if (what == 3) {
        object(self, MR_LOG_AFTER, MR_LOG_ROLE_NONE, address + 64, 0);
    }
}

static void run_block(program *self)
{
    uint32_t block = mr_random_below(&self->random, BLOCKS);
    uint64_t at = BASE + 0x1000 * (uint64_t)block;
    bool given = self->given[block];
    if (given && mr_random_percent(&self->random, 70))
        return;
    self->given[block] = !given;
    mr_log_object(&self->log, given ? MR_LOG_TAKEN : MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, at,
                  place(self, given ? MR_LOG_TAKEN : MR_LOG_GIVEN), 0, BLOCK_BYTES);
}

/* Thread 0 starts a thread, or waits for one. */
static void run_thread(program *self)
{
    uint32_t other = 1 + mr_random_below(&self->random, THREADS - 1);
    bool forks = !(self->forked >> other & 1);
    if (!forks && (!runs(self, other) || mr_random_percent(&self->random, 80)))
        return;
    self->forked |= 1u << other;
    self->joined |= forks ? 0 : 1u << other;
    mr_log_switch(&self->log, 0);
    object(self, forks ? MR_LOG_FORK : MR_LOG_JOIN, 0, 0, other);
}

static void run_program(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed},
                      .forked = 1,
                      .locks_well = seed % 4 != 0,
                      .care = seed % 8 < 2   ? 0
                              : seed % 8 < 4 ? 90
                                             : 100};
    uint32_t places = seed % 3 ? 0 : 3;
    mr_log_switch(&self->log, 0);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(&self->random, THREADS);
        uint32_t what = mr_random_below(&self->random, 16);
        thread = runs(self, thread) ? thread : 0;
        self->step++;
        self->code = places ? 1 + mr_random_below(&self->random, places) : 0;
        mr_log_switch(&self->log, thread);
        if (what < 2)
            run_lock(self, thread);
        else if (what < 5)
            run_shared_lock(self, thread);
        else if (what < 7)
            run_message(self);
        else if (what == 7)
            run_block(self);
        else if (what == 8)
            run_thread(self);
        else
            for (uint32_t n = 1 + mr_random_below(&self->random, 8); n > 0; n--)
                run_access(self, thread);
    }
}

/* `shortens`: the log has short records where it can. */
static mr_trace *convert(const mr_log_build *log, bool shortens, const mr_record_options *options,
                         mr_record_summary *summary)
{
    size_t count;
    mr_error error;
    mr_trace *trace = NULL;
    void *bytes = mr_log_file(log, &count);
    if (shortens) {
        void *full = bytes;
        bytes = mr_log_shorten(full, &count);
        assert_non_null(bytes);
        free(full);
    }
    if (mr_log_try(bytes, count, options, summary, &trace, &error) != MR_OK)
        fail_msg("%s", error.text);
    free(bytes);
    return trace;
}

/* The pairs of places that shb reports. */
static void races_of(const mr_trace *trace, mr_pairs *pairs)
{
    mr_shb_races races = {0};
    mr_error error;
    assert_int_equal(mr_shb_find(trace, &races, &error), MR_OK);
    for (size_t i = 0; i < races.count; i++)
        mr_place_pairs_add(pairs, trace, races.items[i].first, races.items[i].second);
    mr_shb_races_free(&races);
}

typedef struct counts {
    uint64_t races, plain, left, again;
} counts;

static uint64_t plain_of(const mr_trace *trace)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        count += trace->op[i] == MR_OP_READ || trace->op[i] == MR_OP_WRITE;
    return count;
}

static void compare(const mr_log_build *log, uint64_t seed, counts *all)
{
    mr_record_summary summary;
    mr_pairs usual = {0}, ordered = {0};
    const mr_record_options every = {.keep_local = false},
                            some = {.leave_ordered = true, .part_units = seed % 3 ? 32 : 0};
    mr_trace *whole = convert(log, false, &every, &summary);
    mr_trace *part = convert(log, seed % 2, &some, &summary);
    races_of(whole, &usual);
    races_of(part, &ordered);
    mr_place_pairs_expect(&ordered, &usual, seed, "leaves out");
    mr_place_pairs_expect(&usual, &ordered, seed, "adds");
    all->races += usual.count;
    all->plain += plain_of(whole);
    all->left += summary.left_ordered ? plain_of(whole) - plain_of(part) : 0;
    all->again += !summary.left_ordered;
    mr_pairs_free(&usual);
    mr_pairs_free(&ordered);
    mr_trace_free(whole);
    mr_trace_free(part);
}

static void test_random(void **state)
{
    (void)state;
    counts all = {0};
    uint64_t seed = mr_number_from_environment("ORDERED_SEED", 1);
    uint64_t end = seed + mr_length("ORDERED_LOGS", 600, 3000);
    for (; seed < end; seed++) {
        program self;
        run_program(&self, seed, seed % 5 ? 100 : 300);
        compare(&self.log, seed, &all);
        mr_log_build_free(&self.log);
    }
    print_message("%d races, %d of %d plain accesses left out, %d logs as usual\n", (int)all.races,
                  (int)all.left, (int)all.plain, (int)all.again);
    assert_true(all.races > 500 && all.left * 30 > all.plain && all.again > 0);
}

static void touch(program *self, uint32_t thread, unsigned kind, uint64_t address, uint64_t code)
{
    mr_log_switch(&self->log, thread);
    mr_log_access(&self->log, kind, address, 4, code, 1);
}

/* A plain write ends the edge from an atomic one, when a read sees the plain one. */
static void test_plain_write(void **state)
{
    (void)state;
    for (int has_plain = 0; has_plain < 2; has_plain++) {
        program self = {.code = 1};
        counts all = {0};
        for (uint32_t t = 1; t < THREADS; t++) {
            mr_log_switch(&self.log, 0);
            object(&self, MR_LOG_FORK, 0, 0, t);
        }
        touch(&self, 1, MR_LOG_WRITE, STATIC, 0x1);
        touch(&self, 1, MR_LOG_ATOMIC_WRITE, STATIC + 8, 0x2);
        if (has_plain)
            touch(&self, 2, MR_LOG_WRITE, STATIC + 8, 0x3);
        touch(&self, 3, MR_LOG_ATOMIC_READ, STATIC + 8, 0x4);
        touch(&self, 3, MR_LOG_READ, STATIC, 0x5);
        compare(&self.log, 0, &all);
        /* The accesses of the flag, and the others when nothing orders them. */
        assert_int_equal(all.races, has_plain ? 3 : 0);
        assert_int_equal(all.left, has_plain ? 0 : 2);
        mr_log_build_free(&self.log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_plain_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
