/* The binary format: what was written is read again, whole, as a stream, and from standard input;
 * damage of any byte is an error after a right beginning; contents that are wrong in spite of right
 * checksums are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/generate.h"
#include "support/generate_large.h"
#include "support/mrt_bytes.h"
#include "support/trace_reading.h"

#include "formats/read.h"
#include "support/length.h"
#include "trace/info.h"
#include "trace/outlook.h"
#include "trace/validity.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Something of everything, in 26 events. */
static const char everything[] =
    "#@var x bank balance\n#@loc 1 a.c:1\n"
    "M|begin()|0\nM|fork(A)|1\nM|fork(B)|1\n# comment\n"
    "A|begin()|2\nA|acq(l)|3\nA|acq(l)|3\nA|w(x=5)|4\nA|r(x=5)|4\n"
    "A|rel(l)|5\nA|rel(l)|5\n\n\nB|acq(l)|6\nB|r(x=5)|\nB|rel(l)|7\n"
    "#@lock l the lock\n#@thread A worker one\n#@type u enum8 A=0 B=1\n"
    "B|w(y)|8\nB|au(u=-9223372036854775808>7)|9\nB|ar(u=7)|9\n"
    "A|aw(u=1)|9\nA|racq(k)|9\nB|racq(k)|9\nB|rrel(k)|9\nA|rrel(k)|9\n"
    "A|post(s)|9\nB|wait(s)|9\nB|mbegin(m:x,l,A)|10\nB|branch()|10\n"
    "B|mend(m)|10\nB|end()|11\nM|join(B)|12\nA|w(z=3)|13\n";

/* A trace that was read from a mapped file has the outlook of the file. */
static void check_outlook(const mr_trace *trace, bool from_input)
{
    mr_outlook outlook;
    assert_int_equal(trace->outlook == NULL, from_input);
    if (from_input)
        return;
    assert_true(mr_outlook_of_trace(&outlook, trace));
    const mr_outlook *found = trace->outlook;
    assert_int_equal(found->event_count, outlook.event_count);
    assert_int_equal(found->thread_count, outlook.thread_count);
    assert_int_equal(found->variable_count, outlook.variable_count);
    assert_int_equal(found->lock_count, outlook.lock_count);
    assert_int_equal(found->location_count, outlook.location_count);
    assert_int_equal(found->use_count, outlook.use_count);
    assert_memory_equal(found->contended, outlook.contended, outlook.variable_count);
    assert_memory_equal(found->lock_shared, outlook.lock_shared, outlook.lock_count);
    assert_memory_equal(found->uses, outlook.uses, outlook.use_count * sizeof *outlook.uses);
    mr_outlook_free(&outlook);
}

static void round_trip(const mr_trace *trace, uint32_t block)
{
    mr_bytes bytes = mr_test_mrt(trace, block);
    for (int from_input = 0; from_input < 2; from_input++) {
        mr_trace *again;
        mr_error error = {0};
        mr_streamed streamed = mr_test_stream(bytes, trace, from_input, false);
        assert_int_equal(streamed.status, MR_OK);
        assert_int_equal(streamed.event_count, trace->event_count);
        assert_int_equal(streamed.had_outlook, !from_input);
        assert_int_equal(mr_test_read_mrt(bytes, from_input, &again, &error), MR_OK);
        mr_test_same(again, trace, true);
        check_outlook(again, from_input);
        mr_trace_free(again);
    }
    free(bytes.items);
}

static void round_trips_of_text(const char *text)
{
    mr_trace *trace = mr_test_read(text, true);
    round_trip(trace, MR_MRT_BLOCK_EVENTS);
    round_trip(trace, 3);
    mr_trace_free(trace);
}

static void test_round_trips_of_files(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/traces/good", "tests/traces/bad", "tests/figures",
                                          "examples"};
    int count = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *folder = opendir(folders[i]);
        assert_non_null(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[600];
            mr_read_options options = {.repair = true};
            mr_trace *trace;
            if (!strstr(entry->d_name, ".std"))
                continue;
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            assert_int_equal(mr_trace_read(path, &options, &trace, NULL), MR_OK);
            round_trip(trace, 4);
            mr_trace_free(trace);
            count++;
        }
        closedir(folder);
    }
    assert_true(count > 130);
}

static void test_round_trips(void **state)
{
    (void)state;
    round_trips_of_text(everything);
    round_trips_of_text("");
    round_trips_of_text("# nothing\n");
    round_trips_of_text("A|rel(l)|1\n\nA|r(x)|1\nB|rel(l)|2\n"); /* two dropped */
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char *text = mr_generate_trace(seed, (mr_shape)(seed % MR_SHAPE_COUNT));
        round_trips_of_text(text);
        free(text);
    }
    char *text = mr_generate_large(7, &mr_large_shapes[0], 150000);
    mr_trace *trace = mr_test_read(text, false);
    assert_true(trace->event_count > 2 * MR_MRT_BLOCK_EVENTS);
    round_trip(trace, MR_MRT_BLOCK_EVENTS);
    mr_trace_free(trace);
    free(text);
}

/* The whole trace of damaged bytes: an error, and a right beginning. Returns its length. */
static uint32_t expect_damage(mr_bytes bytes, const mr_trace *trace, bool standard_input)
{
    mr_trace *part;
    mr_error error = {0};
    assert_int_equal(mr_test_read_mrt(bytes, standard_input, &part, &error), MR_ERR_TRACE);
    assert_true(error.file[0] && error.text[0] && !strchr(error.text, '\n'));
    assert_non_null(part);
    uint32_t count = part->event_count;
    mr_test_same(part, trace, false);
    mr_trace_free(part);
    return count;
}

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read(everything, false);
    mr_bytes bytes = mr_test_mrt(trace, 7);
    uint32_t before = 0;
    for (size_t count = 1; count < bytes.count; count++) {
        mr_bytes part = {bytes.items, count};
        bool from_input = count % 2;
        mr_streamed streamed = mr_test_stream(part, trace, from_input, false);
        assert_int_equal(streamed.status, MR_ERR_TRACE);
        assert_false(streamed.had_outlook);
        assert_true(streamed.event_count >= before);
        before = streamed.event_count;
        assert_true(expect_damage(part, trace, from_input) <= before);
    }
    assert_int_equal(before, trace->event_count); /* without its end it still streams */
    free(bytes.items);
    mr_trace_free(trace);
}

static void test_a_flip_in_every_byte(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read(everything, false);
    mr_bytes bytes = mr_test_mrt(trace, 9);
    int unseen = 0;
    for (size_t at = 0; at < bytes.count; at++) {
        unsigned char flip = (unsigned char)(1u << at % 8);
        bytes.items[at] ^= flip;
        mr_streamed streamed = mr_test_stream(bytes, trace, at % 2, false);
        /* A stream does not look at values, nor at what is for parts; all else it notices. */
        if (!streamed.status)
            unseen++;
        else
            assert_int_equal(streamed.status, MR_ERR_TRACE);
        expect_damage(bytes, trace, at % 2);
        bytes.items[at] ^= flip;
    }
    static const mr_mrt_kind passed_over[] = {MR_MRT_VALUES, MR_MRT_STATE, MR_MRT_FACTS};
    size_t total = 0;
    for (int kind = 0; kind < 3; kind++)
        for (unsigned i = 0; mr_test_chunk(bytes, passed_over[kind], i); i++)
            total += (size_t)mr_mrt_filled(mr_test_chunk(bytes, passed_over[kind], i)->size_bytes);
    assert_int_equal(unseen, total);
    free(bytes.items);
    mr_trace_free(trace);
}

/* New updates and new rows, so that tables and columns move again and again while blocks are filled
 * in: with an index at the end, and without. */
static void growing(int events, uint32_t block)
{
    char *text = malloc((size_t)events * 40);
    size_t length = 0;
    assert_non_null(text);
    for (int i = 0; i < events; i++)
        length += (size_t)sprintf(text + length, i % 3 ? "A|w(x%d=%d)|1\n" : "B|au(y%d=%d>7)|2\n",
                                  i % 97, i);
    mr_trace *trace = mr_test_read(text, false), *again;
    mr_bytes bytes = mr_test_mrt(trace, block);
    mr_error error = {0};
    assert_true(trace->update_count > (uint32_t)events / 4);
    assert_int_equal(mr_test_read_mrt(bytes, false, &again, &error), MR_OK);
    mr_test_same(again, trace, true);
    mr_trace_free(again);
    bytes.count--;
    assert_int_equal(expect_damage(bytes, trace, false), events);
    free(bytes.items);
    mr_trace_free(trace);
    free(text);
}

static void test_growing_while_it_is_read(void **state)
{
    (void)state;
    growing(40000, 500);
    for (int round = 0; round < 20; round++)
        growing(1000, 9);
}

static void test_repair_keeps_what_is_right(void **state)
{
    (void)state;
    mr_trace *trace = mr_test_read(everything, false);
    mr_bytes bytes = mr_test_mrt(trace, 7);
    mr_test_chunk(bytes, MR_MRT_EVENTS, 2)->checksum ^= 1;
    mr_streamed streamed = mr_test_stream(bytes, trace, false, true);
    assert_int_equal(streamed.status, MR_OK);
    assert_int_equal(streamed.event_count, 14);
    assert_int_equal(streamed.dropped_count, 1);
    mr_trace *part;
    mr_error error = {0};
    assert_int_equal(mr_test_read_mrt(bytes, false, &part, &error), MR_ERR_TRACE);
    assert_int_equal(part->event_count, 14);
    assert_null(part->outlook); /* the outlook of the file is that of all events */
    mr_trace_free(part);
    free(bytes.items);
    mr_trace_free(trace);
}

/* A stream of contents that may be anything under right checksums: what it gives is a trace. Whole,
 * it must also be printable. */
static bool try_contents(mr_bytes bytes, bool standard_input)
{
    mr_trace *trace;
    mr_error error = {0};
    mr_trace_info info;
    char line[MR_TEST_LINE_SIZE];
    mr_streamed streamed = mr_test_stream(bytes, NULL, standard_input, false);
    mr_status status = mr_test_read_mrt(bytes, standard_input, &trace, &error);
    if (status == MR_ERR_UNSUPPORTED) {
        assert_null(trace);
        return false; /* more events than a trace in memory can have */
    }
    assert_true(!status || status == MR_ERR_TRACE);
    assert_non_null(trace);
    assert_true(trace->event_count <= streamed.event_count);
    for (uint32_t event = 0; event < trace->event_count; event++) {
        mr_test_event(trace, event, line);
        mr_trace_line(trace, event);
    }
    assert_int_equal(mr_trace_info_compute(trace, &info, &error), MR_OK);
    mr_trace_free(trace);
    return status == MR_OK;
}

static void test_mutations_with_right_checksums(void **state)
{
    (void)state;
    static const uint32_t edges[] = {0,     1,     2,          3,          255,
                                     65535, 65537, 0x7FFFFFFF, 0x80000000, UINT32_MAX};
    mr_trace *trace = mr_test_read(everything, false);
    mr_bytes bytes = mr_test_mrt(trace, 9);
    mr_random random = {5};
    int accepted = 0, rounds = (int)mr_length("MRT_ROUNDS", 1200, 6000);
    for (int round = 0; round < rounds; round++) {
        mr_bytes copy = mr_test_copy(bytes);
        for (uint32_t changes = mr_random_range(&random, 1, 3); changes; changes--) {
            size_t at = mr_random_below(&random, (uint32_t)(copy.count - 64) / 4) * 4 + 64;
            uint32_t word = edges[mr_random_below(&random, 10)];
            if (mr_random_percent(&random, 50))
                memcpy(copy.items + at, &word, sizeof word);
            else
                copy.items[at + mr_random_below(&random, 4)] ^=
                    (unsigned char)(1u << mr_random_below(&random, 8));
        }
        mr_test_seal(copy);
        accepted += try_contents(copy, round % 2);
        free(copy.items);
    }
    assert_true(accepted > 0 && accepted < rounds / 2);
    free(bytes.items);
    mr_trace_free(trace);
}

/* The columns of the only block. */
static mr_events events_in(mr_bytes bytes, const mr_trace *trace)
{
    mr_mrt_chunk *chunk = mr_test_chunk(bytes, MR_MRT_EVENTS, 0);
    assert_non_null(chunk);
    assert_int_equal(chunk->count, trace->event_count);
    mr_mrt_columns columns = mr_mrt_columns_of(chunk->count);
    const unsigned char *payload = (const unsigned char *)(chunk + 1);
    mr_events events = mr_events_of_trace(trace, 0, chunk->count);
    events.op = payload;
    events.thread = (const uint32_t *)(const void *)(payload + columns.thread);
    events.operand = (const uint32_t *)(const void *)(payload + columns.operand);
    events.location = (const uint32_t *)(const void *)(payload + columns.location);
    return events;
}

static void swap(uint32_t *column, uint32_t first, uint32_t second)
{
    uint32_t kept = column[first];
    column[first] = column[second];
    column[second] = kept;
}

static void swap_events(mr_bytes bytes, const mr_trace *trace, uint32_t first, uint32_t second)
{
    mr_events events = events_in(bytes, trace);
    uint8_t *ops = (uint8_t *)events.op, kept = ops[first];
    ops[first] = ops[second];
    ops[second] = kept;
    swap((uint32_t *)events.thread, first, second);
    swap((uint32_t *)events.operand, first, second);
    swap((uint32_t *)events.location, first, second);
    mr_test_seal(bytes);
}

/* Another operation, or an operand that has no name, perhaps. */
static void change_event(mr_bytes bytes, const mr_trace *trace, uint32_t event, mr_random *random)
{
    mr_events events = events_in(bytes, trace);
    uint8_t *ops = (uint8_t *)events.op;
    uint32_t *operands = (uint32_t *)events.operand;
    ops[event] = (uint8_t)mr_random_below(random, MR_OP_RELEASE + 1);
    operands[event] = mr_random_below(random, 4);
    mr_test_seal(bytes);
}

/* The events before the first one that the rules refuse, one after the other. */
static uint32_t count_valid(const mr_events *events, const mr_trace *trace)
{
    mr_validity validity;
    mr_error error = {0};
    uint32_t i = 0;
    mr_validity_init(&validity, trace);
    for (uint32_t m = 0; m < trace->members.count; m++) {
        mr_membership member = trace->members.items[m];
        assert_int_equal(
            mr_validity_member(&validity, member.variable, member.object, false, &error), MR_OK);
    }
    for (bool valid = true; valid && i < events->count; i += valid) {
        mr_step step = {(mr_op)events->op[i], events->thread[i], events->operand[i], i + 1};
        const mr_names *names = mr_trace_operand_names(trace, step.op);
        valid = step.operand < (names ? names->count : 1) &&
                mr_validity_step(&validity, &step, &error) == MR_OK;
    }
    mr_validity_free(&validity);
    return i;
}

/* Either may be NULL when there are no bytes. */
static bool are_same(const void *some, const void *others, size_t bytes)
{
    return !bytes || !memcmp(some, others, bytes);
}

static bool has_outlook(const mr_events *events, const mr_trace *trace, const mr_outlook *promised)
{
    mr_outlook outlook;
    mr_outlook_init(&outlook);
    assert_true(mr_outlook_add(&outlook, events) && mr_outlook_finish(&outlook, &trace->members));
    bool same =
        outlook.use_count == promised->use_count &&
        are_same(outlook.contended, promised->contended, promised->variable_count) &&
        are_same(outlook.lock_shared, promised->lock_shared, promised->lock_count) &&
        are_same(outlook.uses, promised->uses, promised->use_count * sizeof *promised->uses);
    mr_outlook_free(&outlook);
    return same;
}

/* Events that are swapped, and some that are changed: what is read are the events before the first one that the rules refuse, and a file is right when all are
 * valid and its index still says what is in it. */
static void test_events_in_another_order(void **state)
{
    (void)state;
    mr_random random = {11};
    int valid = 0, foreseen = 0, rounds = (int)mr_length("MRT_ROUNDS", 1200, 6000);
    for (int round = 0; round < rounds; round++) {
        char *text = mr_generate_trace((uint64_t)round + 1, (mr_shape)(round % MR_SHAPE_ALL));
        mr_trace *trace = mr_test_read(text, false);
        mr_outlook promised;
        assert_true(mr_outlook_of_trace(&promised, trace));
        mr_bytes bytes = mr_test_mrt(trace, MR_MRT_BLOCK_EVENTS);
        uint32_t count = trace->event_count;
        for (int change = round % 4; count && change; change--) {
            uint32_t first = mr_random_below(&random, count);
            uint32_t step = mr_random_range(&random, 1, 4);
            swap_events(bytes, trace, first, first + step < count ? first + step : first);
        }
        bool is_changed = count && round % 5 == 0;
        if (is_changed)
            change_event(bytes, trace, mr_random_below(&random, count), &random);
        mr_events events = events_in(bytes, trace);
        uint32_t good = count_valid(&events, trace);
        mr_streamed input = mr_test_stream(bytes, NULL, true, false);
        mr_streamed file = mr_test_stream(bytes, NULL, false, false);
        assert_int_equal(input.event_count, good);
        assert_true(file.event_count <= good);
        bool same = good == count && has_outlook(&events, trace, &promised);
        if (!is_changed) {
            assert_int_equal(input.status, good == count ? MR_OK : MR_ERR_TRACE);
            assert_int_equal(file.status, same ? MR_OK : MR_ERR_TRACE);
        }
        valid += good == count;
        foreseen += same;
        mr_outlook_free(&promised);
        free(bytes.items);
        mr_trace_free(trace);
        free(text);
    }
    assert_true(foreseen > rounds / 4 && foreseen < valid && valid < rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips_of_files),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_a_flip_in_every_byte),
        cmocka_unit_test(test_growing_while_it_is_read),
        cmocka_unit_test(test_repair_keeps_what_is_right),
        cmocka_unit_test(test_mutations_with_right_checksums),
        cmocka_unit_test(test_events_in_another_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
