/* Logs of memory that has two names (MR_LOG_ALIAS): random ones give the trace of the same log with first names alone; damage gives a
 * trace or an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/length.h"
#include "support/log_build.h"
#include "support/random.h"
#include "support/trace_reading.h"

#include "runtime/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t log_count(void)
{
    return mr_length("RECORD_ALIAS_LOGS", 100, 1000);
}

/* A file of some pages of a few bytes: at FIRST, and in parts in other places. */
enum { PAGE = 32, PAGES = 4, FIRST = 0x1000, OTHERS = 0x9000, PLACES = 6, CODE = 0x100 };
enum { BYTES = PAGE * PAGES };

typedef struct program {
    mr_random random;
    unsigned char memory[BYTES];
    uint32_t page_at[PLACES]; /* in the places of OTHERS: the page of the file, plus 1; 0: none */
    uint32_t thread;
    mr_log_build named, first; /* with all names; with first names */
} program;

static void put_alias(mr_log_build *log, uint64_t address, uint64_t bytes, uint64_t to)
{
    mr_log_put(log, mr_log_head(MR_LOG_ALIAS, 0, address));
    mr_log_put(log, CODE);
    mr_log_put(log, bytes);
    mr_log_put(log, to);
}

/* Some places, one beside the other, have pages of the file from now on, or none. */
static void map_some(program *self)
{
    mr_random *random = &self->random;
    uint32_t place = mr_random_below(random, PLACES), page = mr_random_below(random, PAGES);
    uint32_t count = 1 + mr_random_below(random, PLACES - place);
    bool ends = mr_random_percent(random, 30);
    if (!ends && count > PAGES - page)
        count = PAGES - page;
    for (uint32_t i = 0; i < count; i++)
        self->page_at[place + i] = ends ? 0 : page + i + 1;
    put_alias(&self->named, OTHERS + place * PAGE, (uint64_t)count * PAGE,
              ends ? 0 : FIRST + page * PAGE);
}

/* Some name of the bytes of the file, which are in one page. */
static uint64_t name_of(program *self, uint32_t at)
{
    uint32_t place = mr_random_below(&self->random, PLACES);
    bool has = self->page_at[place] == at / PAGE + 1;
    return has ? (uint64_t)OTHERS + place * PAGE + at % PAGE : (uint64_t)FIRST + at;
}

static int64_t load(const program *self, uint32_t at, uint32_t bytes)
{
    int64_t value = 0;
    memcpy(&value, self->memory + at, bytes);
    return bytes == 8 ? value : value << (64 - bytes * 8) >> (64 - bytes * 8);
}

static void access_some(program *self)
{
    static const unsigned kinds[] = {MR_LOG_READ, MR_LOG_WRITE, MR_LOG_WRITE, MR_LOG_ATOMIC_READ,
                                     MR_LOG_ATOMIC_WRITE};
    mr_random *random = &self->random;
    uint32_t bytes = 1u << mr_random_below(random, 4);
    uint32_t at = mr_random_below(random, BYTES / bytes) * bytes;
    unsigned kind = kinds[mr_random_below(random, 5)];
    uint64_t name = name_of(self, at), code = CODE + mr_random_below(random, 50);
    int64_t value = mr_random_below(random, 3), old = load(self, at, bytes);
    if (kind == MR_LOG_READ || kind == MR_LOG_ATOMIC_READ)
        value = old;
    memcpy(self->memory + at, &value, bytes);
    if (bytes >= 4 && mr_random_percent(random, 10)) {
        mr_log_update(&self->named, name, bytes, code, old, value);
        mr_log_update(&self->first, FIRST + at, bytes, code, old, value);
    } else {
        mr_log_access(&self->named, kind, name, bytes, code, value);
        mr_log_access(&self->first, kind, FIRST + at, bytes, code, value);
    }
}

/* A range over several places, whose pages may stand in another order in the file, or are none of it. */
static void range_over_places(program *self)
{
    mr_random *random = &self->random;
    uint32_t start = mr_random_below(random, PLACES * PAGE);
    uint32_t bytes = 1 + mr_random_below(random, PLACES * PAGE - start);
    unsigned kind = mr_random_percent(random, 50) ? MR_LOG_RANGE_READ : MR_LOG_RANGE_WRITE;
    unsigned char values[PLACES * PAGE];
    uint64_t code = CODE + mr_random_below(random, 50);
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t page = self->page_at[(start + i) / PAGE], in_page = (start + i) % PAGE;
        unsigned char *byte = page ? &self->memory[(page - 1) * PAGE + in_page] : &values[i];
        values[i] = kind == MR_LOG_RANGE_READ && page ? *byte : 7;
        *byte = values[i];
    }
    mr_log_range(&self->named, kind, OTHERS + start, code, values, bytes);
    for (uint32_t done = 0, part; done < bytes; done += part) {
        uint32_t at = start + done, page = self->page_at[at / PAGE];
        uint64_t name = page ? FIRST + (page - 1) * PAGE + at % PAGE : OTHERS + at;
        part = PAGE - at % PAGE < bytes - done ? PAGE - at % PAGE : bytes - done;
        mr_log_range(&self->first, kind, name, code, values + done, part);
    }
}

/* The thread holds the mutex for some accesses. */
static void lock_some(program *self)
{
    uint32_t lock = mr_random_below(&self->random, PAGES) * PAGE + 8;
    mr_log_object(&self->named, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, name_of(self, lock), CODE, 0, 0);
    mr_log_object(&self->first, MR_LOG_ACQUIRE, MR_LOG_ROLE_MUTEX, FIRST + lock, CODE, 0, 0);
    for (uint32_t i = mr_random_below(&self->random, 4); i > 0; i--)
        access_some(self);
    mr_log_object(&self->named, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, name_of(self, lock), CODE, 0, 0);
    mr_log_object(&self->first, MR_LOG_RELEASE, MR_LOG_ROLE_MUTEX, FIRST + lock, CODE, 0, 0);
}

static void run_program(program *self, uint64_t seed, uint32_t steps)
{
    *self = (program){.random = {seed}};
    mr_log_switch(&self->named, 0);
    mr_log_switch(&self->first, 0);
    for (uint32_t page = 0; page < PAGES + PLACES;
         page++) { /* no piece goes over the end of a page */
        uint64_t at = page < PAGES ? FIRST + page * PAGE : OTHERS + (page - PAGES) * PAGE;
        const unsigned char zeros[PAGE] = {0};
        mr_log_range(&self->named, MR_LOG_RANGE_WRITE, at, CODE, zeros, PAGE);
        mr_log_range(&self->first, MR_LOG_RANGE_WRITE, at, CODE, zeros, PAGE);
    }
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t what = mr_random_below(&self->random, 100);
        if (what < 10) {
            map_some(self);
        } else if (what < 35) {
            self->thread = mr_random_below(&self->random, 3);
            mr_log_switch(&self->named, self->thread);
            mr_log_switch(&self->first, self->thread);
        } else if (what < 45) {
            range_over_places(self);
        } else if (what < 60) {
            lock_some(self);
        } else {
            access_some(self);
        }
    }
}

static void free_program(program *self)
{
    mr_log_build_free(&self->named);
    mr_log_build_free(&self->first);
}

static void test_names(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < log_count(); round++) {
        program self;
        bool keep_local = round % 2 != 0;
        run_program(&self, round, 60);
        mr_trace *named = mr_log_converted(&self.named, keep_local, NULL);
        mr_trace *first = mr_log_converted(&self.first, keep_local, NULL);
        if (named->event_count != first->event_count)
            fail_msg("round %" PRIu64 ": %u events, not %u", round, (unsigned)named->event_count,
                     (unsigned)first->event_count);
        for (uint32_t i = 0; i < named->event_count; i++) {
            char lines[2][MR_TEST_LINE_SIZE];
            assert_string_equal(mr_test_event(named, i, lines[0]),
                                mr_test_event(first, i, lines[1]));
        }
        mr_trace_free(named);
        mr_trace_free(first);
        free_program(&self);
    }
}

static void test_damage(void **state)
{
    (void)state;
    mr_random random = {3};
    for (uint64_t round = 0; round < log_count(); round++) {
        program self;
        mr_record_summary summary;
        mr_trace *trace;
        mr_error error;
        size_t count;
        run_program(&self, round, 40);
        unsigned char *bytes = mr_log_file(&self.named, &count);
        uint32_t records = (uint32_t)(count - MR_LOG_HEADER_BYTES);
        for (uint32_t i = mr_random_below(&random, 6); i > 0; i--)
            bytes[MR_LOG_HEADER_BYTES + mr_random_below(&random, records)] =
                (unsigned char)mr_random_below(&random, 256);
        const mr_record_options options = {.keep_local = round % 2 != 0};
        mr_status status = mr_log_try(bytes, count, &options, &summary, &trace, &error);
        if (status != MR_OK && status != MR_ERR_TRACE && status != MR_ERR_MEMORY)
            fail_msg("round %" PRIu64 ": %s", round, error.text);
        mr_trace_free(trace);
        free(bytes);
        free_program(&self);
    }
}

/* The log ends where an alias makes no sense: without bytes, over the end of memory, and where there are more than a runtime makes. */
static void test_no_sense(void **state)
{
    (void)state;
    const uint64_t end = UINT64_C(1) << 48;
    const struct {
        uint64_t address, bytes, to;
        uint32_t count;
        bool is_damage;
    } rows[] = {
        {OTHERS, PAGE, FIRST, 256, false},    {OTHERS, 0, FIRST, 1, true},
        {OTHERS, end, FIRST, 1, true},        {OTHERS, UINT64_MAX, FIRST, 1, true},
        {OTHERS, PAGE, end - PAGE, 1, false}, {OTHERS, PAGE, end - 1, 1, true},
        {OTHERS, PAGE, UINT64_MAX, 1, true},  {OTHERS, PAGE, FIRST, 100000, true},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        mr_log_build log = {0};
        mr_record_summary summary;
        mr_log_switch(&log, 0);
        mr_log_access(&log, MR_LOG_WRITE, FIRST, 4, CODE, 1);
        for (uint32_t i = 0; i < rows[row].count; i++)
            put_alias(&log, rows[row].address + (uint64_t)i * PAGE, rows[row].bytes, rows[row].to);
        mr_log_switch(&log, 1);
        mr_log_access(&log, MR_LOG_WRITE, FIRST, 4, CODE, 2);
        mr_trace *trace = mr_log_converted(&log, false, &summary);
        assert_int_equal(summary.damaged, rows[row].is_damage);
        assert_int_equal(trace->event_count, rows[row].is_damage ? 0 : 2);
        mr_trace_free(trace);
        mr_log_build_free(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
