/* Random logs of recorded programs: variables against their definition; what is left out
 * changes no verdict; damage gives a trace or an error; failing allocations. */
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
#include "record/pieces.h"
#include "runtime/log.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Logs of each kind. */
static uint64_t log_count(void)
{
    return mr_length("RECORD_RANDOM_LOGS", 60, 300);
}

enum { SPACE = 300, BASE = 0x1008 };

typedef struct noted {
    uint32_t address, bytes, thread;
    bool writes;
} noted;

enum { ACCESSES = 30 };

/* Two threads or more, one of them writes, by byte. */
static bool conflicts(const noted *accesses, uint32_t byte)
{
    bool several = false, written = false;
    uint32_t first = UINT32_MAX;
    for (int i = 0; i < ACCESSES; i++) {
        if (byte < accesses[i].address || byte >= accesses[i].address + accesses[i].bytes)
            continue;
        several = several || (first != UINT32_MAX && first != accesses[i].thread);
        first = accesses[i].thread;
        written = written || accesses[i].writes;
    }
    return several && written;
}

/* Notes the access, by the cache where that knows its line. */
static bool note_piece(mr_pieces *pieces, mr_lifetimes *lives, const noted *access)
{
    const mr_life *life = mr_lifetimes_find(lives, BASE + access->address);
    mr_extent extent = {life, BASE + access->address, access->bytes};
    mr_piece_access how = {.writes = access->writes};
    bool fits = access->bytes <= 8 && (access->bytes & (access->bytes - 1)) == 0;
    bool ok =
        (fits && mr_pieces_note_near(pieces, extent.address, access->bytes, access->thread, how)) ||
        mr_pieces_note(pieces, extent, access->thread, how);
    mr_pieces_approach(pieces, lives, life, extent.address);
    return ok;
}

static void test_pieces(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 4, 8, 16, 3, 100};
    mr_random random = {2};
    int passed = 0;
    for (int round = 0; round < 500; round++) {
        mr_pieces pieces = {.piece_count = 0};
        mr_lifetimes lives;
        mr_lifetimes_init(&lives);
        assert_true(round % 2 || mr_lifetimes_give(&lives, BASE, SPACE, 0, 0));
        const mr_life life = *mr_lifetimes_find(&lives, BASE);
        uint64_t parts[ACCESSES], part_end = 0;
        noted accesses[ACCESSES];
        bool bound[SPACE + 1] = {false};
        for (int i = 0; i < ACCESSES; i++) {
            uint32_t bytes = sizes[mr_random_below(&random, 7)];
            uint32_t address = mr_random_below(&random, SPACE - bytes + 1);
            accesses[i] = (noted){address, bytes, mr_random_below(&random, 3),
                                  mr_random_percent(&random, 30)};
            bound[address] = bound[address + bytes] = true;
            parts[i] = (uint64_t)i << mr_random_below(&random, 24);
            parts[i] = i && parts[i] < parts[i - 1] ? parts[i - 1] : parts[i];
            if (parts[i] >= part_end)
                part_end = mr_pieces_part(&pieces, parts[i]);
            assert_true(note_piece(&pieces, &lives, &accesses[i]));
        }
        assert_true(mr_pieces_make(&pieces));
        for (int i = 0; i < ACCESSES; i++) {
            uint32_t at = accesses[i].address, end = at + accesses[i].bytes;
            bool kept = false, full, skips = mr_pieces_skips_part(&pieces, parts[i], &part_end);
            while (at < end) {
                uint64_t bytes;
                mr_piece *piece =
                    mr_pieces_at(&pieces, (mr_extent){&life, BASE + at, end - at}, &bytes);
                uint32_t next = at + 1;
                while (!bound[next])
                    next++;
                assert_int_equal(bytes, next - at);
                for (uint32_t byte = at; byte < next; byte++)
                    assert_true(piece || !conflicts(accesses, byte));
                /* The same piece for every access. */
                if (piece) {
                    kept = true;
                    assert_true(!piece->has_last || piece->last == (int64_t)at);
                    piece->has_last = true;
                    piece->last = at;
                }
                at = next;
            }
            assert_int_equal(at, end);
            mr_extent whole = {&life, BASE + accesses[i].address, accesses[i].bytes};
            assert_int_equal(kept, mr_pieces_keeps(&pieces, whole, &full));
            assert_true(!kept || !skips);
            bool may = mr_pieces_may_keep(&pieces, whole.address);
            assert_true(!kept || may || whole.bytes > 16);
            passed += !may;
        }
        mr_lifetimes_free(&lives);
        mr_pieces_free(&pieces);
    }
    assert_true(passed > 100);
}

/* A program that ran: three threads, a mutex, memory with the values that it would have. */
typedef struct program {
    mr_random random;
    unsigned char memory[192];
    int64_t global;
    uint32_t holder; /* of the mutex, plus 1 */
    mr_log_build log;
} program;

static int64_t load(const program *self, uint32_t address, uint32_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, self->memory + address, bytes);
    unsigned shift = (8 - bytes) * 8;
    return (int64_t)(word << shift) >> shift;
}

static void run_access(program *self, uint64_t code)
{
    static const uint32_t places[] = {0, 1, 2, 4, 6, 64, 68, 128, 132};
    uint32_t address = places[mr_random_below(&self->random, 9)];
    uint32_t bytes = 1u << mr_random_below(&self->random, 4);
    unsigned kind = MR_LOG_READ + mr_random_below(&self->random, 4);
    uint64_t value = mr_random_below(&self->random, 3);
    if (kind == MR_LOG_WRITE || kind == MR_LOG_ATOMIC_WRITE)
        memcpy(self->memory + address, &value, bytes);
    mr_log_access(&self->log, kind, BASE + address, bytes, code, load(self, address, bytes));
}

/* The memory is the stack of thread 0. */
static void run_program(program *self, uint64_t seed, int steps)
{
    *self = (program){.random = {seed}};
    uint32_t thread = 0;
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_STACK, BASE, 0x1000, 0,
                  sizeof self->memory);
    for (int i = 0; i < steps; i++) {
        uint32_t what = mr_random_below(&self->random, 10);
        uint64_t code = 0x1000 + (uint64_t)i;
        if (i == 0 || mr_random_percent(&self->random, 50)) {
            thread = mr_random_below(&self->random, 3);
            mr_log_switch(&self->log, thread);
        }
        uint32_t call = mr_random_below(&self->random, 8);
        if (call < 2)
            mr_log_enter(&self->log, code, 0x2000, BASE, call ? BASE + 64 : 0);
        else if (call < 4)
            mr_log_put(&self->log, mr_log_head(MR_LOG_LEAVE, 0, call - 1));
        if (what == 0 && !self->holder) {
            self->holder = thread + 1;
            mr_log_object(&self->log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, 0x9000, code, 0, 0);
        } else if (self->holder == thread + 1 && what < 3) {
            self->holder = 0;
            mr_log_object(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, 0x9000, code, 0, 0);
        } else {
            run_access(self, code);
        }
    }
}

/* The races as sorted lines of two locations and a variable. */
static char *races_of(const mr_trace *trace)
{
    mr_config *config = mr_config_new();
    mr_result result = {0};
    mr_error error;
    char *items = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&items, &size);
    assert_non_null(config);
    assert_non_null(file);
    assert_int_equal(mr_config_set(config, "candidates.report", "event", NULL, 0, &error), MR_OK);
    mr_config_resolve(config);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    for (size_t i = 0; i < result.race_count; i++) {
        uint32_t one = result.races[i].witness.first, two = result.races[i].witness.second;
        fprintf(file, "%s %s %s\n", trace->locations.items[trace->location[one]].text,
                trace->locations.items[trace->location[two]].text,
                trace->variables.items[trace->operand[one]].text);
    }
    fclose(file);
    mr_result_free(&result);
    mr_config_free(config);
    return items;
}

static void test_left_out(void **state)
{
    (void)state;
    uint64_t races = 0;
    for (uint64_t seed = 1; seed <= log_count() / 2; seed++) {
        program self;
        mr_record_summary summary;
        run_program(&self, seed, 24);
        mr_trace *part = mr_log_converted(&self.log, false, &summary);
        assert_int_equal(summary.strange_reads, 0);
        assert_int_equal(summary.dropped, 0);
        mr_trace *all = mr_log_converted(&self.log, true, &summary);
        assert_true(part->event_count <= all->event_count);
        char *of_part = races_of(part), *of_all = races_of(all);
        if (strcmp(of_part, of_all) != 0)
            fail_msg("seed %d: left out %s, all %s", (int)seed, of_part, of_all);
        races += strlen(of_all) > 0;
        free(of_part);
        free(of_all);
        mr_trace_free(part);
        mr_trace_free(all);
        mr_log_build_free(&self.log);
    }
    assert_true(races > log_count() / 8);
}

enum { BLOCKS = 3, PLACES = 4 };

/* When threads 1 and 2 are there, by step: always, or from a fork to a join by thread 0. */
typedef struct presence {
    uint32_t forked, joined;
} presence;

static void start_or_join(program *self, presence *threads, uint32_t step)
{
    for (uint32_t t = 1; t < 3; t++) {
        bool forks = step == threads[t].forked, joins = step == threads[t].joined;
        mr_log_switch(&self->log, 0);
        if (forks || joins)
            mr_log_object(&self->log, forks ? MR_LOG_FORK : MR_LOG_JOIN, 0, 0, 0x5000, 0, t);
    }
}

/* A thread that is there: the one that was drawn, or thread 0. */
static uint32_t present(const presence *threads, uint32_t thread, uint32_t step)
{
    bool is_there = step >= threads[thread].forked && step < threads[thread].joined;
    return is_there ? thread : 0;
}

/* A variable that all threads use, so that values order them. */
static void run_global(program *self)
{
    bool writes = mr_random_percent(&self->random, 40);
    self->global = writes ? mr_random_below(&self->random, 4) : self->global;
    unsigned kind = writes ? MR_LOG_WRITE : MR_LOG_READ;
    if (mr_random_percent(&self->random, 30))
        kind = writes ? MR_LOG_ATOMIC_WRITE : MR_LOG_ATOMIC_READ;
    for (uint32_t i = mr_random_below(&self->random, 3); i < 3; i++)
        mr_log_access(&self->log, kind, 0x800, 4, 0x6000 + writes, self->global);
}

/* Three threads get, use, hand over and release blocks. Few places access. */
static void run_blocks(program *self, uint64_t seed, uint32_t steps)
{
    bool given[BLOCKS] = {false};
    presence threads[3] = {{0, UINT32_MAX}, {0, UINT32_MAX}, {0, UINT32_MAX}};
    *self = (program){.random = {seed}};
    for (int t = 1; t < 3 && seed % 2; t++)
        threads[t] = (presence){1 + mr_random_below(&self->random, steps / 2),
                                steps / 2 + 2 + mr_random_below(&self->random, steps / 2)};
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t thread = present(threads, mr_random_below(&self->random, 3), i),
                 what = mr_random_below(&self->random, 14);
        uint32_t block = mr_random_below(&self->random, BLOCKS);
        uint64_t at = BASE + 256 * block, code = 0x1000 + mr_random_below(&self->random, PLACES);
        start_or_join(self, threads, i);
        mr_log_switch(&self->log, thread);
        if (!given[block]) {
            given[block] = true;
            mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, at, 0x2000, 0, 64);
        } else if (what == 0) {
            given[block] = false;
            mr_log_object(&self->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, at, 0x3000 + block, 0, 64);
        } else if (what == 1 && !self->holder) {
            self->holder = thread + 1;
            mr_log_object(&self->log, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, 0x9000, 0x4000, 0, 0);
        } else if (self->holder == thread + 1 && what < 5) {
            self->holder = 0;
            mr_log_object(&self->log, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, 0x9000, 0x4000, 0, 0);
        } else if (what >= 12) {
            run_global(self);
        } else {
            /* Most blocks have one thread that uses them. */
            mr_log_switch(&self->log, what < 7 ? thread : present(threads, block, i));
            mr_log_access(&self->log, what % 3 ? MR_LOG_READ : MR_LOG_WRITE,
                          at + 8 * (uint64_t)mr_random_below(&self->random, 2), 8, code, 0);
        }
    }
}

/* The pairs of places that race. */
static void pairs_of(const mr_trace *trace, const char *model, mr_pairs *pairs)
{
    mr_config *config = mr_config_new();
    mr_result result = {0};
    mr_error error;
    assert_non_null(config);
    assert_int_equal(mr_config_set(config, "candidates.report", "static", NULL, 0, &error), MR_OK);
    assert_int_equal(mr_config_set(config, "model", model, NULL, 0, &error), MR_OK);
    mr_config_resolve(config);
    assert_int_equal(mr_predict(trace, config, NULL, &result, &error), MR_OK);
    assert_int_equal(result.unknown_count, 0);
    for (size_t i = 0; i < result.race_count; i++) {
        const mr_witness *witness = &result.races[i].witness;
        mr_place_pairs_add(pairs, trace, witness->first, witness->second);
    }
    mr_result_free(&result);
    mr_config_free(config);
}

/* What a thread of run_buffers does: accesses of the bytes [next, end) of a buffer. */
typedef struct task {
    uint32_t buffer, next, end, place;
    bool writes;
} task;

enum { BUFFERS = 2, BUFFER_BYTES = 6 };

typedef struct buffers {
    program program;
    unsigned char bytes[BUFFERS][BUFFER_BYTES];
    bool given[BUFFERS], is_filled[BUFFERS];
    task tasks[3]; /* by thread */
} buffers;

static uint64_t address_of(uint32_t buffer, uint32_t byte)
{
    return BASE + 256 * buffer + byte;
}

/* Whole runs mostly, and mostly one that fills a buffer. */
static void begin_task(buffers *self, task *now)
{
    mr_random *random = &self->program.random;
    uint32_t buffer = mr_random_below(random, BUFFERS);
    *now = (task){.buffer = buffer, .end = BUFFER_BYTES, .place = mr_random_below(random, 2)};
    if (mr_random_percent(random, 25))
        now->next = mr_random_below(random, BUFFER_BYTES);
    if (mr_random_percent(random, 10))
        now->end = now->next + 1;
    now->writes = !self->is_filled[buffer] || mr_random_percent(random, 5);
    self->is_filled[buffer] = true;
}

/* One byte of the task, or all of them. Half of the runs have a place for each two bytes. */
static void go_on(buffers *self, task *now)
{
    program *ran = &self->program;
    unsigned char *bytes = self->bytes[now->buffer];
    uint64_t code = 0x1000 + now->place + (now->buffer ? 2 * (now->next / 2 % 2) : 0);
    uint32_t count = mr_random_percent(&ran->random, 10) ? now->end - now->next : 1;
    for (uint32_t i = now->next; i < now->next + count && now->writes; i++)
        bytes[i] = (unsigned char)mr_random_below(&ran->random, 3);
    if (count > 1)
        mr_log_range(&ran->log, now->writes ? MR_LOG_RANGE_WRITE : MR_LOG_RANGE_READ,
                     address_of(now->buffer, now->next), code, bytes + now->next, count);
    else
        mr_log_access(&ran->log, now->writes ? MR_LOG_WRITE : MR_LOG_READ,
                      address_of(now->buffer, now->next), 1, code, (signed char)bytes[now->next]);
    now->next += count;
}

/* Frees a buffer, uses the mutex or the variable, or gets a buffer. */
static void do_other(buffers *self, uint32_t thread, uint32_t buffer)
{
    program *ran = &self->program;
    uint32_t what = mr_random_below(&ran->random, 6);
    if (what == 0) {
        self->given[buffer] = self->is_filled[buffer] = false;
        mr_log_object(&ran->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, address_of(buffer, 0),
                      0x3000 + buffer, 0, 64);
    } else if (what < 4 && (!ran->holder || ran->holder == thread + 1)) {
        bool holds = ran->holder;
        ran->holder = holds ? 0 : thread + 1;
        mr_log_object(&ran->log, holds ? MR_LOG_RELEASE : MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, 0x9000,
                      0x4000, 0, 0);
    } else {
        run_global(ran);
    }
}

/* Three threads fill, read and hand over buffers, some with interruptions. */
static void run_buffers(buffers *self, uint64_t seed, int steps)
{
    *self = (buffers){.program.random = {seed}};
    mr_random *random = &self->program.random;
    for (int i = 0; i < steps; i++) {
        uint32_t thread = mr_random_below(random, 3), buffer = mr_random_below(random, BUFFERS);
        task *now = &self->tasks[thread];
        bool has_task = now->next < now->end;
        mr_log_switch(&self->program.log, thread);
        if (has_task && !self->given[now->buffer])
            now->next = now->end;
        else if (has_task && mr_random_percent(random, 95))
            for (uint32_t k = mr_random_below(random, 6); k < 6 && now->next < now->end; k++)
                go_on(self, now);
        else if (!self->given[buffer]) {
            self->given[buffer] = true;
            mr_log_object(&self->program.log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP,
                          address_of(buffer, 0), 0x2000, 0, 64);
        } else if (mr_random_percent(random, 60)) {
            begin_task(self, now);
        } else {
            do_other(self, thread, buffer);
        }
    }
}

/* Compares the pairs of places of a log with those of a trace of everything. */
static void compare_pairs(const mr_log_build *log, uint64_t seed, uint64_t *races,
                          uint64_t *left_out)
{
    static const char *const models[] = {"rf", "value", "branch"};
    mr_record_summary summary;
    mr_pairs some = {0}, every = {0};
    mr_trace *part = mr_log_converted(log, false, &summary);
    mr_trace *all = mr_log_converted(log, true, &summary);
    pairs_of(part, models[seed % 3], &some);
    pairs_of(all, models[seed % 3], &every);
    mr_place_pairs_expect(&some, &every, seed, "leaves out");
    mr_place_pairs_expect(&every, &some, seed, "adds");
    *races += every.count;
    *left_out += all->event_count - part->event_count;
    mr_pairs_free(&some);
    mr_pairs_free(&every);
    mr_trace_free(part);
    mr_trace_free(all);
}

/* What is left out of blocks changes no pair of places. */
static void test_blocks(void **state)
{
    (void)state;
    uint64_t races = 0, left_out = 0;
    for (uint64_t seed = 1; seed <= log_count(); seed++) {
        program self;
        run_blocks(&self, seed, 50);
        compare_pairs(&self.log, seed, &races, &left_out);
        mr_log_build_free(&self.log);
    }
    assert_true(races > log_count() && left_out > log_count());
}

/* Nor what is left out of buffers. */
static void test_buffers(void **state)
{
    (void)state;
    uint64_t races = 0, left_out = 0;
    for (uint64_t seed = 1; seed <= log_count(); seed++) {
        buffers self;
        run_buffers(&self, seed, 50);
        compare_pairs(&self.program.log, seed, &races, &left_out);
        mr_log_build_free(&self.program.log);
    }
    assert_true(races > log_count() && left_out > log_count());
}

enum { CELLS = 4 };

typedef struct cells {
    int64_t values[CELLS];
    uint32_t fresh; /* per cent of the writes with a value that no other write has */
} cells;

/* A read or a write of a cell by the thread. */
static void run_cell(program *self, cells *all, uint32_t cell, bool writes, uint64_t code)
{
    static const uint32_t bytes[CELLS] = {1, 4, 8, 4};
    if (writes && mr_random_percent(&self->random, all->fresh))
        all->values[cell] = 2 + self->global++ % 100;
    else if (writes)
        all->values[cell] = mr_random_below(&self->random, 2);
    unsigned kind = writes ? MR_LOG_WRITE : MR_LOG_READ;
    if (mr_random_percent(&self->random, 5))
        kind = writes ? MR_LOG_ATOMIC_WRITE : MR_LOG_ATOMIC_READ;
    /* The last cell is in memory without a life. */
    uint64_t at = cell == CELLS - 1 ? 0x700 : BASE + 64 * (uint64_t)cell;
    mr_log_access(&self->log, kind, at, bytes[cell], code, all->values[cell]);
}

/* Threads read cells again and again, of which most are written by one thread each; the block that has
 * them ends sometimes. */
static void run_cells(program *self, uint64_t seed, uint32_t steps)
{
    presence threads[3] = {{0, UINT32_MAX}, {0, UINT32_MAX}, {0, UINT32_MAX}};
    cells all = {.fresh = seed % 2 ? 80 : 20};
    *self = (program){.random = {seed}};
    mr_random *random = &self->random;
    for (int t = 1; t < 3 && seed % 2; t++)
        threads[t] = (presence){1 + mr_random_below(random, steps / 3),
                                steps / 2 + 2 + mr_random_below(random, steps / 2)};
    mr_log_switch(&self->log, 0);
    mr_log_object(&self->log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, BASE, 0x2000, 0, 256);
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t drawn = mr_random_below(random, 3), what = mr_random_below(random, 12);
        uint32_t cell = mr_random_below(random, CELLS), thread = present(threads, drawn, i);
        start_or_join(self, threads, i);
        mr_log_switch(&self->log, thread);
        if (what == 0 && (!self->holder || self->holder == thread + 1)) {
            mr_log_object(&self->log, self->holder ? MR_LOG_RELEASE : MR_LOG_ACQUIRE,
                          MR_LOG_ROLE_MUTEX, 0x9000, 0x4000, 0, 0);
            self->holder = self->holder ? 0 : thread + 1;
        } else if (what < 4) {
            uint32_t writer =
                mr_random_percent(random, 90) ? present(threads, cell % 3, i) : thread;
            mr_log_switch(&self->log, writer);
            run_cell(self, &all, cell, true, 0x1000 + cell);
        } else {
            uint64_t code = 0x1100 + mr_random_below(random, 2);
            for (uint32_t n = 1 + mr_random_below(random, 5); n > 0; n--)
                run_cell(self, &all, mr_random_percent(random, 70) ? cell : (cell + 1) % CELLS,
                         false, code);
        }
    }
    if (seed % 3 == 0) {
        mr_log_switch(&self->log, present(threads, 1, steps));
        mr_log_object(&self->log, MR_LOG_TAKEN, MR_LOG_MEMORY_HEAP, BASE, 0x3000, 0, 256);
    }
}

/* Nor what is left out of reads that say nothing new. */
static void test_cells(void **state)
{
    (void)state;
    uint64_t races = 0, left_out = 0;
    for (uint64_t seed = 1; seed <= log_count(); seed++) {
        program self;
        run_cells(&self, seed, 24);
        compare_pairs(&self.log, seed, &races, &left_out);
        mr_log_build_free(&self.log);
    }
    assert_true(races > log_count() && left_out > log_count());
}

/* The last write has the value of an earlier one: the first of two reads may see that one, and only the
 * second says that the last is done. */
static void test_equal_values(void **state)
{
    (void)state;
    static const struct {
        uint32_t thread, cell;
        unsigned kind;
        int64_t value;
    } steps[] = {
        {1, 0, MR_LOG_WRITE, 1}, {1, 0, MR_LOG_WRITE, 2}, {1, 1, MR_LOG_WRITE, 5},
        {1, 2, MR_LOG_WRITE, 7}, {1, 0, MR_LOG_WRITE, 1}, {2, 0, MR_LOG_READ, 1},
        {2, 1, MR_LOG_READ, 5},  {2, 0, MR_LOG_READ, 1},  {2, 2, MR_LOG_WRITE, 8},
    };
    for (uint64_t model = 0; model < 3; model++) {
        program self = {.random = {1}};
        uint64_t races = 0, left_out = 0;
        mr_log_switch(&self.log, 0);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            /* All reads of the first cell are at one place. */
            bool again = steps[i].kind == MR_LOG_READ && !steps[i].cell;
            mr_log_switch(&self.log, steps[i].thread);
            mr_log_access(&self.log, steps[i].kind, 0x700 + 64 * (uint64_t)steps[i].cell, 4,
                          again ? 0x1100 : 0x1000 + i, steps[i].value);
        }
        compare_pairs(&self.log, model, &races, &left_out);
        mr_log_build_free(&self.log);
    }
}

/* Bits that are wrong, and a log that ends anywhere: a valid trace, or an error. */
static void test_damage(void **state)
{
    (void)state;
    mr_random random = {3};
    for (uint64_t round = 0; round < 2 * log_count(); round++) {
        program self;
        mr_record_summary summary;
        mr_trace *trace;
        mr_error error;
        size_t count;
        run_program(&self, 7, 40);
        unsigned char *bytes = mr_log_file(&self.log, &count);
        size_t records = count - MR_LOG_HEADER_BYTES;
        for (uint32_t i = mr_random_below(&random, 6); i > 0; i--)
            bytes[MR_LOG_HEADER_BYTES + mr_random_below(&random, (uint32_t)records)] =
                (unsigned char)mr_random_below(&random, 256);
        size_t kept = mr_random_percent(&random, 50)
                          ? count
                          : MR_LOG_HEADER_BYTES + mr_random_below(&random, (uint32_t)records);
        const mr_record_options options = {.keep_local = round % 2 != 0};
        mr_status status = mr_log_try(bytes, kept, &options, &summary, &trace, &error);
        if (status != MR_OK && status != MR_ERR_TRACE && status != MR_ERR_MEMORY)
            fail_msg("round %" PRIu64 ": %s", round, error.text);
        mr_trace_free(trace);
        free(bytes);
        mr_log_build_free(&self.log);
    }
}

static void test_wrong_headers(void **state)
{
    (void)state;
    static const char *const messages[] = {"no log", "version 11", "makes no sense", "no log",
                                           "makes no sense"};
    for (int i = 0; i < 5; i++) {
        program self;
        mr_record_summary summary;
        mr_trace *trace;
        mr_error error;
        size_t count;
        run_program(&self, 7, 10);
        unsigned char *bytes = mr_log_file(&self.log, &count);
        mr_log_header *header = (mr_log_header *)(void *)bytes;
        if (i == 0)
            header->magic[0] = 'x';
        else if (i == 1)
            header->version++;
        else if (i == 2)
            header->header_bytes = 4095;
        else if (i == 3)
            count = 100;
        else
            header->window_at = count + 8;
        assert_int_equal(mr_log_try(bytes, count, NULL, &summary, &trace, &error), MR_ERR_TRACE);
        if (!strstr(error.text, messages[i]))
            fail_msg("%s", error.text);
        free(bytes);
        mr_log_build_free(&self.log);
    }
}

static void test_memory(void **state)
{
    (void)state;
    program self;
    size_t count;
    mr_status status = MR_ERR_MEMORY;
    run_program(&self, 5, 60);
    unsigned char *bytes = mr_log_file(&self.log, &count);
    for (uint64_t n = 1; status != MR_OK; n++) {
        mr_record_summary summary;
        mr_trace *trace;
        mr_error error;
        mr_memory_fail_after(n);
        status = mr_log_try(bytes, count, NULL, &summary, &trace, &error);
        mr_memory_fail_after(0);
        assert_true(status == MR_OK || status == MR_ERR_MEMORY);
        mr_trace_free(trace);
    }
    free(bytes);
    mr_log_build_free(&self.log);
}

int main(void)
{
    /* Thousands of conversions take and give back megabytes each; the kernel need not clear them anew for each. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 16 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_cells),  cmocka_unit_test(test_equal_values),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_wrong_headers),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
