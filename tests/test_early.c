/* The first pass over a log that grows (record/early.h) finds what it finds in the whole log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/scan.h"
#include "support/log_build.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, STEPS = 4000, WINDOW = 4096, FIRST = MR_LOG_HEADER_BYTES + WINDOW };

static uint64_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

static void build(mr_log_build *log, uint64_t seed)
{
    uint64_t random = seed;
    mr_log_switch(log, 0);
    for (uint64_t t = 1; t < THREADS; t++)
        mr_log_object(log, MR_LOG_FORK, 0, 0x1000, 0x400000, 0, t);
    mr_log_object(log, MR_LOG_GIVEN, MR_LOG_MEMORY_HEAP, 0x10000, 0x400010, 0, 4096);
    for (int i = 0; i < STEPS; i++) {
        uint64_t what = next(&random) % 16;
        if (what == 0)
            mr_log_switch(log, (uint32_t)(next(&random) % THREADS));
        unsigned kind = what < 9 ? MR_LOG_READ : MR_LOG_WRITE;
        uint64_t address = 0x10000 + next(&random) % 512 * 8 + (next(&random) % 8 ? 0 : 0x100000);
        mr_log_access(log, kind, address, 8, 0x400100 + what * 16, (int64_t)(next(&random) % 5));
    }
}

static mr_log_header header_of(uint64_t records_end, bool ended)
{
    mr_log_header header = {.version = MR_LOG_VERSION,
                            .header_bytes = FIRST,
                            .window_start = records_end,
                            .window_at = MR_LOG_HEADER_BYTES,
                            .window_bytes = WINDOW,
                            .end = ended ? records_end : 0,
                            .state = ended ? MR_LOG_EXITED : MR_LOG_RUNNING};
    memcpy(header.magic, MR_LOG_MAGIC, sizeof header.magic);
    return header;
}

static void put(FILE *file, uint64_t at, const void *bytes, size_t count)
{
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fflush(file), 0);
}

static void expect_same(const mr_scan *one, const mr_scan *two)
{
    assert_true(one->pieces.piece_count > 0);
    assert_int_equal(one->accesses, two->accesses);
    assert_int_equal(one->last_unit, two->last_unit);
    assert_int_equal(one->presence.forks, two->presence.forks);
    assert_int_equal(one->pieces.table.count, two->pieces.table.count);
    assert_memory_equal(one->pieces.lines, two->pieces.lines,
                        one->pieces.table.count * sizeof *one->pieces.lines);
    assert_int_equal(one->pieces.piece_count, two->pieces.piece_count);
    assert_int_equal(one->pieces.kept_parts, two->pieces.kept_parts);
}

static mr_scratch scratch;

static int setup(void **state)
{
    mr_scratch_setup(state, &scratch);
    return 0;
}

static void test_growing(void **state)
{
    (void)state;
    static const atomic_bool go_on;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        mr_log_build words = {0};
        mr_log whole, growing;
        mr_error error;
        char path[512];
        mr_scan *all = calloc(1, sizeof *all), *parts = calloc(1, sizeof *parts);
        FILE *file = fopen(mr_scratch_path(&scratch, "log", path), "wb");
        assert_true(all && parts && file);
        build(&words, seed);
        assert_false(mr_log_follow(&growing, path)); /* not begun */
        mr_log_header header = header_of(FIRST, false);
        put(file, FIRST - 1, "", 1);
        put(file, 0, &header, sizeof header);
        assert_true(mr_log_follow(&growing, path));
        mr_scan_init(parts, false, 0);
        mr_scan_begin(parts, &growing);
        uint64_t random = seed, done = 0, before = 0;
        while (done < words.count) {
            uint64_t count = next(&random) % 2000 + 1;
            count = count < words.count - done ? count : words.count - done;
            put(file, FIRST + done * 8, words.words + done, count * 8);
            done += count;
            header = header_of(FIRST + done * 8, done == words.count);
            put(file, 0, &header, sizeof header);
            mr_log_follow_on(&growing);
            assert_true(mr_scan_go_on(parts, &go_on));
            assert_true(parts->pass.next >= before && parts->pass.next <= done * 2);
            before = parts->pass.next;
        }
        assert_true(before + 128 > words.count * 2); /* nearly all was read before the end */
        assert_int_equal(mr_log_open(&whole, path, &error), MR_OK);
        assert_int_equal(mr_scan_finish(parts, &whole, NULL, &error), MR_OK);
        mr_scan_init(all, false, 0);
        mr_scan_begin(all, &whole);
        assert_int_equal(mr_scan_finish(all, &whole, NULL, &error), MR_OK);
        expect_same(all, parts);
        mr_scan_free(all);
        mr_scan_free(parts);
        mr_log_close(&whole);
        mr_log_close(&growing);
        mr_log_build_free(&words);
        fclose(file);
        unlink(path);
        free(all);
        free(parts);
    }
}

/* Resident KiB of the mapping that begins there. */
static unsigned long resident(const void *map)
{
    char line[512];
    unsigned long begin, kib = 0;
    bool here = false, found = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-", &begin) == 1 && strchr(line, '-'))
            here = begin == (unsigned long)(uintptr_t)map;
        found = here && sscanf(line, "Rss: %lu kB", &kib) == 1;
    }
    fclose(file);
    assert_true(found);
    return kib;
}

/* What a pass has read of a long log does not stay in its memory. */
static void test_pages(void **state)
{
    (void)state;
    enum { RECORDS = 1 << 21, LOOKS = 1 << 16, MOST_KIB = 20 << 10 };
    char path[512];
    size_t count;
    mr_log_build words = {0};
    mr_log log;
    mr_log_pass pass;
    mr_error error;
    mr_log_switch(&words, 0);
    for (uint64_t i = 0; i < RECORDS; i++)
        mr_log_object(&words, MR_LOG_BEFORE, MR_LOG_ROLE_CHANNEL, 1, 0x400000, 0, 0);
    void *bytes = mr_log_file(&words, &count);
    mr_log_build_free(&words);
    FILE *file = fopen(mr_scratch_path(&scratch, "log", path), "wb");
    assert_non_null(file);
    put(file, 0, bytes, count);
    fclose(file);
    free(bytes);
    assert_int_equal(mr_log_open(&log, path, &error), MR_OK);
    mr_log_pass_init(&pass, &log);
    unsigned long most = 0, records = 0;
    for (; mr_log_next(&pass); records++) {
        unsigned long kib = records % LOOKS == 0 ? resident(log.map) : 0;
        most = kib > most ? kib : most;
    }
    assert_int_equal(records, RECORDS + 1);
    assert_true(most > 0 && most < MOST_KIB);
    mr_log_pass_free(&pass);
    mr_log_close(&log);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growing),
                                       cmocka_unit_test(test_pages)};
    return cmocka_run_group_tests(tests, setup, mr_scratch_teardown);
}
