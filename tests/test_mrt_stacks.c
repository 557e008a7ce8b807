/* Call stacks in the binary format: kept on every way, wrong ones refused, shown in reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/mrt_bytes.h"
#include "support/trace_reading.h"

#include "formats/convert.h"
#include "formats/read.h"
#include "trace/columns.h"
#include "trace/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 2, EVENTS = 6, STACKS = 4 };

/* Blocks of two events: the second one has no stacks. */
static const char text[] = "A|w(x=1)|1\nA|w(y=1)|2\nA|r(y=1)|1\nB|r(y=1)|1\nB|w(x=2)|1\n"
                           "B|r(x=2)|3\n";
static const uint32_t stack_of[EVENTS] = {2, 0, 0, 0, 3, 1};
static const mr_stack stacks[STACKS] = {{0, 0}, {0, 0}, {1, 1}, {2, 1}};
static const char *const frames[] = {"main\tbank.c:3:1", "pay\tbank.c:9:2\tinlined"};

/* Gives the trace its stacks. */
static void add_stacks(mr_trace *trace)
{
    uint32_t number;
    assert_int_equal(mr_columns_reserve_stacks(trace, sizeof stack_of / sizeof *stack_of, NULL),
                     MR_OK);
    trace->stacks = malloc(sizeof stacks);
    assert_non_null(trace->stacks);
    memcpy(trace->stack, stack_of, sizeof stack_of);
    memcpy(trace->stacks, stacks, sizeof stacks);
    trace->stack_count = STACKS;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_true(mr_names_add(&trace->frames, frames[i], (uint32_t)strlen(frames[i]), &number));
}

static mr_trace *new_trace(void)
{
    mr_trace *trace = NULL;
    mr_error error;
    assert_int_equal(mr_trace_read_text("t.std", text, strlen(text), NULL, &trace, &error), MR_OK);
    add_stacks(trace);
    return trace;
}

static void compare_stacks(const mr_trace *trace)
{
    assert_non_null(trace->stack);
    assert_memory_equal(trace->stack, stack_of, sizeof stack_of);
    assert_int_equal(trace->stack_count, STACKS);
    assert_memory_equal(trace->stacks + 1, stacks + 1, sizeof stacks - sizeof *stacks);
    assert_int_equal(trace->frames.count, 2);
    assert_string_equal(trace->frames.items[1].text, frames[1]);
}

static void test_round_trip(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    for (int standard_input = 0; standard_input < 2; standard_input++) {
        mr_trace *again = NULL;
        mr_error error;
        assert_int_equal(mr_test_read_mrt(bytes, standard_input, &again, &error), MR_OK);
        compare_stacks(again);
        mr_test_same(again, trace, true);
        mr_trace_free(again);
        mr_streamed streamed = mr_test_stream(bytes, trace, standard_input, false);
        assert_int_equal(streamed.status, MR_OK);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

static void test_convert_keeps_them(void **state)
{
    (void)state;
    mr_trace *trace = new_trace(), *dictionary = NULL, *again = NULL;
    mr_bytes bytes = mr_test_mrt(trace, BLOCK), copy = {0};
    mr_error error;
    char *path = mr_test_file(bytes.items, bytes.count), *items = NULL;
    FILE *file = open_memstream(&items, &copy.count);
    assert_non_null(file);
    assert_int_equal(mr_mrt_convert(path, NULL, file, &dictionary, &error), MR_OK);
    fclose(file);
    copy.items = (unsigned char *)items;
    assert_int_equal(mr_test_read_mrt(copy, false, &again, &error), MR_OK);
    compare_stacks(again);
    mr_trace_free(again);
    mr_trace_free(dictionary);
    mr_trace_free(trace);
    free(copy.items);
    free(bytes.items);
    unlink(path);
    free(path);
}

/* No stack column is written where no event has one: the second block, and a trace without. */
static void test_blocks_without(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    assert_int_equal(mr_test_chunk(bytes, MR_MRT_STACKS, 0)->first, 0);
    assert_int_equal(mr_test_chunk(bytes, MR_MRT_STACKS, 1)->first, 4);
    assert_null(mr_test_chunk(bytes, MR_MRT_STACKS, 2));
    free(bytes.items);
    trace->stack = NULL;
    bytes = mr_test_mrt(trace, BLOCK);
    assert_null(mr_test_chunk(bytes, MR_MRT_STACKS, 0));
    free(bytes.items);
    mr_trace_free(trace);
}

/* A part that is cut off, or another byte, gives the events before it and no others. */
static void test_damage(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    for (size_t count = 8; count < bytes.count; count += 8) {
        mr_trace *part = NULL;
        mr_error error;
        assert_int_equal(mr_test_read_mrt((mr_bytes){bytes.items, count}, false, &part, &error),
                         MR_ERR_TRACE);
        if (part)
            mr_test_same(part, trace, false);
        mr_trace_free(part);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

typedef struct wrong_case {
    const char *name;
    unsigned number; /* of the STACKS chunk */
    unsigned word;   /* of its payload */
    uint32_t content;
    const char *message;
} wrong_case;

/* The payload of the first chunk: 2 stacks, 0, their callers and frames, two rows. */
static const wrong_case wrong_cases[] = {
    {"more stacks than there are", 0, 0, 3, "stacks of another size"},
    {"a stack that calls itself", 0, 2, 1, "a stack of frames that there are not"},
    {"a frame that there is not", 0, 3, 2, "a stack of frames that there are not"},
    {"a row beyond the table", 0, 6, 3, "an event with a stack that there is not"},
    {"a row beyond the table", 1, 5, 9, "an event with a stack that there is not"},
};

static void test_wrong(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    for (size_t i = 0; i < sizeof wrong_cases / sizeof *wrong_cases; i++) {
        const wrong_case *wrong = &wrong_cases[i];
        mr_bytes copy = mr_test_copy(bytes);
        mr_trace *part = NULL;
        mr_error error;
        ((uint32_t *)(void *)(mr_test_chunk(copy, MR_MRT_STACKS, wrong->number) + 1))[wrong->word] =
            wrong->content;
        mr_test_seal(copy);
        assert_int_equal(mr_test_read_mrt(copy, false, &part, &error), MR_ERR_TRACE);
        if (!strstr(error.text, wrong->message))
            fail_msg("%s: %s", wrong->name, error.text);
        mr_trace_free(part);
        free(copy.items);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

/* Stacks that belong to other events than those just before; an index that counts others. */
static void test_wrong_place(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    for (int i = 0; i < 3; i++) {
        mr_bytes copy = mr_test_copy(bytes);
        mr_trace *part = NULL;
        mr_error error;
        mr_mrt_chunk *chunk = mr_test_chunk(copy, MR_MRT_STACKS, 1);
        mr_mrt_index *index = (void *)(mr_test_chunk(copy, MR_MRT_INDEX, 0) + 1);
        if (i == 0)
            chunk->first = 2;
        else if (i == 1)
            chunk->count = 1;
        else
            index->stack_count--;
        mr_test_seal(copy);
        assert_int_equal(mr_test_read_mrt(copy, false, &part, &error), MR_ERR_TRACE);
        mr_trace_free(part);
        if (i < 2)
            assert_int_equal(mr_test_stream(copy, trace, false, false).status, MR_ERR_TRACE);
        free(copy.items);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

static void test_memory(void **state)
{
    (void)state;
    mr_trace *trace = new_trace();
    mr_bytes bytes = mr_test_mrt(trace, BLOCK);
    mr_status status = MR_ERR_MEMORY;
    for (unsigned n = 1; status; n++) {
        mr_trace *again = NULL;
        mr_error error;
        char *path = mr_test_file(bytes.items, bytes.count);
        mr_memory_fail_after(n);
        status = mr_trace_read(path, NULL, &again, &error);
        mr_memory_fail_after(0);
        assert_true(!status || status == MR_ERR_MEMORY);
        mr_trace_free(again);
        unlink(path);
        free(path);
    }
    free(bytes.items);
    mr_trace_free(trace);
}

static void check_frame(const char *name, const char *function, const char *place, bool inlined)
{
    mr_name item = {.text = name, .length = (uint32_t)strlen(name)};
    mr_frame frame = mr_frame_of(&item);
    assert_int_equal(frame.function_length, strlen(function));
    assert_memory_equal(frame.function, function, strlen(function));
    assert_int_equal(frame.place_length, strlen(place));
    assert_memory_equal(frame.place, place, strlen(place));
    assert_int_equal(frame.inlined, inlined);
}

static void test_frames(void **state)
{
    (void)state;
    check_frame("main\ta b.c:3:1", "main", "a b.c:3:1", false);
    check_frame("pay(int, int)\tbank.c:9\tinlined", "pay(int, int)", "bank.c:9", true);
    check_frame("main", "main", "", false);
    check_frame("\tlibx.so+0x12", "", "libx.so+0x12", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_convert_keeps_them),
        cmocka_unit_test(test_blocks_without), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_wrong),          cmocka_unit_test(test_wrong_place),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
